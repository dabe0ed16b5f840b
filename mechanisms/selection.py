"""Private choice of a candidate by noisy scores."""

from functools import cached_property
from typing import TypeVar

import attrs
import numpy as np
from scipy.special import log_softmax

from accountant import Adjacency, BoundedRange, Description
from accountant._numbers import fraction, positive
from accountant.rounding import up
from mechanisms.core import FiniteMechanism, FloatArray
from mechanisms.noise import NoiseSource, SecureNoise
from mechanisms.robust import (
    Certified,
    RobustCost,
    RobustMechanism,
    RobustQuery,
    Slickness,
    accept,
    check_certificate,
)
from mechanisms.sensitivity import RangeSensitivity

W = TypeVar("W", bound=Certified)


@attrs.frozen(slots=False)
class WeightedExponential(RobustMechanism[W, int]):
    """WEM: candidate i with probability proportional to exp(eta·score_i).

    query: weighted data to scores, shape (k,), with its *range* sensitivity.
    eta: inverse noise scale, per unit of score, positive.
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: BoundedRange(eta·Δ_range(zeta)), half of what the paper's 2·eta·Δ_linf declares.
    Proof: [L2], tightening [001-Thm3].

    | edge | what happens |
    | --- | --- |
    | one candidate | it is returned; the cost is still charged |
    | ties | equal probabilities |
    | sensitivity 0 | cost 0: the scores do not depend on the data |
    | a score of NaN or ±inf | ValueError |
    """

    query: RobustQuery[W, FloatArray, RangeSensitivity]
    eta: float = attrs.field(converter=positive)
    zeta: float = attrs.field(converter=fraction)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    @property
    def adjacency(self) -> Adjacency:
        return self.query.adjacency

    @cached_property
    def sensitivity(self) -> RangeSensitivity:
        """Δ_range at the promised ζ."""
        return self.query.sensitivity(self.zeta)

    @property
    def width(self) -> float:
        """The ε of its bounded range: eta·Δ_range(zeta), rounded up. [L2]"""
        return up(self.eta * self.sensitivity.value) if self.sensitivity.value else 0.0

    @cached_property
    def robust_cost(self) -> RobustCost:
        return RobustCost(BoundedRange(self.width), self.zeta)

    def under(self, slickness: Slickness) -> "CertifiedExponential[W]":
        return CertifiedExponential(self, slickness)


@attrs.frozen(slots=False)
class CertifiedExponential(FiniteMechanism[W]):
    """A weighted exponential mechanism on data weighted under a certificate: it has a plain cost."""

    robust: WeightedExponential[W]
    slickness: Slickness

    def __attrs_post_init__(self) -> None:
        # Here rather than in `under` alone, so that no other way of making one skips it.
        accept(self.slickness, self.robust.robust_cost, self.robust.adjacency)

    @property
    def cost(self) -> BoundedRange:
        cost = self.robust.robust_cost.cost
        assert isinstance(cost, BoundedRange)
        return cost

    @property
    def adjacency(self) -> Adjacency:
        return self.robust.adjacency

    @cached_property
    def description(self) -> Description:
        robust = self.robust
        return Description(
            mechanism="WeightedExponential",
            query=robust.query.name,
            parameters=(("eta", robust.eta), ("certificate", self.slickness.producer)),
            norm=robust.sensitivity.norm,
            sensitivity=robust.sensitivity.value,
            zeta=robust.zeta,
            noise=robust.noise.name,
            private=robust.noise.private,
            claims=("L2", *robust.query.claims, *self.slickness.claims),
        )

    def check(self, data: W) -> None:
        check_certificate(data, self.slickness)

    def sample(self, data: W) -> int:
        return self.robust.noise.exponential_choice(self.robust.query.evaluate(data), self.robust.eta)

    def log_probabilities(self, data: W) -> FloatArray:
        """Exact up to rounding: eta·score − log Σ exp(eta·score), shape (k,)."""
        scores = self.robust.query.evaluate(data)
        return np.asarray(log_softmax(self.robust.eta * scores), dtype=np.float64)
