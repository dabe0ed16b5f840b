"""Where the records of numeric columns lie: two histograms, the second finer where the first one saw records.

Where records are few for the noise there is nothing to be finer about: then the same histogram is released twice, and
the mean is used, which is one histogram with the noise of both together. Everything here is public, or
post-processing of releases.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import attrs
import numpy as np

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.additive.posteriors import with_own_bin, with_own_share
from learners.encoding import FINE, denoised, grid
from learners.tables import Column, Numeric, Schema
from mechanisms.queries import Partitions

GRID: Final = 128
"""Cells of a numeric column up to which no histogram is asked for, and that the model tells apart where noise hides
more."""

STAGES: Final = 2
"""Histograms, one after the other: `followed_grids` asks for two, and the plan pays for as many."""

PUBLIC: Final = 0.5
"""How much of a grid of GRID cells follows the public cuts."""

MANY: Final = 1500.0
"""Records for each σ of one count that had the whole budget, from which grids are finer."""

FEWEST_RECORDS: Final = 8192.0
"""The same whatever the noise: of fewer, fine cells show how the records of a sample happened to fall."""

FEWEST, MOST = 16, 512
"""Cells in the second histogram where it is finer: as many as there are records to a σ of noise, within these."""

LEAST_PUBLIC: Final = 0.3
"""How much of a finer grid follows the public cuts at least."""

MOST_CELLS: Final = 1024
"""Cells per numeric column that the model may tell apart."""

RECORDS_PER_CELL: Final = (16.0, 8.0)
"""Records per cell of a finer grid, on average, and further ones per σ of a round's noise."""


EXPECTED: Final = 0.1
"""Share of the records whose number is taken to be missing, before anything is known, where the schema has a cell."""


def is_ordered(column: Column) -> bool:
    """Whether a column's codes have an order that effects follow."""
    return isinstance(column, Numeric) and column.bin_number > 2


def has_own(column: Column) -> bool:
    """Whether the last of its cells is that of missing values, beside others in order."""
    return isinstance(column, Numeric) and column.bin_number > 2 and column.own_cell


def measured(schema: Schema) -> list[int]:
    """Columns whose grid follows noisy histograms: those with more cells than GRID."""
    return [
        number
        for number, column in enumerate(schema.columns)
        if is_ordered(column) and column.cells - has_own(column) > GRID
    ]


@attrs.frozen(eq=False)
class Followed:
    """A grid of an ordered column that follows its records.

    cells: of each code, rising from 0.  mass: share of the records per cell, positive.  width: of the ordered cells,
    as far as the effect's changes go; positive.  Both sum to 1.
    """

    cells: IntArray
    mass: FloatArray
    width: FloatArray
    finer: bool = False


def parted(codes: CodeArray, columns: Sequence[int], parts: Sequence[IntArray]) -> Partitions:
    """What a histogram is taken of.

    codes: shape (all columns, n).  columns: those measured.  parts: for each, the cell of every code.
    """
    return Partitions([part.take(codes[column]) for column, part in zip(columns, parts, strict=True)], widest(parts))


def widest(parts: Sequence[IntArray]) -> int:
    """Cells of the partition that has most."""
    return max(int(part[-1]) + 1 for part in parts)


def followed_grids(
    schema: Schema, count: Callable[[list[IntArray]], FloatArray], sigma: float, noise: float, whole: float
) -> list[Followed]:
    """Of each measured column.

    count: releases the histogram of the given parts, for each measured column the cell of every code, once each time;
    called STAGES times.  sigma: its noise.  noise: of a round, in records.  whole: of a count with all the budget.
    """
    parts = [_evenly(schema.columns[number]) for number in measured(schema)]
    first = count(parts)
    if not worth_finer(believed(first, sigma), whole):
        return _coarse_grids(schema, parts, 0.5 * (first + count(parts)), sigma / math.sqrt(STAGES))
    further = _second_parts(schema, parts, first, sigma)
    return _finer_grids(schema, (parts, further), (first, count(further)), sigma, noise)


def _evenly(column: Column) -> IntArray:
    bins = column.cells - has_own(column)
    part = np.arange(bins) * min(bins, FINE) // bins
    return with_own_bin(part) if has_own(column) else part


def believed(counts: FloatArray, sigma: float) -> float:
    """How many records there are at least, from noisy histograms of all of them, shape (columns, cells)."""
    sure = float(counts.sum(axis=1).mean()) - sigma * math.sqrt(counts.shape[1] / counts.shape[0])
    return max(sure, 1.0)


def worth_finer(total: float, noise: float) -> bool:
    """Whether records are many enough for finer grids. total: how many.  noise: σ of a count with the whole budget."""
    return total >= max(MANY * noise, FEWEST_RECORDS)


