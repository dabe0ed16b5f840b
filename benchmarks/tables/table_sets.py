"""A table of the leaderboard with its public facts, how it is split, and the same table in wider bounds."""

from collections.abc import Mapping
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Column, Integers, Kind

HELD: Final = 0.2
"""The share of records that is held out where a set has no test part of its own."""


@attrs.frozen(eq=False)
class TableSet:
    """One set with its public facts.

    name: unique, as a folder is called.  columns: public, in the file's order.  classes: texts, () in a regression.
    label_bounds: public; of a regression's labels, else 0 and the last class.  table: column name to values, shape
    (n,): float64 within the bounds, or text among the categories.  labels: shape (n,): places in `classes` (int64), or
    float64 within `label_bounds`.  test_rows: the test part that was published as such; None: splits are at random.
    """

    name: str
    kind: Kind
    columns: tuple[Column, ...]
    classes: tuple[str, ...]
    label_bounds: tuple[float, float]
    table: Mapping[str, npt.NDArray[Any]]
    labels: npt.NDArray[Any]
    test_rows: slice | None = None

    @property
    def records(self) -> int:
        """n."""
        return int(self.labels.size)

    def part(self, rows: Integers) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[Any]]:
        """Columns and labels of some records: copies, in the order of `rows`."""
        return {column.name: self.table[column.name][rows] for column in self.columns}, self.labels[rows]


def split(data: TableSet, seed: int) -> tuple[Integers, Integers]:
    """Rows to train on and rows to test on, disjoint and complete.

    The set's own test part, else a fifth at random by `seed`; of classes a fifth each, to the nearest record. It is the
    experimenter's split and no part of what a learner does: it may look at labels, and nobody pays for it. Rows to
    train on come in random order by `seed`, as some files are sorted by class; rows to test on in the file's.
    """
    rng = np.random.default_rng(seed)
    held = np.zeros(data.records, dtype=np.bool_)
    if data.test_rows is not None:
        held[data.test_rows] = True
    else:
        groups = data.labels if data.classes else np.zeros(data.records, dtype=np.int64)
        for group in np.unique(groups):
            rows = rng.permutation(np.flatnonzero(groups == group))
            held[rows[: round(HELD * rows.size)]] = True
    return rng.permutation(np.flatnonzero(~held)), np.flatnonzero(held)


def widened(data: TableSet, factor: float) -> TableSet:
    """All numeric bounds so many times as wide about their middle, a regression's label bounds, too.

    Values stay what they are. Raises ValueError for a factor below 1, whose bounds would not hold them.
    """
    if not 1.0 <= factor < np.inf:
        raise ValueError(f"bounds can be made at least 1 times as wide, not {factor!r} times")
    columns = tuple(_wider_column(column, factor) if column.numeric else column for column in data.columns)
    bounds = _wider(*data.label_bounds, factor) if data.kind == "regression" else data.label_bounds
    return attrs.evolve(data, columns=columns, label_bounds=bounds)


def _wider_column(column: Column, factor: float) -> Column:
    lower, upper = _wider(column.lower, column.upper, factor)
    return Column(column.name, lower, upper)


def _wider(lower: float, upper: float, factor: float) -> tuple[float, float]:
    # On both sides from the old bound, so that rounding cannot move a new bound inside it.
    more = 0.5 * (factor - 1.0) * (upper - lower)
    return lower - more, upper + more
