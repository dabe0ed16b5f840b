"""Boosting with centred means: each round reads the points once, and what it keeps is a public vector.

The margins after t rounds are yᵢ·(x̃ᵢ·v) for the sum v of the released unit vectors, so nothing else is carried over.
Weights follow from margins, by a constant c that only all of them determine; so each block of points is read once for
its margins and, while it is in the cache, for two sums: of what c will multiply and of what is capped, as far as the
last round's c tells. Records that the right c moves from one to the other are few, and are put right in the end.
"""

from functools import cached_property
from typing import Final

import attrs
import numpy as np

from boosting import LazyBregman
from boosting.measures import FloatArray
from boosting.projection import capped_weights
from learners.point_sample import PointSample
from mechanisms import Slickness

SPARSE: Final = 8
"""Fewer than one record in so many are picked out; more are read along with the others."""


@attrs.frozen(eq=False)
class Halfspace:
    """h(x) = normal·x̃ for points x̃ of the unit ball: real-valued, in [−1, 1]. normal: a unit vector, or 0."""

    normal: FloatArray

    def predictions(self, sample: PointSample) -> FloatArray:
        """h(x̃ᵢ) for every record, shape (n,)."""
        return np.clip(sample.labels * sample.agreements(self.normal), -1.0, 1.0)


@attrs.frozen(slots=False, eq=False)
class WeightedPoints:
    """A sample under the measure that `LazyBregman` puts on it after so many halfspaces.

    total: the sum of their normals, shape (dimension,).  log_scale: ln c of the round before; it only saves time.
    """

    sample: PointSample
    total: FloatArray
    hypotheses: int
    producer: LazyBregman
    log_scale: float = 0.0

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting."""
        return self.producer.slickness(self.sample.n, self.hypotheses + 1)

    @property
    def mean(self) -> FloatArray:
        """Σ μ̂(i)·yᵢ·x̃ᵢ, shape (dimension,)."""
        return self._centred[0]

    @property
    def next_log_scale(self) -> float:
        """ln c of this round."""
        return self._centred[1]

    @cached_property
    def _centred(self) -> tuple[FloatArray, float]:
        sample, density = self.sample, self.producer.density
        if not self.hypotheses:
            return self._plain_sum() / sample.n, float(np.log(density))
        logs = np.empty(sample.n)
        free, full = self._two_sums(logs)
        weights, log_scale = capped_weights(logs, density, self.log_scale)
        if log_scale is None:
            return self._weighted_sum(weights) / (density * sample.n), self.log_scale
        total = np.exp(log_scale - self.log_scale) * free + full
        moved = np.flatnonzero((logs + self.log_scale >= 0.0) != (weights >= 1.0))
        if moved.size > sample.n // SPARSE:
            total = self._weighted_sum(weights)
        elif moved.size:
            counted = np.where(logs[moved] + self.log_scale >= 0.0, 1.0, np.exp(logs[moved] + log_scale))
            total += sample.pulled(weights[moved] - counted, moved)
        return total / (density * sample.n), log_scale

    def _two_sums(self, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Fill in the logarithms of the weights; Σ w·yx̃ over those that the last c leaves below 1, Σ yx̃ over others."""
        sample, rate, most = self.sample, self.producer.learning_rate, float(self.hypotheses)
        free, full = np.zeros(sample.dimension), np.zeros(sample.dimension)
        for block in sample.blocks():
            # Rounding aside no margin is beyond the number of hypotheses, and the certificate rests on that.
            logs[block] = -rate * np.clip(sample.agreements(self.total, block), -most, most)
            above = logs[block] + self.log_scale
            capped = above >= 0.0
            free += sample.pulled(np.where(capped, 0.0, np.exp(np.minimum(above, 0.0))), block)
            number = np.count_nonzero(capped)
            if number > capped.size // SPARSE:
                full += sample.pulled(capped.astype(np.float64), block)
            elif number:
                rows = block.start + np.flatnonzero(capped)
                full += sample.pulled(np.ones(rows.size), rows)
        return free, full

    def _weighted_sum(self, weights: FloatArray) -> FloatArray:
        total = np.zeros(self.sample.dimension)
        for block in self.sample.blocks():
            total += self.sample.pulled(weights[block], block)
        return total

    def _plain_sum(self) -> FloatArray:
        return self._weighted_sum(np.ones(self.sample.n))


@attrs.frozen
class Centring:
    """`LazyBregman` over points, as a measure producer that reads them once a round."""

    producer: LazyBregman

    def slickness(self, n: int, number: int) -> Slickness:
        """See `LazyBregman.slickness`."""
        return self.producer.slickness(n, number)

    def start(self, sample: PointSample) -> WeightedPoints:
        """The uniform measure."""
        return WeightedPoints(sample, np.zeros(sample.dimension), 0, self.producer)

    def step(self, state: WeightedPoints, hypothesis: Halfspace) -> WeightedPoints:
        """The measure after one more halfspace."""
        total = state.total + hypothesis.normal
        return WeightedPoints(state.sample, total, state.hypotheses + 1, self.producer, state.next_log_scale)
