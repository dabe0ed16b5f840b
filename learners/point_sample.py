"""Labelled points of a public ball, as halfspaces are learnt from, each scaled into the unit ball.

Two ways of keeping them: as they came, in double precision, or as a copy in single precision, half as large. A round
reads its points twice from memory, so the copy takes half of the time; what single precision adds to the sensitivity of
a sum is proved, and charged.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final, Protocol, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from boosting.measures import FloatArray
from boosting.schema import SignArray
from mechanisms.queries import BLOCK, MEAN_ROUNDING, public_radius, refuse_sizes, row_lengths

PARTS: Final = 4
"""Of the rows, which threads share, as many as there are cores; a fixed number, so that sums do not depend on it."""

UNTHREADED: Final = 1 << 18
"""Numbers of a product that BLAS leaves to the thread which asks for it: threads of its own would be in the way."""

GROUP: Final = 16
"""Rows that are summed in single precision; groups are added up in double precision."""

SINGLE_ROUNDING: Final = 38 * 2.0**-24
"""How far two means by `SinglePoints` may be apart beyond what exact ones are, in ℓ2.

With u = 2^-24: a weight is rounded, relatively, by u at most, and a sum of GROUP products by γ = 16u/(1 − 16u), in any
order, fused or not; so a mean is off by (u + γ + uγ)·Σ μ̂(i)·|x̃ᵢ| < 17.001u, and two are by 34.002u. The other 3.9u
are for sums in double precision and for numbers too small for single precision, 2^-126·n of them together.
"""

ROOM: Final = 1.0 - 2.0**-22
"""Rounding to single precision lengthens a vector, relatively, by 2^-24 at most; this keeps it in the ball."""

T = TypeVar("T")

Singles = npt.NDArray[np.float32]


class Points(Protocol):
    """Points x̃ᵢ of the unit ball with labels yᵢ, however kept."""

    @property
    def n(self) -> int:
        """The number of records."""

    @property
    def dimension(self) -> int:
        """d, a constant's coordinate included."""

    @property
    def rounding(self) -> float:
        """How far two means may be apart beyond what exact ones are, in ℓ2."""

    def agreements(self, normal: FloatArray) -> FloatArray:
        """yᵢ·(normal·x̃ᵢ), shape (n,). normal: shape (dimension,)."""

    def pulled(self, weights: FloatArray) -> FloatArray:
        """Σ wᵢ·yᵢ·x̃ᵢ, shape (dimension,). weights: shape (n,)."""


@attrs.frozen(slots=False, eq=False)
class PointSample:
    """Points, each scaled into the ball of the public radius where it lies outside, with labels.

    points: shape (n, d), float64, finite, in rows one after another.  labels: shape (n,), each −1 or +1.
    radius: R in [2^-500, 2^500], public.  constant: a further coordinate of every point, 0 for none; at most R.
    names: of the coordinates but for that one, if they have any.
    Raises ValueError for another radius, and beyond 2^32 records or 2^18 coordinates.
    """

    points: FloatArray
    labels: SignArray
    radius: float = attrs.field(converter=public_radius)
    constant: float = 0.0
    names: tuple[str, ...] | None = None

    def __attrs_post_init__(self) -> None:
        refuse_sizes(self.n, self.dimension)

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    @property
    def dimension(self) -> int:
        """d, the constant's coordinate included."""
        return int(self.points.shape[1]) + (self.constant != 0.0)

    @property
    def rounding(self) -> float:
        """See `Points`."""
        return MEAN_ROUNDING

    @property
    def reach(self) -> float:
        """The radius of the ball that holds the points with their constant."""
        return math.hypot(self.radius, self.constant)

    @cached_property
    def lengths(self) -> FloatArray:
        """See `row_lengths`."""
        return row_lengths(self.points)

    @property
    def outside(self) -> int:
        """The number of points beyond the radius."""
        return int(np.count_nonzero(self.lengths > self.radius))

    @cached_property
    def signed(self) -> FloatArray:
        """yᵢ·min(1, R/|xᵢ|)/reach, shape (n,): what takes a point into the unit ball, with its label's sign.

        0 where a length overflows, which is in the ball.
        """
        return np.asarray(self.labels * (self.radius / np.maximum(self.lengths, self.radius)) / self.reach)

    def agreements(self, normal: FloatArray) -> FloatArray:
        """See `Points`."""
        width = self.points.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            products = self.points @ normal[:width]
        # What was scaled to 0 has no margin, also where its product overflowed: 0·∞ would be no number.
        inside = self.signed * np.where(self.signed == 0.0, 0.0, products)
        return (
            np.asarray(inside + self.labels * (normal[-1] * (self.constant / self.reach))) if self.constant else inside
        )

    def pulled(self, weights: FloatArray) -> FloatArray:
        """See `Points`."""
        total, factors, ones = np.zeros(self.points.shape[1]), weights * self.signed, 0.0
        for block in blocks(slice(0, self.n), BLOCK):
            total += factors[block] @ self.points[block]
            ones += float(weights[block] @ self.labels[block])
        return np.append(total, ones * (self.constant / self.reach)) if self.constant else total


