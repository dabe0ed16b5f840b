"""What a value is called as a category, whatever the type it comes in. [records-alone]"""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from learners.kinds.single_values import OutsideSchema, Values

LARGEST_WHOLE: Final = 2.0**53

MISSING_TEXTS: Final = ("", "nan", "None", "<NA>", "NaT")
"""Texts that stand for a missing value, unless a category is called so."""

_TRUTH: Final = {"True": "1", "False": "0"}
_WORDS: Final = {number: word for word, number in _TRUTH.items()}


def elements(values: Values) -> Iterable[object]:
    """The values one by one; time stamps with their units, which Python's types have none for."""
    return values if values.dtype.kind in "mM" else values.tolist()


def category_name(value: object) -> str | None:
    """Stripped text, 1 for 1.0 and for True; None for what is missing: None, NaN, NaT, and pandas' NA.

    Raises OutsideSchema for whole floats from 2^53 on, and bytes that are no ASCII.
    """
    match value:
        case str():
            return value.strip()
        case bool() | np.bool_():
            return str(int(value))
        case float() | np.floating():
            return _float_name(float(value))
        case int():
            return _integer_name(value)
        case bytes():
            return _decoded(value).strip()
        case np.datetime64() | np.timedelta64():
            return None if np.isnat(value) else str(value)
    return None if value is None or type(value).__name__ in ("NAType", "NaTType") else str(value).strip()


def _float_name(value: float) -> str | None:
    if math.isnan(value):
        return None
    if not value.is_integer():
        return str(value)
    if abs(value) >= LARGEST_WHOLE:  # whole numbers become floats where a library has one missing
        raise OutsideSchema(
            f"{value!r} as a category: floats do not tell numbers beyond 2^53 apart. Keep the column as text, or as "
            "whole numbers with missing ones of their own (pandas' Int64)"
        )
    return str(int(value))


def _integer_name(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # beyond some thousand digits Python refuses
        return hex(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        raise OutsideSchema(f"{value!r} as a category: bytes must be ASCII; decode them to text first") from None


def other_names(text: str) -> tuple[str, ...]:
    """How else the value is written: 1, 1.0 and True are one, and so are 0, 0.0 and False; at most below 2^53.

    So a category is found whether a column came as truth values, as numbers, or as the text of either, which pandas and
    Dask make of it where a value is missing.
    """
    number = _TRUTH.get(text) or _whole(text)
    if number is None:
        return ()
    return tuple(name for name in (number, f"{number}.0", _WORDS.get(number, "")) if name not in (text, ""))


def _whole(text: str) -> str | None:
    """The whole number that is written so by Python, as an integer or as a float."""
    try:
        value = float(text)
    except ValueError:
        return None
    if not abs(value) < LARGEST_WHOLE or not value.is_integer():
        return None
    number = str(int(value))
    return number if text in (number, repr(value)) else None
