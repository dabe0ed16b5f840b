"""Reading tables: DataFrames, arrays and mappings, as columns in a schema's order."""

import inspect
from collections.abc import Collection, Mapping, Sequence, Sized
from typing import Any, Final, NoReturn, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from accountant.arrays import CodeArray, IntArray
from learners.kinds import Date, Values, as_numbers, category_name
from learners.tables.arrow_columns import column_names
from learners.tables.columns import column_values, is_list, library, refuse_masked, table_rows
from learners.tables.dictionary_columns import DictionaryColumn, each_value
from learners.tables.other_libraries import native
from learners.tables.schema import Boolean, Categorical, Column, Label, Numeric, Schema, SchemaError


@runtime_checkable
class Frame(Protocol):
    """What pandas and polars have in common."""

    @property
    def columns(self) -> Sequence[str]:
        """Column names."""

    def __getitem__(self, name: str) -> object:
        """One column."""


Table: TypeAlias = (
    Frame | Mapping[str, Sequence[object] | Values | DictionaryColumn] | Sequence[Sequence[object]] | npt.ArrayLike
)
"""n records: a DataFrame, a mapping of columns, a list of rows or an array of shape (n, columns), in schema order.

A column of a declared type keeps it; of a list, and of columns of objects, each value is read by itself.
"""

BLOCK_READERS: Final[list[type]] = []
"""Learners whose `fit` takes a table in blocks; each says so of itself, see `PrivateEstimator.takes_blocks`."""


def input_names(table: Table) -> list[str] | None:
    """The column names a table carries, None for a bare array. Raises TypeError for sparse input and for blocks."""
    refuse_blocks(table, "X")
    # Before mappings, because one of scipy's formats once was a dictionary.
    if sparse.issparse(table):
        raise TypeError("sparse input is not supported: pass a DataFrame, a mapping of columns or a dense array")
    keys = _keys(table)
    return None if keys is None else [str(key) for key in keys]


def _keys(table: Table) -> list[object] | None:
    """By which a table gives its columns, None for a bare array."""
    if isinstance(table, Mapping):
        return list(table)
    named = column_names(table)
    if named is not None:
        return list(named)
    return list(table.columns) if isinstance(table, Frame) else None


def table_names(table: Table) -> list[str]:
    """The column names a table carries, or x0, x1, … for a bare array. Raises ValueError where there are none."""
    names = input_names(table)
    if names is None:
        return [f"x{number}" for number in range(_matrix(table).shape[1])]
    if not names:
        raise ValueError("the data has no columns: 0 feature(s) while a minimum of 1 is required.")
    return names


def refuse_other_names(seen: Sequence[str], table: Table) -> None:
    """Raise ValueError, as scikit-learn words it, where a table's columns are not those seen in `fit`, in order."""
    given = input_names(table) or []
    if given == list(seen):
        return
    said = ["The feature names should match those that were passed during fit."]
    for what, names in (
        ("Feature names unseen at fit time:", sorted(set(given) - set(seen))),
        ("Feature names seen at fit time, yet now missing:", sorted(set(seen) - set(given))),
    ):
        said += [what, *(f"- {name}" for name in names)] if names else []
    if len(said) == 1:
        said.append("Feature names must be in the same order as they were in fit.")
    raise ValueError("\n".join(said) + "\n")


def encode(table: Table, schema: Schema, *, reader: str = "Schema") -> IntArray:
    """Codes of shape (columns, n). Extra named columns are left out. reader: who asks, for messages.

    Raises ValueError for a missing column, a wrong shape, columns of unequal length or no record at all;
    OutsideSchema for a value the schema does not allow; TypeError for a sparse or a masked array.
    """
    return _encoded(table, schema, reader, np.dtype(np.intp))


def narrow_codes(
    table: Table, schema: Schema, *, reader: str = "Schema", rows: IntArray | None = None, of: int | None = None
) -> CodeArray:
    """The same codes in the narrowest unsigned type that holds those of every column: for many records.

    rows: the records that are encoded, in order; None for all.  of: how many there must be in all, where that is known.
    """
    kind: np.dtype[Any] = np.min_scalar_type(max(column.cells for column in schema.columns) - 1)
    return _encoded(table, schema, reader, kind, rows, of)