@attrs.frozen(slots=False, eq=False)
class SinglePoints:
    """The same points in single precision. edges: yᵢ·x̃ᵢ, shape (n, dimension), C order.

    pool: threads, a part of the rows each.
    """

    edges: Singles
    pool: ThreadPoolExecutor = attrs.field(factory=lambda: ThreadPoolExecutor(min(PARTS, os.cpu_count() or 1)))

    @staticmethod
    def of(sample: PointSample) -> "SinglePoints":
        """A copy, record by record, so that neighbours stay neighbours."""
        edges = np.empty((sample.n, sample.dimension), dtype=np.float32)
        width = sample.points.shape[1]
        step = max(1, BLOCK // width)  # so that what is in double precision stays small
        for start in range(0, sample.n, step):
            rows = slice(start, start + step)
            edges[rows, :width] = sample.points[rows] * (sample.signed[rows] * ROOM)[:, None]
        edges[:, width:] = (sample.labels * (sample.constant / sample.reach * ROOM))[:, None]
        return SinglePoints(edges)

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.edges.shape[0])

    @property
    def dimension(self) -> int:
        """d, a constant's coordinate included."""
        return int(self.edges.shape[1])

    @property
    def rounding(self) -> float:
        """See `Points`."""
        return SINGLE_ROUNDING

    def agreements(self, normal: FloatArray) -> FloatArray:
        """See `Points`."""
        found, single = np.empty(self.n), normal.astype(np.float32)

        def fill(part: slice) -> None:
            for rows in blocks(part, max(1, UNTHREADED // self.dimension)):
                found[rows] = self.edges[rows] @ single

        self._each(fill)
        return found

    def pulled(self, weights: FloatArray) -> FloatArray:
        """See `Points`."""
        factors = weights.astype(np.float32)

        def summed(part: slice) -> FloatArray:
            whole = slice(part.start, part.stop - (part.stop - part.start) % GROUP)
            grouped = self.edges[whole].reshape(-1, GROUP, self.dimension)
            sums = np.matmul(factors[whole].reshape(-1, 1, GROUP), grouped)
            rest = factors[whole.stop : part.stop] @ self.edges[whole.stop : part.stop]
            return np.asarray(np.sum(sums, axis=(0, 1), dtype=np.float64) + rest)

        return np.asarray(np.sum(self._each(summed), axis=0))

    def _each(self, work: Callable[[slice], T]) -> list[T]:
        """The work on each part of the rows, in order."""
        return list(self.pool.map(work, blocks(slice(0, self.n), -(-self.n // PARTS))))


def blocks(rows: slice, size: int) -> list[slice]:
    """The rows, so many at a time."""
    return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]
