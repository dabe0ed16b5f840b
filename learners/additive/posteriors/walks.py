"""What neighbouring cells have in common before anything is known: a random walk, and what it says of means of bins.

An update is linear in cells; a matrix of cells by cells is made once, for what readers are told in the end.
"""

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.posteriors.missing_cell import APART


@attrs.frozen(eq=False)
class Bins:
    """Neighbouring cells together.

    part: the bin of each cell, rising from 0.  starts: the first cell of each.  share: of each cell in its bin.
    """

    part: IntArray
    starts: IntArray
    share: FloatArray

    @staticmethod
    def of(part: IntArray, mass: FloatArray) -> "Bins":
        """mass: weight of each cell, positive."""
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        return Bins(part, starts, mass / np.add.reduceat(mass, starts)[part])

    @property
    def number(self) -> int:
        """How many bins."""
        return int(self.starts.size)

    def averaged(self, values: FloatArray) -> FloatArray:
        """Means over bins of what the last axis has per cell."""
        return np.asarray(np.add.reduceat(values * self.share, self.starts, axis=-1))

    def common(self, other: "Bins") -> FloatArray:
        """Covariance of these bins' means with those of other bins where cells are independent, variance 1 each."""
        pairs = self.part * other.number + other.part
        found = np.bincount(pairs, weights=self.share * other.share, minlength=self.number * other.number)
        return found.astype(np.float64, copy=False).reshape(self.number, other.number)


@attrs.frozen(eq=False)
class Walk:
    """A Brownian path, scaled so that less its mean it has variance 1 on average, seen at places in (0, 1).

    place: of each cell, rising.  centre: covariance of each cell with the mean.  middle: the mean's variance.
    """

    place: FloatArray
    centre: FloatArray
    middle: float

    @staticmethod
    def over(share: FloatArray) -> "Walk":
        """Cells lie side by side, each as wide as its share; the mean is taken by it. share: positive, sums to 1."""
        ends = np.cumsum(share)
        place = ends - 0.5 * share
        centre = np.cumsum(share * place) + place * (1.0 - ends)
        return Walk(place, centre, float(share @ centre))

    def times(self, vector: FloatArray) -> FloatArray:
        """Covariance of cells, times a vector of one number per cell; shape (cells,)."""
        above = vector.sum() - np.cumsum(vector)
        path = np.cumsum(vector * self.place) + self.place * above
        return np.asarray(6.0 * (path - self.centre * vector.sum() - vector @ self.centre + self.middle * vector.sum()))

    def between(self, bins: Bins) -> FloatArray:
        """Covariance of bins' means with cells, shape (bins, cells)."""
        part, weighted = bins.part, bins.share * self.place
        means = np.add.reduceat(weighted, bins.starts)
        path = np.minimum(self.place, means[:, np.newaxis])
        path[part, np.arange(part.size)] = _within(weighted, bins) + self.place * (1.0 - _within(bins.share, bins))
        centres = bins.averaged(self.centre)
        return np.asarray(6.0 * (path - self.centre - centres[:, np.newaxis] + self.middle))


@attrs.frozen(eq=False)
class WalkWithOwn:
    """A walk over ordered cells, and the last cell, that of missing values, which has nothing in common with it."""

    walk: Walk

    def times(self, vector: FloatArray) -> FloatArray:
        """See `Walk`."""
        return np.append(self.walk.times(vector[:-1]), APART * vector[-1])

    def between(self, bins: Bins) -> FloatArray:
        """See `Walk`. The last cell is a bin by itself."""
        found = np.zeros((bins.number, bins.part.size))
        found[:-1, :-1] = self.walk.between(Bins(bins.part[:-1], bins.starts[:-1], bins.share[:-1]))
        found[-1, -1] = APART
        return found


def _within(values: FloatArray, bins: Bins) -> FloatArray:
    """Sums from the first cell of its bin up to each cell."""
    total = np.cumsum(values)
    return np.asarray(total - (total - values)[bins.starts][bins.part])
