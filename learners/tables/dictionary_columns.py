"""Columns that come as numbers of their distinct values: read value by value, not record by record."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray
from learners.kinds import RowOf, Values, same_row
from mechanisms.core import SealedRepr

S = TypeVar("S", bound=np.generic)

Work: TypeAlias = Callable[[Values, RowOf], npt.NDArray[S]]
"""What becomes of values, shape (k,), each by itself: shape (k, …). The second says which record has a value."""

MISSING: Final[Values] = np.array([None], dtype=object)
"""What a record without a value has."""


@attrs.frozen(eq=False, repr=False)
class DictionaryColumn(SealedRepr):
    """A column of a dictionary and numbers, as Arrow and pandas keep strings that repeat.

    numbers: of each record's value among `values`, shape (n,), of any signed integer type; below 0 where it is missing.
    values: shape (k,), of any type.
    """

    numbers: CodeArray
    values: Values

    def __len__(self) -> int:
        return int(self.numbers.size)

    def each(self, work: Work[S]) -> npt.NDArray[S]:
        """What `work` makes of the records' values, shape (n, …): each value that occurs is looked at once.

        A missing one is looked at apart from the values, whose type it would change. [records-alone]
        """
        numbers = np.maximum(self.numbers.astype(np.intp, copy=False), -1)
        numbers += 1
        first = np.full(self.values.size + 1, -1)
        first[numbers[::-1]] = np.arange(numbers.size)[::-1]  # of equals the last one written stays
        rows = np.sort(first[1:][first[1:] >= 0])
        occurring = numbers[rows]
        found = work(self.values[occurring - 1], lambda k: int(rows[k]))
        table = np.zeros((first.size, *found.shape[1:]), dtype=found.dtype)
        table[occurring] = found
        if first[0] >= 0:
            table[:1] = work(MISSING, lambda _: int(first[0]))
        return np.asarray(table[numbers])

    def boxed(self) -> npt.NDArray[Any]:
        """The column itself, shape (n,), of Python objects; None where a value is missing."""
        return self.each(lambda values, _: _objects(values))


def together(parts: Sequence[DictionaryColumn]) -> DictionaryColumn:
    """One column after another, each with the values that it has; of the same type."""
    starts = np.cumsum([0, *(part.values.size for part in parts)]).tolist()
    numbers = [np.where(part.numbers < 0, -1, part.numbers + start) for part, start in zip(parts, starts, strict=False)]
    return DictionaryColumn(np.concatenate(numbers), np.concatenate([part.values for part in parts]))


def joined(parts: "Sequence[Values | DictionaryColumn]") -> "Values | DictionaryColumn":
    """One column after another, whatever each comes as: values of types of their own stay as they are."""
    if len(parts) == 1:
        return parts[0]
    plain = [part for part in parts if not isinstance(part, DictionaryColumn)]
    if len({part.dtype for part in plain}) == 1 and len(plain) == len(parts):
        return np.concatenate(plain)
    boxes = (part.boxed() if isinstance(part, DictionaryColumn) else _objects(part) for part in parts)
    return np.concatenate(list(boxes))


def with_missing(values: Values, missing: npt.NDArray[np.bool_]) -> "Values | DictionaryColumn":
    """Values of one type, and which records have none, whatever stands in their places. Shapes (n,)."""
    return DictionaryColumn(np.where(missing, -1, np.arange(values.size)), values) if np.any(missing) else values


def _objects(values: Values) -> npt.NDArray[Any]:
    """The values, each as numpy's scalar of its own type: time stamps would become bare numbers otherwise."""
    return np.fromiter(values, dtype=object, count=values.size)


def each_value(column: "Values | DictionaryColumn", work: Work[S]) -> npt.NDArray[S]:
    """What `work` makes of every record's value, shape (n, …)."""
    return column.each(work) if isinstance(column, DictionaryColumn) else work(column, same_row)
