"""From scores to probabilities: one noisy histogram of scores and labels, and what follows from it for free.

For any learner whose score is a function of a record and of what was released before. The histogram is the only
release; the curve, the probabilities and the threshold are post-processing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from accountant import BasicComposition, Plan, Protected, Step, ZCDPComposition
from accountant.arrays import FloatArray, IntArray, SignArray
from accountant.costs import float_up
from boosting import Spender
from mechanisms import GaussianNoise, LaplaceNoise, Mechanism, NoiseSource, PlainMechanism, Query
from mechanisms.core import Block, L1Sensitivity, L2Sensitivity, Rows
from mechanisms.queries import Neighbours, counts_l1, counts_l2

T = TypeVar("T")

MOST_LOG_ODDS: Final = 6.0
"""Scores are told apart up to these log-odds."""

BINS: Final = 48
"""Bins of `log_odds_edges`."""

PRIOR: Final = 4.0
"""Records per bin that the logistic curve counts for, in standard deviations of the noise on a count."""

TILT: Final = 1e-6
"""Slope where the curve is flat, so that calibrated scores rank records as the scores do."""

FARTHEST: Final = 1000.0
"""How far beyond the bins records are still ranked, in log-odds."""

LEAST: Final = 1e-3
"""Probabilities stay as far from 0 and 1."""


@attrs.frozen(eq=False)
class ScoreBins:
    """Records in the bins of a score.

    bins: shape (n,).  labels: each −1 or +1, shape (n,).  number: of bins; public.
    """

    bins: IntArray = attrs.field(repr=False)
    labels: SignArray = attrs.field(repr=False)
    number: int

    @staticmethod
    def of(scores: FloatArray, labels: SignArray, edges: Sequence[float]) -> "ScoreBins":
        """scores, labels: shape (n,).  edges: inner cut points, rising."""
        return ScoreBins(np.searchsorted(edges, scores, side="right"), labels, len(edges) + 1)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Records per bin and label, shape (number, 2), label −1 first."""
        slot = 2 * self.bins + (self.labels > 0)
        return np.bincount(slot, minlength=2 * self.number).reshape(-1, 2).astype(np.int64)


@attrs.frozen(slots=False, eq=False)
class BinnedRows(Generic[T]):
    """The same of records in blocks. binned: from some of them to their bins."""

    rows: Rows[T] = attrs.field(repr=False)
    binned: Callable[[T], ScoreBins]

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """See `ScoreBins`."""
        return self.rows.total(BinTotals(self.binned))


@attrs.frozen(eq=False)
class BinTotals:
    """`ScoreBins.counts` of a block. binned: see `BinnedRows`."""

    binned: Callable[[Any], ScoreBins]

    def __call__(self, block: Block[Any]) -> npt.NDArray[np.int64]:
        """Shape (number, 2)."""
        return self.binned(block.data).counts


class BinCounts(Protocol):
    """All that a calibration needs to know of the data."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Records per bin and label, shape (number, 2), label −1 first."""


C = TypeVar("C", bound=BinCounts)


def score_counts(data: BinCounts) -> FloatArray:
    """Records per bin and label, shape (bins, 2), label −1 first; integers."""
    return data.counts.astype(np.float64)


def histogram_l1(adjacency: Neighbours) -> Query[BinCounts, FloatArray, L1Sensitivity]:
    """`score_counts`, which move by 2 where a record is replaced, by 1 where one comes or goes. [score-histogram]"""
    return Query("score-histogram", score_counts, counts_l1(adjacency), adjacency, ("score-histogram",))


def histogram_l2(adjacency: Neighbours) -> Query[BinCounts, FloatArray, L2Sensitivity]:
    """The same in ℓ2: √2, as one count falls by 1 and another rises by 1; or 1. [score-histogram]"""
    return Query("score-histogram", score_counts, counts_l2(adjacency), adjacency, ("score-histogram",))


def log_odds_edges(unit: float = 1.0) -> tuple[float, ...]:
    """Inner cut points of BINS bins of equal width in log-odds. unit: log-odds per unit of score."""
    return tuple((np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, BINS - 1) / unit).tolist())


def vote_edges(rounds: int, unit: float) -> tuple[float, ...]:
    """The same for mean votes of `rounds` hypotheses, moved to where no mean vote lies: those in between."""
    place = np.rint((np.array(log_odds_edges(unit)) + 1.0) * rounds / 2.0 - 0.5)
    return tuple(((2.0 * np.unique(np.clip(place, 0, rounds - 1)) + 1.0) / rounds - 1.0).tolist())


