"""The distinct values of a column, found without sorting where they are small numbers or repeat."""

from collections import defaultdict
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

MOST_SLOTS: Final = 2**16
"""Between the least and the largest whole number of a column, up to which each has a place in a table."""

_HASHED: Final = {str, int, float, bool, type(None)}
"""Types whose equal values may be one key, but for numbers beside truth values or numbers of another type."""

_NUMBERS: Final = {int, float, bool}
"""Types whose values may be equal, as 1 and 1.0 and True are, and yet read differently: dates are no truth values,
and large floats are refused where the integers that they equal are not."""

_TYPED: Final = (str, bytes, np.bool_, np.integer, np.floating)
"""Types of which equal values of the same type read alike."""


@attrs.frozen(eq=False, repr=False)
class Distinct:
    """values: shape (k,), each once or more.  slots: of each, shape (k,).  numbers: each record's slot, shape (n,)."""

    values: npt.NDArray[np.generic]
    slots: npt.NDArray[np.intp]
    numbers: npt.NDArray[np.integer[Any]]

    def spread(self, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Of codes of the values, shape (k,), those of the records, shape (n,)."""
        table = np.zeros(int(self.slots.max(initial=-1)) + 1, dtype=np.intp)
        table[self.slots] = codes
        return np.asarray(table[self.numbers])


def distinct(values: npt.NDArray[np.generic]) -> Distinct:
    """The distinct values of a column, shape (n,), of any type; where it is no quick one, each value for itself."""
    if values.dtype.kind == "b":
        numbers = _in_table(values.view(np.uint8))
        return attrs.evolve(numbers, values=numbers.values.astype(np.bool_))
    if values.dtype.kind in "iu" and values.size:
        return _in_table(values) if int(values.max()) - int(values.min()) < MOST_SLOTS else _sorted(values)
    if values.dtype.kind == "f":
        return _sorted(values)
    if values.dtype.kind in "OSU":
        return _hashed(values)
    return _each(values)


def _each(values: npt.NDArray[np.generic]) -> Distinct:
    every = np.arange(values.size)
    return Distinct(values, every, every)


def _sorted(values: npt.NDArray[Any]) -> Distinct:
    found, numbers = np.unique(values, return_inverse=True)
    return Distinct(found, np.arange(found.size), numbers)


def _in_table(values: npt.NDArray[Any]) -> Distinct:
    """Of whole numbers that are close together: a slot for each between the least and the largest of them."""
    values = values.astype(values.dtype.newbyteorder("="), copy=False)  # or views would read it otherwise
    kind, least = values.dtype, values.dtype.type(0)
    if int(values.min(initial=0)) < 0 or int(values.max(initial=0)) >= MOST_SLOTS:
        least = values.min()
        # Differences may be too large for the type, as 100 − (−100) is, but not for its unsigned twin.
        values = (values - least).view(np.dtype(f"u{kind.itemsize}"))
    if kind.itemsize == 8:
        values = values.view(np.intp)  # what tables are looked up with; the numbers are small
    slots = np.flatnonzero(np.bincount(values))
    return Distinct(slots.astype(kind) + least, slots, values)


def _hashed(values: npt.NDArray[Any]) -> Distinct:
    listed = values.tolist()
    kinds = set(map(type, listed)) if values.dtype.kind == "O" else set()
    if not all(kind in _HASHED or issubclass(kind, _TYPED) for kind in kinds):
        return _each(values)
    alike = kinds <= _HASHED and len(kinds & _NUMBERS) < 2
    keys = listed if alike else list(zip(map(type, listed), listed, strict=True))
    number_of: defaultdict[object, int] = defaultdict()
    number_of.default_factory = number_of.__len__  # whatever is new gets the next number
    numbers = np.fromiter(map(number_of.__getitem__, keys), dtype=np.intp, count=len(keys))
    first = np.empty(len(number_of), dtype=np.intp)
    first[numbers[::-1]] = np.arange(numbers.size)[::-1]
    number_of.default_factory = None  # so that it does not hold itself
    return Distinct(values[first], np.arange(first.size), numbers)
