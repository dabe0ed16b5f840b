"""What an adapter is given: public facts about a table, its records, and forms of them that use no data.

Standard library and numpy only: it is imported in the environment of every system that takes part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Column name to values, shape (n,): float64 within the public bounds, or text that is one of the categories."""

Kind: TypeAlias = Literal["binary", "multi-class", "regression"]
Neighbours: TypeAlias = Literal["add-remove-one", "replace-one"]

Predict: TypeAlias = Callable[[Columns], npt.NDArray[Any]]
"""From columns to numbers of shape (n,) in a regression, or to probabilities of shape (n, classes)."""

KINDS: Final[tuple[Kind, ...]] = ("binary", "multi-class", "regression")
NEIGHBOURS: Final[tuple[Neighbours, ...]] = ("add-remove-one", "replace-one")


@dataclass(frozen=True)
class Column:
    """A column, all of it public. categories: empty for a number, whose bounds are then `lower` < `upper`."""

    name: str
    lower: float = 0.0
    upper: float = 1.0
    categories: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return not self.categories


@dataclass(frozen=True)
class Task:
    """A table to learn from, and what is public about it.

    columns: public.  classes: how many, 0 in a regression.  label_bounds: of a regression's labels, public.
    train: the records' columns.  labels: shape (n,), classes as 0, 1, … (int64), or numbers within `label_bounds`.
    neighbours: which tables the promise must make alike. The number of records is public under "replace-one" only.
    """

    kind: Kind
    columns: tuple[Column, ...]
    classes: int
    label_bounds: tuple[float, float]
    train: Columns
    labels: npt.NDArray[Any]
    neighbours: Neighbours

    @property
    def records(self) -> int:
        """n."""
        return int(self.labels.size)


@dataclass(frozen=True)
class Promise:
    """What a fit must keep to, and its noise. seed: None asks for the noise that users get."""

    epsilon: float
    delta: float
    neighbours: Neighbours
    seed: int | None


def codes(columns: Sequence[Column], records: Columns, bins: int) -> Integers:
    """Categories by their place, numbers by equal-width bins of the public bounds: shape (columns, n)."""
    return np.array([_codes(column, records[column.name], bins) for column in columns], dtype=np.int64)


def cells(columns: Sequence[Column], bins: int) -> list[int]:
    """How many codes each column has, of `codes` with so many bins."""
    return [bins if column.numeric else len(column.categories) for column in columns]


def _codes(column: Column, values: npt.NDArray[Any], bins: int) -> Integers:
    if column.numeric:
        return np.minimum((_unit(column, values) * bins).astype(np.int64), bins - 1)
    order = np.argsort(column.categories)
    places = np.searchsorted(np.asarray(column.categories)[order], values)
    return np.asarray(order[places], dtype=np.int64)


def _unit(column: Column, values: npt.NDArray[Any]) -> Floats:
    clipped = np.clip(np.asarray(values, dtype=np.float64), column.lower, column.upper)
    return np.asarray((clipped - column.lower) / (column.upper - column.lower), dtype=np.float64)


def unit_features(columns: Sequence[Column], records: Columns) -> Floats:
    """Numbers within [0, 1] by their bounds, a feature of 0 and 1 for each category: shape (n, features)."""
    found: list[Floats] = []
    for column in columns:
        values = records[column.name]
        if column.numeric:
            found.append(_unit(column, values))
        else:
            found += [np.asarray(values == category, dtype=np.float64) for category in column.categories]
    return np.column_stack(found)


def norm_bound(columns: Sequence[Column]) -> float:
    """The largest Euclidean norm that a row of `unit_features` can have: public. Categories hold exactly one 1."""
    return float(np.sqrt(len(columns)))


def two_columns(second: Floats) -> Floats:
    """Probabilities of both classes, shape (n, 2), from those of the second, shape (n,)."""
    return np.column_stack([1.0 - second, second])


def logistic(scores: Floats) -> Floats:
    """Probability of the second class from log-odds; shape (n,)."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(scores, dtype=np.float64))))
