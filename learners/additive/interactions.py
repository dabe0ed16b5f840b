"""Pairs of columns that are looked at together once the columns' own effects are known, and by what rule.

No release chooses them. The columns whose effects are largest, as released by then, are paired with each other, all of
them; what a pair says stays small unless the releases insist, as its prior is narrow. So a pair that means nothing
costs its rounds and does no harm, and the rounds of a pair are the same releases at the same price as all others.
"""

import math
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.grids import is_ordered
from learners.additive.posteriors import Effect, GridEffect, with_own_bin
from learners.additive.views import View, check_pairs
from learners.tables import Schema

Pairs: TypeAlias = Literal["auto"] | Sequence[tuple[str, str]]
"""What a user may ask for: pairs by the rule of this file, or those of a list."""

AUTO: Final[Literal["auto"]] = "auto"

STRONGEST: Final = 8
"""Columns that are paired with each other: at most 28 pairs."""

PAIR_ROUNDS: Final = 0.375
"""Rounds that a fit has more for each pair that may be chosen, over those per column; one at least."""

FEW_COLUMNS: Final = 16
"""Where pairs may be chosen, columns that are fewer have the rounds of so many, but at most twice their own: effects
settle slowly where columns say much the same, and rounds cost time alone."""

PAIR_SHARE: Final = 0.25
"""Of the columns' own rounds, those that come after pairs have been chosen."""

COARSE: Final = 6

FINER: Final = 8
"""COARSE and FINER: fewest and most cells per ordered column in a chosen pair, with about as many records in each."""

CARRIED_PER_CELL: Final = 64.0
"""Between those, a pair has so many cells that each carries so much of what `pays` is about."""

MOST_CATEGORIES: Final = 16
"""Columns without an order that have more cells are not paired: most cells of a pair would hold nothing but noise."""

PAIRS_VARIANCE: Final = 1.0
"""A priori variance of a record's log-odds that all chosen pairs share evenly."""

PURIFIED: Final = 12
"""Times that what a pair says of either column alone is moved there."""

LEAST_SHARE: Final = 1e-9
"""Weight of a cell of a pair that has none."""

LEAST_CARRIED: Final = 900.0
"""Pairs are looked at where the first curvature of all records is at least so many σ of one release with all the
budget: 3,600 records for each σ."""


TOLD_APART: Final = 3.0
"""Times its own noise, what that curvature must be at least."""


def as_pairs(asked: Pairs) -> Pairs:
    """As asked, pairs of names as tuples. Raises ValueError."""
    return AUTO if isinstance(asked, str) and asked == AUTO else check_pairs(asked)


def own_pairs(asked: Pairs) -> tuple[tuple[str, str], ...]:
    """The pairs of a user's list; none where they are left to the rule of this file."""
    return () if isinstance(asked, str) and asked == AUTO else check_pairs(asked)


def pairable(schema: Schema, directions: Sequence[int] = ()) -> list[int]:
    """Numbers of the columns that may be paired. Public.

    directions: of each column's effect, see `learners.additive.monotone.directions`; such columns are not paired.
    """
    held = {number for number, direction in enumerate(directions) if direction}
    columns = [(number, column) for number, column in enumerate(schema.columns) if number not in held]
    return [number for number, column in columns if is_ordered(column) or column.cells <= MOST_CATEGORIES]


def most_pairs(schema: Schema, directions: Sequence[int] = ()) -> int:
    """How many pairs are chosen at most. Public."""
    return math.comb(min(STRONGEST, len(pairable(schema, directions))), 2)


