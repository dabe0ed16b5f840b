"""Columns of whole numbers: counts, years, ratings."""

import attrs
import numpy as np
import numpy.typing as npt

from learners.kinds.column_checks import SchemaError
from learners.kinds.numeric_column import Numeric
from learners.kinds.single_values import RowOf, Values, same_row


@attrs.frozen
class Integer(Numeric):
    """A column of whole numbers within public bounds; everything else is as for `Numeric`.

    Fractions are refused. Where there are no more numbers than `bins`, each has a cell of its own.
    Raises SchemaError for bounds that are no whole numbers.
    """

    def __attrs_post_init__(self) -> None:
        if not (self.lower.is_integer() and self.upper.is_integer()):
            raise SchemaError(f"column {self.name!r}: bounds {self.lower!r} and {self.upper!r} must be whole numbers")
        if not self.cuts and self.upper - self.lower < self.bins:
            object.__setattr__(self, "cuts", tuple(np.arange(self.lower, self.upper) + 0.5))
        super().__attrs_post_init__()

    def interval(self, first: int, last: int) -> str:
        """The whole numbers in cells from `first` to before `last`: "3", or "3 to 7"."""
        end = self.edge(last)
        low = int(np.ceil(self.edge(first)))
        high = int(end) if last == self.bin_number else int(np.ceil(end)) - 1
        return f"{low}" if low == high else f"{low} to {high}"

    def said(self, number: float) -> str:
        """A whole number, as a threshold: the least that is as large."""
        return str(int(np.ceil(number)))

    def numbers(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """See `Numeric.numbers`; fractions are refused too."""
        found = super().numbers(values, row_of)
        with np.errstate(invalid="ignore"):
            fractions = np.isfinite(found) & (found != np.floor(found))
        self._refuse(fractions, found, row_of, "is no whole number; kind = 'numeric' takes fractions")
        return found