def _second_parts(schema: Schema, parts: Sequence[IntArray], counts: FloatArray, sigma: float) -> list[IntArray]:
    """The cells of the second histogram where it is finer. counts: of the first one, shape (columns, cells)."""
    total = believed(counts, sigma)
    size, public = int(np.clip(total / sigma, FEWEST, MOST)), _public(counts, sigma)
    columns = [schema.columns[number] for number in measured(schema)]
    shares = [
        _shares(column, part, noisy, sigma, total) for column, part, noisy in zip(columns, parts, counts, strict=True)
    ]
    return [_grid(share, size, public, has_own(column)) for column, share in zip(columns, shares, strict=True)]


def _finer_grids(
    schema: Schema, parts: Sequence[Sequence[IntArray]], counts: Sequence[FloatArray], sigma: float, noise: float
) -> list[Followed]:
    """Of each measured column.

    parts: the cells of both histograms.  counts: those.  sigma: their noise.  noise: of a round, in records.
    """
    total = max(believed(each, sigma) for each in counts)
    alone, noisy = RECORDS_PER_CELL
    size = int(np.clip(total / (alone + noisy * noise), GRID, MOST_CELLS))
    public = _public(counts[-1], sigma)
    found = []
    for place, number in enumerate(measured(schema)):
        column = schema.columns[number]
        shares = _shares(column, parts[0][place], counts[0][place], sigma, total)
        shares = _refined(shares, parts[1][place], counts[1][place], sigma, total)
        found.append(_finer(shares, size, public, has_own(column)))
    return found


def _public(counts: FloatArray, sigma: float) -> float:
    return float(np.clip(sigma * math.sqrt(counts.shape[1]) / believed(counts, sigma), LEAST_PUBLIC, 1.0))


def _shares(column: Column, part: IntArray, noisy: FloatArray, sigma: float, total: float) -> FloatArray:
    """Of the records per code."""
    bins = column.cells - has_own(column)
    even = np.full(bins, 1.0 / bins)
    return _refined(with_own_share(even, EXPECTED) if has_own(column) else even, part, noisy, sigma, total)


def _refined(shares: FloatArray, part: IntArray, noisy: FloatArray, sigma: float, total: float) -> FloatArray:
    expected = np.bincount(part, weights=shares).astype(np.float64, copy=False)
    known = denoised(noisy[: expected.size], sigma, expected, total)
    return np.asarray(shares * (known / expected)[part])


def _grid(shares: FloatArray, size: int, public: float, own: bool) -> IntArray:
    """`grid`, with the cell of missing values, the last if `own`, apart."""
    return with_own_bin(grid(shares[:-1] / shares[:-1].sum(), size, public)) if own else grid(shares, size, public)


def _mass(cells: IntArray, shares: FloatArray, size: int) -> FloatArray:
    # No cell is taken for empty: the model would then not know what a record there does.
    mass = np.bincount(cells, shares) + 1e-3 / size
    return np.asarray(mass / mass.sum())


def _finer(shares: FloatArray, size: int, public: float, own: bool) -> Followed:
    cells = _grid(shares, size, public, own)
    mass = _mass(cells, shares, size)
    bins = mass.size - own
    width = (1.0 - public) * mass[:bins] / mass[:bins].sum() + public * np.bincount(cells)[:bins] / (cells.size - own)
    return Followed(cells, mass, width, True)


def _coarse_grids(schema: Schema, parts: Sequence[IntArray], counts: FloatArray, sigma: float) -> list[Followed]:
    """Of each measured column, of GRID cells, from one histogram, shape (columns, cells). sigma: its noise."""
    columns = [schema.columns[number] for number in measured(schema)]
    found = []
    for column, part, noisy in zip(columns, parts, counts, strict=True):
        shares = cell_shares(noisy[: int(part[-1]) + 1], sigma, has_own(column))
        cells = _grid(shares, GRID, PUBLIC, has_own(column))
        mass = _mass(cells, shares, GRID)
        bins = mass.size - has_own(column)
        found.append(Followed(cells[part], mass, np.full(bins, 1.0 / bins)))
    return found


def cell_shares(noisy: FloatArray, sigma: float, own: bool) -> FloatArray:
    """Of the records per cell of an ordered column, from its noisy histogram, both shape (cells,).

    own: whether the last cell is that of missing values.
    """
    ordered = noisy[:-1] if own else noisy
    total = max(float(ordered.sum()), sigma * math.sqrt(ordered.size), 1.0)
    shares = denoised(ordered, sigma, np.full(ordered.size, 1.0 / ordered.size), total)
    if not own:
        return shares
    count = max(float(ordered.sum()), 1.0) + max(float(noisy[-1]), 0.0)
    return with_own_share(shares, float(noisy[-1]) / count)
