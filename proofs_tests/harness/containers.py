"""The same records in every kind of container that a learner may be given, for `check_records_alone`.

What pandas, Polars and Arrow offer is there where they are installed.
"""

import contextlib
import importlib
import importlib.util
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np

Kind: TypeAlias = Literal["mixed", "truth", "whole", "number", "text", "time"]
"""Of a column's values: anything at all, or of one type; None where a value is missing."""

Record: TypeAlias = tuple[object, ...]
Put: TypeAlias = Callable[[Sequence[Record]], Any]
"""A table of these records, in this order."""

TYPES: Final[Mapping[Kind, Mapping[str, str]]] = {
    "mixed": {},
    "truth": {"numpy": "bool", "pandas": "boolean", "polars": "Boolean", "pyarrow": "bool_"},
    "whole": {"numpy": "int64", "pandas": "Int64", "polars": "Int64", "pyarrow": "int64"},
    "number": {"numpy": "float64", "pandas": "Float64", "polars": "Float64", "pyarrow": "float64"},
    "text": {"numpy": "U40", "pandas": "string", "polars": "String", "pyarrow": "string"},
    "time": {"numpy": "M8[ns]", "pandas": "datetime64[ns]", "polars": "Datetime", "pyarrow": "timestamp"},
}
"""What each library calls a type of values."""

_UNSET: Final[Mapping[Kind, object]] = {"number": float("nan"), "time": np.datetime64("NaT")}


