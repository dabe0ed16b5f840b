"""Counts of records in public partitions, and how far they move: the one place that says so."""

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import CodeArray, FloatArray
from accountant.costs import count, up
from mechanisms.core import L1Sensitivity, L2Sensitivity, Query

Neighbours: TypeAlias = AddRemoveOne | ReplaceOne
"""Relations between samples that differ in one record."""


class Histograms(Protocol):
    """Records in the cells of several public partitions at once."""

    @property
    def partitions(self) -> Sequence[CodeArray]:
        """Per partition the cell of each record, shape (n,)."""

    @property
    def number(self) -> int:
        """How many cells each partition has; public."""


def histograms(data: Histograms) -> FloatArray:
    """Counts, shape (partitions, cells)."""
    return np.stack([np.bincount(cells, minlength=data.number) for cells in data.partitions]).astype(np.float64)


def check_histograms(data: Histograms) -> None:
    """Raise ValueError for a cell that does not exist."""
    for cells in data.partitions:
        if cells.size and not 0 <= int(cells.min()) <= int(cells.max()) < data.number:
            raise ValueError(f"a record is outside the cells 0 … {data.number - 1}")


def _changed(adjacency: Neighbours, partitions: int) -> int:
    """How many counts change by 1: one in each partition, or two where a record is replaced."""
    return count(partitions) * (1 if adjacency == AddRemoveOne() else 2)


def counts_l1(adjacency: Neighbours, partitions: int = 1) -> L1Sensitivity:
    """ℓ1 of all counts of m partitions: m under add-remove-one, 2m under replace-one. [histograms]"""
    return L1Sensitivity(float(_changed(adjacency, partitions)))


def counts_l2(adjacency: Neighbours, partitions: int = 1) -> L2Sensitivity:
    """ℓ2 of the same: √m, and √(2m). [histograms]"""
    return L2Sensitivity(up(math.sqrt(_changed(adjacency, partitions))))


def histogram_query(adjacency: Neighbours, partitions: int) -> Query[Histograms, FloatArray, L2Sensitivity]:
    """Counts of several partitions, for Gaussian noise."""
    sensitivity, claims = counts_l2(adjacency, partitions), ("histograms",)
    return Query(f"histograms({partitions})", histograms, sensitivity, adjacency, claims, check_histograms)
