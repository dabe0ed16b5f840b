"""What is known of one column's effect on the score: a Gaussian posterior over its cells, fed by noisy Newton steps.

A Kalman filter. Each release says how far the gradients of some cells are from 0, with noise of known variance; the
posterior weighs that against what earlier releases said. Everything here is post-processing of releases.
"""

import contextlib
from functools import lru_cache
from typing import Final, Protocol

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.missing_cell import with_own_kernel

LEAST_NOISE: Final = 1e-10
"""Variance, in nats squared, below which no release is believed: far below the rounding of scores."""


BLAS_ALONE: Final = 2**17
"""Products of matrices with fewer multiplications than twice this are not worth threads, OpenBLAS finds."""


class Effect(Protocol):
    """A posterior over the effect of each cell, in nats."""

    mean: FloatArray

    def drift(self, variance: float) -> None:
        """Allow for the optimum to have moved since the last update, by `variance` where the prior's is 1."""

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Learn from one release.

        part: for each cell the bin it was released in, shape (cells,), rising where cells are ordered.
        step: Newton steps per bin.  variance: of those steps.
        Returns per bin how far the mean moved, and how much variance of that is noise.
        """

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """Weighted variance of the mean over bins, less what the posterior is unsure of. weight: sums to 1."""


@attrs.define(eq=False)
class NominalEffect:
    """Cells without an order: independent a priori, each N(0, prior). Bins are the cells themselves."""

    mean: FloatArray
    variance: FloatArray
    prior: float

    @staticmethod
    def start(cells: int, prior: float) -> "NominalEffect":
        """Before any release."""
        return NominalEffect(np.zeros(cells), np.full(cells, prior), prior)

    def drift(self, variance: float) -> None:
        """See `Effect`; never less sure than at first."""
        self.variance = np.minimum(self.variance + variance, self.prior)

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Effect`."""
        gain = self.variance / (self.variance + variance)
        moved = gain * step
        self.mean = self.mean + moved
        self.variance = self.variance * (1.0 - gain)
        return moved, gain**2 * variance

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """See `Effect`."""
        centre = weight @ self.mean
        return float(weight @ ((self.mean - centre) ** 2 - self.variance))


@attrs.define(eq=False)
class OrderedEffect:
    """Ordered cells: a random walk from a random level, so that neighbours have similar effects.

    kernel: prior covariance over the variance, shape (cells, cells).  mass: share of the records per cell, as known.
    """

    mean: FloatArray
    covariance: FloatArray
    kernel: FloatArray
    mass: FloatArray

    @staticmethod
    def start(mass: FloatArray, prior: float, own: bool = False) -> "OrderedEffect":
        """Before any release. own: whether the last cell is that of missing values, see `missing_cell`."""
        kernel = with_own_kernel(random_walk(mass.size - 1)) if own else random_walk(mass.size)
        return OrderedEffect(np.zeros(mass.size), prior * kernel, kernel, mass)

    def drift(self, variance: float) -> None:
        """See `Effect`."""
        if variance > 0.0:
            self.covariance = self.covariance + variance * self.kernel

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Effect`."""
        bins = _Bins.of(part, self.mass)
        cross = bins.averaged(self.covariance)
        inner = bins.averaged(cross.T)
        whiten = _whitening(inner + np.diag(np.maximum(variance, LEAST_NOISE)))
        root = cross @ whiten.T
        moved = root @ (whiten @ step)
        self.mean = self.mean + moved
        smaller = self.covariance - _squared(root)
        self.covariance = 0.5 * (smaller + smaller.T)
        binned = inner @ whiten.T @ whiten
        return bins.averaged(moved), np.asarray(binned**2 @ variance)

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """See `Effect`."""
        bins = _Bins.of(part, self.mass)
        binned = bins.averaged(self.mean)
        unsure = np.diag(bins.averaged(bins.averaged(self.covariance).T))
        return float(weight @ ((binned - weight @ binned) ** 2 - unsure))


@attrs.frozen(eq=False)
class _Bins:
    """Neighbouring cells together. starts: the first cell of each.  share: of each cell in its bin."""

    starts: IntArray
    share: FloatArray

    @staticmethod
    def of(part: IntArray, mass: FloatArray) -> "_Bins":
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        return _Bins(starts, mass / np.add.reduceat(mass, starts)[part])

    def averaged(self, values: FloatArray) -> FloatArray:
        """Means over bins of what the last axis has per cell."""
        return np.asarray(np.add.reduceat(values * self.share, self.starts, axis=-1))


def _whitening(seen: FloatArray) -> FloatArray:
    """W with W·seen·Wᵀ = 1, nearly so where rounding has left `seen` not quite a covariance. Never raises."""
    largest = float(np.max(np.diag(seen)))
    for share in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.inv(np.linalg.cholesky(seen + np.diag(np.full(len(seen), share * largest)))))
    return np.zeros_like(seen)  # then nothing is learnt


def _squared(root: FloatArray) -> FloatArray:
    """root·rootᵀ in products so small that BLAS starts no threads, which on a busy machine wait for each other."""
    rows = max(1, BLAS_ALONE // max(1, root.size))
    return np.concatenate([root[start : start + rows] @ root.T for start in range(0, root.shape[0], rows)])


@lru_cache(maxsize=256)
def random_walk(cells: int) -> FloatArray:
    """Covariance of a centred random walk over equal steps plus a common level, each of mean variance 1."""
    place = (np.arange(cells) + 0.5) / cells
    walk = np.minimum.outer(place, place)
    centre = walk.mean(axis=0)
    centred = walk - np.add.outer(centre, centre) + centre.mean()
    # A Brownian path less its mean has variance 1/6 on average.
    kernel = np.asarray(6.0 * centred + 1.0)
    kernel.flags.writeable = False  # many effects share it
    return kernel