def _encoded(
    table: Table,
    schema: Schema,
    reader: str,
    kind: np.dtype[Any],
    rows: IntArray | None = None,
    of: int | None = None,
) -> IntArray:
    values = schema_columns(table, schema, reader)
    if of is not None:
        refuse_other_number(len(values[0]), of)
    codes = np.empty((len(values), len(values[0]) if rows is None else rows.size), dtype=kind)
    for number, (column, given) in enumerate(zip(schema.columns, values, strict=True)):
        codes[number] = each_value(given, column.codes) if rows is None else _some_codes(column, given, rows)
    return codes


def _some_codes(column: Column, given: Values | DictionaryColumn, rows: IntArray) -> IntArray:
    """Of these records; none of the others is looked at. Messages name the row of the table."""
    if isinstance(given, DictionaryColumn):
        some: Values | DictionaryColumn = DictionaryColumn(given.numbers[rows], given.values)
    else:
        some = given[rows]
    return each_value(some, lambda values, row_of: column.codes(values, lambda place: int(rows[row_of(place)])))


def schema_columns(table: Table, schema: Schema, reader: str) -> list[Values | DictionaryColumn]:
    """The schema's columns, in its order, shape (n,) each, n >= 1. reader, and what is raised, as for `encode`."""
    values = _columns(table, schema, reader)
    _records(values)
    return values


def _records(columns: Sequence[Sized]) -> int:
    """How many there are. Raises ValueError for none, or columns of unequal length."""
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise ValueError(f"columns have unequal lengths: {sorted(lengths)}")
    refuse_no_records(min(lengths))
    return lengths.pop()


def _columns(table: Table, schema: Schema, reader: str) -> list[Values | DictionaryColumn]:
    table = native(table)
    names = input_names(table)
    if names is None:
        return _array_columns(_matrix(table), schema, reader)
    missing = [name for name in schema.names if name not in names]
    if missing:
        raise ValueError(f"the data lacks the columns {missing} of the schema; it has {names}")
    if len(set(names)) != len(names):
        raise ValueError(f"the data names a column twice: {names}")
    return [table_column(table, name) for name in schema.names]


def table_column(table: Table, name: str) -> Values | DictionaryColumn:
    """The column that a table calls so, each value as it is, see `learners.tables.columns`; shape (n,). Raises
    KeyError."""
    table = native(table)
    return _column(table, {str(key): key for key in _keys(table) or ()}[name])


def _column(table: Table, key: object) -> Values | DictionaryColumn:
    """One column of a table that names them."""
    column = cast("Mapping[object, object]", table)[key]
    refuse_blocks(column, f"column {str(key)!r}")
    return column_values(column, f"column {str(key)!r}")


def number_table(table: Table) -> npt.NDArray[np.float64]:
    """Columns of finite numbers, shape (n, columns), in rows one after another; copied only where it is otherwise.

    Raises ValueError for another shape, no record, NaN or infinity; TypeError for a sparse or masked array.
    """
    table = native(table)
    names = input_names(table)
    points = _numbers_of(_matrix(table)) if names is None else _named_numbers(table)
    refuse_no_records(points.shape[0])
    # A sum that is finite has finite terms; only where it is not does it take another pass to tell why.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(np.sum(points)) and not np.all(np.isfinite(points)):
            raise ValueError("X holds NaN or infinity; replace it by public values")
    return points


