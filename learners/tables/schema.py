"""The public domain of a table: which columns, which categories, which bounds, which labels.

Nothing in a schema may come from the protected data. It is what makes one-hot and threshold features free
of privacy cost, and what input is checked against before anything is charged.
"""

import itertools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray
from learners.tables.category_names import MISSING_TEXTS, category_name, elements, other_names
from learners.tables.distinct_values import distinct
from learners.tables.quick_cells import cells_among
from learners.tables.single_values import CONTAINS_NAN, OutsideSchema, RowOf, Values, as_numbers, same_row


class SchemaError(ValueError):
    """A schema that contradicts itself, or cannot be read."""


def _named(value: str) -> str:
    if not isinstance(value, str) or not value:
        raise SchemaError(f"a column needs a name, got {value!r}")
    return value


def _distinct(values: Sequence[str]) -> tuple[str, ...]:
    names = tuple(str(value).strip() for value in values)
    if not isinstance(values, list | tuple) or len(set(names)) != len(names) or len(names) < 2:
        raise SchemaError(f"expected a list of at least two distinct values, got {values!r}")
    return names


@attrs.frozen
class Categorical:
    """A column with a closed list of categories; one one-hot feature each.

    missing: the category of records without a value (None, NaN, NaT, pandas' NA), and of text that says so and is no
      category itself; without it they are refused, unless a category is called so.
    other: the category that unlisted values stand for; without it they are refused.
    """

    name: str = attrs.field(converter=_named)
    categories: tuple[str, ...] = attrs.field(converter=_distinct)
    missing: str | None = None
    other: str | None = None

    def __attrs_post_init__(self) -> None:
        for role in (self.missing, self.other):
            if role is not None and role not in self.categories:
                raise SchemaError(f"column {self.name!r}: {role!r} is not one of its categories")

    @property
    def cells(self) -> int:
        """The number of codes."""
        return len(self.categories)

    @property
    def cumulative(self) -> bool:
        """Categories have no order."""
        return False

    def values(self) -> list[str]:
        """What each feature says of the column."""
        return list(self.categories)

    def codes(self, values: Values, row_of: RowOf = same_row) -> IntArray:
        """Category numbers, shape (n,). row_of: for messages. Raises OutsideSchema. [records-alone]

        A value's code follows from what it is called, see `learners.tables.category_names`, and from nothing else.
        """
        found = distinct(values)
        known = {category: code for code, category in enumerate(self.categories)}
        table, refused = np.zeros(found.values.size, dtype=np.intp), dict[int, str]()
        for number, value in enumerate(elements(found.values)):
            try:
                table[number] = self._code(category_name(value), known)
            except OutsideSchema as error:
                refused[number] = str(error)
        if refused:
            numbers = found.spread(np.arange(table.size))
            row = int(np.flatnonzero(np.isin(numbers, list(refused)))[0])
            raise OutsideSchema(f"column {self.name!r}, row {row_of(row)}: {refused[int(numbers[row])]}")
        return found.spread(table)

    def _code(self, name: str | None, known: Mapping[str, int]) -> int:
        """The category of a value that is called so; None is a missing one. Raises OutsideSchema."""
        if name is None:
            names, last = [], self.missing
        else:
            names, last = [name, *other_names(name)], self.missing if name in MISSING_TEXTS else self.other
        names += [last] if last is not None else []
        names += MISSING_TEXTS if name is None else ()  # whichever of these a library says
        code = next((known[each] for each in names if each in known), None)
        if code is None:
            raise OutsideSchema(
                f"{name!r} is not one of its {self.cells} categories; add it to the schema, or name a category in "
                "`other` (or `missing`) to stand for it"
            )
        return code


def _finite(value: float) -> float:
    number = float(value)
    if isinstance(value, bool) or not np.isfinite(number):
        raise SchemaError(f"bounds and cuts must be finite numbers, got {value!r}")
    return number


