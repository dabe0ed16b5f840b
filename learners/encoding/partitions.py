"""Public partitions of numeric columns: fine cuts from the bounds alone, a grid that follows released counts, and the
random coarser bins of one round."""

import math
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.tables import Integer, Numeric

FINE: Final = 256
"""Cells that a numeric column is first cut into where quantiles are to be chosen among its cuts."""

FINEST: Final = 4096
"""Cells where a grid is to follow the records: as many as a schema may have."""

NEAREST: Final = 1e-3
"""Cuts come as close to an anchor as this share of the range."""


def refined(column: Numeric, cells: int | None = None) -> Numeric:
    """The column cut into so many cells, FINE for None, unless it names its cuts. Public: it follows from the bounds.

    cells: FINEST at most, a cell of missing values included.
    Half of the cuts are evenly spaced; half lie at geometric distances from either bound, and from 0 where that is
    inside, as amounts and counts crowd there.
    """
    if column.cuts:
        return column
    bins = None if cells is None else min(cells, FINEST - column.own_cell)
    cuts = public_cuts(column.lower, column.upper, bins)
    return attrs.evolve(column, cuts=_between_whole(column, cuts) if isinstance(column, Integer) else cuts)


def _between_whole(column: Integer, cuts: tuple[float, ...]) -> tuple[float, ...]:
    """Cuts between whole numbers: no cell is without one."""
    halves = np.unique(np.floor(np.array(cuts)) + 0.5)
    return tuple(halves[(halves > column.lower) & (halves < column.upper)].tolist())


def public_cuts(lower: float, upper: float, cells: int | None = None) -> tuple[float, ...]:
    """At most cells − 1 inner cuts in rising order: quantiles of the distribution that `refined` describes."""
    cells, width = FINE if cells is None else cells, upper - lower
    if math.isinf(width):
        return tuple(2.0 * cut for cut in public_cuts(lower / 2.0, upper / 2.0, cells))
    anchors = [0.0, 1.0, *([-lower / width] if lower < 0.0 < upper else [])]
    places = np.linspace(0.0, 1.0, 2**14 + 1)
    below = places + sum(_crowded(places, anchor) for anchor in anchors) / len(anchors)
    cuts = lower + width * np.interp(np.arange(1, cells) / cells, below / below[-1], places)
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


def denoised(counts: FloatArray, sigma: float, expected: FloatArray, total: float) -> FloatArray:
    """Shares of the records per cell from noisy counts, shape (cells,), positive, summing to 1.

    counts: with N(0, sigma²) noise each.  expected: shares as far as they are known, positive, summing to 1.
    total: how many records there are at least, positive; the fewer, the less the counts are believed.
    From the whole down, each part is halved: its halves get their noisy shares, as far as noise allows to tell them
    from the expected ones, and at least SPARED of those.
    """
    cells, size = counts.size, 1 << (counts.size - 1).bit_length()
    counts, expected = (np.append(each, np.zeros(size - cells)) for each in (counts, expected))
    shares = np.ones(1)
    for parts in _levels(size):
        sums, hoped = np.add.reduceat(counts, parts), np.add.reduceat(expected, parts)
        widths = np.diff(np.append(parts, size))[0::2]
        left = hoped[0::2] / np.maximum(hoped[0::2] + hoped[1::2], np.finfo(float).tiny)
        records = np.maximum(shares * total, 1e-9 * total)
        # A half's share has variance about left·(1 − left)/3 a priori, and half a cell's, sigma²/4, from noise.
        room = left * (1.0 - left) / 3.0
        gain = room / np.maximum(room + 0.5 * widths * (sigma / records) ** 2, np.finfo(float).tiny)
        seen = 0.5 + 0.5 * (sums[0::2] - sums[1::2]) / records
        half = np.clip(left + gain * (seen - left), SPARED * left, 1.0 - SPARED * (1.0 - left))
        shares = np.stack([half * shares, (1.0 - half) * shares], axis=1).ravel()
    found = np.maximum(shares[:cells], np.finfo(float).tiny)
    return np.asarray(found / found.sum())


SPARED: Final = 0.04
"""Of its expected share, what each half of a part keeps at least."""


def _levels(cells: int) -> list[IntArray]:
    """Where the parts begin, level by level, each part cut in two."""
    levels = []
    starts = np.array([0, cells])
    while starts.size - 1 < cells:
        middles = (starts[:-1] + starts[1:]) // 2
        starts = np.sort(np.concatenate([starts, middles]))
        levels.append(starts[:-1])
    return levels


def grid(shares: FloatArray, size: int, public: float) -> IntArray:
    """For each fine cell its cell of a grid of at most `size`, of equal shares; `public` of those spread evenly."""
    blend = (1.0 - public) * shares + public / shares.size
    return np.unique(np.minimum((middles(blend) * size).astype(np.intp), size - 1), return_inverse=True)[1]


def middles(shares: FloatArray) -> FloatArray:
    """Of cells side by side, each as wide as its share, the middles; in (0, 1), rising."""
    return np.asarray(np.cumsum(shares) - 0.5 * shares)


def random_bins(places: FloatArray, number: int, coins: np.random.Generator) -> IntArray:
    """For each cell its bin: at most `number` bins between 0 and 1 with boundaries at random, in order; none is empty.

    places: of the cells, rising; shape (cells,), as the bins.
    """
    boundaries = (np.arange(1, number) - 0.5 + coins.random(number - 1)) / number
    return np.unique(np.searchsorted(boundaries, places, side="right"), return_inverse=True)[1]