@attrs.frozen
class Columns:
    """What is public of a table: its columns' names and kinds, and the values that may occur in each."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    domains: tuple[tuple[object, ...], ...]

    @property
    def typed(self) -> bool:
        """Whether each column is of one type."""
        return "mixed" not in self.kinds

    def turned(self, records: Sequence[Record]) -> dict[str, list[object]]:
        """The records column by column."""
        return {name: [record[place] for record in records] for place, name in enumerate(self.names)}


def containers(columns: Columns) -> dict[str, Put]:
    """Ways to put records into a table, by name. Those of one type per column are left out where values are mixed."""
    found: dict[str, Put] = {
        "mapping of lists": columns.turned,
        "mapping of deques": lambda records: {name: deque(each) for name, each in columns.turned(records).items()},
        "rows as arrays of objects": lambda records: [_objects(record) for record in records],
        "mapping of tuples": lambda records: {name: tuple(values) for name, values in columns.turned(records).items()},
        "mapping of arrays of objects": lambda records: _each(columns, records, _objects),
        "list of rows": lambda records: [list(record) for record in records],
        "array of objects": lambda records: np.stack(
            [_objects(values) for values in zip(*records, strict=True)], axis=1
        ),
    }
    if columns.typed:
        found["mapping of typed arrays"] = partial(_typed_arrays, columns)
    for name, more in (("pandas", _pandas), ("polars", _polars), ("pyarrow", _pyarrow)):
        if importlib.util.find_spec(name) is not None:
            found |= more(columns)
    return found


def _objects(values: Sequence[object]) -> Any:
    return np.fromiter(values, dtype=object, count=len(values))


def _each(columns: Columns, records: Sequence[Record], make: Callable[[Sequence[object]], Any]) -> dict[str, Any]:
    return {name: make(values) for name, values in columns.turned(records).items()}


def _typed_arrays(columns: Columns, records: Sequence[Record]) -> dict[str, Any]:
    """Where a type has nothing for a missing value, the record is refused, as its user would have to."""
    made = {}
    for (name, values), kind in zip(columns.turned(records).items(), columns.kinds, strict=True):
        if kind not in _UNSET and None in values:
            raise ValueError(f"column {name!r}: {TYPES[kind]['numpy']} has no missing values")
        made[name] = np.array([_UNSET[kind] if value is None else value for value in values], TYPES[kind]["numpy"])
    return made


def _pandas(columns: Columns) -> dict[str, Put]:
    pandas: Any = importlib.import_module("pandas")

    def framed(records: Sequence[Record], types: Callable[[int], object]) -> Any:
        turned = columns.turned(records)
        series = {name: pandas.Series(turned[name], dtype=types(place)) for place, name in enumerate(columns.names)}
        return pandas.DataFrame(series)

    def coded(place: int, values: Sequence[object]) -> Any:
        """By numbers of categories: made of values, pandas would look for a type that all of them have."""
        known = _distinct(columns.domains[place])
        number = {value: next(_places(value, known), -1) for value in columns.domains[place]}
        index = pandas.Index(known, dtype=_STORED[columns.kinds[place]])
        return pandas.Categorical.from_codes([number.get(value, -1) for value in values], index)

    def categories(records: Sequence[Record]) -> Any:
        turned = columns.turned(records)
        return pandas.DataFrame({name: coded(place, turned[name]) for place, name in enumerate(columns.names)})

    found: dict[str, Put] = {
        "pandas, of objects": lambda records: framed(records, lambda _: object),
        "pandas, of categories": categories,
    }
    if columns.typed:
        found["pandas, of its own types"] = lambda records: framed(
            records, lambda place: TYPES[columns.kinds[place]]["pandas"]
        )
        if importlib.util.find_spec("pyarrow") is not None:
            types = _arrow_types(columns)
            found["pandas, on Arrow"] = lambda records: framed(records, lambda place: pandas.ArrowDtype(types[place]))
    return found


def _distinct(values: Iterable[object]) -> list[object]:
    """Each value once, of equal ones the first.

    By equality alone: a day and NumPy's time of that day are equal with two hashes, and pandas, whose table compares
    what falls into one slot without looking at hashes, finds that in one process of fifty only.
    """
    known: list[object] = []
    for value in values:
        if value is not None and value == value and next(_places(value, known), None) is None:
            known.append(value)
    return known


def _places(value: object, known: Sequence[object]) -> Iterator[int]:
    """Where a value that is equal to this one stands: a number that NumPy cannot compare with it is another one."""
    for place, each in enumerate(known):
        with contextlib.suppress(OverflowError), np.errstate(over="ignore"):
            if value == each:
                yield place


_STORED: Final[Mapping[Kind, object]] = {
    **dict.fromkeys(TYPES, object),
    "time": "datetime64[ns]",
    "number": "float64",
    "whole": "int64",
}
"""How pandas keeps categories."""


def _polars(columns: Columns) -> dict[str, Put]:
    if not columns.typed:
        return {}
    polars: Any = importlib.import_module("polars")
    types = {
        name: getattr(polars, TYPES[kind]["polars"]) for name, kind in zip(columns.names, columns.kinds, strict=True)
    }
    return {"Polars": lambda records: polars.DataFrame(columns.turned(records), schema=types)}


def _arrow_types(columns: Columns) -> list[Any]:
    arrow: Any = importlib.import_module("pyarrow")
    return [
        arrow.timestamp("ns") if kind == "time" else getattr(arrow, TYPES[kind]["pyarrow"])() for kind in columns.kinds
    ]


def _pyarrow(columns: Columns) -> dict[str, Put]:
    if not columns.typed:
        return {}
    arrow: Any = importlib.import_module("pyarrow")
    schema = arrow.schema(list(zip(columns.names, _arrow_types(columns), strict=True)))

    def table(records: Sequence[Record]) -> Any:
        return arrow.table({name: _stamps(values) for name, values in columns.turned(records).items()}, schema=schema)

    def coded(records: Sequence[Record]) -> Any:
        plain = table(records)
        return arrow.table({name: plain[name].dictionary_encode() for name in columns.names})

    return {
        "PyArrow": table,
        "PyArrow, of dictionaries": coded,
        "a batch of PyArrow": lambda r: table(r).to_batches()[0],
    }


def _stamps(values: Sequence[object]) -> list[object]:
    return [value.item() if isinstance(value, np.datetime64) else value for value in values]
