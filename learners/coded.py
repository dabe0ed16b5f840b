"""Columns that come as numbers of their distinct values: encoded by their values, not by their records."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from learners.schema import CodeArray, Column, IntArray, OutsideSchema, Values
from mechanisms.rows import SealedRepr


@attrs.frozen(eq=False, repr=False)
class Coded(SealedRepr):
    """A column of a dictionary and numbers, as Arrow and pandas keep strings that repeat.

    numbers: of each record's value among `values`, shape (n,), of any signed integer type; below 0 where it is missing.
    values: shape (k,), of any type.
    """

    numbers: CodeArray
    values: Values

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The column itself, shape (n,); NaN where a value is missing, as pandas has it."""
        values, numbers = self.values, self.numbers.astype(np.intp, copy=False)
        if np.any(numbers < 0):
            values = np.append(values.astype(object), [np.nan])  # which number −1 stands for
        found = values[numbers]
        return found if dtype is None else found.astype(dtype)

    @staticmethod
    def of(column: object) -> "Coded | None":
        """The column, where it is one of these or a pandas one of categories (pandas is not imported here)."""
        if isinstance(column, Coded):
            return column
        accessor = getattr(column, "cat", None) if type(column).__module__.partition(".")[0] == "pandas" else None
        return None if accessor is None else Coded(np.asarray(accessor.codes), np.asarray(accessor.categories))

    def codes(self, column: Column) -> IntArray | None:
        """What the column makes of it, shape (n,); None where it refuses one of the values that occur.

        A column's code of a value depends on that value alone, so each is looked at once.
        """
        numbers = self.numbers.astype(np.intp)  # a copy, as it is counted on from 0
        numbers += 1
        occurring = np.flatnonzero(np.bincount(numbers, minlength=self.values.size + 1))
        try:
            known = column.codes(np.asarray(Coded(occurring - 1, self.values)))
        except OutsideSchema:
            return None
        table = np.zeros(self.values.size + 1, dtype=np.intp)
        table[occurring] = known
        return table[numbers]
