"""Which cells of a numeric column are released together in one round."""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.posteriors import with_own_bin
from learners.additive.views import View
from learners.encoding import middles, random_bins

FEWEST_BINS, MOST_BINS = 4, 40
"""Bins of a numeric column in one round: as many as carry a curvature of σ each."""

FIRST_BINS: Final = 16.0
"""What the curvature of all is taken for, in σ, before the first round."""

MANY: Final = 3.0
"""Times σ, the curvature per bin from which there are more than MOST_BINS where grids are finer: as many as the square
root of it grows."""

MOST_OF_ALL: Final = 100
"""Bins in one round but for cells that are bins by themselves."""

ALONE: Final = 2.0
"""A cell is a bin by itself where it carries so many bins' share of the curvature: a value that many records share."""


def round_bins(view: View, carried: float, coins: np.random.Generator) -> IntArray:
    """The bin of each cell, shape (cells,). carried: a column's curvature over σ, as last released; may be negative."""
    if view.width is None:
        return np.arange(view.number)
    number = int(np.clip(carried, FEWEST_BINS, MOST_BINS))
    if view.finer and carried > MANY * MOST_BINS:
        number = int(min(MOST_BINS * np.sqrt(carried / (MANY * MOST_BINS)), MOST_OF_ALL))
    if number >= view.number:
        return np.arange(view.number)
    part = _ordered(view.width, view.mass if view.finer else None, number, carried, coins)
    return with_own_bin(part) if view.own else part


def _ordered(
    width: FloatArray, mass: FloatArray | None, number: int, carried: float, coins: np.random.Generator
) -> IntArray:
    part = random_bins(middles(width), number, coins)
    if mass is None:
        return part
    alone = mass[: part.size] >= ALONE / np.clip(carried, 1.0, 2.0 * number)
    starts = np.diff(part, prepend=0) + alone + np.append(False, alone[:-1]) > 0
    starts[0] = False
    return np.cumsum(starts)
