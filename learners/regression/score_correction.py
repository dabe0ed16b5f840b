"""The last step of a regression to means: the line through hardly clipped residuals over scores.

Clipped residuals of skewed labels say too little, and a descent that stops early goes not far enough: both show here.
"""

from typing import Final

import attrs
import numpy as np

from accountant import Protected
from accountant.arrays import FloatArray, IntArray
from boosting import Spender
from learners.regression.record_views import InCells, ScorePull, moments
from learners.regression.regression_design import RegressionDesign, noise_of
from learners.regression.regression_losses import TARGET_ONE, Loss
from learners.regression.regression_records import ScoreFeatures
from mechanisms.gradients import whole_features

REACH: Final = 2.5
"""Scores beyond it, in deviations of the labels, count as that."""

LOG_REACH: Final = 2.0
"""The same of log-rates, in nats."""

BINS: Final = 64

MEAN_WEIGHT: Final = 0.4
"""Of the squared length of a score's features, what is the mean's; the rest is the slope's."""

SLOPE_PRIOR: Final = 0.15
"""Deviation of the slope a priori."""

SHIFT_PRIOR: Final = 0.15
"""The same of the shift, in units of the labels' scale."""

LEAST_SLOPE, MOST_SLOPE = -0.3, 0.6


@attrs.frozen
class Correction:
    """What is added to every score, in units of the labels' scale, and by how much scores are stretched."""

    shift: float
    slope: float


@attrs.frozen(eq=False)
class ScoreLine:
    """How the correction is looked for. clip: of residuals.  reach: of scores; both in units of the labels' scale."""

    clip: float
    reach: float
    weight: float

    @staticmethod
    def of(loss: Loss, clip: float, weight: float) -> "ScoreLine":
        """weight: of all records."""
        return ScoreLine(clip, LOG_REACH if loss.log else REACH, weight)

    def _features(self, first: float, second: float, powers: tuple[int, int]) -> ScoreFeatures:
        places = (np.arange(BINS) + 0.5) * 2.0 / BINS - 1.0
        values = np.stack([first * places ** powers[0], second * places ** powers[1]], axis=1)
        return ScoreFeatures(round(self.reach * TARGET_ONE), whole_features(values * (1.0 - 1e-9)))

    def released(
        self, data: Protected[InCells], tables: list[IntArray], design: RegressionDesign, mu: float, spender: Spender
    ) -> Correction:
        """Two releases: of the scores alone, and with residuals."""
        loss, clip = design.rule, self.clip
        half, one, other = np.sqrt(0.5), np.sqrt(MEAN_WEIGHT), np.sqrt(1.0 - MEAN_WEIGHT)
        alone, along = self._features(half, half, (1, 2)), self._features(one, other, (0, 1))

        whole = tuple(tables)
        scores = moments(data, ScorePull(whole, loss, None, alone))
        residuals = moments(data, ScorePull(whole, loss, clip, along))
        sums = spender.release(design.scores(mu), scores) / half
        pulls = spender.release(design.mean(mu), residuals) * (clip / np.array([one, other]))
        unsure = noise_of(design.mean(mu)) * clip / np.array([one, other])
        return self._solved(sums, pulls, (float(unsure[0]), float(unsure[1])))

    def _solved(self, sums: FloatArray, pulls: FloatArray, unsure: tuple[float, float]) -> Correction:
        """sums: of scores and squares, over the reach.  pulls: of residuals.  unsure: noise of those."""
        centre = float(np.clip(sums[0] / self.weight, -1.0, 1.0))
        spread = max(float(sums[1]) / self.weight - centre**2, 1e-3) * self.weight
        prior = (unsure[1] / (SLOPE_PRIOR * self.reach)) ** 2 / spread  # noise over what a slope a priori would show
        raw = float(pulls[1] - centre * pulls[0]) / (spread + prior)
        slope = float(np.clip(raw / self.reach, LEAST_SLOPE, MOST_SLOPE))
        gain = SHIFT_PRIOR**2 / (SHIFT_PRIOR**2 + (unsure[0] / self.weight) ** 2)
        return Correction(gain * float(pulls[0]) / self.weight - slope * centre * self.reach, slope)
