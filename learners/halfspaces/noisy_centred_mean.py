"""Servedio's weak learner for halfspaces, with noise: the centred mean, released and brought to length 1."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np

from accountant import Cost, Description, Protected
from accountant.arrays import FloatArray
from accountant.costs import positive
from boosting import Spender
from learners.halfspaces.centred_means import Halfspace, ReweightedPoints
from mechanisms import GammaNorm, NoiseSource, RobustGaussian, Slickness
from mechanisms.queries import unit_ball_mean

NoiseDistribution: TypeAlias = Literal["gaussian", "gamma-norm"]
"""Gaussian, whose rounds are exactly Gaussian differential privacy together, or the one that is pure."""


@attrs.frozen
class NoisyCentring:
    """ẑ = Σ μ̂(i)·yᵢ·x̃ᵢ + noise, and the hypothesis (ẑ/|ẑ|)·x̃. Source: 003, section 5.2. [003-Thm27]

    scale: σ > 0 per coordinate, for "gamma-norm" the scale of the noise's length, in units of the unit ball.
    rounding: r >= 0, the most that the points may have, see `unit_ball_mean`.
    Cost of a round: GDP((2ζ + r)/σ), or LaplaceDP((2ζ + r)/scale); half of what 003 charges, but for r.
    Dividing by the length is post-processing: without it h leaves [−1, 1], and the advantage is the square of what it
    could be. [003-Thm26]
    """

    scale: float = attrs.field(converter=positive)
    noise: NoiseSource
    rounding: float
    distribution: NoiseDistribution = "gaussian"

    def _release(self, zeta: float) -> RobustGaussian[ReweightedPoints] | GammaNorm[ReweightedPoints]:
        kind = RobustGaussian if self.distribution == "gaussian" else GammaNorm
        return kind(unit_ball_mean(self.rounding), self.scale, zeta, self.noise)

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """Of one round under this certificate."""
        return (self._release(slickness.zeta).robust_cost.cost,)

    def announced(self, slickness: Slickness) -> Description:
        """What the ledger's entry says about a plan of such rounds."""
        return self._release(slickness.zeta).under(slickness).description

    def learn(self, spender: Spender, data: Protected[ReweightedPoints], slickness: Slickness) -> Halfspace:
        """One halfspace, paid through `spender`."""
        return Halfspace(unit(spender.release(self._release(slickness.zeta).under(slickness), data)))


def centred_halfspace(weighted: ReweightedPoints) -> Halfspace:
    """Servedio's weak learner as it is, x ↦ (z/|z|)·x, z = Σ μ̂(i)·yᵢ·x̃ᵢ: advantage |z|/2. Not private. [003-Thm26]"""
    return Halfspace(unit(weighted.mean))


def unit(vector: FloatArray) -> FloatArray:
    """The vector at length 1, shape (d,); 0 stays 0."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if not largest > 0.0:
        return np.zeros_like(vector)
    scaled = vector / largest  # whose squares are ordinary floats
    return np.asarray(scaled / np.linalg.norm(scaled))
