"""Products and sums of points that come out the same however the points are stored: every one of them is exact.

Points have 24 binary places and length 1 at most. A direction gets 28: products are multiples of 2^-52, and by Cauchy &
Schwarz no sum of some of them exceeds 1 + 2^-18, so all are doubles. Weights are whole numbers of 24 bits, or two such
numbers; sums of GROUP products with coordinates stay within 2^24·2^24·32 = 2^53 units, and from there on integers are
added. BLAS may take them in any order then, fused or not, with any number of threads. [exact-points]
"""

from collections.abc import Hashable, Iterator
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import ExactArray, FloatArray
from boosting.measures import WholeArray
from learners.encoding import GROUP, each_part, pieces
from learners.halfspaces.point_sample import PLACES, Singles

DIRECTION: Final = 28
"""Binary places of a direction: 24 + 28 + 1 are the digits of a double."""

LIMB: Final = 24
"""Bits of a part of a weight."""

HIGH: Final = 26
"""Sums are added up in two parts, above so many bits and below: of 2^32 records, in any blocks, both fit 64 bits."""

COUNTED: Final = 2**18
"""Records that are counted at a time."""


@attrs.frozen(eq=False)
class MarginGrid:
    """Which margins are told apart: multiples of a step, up to what so many halfspaces reach together. All is public.

    direction: v/|v| of the sum v of their normals, in DIRECTION places, shape (d,).  length: |v|.
    most: the largest level; level ℓ, from −most, stands for margins about ℓ/per_unit.
    """

    direction: FloatArray
    length: float
    per_unit: int
    most: int

    @staticmethod
    def of(total: FloatArray, hypotheses: int, per_unit: int) -> "MarginGrid":
        """total: v, shape (d,).  hypotheses: how many normals of length 1 at most it is the sum of, at least 1.

        per_unit: levels to a margin of 1, a power of two. No level stands for more than `hypotheses`.
        """
        length = float(np.linalg.norm(total))
        direction = np.rint(total / (length or 1.0) * 2.0**DIRECTION) * 2.0**-DIRECTION
        return MarginGrid(direction, length, per_unit, min(hypotheses * per_unit, int(length * per_unit) + 1))

    @property
    def margins(self) -> FloatArray:
        """What the levels stand for, rising, shape (levels,)."""
        return np.arange(-self.most, self.most + 1) / self.per_unit

    @property
    def levels(self) -> int:
        """How many there are."""
        return 2 * self.most + 1

    @property
    def key(self) -> Hashable:
        """What tells it from any other."""
        return self.direction.tobytes(), self.length, self.per_unit, self.most


def margin_levels(edges: Singles, grid: MarginGrid) -> WholeArray:
    """The level of each record's margin, counted from the lowest one, shape (k,); it follows from that record alone."""
    kind: npt.DTypeLike = np.int16 if grid.levels < 2**15 else np.int32
    found: WholeArray = np.empty(edges.shape[0], dtype=kind)
    scale, most = grid.length * grid.per_unit, float(grid.most)

    def fill(part: slice) -> None:
        for rows, points in _doubles(edges, part):
            margins = points @ grid.direction
            margins *= scale
            np.rint(margins, out=margins)
            np.clip(margins, -most, most, out=margins)
            margins += most
            found[rows] = margins

    each_part(edges.shape[0], edges.shape[1], fill)
    return found


def counted(levels: WholeArray, number: int) -> ExactArray:
    """Records of each level, shape (number,)."""
    total = np.zeros(number, dtype=np.int64)
    for start in range(0, levels.size, COUNTED):
        total += np.bincount(levels[start : start + COUNTED], minlength=number)
    return total


def limbs(weights: FloatArray, number: int) -> FloatArray:
    """Weights in [0, 1], rounded to whole units of 2^-24·number and cut into parts of LIMB bits, shape (number, L)."""
    units = np.rint(weights * 2.0 ** (LIMB * number))
    parts = np.empty((number, weights.size))
    for place in range(number):
        unit = 2.0 ** (LIMB * (number - 1 - place))
        parts[place] = np.floor(units / unit)
        units -= parts[place] * unit
    return parts


def pulled(edges: Singles, levels: WholeArray | None, parts: FloatArray) -> ExactArray:
    """Σ of whole weights times points, in units of 2^-24, high and low bits of each part: shape (limbs, 2, dimension).

    levels: of each record, shape (k,); None where all have the first.  parts: of the levels' weights, see `limbs`.
    High and low bits depend on how the records are grouped, what they say together does not, see `as_floats`.
    """

    def summed(part: slice) -> ExactArray:
        total = np.zeros((parts.shape[0], 2, edges.shape[1]), dtype=np.int64)
        for rows, points in _doubles(edges, part):
            for place, table in enumerate(parts):
                weights = np.full(points.shape[0], table[0]) if levels is None else table.take(levels[rows])
                sums = _grouped(weights, points)
                total[place, 0] += sums >> HIGH
                total[place, 1] += sums & (2**HIGH - 1)
        return total

    found = np.zeros((parts.shape[0], 2, edges.shape[1]), dtype=np.int64)
    for each in each_part(edges.shape[0], edges.shape[1], summed):
        found += each
    return found


def as_floats(sums: ExactArray) -> FloatArray:
    """Σ weights·points of `pulled`, in units of the weights' and points' places together, shape (dimension,)."""
    found = np.zeros(sums.shape[2])
    for high, low in sums:
        carried = high + (low >> HIGH)
        found = found * 2.0**LIMB + (carried * 2.0**HIGH + (low & (2**HIGH - 1)))
    return found


def _doubles(edges: Singles, part: slice) -> Iterator[tuple[slice, FloatArray]]:
    """Pieces of these rows in double precision, each in the place of the one before."""
    room = np.empty((0, edges.shape[1]))
    for rows in pieces(part, edges.shape[1]):
        size = rows.stop - rows.start
        room = room if room.shape[0] >= size else np.empty((size, edges.shape[1]))
        np.copyto(room[:size], edges[rows])
        yield rows, room[:size]


def _grouped(weights: FloatArray, points: FloatArray) -> npt.NDArray[np.int64]:
    """Σ weights·points in units of 2^-24, exactly, shape (dimension,)."""
    whole = points.shape[0] - points.shape[0] % GROUP
    grouped = points[:whole].reshape(-1, GROUP, points.shape[1])
    sums: npt.NDArray[Any] = np.matmul(weights[:whole].reshape(-1, 1, GROUP), grouped)[:, 0]
    rest = weights[whole:] @ points[whole:]
    return np.asarray(_whole(sums).sum(axis=0) + _whole(rest))


def _whole(sums: FloatArray) -> npt.NDArray[np.int64]:
    return np.asarray((sums * 2.0**PLACES).astype(np.int64))
