"""What `train` and `rados` learn from: a schema and a labelled table, with all that is wrong with either at once.

Neither scikit-learn nor OpenDP is imported here, so a refusal does not wait for them.
"""

import csv
import gzip
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from exchequer.console.input_errors import about
from learners.tables import Label, NumberLabel, Schema, Strings, read_csv


def read(path: Path, names: list[str] | None) -> dict[str, Strings]:
    """The file's columns. names: the columns of a file without a header line."""
    with about(path):
        return read_csv(path, names=names)


def header_of(path: Path) -> list[str]:
    """The names in the file's first line, which is all that is read."""
    with (
        about(path),
        (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="") as file,
    ):
        return [name.strip() for name in next(csv.reader(file), [])]


def label_of(schema: Schema, where: Path) -> Label | NumberLabel:
    """The schema's label. Raises ValueError where it names none."""
    label = schema.label or schema.number_label
    if label is None:
        raise ValueError(
            f'{where}: the schema names no label; add [label], name = "..." and classes = ["no", "yes"], or for '
            "numbers their public lower = ... and upper = ..."
        )
    return label


def take_label(table: dict[str, Strings], label: Label | NumberLabel, path: Path) -> Strings:
    """Remove the label column from the table and return it. Raises ValueError where it is missing."""
    if problems := _missing(list(table), [], label.name):
        raise ValueError(f"{path}: {problems}; its columns are {list(table)}")
    return table.pop(label.name)


def labelled_table(data: Path, schema_path: Path, *, header: bool) -> tuple[Schema, dict[str, Strings], Strings]:
    """A schema, the file's columns without the label, and the label.

    Raises ValueError with all that is wrong with the schema and with the table's header.
    """
    schema = _schema(schema_path, data if header else None)
    label = label_of(schema, schema_path)
    table = read(data, None if header else [*schema.names, label.name])
    if problems := _missing(list(table), schema.names, label.name):
        raise ValueError(f"{data}: {problems}; its columns are {list(table)}")
    return schema, table, table.pop(label.name)


def _schema(path: Path, data: Path | None) -> Schema:
    """The schema. data: a table whose header is looked at as well where the schema is wrong."""
    with about(path):
        try:
            with path.open("rb") as file:
                record = tomllib.load(file)
        except UnicodeDecodeError as error:
            raise ValueError(f"no text in UTF-8: {error}") from error
    problems = []
    try:
        schema = Schema.from_dict(record)
        label_of(schema, path)
    except (ValueError, TypeError, AttributeError) as error:
        problems.append(str(error) if str(path) in str(error) else f"{path}: {error}")
    if not problems:
        return schema
    if data is not None and (missing := _missing(header_of(data), *_names(record))):
        problems.append(f"{data}: {missing}")
    raise ValueError("; ".join(problems))


def _names(record: Mapping[str, object]) -> tuple[list[str], str | None]:
    """The columns and the label that a schema names, whatever else is wrong with it."""
    columns, label = record.get("columns"), record.get("label")
    named = [each for each in columns if isinstance(each, Mapping)] if isinstance(columns, list) else []
    names = [cast("str", each["name"]) for each in named if isinstance(each.get("name"), str)]
    target = label.get("name") if isinstance(label, Mapping) else None
    return names, target if isinstance(target, str) else None


def _missing(there: list[str], names: list[str], label: str | None) -> str:
    """What a table with these columns lacks, in words; "" where it has everything."""
    absent = [name for name in names if name not in there]
    said = [f"no column {label!r} for the label"] if label is not None and label not in there else []
    return "; ".join([*said, *([f"the data lacks the columns {absent}"] if absent else [])])
