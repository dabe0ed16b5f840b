"""The public domain of a table: which columns, which categories, which bounds, which labels.

Nothing in a schema may come from the protected data. It is what makes one-hot and threshold features free
of privacy cost, and what input is checked against before anything is charged.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, cast

import attrs
import numpy as np

from accountant.arrays import IntArray
from learners.tables.category_names import MISSING_TEXTS, category_name, elements, other_names
from learners.tables.column_checks import SchemaError as SchemaError
from learners.tables.column_checks import bins_of, finite, named
from learners.tables.distinct_values import distinct
from learners.tables.numeric_column import Numeric as Numeric
from learners.tables.single_values import CONTAINS_NAN, OutsideSchema, RowOf, Values, as_numbers, same_row


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

    name: str = attrs.field(converter=named)
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


@attrs.frozen
class Boolean:
    """A column of zeros and ones; one feature, which holds where the value is 1."""

    name: str = attrs.field(converter=named)

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

    name: str = attrs.field(converter=named)
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
        """Read a schema file, as in docs/how-to/command-line.md. Raises SchemaError naming the file and the fault."""
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
        return {
            "columns": [_record(column) for column in self.columns],
            "label": None if self.label is None else attrs.asdict(self.label),
        }


@attrs.frozen
class Bounds:
    """Instead of a schema: every column of the table is a number, and these bounds are public.

    For tables of which only the range is known beforehand; the columns are those of the table that `fit` gets.
    lower, upper: of every column, in its unit; values beyond are moved to the nearest.  bins: of equal width.
    """

    lower: float = attrs.field(converter=finite)
    upper: float = attrs.field(converter=finite)
    bins: int = attrs.field(default=10, converter=bins_of)

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


def _record(column: Column) -> dict[str, object]:
    """A column of numbers that says nothing of missing values is written as it was before it could."""
    fields = attrs.asdict(column)
    if isinstance(column, Numeric) and column.missing is None:
        del fields["missing"]
    return {"kind": _KIND_NAMES[type(column)], **fields}


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
