"""Counts of records in public partitions, and how far they move: the one place that says so."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import CodeArray, ExactArray, FloatArray
from accountant.costs import count, up
from mechanisms.core import Block, L1Sensitivity, L2Sensitivity, Query, Rows, SealedRepr

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


@attrs.frozen(eq=False, repr=False)
class Partitions(SealedRepr):
    """`Histograms` of arrays. partitions: the cells of each record, shape (n,) each.  number: of cells; public."""

    partitions: list[CodeArray]
    number: int


def histograms(data: Histograms) -> FloatArray:
    """Counts, shape (partitions, cells)."""
    return np.stack([np.bincount(cells, minlength=data.number) for cells in data.partitions]).astype(np.float64)


@attrs.frozen(eq=False, repr=False)
class HistogramRows(SealedRepr):
    """`Histograms` of records in blocks, wherever they are.

    seen: from some of them to their cells.  size: how many partitions there are.  number: of cells of each; public.
    """

    rows: Rows[Any]
    seen: Callable[[Any], Histograms]
    size: int
    number: int


def histograms_of_rows(data: HistogramRows) -> FloatArray:
    """`histograms` of all blocks together."""
    return data.rows.total(BlockCounts(data.seen, data.size, data.number)).astype(np.float64)


@attrs.frozen(eq=False)
class BlockCounts:
    """`histograms` of a block, shape (size, number), in whole numbers. Parts: see `HistogramRows`."""

    seen: Callable[[Any], Histograms]
    size: int
    number: int

    def __call__(self, block: Block[Any]) -> ExactArray:
        """Raises ValueError for other partitions than it was said."""
        found = self.seen(block.data)
        check_histograms(found)
        size, number = len(found.partitions), found.number
        if (size, number) != (self.size, self.number):
            raise ValueError(f"expected {self.size} partitions of {self.number} cells, got {size} of {number}")
        return np.stack([np.bincount(cells, minlength=number) for cells in found.partitions])


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


def histogram_rows_query(adjacency: Neighbours, partitions: int) -> Query[HistogramRows, FloatArray, L2Sensitivity]:
    """The same of records in blocks, whose cells follow from codes that were checked when they were encoded."""
    plain = histogram_query(adjacency, partitions)
    return Query(plain.name, histograms_of_rows, plain.sensitivity, adjacency, plain.claims, _nothing)


def any_histogram_query(
    adjacency: Neighbours, partitions: int
) -> Query[Histograms | HistogramRows, FloatArray, L2Sensitivity]:
    """The same of records in memory or in blocks."""
    plain = histogram_query(adjacency, partitions)

    def counted(data: Histograms | HistogramRows) -> FloatArray:
        return histograms_of_rows(data) if isinstance(data, HistogramRows) else histograms(data)

    def checked(data: Histograms | HistogramRows) -> None:
        if not isinstance(data, HistogramRows):
            check_histograms(data)

    return Query(plain.name, counted, plain.sensitivity, adjacency, plain.claims, checked)


def _nothing(data: HistogramRows) -> None:
    """Blocks are checked when they are visited."""
