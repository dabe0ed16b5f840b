"""How the additive booster sees a table: one view per column, or per pair of columns, each a public partition."""

import itertools
import math
from collections.abc import Sequence
from typing import Final, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.additive.effects import Effect, NominalEffect, OrderedEffect
from learners.additive.missing_cell import with_own_bin, with_own_share
from learners.encoding import FINE, denoised, grid
from learners.tables import Column, Numeric, Schema
from mechanisms.gradients import MOST_CELLS

S = TypeVar("S", bound=np.generic)

GRID: Final = 128
"""Cells per numeric column that the model may tell apart."""

PAIR_CELLS: Final = 8
"""Cells per numeric column in a pair."""


@attrs.frozen(eq=False)
class View:
    """A partition of the records by one column or by a pair.

    columns: their numbers in the schema.  maps: for each, the cell of every code.  shape: how many cells each has.
    ordered: whether neighbouring cells are alike.  mass: share of the records per cell where that is known.
    own: whether the last cell is that of missing values, which has no neighbours; only where the others are ordered.
    """

    columns: tuple[int, ...]
    maps: tuple[IntArray, ...]
    ordered: bool
    mass: FloatArray | None = None
    own: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells per column."""
        return tuple(int(cells.max()) + 1 for cells in self.maps)

    @property
    def number(self) -> int:
        """Cells in all."""
        return int(np.prod(self.shape))

    def cells(self, codes: CodeArray) -> IntArray:
        """The cell of each record, shape (n,). codes: shape (columns, n)."""
        return self.looked_up(np.arange(self.number), codes)

    def looked_up(self, table: npt.NDArray[S], codes: CodeArray) -> npt.NDArray[S]:
        """What a table has for the cell of each record, shape (n, …). table: shape (cells, …)."""
        # Tables are small and records many: a column's map is applied to the table.
        if len(self.columns) == 1:
            return np.asarray(table[self.maps[0]].take(codes[self.columns[0]], axis=0))
        places = [cells.take(codes[column]) for column, cells in zip(self.columns, self.maps, strict=True)]
        return np.asarray(table.take(np.ravel_multi_index(places, self.shape), axis=0))

    def effect(self, prior: float) -> Effect:
        """What is known of it before any release. prior: variance of its effect, in nats squared."""
        if not self.ordered:
            return NominalEffect.start(self.number, prior)
        mass = np.full(self.number, 1.0 / self.number) if self.mass is None else self.mass
        return OrderedEffect.start(mass, prior, self.own)


def is_ordered(column: Column) -> bool:
    """Whether a column's codes have an order that effects follow."""
    return isinstance(column, Numeric) and column.bin_number > 2


def has_own(column: Column) -> bool:
    """Whether the last of its cells is that of missing values, beside others in order."""
    return isinstance(column, Numeric) and column.bin_number > 2 and column.own_cell


def _bins(column: Column) -> int:
    """Cells, but for that of missing values."""
    return column.bin_number if isinstance(column, Numeric) else column.cells


def measured(schema: Schema) -> list[int]:
    """Columns whose grid follows a noisy histogram: those with more cells than the model tells apart."""
    return [number for number, column in enumerate(schema.columns) if is_ordered(column) and _bins(column) > GRID]


@attrs.frozen(eq=False)
class Partitioned:
    """What the histograms are taken of; see `mechanisms.gradients.gradient_sums.Histograms`."""

    partitions: list[CodeArray]
    number: int

    @staticmethod
    def of(codes: CodeArray, schema: Schema) -> "Partitioned":
        """The measured columns, each in as many cells as the widest has, rounded up to a power of two.

        One more where a column has a cell for missing values, which may then be the last of all.
        """
        columns = measured(schema)
        widest = max(_bins(schema.columns[column]) for column in columns)
        own = any(has_own(schema.columns[column]) for column in columns)
        return Partitioned([codes[column] for column in columns], max(FINE, 1 << (widest - 1).bit_length()) + own)


def views(schema: Schema, counts: FloatArray | None, sigma: float, pairs: Sequence[tuple[str, str]]) -> list[View]:
    """One view per column, then one per pair.

    counts: noisy histograms of the `measured` columns, shape (columns, cells), None where there are none.
    sigma: their noise.  pairs: names of columns.  Raises ValueError for a name that the schema lacks.
    """
    shares = {}
    if counts is not None:
        for column, noisy in zip(measured(schema), counts, strict=True):
            shares[column] = cell_shares(schema.columns[column], noisy, sigma)
    single = [_single(number, column, shares.get(number)) for number, column in enumerate(schema.columns)]
    return single + [_pair(schema, single, pair) for pair in pairs]


def cell_shares(column: Column, noisy: FloatArray, sigma: float) -> FloatArray:
    """Of the records per fine cell of an ordered column, shape (cells,), from its noisy histogram.

    noisy: shape (at least cells,), a power of two, or one more.
    """
    bins = _bins(column)
    ordered = np.where(np.arange(noisy.size) < bins, noisy, 0.0) if has_own(column) else noisy
    known = denoised(ordered[: 1 << (noisy.size.bit_length() - 1)], sigma)[:bins]
    shares = known / known.sum()
    if not has_own(column):
        return np.asarray(shares)
    total = max(float(ordered.sum()), 1.0) + max(float(noisy[bins]), 0.0)
    return with_own_share(shares, float(noisy[bins]) / total)


def _single(number: int, column: Column, shares: FloatArray | None) -> View:
    if shares is None:
        return View((number,), (np.arange(column.cells),), is_ordered(column), own=has_own(column))
    own = has_own(column)
    cells = with_own_bin(grid(shares[:-1] / shares[:-1].sum(), GRID)) if own else grid(shares, GRID)
    # No cell is taken for empty: the model would then not know what a record there does.
    mass = np.bincount(cells, shares) + 1e-3 / GRID
    return View((number,), (cells,), True, mass / mass.sum(), own)


def pair_columns(schema: Schema, names: tuple[str, str]) -> tuple[int, int]:
    """The numbers of a pair's columns. Raises ValueError for a name that the schema lacks, or too many cells."""
    known = schema.names
    if len(names) != 2 or names[0] == names[1] or any(name not in known for name in names):
        raise ValueError(f"interactions: expected pairs of two different columns of {known}, got {names!r}")
    first, second = (known.index(name) for name in names)
    columns = [schema.columns[first], schema.columns[second]]
    cells = math.prod(
        min(PAIR_CELLS, _bins(each)) + has_own(each) if is_ordered(each) else each.cells for each in columns
    )
    if cells > MOST_CELLS:
        raise ValueError(f"interactions: {names!r} have {cells} cells together, more than {MOST_CELLS}")
    return first, second


def _pair(schema: Schema, single: Sequence[View], names: tuple[str, str]) -> View:
    numbers = pair_columns(schema, names)
    return View(numbers, tuple(_coarse(single[number]) for number in numbers), ordered=False)


def _coarse(view: View) -> IntArray:
    bins = view.number - view.own
    if not view.ordered or bins <= PAIR_CELLS:
        return view.maps[0]
    coarse = view.maps[0] * PAIR_CELLS // bins
    return with_own_bin(coarse[:-1]) if view.own else coarse


def check_pairs(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Pairs of names as tuples, each pair once. Raises ValueError."""
    if isinstance(pairs, str) or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"expected pairs of column names, got {pairs!r}")
    found = tuple((str(first), str(second)) for first, second in pairs)
    if any(set(one) == set(other) for one, other in itertools.combinations(found, 2)):
        raise ValueError(f"a pair stands twice in {pairs!r}")
    return found
