"""Clipped residuals times public features of the cells that records are in, summed: what additive regression descends.

Residuals and features are whole numbers, and sums of whole numbers below 2^53 are exact in floating point: what a
record adds depends on the record and on what was released alone, and no rounding enlarges a sensitivity.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne
from accountant.arrays import ExactArray, FloatArray, IntArray
from mechanisms.core import Block, L2Sensitivity, Query, Rows, SealedRepr
from mechanisms.gradients.gradient_sums import WEIGHT_ONE
from mechanisms.queries import Neighbours

RESIDUAL_ONE: Final = 2**8
"""Residuals are whole multiples of the clip over this."""

FEATURE_ONE: Final = 2**12
"""Features are whole multiples of 1/FEATURE_ONE."""

MOST_RESIDUAL_RECORDS: Final = 2**23
"""Weighted sums of more records could leave the integers that floating point holds exactly."""


@attrs.frozen(eq=False)
class CellFeatures:
    """Features of records that depend on the cells of one public partition.

    cells: of each record, shape (n,), in 0 … len(table) − 1.
    table: features of each cell, in 1/FEATURE_ONE, shape (cells, k); public.
    """

    cells: IntArray = attrs.field(repr=False)
    table: IntArray

    @property
    def longest(self) -> int:
        """The largest squared length of a cell's features, in 1/FEATURE_ONE²."""
        return int(np.max(np.sum(self.table.astype(np.int64) ** 2, axis=1), initial=0))


class Residuals(Protocol):
    """Records with residuals, features and weights, each a function of the record and of what is public or released."""

    @property
    def residuals(self) -> IntArray:
        """In 1/RESIDUAL_ONE of the clip, shape (n,); what is beyond the clip counts as the clip."""

    @property
    def features(self) -> Sequence[CellFeatures]:
        """Of several partitions, of length at most 1 together, whatever the cells."""

    @property
    def weights(self) -> npt.NDArray[np.int32] | None:
        """In 0 … WEIGHT_ONE, shape (n,); None weighs every record WEIGHT_ONE."""


def whole_features(values: FloatArray) -> IntArray:
    """Rounded towards 0 to whole 1/FEATURE_ONE, so that none gets longer. values: shape (cells, k)."""
    return np.trunc(values * FEATURE_ONE).astype(np.int64)


@attrs.frozen(eq=False, repr=False)
class ResidualRows(SealedRepr):
    """`Residuals` of records in blocks, wherever they are, without weights.

    seen: from some of them to theirs.  tables: of their features, see `CellFeatures`; public.
    """

    rows: Rows[Any]
    seen: Callable[[Any], Residuals]
    tables: tuple[IntArray, ...]


@attrs.frozen(eq=False)
class CellResiduals:
    """Σ clip(r) of a block by cell, partition after partition, whole numbers; shape (Σ cells,). Parts: of the rows."""

    seen: Callable[[Any], Residuals]
    tables: tuple[IntArray, ...]

    def __call__(self, block: Block[Any]) -> ExactArray:
        """Raises ValueError for cells that do not fit, and for weights."""
        found = self.seen(block.data)
        check_residuals(found)
        if found.weights is not None:
            raise ValueError("expected no weights in blocks")
        pulls = np.clip(found.residuals, -RESIDUAL_ONE, RESIDUAL_ONE).astype(np.float64)
        sums = [
            np.bincount(each.cells, weights=pulls, minlength=len(table)).astype(np.int64)
            for each, table in zip(found.features, self.tables, strict=True)
        ]
        return np.concatenate(sums)


def residual_moments(data: Residuals | ResidualRows) -> FloatArray:
    """Σ w·clip(r)·φ over all records, partition after partition, clip and the longest φ being 1; shape (Σ k,)."""
    unit = float(RESIDUAL_ONE * FEATURE_ONE)
    if isinstance(data, ResidualRows):
        ends = np.cumsum([len(table) for table in data.tables])[:-1]
        whole = data.rows.total(CellResiduals(data.seen, data.tables)).astype(np.float64)
        return _moments(np.split(whole, ends), data.tables, unit)
    clipped = np.clip(data.residuals, -RESIDUAL_ONE, RESIDUAL_ONE).astype(np.float64)
    if data.weights is not None:
        clipped, unit = clipped * data.weights, unit * WEIGHT_ONE
    sums: list[FloatArray] = [
        np.asarray(np.bincount(each.cells, weights=clipped, minlength=len(each.table)), dtype=np.float64)
        for each in data.features
    ]
    return _moments(sums, [each.table for each in data.features], unit)


def _moments(sums: Sequence[FloatArray], tables: Sequence[IntArray], unit: float) -> FloatArray:
    """Of each partition's cells, in doubles that hold whole numbers below 2^53."""
    found = [each @ table.astype(np.float64) for each, table in zip(sums, tables, strict=True)]
    return np.asarray(np.concatenate(found) / unit)


def check_residuals(data: Residuals | ResidualRows) -> None:
    """Raise ValueError for cells or weights that do not fit, too many records, or features that are too long.

    Blocks are checked when they are visited; what is public of them, at once.
    """
    n = data.rows.n if isinstance(data, ResidualRows) else data.residuals.size
    if n > MOST_RESIDUAL_RECORDS:
        raise ValueError(f"expected at most {MOST_RESIDUAL_RECORDS} records, got {n}")
    if isinstance(data, ResidualRows):
        _refuse_long([CellFeatures(np.zeros(0, dtype=np.intp), table) for table in data.tables])
        return
    for each in data.features:
        if each.cells.shape != (n,) or np.any((each.cells < 0) | (each.cells >= len(each.table))):
            raise ValueError(f"expected {n} cells from 0 to {len(each.table) - 1}")
    _refuse_long(data.features)
    weights = data.weights
    if weights is not None and (weights.shape != (n,) or np.any((weights < 0) | (weights > WEIGHT_ONE))):
        raise ValueError(f"expected {n} weights from 0 to {WEIGHT_ONE}")


def _refuse_long(features: Sequence[CellFeatures]) -> None:
    if (length := sum(each.longest for each in features)) > FEATURE_ONE**2:
        raise ValueError(f"expected features of length at most 1, got {math.sqrt(length) / FEATURE_ONE}")


def residual_sensitivity(adjacency: Neighbours) -> L2Sensitivity:
    """ℓ2 of all moments together: 1 under add-remove-one, 2 under replace-one. [residual-moments]

    A record adds w·r·φ with |r| <= 1, w in [0, 1] and ‖φ‖ <= 1. Both are attained: by a feature that is 1 in a cell,
    and there by two residuals at either end.
    """
    return L2Sensitivity(1.0 if adjacency == AddRemoveOne() else 2.0)


def residual_query(adjacency: Neighbours) -> Query[Residuals | ResidualRows, FloatArray, L2Sensitivity]:
    """`residual_moments`, for Gaussian noise."""
    sensitivity, claims = residual_sensitivity(adjacency), ("residual-moments",)
    return Query("residual-moments", residual_moments, sensitivity, adjacency, claims, check_residuals)
