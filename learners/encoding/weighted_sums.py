"""Sums of weights over the cells of packed columns: in whole numbers, so that no order of records shows.

A weight is rounded to a multiple of mass/(n·2^36). Sums of such multiples are exact in doubles as long as they stay
below 2^53, which a block of records is small enough for; over blocks they are added up as 64-bit integers. So the sums
are the same whatever the blocks, the order of the records, or the machines that hold them; floating-point addition is
not (Casacuberta, Shoemate, Vadhan & Wagaman 2022), and its order would be one more thing that a sensitivity depends on.
[whole-weights]
"""

import math
from functools import cached_property
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from accountant.arrays import ExactArray, FloatArray, IntArray
from boosting.measures import BoundedMeasure, WholeArray

BITS: Final = 36
"""Of the mean weight: all weights together are n·2^36 units, each off by half a unit."""

EXACT: Final = 2.0**53
LEAST_BLOCK, MOST_BLOCK = 2**12, 2**15
LIMB: Final = 2.0**26
MOST_WEIGHED_RECORDS: Final = 2**27 - 1
"""More, and their sums would not fit into 64 bits."""


def weight_units(measure: BoundedMeasure) -> FloatArray:
    """The distinct weights in units of mass/(n·2^36), whole numbers, shape (L,); at most n·2^36 each."""
    return np.rint(measure.values * (measure.n * 2.0**BITS / measure.mass))


@attrs.frozen(slots=False, eq=False)
class CellIndex:
    """The cells that each record is in, one for each of some groups of columns.

    places: numbers of cells below `cells`, those of one group apart from another's, shape (n, groups).
    Sums over cells are products with a sparse matrix of ones, which is 2.4 times as fast as a `bincount` per group: all
    groups are added to in turn, so that no addition waits for the one before.
    """

    places: npt.NDArray[np.int32] = attrs.field(repr=False)
    cells: int

    def part(self, rows: IntArray) -> "CellIndex":
        """Of these records."""
        return CellIndex(self.places[rows], self.cells)

    def sums(self, weights: FloatArray, start: int, block: int) -> FloatArray:
        """Σ weights over the records in each cell, shape (cells,), for at most `block` records from `start` on."""
        if self._kept.block != block:
            self._kept.change(block, self.places.shape[1])
        if start not in self._kept.matrices:
            size = weights.size
            ones, pointers = self._kept.ones[: size * self.places.shape[1]], self._kept.pointers[: size + 1]
            entries = (ones, self.places[start : start + size].reshape(-1), pointers)
            self._kept.matrices[start] = sparse.csc_array(entries, shape=(self.cells, size), copy=False)
        return np.asarray(self._kept.matrices[start] @ weights)

    @cached_property
    def _kept(self) -> "_Matrices":
        return _Matrices()


@attrs.define
class _Matrices:
    """Of one size of blocks, by their first record: views of the places, with entries and pointers that all share."""

    block: int = 0
    ones: FloatArray = attrs.field(factory=lambda: np.ones(0))
    pointers: npt.NDArray[np.int32] = attrs.field(factory=lambda: np.zeros(1, dtype=np.int32))
    matrices: dict[int, sparse.csc_array] = attrs.field(factory=dict)

    def change(self, block: int, groups: int) -> None:
        """To another size."""
        self.block, self.matrices = block, {}
        self.ones, self.pointers = np.ones(block * groups), np.arange(0, block * groups + 1, groups, dtype=np.int32)


def cell_sums(measure: BoundedMeasure, index: CellIndex, rows: IntArray | None = None) -> ExactArray:
    """Σ units(i) over the records in each cell, exactly, shape (cells,).

    rows: numbers of the records that count; None for all.
    """
    if rows is not None and not rows.size:
        return np.zeros(index.cells, dtype=np.int64)
    units = weight_units(measure)
    levels = measure.levels if rows is None else measure.levels[rows]
    index = index if rows is None else index.part(rows)
    # Where all weights together stay below 2^53, no part of them does not.
    block = max(1, levels.size) if measure.n <= 2**16 else _block(float(units.max()))
    if block >= min(LEAST_BLOCK, levels.size):
        return _sums(units, levels, index, block)
    # Few records may hold nearly all of the weight: in two parts, so that blocks need not become tiny.
    high = np.floor(units / LIMB)
    upper, lower = (_sums(part, levels, index, MOST_BLOCK) for part in (high, units - high * LIMB))
    return np.asarray(upper * int(LIMB) + lower)


def _block(largest: float) -> int:
    """So many weights stay below 2^53 together; a power of two, so that rounds have few sizes among them."""
    return max(1, int(min(MOST_BLOCK, 2.0 ** math.floor(math.log2(EXACT / max(1.0, largest))))))


def _sums(units: FloatArray, levels: WholeArray, index: CellIndex, block: int) -> ExactArray:
    totals = np.zeros(index.cells, dtype=np.int64)
    for start in range(0, levels.size, block):
        weights = units.take(levels[start : start + block], mode="clip")
        totals += index.sums(weights, start, block).astype(np.int64)
    return totals


def as_shares(sums: ExactArray, n: int) -> FloatArray:
    """Whole units of a sample of n records, as shares of all the weight."""
    return np.asarray(sums.astype(np.float64) / (n * 2.0**BITS))
