"""Weighted data whose value is given, for testing randomizers through their robust mechanisms."""

import attrs

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import L1Sensitivity, L2Sensitivity, RangeSensitivity, RobustQuery, Slickness


@attrs.frozen(eq=False)
class Values:
    """An array that says under which certificate it was weighted."""

    values: FloatArray
    slickness: Slickness


@attrs.frozen(eq=False)
class Cells:
    """Leaves, each cut by every split, as a tree learner would hand them over."""

    leaf: FloatArray
    inside: FloatArray
    slickness: Slickness


@attrs.frozen(eq=False)
class Edges:
    """Edge vectors under a distribution."""

    edges: FloatArray
    distribution: FloatArray
    slickness: Slickness


def certificate(zeta: float = 0.1, n: int = 10, producer: str = "test") -> Slickness:
    return Slickness(zeta, n, ReplaceOne(), producer, ("L0",))


def scores(range_per_zeta: float = 2.0) -> RobustQuery[Values, FloatArray, RangeSensitivity]:
    return RobustQuery(
        "scores",
        lambda data: data.values,
        lambda zeta: RangeSensitivity(range_per_zeta * zeta),
        ReplaceOne(),
        ("L1",),
    )


def l1_vector(per_zeta: float = 2.0) -> RobustQuery[Values, FloatArray, L1Sensitivity]:
    return RobustQuery(
        "vector", lambda data: data.values, lambda zeta: L1Sensitivity(per_zeta * zeta), ReplaceOne(), ("L1",)
    )


def l2_vector(per_zeta: float = 2.0) -> RobustQuery[Values, FloatArray, L2Sensitivity]:
    return RobustQuery(
        "vector", lambda data: data.values, lambda zeta: L2Sensitivity(per_zeta * zeta), ReplaceOne(), ("L1",)
    )
