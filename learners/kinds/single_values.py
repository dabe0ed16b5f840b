"""Values of one column, each read by itself, as a number. [records-alone]"""

import math
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from accountant.explained import Explained

"""Codes of any integer type: small ones are read faster."""
Values: TypeAlias = npt.NDArray[np.generic]

RowOf: TypeAlias = Callable[[int], int]
"""Which record, of those of the table, has the value at a place; for messages."""

CONTAINS_NAN: Final = "Input X contains NaN."


class OutsideSchema(Explained, ValueError):
    """A value that the schema does not allow. Names the column, the row and the remedy."""


class NotANumber(OutsideSchema, TypeError):
    """A value of a type that no number can be made of."""


def same_row(place: int) -> int:
    """Of values that stand in their records' places."""
    return place


def is_missing(value: object) -> bool:
    """Whether the value is None, NaN, NaT, or what pandas says for them (pandas is not imported here)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def as_numbers(values: Values, what: str, row_of: RowOf = same_row) -> npt.NDArray[np.float64]:
    """The values as numbers, shape (n,), NaN where there is none; of text, what it says. what: for messages.

    Raises OutsideSchema for anything else: text that is no number, complex numbers, time stamps, objects.
    """
    if values.dtype.kind in "cmM":
        said = "Complex data not supported: " if values.dtype.kind == "c" else ""
        raise OutsideSchema(f"{what}: {said}{values.dtype} data is not supported, only numbers")
    if values.dtype.kind == "O":
        values = _of_objects(values, what, row_of)
    try:
        return np.asarray(values, dtype=np.float64)  # a type that is asked for: each value is converted by itself
    except (TypeError, ValueError, OverflowError):
        place, value = next((place, value) for place, value in enumerate(values.tolist()) if not _is_number(value))
        said = f"{what}, row {row_of(place)}: {value!r} is not a number"
        if isinstance(value, str | int):
            raise OutsideSchema(said) from None
        raise NotANumber(f"{said}; float() argument must be a string or a real number") from None


def _of_objects(values: Values, what: str, row_of: RowOf) -> Values:
    """With NaN for pandas' NA. Raises NotANumber for scalars of numpy whose unit or imaginary part would be dropped."""
    listed = values.tolist()
    wrong = tuple(kind for kind in set(map(type, listed)) if issubclass(kind, _UNLIKE))
    if wrong:
        place = next(place for place, value in enumerate(listed) if isinstance(value, wrong))
        said = f"{what}, row {row_of(place)}: a {type(listed[place]).__name__} is not a number"
        raise NotANumber(f"{said}; float() argument must be a string or a real number")
    if "NAType" not in {kind.__name__ for kind in set(map(type, listed))}:
        return values
    return np.array([math.nan if type(value).__name__ == "NAType" else value for value in listed], dtype=object)


_UNLIKE: Final = (np.datetime64, np.timedelta64, np.complexfloating)


def _is_number(value: object) -> bool:
    if value is None:  # which numpy takes for NaN
        return True
    try:
        float(cast("float", value))
    except (TypeError, ValueError, OverflowError):
        return False
    return True
