"""Which values of a column of numbers are missing, each judged by itself, whatever its container. [records-alone]"""

import contextlib
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from learners.kinds.category_names import MISSING_TEXTS
from learners.kinds.distinct_values import distinct
from learners.kinds.single_values import OutsideSchema, RowOf, Values, as_numbers, is_missing, same_row

_TEXTS: Final = frozenset(MISSING_TEXTS)


def numbers_or_nan(
    values: Values, what: str, row_of: RowOf = same_row, *, others: bool = False
) -> npt.NDArray[np.float64]:
    """The values as numbers, shape (n,), NaN where one is missing. what: for messages.  others: whether what is no
    number counts as missing.

    Missing are None, NaN, NaT and pandas' NA, and text that is empty or says one of these. Raises OutsideSchema for
    anything else that is no number, as `as_numbers` does.
    """
    kind = values.dtype.kind
    if kind not in "OUSmM":
        return as_numbers(values, what, row_of)
    if others and kind not in "mM":
        return _read_alone(values)
    missing = gaps(values)
    if values.size and not missing.any():
        return as_numbers(values, what, row_of)
    # What is there is read as it would be without them: alone, so that their types change nothing about it.
    there = np.flatnonzero(~missing)
    found = np.full(values.size, np.nan)
    if there.size:
        found[there] = as_numbers(values[there], what, lambda place: row_of(int(there[place])))
    return found


def _read_alone(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """NaN for whatever is no number, shape (n,). Each distinct value is read once, by itself."""
    found = distinct(values)
    try:
        numbers = as_numbers(found.values, "")
    except OutsideSchema:
        numbers = np.fromiter(map(_number, found.values.tolist()), dtype=np.float64, count=found.values.size)
    return numbers[found.spread(np.arange(numbers.size))]


def _number(value: object) -> float:
    if isinstance(value, str):  # in a tenth of the time
        with contextlib.suppress(ValueError):
            return float(value)
        return math.nan
    with contextlib.suppress(OutsideSchema):
        return float(as_numbers(np.array([value], dtype=object), "")[0])
    return math.nan


def gaps(values: Values) -> npt.NDArray[np.bool_]:
    """Which values are missing, or are text that says so; shape (n,)."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind not in "OUS":
        return np.zeros(values.shape, dtype=np.bool_)
    listed = values.tolist()
    if set(map(type, listed)) == {str}:  # in a quarter of the time
        return np.fromiter(map(_TEXTS.__contains__, map(str.strip, listed)), dtype=np.bool_, count=values.size)
    return np.fromiter(map(_is_gap, listed), dtype=np.bool_, count=values.size)


def _is_gap(value: object) -> bool:
    if isinstance(value, str):
        return value.strip() in _TEXTS
    if isinstance(value, bytes):
        return value.strip() in _BYTES
    return is_missing(value)


_BYTES: Final = frozenset(text.encode("ascii") for text in MISSING_TEXTS)
