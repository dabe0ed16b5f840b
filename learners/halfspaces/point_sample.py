"""Labelled points of a public ball, as halfspaces are learnt from: scaled into the unit ball, with their labels' signs.

A point is kept as yᵢ·x̃ᵢ in 24 binary places, in single precision, which holds such numbers as they are. So products
with a vector of few places, and sums of points with whole weights, can be exact in double precision, see `point_sums`.
"""

import math
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import ExactArray, FloatArray, SignArray
from learners.encoding import SMALL, each_part, folded, pieces
from mechanisms.core import Block, MemoryRows, Rows, SealedRepr
from mechanisms.gradients import SLACK, cut
from mechanisms.queries import public_radius, refuse_sizes

PLACES: Final = 24
"""Binary places of a coordinate. With 24 digits single precision holds any such number up to 1."""

POINT_UNIT: Final = 2.0**-PLACES

Singles = npt.NDArray[np.float32]


def lengths(rows: FloatArray) -> FloatArray:
    """|xᵢ|, shape (k,), infinite where it overflows; each follows from its own row, whatever rows are beside it."""
    return _lengths(rows, np.empty(rows.shape))


def _lengths(rows: FloatArray, room: FloatArray) -> FloatArray:
    """Squares are added up in halves, number by number: that makes it so, and off by less than 2^-47, relatively."""
    with np.errstate(over="ignore", under="ignore"):
        np.multiply(rows, rows, out=room)
        return np.asarray(np.sqrt(folded(room.T)))


@attrs.frozen(eq=False, repr=False)
class SignedPoints(SealedRepr):
    """Some records. edges: yᵢ·x̃ᵢ with PLACES and |x̃ᵢ| <= 1, shape (k, dimension), C order.

    outside: how many points lay outside the ball.
    """

    edges: Singles
    outside: int

    @staticmethod
    def of(points: FloatArray, labels: SignArray, radius: float, constant: float = 0.0) -> "SignedPoints":
        """Each point scaled into the ball of the public radius where it lies outside, then into the unit ball, and cut.

        points: shape (k, d), finite.  labels: shape (k,), each −1 or +1.
        radius: R in [2^-500, 2^500].  constant: a further coordinate of every point, 0 for none; at most R.
        A point becomes what it would become alone; one whose length overflows becomes 0, which is in the ball.
        """
        ball = public_radius(radius)
        n, width = points.shape
        reach = math.hypot(ball, constant) * SLACK  # a little shorter than they are, so that none leaves the ball
        edges = np.empty((n, width + (constant != 0.0)), dtype=np.float32)

        def fill(part: slice) -> int:
            outside = 0
            for rows in pieces(part, width, SMALL):
                room = np.empty((rows.stop - rows.start, width))
                far = _lengths(points[rows], room)
                outside += int(np.count_nonzero(far > ball))
                np.multiply(points[rows], (labels[rows] * (ball / np.maximum(far, ball)) / reach)[:, None], out=room)
                edges[rows, :width] = cut(room, PLACES)
            return outside

        outside = sum(each_part(n, width, fill))
        edges[:, width:] = cut(labels[:, None] * np.array([[constant / reach]]), PLACES)
        return SignedPoints(edges, outside)

    @property
    def n(self) -> int:
        """The number of these records."""
        return int(self.edges.shape[0])

    @property
    def labels(self) -> SignArray:
        """+1 for every record: a point with the label −1 is the opposite point with the label +1."""
        return np.ones(self.n, dtype=np.int8)


@attrs.frozen(eq=False, repr=False)
class PointRows(SealedRepr):
    """All records. rows: in blocks.  dimension: d, a constant's coordinate included, the same in all blocks.

    names: of the coordinates but for that one, if they have any.
    Raises ValueError beyond 2^32 records or 2^18 coordinates.
    """

    rows: Rows[SignedPoints]
    dimension: int
    names: tuple[str, ...] | None = None

    def __attrs_post_init__(self) -> None:
        refuse_sizes(self.n, self.dimension)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.rows.n

    @staticmethod
    def of(*blocks: SignedPoints) -> "PointRows":
        """Blocks in memory, in order."""
        return checked_points(MemoryRows.parts(blocks, [block.n for block in blocks]))

    def outside(self) -> int:
        """The number of points outside the ball; a visit."""
        return int(self.rows.total(_outside)[0])


def checked_points(rows: Rows[SignedPoints], names: tuple[str, ...] | None = None) -> PointRows:
    """The records with their dimension; a visit, before anything is charged.

    Raises ValueError where blocks differ in their number of coordinates.
    """
    # Of the blocks' widths w only Σ w and Σ w² come here: by Cauchy & Schwarz all are equal just where these say so.
    blocks, widths, squares = rows.total(_facts).tolist()
    if blocks * squares != widths**2:
        raise ValueError("X: its blocks differ in their number of columns")
    return PointRows(rows, widths // blocks, names)


def _facts(block: Block[SignedPoints]) -> ExactArray:
    data = block.data
    block.refuse_other_size(data.n)
    width = data.edges.shape[1]
    return np.array([1, width, width**2], dtype=np.int64)


def _outside(block: Block[SignedPoints]) -> ExactArray:
    return np.array([block.data.outside], dtype=np.int64)
