"""What is known of a pair's effect on the score: a Gaussian posterior over the cells of a small grid.

As for one column a Kalman filter, all of it post-processing of releases.
"""

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.posteriors.effects import LEAST_NOISE


@attrs.define(eq=False)
class GridEffect:
    """A level, an effect of each column and one of both, a quarter of the prior variance each. Bins are the cells.

    kernel: prior covariance over the variance that a column has, shape (cells, cells).
    """

    mean: FloatArray
    covariance: FloatArray
    kernel: FloatArray

    @staticmethod
    def start(shape: tuple[int, int], ordered: tuple[bool, bool], prior: float, share: float) -> "GridEffect":
        """Before any release.

        shape: cells per column.  ordered: whether neighbours are alike.  prior: a column's variance.  share: of it.
        """
        first, second = (axis_kernel(cells, neighbours) for cells, neighbours in zip(shape, ordered, strict=True))
        kernel = np.asarray(0.25 * share * np.kron(first, second), dtype=np.float64)
        return GridEffect(np.zeros(kernel.shape[0]), prior * kernel, kernel)

    def drift(self, variance: float) -> None:
        """See `Effect`."""
        if variance > 0.0:
            self.covariance = self.covariance + variance * self.kernel

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Effect`."""
        # Far above what rounding may have made of the covariance, so that the sum is one.
        noise = np.maximum(variance, LEAST_NOISE * max(1.0, float(np.max(np.diag(self.covariance)))))
        whiten = np.linalg.inv(np.linalg.cholesky(self.covariance + np.diag(noise)))
        root = self.covariance @ whiten.T
        moved = root @ (whiten @ step)
        self.mean = self.mean + moved
        smaller = self.covariance - root @ root.T
        self.covariance = 0.5 * (smaller + smaller.T)
        return moved, np.asarray((root @ whiten) ** 2 @ variance)

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """See `Effect`."""
        return float(weight @ ((self.mean - weight @ self.mean) ** 2 - np.diag(self.covariance)))

    def variances(self) -> FloatArray:
        """See `Effect`."""
        return about_mean(self.covariance)


def about_mean(covariance: FloatArray) -> FloatArray:
    """Of cells less the mean of all, their variances, shape (cells,). covariance: shape (cells, cells)."""
    return np.asarray(np.diag(covariance) - 2.0 * covariance.mean(axis=0) + covariance.mean())


def axis_kernel(cells: int, ordered: bool) -> FloatArray:
    """Of a level and of effects that add up to 0 over the cells, each of mean variance 1; shape (cells, cells).

    ordered: effects are a random walk, else independent.
    """
    if cells == 1:
        return np.ones((1, 1))
    each = np.tri(cells) if ordered else np.eye(cells)
    centred = each - each.mean(axis=0)
    kernel = centred @ centred.T
    return np.asarray(1.0 + kernel / np.mean(np.diag(kernel)), dtype=np.float64)
