"""Columns of numbers: public bounds, cuts, and what becomes of records without a number."""

from typing import Final, Literal, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray
from learners.kinds.column_checks import SchemaError, bins_of, cuts_of, finite, named
from learners.kinds.missing_numbers import numbers_or_nan
from learners.kinds.quick_cells import cells_among
from learners.kinds.single_values import CONTAINS_NAN, OutsideSchema, RowOf, Values, as_numbers, same_row

OWN: Final = "own"
"""What `missing` says where records without a number have a cell of their own."""

MISSING_CELL: Final = "missing"
"""What that cell is called."""

Missing: TypeAlias = Literal["own"] | float | None


def _missing(value: object) -> Missing:
    if value is None or value == OWN:
        return cast("Missing", value)
    if isinstance(value, bool | str):
        raise SchemaError(f"missing: expected 'own', a number that missing values count as, or nothing, got {value!r}")
    return finite(cast("float", value))


@attrs.frozen
class Numeric:
    """A column of numbers within public bounds, cut into bins.

    lower, upper: public bounds, in the column's unit.  bins: equal-width bins, unless `cuts` are given.
    cuts: inner cut points in rising order; they too must be public.
    encoding: "one-hot" gives a feature per bin, "thresholds" one per cut (value >= cut).
    outside: "error" refuses values outside the bounds, "clip" moves them to the nearest bound.
    missing: what becomes of records without a number: None, NaN, NaT, pandas' NA, and text that is empty or says one of
      these, as in CSV files. "own" gives them a cell of their own, after the bins, with a feature of its own: nothing
      is assumed about what they would have had. A number within the bounds is what they count as. None refuses them.
      Like bounds it is public: say "own" wherever values can be missing, not where they happen to be.
    other: "missing" takes whatever is no number for missing, such as "?" and "n/a"; None refuses it.
    """

    name: str = attrs.field(converter=named)
    lower: float = attrs.field(converter=finite)
    upper: float = attrs.field(converter=finite)
    bins: int = attrs.field(default=10, converter=bins_of)
    cuts: tuple[float, ...] = attrs.field(default=(), converter=cuts_of)
    encoding: Literal["one-hot", "thresholds"] = "one-hot"
    outside: Literal["error", "clip"] = "error"
    missing: Missing = attrs.field(default=None, converter=_missing)
    other: Literal["missing"] | None = None

    def __attrs_post_init__(self) -> None:
        if not self.lower < self.upper:
            raise SchemaError(f"column {self.name!r}: lower {self.lower} must be below upper {self.upper}")
        if self.encoding not in ("one-hot", "thresholds") or self.outside not in ("error", "clip"):
            raise SchemaError(f"column {self.name!r}: unknown encoding {self.encoding!r} or outside {self.outside!r}")
        self._check_other()
        if not (self.own_cell or self.missing is None or self.lower <= cast("float", self.missing) <= self.upper):
            raise SchemaError(
                f"column {self.name!r}: missing values count as {self.missing!r}, which is outside its bounds "
                f'[{self.lower}, {self.upper}]; missing = "own" gives them a cell of their own'
            )
        edges = self.edges
        if np.any(np.diff(edges) <= 0.0):
            raise SchemaError(f"column {self.name!r}: its cuts must rise strictly between its bounds, got {self.cuts}")

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Bounds and inner cuts, shape (cells + 1,)."""
        if self.cuts:
            return np.array([self.lower, *self.cuts, self.upper])
        return np.linspace(self.lower, self.upper, self.bins + 1)

    def edge(self, place: int) -> float:
        """One of `edges`, from 0 to `bin_number`, without making an array of them all where there are cuts."""
        if not self.cuts:
            return float(self.edges[place])
        inner = 0 < place < self.bin_number
        return self.cuts[place - 1] if inner else self.lower if place == 0 else self.upper

    @property
    def bin_number(self) -> int:
        """How many bins there are, whose codes are in order."""
        return len(self.cuts) + 1 if self.cuts else self.bins

    @property
    def own_cell(self) -> bool:
        """Whether missing values have a code of their own, the last."""
        return self.missing == OWN

    @property
    def cells(self) -> int:
        """The number of codes."""
        return self.bin_number + self.own_cell

    @property
    def cumulative(self) -> bool:
        """Whether features are thresholds."""
        return self.encoding == "thresholds"

    def values(self) -> list[str]:
        """What each feature says of the column."""
        own = [MISSING_CELL] if self.own_cell else []
        if self.cumulative:
            return [f">= {self.said(edge)}" for edge in self.edges[1:-1].tolist()] + own
        return [self.interval(cell, cell + 1) for cell in range(self.bin_number)] + own

    def interval(self, first: int, last: int) -> str:
        """What is said of the bins from `first` to before `last`."""
        end = "]" if last == self.bin_number else ")"
        return f"[{self.said(self.edge(first))}, {self.said(self.edge(last))}{end}"

    def said(self, number: float) -> str:
        """A bound or a cut, for people."""
        return f"{number:.6g}"

    def codes(self, values: Values, row_of: RowOf = same_row) -> IntArray:
        """Bin numbers, and `bin_number` in the own cell of missing values; shape (n,). row_of: for messages.

        Raises OutsideSchema. [records-alone]
        """
        inside, cuts = self.inside(values, row_of), self.edges[1:-1]
        if not self.own_cell:
            return cells_among(cuts, inside, self.lower, self.upper)
        missing = np.isnan(inside)
        found = cells_among(cuts, np.where(missing, self.upper, inside), self.lower, self.upper)
        return np.where(missing, self.bin_number, found)

    def inside(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """The values within the bounds, shape (n,): others are refused, or clipped. Raises OutsideSchema.

        A missing value is the number that it counts as, NaN where it has a cell of its own, and else refused.
        """
        numbers = self.numbers(values, row_of)
        if self.missing is None:
            said = f"is not a number; {CONTAINS_NAN} Missing values need a cell of their own, missing='own' in the "
            said += "schema, or a public fill-in value, as in missing=0"
            self._refuse(np.isnan(numbers), numbers, row_of, said)
        elif not self.own_cell:
            numbers = np.where(np.isnan(numbers), cast("float", self.missing), numbers)
        if self.outside == "clip":
            # No bound is nearest to an infinity, which is the mark of an overflow rather than a measurement.
            said = "is infinite; Input X contains infinity. Give it a public value"
            self._refuse(np.isinf(numbers), numbers, row_of, said)
        if self.outside == "error":
            beyond = (numbers < self.lower) | (numbers > self.upper)
            said = f"is outside [{self.lower}, {self.upper}]; widen the bounds or set outside='clip'"
            self._refuse(beyond, numbers, row_of, said)
        return np.clip(numbers, self.lower, self.upper)

    def numbers(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """The values as numbers, shape (n,), NaN where one is missing. Raises OutsideSchema for anything else.

        Text stands for a missing one only where the column has a place for those.
        """
        if self.missing is None:
            return as_numbers(values, f"column {self.name!r}", row_of)
        return numbers_or_nan(values, f"column {self.name!r}", row_of, others=self.other is not None)

    def _check_other(self) -> None:
        if self.other is None:
            return
        if self.other == "missing" and self.missing is None:
            raise SchemaError(f"column {self.name!r}: other = 'missing' needs `missing`, which says what becomes of it")
        if self.other != "missing":
            raise SchemaError(f"column {self.name!r}: other is 'missing' or nothing, got {self.other!r}")

    def _refuse(self, wrong: npt.NDArray[np.bool_], numbers: npt.NDArray[np.float64], row_of: RowOf, why: str) -> None:
        if np.any(wrong):
            place = int(np.flatnonzero(wrong)[0])
            raise OutsideSchema(f"column {self.name!r}, row {row_of(place)}: {float(numbers[place])!r} {why}")
