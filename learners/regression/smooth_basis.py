"""Smooth functions of one column or of a pair, on the cells of a grid that follows released counts. All of it public.

Of an ordered column the functions are cosines along its released ranks, the slower the stronger, as in the expansion of
a random walk; of other columns they tell the values apart. A pair has the products of the first functions of both.
"""

import itertools
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.additive import GRID, PUBLIC, cell_shares, has_own, is_ordered, with_own_bin
from learners.encoding import grid
from learners.tables import Column, Numeric, Schema
from mechanisms.gradients import MOST_CELLS

WAVES: Final = 5
"""Functions of an ordered column; slow ones have noise enough."""

DECAY: Final = 1.3
"""The k-th is weighed by k^-DECAY."""

PAIR_WAVES: Final = 2
"""Functions of an ordered column that a pair is made of."""

PAIR_GRID: Final = 16
"""Cells of an ordered column in a pair."""

RANKS: Final = 0.75
"""How much of a place on the axis is the share of records below it; the rest is distance within the bounds."""

EMPTY: Final = 0.2
"""Cells with a smaller multiple of the mean share are taken for empty, and take no room on the axis."""


@attrs.frozen(eq=False)
class Basis:
    """Functions of the cells of a partition.

    columns: numbers in the schema, none for the constant.  maps: for each, the cell of every code.
    values: shape (cells, k).  weights: of each function, shape (k,), how readily it is learnt.
    """

    columns: tuple[int, ...]
    maps: tuple[IntArray, ...]
    values: FloatArray
    weights: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells per column."""
        return tuple(int(cells.max()) + 1 for cells in self.maps)

    @property
    def longest(self) -> float:
        """The largest squared length of the weighted functions in a cell."""
        return max(float(np.max(np.sum((self.values * self.weights) ** 2, axis=1))), 2.0**-40)

    def cells(self, codes: CodeArray) -> IntArray:
        """Of each record, shape (n,). codes: shape (columns, n)."""
        places = [cells.take(codes[column]) for column, cells in zip(self.columns, self.maps, strict=True)]
        if not places:
            return np.zeros(codes.shape[1], dtype=np.intp)
        return np.asarray(places[0] if len(places) == 1 else np.ravel_multi_index(places, self.shape))


CONSTANT: Final = Basis((), (), np.ones((1, 1)), np.ones(1))
"""The intercept."""


def bases(schema: Schema, counts: FloatArray, sigma: float) -> list[Basis]:
    """One for each column. counts: noisy, shape (columns, cells), a power of two cells.  sigma: their noise."""
    return [
        _ordered(number, column, cell_shares(counts[number, : column.cells], sigma, has_own(column)))
        if is_ordered(column)
        else _nominal(number, np.maximum(counts[number, : column.cells], sigma))
        for number, column in enumerate(schema.columns)
    ]


def _ordered(number: int, column: Column, shares: FloatArray) -> Basis:
    assert isinstance(column, Numeric)
    if has_own(column):
        return _with_own(_waves(number, column, shares[:-1] / shares[:-1].sum()), float(shares[-1]))
    return _waves(number, column, shares)


def _with_own(basis: Basis, share: float) -> Basis:
    """With a cell for missing values, of which a function of its own tells alone. share: of the records, in (0, 1)."""
    told = _told_apart(np.array([1.0 - share, share]))
    values = np.pad(basis.values, ((0, 1), (0, 1)))
    values[:-1, -1], values[-1, -1] = told
    return Basis(basis.columns, (with_own_bin(basis.maps[0]),), values, np.append(basis.weights, 1.0))


def _waves(number: int, column: Numeric, shares: FloatArray) -> Basis:
    cells = grid(shares, GRID, PUBLIC) if column.bin_number > GRID else np.arange(column.bin_number)
    mass = np.bincount(cells, shares / shares.sum())
    edges = np.array(column.edges) / 2.0  # so that no width overflows
    width = np.bincount(cells, np.diff(edges) / (edges[-1] - edges[0]))
    room = mass**RANKS * width ** (1.0 - RANKS) * (mass > EMPTY / mass.size)
    room = (room + 2.0**-40) / np.sum(room + 2.0**-40)
    number_of = np.arange(1, min(WAVES, mass.size - 1) + 1)
    waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(np.cumsum(room) - 0.5 * room, number_of))
    return Basis((number,), (cells,), waves - mass @ waves, np.asarray(number_of**-DECAY, dtype=np.float64))


def _nominal(number: int, counts: FloatArray) -> Basis:
    """Of counts, positive, the indicators of the cells, less their means."""
    mass, cells = counts / counts.sum(), np.arange(counts.size)
    if counts.size == 2:
        return Basis((number,), (cells,), _told_apart(mass)[:, np.newaxis], np.ones(1))
    values = np.eye(counts.size) - mass
    values = values / max(float(np.sqrt(mass @ np.sum(values**2, axis=1))), 2.0**-20)
    return Basis((number,), (cells,), values, np.ones(counts.size))


def _told_apart(mass: FloatArray) -> FloatArray:
    """A function of two cells with mean 0 and variance 1, not beyond ±2; shape (2,). mass: of both, positive."""
    values = np.array([-mass[1], mass[0]]) / np.sqrt(mass[0] * mass[1])
    return np.asarray(values / max(1.0, 0.5 * float(np.abs(values).max())))


def pair_basis(first: Basis, second: Basis, schema: Schema) -> Basis | None:
    """Products of both columns' first functions; None where there are too many cells."""
    sides = [_coarse(each, schema) for each in (first, second)]
    if sides[0].values.shape[0] * sides[1].values.shape[0] > MOST_PAIR_CELLS:
        return None
    values = np.einsum("ai,bj->abij", sides[0].values, sides[1].values)
    cells, functions = values.shape[0] * values.shape[1], values.shape[2] * values.shape[3]
    weights = np.outer(sides[0].weights, sides[1].weights).ravel()
    maps = (sides[0].maps[0], sides[1].maps[0])
    return Basis((*first.columns, *second.columns), maps, values.reshape(cells, functions), weights)


