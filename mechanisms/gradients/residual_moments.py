"""Clipped residuals times public features of the cells that records are in, summed: what additive regression descends.

Residuals and features are whole numbers, and sums of whole numbers below 2^53 are exact in floating point: what a
record adds depends on the record and on what was released alone, and no rounding enlarges a sensitivity.
"""

import math
from collections.abc import Sequence
from typing import Final, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne
from accountant.arrays import FloatArray, IntArray
from mechanisms.core import L2Sensitivity, Query
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


def residual_moments(data: Residuals) -> FloatArray:
    """Σ w·clip(r)·φ over all records, partition after partition, clip and the longest φ being 1; shape (Σ k,)."""
    clipped = np.clip(data.residuals, -RESIDUAL_ONE, RESIDUAL_ONE).astype(np.float64)
    unit = float(RESIDUAL_ONE * FEATURE_ONE)
    if data.weights is not None:
        clipped, unit = clipped * data.weights, unit * WEIGHT_ONE
    sums = [
        np.bincount(each.cells, weights=clipped, minlength=len(each.table)) @ each.table.astype(np.float64)
        for each in data.features
    ]
    return np.asarray(np.concatenate(sums) / unit)


def check_residuals(data: Residuals) -> None:
    """Raise ValueError for cells or weights that do not fit, too many records, or features that are too long."""
    n = data.residuals.size
    if n > MOST_RESIDUAL_RECORDS:
        raise ValueError(f"expected at most {MOST_RESIDUAL_RECORDS} records, got {n}")
    for each in data.features:
        if each.cells.shape != (n,) or np.any((each.cells < 0) | (each.cells >= len(each.table))):
            raise ValueError(f"expected {n} cells from 0 to {len(each.table) - 1}")
    if (length := sum(each.longest for each in data.features)) > FEATURE_ONE**2:
        raise ValueError(f"expected features of length at most 1, got {math.sqrt(length) / FEATURE_ONE}")
    weights = data.weights
    if weights is not None and (weights.shape != (n,) or np.any((weights < 0) | (weights > WEIGHT_ONE))):
        raise ValueError(f"expected {n} weights from 0 to {WEIGHT_ONE}")


def residual_sensitivity(adjacency: Neighbours) -> L2Sensitivity:
    """ℓ2 of all moments together: 1 under add-remove-one, 2 under replace-one. [residual-moments]

    A record adds w·r·φ with |r| <= 1, w in [0, 1] and ‖φ‖ <= 1. Both are attained: by a feature that is 1 in a cell,
    and there by two residuals at either end.
    """
    return L2Sensitivity(1.0 if adjacency == AddRemoveOne() else 2.0)


def residual_query(adjacency: Neighbours) -> Query[Residuals, FloatArray, L2Sensitivity]:
    """`residual_moments`, for Gaussian noise."""
    sensitivity, claims = residual_sensitivity(adjacency), ("residual-moments",)
    return Query("residual-moments", residual_moments, sensitivity, adjacency, claims, check_residuals)
