"""A column as somebody gave it, as values that each stand for themselves. [records-alone]

numpy, asked for an array of `[True, False, "unknown"]`, makes text of all three, so that one record's type says what
becomes of the others; pandas, Polars and Arrow do the like where a number is missing. Here a container of one declared
type keeps it, whatever its values are, and everything else is taken element by element.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping, Set, Sized
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from learners.kinds import Values, is_missing
from learners.tables.arrow_columns import of_arrow
from learners.tables.dictionary_columns import DictionaryColumn, with_missing

_NESTED: Final = (list, tuple, dict, set, np.ndarray)


def library(values: object) -> str:
    """The package that a container, or what it is derived from, comes from: "numpy", "pandas" and so on."""
    known = ("pandas", "polars", "pyarrow", "dask", "dask_expr", "narwhals")
    homes = [base.__module__.partition(".")[0] for base in type(values).__mro__]
    return next((home for home in homes if home in known), homes[0])


def column_values(column: object, what: str) -> Values | DictionaryColumn:
    """A column's values, shape (n,); what: it is called in messages.

    Raises TypeError for a masked array, and ValueError for another shape.
    """
    refuse_masked(column, what)
    found = _values(column, what)
    if not isinstance(found, DictionaryColumn) and found.ndim != 1:
        raise ValueError(f"{what}: expected one value per record, got shape {found.shape}")
    return found


def _values(column: object, what: str) -> Values | DictionaryColumn:
    if isinstance(column, DictionaryColumn):
        return column
    if isinstance(column, np.ndarray):
        return column.astype(object) if column.dtype.kind == "T" else column  # numpy's text of any length
    match library(column):
        case "pandas":
            return _of_pandas(column, what)
        case "polars":
            return _of_polars(column, what)
        case "pyarrow":
            return of_arrow(column)
        case "narwhals":
            return _values(cast("Any", column).to_native(), what)
    return boxed(column, what) if is_list(column) else np.asarray(column)


def is_list(values: object) -> bool:
    """Whether it holds Python objects of any types, in order, for which numpy would look for a common one."""
    if not isinstance(values, Collection) or isinstance(values, Mapping | Set | str | bytes | np.ndarray | memoryview):
        return False
    return not (hasattr(values, "__array__") or hasattr(type(values), "typecode"))  # as array.array has


def boxed(values: object, what: str) -> npt.NDArray[Any]:
    """The elements as they are, shape (n,), as objects. Raises ValueError where one is a container itself."""
    listed = list(cast("Iterable[object]", values))
    found = np.fromiter(listed, dtype=object, count=len(listed))
    if any(issubclass(kind, _NESTED) for kind in set(map(type, listed))):
        place = next(place for place, value in enumerate(listed) if isinstance(value, _NESTED))
        kind = type(listed[place]).__name__
        raise ValueError(
            f"{what}: expected one value per record, got a {kind} at place {place}, as if of shape (n, k); put "
            "records that are dictionaries into a DataFrame first"
        )
    return found


def _of_pandas(column: Any, what: str) -> Values | DictionaryColumn:
    """Of a Series, an Index or an array of an extension; pandas is not imported here."""
    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) or kind is None:  # a table has none
        return np.asarray(column)
    array = getattr(column, "array", column)
    if type(kind).__name__ == "CategoricalDtype":
        values = column_values(array.categories, what)
        return DictionaryColumn(
            np.asarray(array.codes), values.boxed() if isinstance(values, DictionaryColumn) else values
        )
    if type(kind).__name__ == "ArrowDtype":
        return of_arrow(array.__arrow_array__())
    if type(kind).__name__ == "SparseDtype":
        return _of_sparse(array)
    plain = getattr(kind, "numpy_dtype", None)  # of numbers and truth values beside which pandas keeps what is missing
    if isinstance(plain, np.dtype) and plain.kind in "biuf":
        return with_missing(array.to_numpy(dtype=plain, na_value=plain.type(0)), np.asarray(array.isna()))
    return cast("Values", array.to_numpy(dtype=object, na_value=None))


def _of_sparse(array: Any) -> DictionaryColumn:
    """As an array its type would depend on whether there is a gap."""
    values, gap = np.asarray(array.sp_values), array.fill_value
    numbers = np.full(len(array), -1)
    if not is_missing(gap):
        values, numbers[:] = np.append(values, values.dtype.type(gap)), values.size
    numbers[array.sp_index.indices] = np.arange(len(array.sp_values))
    return DictionaryColumn(numbers, values)


def _of_polars(column: Any, what: str) -> Values | DictionaryColumn:
    """Of a Series; Polars is not imported here."""
    kind, name = column.dtype, str(column.dtype)
    if name in _NUMBERS:
        filled = column.fill_null(False if name == "Boolean" else 0)  # with nulls, integers would become floats
        return with_missing(np.asarray(filled), np.asarray(column.is_null()))
    if kind.is_temporal() and name != "Time" and getattr(kind, "time_zone", None) is None:
        return np.asarray(column)
    return boxed(column.to_list(), what)


_NUMBERS: Final = {"Boolean", "Float32", "Float64"} | {
    f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)
}
"""Types of Polars that numpy has too."""


def table_rows(rows: object, what: str) -> npt.NDArray[Any]:
    """A list of records as objects, shape (n, columns); shape (n,) where its elements are no containers.

    what: it is called in messages. Raises ValueError for records of several lengths, and values that are containers.
    """
    listed = list(cast("Iterable[object]", rows))
    kinds = set(map(type, listed))
    if kinds <= {list, tuple}:
        widths = set(map(len, cast("list[Sized]", listed)))
    elif not any(map(_is_row, listed)):
        return boxed(listed, what)
    else:
        widths = {len(cast("Sized", row)) if _is_row(row) else -1 for row in listed}
    if not widths:
        return np.empty((0, 0), dtype=object)
    if len(widths) > 1:
        raise ValueError(f"{what}: expected an array of shape (n, columns), got records of several lengths")
    flat = boxed(itertools.chain.from_iterable(cast("list[Iterable[object]]", listed)), what)
    return flat.reshape(len(listed), widths.pop())


def _is_row(value: object) -> bool:
    return is_list(value) or getattr(value, "ndim", 0) > 0


def refuse_masked(values: object, what: str) -> None:
    """Raise TypeError for a masked array, whose mask numpy would drop without a word."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{what}: masked arrays are not supported; fill them with a public value, as in filled(0)")
