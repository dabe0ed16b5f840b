"""Labelled points of a public ball, as halfspaces are learnt from: scaled into the unit ball without a copy."""

import math
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from boosting.measures import FloatArray, IntArray
from boosting.schema import SignArray

BLOCK: Final = 1 << 17
"""Numbers of a block, a megabyte: it stays in a core's cache until it is read the second time."""


@attrs.frozen(slots=False, eq=False)
class PointSample:
    """Points, each scaled into the ball of the public radius where it lies outside, with labels.

    points: shape (n, d), float64, finite, in rows one after another.  labels: shape (n,), each −1 or +1.
    radius: R > 0, public.  constant: a further coordinate of every point, 0 for none; at most R.
    """

    points: FloatArray
    labels: SignArray
    radius: float
    constant: float = 0.0

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    @property
    def dimension(self) -> int:
        """d, the constant's coordinate included."""
        return int(self.points.shape[1]) + (self.constant != 0.0)

    @property
    def reach(self) -> float:
        """The radius of the ball that holds the points with their constant."""
        return math.hypot(self.radius, self.constant)

    @cached_property
    def signed(self) -> FloatArray:
        """yᵢ·min(1, R/|xᵢ|)/reach, shape (n,): what takes a point into the unit ball, with its label's sign."""
        squares = np.empty(self.n)
        with np.errstate(over="ignore"):  # a point whose length overflows is scaled to 0, which is in the ball
            for block in self.blocks():
                squares[block] = np.einsum("ij,ij->i", self.points[block], self.points[block])
        return np.asarray(self.labels * (self.radius / np.maximum(np.sqrt(squares), self.radius)) / self.reach)

    def blocks(self) -> list[slice]:
        """All records, a megabyte at a time."""
        rows = max(64, BLOCK // self.points.shape[1])
        return [slice(start, start + rows) for start in range(0, self.n, rows)]

    def agreements(self, normal: FloatArray, block: slice = slice(None)) -> FloatArray:
        """yᵢ·(normal·x̃ᵢ) of the points x̃ᵢ in the unit ball, shape (rows,). normal: shape (dimension,)."""
        if not self.constant:
            return np.asarray(self.signed[block] * (self.points[block] @ normal))
        inside = self.signed[block] * (self.points[block] @ normal[:-1])
        return np.asarray(inside + self.labels[block] * (normal[-1] * self.constant / self.reach))

    def pulled(self, weights: FloatArray, rows: slice | IntArray = slice(None)) -> FloatArray:
        """Σ wᵢ·yᵢ·x̃ᵢ over these rows, shape (dimension,). weights: shape (rows,)."""
        total = (weights * self.signed[rows]) @ self.points[rows]
        if not self.constant:
            return np.asarray(total)
        return np.append(total, (weights @ self.labels[rows]) * self.constant / self.reach)
