"""What programs give: whether two of them are the same, bit by bit, the numbers in them, and copies."""

import copy
import functools
import math
from collections.abc import Iterator, Mapping
from typing import Final

import attrs
import numpy as np

DEEPEST: Final = 30


@attrs.frozen
class Raised:
    """An exception that came out instead of an output."""

    error: str


class CannotCompare(TypeError):
    """An output of which nothing says whether it equals another."""


def copied(value: object) -> object:
    """A copy that a program may change; the thing itself where it cannot be copied."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.copy()
    try:
        return copy.deepcopy(value)
    except Exception:  # whatever somebody else's class raises
        return value


def leaves(value: object, path: str = "output", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The parts of an output that cannot be taken apart, each with the way to it. Raises CannotCompare."""
    if depth > DEEPEST:
        raise CannotCompare(f"{path}: nested more than {DEEPEST} deep")
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic | type | range | Raised):
        yield path, value
    elif isinstance(value, np.ndarray):
        yield from _array(value, path, depth)
    elif isinstance(value, Mapping):
        yield f"{path} keys", [repr(key) for key in value]
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, list | tuple):
        yield f"{path} length", (type(value).__name__, len(value))
        for place, item in enumerate(value):
            yield from leaves(item, f"{path}[{place}]", depth + 1)
    elif isinstance(value, set | frozenset):
        yield path, sorted(map(repr, value))
    else:
        yield from _object(value, path, depth)


def _array(value: np.ndarray, path: str, depth: int) -> Iterator[tuple[str, object]]:
    yield f"{path} shape", (value.shape, str(value.dtype))
    if value.dtype.kind == "O":
        for place, item in enumerate(value.flat):
            yield from leaves(item, f"{path}[{place}]", depth + 1)
    else:
        for place, number in enumerate(value.ravel().tolist()):
            yield f"{path}[{place}]" if value.shape else path, number


def _object(value: object, path: str, depth: int) -> Iterator[tuple[str, object]]:
    yield f"{path} type", type(value).__qualname__
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a data frame
        yield from leaves(value.to_dict(), path, depth + 1)
    elif callable(getattr(value, "tolist", None)):
        yield from leaves(value.tolist(), path, depth + 1)  # type: ignore[attr-defined]  # just looked
    elif isinstance(value, np.random.Generator | np.random.RandomState):
        return  # what it draws is recorded when it does
    elif callable(value) and not hasattr(value, "__dict__"):
        yield path, getattr(value, "__qualname__", "")
    elif isinstance(value, functools.partial):
        yield from leaves((value.func, value.args, value.keywords), path, depth + 1)
    else:
        names = [*getattr(value, "__dict__", {}), *_slots(type(value))]
        if not names and type(value).__eq__ is object.__eq__:
            raise CannotCompare(f"{path}: nothing says whether two of type {type(value).__name__} are equal")
        for name in sorted(set(names)):
            if hasattr(value, name):
                yield from leaves(getattr(value, name), f"{path}.{name}", depth + 1)
        if not names:
            yield path, repr(value)


def _slots(cls: type) -> list[str]:
    found: list[str] = []
    for each in cls.__mro__:
        slots = each.__dict__.get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
    return [name for name in found if not name.startswith("__")]


def same_leaf(one: object, other: object) -> bool:
    """Equal and of the same type; a NaN equals a NaN, and −0 is not 0."""
    if type(one) is not type(other) and not (isinstance(one, float) and isinstance(other, float)):
        return False
    if isinstance(one, float) and isinstance(other, float):
        both = math.isnan(one) and math.isnan(other)
        return both or (one == other and math.copysign(1.0, one) == math.copysign(1.0, other))
    return bool(one == other)


def difference(one: object, other: object) -> str | None:
    """The first part in which two outputs differ, in words; None where they are the same. Raises CannotCompare."""
    first, second = list(leaves(one)), list(leaves(other))
    for (path, left), (way, right) in zip(first, second, strict=False):
        if path != way:
            return f"{path} against {way}"
        if not same_leaf(left, right):
            return f"{path}: {left!r:.60} against {right!r:.60}"
    return None if len(first) == len(second) else f"{len(first)} parts against {len(second)}"


def same(one: object, other: object) -> bool:
    """Whether two outputs are the same, bit by bit. Raises CannotCompare."""
    return difference(one, other) is None


def numbers(output: object) -> list[float]:
    """All numbers in an output, in order."""
    found = (leaf for _, leaf in leaves(output))
    return [float(leaf) for leaf in found if isinstance(leaf, int | float | np.generic) and not isinstance(leaf, bool)]