def repeats(schema: Schema, rounds_per_column: int, directions: Sequence[int] = ()) -> int:
    """How many times as many rounds a fit has where pairs may be chosen. Public.

    So many that columns and pairs have theirs. Where pairs are not worth looking at, each release is made so many times
    over, which is the same as one with as much less noise: then nothing has changed.
    """
    columns = len(schema.columns)
    own = min(2 * columns, max(columns, FEW_COLUMNS)) * rounds_per_column
    needed = own + pair_rounds(schema, rounds_per_column, directions)
    return -(-needed // (columns * rounds_per_column))


def pair_rounds(schema: Schema, rounds_per_column: int, directions: Sequence[int] = ()) -> int:
    """How many of the rounds are meant for pairs that have yet to be chosen. Public."""
    return most_pairs(schema, directions) * max(1, int(PAIR_ROUNDS * rounds_per_column))


def pays(carried: float, noise: float = 0.0) -> bool:
    """Whether records are many enough for the noise that pairs are worth their rounds.

    carried: curvature of all records at score 0, in σ of one release that had the whole budget, as released.
    noise: deviation of that; large where the first column has many cells, or columns are very many.
    """
    return carried >= max(LEAST_CARRIED, TOLD_APART * noise)


def cells_per_column(carried: float) -> int:
    """How finely pairs are looked at. carried: as for `pays`, at the scores of the time."""
    return int(np.clip(math.sqrt(max(0.0, carried) / CARRIED_PER_CELL), COARSE, FINER))


@attrs.frozen(eq=False)
class PairView(View):
    """A view of two columns in coarse cells. axes: whether each has its cells in order.

    share: of a column's prior variance, the pair's.
    """

    axes: tuple[bool, bool] = (False, False)
    share: float = 1.0

    def effect(self, prior: float) -> Effect:
        """See `View`. prior: that of a column."""
        first, second = self.shape
        return GridEffect.start((first, second), self.axes, prior, self.share)


def chosen_pairs(schema: Schema, energies: Sequence[float], directions: Sequence[int] = ()) -> list[tuple[int, int]]:
    """All pairs of the columns that matter most. energies: variance of each column's effect, as released."""
    ranked = sorted(pairable(schema, directions), key=lambda number: (-energies[number], number))
    strongest = sorted(ranked[:STRONGEST])
    return [(first, second) for place, first in enumerate(strongest) for second in strongest[place + 1 :]]


def pair_views(
    views: Sequence[View], weights: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], prior: float, number: int
) -> list[PairView]:
    """Of each pair.

    views: of the columns, by number.  weights: share of the records per cell of those.  prior: of a column's effect.
    number: of cells per ordered column, at most.
    """
    coarse = {column: coarse_cells(views[column], weights[column], number) for pair in pairs for column in pair}
    share = min(1.0, PAIRS_VARIANCE / (prior * max(1, len(pairs))))
    return [
        PairView(
            (first, second),
            (coarse[first], coarse[second]),
            ordered=False,
            axes=(_neighbourly(views[first]), _neighbourly(views[second])),
            share=share,
        )
        for first, second in pairs
    ]


def _neighbourly(view: View) -> bool:
    """Whether all cells are in order: missing values have no neighbours."""
    return view.ordered and not view.own


def coarse_cells(view: View, weight: FloatArray, number: int) -> IntArray:
    """The coarse cell of every code: of ordered cells, `number` at most with about as many records in each.

    Missing values keep a cell of their own.
    weight: share of the records per cell of the view, shape (cells,).
    """
    bins = view.number - view.own
    if not view.ordered or bins <= number:
        return view.maps[0]
    share = weight[:bins] / weight[:bins].sum()
    middle = np.cumsum(share) - 0.5 * share
    place = np.minimum((middle * number).astype(np.intp), number - 1)
    coarse = np.asarray(np.unique(place, return_inverse=True)[1])
    return (with_own_bin(coarse) if view.own else coarse)[view.maps[0]]


def with_pure_pairs(
    views: Sequence[View], tables: Sequence[FloatArray], weights: Sequence[FloatArray]
) -> list[FloatArray]:
    """Tables that add up to the same, with what a chosen pair says of one of its columns alone in that column's table.

    views: of the columns, by number, then others.  tables: shape (cells, …) each.  weights: of their cells.
    """
    moved = [np.array(table) for table in tables]
    for place, view in enumerate(views):
        if isinstance(view, PairView):
            moved[place], *alone = _purified(tables[place], weights[place], view.shape)
            for column, cells, effect in zip(view.columns, view.maps, alone, strict=True):
                coarse = np.zeros(views[column].number, dtype=np.intp)
                coarse[views[column].maps[0]] = cells
                moved[column] = moved[column] + effect[coarse]
    return moved


def _purified(table: FloatArray, weight: FloatArray, shape: tuple[int, ...]) -> tuple[FloatArray, ...]:
    """What only both columns say, shape of the table, and what each says alone: weighted means of 0 for every cell."""
    rest, share = table.reshape(*shape, -1), weight.reshape(*shape, 1) + LEAST_SHARE
    alone = [np.zeros((cells, rest.shape[-1])) for cells in shape]
    for _ in range(PURIFIED):
        for axis in (0, 1):
            mean = np.sum(rest * share, axis=1 - axis) / np.sum(share, axis=1 - axis)
            alone[axis] = alone[axis] + mean
            rest = rest - np.expand_dims(mean, 1 - axis)
    first, second = (each.reshape(-1, *table.shape[1:]) for each in alone)
    return rest.reshape(table.shape), first, second
