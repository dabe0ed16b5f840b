"""How the additive booster sees a table: one view per column, or per pair of columns, each a public partition."""

import itertools
import math
from collections.abc import Sequence
from typing import Final, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.additive.grids import Followed, has_own, is_ordered, measured
from learners.additive.posteriors import Effect, NominalEffect, OrderedEffect, with_own_bin
from learners.tables import Column, Schema
from mechanisms.gradients import MOST_CELLS

S = TypeVar("S", bound=np.generic)

PAIR_CELLS: Final = 8
"""Cells per numeric column in a pair."""


@attrs.frozen(eq=False)
class View:
    """A partition of the records by one column or by a pair.

    columns: their numbers in the schema.  maps: for each, the cell of every code.  shape: how many cells each has.
    ordered: whether neighbouring cells are alike.  mass: share of the records per cell where that is known.
    width: of ordered cells, as far as the effect's changes go; sums to 1.
    own: whether the last cell is that of missing values, which has no neighbours; only where the others are ordered.
    finer: whether records are so many for the noise that cells, bins and priors follow them more closely.
    """

    columns: tuple[int, ...]
    maps: tuple[IntArray, ...]
    ordered: bool
    mass: FloatArray | None = None
    width: FloatArray | None = None
    own: bool = False
    finer: bool = False

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
        if self.width is None:
            return NominalEffect.start(self.number, prior)
        even = np.full(self.number, 1.0 / self.number)
        return OrderedEffect.start(even if self.mass is None else self.mass, self.width, prior, self.own, self.finer)


def views(schema: Schema, grids: Sequence[Followed] | None, pairs: Sequence[tuple[str, str]]) -> list[View]:
    """One view per column, then one per pair.

    grids: of the `measured` columns, None where there are none.  pairs: names of columns.
    Raises ValueError for a name that the schema lacks.
    """
    single = [_whole(number, column) for number, column in enumerate(schema.columns)]
    for number, found in zip(measured(schema) if grids else [], grids or [], strict=True):
        own = has_own(schema.columns[number])
        single[number] = View((number,), (found.cells,), True, found.mass, found.width, own, found.finer)
    return single + [_pair(schema, single, pair) for pair in pairs]


def _whole(number: int, column: Column) -> View:
    bins, own = column.cells - has_own(column), has_own(column)
    even = np.full(bins, 1.0 / bins) if is_ordered(column) else None
    return View((number,), (np.arange(column.cells),), is_ordered(column), None, even, own)


def pair_columns(schema: Schema, names: tuple[str, str]) -> tuple[int, int]:
    """The numbers of a pair's columns. Raises ValueError for a name that the schema lacks, or too many cells."""
    known = schema.names
    if len(names) != 2 or names[0] == names[1] or any(name not in known for name in names):
        raise ValueError(f"interactions: expected pairs of two different columns of {known}, got {names!r}")
    first, second = (known.index(name) for name in names)
    columns = [schema.columns[first], schema.columns[second]]
    cells = math.prod(
        min(PAIR_CELLS, each.cells - has_own(each)) + has_own(each) if is_ordered(each) else each.cells
        for each in columns
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
