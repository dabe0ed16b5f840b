"""Public partitions of numeric columns: fine cuts from the bounds alone, a grid that follows released counts, and the
random coarser bins of one round."""

import math
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.tables import Numeric

FINE: Final = 256
"""Cells that a numeric column is first cut into."""

NEAREST: Final = 1e-3
"""Cuts come as close to an anchor as this share of the range."""

PUBLIC_SHARE: Final = 0.5
"""How much of the grid follows the public cuts; the rest follows the released counts."""


def refined(column: Numeric) -> Numeric:
    """The column cut into FINE cells, unless it names its cuts. Public: follows from the bounds alone.

    Half of the cuts are evenly spaced; half lie at geometric distances from either bound, and from 0 where that is
    inside, as amounts and counts crowd there.
    """
    if column.cuts:
        return column
    return attrs.evolve(column, cuts=public_cuts(column.lower, column.upper))


def public_cuts(lower: float, upper: float) -> tuple[float, ...]:
    """FINE − 1 inner cuts in rising order: quantiles of the distribution that `refined` describes."""
    width = upper - lower
    if math.isinf(width):
        return tuple(2.0 * cut for cut in public_cuts(lower / 2.0, upper / 2.0))
    anchors = [0.0, 1.0, *([-lower / width] if lower < 0.0 < upper else [])]
    places = np.linspace(0.0, 1.0, 2**14 + 1)
    below = places + sum(_crowded(places, anchor) for anchor in anchors) / len(anchors)
    cuts = lower + width * np.interp(np.arange(1, FINE) / FINE, below / below[-1], places)
    # Steps that floating point cannot tell apart, or that reach a bound, are left out.
    distinct = np.unique(cuts)
    return tuple(distinct[(distinct > lower) & (distinct < upper)].tolist())


def _crowded(places: FloatArray, anchor: float) -> FloatArray:
    """Share of a distribution of geometric distances from the anchor, all in [0, 1], that lies below each place."""

    def reach(distance: FloatArray) -> FloatArray:
        return np.asarray(np.log1p(distance / NEAREST))

    below, above = reach(np.array(anchor)), reach(np.array(1.0 - anchor))
    signed = np.sign(places - anchor) * reach(np.abs(places - anchor))
    return np.asarray((signed + below) / (below + above))


def denoised(counts: FloatArray, sigma: float) -> FloatArray:
    """Shares of the records per cell from noisy counts, shape (cells,), positive, summing to 1.

    counts: with N(0, sigma²) noise each; a power of two cells.  From the whole down, each half gets its noisy share
    of what its parent has, between 2 % and 98 %, drawn towards equal halves where noise hides the difference.
    """
    total = max(float(counts.sum()), sigma * np.sqrt(counts.size), 1.0)
    shares = np.array([total])
    for parts in _levels(counts.size):
        sums = np.add.reduceat(counts, parts)
        widths = np.diff(np.append(parts, counts.size))
        left, right = sums[0::2], sums[1::2]
        # The difference has variance share²/3 a priori and sigma² per cell from noise.
        difference = (left - right) / (1.0 + 3.0 * (widths[0::2] + widths[1::2]) * (sigma / shares) ** 2)
        half = np.clip(0.5 * (shares + difference), 0.02 * shares, 0.98 * shares)
        shares = np.stack([half, shares - half], axis=1).ravel()
    return np.asarray(shares / total)


def _levels(cells: int) -> list[IntArray]:
    """Where the parts begin, level by level, each part cut in two."""
    levels = []
    starts = np.array([0, cells])
    while starts.size - 1 < cells:
        middles = (starts[:-1] + starts[1:]) // 2
        starts = np.sort(np.concatenate([starts, middles]))
        levels.append(starts[:-1])
    return levels


def grid(shares: FloatArray, size: int) -> IntArray:
    """For each fine cell its cell of a grid of at most `size`, equal in a blend of released and public shares."""
    blend = (1.0 - PUBLIC_SHARE) * shares + PUBLIC_SHARE / shares.size
    middle = np.cumsum(blend) - 0.5 * blend
    return np.unique(np.minimum((middle * size).astype(np.intp), size - 1), return_inverse=True)[1]


def random_bins(cells: int, number: int, coins: np.random.Generator) -> IntArray:
    """For each cell its bin: about `number` bins with boundaries at random, in order. Shape (cells,)."""
    jittered = (np.arange(1, number) - 0.5 + coins.random(number - 1)) / number
    cuts = np.unique(np.clip(np.rint(jittered * cells).astype(np.intp), 1, max(1, cells - 1)))
    return np.searchsorted(cuts[cuts < cells], np.arange(cells), side="right")
