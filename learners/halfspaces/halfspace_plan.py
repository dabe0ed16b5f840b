"""What a fit of a halfspace will release, and at what cost: functions of public numbers only."""

from functools import cached_property

import attrs
import numpy as np

from accountant import Description, Plan, ReplaceOne
from accountant.arrays import FloatArray
from boosting import LazyBregman, boosting_plan, certificates
from learners.base import BoostingSettings
from learners.halfspaces.centred_means import Centring, mean_rounding
from learners.halfspaces.noisy_centred_mean import NoisyCentring
from learners.halfspaces.point_sample import PointRows
from mechanisms import (
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    Mechanism,
    NoiseSource,
    PlainMechanism,
    Query,
    Slickness,
)


def _outside(points: PointRows) -> FloatArray:
    return np.array([float(points.outside())])


@attrs.frozen(slots=False, eq=False)
class HalfspacePlan:
    """All releases of a fit, fixed and priced before it starts.

    n: records.  radius: of the ball.  pure: whether noise is to be pure, ℓ2-Laplace, or else Gaussian.
    counting: the scale of the noise on the number of points outside the ball, in records; None where it is not counted.
    """

    n: int
    settings: BoostingSettings
    radius: float
    pure: bool
    noise: NoiseSource
    counting: float | None = None

    @property
    def producer(self) -> LazyBregman:
        """What weights the records."""
        return LazyBregman(self.settings.density, self.settings.learning_rate)

    @property
    def booster(self) -> Centring:
        """The measure producer."""
        return Centring(self.producer)

    def learner(self, scale: float) -> NoisyCentring:
        """The weak learner with that noise."""
        rounding = mean_rounding(self.n, self.settings.density)
        return NoisyCentring(scale, self.noise, rounding, "gamma-norm" if self.pure else "gaussian")

    @cached_property
    def certificates(self) -> list[tuple[Slickness, int]]:
        """Of each round."""
        return certificates(self.booster, self.settings.rounds, self.n)

    @property
    def count(self) -> Mechanism[PointRows, FloatArray] | None:
        """The number of points outside the ball with noise: one record moves it by 1 at most."""
        if self.counting is None:
            return None
        name, neighbours = f"points-outside(radius={self.radius!r})", ReplaceOne()
        if self.pure:
            of_one = Query(name, _outside, L1Sensitivity(1.0), neighbours)
            return PlainMechanism(of_one, LaplaceNoise(self.counting), self.noise)
        query = Query(name, _outside, L2Sensitivity(1.0), neighbours)
        return PlainMechanism(query, GaussianNoise(self.counting), self.noise)

    def announced(self, scale: float) -> Description:
        """What the ledger's entry says before it is released: its last round, and what else there is."""
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