def _cuts(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(_finite(value) for value in values)


def _bins(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 2:
        raise SchemaError(f"expected at least 2 bins, got {value!r}")
    return value


@attrs.frozen
class Numeric:
    """A column of numbers within public bounds, cut into bins.

    lower, upper: public bounds, in the column's unit.  bins: equal-width bins, unless `cuts` are given.
    cuts: inner cut points in rising order; they too must be public.
    encoding: "one-hot" gives a feature per bin, "thresholds" one per cut (value >= cut).
    outside: "error" refuses values outside the bounds, "clip" moves them to the nearest bound.
    """

    name: str = attrs.field(converter=_named)
    lower: float = attrs.field(converter=_finite)
    upper: float = attrs.field(converter=_finite)
    bins: int = attrs.field(default=10, converter=_bins)
    cuts: tuple[float, ...] = attrs.field(default=(), converter=_cuts)
    encoding: Literal["one-hot", "thresholds"] = "one-hot"
    outside: Literal["error", "clip"] = "error"

    def __attrs_post_init__(self) -> None:
        if not self.lower < self.upper:
            raise SchemaError(f"column {self.name!r}: lower {self.lower} must be below upper {self.upper}")
        if self.encoding not in ("one-hot", "thresholds") or self.outside not in ("error", "clip"):
            raise SchemaError(f"column {self.name!r}: unknown encoding {self.encoding!r} or outside {self.outside!r}")
        edges = self.edges
        if np.any(np.diff(edges) <= 0.0):
            raise SchemaError(f"column {self.name!r}: its cuts must rise strictly between its bounds, got {self.cuts}")

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Bounds and inner cuts, shape (cells + 1,)."""
        if self.cuts:
            return np.array([self.lower, *self.cuts, self.upper])
        return np.linspace(self.lower, self.upper, self.bins + 1)

    @property
    def cells(self) -> int:
        """The number of codes."""
        return int(self.edges.size) - 1

    @property
    def cumulative(self) -> bool:
        """Whether features are thresholds."""
        return self.encoding == "thresholds"

    def values(self) -> list[str]:
        """What each feature says of the column."""
        edges = [f"{edge:.6g}" for edge in self.edges]
        if self.cumulative:
            return [f">= {edge}" for edge in edges[1:-1]]
        ends = [")"] * (len(edges) - 2) + ["]"]
        return [f"[{low}, {high}{end}" for (low, high), end in zip(itertools.pairwise(edges), ends, strict=True)]

    def codes(self, values: Values, row_of: RowOf = same_row) -> IntArray:
        """Bin numbers, shape (n,). row_of: for messages. Raises OutsideSchema. [records-alone]"""
        return cells_among(self.edges[1:-1], self.inside(values, row_of), self.lower, self.upper)

    def inside(self, values: Values, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
        """The values within the bounds, shape (n,): others are refused, or clipped. Raises OutsideSchema."""
        numbers = self.numbers(values, row_of)
        said = f"is not a number; {CONTAINS_NAN} Missing values need a public fill-in value"
        self._refuse(np.isnan(numbers), numbers, row_of, said)
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
        """The values as numbers, shape (n,). Raises OutsideSchema for anything else."""
        return as_numbers(values, f"column {self.name!r}", row_of)

    def _refuse(self, wrong: npt.NDArray[np.bool_], numbers: npt.NDArray[np.float64], row_of: RowOf, why: str) -> None:
        if np.any(wrong):
            place = int(np.flatnonzero(wrong)[0])
            raise OutsideSchema(f"column {self.name!r}, row {row_of(place)}: {float(numbers[place])!r} {why}")


@attrs.frozen
class Boolean:
    """A column of zeros and ones; one feature, which holds where the value is 1."""

    name: str = attrs.field(converter=_named)

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
        numbers = as_numbers(values, f"column {self.name!r}", row_of)
        wrong = (numbers != 0.0) & (numbers != 1.0)
        if np.any(wrong):
            place = int(np.flatnonzero(wrong)[0])
            why = f"; {CONTAINS_NAN}" if np.isnan(numbers[place]) else "; give a schema"
            said = f"{float(numbers[place])!r} is neither 0 nor 1{why}"
            raise OutsideSchema(f"column {self.name!r}, row {row_of(place)}: {said}")
        return numbers.astype(np.intp)


MAX_CELLS: Final = 4096
"""Codes per column for which the rounding head-room of scores is proved."""

Column: TypeAlias = Categorical | Numeric | Boolean


def _classes(values: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or len(values) < 2:
        raise SchemaError(f"label: expected two classes or more, got {values!r}")
    return tuple(values)


@attrs.frozen
class Label:
    """The label column and its public classes; of two, the second is the positive one."""

    name: str = attrs.field(converter=_named)
    classes: tuple[str, ...] = attrs.field(converter=_classes)

    def __attrs_post_init__(self) -> None:
        if len(set(self.classes)) != len(self.classes):
            raise SchemaError(f"label {self.name!r}: expected distinct classes, got {self.classes!r}")


@attrs.frozen
class Schema:
    """Columns in order, and the label where the file has one.

    Raises SchemaError where two columns share a name or there is none.
    """

    columns: tuple[Column, ...] = attrs.field(converter=tuple[Column, ...])
    label: Label | None = None

    def __attrs_post_init__(self) -> None:
        names = self.names
        if not names or len(set(names)) != len(names):
            raise SchemaError(f"expected at least one column and no name twice, got {names}")
        for column in self.columns:
            if column.cells > MAX_CELLS:
                raise SchemaError(f"column {column.name!r}: {column.cells} categories or bins, more than {MAX_CELLS}")

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    @property
    def features(self) -> list[tuple[str, str]]:
        """Column name and value text of each Boolean feature, in feature order."""
        return [(column.name, value) for column in self.columns for value in column.values()]

    @staticmethod
    def boolean(names: Sequence[str]) -> "Schema":
        """Columns that hold 0 and 1 only, one feature each."""
        return Schema(tuple(Boolean(name) for name in names))

    @staticmethod
    def from_toml(path: str | Path) -> "Schema":
        """Read a schema file; its format is in the README. Raises SchemaError naming the file and the fault."""
        try:
            with Path(path).open("rb") as file:
                return Schema.from_dict(tomllib.load(file))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SchemaError(f"{path}: {error}") from error

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Schema":
        """The inverse of `as_dict`."""
        columns = cast("Sequence[Mapping[str, object]]", record.get("columns", ()))
        label = cast("Mapping[str, object] | None", record.get("label"))
        return Schema(
            tuple(_column(column) for column in columns),
            None if label is None else Label(str(label["name"]), _texts(label["classes"])),
        )

    def as_dict(self) -> dict[str, object]:
        """For TOML-like files and saved models."""
        columns = [{"kind": _KIND_NAMES[type(column)], **attrs.asdict(column)} for column in self.columns]
        return {"columns": columns, "label": None if self.label is None else attrs.asdict(self.label)}


@attrs.frozen
class Bounds:
    """Instead of a schema: every column of the table is a number, and these bounds are public.

    For tables of which only the range is known beforehand; the columns are those of the table that `fit` gets.
    lower, upper: of every column, in its unit; values beyond are moved to the nearest.  bins: of equal width.
    """

    lower: float = attrs.field(converter=_finite)
    upper: float = attrs.field(converter=_finite)
    bins: int = attrs.field(default=10, converter=_bins)

    def __attrs_post_init__(self) -> None:
        if not self.lower < self.upper:
            raise SchemaError(f"lower {self.lower} must be below upper {self.upper}")

    def over(self, names: Sequence[str]) -> Schema:
        """The schema of columns with these names."""
        return Schema(tuple(Numeric(name, self.lower, self.upper, bins=self.bins, outside="clip") for name in names))


_KINDS: dict[str, Callable[..., Column]] = {"categorical": Categorical, "numeric": Numeric, "boolean": Boolean}
_KIND_NAMES: dict[type[Column], str] = {Categorical: "categorical", Numeric: "numeric", Boolean: "boolean"}


def _texts(value: object) -> tuple[str, ...]:
    """Classes as text: a schema file may say 0 and 1."""
    return tuple(str(name) for name in _classes(cast("Sequence[str]", value)))


def _column(record: Mapping[str, object]) -> Column:
    if not isinstance(record, Mapping):
        raise SchemaError(f"columns: expected [[columns]] tables, got {record!r}")
    fields = dict(record)
    kind = str(fields.pop("kind", "missing"))
    if kind not in _KINDS:
        raise SchemaError(f"column {fields.get('name')!r}: kind {kind!r} is not one of {sorted(_KINDS)}")
    known = [field.name for field in attrs.fields(cast("type[attrs.AttrsInstance]", _KINDS[kind]))]
    if unknown := sorted(set(fields) - set(known)):
        raise SchemaError(
            f"column {fields.get('name')!r}: unknown key {unknown[0]!r}; a {kind} column takes {', '.join(known)}"
        )
    try:
        return _KINDS[kind](**fields)
    except SchemaError:
        raise
    except (TypeError, ValueError) as error:
        raise SchemaError(f"column {fields.get('name')!r}: {error}") from error
