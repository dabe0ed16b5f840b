"""What a fit of a halfspace will release, and at what cost: functions of public numbers only."""

from functools import cached_property
from typing import Final

import attrs
import numpy as np

from accountant import Description, Plan, ReplaceOne
from boosting import LazyBregman, boosting_plan, certificates
from boosting.measures import FloatArray
from learners.centring import Centring
from learners.defaults import Settings
from learners.noisy_centring import NoisyCentring
from learners.point_sample import SINGLE_ROUNDING, PointSample
from mechanisms import (
    GaussianKernel,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceKernel,
    Mechanism,
    NoiseSource,
    PlainMechanism,
    Query,
    Slickness,
)
from mechanisms.queries import MEAN_ROUNDING

SHARE: Final = 0.05
"""Points are kept in single precision while that adds at most so much to the sensitivity of late rounds, 2/(κn).

Where it adds as much, κn is 44,000, and noise is far from what errors come from; with fewer records it adds less.
"""


def _outside(sample: PointSample) -> FloatArray:
    return np.array([float(sample.outside)])


@attrs.frozen(slots=False, eq=False)
class HalfspacePlan:
    """All releases of a fit, fixed and priced before it starts.

    n: records.  radius: of the ball.  pure: whether noise is to be pure, ℓ2-Laplace, or else Gaussian.
    counting: the scale of the noise on the number of points outside the ball, in records; None where it is not counted.
    promised: whether no more noise is allowed than was promised, so that single precision is left alone.
    """

    n: int
    settings: Settings
    radius: float
    pure: bool
    noise: NoiseSource
    counting: float | None = None
    promised: bool = False

    @property
    def producer(self) -> LazyBregman:
        """What weights the records."""
        return LazyBregman(self.settings.density, self.settings.learning_rate)

    @property
    def single(self) -> bool:
        """Whether points are kept in single precision, see SHARE."""
        return not self.promised and SHARE * 2.0 * self.producer.global_zeta(self.n) >= SINGLE_ROUNDING

    @property
    def booster(self) -> Centring:
        """The measure producer."""
        return Centring(self.producer, self.single)

    def learner(self, scale: float) -> NoisyCentring:
        """The weak learner with that noise."""
        rounding = SINGLE_ROUNDING if self.single else MEAN_ROUNDING
        return NoisyCentring(scale, self.noise, "gamma-norm" if self.pure else "gaussian", rounding)

    @cached_property
    def certificates(self) -> list[tuple[Slickness, int]]:
        """Of each round."""
        return certificates(self.booster, self.settings.rounds, self.n)

    @property
    def count(self) -> Mechanism[PointSample, FloatArray] | None:
        """The number of points outside the ball with noise: one record moves it by 1 at most."""
        if self.counting is None:
            return None
        name, neighbours = f"points-outside(radius={self.radius!r})", ReplaceOne()
        if self.pure:
            of_one = Query(name, _outside, L1Sensitivity(1.0), neighbours)
            return PlainMechanism(of_one, LaplaceKernel(self.counting), self.noise)
        query = Query(name, _outside, L2Sensitivity(1.0), neighbours)
        return PlainMechanism(query, GaussianKernel(self.counting), self.noise)

    def announced(self, scale: float) -> Description:
        """What the books say about it before it is released: its last round, and what else there is."""
        said = self.learner(scale).announced(self.certificates[-1][0])
        if self.count is None:
            return said
        parameters = (*said.parameters, ("points outside, with noise of", self.counting or 0.0))
        claims = tuple(dict.fromkeys((*said.claims, *self.count.description.claims)))
        return attrs.evolve(said, parameters=parameters, claims=claims)

    def whole(self, scale: float) -> Plan:
        """The costs of everything, in order."""
        rounds = boosting_plan(self.learner(scale), self.certificates)
        return rounds if self.count is None else Plan((*Plan.of(self.count.cost).steps, *rounds.steps))
