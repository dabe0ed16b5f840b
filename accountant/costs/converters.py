"""Converters that refuse a bad number when an object is constructed.

They test "inside the range", so NaN fails every one of them; they are attrs converters rather than
validators, because `attrs.validators.set_disabled` can switch validators off for the whole process.
"""

import math
from numbers import Integral, Real


def _real(value: float, wanted: str) -> float:
    if type(value) is float:  # by far the most frequent case; an ABC check costs ten times as much
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"expected {wanted}, got {value!r} of type {type(value).__name__}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"expected {wanted}, got one that no float holds") from error


def positive(value: float) -> float:
    """A finite number above zero."""
    number = _real(value, "a positive finite number")
    if not 0.0 < number < math.inf:
        raise ValueError(f"expected a positive finite number, got {value!r}")
    return number


def non_negative(value: float) -> float:
    """A finite number, zero allowed."""
    number = _real(value, "a non-negative finite number")
    if not 0.0 <= number < math.inf:
        raise ValueError(f"expected a non-negative finite number, got {value!r}")
    return number + 0.0  # turns -0.0 into 0.0, so that equal costs print and hash alike


def probability_below_one(value: float) -> float:
    """A number in [0, 1): a δ, which says nothing at 1."""
    number = _real(value, "a number in [0, 1)")
    if not 0.0 <= number < 1.0:
        raise ValueError(f"expected a number in [0, 1), got {value!r}")
    return number + 0.0


def probability(value: float) -> float:
    """A number in [0, 1]."""
    number = _real(value, "a number in [0, 1]")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"expected a number in [0, 1], got {value!r}")
    return number + 0.0


def open_probability(value: float) -> float:
    """A number strictly between 0 and 1."""
    number = _real(value, "a number in (0, 1)")
    if not 0.0 < number < 1.0:
        raise ValueError(f"expected a number in (0, 1), got {value!r}")
    return number


def fraction(value: float) -> float:
    """A number in (0, 1]: a density, a share."""
    number = _real(value, "a number in (0, 1]")
    if not 0.0 < number <= 1.0:
        raise ValueError(f"expected a number in (0, 1], got {value!r}")
    return number


def count(value: int) -> int:
    """A whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not int(value) >= 1:
        raise ValueError(f"expected a whole number of at least 1, got {value!r}")
    return int(value)
