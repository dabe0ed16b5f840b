"""The losses of the additive regression: where residuals are clipped, and what a score says of a label."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from scipy.special import exp2

from accountant.arrays import FloatArray, IntArray

LossName: TypeAlias = Literal["squared", "absolute", "huber", "poisson"]

TARGET_ONE: Final = 2**10
"""Targets and scores are whole multiples of 1/TARGET_ONE of the labels' released scale; log-rates, of a nat."""

MOST_TARGET: Final = 2**30
"""Targets beyond it count as that."""

MOST_LOG_RATE: Final = 8 * TARGET_ONE
"""Log-rates stay within ±8 nats of the mean label's."""

RATES: Final = np.rint(TARGET_ONE * exp2(np.arange(-MOST_LOG_RATE, MOST_LOG_RATE + 1) / (TARGET_ONE * np.log(2.0))))


@attrs.frozen
class Loss:
    """Convex, with residuals clipped for a gradient, which makes a Huber loss of each.

    clips: of the first and of the later rounds, in deviations of the residuals.
    mean: whether the mean of the residuals is released last, hardly clipped, so that predictions have the labels' mean.
    log: whether scores are logarithms of expected labels, over their mean.
    """

    clips: tuple[float, float]
    mean: bool = False
    log: bool = False

    def expected(self, scores: IntArray) -> FloatArray:
        """What the scores say of the targets, in the same unit, integers; shape (n,)."""
        if not self.log:
            return scores.astype(np.float64)
        level = np.clip(scores, -MOST_LOG_RATE, MOST_LOG_RATE).astype(np.intp) + MOST_LOG_RATE
        return np.asarray(RATES.take(level))

    def spread(self, scores: IntArray) -> FloatArray:
        """How residuals' deviations go with the scores: all alike, or as roots of the rates; shape (n,)."""
        return np.sqrt(self.expected(scores) / TARGET_ONE) if self.log else np.ones(scores.shape)


LOSSES: Final[Mapping[str, Loss]] = {
    "squared": Loss((0.8, 1.0), mean=True),
    "huber": Loss((0.8, 1.0)),
    "absolute": Loss((0.4, 0.3)),
    "poisson": Loss((0.8, 1.0), mean=True, log=True),
}
"""By name. The two without a mean tell the middle of skewed labels: a typical value and the median."""


def loss_name(name: str) -> str:
    """The name, checked. Raises ValueError."""
    if name not in LOSSES:
        raise ValueError(f"expected one of {list(LOSSES)}, got {name!r}")
    return name


def whole_targets(labels: FloatArray, centre: float, scale: float) -> IntArray:
    """(label − centre)/scale in whole 1/TARGET_ONE, shape (n,), each from its own label alone. [records-alone]"""
    places = (labels - centre) / scale * TARGET_ONE
    return np.asarray(np.rint(np.clip(places, -MOST_TARGET, MOST_TARGET)).astype(np.int64))
