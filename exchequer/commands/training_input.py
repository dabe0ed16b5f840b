"""What `train` and `rados` learn from: a schema and a labelled table, with all that is wrong with either at once.

Neither scikit-learn nor OpenDP is imported here, so a refusal does not wait for them.
"""

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import cast

import numpy as np

from accountant.arrays import FloatArray
from exchequer.console.input_errors import about
from exchequer.console.table_databases import DatabaseTable, Source, TableAddress
from exchequer.console.table_files import (
    Columns,
    TableFile,
    TableFileOptions,
    column_names,
    open_table,
    refuse_file_options,
)
from learners.tables import (
    DictionaryColumn,
    Label,
    NumberLabel,
    OpenQuestions,
    OutsideSchema,
    RowOf,
    Schema,
    Strings,
    Values,
    as_numbers,
    each_value,
    label_texts,
    open_questions,
)


def read(
    path: Source, schema: Schema, options: TableFileOptions, names: list[str] | None, *, others: Sequence[str] = ()
) -> Columns:
    """The columns of a schema, and others. names: the columns of a file without a header line, in order."""
    with about(path):
        return open_table(path, options.format(schema, names), [*schema.names, *others])


def label_of(schema: Schema, where: Path) -> Label | NumberLabel:
    """The schema's label. Raises ValueError where it names none."""
    label = schema.label or schema.number_label
    if label is None:
        raise ValueError(
            f'{where}: the schema names no label; add [label], name = "..." and classes = ["no", "yes"], or for '
            "numbers their public lower = ... and upper = ..."
        )
    return label


def take_label(table: Columns, label: Label | NumberLabel, path: Source) -> Strings | FloatArray:
    """Remove the label column from the table and return it. Raises ValueError where it is missing."""
    if problems := _missing(list(table), [], label.name):
        raise ValueError(f"{path}: {problems}; its columns are {list(table)}")
    column = table.pop(label.name)
    with about(path):
        return numbers_of(column, label.name) if isinstance(label, NumberLabel) else label_texts(column)


def numbers_of(column: Values | DictionaryColumn, name: str) -> FloatArray:
    """A label of numbers, shape (n,). Raises OutsideSchema naming the first record without one."""

    def known(values: Values, row_of: RowOf) -> FloatArray:
        return as_numbers(values, f"the label {name!r}", row_of)

    numbers = each_value(column, known)
    if not np.all(np.isfinite(numbers)):
        row = int(np.argmin(np.isfinite(numbers)))
        raise OutsideSchema(f"the label {name!r}, row {row}: no number; leave out such records beforehand")
    return numbers


def labelled_file(
    data: Source, schema_path: Path, options: TableFileOptions, *, header: bool
) -> tuple[Schema, TableFile]:
    """A schema, and the table with its label, of which no record is read yet.

    Raises ValueError with all that is wrong with the schema and with the table's header.
    """
    refuse_file_options(data, options, header)
    schema = _schema(schema_path, data if header else None, options)
    label = label_of(schema, schema_path)
    names = None if header else [*schema.names, label.name]
    file = TableFile(data, options.format(schema, names), label.name)
    with about(data):
        there = column_names(data, file.format)
    if problems := _missing(there, schema.names, label.name):
        raise ValueError(f"{data}: {problems}; its columns are {there}")
    return schema, file


def labelled_database(
    address: TableAddress, schema_path: Path, options: TableFileOptions, *, header: bool
) -> tuple[Schema, DatabaseTable]:
    """A schema, and the table in a database with its label, which is not looked at yet. Raises ValueError."""
    refuse_file_options(address, options, header)
    schema = _schema(schema_path, None, TableFileOptions())
    return schema, DatabaseTable(address, label_of(schema, schema_path).name, schema.number_label is not None)


def labelled_table(
    data: Source, schema_path: Path, options: TableFileOptions, *, header: bool
) -> tuple[Schema, Columns, Strings]:
    """A schema, the file's columns without the label, and the label. Raises as `labelled_file` does."""
    schema, file = labelled_file(data, schema_path, options, header=header)
    table = read_all(file, schema)
    with about(data):
        return schema, table, label_texts(table.pop(file.label))


def read_all(file: TableFile, schema: Schema) -> Columns:
    """All records of a file in memory, with the label."""
    with about(file.path):
        return open_table(file.path, file.format, [*schema.names, file.label])


def _schema(path: Path, data: Source | None, options: TableFileOptions) -> Schema:
    """The schema. data: a table whose header is looked at as well where the schema is wrong."""
    with about(path):
        text = path.read_text(encoding="utf-8")
        if asked := open_questions(text):
            raise OpenQuestions(str(path), asked)
        record = tomllib.loads(text)
    problems = []
    try:
        schema = Schema.from_dict(record)
        label_of(schema, path)
    except (ValueError, TypeError, AttributeError) as error:
        problems.append(str(error) if str(path) in str(error) else f"{path}: {error}")
    if not problems:
        return schema
    if data is not None:
        with about(data):
            there = column_names(data, options.format())
        problems += [f"{data}: {missing}" for missing in [_missing(there, *_names(record))] if missing]
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
    said += [f"the data lacks the columns {absent}"] if absent else []
    left = [name for name in there if name not in names and name != label]
    near = {name: get_close_matches(name, left, 1) for name in [*absent, *([label] if label else [])]}
    meant = [f"{each[0]!r} for {name!r}" for name, each in near.items() if each and name not in there]
    return "; ".join([*said, *([f"did you mean {', '.join(meant)}?"] if meant else [])])
