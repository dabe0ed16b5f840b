"""What an additive regression releases, and at what noise: fixed before it starts, a function of public numbers."""

import math
from functools import cached_property
from typing import Final

import attrs

from accountant import Description, Plan
from accountant.arrays import FloatArray
from accountant.costs import positive, probability_below_one
from learners.encoding import FINE
from learners.regression.regression_losses import LOSSES, Loss
from learners.tables import Schema
from mechanisms.additive import GaussianNoise
from mechanisms.core import L2Sensitivity, PlainMechanism
from mechanisms.gradients import ResidualRows, Residuals, residual_query
from mechanisms.queries import HistogramRows, Histograms, Neighbours, any_histogram_query
from mechanisms.randomness import NoiseSource

ROUNDS: Final = (80, 200)
"""Gradients of the columns, and then of columns and pairs: so many that momentum may carry far."""

ROUNDS_SHARE: Final = (0.35, 0.65)
"""How they share what is left of the squared μ."""

COUNT_SHARE: Final = 0.01
"""Of the squared μ, for the number of records, or the sum of their weights."""

COLUMNS_SHARE: Final = 0.06
"""For histograms of the columns."""

LABEL_SHARE: Final = 0.03
"""For where labels lie and how far apart: twice a mean and a histogram of distances from it."""

SCALE_SHARE: Final = 0.015
"""For how far residuals go when columns are learnt."""

SCORES_SHARE: Final = 0.005
"""For the mean and the mean square of the scores."""

MEAN_SHARE: Final = 0.03
"""For the last residuals: their mean, and what they have to do with the scores."""

Moments = PlainMechanism[Residuals | ResidualRows, FloatArray, L2Sensitivity, FloatArray]
Counter = PlainMechanism[Histograms | HistogramRows, FloatArray, L2Sensitivity, FloatArray]


@attrs.frozen(slots=False)
class RegressionDesign:
    """What a fit will release. Everything here is public.

    bounds: of the labels.  loss: its name.  pairs: of columns by number, that may be learnt together.
    intervals: share of the budget for a last histogram of residuals, in [0, 1).
    """

    schema: Schema
    bounds: tuple[float, float]
    adjacency: Neighbours
    loss: str
    noise: NoiseSource
    pairs: tuple[tuple[int, int], ...] = ()
    intervals: float = attrs.field(default=0.0, converter=probability_below_one)

    @property
    def rule(self) -> Loss:
        """The loss."""
        return LOSSES[self.loss]

    @property
    def origin(self) -> float:
        """The label 0, in units of the bounds, which are −1 and 1."""
        lower, upper = self.bounds
        return -1.0 - 2.0 * (lower / (upper - lower))

    @cached_property
    def cells(self) -> int:
        """Of a column's histogram: a power of two."""
        widest = max(column.cells for column in self.schema.columns)
        return max(FINE, 1 << (widest - 1).bit_length())

    @property
    def rounds(self) -> int:
        """Releases of gradients."""
        return sum(ROUNDS)

    def _others(self) -> float:
        mean = SCORES_SHARE + MEAN_SHARE if self.rule.mean else 0.0
        return COUNT_SHARE + COLUMNS_SHARE + LABEL_SHARE + SCALE_SHARE + mean

    def _moments(self, mu: float, share: float) -> Moments:
        query = residual_query(self.adjacency)
        level = positive(mu) * math.sqrt((1.0 - self.intervals) * share)
        return PlainMechanism(query, GaussianNoise(query.sensitivity.value / level), self.noise)

    def _counter(self, mu: float, share: float, partitions: int = 1) -> Counter:
        query = any_histogram_query(self.adjacency, partitions)
        level = positive(mu) * math.sqrt(share)
        return PlainMechanism(query, GaussianNoise(query.sensitivity.value / level), self.noise)

    def total(self, mu: float) -> Moments:
        """Of weights, the first release. mu: of all releases together."""
        return self._moments(mu, COUNT_SHARE)

    def columns(self, mu: float) -> Counter:
        """Histograms of all columns."""
        return self._counter(mu, (1.0 - self.intervals) * COLUMNS_SHARE, len(self.schema.columns))

    def middle(self, mu: float) -> Moments:
        """Where the labels are; twice."""
        return self._moments(mu, 0.25 * LABEL_SHARE)

    def distances(self, mu: float) -> Counter:
        """How far from there they are; twice."""
        return self._counter(mu, (1.0 - self.intervals) * 0.25 * LABEL_SHARE)

    def gradients(self, mu: float, stage: int) -> Moments:
        """A round of the first stage or of the second, 0 or 1."""
        return self._moments(mu, (1.0 - self._others()) * ROUNDS_SHARE[stage] / ROUNDS[stage])

    def scales(self, mu: float) -> Counter:
        """How far residuals go after the first stage."""
        return self._counter(mu, (1.0 - self.intervals) * SCALE_SHARE)

    def scores(self, mu: float) -> Moments:
        """Sums of scores and of their squares; where the loss asks for means."""
        return self._moments(mu, SCORES_SHARE)

    def mean(self, mu: float) -> Moments:
        """Of the residuals, and of those times the scores; where the loss asks for means."""
        return self._moments(mu, MEAN_SHARE)

    def residuals(self, mu: float) -> Counter:
        """A histogram for prediction intervals; where there are to be some."""
        return self._counter(mu, self.intervals)

    def _releases(self, mu: float) -> list[tuple[Moments | Counter, int]]:
        """All of them, in order."""
        label: list[tuple[Moments | Counter, int]] = [(self.middle(mu), 1), (self.distances(mu), 1)]
        stages = [(self.gradients(mu, stage), rounds) for stage, rounds in enumerate(ROUNDS)]
        return [
            (self.total(mu), 1),
            (self.columns(mu), 1),
            *label,
            *label,
            stages[0],
            (self.scales(mu), 1),
            stages[1],
            *([(self.scores(mu), 1), (self.mean(mu), 1)] if self.rule.mean else []),
            *([(self.residuals(mu), 1)] if self.intervals else []),
        ]

    def plan(self, mu: float) -> Plan:
        """The cost of everything: that of one Gaussian release of this μ."""
        return Plan(tuple(step for each, times in self._releases(mu) for step in Plan.of(each.cost, times).steps))

    def announced(self, mu: float) -> Description:
        """What the entry says before the first release: every query of the plan, with its noise."""
        releases, main = self._releases(mu), self.gradients(mu, 1).description
        said = [f"{each.description.query} x {times}" for each, times in releases]
        noise = [
            (f"sigma of release {number}", dict(each.description.parameters)["sigma"])
            for number, (each, _) in enumerate(releases, start=1)
        ]
        claims = [claim for each, _ in releases for claim in each.description.claims]
        return attrs.evolve(main, query=", ".join(said), parameters=tuple(noise), claims=tuple(dict.fromkeys(claims)))


def noise_of(mechanism: Moments | Counter) -> float:
    """Its σ."""
    assert isinstance(mechanism.randomizer, GaussianNoise)
    return mechanism.randomizer.sigma
