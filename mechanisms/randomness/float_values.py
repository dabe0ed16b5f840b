"""What a query gave, as floats: exactly, or not at all."""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray

MOST_EXACT: Final = 2**53
"""Floats hold every whole number up to this one, of either sign."""


def as_floats(values: object, what: str = "values") -> FloatArray:
    """The same numbers in double precision, in the same shape: an array, a number or a list of numbers.

    values: floats of at most 64 bits, whole numbers up to 2^53 or truth values.
    Raises ValueError for others: rounding them would move two values apart by more than the sensitivity says. So does a
    masked array, whose masked values a query does not mean and noise would be added to.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{what}: expected no masked array; give its .filled(...) values")
    if not isinstance(values, np.ndarray | np.generic | float):
        return _one_by_one(values, what)
    given = np.asarray(values)
    if given.dtype == np.float64:
        return given
    if given.dtype.kind not in "biuf" or given.dtype.itemsize > 8:
        raise ValueError(f"{what}: expected real numbers of at most 64 bits, got an array of {given.dtype}")
    if given.dtype.kind in "iu" and given.size and max(int(given.max()), -int(given.min())) > MOST_EXACT:
        raise ValueError(f"{what}: floats do not tell whole numbers beyond 2^53 apart; count in a larger unit")
    return given.astype(np.float64)


def _one_by_one(values: object, what: str) -> FloatArray:
    """Of a number or a list of them, which numpy would round as a whole: [2^60 + 1, 0.5] is an array of floats."""
    try:
        each = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError(f"{what}: expected rows of one length ({error})") from None
    if any(isinstance(value, list | tuple) for value in each.flat):
        raise ValueError(f"{what}: expected rows of one length")
    found = [float(as_floats(np.asarray(value), what)) for value in each.flat]
    return np.array(found, dtype=np.float64).reshape(each.shape)
