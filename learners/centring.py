"""Boosting with centred means: what a round leaves behind is a public vector, and nothing else is carried over.

The margins after t rounds are yᵢ·(x̃ᵢ·v) for the sum v of the released unit vectors.
"""

from functools import cached_property

import attrs
import numpy as np

from boosting import LazyBregman
from boosting.measures import FloatArray
from boosting.projection import capped_weights
from learners.point_sample import Points, PointSample, SinglePoints
from mechanisms import Slickness


@attrs.frozen(eq=False)
class Halfspace:
    """h(x) = normal·x̃ for points x̃ of the unit ball: real-valued, in [−1, 1]. normal: a unit vector, or 0."""

    normal: FloatArray

    def predictions(self, sample: PointSample) -> FloatArray:
        """h(x̃ᵢ) for every record, shape (n,)."""
        return np.clip(sample.labels * sample.agreements(self.normal), -1.0, 1.0)


@attrs.frozen(slots=False, eq=False)
class WeightedPoints:
    """Points under the measure that `LazyBregman` puts on them after so many halfspaces.

    total: the sum of their normals, shape (dimension,).  log_scale: ln c of the round before; it only saves time.
    """

    points: Points = attrs.field(repr=False)
    total: FloatArray
    hypotheses: int
    producer: LazyBregman
    log_scale: float = 0.0

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting."""
        return self.producer.slickness(self.points.n, self.hypotheses + 1)

    @property
    def rounding(self) -> float:
        """See `Points`."""
        return self.points.rounding

    @cached_property
    def mean(self) -> FloatArray:
        """Σ μ̂(i)·yᵢ·x̃ᵢ, shape (dimension,)."""
        return self.points.pulled(self._weights[0]) / (self.producer.density * self.points.n)

    @property
    def next_log_scale(self) -> float:
        """ln c of this round."""
        found = self._weights[1]
        return self.log_scale if found is None else found

    @cached_property
    def _weights(self) -> tuple[FloatArray, float | None]:
        density, most = self.producer.density, float(self.hypotheses)
        if not self.hypotheses:
            return np.full(self.points.n, density), float(np.log(density))
        # Rounding aside no margin is beyond the number of hypotheses, and the certificate rests on that.
        logs = np.clip(np.nan_to_num(self.points.agreements(self.total), nan=0.0), -most, most)
        logs *= -self.producer.learning_rate
        return capped_weights(logs, density, self.log_scale)


@attrs.frozen
class Centring:
    """`LazyBregman` over points, which are kept in double precision or in `single`."""

    producer: LazyBregman
    single: bool = False

    def slickness(self, n: int, number: int) -> Slickness:
        """See `LazyBregman.slickness`."""
        return self.producer.slickness(n, number)

    def start(self, sample: PointSample) -> WeightedPoints:
        """The uniform measure."""
        points = SinglePoints.of(sample) if self.single else sample
        return WeightedPoints(points, np.zeros(sample.dimension), 0, self.producer)

    def step(self, state: WeightedPoints, hypothesis: Halfspace) -> WeightedPoints:
        """The measure after one more halfspace."""
        total = state.total + hypothesis.normal
        return WeightedPoints(state.points, total, state.hypotheses + 1, self.producer, state.next_log_scale)
