"""Weights of margins that are told apart in steps: exp(−λ·margin), scaled and capped to density κ."""

from bisect import bisect_left
from typing import Final

import numpy as np

from accountant.arrays import ExactArray, FloatArray
from boosting.projection import capped_scaling

SOLVED: Final = 2.0**-45
"""How far all weights together may be from exact ones, in units of their sum: Σ|μ − μ*| <= 2^-45·κn. [level-weights]

μ* = min(1, c*·w) for the w = exp(log) of the floats that logs are; μ is that for another c, but for rounding. As all of
min(1, c·w) rise with c, Σ|μ − μ*| is at most that rounding and |Σ min(1, c·w) − κn|. In units of 2^-53·κn: relative to
the first level that is not capped, a weight at x from it in logarithms is off by x + 9 of itself: difference, exp,
scale. Over the weights x averages ln n <= 22.2 at most, as it is 0 for some record: the entropy of n shares is x's
average and the logarithm of a sum that is at least 1. That makes 32; the scale has it too, and 36 of a pairwise sum of
at most 2^24 terms, and 4; a level may by as much be capped that is not, or not be. 32 + 72 + 72 = 176 < 2^8.
"""


def capped_levels(logs: FloatArray, counts: ExactArray, density: float) -> FloatArray:
    """μ = min(1, c·e^log) with Σ counts·μ = density·Σ counts, shape (L,); 0 for levels of nobody. [level-weights]

    logs: falling, shape (L,).  counts: records of each level, shape (L,).
    `boosting.capped_scaling` says where the cap is; its running sums may be off in their last digits, so that is looked
    at again, and the scale is taken anew.
    """
    weights = np.zeros(logs.size)
    if density == 1.0:
        weights[counts > 0] = 1.0
        return weights
    filled = np.flatnonzero(counts)
    weights[filled] = _capped(logs[filled], counts[filled], density)
    return weights


def _capped(logs: FloatArray, counts: ExactArray, density: float) -> FloatArray:
    sizes = counts.astype(np.float64)
    upto = np.cumsum(counts)
    left = density * float(upto[-1]) - (upto - counts)

    def free(first: int) -> tuple[FloatArray, float]:
        """Weights relative to that of the first free level, and its weight if it and all lower ones share the rest."""
        relative = np.exp(logs[first:] - logs[first])
        return relative, float(left[first]) / float(np.sum(sizes[first:] * relative))

    def capped(place: int) -> bool:
        """Whether this level is: with all lower ones it would get more than is allowed. So are all above it."""
        return bool(left[place] > 0.0) and free(place)[1] > 1.0

    first = min(int(np.count_nonzero(capped_scaling(logs, counts, density) >= 1.0)), logs.size - 1)
    if capped(first) or (first and not capped(first - 1)):
        first = bisect_left(range(logs.size - 1), True, key=lambda place: not capped(place))
    relative, scale = free(first)
    values = np.ones(logs.size)
    values[first:] = np.minimum(1.0, max(0.0, scale) * relative)
    return values
