"""Boosting with centred means: what a round leaves behind is a public vector, and nothing else is carried over.

The margins after t rounds are yᵢ·(x̃ᵢ·v) for the sum v of the released unit vectors. They are told apart in steps, so
that how many records have which is all that weights take; a round visits the records twice.
"""

from functools import cached_property, partial
from typing import Final

import attrs
import numpy as np

from accountant.arrays import ExactArray, FloatArray
from boosting import LazyBregman
from boosting.measures import WholeArray
from learners.halfspaces.exact_sums import LIMB, MarginGrid, as_floats, counted, limbs, margin_levels, pulled
from learners.halfspaces.point_sample import PLACES, PointRows, SignedPoints
from learners.halfspaces.stepped_weights import SOLVED, capped_levels
from mechanisms import Slickness
from mechanisms.core import Block

PER_UNIT: Final = 2**6
"""Steps of the margins that are told apart, to one that a halfspace can add. See
`learners.halfspaces.guaranteed_settings.room`."""

ONE_LIMB: Final = 2**17
"""Records up to which weights of 24 bits will do: they add at most n·2^-25 <= 2^-8 of itself to the sensitivity."""


def weight_limbs(n: int) -> int:
    """Parts of LIMB bits that the weights of n records have."""
    return 1 if n <= ONE_LIMB else 2


def mean_rounding(n: int, density: float) -> float:
    """How far two means may be apart beyond what exact ones are, in ℓ2: 2^-24·limbs/κ + 2^-43. [003-Thm27]

    Each of n weights is off by half a unit at most, 2^-24·limbs, and points have length 1 at most: for two means, over
    κn, that is 2^-24·limbs/κ. Before, all together are off by SOLVED of κn, for two 2^-44. Sums are exact; their parts
    are put together with four roundings, of 2^-50 together, and the certificate's ratio of weights is off by as much.
    [exact-points] [level-weights]
    """
    return 2.0 ** -(LIMB * weight_limbs(n)) / density + 4.0 * SOLVED


@attrs.frozen(eq=False)
class Halfspace:
    """h(x) = normal·x̃ for points x̃ of the unit ball: real-valued, in [−1, 1]. normal: a unit vector, or 0."""

    normal: FloatArray

    def predictions(self, sample: SignedPoints) -> FloatArray:
        """h of the points, turned around where the label is −1, shape (n,)."""
        return np.clip(sample.edges @ self.normal, -1.0, 1.0)


@attrs.frozen(slots=False, eq=False)
class ReweightedPoints:
    """Points under the measure that `LazyBregman` puts on them after so many halfspaces, margins rounded to a grid.

    total: the sum of their normals, shape (dimension,).
    What is rounded is a record's own margin, by public numbers, and stays within the number of hypotheses: so the
    weights are min(1, c·w) with one c, w of the record alone, and two w's in the ratio that the certificate asks for.
    """

    points: PointRows = attrs.field(repr=False)
    total: FloatArray
    hypotheses: int
    producer: LazyBregman

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting."""
        return self.producer.slickness(self.points.n, self.hypotheses + 1)

    @property
    def rounding(self) -> float:
        """See `mean_rounding`."""
        return mean_rounding(self.points.n, self.producer.density)

    @cached_property
    def mean(self) -> FloatArray:
        """Σ μ̂(i)·yᵢ·x̃ᵢ, shape (dimension,): the same whatever the blocks."""
        grid = MarginGrid.of(self.total, self.hypotheses, PER_UNIT) if self.hypotheses else None
        density, number = self.producer.density, weight_limbs(self.points.n)
        weights = np.array([density]) if grid is None else self._weights(grid)
        sums = self.points.rows.total(partial(_pulled, grid, limbs(weights, number)))
        return np.asarray(as_floats(sums) * 2.0 ** -(LIMB * number + PLACES) / (density * self.points.n))

    def _weights(self, grid: MarginGrid) -> FloatArray:
        """μ of each level, shape (levels,)."""
        counts = self.points.rows.total(partial(_counted, grid))
        return capped_levels(-self.producer.learning_rate * grid.margins, counts, self.producer.density)


def _levels(grid: MarginGrid, block: Block[SignedPoints]) -> WholeArray:
    """Of each record. The second visit of a round finds what the first one left, or makes it again."""
    return block.remember("levels", grid.key, lambda: margin_levels(block.data.edges, grid))


def _counted(grid: MarginGrid, block: Block[SignedPoints]) -> ExactArray:
    return counted(_levels(grid, block), grid.levels)


def _pulled(grid: MarginGrid | None, parts: FloatArray, block: Block[SignedPoints]) -> ExactArray:
    return pulled(block.data.edges, None if grid is None else _levels(grid, block), parts)


@attrs.frozen
class Centring:
    """`LazyBregman` over points."""

    producer: LazyBregman

    def slickness(self, n: int, number: int) -> Slickness:
        """See `LazyBregman.slickness`."""
        return self.producer.slickness(n, number)

    def start(self, points: PointRows) -> ReweightedPoints:
        """The uniform measure."""
        return ReweightedPoints(points, np.zeros(points.dimension), 0, self.producer)

    def step(self, state: ReweightedPoints, hypothesis: Halfspace) -> ReweightedPoints:
        """The measure after one more halfspace."""
        return attrs.evolve(state, total=state.total + hypothesis.normal, hypotheses=state.hypotheses + 1)
