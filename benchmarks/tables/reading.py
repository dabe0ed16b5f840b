"""From files to tables: fields with a public meaning, missing values, values out of bounds, unknown categories."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Column, Floats, Integers
from benchmarks.data import Source
from benchmarks.tables.table_sets import TableSet
from exchequer.datasets import SEARCHED, DataNotFound, data_folder
from learners import Categorical, Numeric, Schema

MISSING = "?"

Field: TypeAlias = Column | Literal["label", "dropped"]
"""A feature, the label (several are put together to one text), or something that is no feature, such as an id."""


@attrs.frozen
class Layout:
    """How a file becomes a table.

    source: where it lies; its classes, negative ones first, are the table's.  fields: one for each field of a record.
    odd: texts of the label whose records are dropped, as the set's notes ask for.
    """

    source: Source
    fields: tuple[Field, ...]
    odd: frozenset[str] = frozenset()

    @property
    def classes(self) -> tuple[str, ...]:
        """Of the label."""
        return (*self.source.negative, *self.source.positive)

    def read(self, name: str, folder: str | Path | None) -> TableSet:
        """The table as the file has it: numbers may lie out of bounds, and are NaN where missing.

        Raises DataNotFound, and ValueError for another number of fields or an unknown class.
        """
        cells = self.source.cells(place(name, folder))
        if cells.shape[1] != len(self.fields):
            raise ValueError(f"{name} has {len(self.fields)} fields, the file {cells.shape[1]}")
        marked = [number for number, field in enumerate(self.fields) if field == "label"]
        texts = cells[:, marked[0]]
        for number in marked[1:]:
            texts = np.char.add(texts, cells[:, number])
        kept = ~np.isin(texts, sorted(self.odd))
        columns = {number: field for number, field in enumerate(self.fields) if isinstance(field, Column)}
        table = {
            column.name: numbers(cells[kept, number]) if column.numeric else cells[kept, number]
            for number, column in columns.items()
        }
        return classified(name, tuple(columns.values()), self.classes, table, texts[kept])


def place(name: str, folder: str | Path | None) -> Path:
    """The data folder: the one given, else EXCHEQUER_DATA. Raises DataNotFound."""
    found = data_folder(folder)
    if found is None:
        raise DataNotFound(f"the leaderboard needs {name}: pass a data folder or set {SEARCHED}")
    return found


def numbers(texts: npt.NDArray[np.str_]) -> Floats:
    """As numbers, NaN for "?"; shape (n,). Raises ValueError for other words."""
    return np.where(texts == MISSING, "nan", texts).astype(np.float64)


def classified(
    name: str,
    columns: tuple[Column, ...],
    classes: tuple[str, ...],
    table: dict[str, npt.NDArray[Any]],
    texts: npt.NDArray[Any],
    test_rows: slice | None = None,
) -> TableSet:
    """A set whose labels are texts, shape (n,), among `classes`. Raises ValueError for another text."""
    kind: Literal["binary", "multi-class"] = "binary" if len(classes) == 2 else "multi-class"
    bounds = 0.0, float(len(classes) - 1)
    return TableSet(name, kind, columns, classes, bounds, table, places(name, classes, texts), test_rows)


def places(name: str, known: tuple[str, ...], texts: npt.NDArray[Any]) -> Integers:
    """Of each text among the known ones, shape (n,). Raises ValueError that names one which is not."""
    same = np.asarray(texts)[:, np.newaxis] == np.asarray(known)
    stray = ~same.any(axis=1)
    if stray.any():
        raise ValueError(f"{name}: {str(texts[stray][0])!r} is none of {', '.join(map(repr, known))}")
    return np.asarray(np.argmax(same, axis=1), dtype=np.int64)


def columns_of(schema: Schema) -> tuple[Column, ...]:
    """The same public facts. Raises TypeError for a column that holds neither numbers nor categories."""
    found: list[Column] = []
    for column in schema.columns:
        if isinstance(column, Numeric):
            found.append(Column(column.name, column.lower, column.upper))
        elif isinstance(column, Categorical):
            found.append(Column(column.name, categories=tuple(column.categories)))
        else:
            raise TypeError(f"{column.name} holds neither numbers nor categories")
    return tuple(found)


def within_bounds(data: TableSet) -> TableSet:
    """Numbers moved to the nearest bound, missing ones to the middle of the bounds, each by its own record alone.

    Arrays cannot be written to, as they are handed out more than once. Raises ValueError for unknown categories.
    """
    table = {column.name: _frozen(_held(data.name, column, data.table[column.name])) for column in data.columns}
    labels = data.labels if data.classes else np.clip(data.labels.astype(np.float64), *data.label_bounds)
    return attrs.evolve(data, table=table, labels=_frozen(labels))


def _held(name: str, column: Column, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not column.numeric:
        known = np.asarray(column.categories)
        return known[places(f"{name}, {column.name}", column.categories, values)]
    middle = 0.5 * (column.lower + column.upper)
    return np.clip(np.where(np.isnan(values), middle, values), column.lower, column.upper)


def _frozen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values.flags.writeable = False
    return values