def _numbers_of(array: Values) -> npt.NDArray[np.float64]:
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected real numbers")
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    width = array.shape[1]
    numbers = as_numbers(array.ravel(), "X", lambda place: place // width)
    return np.ascontiguousarray(numbers.reshape(array.shape))


def _named_numbers(table: Table) -> npt.NDArray[np.float64]:
    keys = _keys(table) or []
    columns = [_column(table, key) for key in keys]
    if not columns:
        _no_columns((0, 0))
    points = np.empty((_records(columns), len(columns)))
    for number, (key, column) in enumerate(zip(keys, columns, strict=True)):
        points[:, number] = _column_numbers(column, f"column {str(key)!r}")
    return points


def _column_numbers(column: Values | DictionaryColumn, what: str) -> npt.NDArray[np.float64]:
    return each_value(column, lambda values, row_of: as_numbers(values, what, row_of))


def schema_from_dtypes(
    frame: Frame,
    bounds: Mapping[str, tuple[float, float] | tuple[str, str]] | None = None,
    *,
    bins: int = 10,
    label: Label | None = None,
) -> Schema:
    """The schema that a DataFrame's column names and types spell out; no value is looked at.

    By calling this you declare that the names and types are public, lists of categories included: a
    `pd.CategoricalDtype([...])` that you wrote, or a polars Enum. Do not call it after `astype("category")` or
    `read_csv`, which take the categories and types from the data: that schema would be a release nobody paid for.

    frame: of pandas, polars or another library that names the types of its columns.
    bounds: public lower and upper bounds of the columns of numbers, and of those of dates.
    bins: of equal width, for each of them.
    label: the label, whose column becomes no feature.
    Boolean types need nothing more; any other type is refused. Raises SchemaError.
    """
    given, columns = dict(bounds or {}), list[Column]()
    for key in frame.columns:
        dtype, name = getattr(frame[key], "dtype", None), str(key)
        categories = getattr(dtype, "categories", None)
        if label is not None and name == label.name:
            continue
        if name in given:
            kind = Date if str(dtype).lower().startswith(("date", "timestamp")) else Numeric
            columns.append(kind(name, *cast("tuple[float, float]", given.pop(name)), bins=bins))
        elif isinstance(categories, Collection) and len(categories):  # polars has open lists too
            columns.append(Categorical(name, tuple(str(category_name(category)) for category in categories)))
        elif str(dtype).lower() in ("bool", "boolean"):
            columns.append(Boolean(name))
        else:
            raise SchemaError(
                f"column {name!r} is {dtype}, which says nothing about its domain; give bounds={{{name!r}: (lower, "
                "upper)} from public knowledge, or a type that lists its categories"
            )
    if given:
        raise SchemaError(f"bounds: the frame has no columns {list(given)}")
    return Schema(tuple(columns), label)


def with_dask(table: object) -> bool:
    """Whether it is a collection of Dask, which is not imported here."""
    return library(table) in ("dask", "dask_expr")


def refuse_blocks(values: object, what: str) -> None:
    """Raise TypeError for a table in blocks or a collection of Dask: numpy would gather all of it here."""
    if with_dask(values) or hasattr(type(values), "block_rows"):
        from learners import load_rooms  # here at last: all of them, each of which says whether it does

        load_rooms()
        *others, last = sorted({reader.__name__ for reader in BLOCK_READERS if not inspect.isabstract(reader)})
        raise TypeError(
            f"{what}: a {type(values).__name__} is in blocks, and this takes records that are in memory together. "
            f"{', '.join(others)} and {last} fit tables in blocks; a model's predictions "
            "are asked for one block after another: predict_in_blocks(model, table), with Dask also map_partitions"
        )


def refuse_other_number(records: int, labels: int) -> None:
    """Raise ValueError where there are not as many labels as records."""
    if records != labels:
        raise ValueError(f"X has {records} records, y has {labels}")


def refuse_no_records(number: int) -> None:
    """Raise ValueError, as scikit-learn words it, where there are none."""
    if not number:
        raise ValueError("expected at least one record, got none: 0 sample(s) while a minimum of 1 is required")


def _matrix(table: Table) -> Values:
    """A bare array of two dimensions and at least one column; of a list of records, as objects."""
    refuse_blocks(table, "X")
    refuse_masked(table, "X")
    array = table_rows(table, "X") if is_list(table) else np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"expected an array of shape (n, columns), got shape {array.shape}. Reshape your data: "
            "array.reshape(-1, 1) if it has a single feature, array.reshape(1, -1) if it is a single record"
        )
    if array.shape[1] == 0:
        _no_columns(array.shape)
    return array


def _no_columns(shape: tuple[int, ...]) -> NoReturn:
    raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _array_columns(array: Values, schema: Schema, reader: str) -> list[Values | DictionaryColumn]:
    found, wanted = array.shape[1], len(schema.columns)
    if found != wanted:
        raise ValueError(
            f"X has {found} features, but {reader} is expecting {wanted} features as input: "
            f"the data has {found} columns, the schema {wanted}: {schema.names}"
        )
    return list(array.T)
