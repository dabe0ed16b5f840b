"""What is known of one column's effect on the score: a Gaussian posterior over its cells, fed by noisy Newton steps.

A Kalman filter. Each release says how far the gradients of some cells are from 0, with noise of known variance; the
posterior weighs that against what earlier releases said. Everything here is post-processing of releases.
"""

from typing import Final, Protocol

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray

LEAST_NOISE: Final = 1e-10
"""Variance, in nats squared, below which no release is believed: far below the rounding of scores."""


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

    def variances(self) -> FloatArray:
        """What the posterior is unsure of each cell, shape (cells,), in nats squared.

        A level that all cells share moves no effect: it is left out where cells are known together.
        """


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

    def variances(self) -> FloatArray:
        """See `Effect`."""
        return self.variance
