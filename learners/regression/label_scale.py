"""How far numbers lie from 0, from one noisy histogram: in cells whose widths rise by √2, so that no bound is tight."""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from mechanisms.queries import Partitions

SCALES: Final = 24
"""Cells, each √2 wider than the one before: they tell 1 from 1/2896."""

FINER: Final = 6
"""Cells of residuals for intervals, for each doubling."""

SIDE: Final = 48
"""Of them, on either side of 0."""

SPREAD: Final = 0.68
"""Share of the numbers within one deviation."""


def distances(values: FloatArray, largest: float) -> Partitions:
    """The cells of |value|, of which the last holds all beyond `largest`. values: shape (n,)."""
    cells = np.searchsorted(edges(largest), np.abs(values), side="left")
    return Partitions([np.minimum(cells, SCALES - 1)], SCALES)


def signed_distances(values: FloatArray, largest: float) -> Partitions:
    """SIDE finer cells on either side: negative ones in falling order of distance first. values: shape (n,)."""
    cells = np.minimum(np.searchsorted(fine_edges(largest), np.abs(values), side="left"), SIDE - 1)
    return Partitions([np.where(values < 0.0, SIDE - 1 - cells, SIDE + cells)], 2 * SIDE)


def edges(largest: float) -> FloatArray:
    """Upper ends of the cells, shape (SCALES,); the last stands for all beyond, too."""
    return np.asarray(largest * 2.0 ** (-0.5 * np.arange(SCALES)[::-1]))


def fine_edges(largest: float) -> FloatArray:
    """Upper ends of the cells on one side, shape (SIDE,); the last stands for all beyond, too."""
    return np.asarray(largest * 2.0 ** (-np.arange(SIDE)[::-1] / FINER))


def deviation(counts: FloatArray, sigma: float, largest: float) -> float:
    """The distance within which SPREAD of the numbers lie, from noisy counts of the cells; within the edges.

    counts: shape (SCALES,), with noise N(0, sigma²); what noise explains counts as none.
    """
    kept, ends = np.where(counts > sigma, counts, 0.0), edges(largest)
    below = np.cumsum(kept) / max(float(kept.sum()), 1.0)
    cell = min(int(np.searchsorted(below, SPREAD)), SCALES - 1)
    before = float(below[cell - 1]) if cell else 0.0
    share = (SPREAD - before) / max(float(below[cell]) - before, 1e-9)
    return float(ends[cell] * 2.0 ** (-0.5 * (1.0 - min(max(share, 0.0), 1.0))))