MOST_PAIR_CELLS: Final = min(2**12, MOST_CELLS)
"""Pairs of columns with more cells together are left aside."""


def _coarse(basis: Basis, schema: Schema) -> Basis:
    """In at most PAIR_GRID cells and PAIR_WAVES functions, where the column is ordered."""
    if not is_ordered(schema.columns[basis.columns[0]]):
        return basis
    own = has_own(schema.columns[basis.columns[0]])
    fine = len(basis.values) - own
    ordered = np.arange(fine) * min(PAIR_GRID, fine) // fine
    part = with_own_bin(ordered) if own else ordered
    values = np.stack([np.bincount(part, wave) for wave in basis.values[:, :PAIR_WAVES].T], axis=1)
    means = values / np.bincount(part)[:, np.newaxis]
    return Basis(basis.columns, (part[basis.maps[0]],), means, basis.weights[:PAIR_WAVES])


def most_likely_pairs(strength: FloatArray, among: Sequence[tuple[int, int]], number: int) -> list[tuple[int, int]]:
    """At most `number` pairs of columns, those with the largest product of strengths.

    A product of 0 will not do, unless there are no others: columns may matter together that alone do nothing.

    strength: of each column's own effect, shape (columns,).  among: numbers of columns.
    """
    product = {pair: float(strength[pair[0]] * strength[pair[1]]) for pair in among}
    ranked = sorted((pair for pair in among if product[pair] > 0.0), key=lambda pair: -product[pair])
    return (ranked or list(among))[:number]


def all_pairs(columns: int) -> list[tuple[int, int]]:
    """Of columns by number."""
    return list(itertools.combinations(range(columns), 2))
