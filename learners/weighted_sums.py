"""Sums of weights over the cells of packed columns: in whole numbers, so that no order of records shows.

A weight is rounded to a multiple of mass/(n·2^36). Sums of such multiples are exact in doubles as long as they stay
below 2^53, which a block of records is small enough for; over blocks they are added up as 64-bit integers. So the sums
are the same whatever the blocks, the order of the records, or the machines that hold them; floating-point addition is
not (Casacuberta, Shoemate, Vadhan & Wagaman 2022), and its order would be one more thing that a sensitivity depends on.
[whole-weights]
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from boosting.measures import BoundedMeasure, FloatArray, WholeArray
from learners.schema import CodeArray, IntArray

BITS: Final = 36
"""Of the mean weight: all weights together are n·2^36 units, each off by half a unit."""

EXACT: Final = 2.0**53
LEAST_BLOCK, MOST_BLOCK = 2**12, 2**16
LIMB: Final = 2.0**26
MOST_RECORDS: Final = 2**27

ExactArray = npt.NDArray[np.int64]


def weight_units(measure: BoundedMeasure) -> FloatArray:
    """The distinct weights in units of mass/(n·2^36), whole numbers, shape (L,); at most n·2^36 each."""
    return np.rint(measure.values * (measure.n * 2.0**BITS / measure.mass))


def cell_sums(measure: BoundedMeasure, packed: CodeArray, cells: int, rows: IntArray | None = None) -> ExactArray:
    """Σ units(i) over the records in each cell, exactly, shape (groups, cells).

    packed: joint codes below `cells`, shape (groups, n).  rows: numbers of the records that count; None for all.
    """
    units = weight_units(measure)
    levels = measure.levels if rows is None else measure.levels[rows]
    packed = packed if rows is None else packed[:, rows]
    # Where all weights together stay below 2^53, no part of them does not.
    block = max(1, levels.size) if measure.n <= 2**16 else int(min(MOST_BLOCK, EXACT / max(1.0, float(units.max()))))
    if block >= min(LEAST_BLOCK, levels.size):
        return _sums(units, levels, packed, cells, block, measure.n)
    # Few records may hold nearly all of the weight: in two parts, so that blocks need not become tiny.
    high = np.floor(units / LIMB)
    upper, lower = (_sums(u, levels, packed, cells, MOST_BLOCK, measure.n) for u in (high, units - high * LIMB))
    return np.asarray(upper * int(LIMB) + lower)


def _sums(units: FloatArray, levels: WholeArray, packed: CodeArray, cells: int, block: int, n: int) -> ExactArray:
    # The sums of more records outgrow 64 bits, and become Python's integers.
    totals = np.zeros((len(packed), cells), dtype=np.int64 if n < MOST_RECORDS else object)
    for start in range(0, levels.size, block):
        weights = units.take(levels[start : start + block], mode="clip")
        for total, codes in zip(totals, packed[:, start : start + block], strict=True):
            total += np.bincount(codes, weights=weights, minlength=cells).astype(np.int64)
    return totals


def as_shares(sums: ExactArray, n: int) -> FloatArray:
    """Whole units of a sample of n records, as shares of all the weight."""
    return np.asarray(sums.astype(np.float64) / (n * 2.0**BITS))
