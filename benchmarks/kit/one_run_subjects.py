"""Every estimator of ours with canaries that it shows as well as we know how, for one-run audits."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs
import numpy as np
from scipy.linalg import hadamard

from accountant.arrays import FloatArray
from learners import (
    SGD,
    AdaSSP,
    Bounds,
    Categorical,
    Descent,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    MinNorm,
    Objective,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Ridge,
    Schema,
)
from proofs_tests.harness import Canaries, along, company, corner_canaries
from proofs_tests.harness.one_run.audit import View
from proofs_tests.harness.one_run.scores import CanaryScore, Seen

DELTA: Final = 1e-5
CUBE: Final = Bounds(-1.0, 1.0)
LABELS: Final = (0, 1)


@attrs.frozen(eq=False)
class Drawn:
    """Canaries, and other records if any."""

    canaries: Canaries
    X: object = None
    y: object = None


@attrs.frozen(eq=False)
class Subject:
    """An estimator, how its canaries are made, and how its releases are scored; None where they are not all it draws.

    estimator: of ε, the seed of its noise and the number of canaries.  drawn: ε and that number to
    canaries.  guesses: a share of the canaries, where the usual number is not good; fixed in advance.
    predicts: whether it can be looked at from outside.
    """

    name: str
    estimator: Callable[[float, int, int], Any]
    drawn: Callable[[float, int], Drawn]
    score: View | CanaryScore | None
    sizes: dict[float, int]
    guesses: float | None = None
    predicts: bool = True


def rare(replaced: bool, epsilon: float, number: int) -> Drawn:
    """Records of a category of their own, among others of it that keep the model undecided."""
    canaries = corner_canaries(_rare_schema(number), number, LABELS, replaced=replaced)
    return Drawn(canaries, *company(canaries, LABELS, 40 if epsilon < 2.0 else 15))


def _rare_schema(number: int) -> Schema:
    return Schema((Categorical("code", tuple(f"c{i}" for i in range(number))),))


def _labelled(X: FloatArray) -> Drawn:
    y = np.random.default_rng(1).integers(0, 2, len(X))
    return Drawn(Canaries(X, y, other_y=1 - y))


def units(epsilon: float, number: int) -> Drawn:
    """One record along each axis."""
    return _labelled(np.eye(number))


def right_angles(columns: int, epsilon: float, number: int) -> Drawn:
    """Corners of the cube at right angles, with the constant; of more than `columns` a second such set, and so on."""
    width = min(columns, number)
    basis, rng = hadamard(width).astype(np.int8), np.random.default_rng(0)
    turned = [basis, *(basis * rng.choice(np.array([-1, 1], np.int8), width) for _ in range(number // width - 1))]
    rows = np.concatenate(turned)
    return _labelled((rows * rows[:, :1])[:, 1:].astype(np.float64))


def corners(columns: int, low: float, epsilon: float, number: int) -> Drawn:
    """Corners of a cube, drawn at random."""
    return Drawn(corner_canaries(Bounds(low, 1.0), number, LABELS, columns=columns, replaced=True))


def all_corners(epsilon: float, number: int) -> Drawn:
    """Every corner of a cube of zeros and ones. number: a power of 2."""
    bits = number.bit_length() - 1
    return _labelled((np.arange(number)[:, None] >> np.arange(bits) & 1).astype(np.float64))


def _features(seen: Seen) -> FloatArray:
    fitted = seen.fitted
    rows = fitted.model_.fit.features.rows(fitted._coded(seen.canaries.X, fitted.model_.coding))
    return np.asarray(rows * np.where(seen.canaries.y == 1, 1.0, -1.0)[:, None])


def _boost(adjacency: Any, epsilon: float, seed: int, size: int) -> PrivateBoostClassifier:
    schema = _rare_schema(size)
    return PrivateBoostClassifier(epsilon, DELTA, adjacency=adjacency, schema=schema, random_state=seed)


def _linear(solver: Any, delta: float, epsilon: float, seed: int, size: int) -> RandomFeatureClassifier:
    return RandomFeatureClassifier(epsilon, delta, solver=solver, distribution="linear", schema=CUBE, random_state=seed)


def _interpolated(epsilon: float, seed: int, size: int) -> RandomFeatureClassifier:
    return RandomFeatureClassifier(epsilon, DELTA, solver=MinNorm(), n_components=600, schema=CUBE, random_state=seed)


def _plane(delta: float, epsilon: float, seed: int, size: int) -> HalfspaceBoostClassifier:
    return HalfspaceBoostClassifier(epsilon, delta, radius=1.0, classes=LABELS, random_state=seed)


def _rados(kind: Any, epsilon: float, seed: int, size: int) -> Any:
    plain = {"standardise": False, "fit_intercept": False, "radius": 1.0, "number": 4}
    return kind("examples", epsilon, DELTA, schema=CUBE, random_state=seed, **plain)


def _logistic(delta: float, epsilon: float, seed: int, size: int) -> DPLogisticRegression:
    return DPLogisticRegression(epsilon, delta, schema=Bounds(0.0, 1.0, bins=2), random_state=seed)


def _on_bits(kind: Any, more: dict[str, object], epsilon: float, seed: int, size: int) -> Any:
    return kind(epsilon, schema=Bounds(0.0, 1.0, bins=2), random_state=seed, **more)


def _sizes(small: int, large: int) -> dict[float, int]:
    return {1.0: large, 4.0: small}


MANY: Final = _sizes(4096, 4096)
USUAL: Final = _sizes(2048, 4096)
HALF: Final = _sizes(2048, 2048)

GAUSSIAN: Final = (
    Subject("PrivateBoost", partial(_boost, "add-remove-one"), partial(rare, False), "white-box", MANY),
    Subject("PrivateBoost, replace-one", partial(_boost, "replace-one"), partial(rare, True), "white-box", MANY),
    Subject(
        "linear features, descent in 20 rounds",
        partial(_linear, Descent(rounds=20), DELTA),
        partial(right_angles, 2048),
        along(_features),
        USUAL,
    ),
    Subject(
        "linear features, AdaSSP",
        partial(_linear, AdaSSP(), DELTA),
        partial(right_angles, 2048),
        along(_features, last=True),
        USUAL,
    ),
    Subject(
        "linear features, SGD", partial(_linear, SGD(), DELTA), partial(right_angles, 2048), along(_features), USUAL
    ),
    Subject(
        "linear features, ridge, penalty 1",
        partial(_linear, Ridge(penalty=1.0), DELTA),
        partial(right_angles, 2048),
        along(_features),
        USUAL,
    ),
    Subject(
        "linear features, ridge",
        partial(_linear, Ridge(), DELTA),
        partial(right_angles, 2048),
        along(_features),
        USUAL,
    ),
    Subject("random features, min-norm", _interpolated, partial(right_angles, 64), along(_features), _sizes(512, 512)),
    Subject("halfspaces", partial(_plane, DELTA), units, "white-box", HALF),
    Subject("rado release", partial(_rados, RadoRelease), units, "white-box", HALF, predicts=False),
    Subject("rado boost", partial(_rados, RadoBoostClassifier), units, "white-box", HALF),
)
"""Those all of whose releases have Gaussian noise."""

ON_BITS: Final[tuple[tuple[str, Any, dict[str, object], int], ...]] = (
    ("boosted 1-Rules", LazyBoostClassifier, {}, 64),
    ("boosted TopDown trees", LazyBoostClassifier, {"weak_learner": "top-down"}, 64),
    ("DPBoost", DPGradientBoostingClassifier, {}, 64),
    ("random forest", DPRandomForestClassifier, {"depth": 8}, 256),
    ("random forest, one tree of depth 10", DPRandomForestClassifier, {"n_estimators": 1, "depth": 10}, 1024),
    ("bagging", DPBaggingClassifier, {}, 64),
)
"""With the number of canaries."""

OTHER: Final = (
    *(
        Subject(name, partial(_on_bits, kind, more), all_corners, "white-box", _sizes(number, number))
        for name, kind, more, number in ON_BITS
    ),
    Subject("halfspaces, δ = 0", partial(_plane, 0.0), units, None, _sizes(256, 256), 0.25),
    Subject(
        "logistic regression", partial(_logistic, DELTA), partial(corners, 50, 0.0), None, _sizes(1024, 1024), 0.25
    ),
    Subject(
        "logistic regression, δ = 0", partial(_logistic, 0.0), partial(corners, 50, 0.0), None, _sizes(1024, 1024), 0.25
    ),
    Subject(
        "linear features, objective, δ = 0",
        partial(_linear, Objective(), 0.0),
        partial(right_angles, 256),
        None,
        _sizes(256, 256),
        0.25,
    ),
)
"""The others. Those without a score draw noise that they do not release."""
