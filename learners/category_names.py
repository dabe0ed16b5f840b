"""What a value is called as a category, whatever the type it comes in. [records-alone]"""

from typing import Final

import numpy as np
import numpy.typing as npt

from learners.single_values import OutsideSchema, Values

LARGEST_WHOLE: Final = 2.0**53

MISSING_TEXTS: Final = ("", "nan", "None", "<NA>", "NaT")
"""How a missing value reads."""

_TRUTH: Final = {"True": "1", "False": "0"}
_WORDS: Final = {number: word for word, number in _TRUTH.items()}


def as_text(values: Values) -> npt.NDArray[np.str_]:
    """Values as stripped text, each by itself; whole floats lose their `.0`, so that 1.0 and 1 are one category.

    Raises OutsideSchema for an array of floats with whole numbers from 2^53 on, and for bytes that are no ASCII.
    """
    if np.issubdtype(values.dtype, np.floating):
        _refuse_large(values)
    if values.dtype.kind in "fOS":
        values = np.array([plain_text(value) for value in values.tolist()], dtype=np.str_)
    if values.dtype.kind == "b":
        values = values.astype(np.int8)
    return np.char.strip(values.astype(np.str_))


def _refuse_large(values: Values) -> None:
    """Whole numbers that a float cannot tell apart: they became floats as another record of the block had none."""
    large = values[np.isfinite(values) & (np.abs(values.astype(np.float64)) >= LARGEST_WHOLE)]
    if large.size:
        raise OutsideSchema(
            f"{float(large[0])!r} as a category: floats do not tell numbers beyond 2^53 apart. Keep the column "
            "as text, or as whole numbers with missing ones of their own (pandas' Int64)"
        )


def plain_text(value: object) -> str:
    """What a category is called whatever the type it comes in: 1 for 1.0 and for True."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() else str(number)
    if isinstance(value, bytes):
        try:
            return value.decode("ascii")
        except UnicodeDecodeError:
            raise OutsideSchema(f"{value!r} as a category: bytes must be ASCII; decode them to text first") from None
    return str(value)


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
