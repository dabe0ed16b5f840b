"""The public domain of a table: which columns, which categories, which bounds, which labels.

Nothing in a schema may come from the protected data. It is what makes one-hot and threshold features free
of privacy cost, and what input is checked against before anything is charged.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import attrs

from learners.kinds import Boolean as Boolean
from learners.kinds import Categorical as Categorical
from learners.kinds import Column as Column
from learners.kinds import Numeric as Numeric
from learners.kinds import SchemaError as SchemaError
from learners.kinds import bins_of, column_of, column_record, finite, named
from learners.tables.file_format import FileFormat
from learners.tables.open_questions import refuse_open_questions

MAX_CELLS: Final = 4096
"""Codes per column for which the rounding head-room of scores is proved."""

IGNORED: Final = "ignored"
"""The kind of columns that a file has and nothing is learnt from."""


def _classes(values: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or len(values) < 2:
        raise SchemaError(f"label: expected two classes or more, got {values!r}")
    return tuple(values)


@attrs.frozen
class Label:
    """The label column and its public classes.

    name: of the column.  classes: two or more different ones; of two, the second is the positive one.
    Raises SchemaError otherwise.
    """

    name: str = attrs.field(converter=named)
    classes: tuple[str, ...] = attrs.field(converter=_classes)

    def __attrs_post_init__(self) -> None:
        if len(set(self.classes)) != len(self.classes):
            raise SchemaError(f"label {self.name!r}: expected distinct classes, got {self.classes!r}")


@attrs.frozen
class NumberLabel:
    """The label column of a regression and its public bounds.

    name: of the column.  lower, upper: in the label's unit; labels beyond are moved to the nearest.
    Raises SchemaError unless lower is below upper.
    """

    name: str = attrs.field(converter=named)
    lower: float = attrs.field(converter=finite)
    upper: float = attrs.field(converter=finite)

    def __attrs_post_init__(self) -> None:
        if not self.lower < self.upper:
            raise SchemaError(f"label {self.name!r}: lower {self.lower} must be below upper {self.upper}")

    @property
    def bounds(self) -> tuple[float, float]:
        """As regressors take them."""
        return self.lower, self.upper


@attrs.frozen
class Schema:
    """Columns in order, and the label where the file has one: of classes, or of numbers.

    columns: what features are made of.  label, number_label: one of both at most.
    ignored: further columns that files have and nothing is learnt from.  file: how files are written, None as usual.
    Raises SchemaError where two columns share a name or there is none.
    """

    columns: tuple[Column, ...] = attrs.field(converter=tuple[Column, ...])
    label: Label | None = None
    number_label: NumberLabel | None = None
    ignored: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])
    file: FileFormat | None = None

    def __attrs_post_init__(self) -> None:
        names = self.names
        if not names or len(set(names)) != len(names):
            raise SchemaError(f"expected at least one column and no name twice, got {names}")
        for column in self.columns:
            if column.cells > MAX_CELLS:
                raise SchemaError(f"column {column.name!r}: {column.cells} categories or bins, more than {MAX_CELLS}")
        if twice := sorted(set(self.ignored) & {*names, *self.label_names}):
            raise SchemaError(f"column {twice[0]!r} is ignored, and is one of the columns or the label as well")

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    @property
    def label_names(self) -> list[str]:
        """The label's name, where there is one."""
        return [label.name for label in (self.label, self.number_label) if label is not None]

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
        """Read a schema file, as in docs/how-to/command-line.md.

        Raises OpenQuestions where a draft was not filled in, and SchemaError naming the file and the fault.
        """
        refuse_open_questions(Path(path))
        try:
            with Path(path).open("rb") as file:
                return Schema.from_dict(tomllib.load(file))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SchemaError(f"{path}: {error}") from error

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Schema":
        """The inverse of `as_dict`. Raises SchemaError with all that is wrong."""
        found, problems = list[Column](), list[str]()
        ignored = list(cast("Sequence[str]", record.get("ignored", ())))
        for column in cast("Sequence[Mapping[str, object]]", record.get("columns", ())):
            if isinstance(column, Mapping) and column.get("kind") == IGNORED:
                ignored.append(str(column.get("name")))
                continue
            try:
                found.append(column_of(column))
            except SchemaError as error:
                problems.append(str(error))
        label: Label | NumberLabel | None = None
        try:
            label = None if record.get("label") is None else _label(record["label"])
        except SchemaError as error:
            problems.append(str(error))
        if problems:
            raise SchemaError("; ".join(problems))
        file = _file(record.get("file"))
        if isinstance(label, NumberLabel):
            return Schema(tuple(found), None, label, ignored, file)
        return Schema(tuple(found), label, None, ignored, file)

    def as_dict(self) -> dict[str, object]:
        """For TOML-like files and saved models; what earlier versions lacked is written where it says something."""
        later = {"ignored": list(self.ignored), "file": None if self.file is None else self.file.as_dict()}
        return {
            "columns": [column_record(column) for column in self.columns],
            "label": next((attrs.asdict(each) for each in (self.label, self.number_label) if each is not None), None),
            **{name: value for name, value in later.items() if value},
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


def _texts(value: object) -> tuple[str, ...]:
    """Classes as text: a schema file may say 0 and 1."""
    return tuple(str(name) for name in _classes(cast("Sequence[str]", value)))


def _file(record: object) -> FileFormat | None:
    """Raises SchemaError."""
    if record is None:
        return None
    if not isinstance(record, Mapping):
        raise SchemaError(f"file: expected a [file] table, got {record!r}")
    known = [field.name for field in attrs.fields(FileFormat)]
    if unknown := sorted(set(record) - set(known)):
        raise SchemaError(f"file: unknown key {unknown[0]!r}; it takes {', '.join(known)}")
    try:
        return FileFormat(**record)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"file: {error}") from error


def _label(record: object) -> Label | NumberLabel:
    """Raises SchemaError, which says what a label is."""
    if not isinstance(record, Mapping):
        raise SchemaError(f"label: expected a [label] table, got {record!r}")
    missing = [] if "name" in record else ["name"]
    if "classes" not in record:
        missing += [key for key in ("lower", "upper") if key not in record]
    if missing:
        raise SchemaError(
            f"label: {' and '.join(map(repr, missing))} missing; it needs a name, and either classes = [...] or, for "
            "numbers, their public lower and upper"
        )
    if "classes" in record and {"lower", "upper"} & set(record):
        raise SchemaError("label: it has classes, or lower and upper, and not both")
    if "classes" in record:
        return Label(str(record["name"]), _texts(record["classes"]))
    try:
        return NumberLabel(record["name"], record["lower"], record["upper"])
    except (TypeError, ValueError) as error:
        raise SchemaError(str(error) if isinstance(error, SchemaError) else f"label: {error}") from error
