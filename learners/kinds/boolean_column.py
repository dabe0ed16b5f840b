"""Columns of truth values: zeros and ones, or words for them."""

from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray
from learners.kinds.category_names import MISSING_TEXTS
from learners.kinds.column_checks import SchemaError, named
from learners.kinds.distinct_values import distinct
from learners.kinds.single_values import CONTAINS_NAN, OutsideSchema, RowOf, Values, as_numbers, is_missing, same_row

WORDS: Final = {"true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0}
"""What text may say instead of 1 and 0, in capitals or not."""


def reads_as_truth(text: str) -> bool:
    """Whether a `Boolean` column takes the text."""
    return text.strip().lower() in WORDS or text.strip() in ("0", "1")


@attrs.frozen
class Boolean:
    """A column of zeros and ones, or of text that says true or false, yes or no; one feature: where the value is 1.

    missing: True or False is what missing values count as; None refuses them. (Where they are to have a cell of their
      own, make the column `Categorical`, with a category for them.)
    other: the same for anything else.
    """

    name: str = attrs.field(converter=named)
    missing: bool | None = None
    other: bool | None = None

    def __attrs_post_init__(self) -> None:
        for role in (self.missing, self.other):
            if role is not None and not isinstance(role, bool):
                raise SchemaError(
                    f"column {self.name!r}: missing and other of a boolean column are true or false, got {role!r}; for "
                    "a cell of their own make it categorical, with a category for them"
                )

    @property
    def cells(self) -> int:
        """The number of codes."""
        return 2

    @property
    def cumulative(self) -> bool:
        """One feature for two codes."""
        return True

    def values(self) -> list[str]:
        """What the feature says of the column."""
        return ["1"]

    def codes(self, values: Values, row_of: RowOf = same_row) -> IntArray:
        """0 or 1, shape (n,). row_of: for messages. Raises OutsideSchema for anything else. [records-alone]"""
        numbers = self._numbers(values, row_of)
        if self.missing is not None:
            numbers = np.where(np.isnan(numbers), float(self.missing), numbers)
        wrong = (numbers != 0.0) & (numbers != 1.0)
        if self.other is not None:
            numbers, wrong = np.where(wrong & ~np.isnan(numbers), float(self.other), numbers), np.isnan(numbers)
        if np.any(wrong):
            place = int(np.flatnonzero(wrong)[0])
            why = f"; {CONTAINS_NAN}" if np.isnan(numbers[place]) else "; give a schema"
            said = f"{float(numbers[place])!r} is neither 0 nor 1{why}"
            raise OutsideSchema(f"column {self.name!r}, row {row_of(place)}: {said}")
        return numbers.astype(np.intp)

    def _numbers(self, values: Values, row_of: RowOf) -> npt.NDArray[np.float64]:
        """Of text, what it says; NaN where a value is missing."""
        if values.dtype.kind not in "OSU":
            return as_numbers(values, f"column {self.name!r}", row_of)
        found = distinct(values)
        said = [self._number(value) for value in found.values.tolist()]
        numbers = np.array([0.0 if number is None else number for number in said])
        unread = np.array([number is None for number in said], dtype=np.bool_)
        places = found.spread(np.arange(numbers.size))
        if np.any(unread):  # in the words of `as_numbers`, of the first of them
            row = int(np.flatnonzero(unread[places])[0])
            as_numbers(values[row : row + 1], f"column {self.name!r}", lambda _: row_of(row))
        return numbers[places]

    def _number(self, value: object) -> float | None:
        """What one value says, NaN where it is missing; None for what says nothing."""
        text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
        if isinstance(text, str) and text.strip().lower() in WORDS:
            return WORDS[text.strip().lower()]
        if self.missing is not None and (is_missing(text) or (isinstance(text, str) and text.strip() in MISSING_TEXTS)):
            return np.nan
        try:
            return float(as_numbers(np.array([value], dtype=object), "")[0])
        except OutsideSchema:
            return None if self.other is None else float(self.other)
