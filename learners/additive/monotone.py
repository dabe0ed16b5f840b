"""Effects that must rise or fall with a number, as scikit-learn's `monotonic_cst` says: post-processing of a posterior.

What a column's releases say is learnt as usual. Records are scored with the nearest means that rise, each cell counting
by its known share of the records: noise is averaged before the order takes its half of it. A mean of tables that rise
rises too, and so does the final one. A cell of missing values has no place in the order, and is free.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from accountant.arrays import FloatArray, IntArray
from learners.tables import Numeric, Schema

Constraints: TypeAlias = Mapping[str, int] | Sequence[int] | npt.NDArray[np.integer] | None
"""By name, or one for each column in order: 1 rises, −1 falls, 0 is free. Columns that are not named are free."""

LEAST_WEIGHT: Final = 1e-9
"""Of a cell, so that none is left out of the order."""


def check_constraints(given: Constraints) -> dict[str, int] | list[int] | None:
    """The same as plain values. Raises ValueError for anything else than −1, 0 and 1."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence | np.ndarray):
        raise ValueError(f"expected a mapping of names, or one of -1, 0 and 1 for each column, got {given!r}")
    if isinstance(given, Mapping):
        return {str(name): _direction(value) for name, value in given.items()}
    return [_direction(value) for value in given]


def _direction(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) not in (-1, 0, 1):
        raise ValueError(f"expected -1 (falls), 0 (free) or 1 (rises), got {value!r}")
    return int(value)


def directions(given: Constraints, schema: Schema, classes: int, pairs: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """One per column of the schema, () where all are free. classes: K.  pairs: that have an effect of their own.

    Raises ValueError for a name that the schema lacks, another number of columns, and for constraints on a column of
    categories or truth values, on one of a pair, or for more than two classes.
    """
    found = check_constraints(given)
    if isinstance(found, list) and len(found) != len(schema.columns):
        raise ValueError(f"monotonic_cst: {len(found)} constraints for {len(schema.columns)} columns")
    if isinstance(found, dict) and (unknown := [name for name in found if name not in schema.names]):
        raise ValueError(f"monotonic_cst: there is no column {unknown[0]!r}; the columns are {schema.names}")
    each = [found.get(name, 0) for name in schema.names] if isinstance(found, dict) else found or []
    held = [column for column, direction in zip(schema.columns, each, strict=False) if direction]
    for column in held:
        if not isinstance(column, Numeric):
            kind = type(column).__name__.lower()
            raise ValueError(f"monotonic_cst: column {column.name!r} is {kind}; only columns of numbers have an order")
        if any(column.name in pair for pair in pairs):
            raise ValueError(
                f"monotonic_cst: column {column.name!r} is in a pair of `interactions`, whose effect follows no order; "
                "drop the pair or the constraint"
            )
    if held and classes > 2:
        raise ValueError(f"monotonic_cst: for two classes only: among {classes} no score has a direction of its own")
    return tuple(each) if held else ()


def in_bins(values: FloatArray, mass: FloatArray, part: IntArray) -> FloatArray:
    """Means over the cells of each bin, shape (bins,). mass: weight of each cell, > 0."""
    return np.asarray(np.bincount(part, mass * values) / np.bincount(part, mass))


def monotone(means: FloatArray, mass: FloatArray, direction: int, own: bool) -> FloatArray:
    """The nearest means that rise (1) or fall (−1), exactly so, shape (cells,).

    mass: weight of each cell, >= 0.  own: whether the last cell is that of missing values, which stays as it is.
    """
    cells = means.size - own
    rising = isotonic_regression(direction * means[:cells], sample_weight=np.maximum(mass[:cells], LEAST_WEIGHT))
    # Whatever was rounded where neighbours were put together: the order holds to the last bit.
    ordered = direction * np.maximum.accumulate(np.asarray(rising, dtype=np.float64))
    return np.append(ordered, means[cells:])
