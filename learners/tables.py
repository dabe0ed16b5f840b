"""Reading tables: DataFrames, arrays, mappings and CSV files, as columns in a schema's order."""

import csv
import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from learners.schema import IntArray, Schema, Values

Strings: TypeAlias = npt.NDArray[np.str_]


@runtime_checkable
class Frame(Protocol):
    """What pandas and polars have in common."""

    @property
    def columns(self) -> Sequence[str]:
        """Column names."""

    def __getitem__(self, name: str) -> object:
        """One column."""


Table: TypeAlias = Frame | Mapping[str, Sequence[object] | Values] | npt.ArrayLike
"""n records: a DataFrame, a mapping of columns, or an array of shape (n, columns) in schema order."""


def input_names(table: Table) -> list[str] | None:
    """The column names a table carries, None for a bare array."""
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    return [str(name) for name in table.columns] if isinstance(table, Frame) else None


def encode(table: Table, schema: Schema) -> IntArray:
    """Codes of shape (columns, n). Extra named columns are left out.

    Raises ValueError for a missing column, a wrong shape, columns of unequal length or no record at all;
    OutsideSchema for a value the schema does not allow.
    """
    if sparse.issparse(table):
        raise TypeError("sparse input is not supported: pass a DataFrame, a mapping of columns or a dense array")
    values = _columns(table, schema)
    lengths = {column.shape[0] for column in values}
    if len(lengths) != 1:
        raise ValueError(f"columns have unequal lengths: {sorted(lengths)}")
    if 0 in lengths:
        raise ValueError("expected at least one record, got none")
    return np.stack([column.codes(value) for column, value in zip(schema.columns, values, strict=True)])


def _columns(table: Table, schema: Schema) -> list[Values]:
    names = input_names(table)
    if names is None:
        return _array_columns(np.asarray(table), schema)
    missing = [name for name in schema.names if name not in names]
    if missing:
        raise ValueError(f"the data lacks the columns {missing} of the schema; it has {names}")
    keys = list(table) if isinstance(table, Mapping) else list(cast("Frame", table).columns)
    key_of = {str(key): key for key in keys}
    if len(key_of) != len(keys):
        raise ValueError(f"the data names a column twice: {names}")
    source = cast("Mapping[object, object]", table)
    return [_one_dimensional(np.asarray(source[key_of[name]]), name) for name in schema.names]


def _array_columns(array: Values, schema: Schema) -> list[Values]:
    if array.ndim != 2:
        raise ValueError(f"expected an array of shape (n, {len(schema.columns)}), got shape {array.shape}")
    if array.shape[1] != len(schema.columns):
        raise ValueError(f"the data has {array.shape[1]} columns, the schema {len(schema.columns)}: {schema.names}")
    return list(array.T)


def _one_dimensional(values: Values, name: str) -> Values:
    if values.ndim != 1:
        raise ValueError(f"column {name!r}: expected one value per record, got shape {values.shape}")
    return values


def read_csv(path: str | Path, *, names: Sequence[str] | None = None, comment: str | None = None) -> dict[str, Strings]:
    """A CSV file as columns of stripped text; `.gz` is decompressed. Blank lines are skipped.

    names: column names where the file has no header line.  comment: lines that start so are skipped.
    Raises ValueError naming the line where a row has too few or too many fields.
    """
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", newline="", encoding="utf-8-sig") as file:
        lines = (line for line in cast("Iterable[str]", file) if comment is None or not line.startswith(comment))
        reader = csv.reader(lines, skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader if row]
    header = list(names) if names is not None else [name.strip() for name in rows.pop(0)[1]] if rows else []
    if len(set(header)) != len(header):
        raise ValueError(f"{path}: a column name stands twice in {header}")
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"{path}, line {line}: {len(row)} fields, expected {len(header)}")
    columns = zip(*(row for _, row in rows), strict=True) if rows else ([] for _ in header)
    return {name: np.char.strip(np.array(column, dtype=np.str_)) for name, column in zip(header, columns, strict=True)}
