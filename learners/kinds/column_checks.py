"""What names, bounds and cuts of a schema's columns must be."""

from collections.abc import Sequence

import numpy as np

from accountant.explained import Explained


class SchemaError(Explained, ValueError):
    """A schema that contradicts itself, or cannot be read."""


def named(value: str) -> str:
    """A column's name. Raises SchemaError for anything but text."""
    if not isinstance(value, str) or not value:
        raise SchemaError(f"a column needs a name, got {value!r}")
    return value


def finite(value: float) -> float:
    """A bound or a cut. Raises SchemaError."""
    number = float(value)
    if isinstance(value, bool) or not np.isfinite(number):
        raise SchemaError(f"bounds and cuts must be finite numbers, got {value!r}")
    return number


def cuts_of(values: Sequence[float]) -> tuple[float, ...]:
    """Inner cut points. Raises SchemaError."""
    return tuple(finite(value) for value in values)


def bins_of(value: int) -> int:
    """A number of bins. Raises SchemaError for fewer than two."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 2:
        raise SchemaError(f"expected at least 2 bins, got {value!r}")
    return value