@attrs.frozen
class Calibrator:
    """What a fit releases for its calibration, fixed before it starts. Everything here is public.

    share: of the budget, in (0, 1): of Σρ with Gaussian noise, of Σε with Laplace noise.
    edges: inner cut points of the score.  unit: log-odds that one unit of score stands for, a priori.
    gaussian: Gaussian noise, where there is a δ; else Laplace noise.
    """

    share: float
    edges: tuple[float, ...]
    unit: float
    adjacency: Neighbours
    gaussian: bool
    noise: NoiseSource

    def noise_scale(self, plan: Plan) -> float:
        """σ or b with which the histogram costs `share` of itself and the plan together."""
        rule = ZCDPComposition() if self.gaussian else BasicComposition()
        level = float_up(plan.amount(rule).loss) * self.share / (1.0 - self.share)
        if self.gaussian:
            return histogram_l2(self.adjacency).sensitivity.value / math.sqrt(2.0 * level)
        return histogram_l1(self.adjacency).sensitivity.value / level

    def mechanism(self, plan: Plan) -> Mechanism[BinCounts, FloatArray]:
        """The release beside a plan of other ones."""
        scale = self.noise_scale(plan)
        if self.gaussian:
            return PlainMechanism(histogram_l2(self.adjacency), GaussianNoise(scale), self.noise)
        return PlainMechanism(histogram_l1(self.adjacency), LaplaceNoise(scale), self.noise)

    def added(self, plan: Plan) -> Plan:
        """The plan with the histogram at its end."""
        return Plan((*plan.steps, Step(self.mechanism(plan).cost, 1)))

    def release(self, spender: Spender, plan: Plan, data: Protected[C]) -> "Calibration":
        """Pay for the histogram. plan: as given to `added`."""
        counts = spender.release(self.mechanism(plan), data)
        deviation = self.noise_scale(plan) * (1.0 if self.gaussian else math.sqrt(2.0))
        return Calibration(self.edges, counts.tolist(), deviation, self.unit)


def _pairs(counts: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(negative), float(positive)) for negative, positive in counts)


@attrs.frozen(slots=False)
class Calibration:
    """A released histogram, and the probability of label +1 that follows from it for every score.

    edges: inner cut points, rising.  counts: noisy, per bin (label −1, label +1).
    deviation: standard deviation of the noise on each count.  unit: log-odds per unit of score, a priori.
    """

    edges: tuple[float, ...] = attrs.field(converter=tuple[float, ...])
    counts: tuple[tuple[float, float], ...] = attrs.field(converter=_pairs)
    deviation: float
    unit: float

    def __attrs_post_init__(self) -> None:
        if not self.edges or len(self.counts) != len(self.edges) + 1 or np.any(np.diff(self.edges) <= 0.0):
            raise ValueError(f"expected rising edges and a pair of counts per bin, got {self.edges}, {self.counts}")
        numbers = [*self.edges, *(count for pair in self.counts for count in pair)]
        if not (np.all(np.isfinite(numbers)) and 0.0 < self.deviation < np.inf and 0.0 < self.unit < np.inf):
            raise ValueError("expected finite numbers, and a positive deviation and unit")

    @cached_property
    def curve(self) -> tuple[FloatArray, FloatArray]:
        """Scores in rising order and probabilities there, strictly rising; straight lines in between.

        Each bin starts from the logistic curve, with a weight of PRIOR times the noise, and learns from its counts;
        pooling adjacent violators makes that rise.
        """
        edges = np.array(self.edges)
        ends = (1.0 / self.unit,) if edges.size == 1 else np.diff(edges)[[0, -1]]
        knots = np.convolve(np.concatenate([[edges[0] - ends[0]], edges, [edges[-1] + ends[-1]]]), [0.5, 0.5], "valid")
        prior, weight = expit(self.unit * knots), PRIOR * self.deviation
        negative, positive = np.array(self.counts).T
        total = np.maximum(negative + positive + weight, 0.25 * weight)
        share = np.clip((positive + weight * prior) / total, -1.0, 2.0)
        rising = np.asarray(isotonic_regression(share, sample_weight=total), dtype=np.float64)
        curve = np.clip(rising, LEAST, 1.0 - LEAST) + TILT * (prior - 0.5)
        # Beyond the bins it goes on, just not flat.
        far = FARTHEST / self.unit
        return (
            np.concatenate([[knots[0] - far], knots, [knots[-1] + far]]),
            np.concatenate([[curve[0] - TILT], curve, [curve[-1] + TILT]]),
        )

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Of label +1, shape (n,), each of its own score alone. [records-alone]"""
        return np.interp(scores, *self.curve)  # value by value, as scipy's logit and expit

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """Of label +1, shape (n,): positive exactly beyond `threshold`, where the estimated accuracy is largest."""
        return np.asarray(logit(self.probabilities(scores)))

    @property
    def threshold(self) -> float:
        """The score of even odds; ∓∞ where all records, or none, are more likely to be +1."""
        knots, curve = self.curve
        if curve[0] > 0.5 or curve[-1] <= 0.5:
            return -math.inf if curve[0] > 0.5 else math.inf
        return float(np.interp(0.5, curve, knots))

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "edges": list(self.edges),
            "counts": [list(pair) for pair in self.counts],
            "deviation": self.deviation,
            "unit": self.unit,
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "Calibration":
        """The inverse of `as_record`. Raises ValueError for a malformed record."""
        try:
            edges = [float(edge) for edge in cast("Sequence[float]", record["edges"])]
            counts = cast("Sequence[Sequence[float]]", record["counts"])
            deviation, unit = (float(cast("float", record[name])) for name in ("deviation", "unit"))
            return Calibration(tuple(edges), counts, deviation, unit)
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected edges, counts, deviation and unit: {error!r}") from error
