"""Canaries: records whose coins decide what is in the data."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.costs.converters import count
from learners.tables import Bounds, Categorical, Schema

Labels: TypeAlias = npt.NDArray[np.generic]
"""Numbers or texts, shape (n,)."""

Columns: TypeAlias = Labels | dict[str, Labels]
"""Records: an array, shape (n, columns), or named columns, shape (n,) each."""

Coins: TypeAlias = npt.NDArray[np.bool_]
"""Shape (m,): whether the first of what it stands for is in the data."""


def as_columns(table: object) -> Columns:
    """A table as arrays: named columns for a DataFrame or a mapping, else one array."""
    if isinstance(table, Mapping):
        return {str(name): np.asarray(column) for name, column in table.items()}
    if hasattr(table, "columns"):
        return {str(name): np.asarray(table[name]) for name in table.columns}  # type: ignore[index]  # a DataFrame
    return np.asarray(table)


def chosen(table: Columns, places: Labels) -> Columns:
    """The records at these places."""
    if isinstance(table, dict):
        return {name: column[places] for name, column in table.items()}
    return cast("Columns", table[places])


def joined(tables: Sequence[Columns]) -> Columns:
    """One after another. Raises ValueError where their columns are not the same."""
    first = tables[0]
    if isinstance(first, dict):
        if any(not isinstance(other, dict) or list(other) != list(first) for other in tables):
            raise ValueError("canaries: expected the columns of X, in their order")
        return {name: np.concatenate([cast("dict[str, Labels]", each)[name] for each in tables]) for name in first}
    if any(isinstance(other, dict) for other in tables):
        raise ValueError("canaries: expected an array, as X is one")
    return np.concatenate([cast("Labels", each) for each in tables])


def length(table: Columns) -> int:
    """The number of records."""
    return len(next(iter(table.values()))) if isinstance(table, dict) else len(table)


@attrs.frozen(eq=False)
class Canaries:
    """m records, and what is in the data in place of each if its coin says so.

    X, y: m records and their labels.
    other_X, other_y: the others, under replace-one adjacency; None for other_X is X, so that only labels differ. None
      for both: under add-remove-one adjacency a record is in the data or not.
    A mechanism loses most where every canary moves something of its own as far as it can: rare categories, corners of
    the domain, labels that its neighbours do not have. Raises ValueError for fewer than two, or not as many labels.
    """

    X: Columns = attrs.field(converter=as_columns)
    y: Labels = attrs.field(converter=np.asarray)
    other_X: Columns | None = attrs.field(default=None, converter=attrs.converters.optional(as_columns))
    other_y: Labels | None = attrs.field(default=None, converter=attrs.converters.optional(np.asarray))

    def __attrs_post_init__(self) -> None:
        sizes = {length(self.X), len(self.y)}
        sizes |= {length(self.other_X)} if self.other_X is not None else set()
        sizes |= {len(self.other_y)} if self.other_y is not None else set()
        if len(sizes) > 1 or min(sizes) < 2:
            raise ValueError(f"canaries: expected as many records as labels, two or more, got {sorted(sizes)}")

    @property
    def number(self) -> int:
        """m."""
        return len(self.y)

    @property
    def replaced(self) -> bool:
        """Whether each has another in its place, and is not just left out."""
        return self.other_X is not None or self.other_y is not None

    @property
    def others(self) -> "tuple[Columns, Labels]":
        """What there is in their place. Raises ValueError where there is nothing."""
        if not self.replaced:
            raise ValueError("canaries: these have nothing in their place")
        return (
            self.X if self.other_X is None else self.other_X,
            self.y if self.other_y is None else self.other_y,
        )

    def data(self, X: Columns | None, y: Labels | None, coins: Coins) -> tuple[Columns, Labels]:
        """The data set of these coins: X and y first, if any, then the canaries."""
        if not self.replaced:
            own, labels = chosen(self.X, coins), self.y[coins]
        else:
            other, other_labels = self.others
            places = np.where(coins, np.arange(self.number), self.number + np.arange(self.number))
            own = chosen(joined([self.X, other]), places)
            labels = np.concatenate([self.y, other_labels])[places]
        if X is None or y is None:
            return own, labels
        return joined([X, own]), np.concatenate([y, labels])


def corner_canaries(
    schema: Schema | Bounds,
    number: int,
    labels: Sequence[object],
    *,
    columns: int | None = None,
    replaced: bool,
    seed: int = 0,
) -> Canaries:
    """Records at random corners of a domain, which have a category of their own where a column has that many.

    labels: two or more; each canary gets one at random, and under replace-one adjacency (`replaced`) the next one in
    its place.  columns: how many, where the domain is bounds of all columns.
    """
    rng, m = np.random.default_rng(seed), count(number)
    if isinstance(schema, Bounds):
        if columns is None:
            raise ValueError("columns: bounds of all columns do not say how many there are")
        X: Columns = rng.choice([schema.lower, schema.upper], size=(m, columns))
    else:
        X = {column.name: _extreme(column, m, rng) for column in schema.columns}
    first = rng.integers(len(labels), size=m)
    y = np.asarray(labels)
    return Canaries(X, y[first], other_y=y[(first + 1) % len(labels)] if replaced else None)


def _extreme(column: object, number: int, rng: np.random.Generator) -> Labels:
    if isinstance(column, Categorical):
        return np.asarray(column.categories)[np.arange(number) % len(column.categories)]
    return rng.choice([getattr(column, "lower", 0), getattr(column, "upper", 1)], size=number)


def company(canaries: Canaries, labels: Sequence[object], copies: int) -> tuple[Columns, Labels]:
    """Further records, X and y for `check_one_run`: each canary's own, with each label, so many times.

    They keep a model undecided about the canaries, so that a gradient goes on being as long as it may be.
    """
    times = count(copies) * len(labels)
    X = chosen(canaries.X, np.repeat(np.arange(canaries.number), times))
    return X, np.tile(np.repeat(np.asarray(labels), copies), canaries.number)
