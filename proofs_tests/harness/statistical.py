"""Lower bounds on what a sampler loses, with stated confidence.

A quarter of the samples says where to look: an eighth makes the scores, an eighth the events, half-lines of these
scores. On the other three quarters *all* events are tested, by Clopper & Pearson's exact intervals: the one that looked
worst takes half of the chance of error, the others share the rest. So an event that loses too much is found whichever
event looked worst, and what is found with which probability can be said (`proofs_tests.harness.power`).
"""

import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeGuard, TypeVar

import attrs
import numpy as np
from scipy import stats
from scipy.special import ndtri

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    UnsupportedCost,
)
from accountant.arrays import FloatArray, IntArray
from mechanisms.core.mechanism import Mechanism
from proofs_tests.harness.draws import Draws, many_of
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.outcomes import as_rows

D = TypeVar("D")
R = TypeVar("R")

Score: TypeAlias = Callable[[FloatArray], FloatArray]
"""Rows, shape (k, d), to numbers, shape (k,)."""


@attrs.frozen
class Named:
    """A score that reports can name."""

    name: str
    score: Score

    def __call__(self, rows: FloatArray) -> FloatArray:
        return self.score(rows)


Scores: TypeAlias = Callable[[FloatArray, FloatArray], list[Score]]
"""Outputs on two data sets, shape (k, d) each, to scores that may tell others apart."""

AXES = 32
"""Outputs of at most so many numbers are also looked at number by number."""

OUTCOMES = 64
"""Where there are at most so many different outputs, each is also looked at by itself."""

LEAST_FAILURE = 1e-200
"""Least chance of error of one look at one pair; quantiles of smaller ones cannot be computed."""

WHITENED = 500
"""The covariance of outputs is looked at up to so many numbers."""

HUGE = 1e100
"""Squares of larger numbers are infinite."""

LARGEST = 1e300
"""The difference of larger scores is infinite."""

EVENTS = 100
"""At most so many thresholds of a score, each of which makes two half-lines."""


@attrs.frozen
class Estimate:
    """What is proved with the stated confidence: the bound, the event that shows it, and how many were tested."""

    bound: float
    event: str
    events: int


def lowest(hits: FloatArray, trials: float, failure: float) -> FloatArray:
    """Lower bounds on probabilities by their counts, shape of `hits`, each wrong with chance at most `failure`."""
    counts, places = np.unique(hits, return_inverse=True)  # events are many, and counts of few draws are few
    low = stats.beta.ppf(failure, np.maximum(counts, 1.0), trials - counts + 1.0)
    return np.asarray(np.where(counts > 0.0, low, 0.0)[places.reshape(hits.shape)])


def clopper_pearson(hits: int, trials: int, failure: float) -> tuple[float, float]:
    """One-sided bounds on a probability, each wrong with chance at most `failure`."""
    both = lowest(np.array([hits, trials - hits], dtype=np.float64), trials, failure)
    return float(both[0]), float(1.0 - both[1])


def lower_bounds(cost: Cost, low: FloatArray, high: FloatArray) -> FloatArray:
    """What P(event) >= low on one data set and <= high on the other prove, in the currency of the cost: ε, ρ or μ.

    low, high: shape (k,), as is what comes back; 0 where nothing is proved.
    """
    found = np.zeros_like(low)
    shown = low > high
    p, q = low[shown], high[shown]
    with np.errstate(divide="ignore"):
        match cost:
            case PureDP() | BoundedRange():
                found[shown] = np.log(p / q)
            case ApproxDP(delta=delta):
                found[shown] = np.log(np.maximum(p - delta, 0.0) / q)
            case LaplaceDP():
                found[shown] = laplace_quantile(p) - laplace_quantile(q)
            case ZCDP():
                found[shown] = _binary_rho(p, q)
            case GDP():
                found[shown] = ndtri(p) - ndtri(q)
            case SubsampledGaussian():
                raise UnsupportedCost(f"{cost!r} is a curve and no number: check its cost.to_approx(delta=...)")
            case Unbounded():
                raise UnsupportedCost("Unbounded() declares nothing, so there is nothing to check")
    return np.maximum(found, 0.0)


def laplace_quantile(chances: FloatArray) -> FloatArray:
    """Where Laplace noise of scale 1 stays below with these chances, shape of `chances`; ∓∞ for 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(chances < 0.5, np.log(2.0 * chances), -np.log(2.0 * (1.0 - chances))))


def laplace_chance(quantiles: FloatArray) -> FloatArray:
    """The inverse of `laplace_quantile`."""
    tail = 0.5 * np.exp(-np.abs(quantiles))
    return np.asarray(np.where(quantiles < 0.0, tail, 1.0 - tail))


def _binary_rho(p: FloatArray, q: FloatArray) -> FloatArray:
    """max over orders of D_α/α between two coins: the data-processing inequality. p > q, shape (k,)."""
    orders = (1.0 + np.geomspace(1e-3, 1e3, 200))[:, None]
    with np.errstate(divide="ignore"):
        rest = np.where(p < 1.0, orders * np.log1p(-p), -np.inf) + (1.0 - orders) * np.log1p(-q)
    logs = np.logaddexp(orders * np.log(p) + (1.0 - orders) * np.log(q), rest)
    return np.asarray(np.max(logs / ((orders - 1.0) * orders), axis=0))


def _numbers(rows: FloatArray) -> FloatArray:
    """Rows with what is not finite as 0, and columns that say where and what it was; unchanged if all is finite."""
    if np.all(np.isfinite(rows)):
        return rows
    return np.hstack(
        [np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0), np.isnan(rows), np.isposinf(rows), np.isneginf(rows)]
    )


def _directions(first: FloatArray, second: FloatArray) -> FloatArray:
    """Where to look, as columns: the difference of the means, the same over the covariance, and each coordinate.

    Of outputs of more than `WHITENED` numbers the covariance would cost more than it shows.
    """
    first, second = np.clip(first, -HUGE, HUGE), np.clip(second, -HUGE, HUGE)
    difference: FloatArray = first.mean(axis=0) - second.mean(axis=0)
    if difference.size > WHITENED:
        return difference[:, None]
    spread = 0.5 * (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)).reshape(difference.size, -1)
    scale = np.sqrt(np.diag(spread))
    scale = np.where(scale > 0.0, scale, 1e-12 * (1.0 + np.abs(difference)))
    unit = spread / np.outer(scale, scale)
    ridge = 1e-9 * np.eye(difference.size)
    whitened = np.linalg.solve(unit + ridge, difference / scale) / scale
    axes = np.diag(np.where(difference < 0.0, -1.0, 1.0)) if difference.size <= AXES else np.zeros((difference.size, 0))
    return np.column_stack([difference, whitened, axes]) if difference.size > 1 else axes


def _along(way: FloatArray, rows: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        found: FloatArray = np.nan_to_num(rows @ way, posinf=LARGEST, neginf=-LARGEST)
    return found


def _scores(first: FloatArray, second: FloatArray) -> list[Score]:
    """Scores worth looking at: some directions; where rows repeat a table of log-ratios; and each of a few rows."""
    scores: list[Score] = [functools.partial(_along, way) for way in _directions(first, second).T]
    rows, both = _different(np.vstack([first, second]))
    if rows.shape[0] <= first.shape[0] // 4:
        counts = [np.bincount(part, minlength=rows.shape[0]) + 0.5 for part in np.split(both, [first.shape[0]])]
        ratios = np.log(counts[0] / counts[1])
        table = {row.tobytes(): float(ratio) for row, ratio in zip(rows, ratios, strict=True)}
        scores.append(Named("log-ratio of the output", functools.partial(_looked_up, table)))
    if rows.shape[0] <= OUTCOMES:
        scores += [Named(f"output is {_short(row)}", functools.partial(_is, row)) for row in rows]
    return scores


def _short(row: FloatArray) -> str:
    shown = ", ".join(f"{number:.6g}" for number in row[:8])
    return f"({shown}, …)" if row.size > 8 else f"({shown})"


def _looked_up(table: dict[bytes, float], rows: FloatArray) -> FloatArray:
    """What the table says of each row; 0 of one that it lacks."""
    different, place = _different(rows)  # rows repeat, so these are few
    return np.array([table.get(row.tobytes(), 0.0) for row in different])[place]


def _different(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """The rows that differ, with no negative zeros, and which of them each row is."""
    if rows.shape[1] == 1:  # sorted much faster
        values, place = np.unique(rows[:, 0] + 0.0, return_inverse=True)
        return values[:, None], place
    found, place = np.unique(rows + 0.0, axis=0, return_inverse=True)
    return found, place.ravel()


def _is(row: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray(np.all(rows == row, axis=1), dtype=np.float64)


@attrs.frozen
class _Counts:
    """How often each event came: score >= t and score < t for each threshold t of a score, shape (2k,)."""

    name: str
    thresholds: FloatArray
    hits: FloatArray
    misses: FloatArray
    trials: int

    @staticmethod
    def of(score: Score, first: FloatArray, second: FloatArray, thresholds: FloatArray) -> "_Counts":
        """first, second: the score of as many outputs on each data set."""
        above = [side.size - np.searchsorted(np.sort(side), thresholds) for side in (first, second)]
        hits, misses = (np.concatenate([side, first.size - side]).astype(np.float64) for side in above)
        name = score.name if isinstance(score, Named) else "score"
        return _Counts(name, thresholds, hits, misses, first.size)

    def bounds(self, cost: Cost, failure: float, only: slice = slice(None)) -> FloatArray:
        """What each event proves, or some of them; wrong with chance at most 2·failure."""
        low = lowest(self.hits[only], self.trials, failure)
        return lower_bounds(cost, low, 1.0 - lowest(self.trials - self.misses[only], self.trials, failure))

    def event(self, place: int) -> str:
        """Its name."""
        sign = ">=" if place < self.thresholds.size else "<"
        return f"{self.name} {sign} {self.thresholds[place % self.thresholds.size]:.4g}"


def _thresholds(first: FloatArray, second: FloatArray) -> FloatArray:
    """Quantiles of a score; but for the smallest, which nothing is below."""
    cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.0, 1.0, EVENTS + 1)))
    return cuts[1:] if cuts.size > 1 else cuts


def tested(samples: int) -> int:
    """How many of the draws on each data set the events are tested on."""
    return samples - 2 * (samples // 8)


def share(failure: float, events: int) -> float:
    """The chance of error of a bound on a probability of one of so many events; the favourite has `events` times it."""
    return 0.25 * failure / events


def _varied(first: FloatArray, second: FloatArray, made: int) -> tuple[FloatArray, FloatArray]:
    """Without the columns that are one number in the draws that scores are made of: what the others hold is no say."""
    seen = np.vstack([first[:made], second[:made]])
    columns = np.flatnonzero(np.any(seen != seen[0], axis=0))
    columns = columns if columns.size else np.arange(1)
    return first[:, columns], second[:, columns]


def estimate(cost: Cost, first: FloatArray, second: FloatArray, failure: float, more: Scores | None = None) -> Estimate:
    """A lower bound from outputs on two data sets, shape (samples, d) each, and the event that shows it.

    failure: the chance that it is no bound.
    more: what else to look at, beside directions, outcomes and their log-ratios; made of outputs of its own.
    """
    rows = _numbers(np.vstack([first, second]))
    first, second = _varied(rows[: first.shape[0]], rows[first.shape[0] :], first.shape[0] // 8)
    # Events are made and compared on draws that made no score, so that a table that fits its own noise does not win.
    made = first.shape[0] // 8
    compared, counted = list[_Counts](), list[_Counts]()
    for score in _scores(first[:made], second[:made]) + ([] if more is None else more(first[:made], second[:made])):
        one, other = score(first[made:]), score(second[made:])
        cuts = _thresholds(one[:made], other[:made])
        compared.append(_Counts.of(score, one[:made], other[:made], cuts))
        counted.append(_Counts.of(score, one[made:], other[made:], cuts))
    places = [(counts, place) for counts in counted for place in range(counts.hits.size)]
    favourite = int(np.argmax(_bounds(cost, compared, 1e-3)))
    found = _bounds(cost, counted, share(failure, len(places)))
    counts, place = places[favourite]
    found[favourite] = counts.bounds(cost, share(failure, 1), slice(place, place + 1))[0]
    worst = int(np.argmax(found)) if np.any(found > 0.0) else favourite
    counts, place = places[worst]
    return Estimate(float(found[worst]), counts.event(place), len(places))


def _bounds(cost: Cost, counts: list[_Counts], failure: float) -> FloatArray:
    """Of the events of all scores at once, as each look at a quantile has a cost of its own."""
    hits, misses = np.concatenate([each.hits for each in counts]), np.concatenate([each.misses for each in counts])
    return _Counts("all", np.empty(0), hits, misses, counts[0].trials).bounds(cost, failure)


def empirical_epsilon(
    mechanism: Mechanism[D, R], pair: Pair[D], delta: float, samples: int, confidence: float = 1.0 - 1e-6
) -> float:
    """A lower bound on ε at δ for this pair, right with that confidence; both directions are tried.

    delta: in [0, 1).  samples: draws on each data set, a quarter of them to choose the events.
    """
    cost = ApproxDP(1.0, delta) if delta else PureDP(1.0)
    return statistical_bound(Draws(many_of(mechanism)), pair, cost, samples, 1.0 - confidence).bound


def _is_table(outputs: object) -> TypeGuard[FloatArray]:
    return isinstance(outputs, np.ndarray) and outputs.dtype == np.float64


def rows_of(first: Sequence[R], second: Sequence[R]) -> tuple[FloatArray, FloatArray]:
    """Outputs on both, put into numbers together, so that equal outputs get equal rows; shape (samples, d) each."""
    if _is_table(first) and _is_table(second) and first.shape[1:] == second.shape[1:] and first.size:
        return first.reshape(len(first), -1), second.reshape(len(second), -1)
    rows = as_rows([*first, *second])
    return rows[: len(first)], rows[len(first) :]


def one_way(failure: float) -> float:
    """The chance of error of each of the two directions. Raises ValueError where it is too small to be computed."""
    if not failure >= LEAST_FAILURE:
        raise ValueError(
            f"confidence: the chance of error of one look must be at least {LEAST_FAILURE:g}, to be computed; "
            "allow for more error, or look at fewer pairs"
        )
    return 0.5 * failure


def statistical_bound(draws: Draws[D, R], pair: Pair[D], cost: Cost, samples: int, failure: float) -> Estimate:
    """A lower bound in the currency of a declared cost, ε, ρ or μ; both directions are tried."""
    return bound_between(cost, *rows_of(*(draws.of(data, samples) for data in pair)), failure)


def bound_between(
    cost: Cost, first: FloatArray, second: FloatArray, failure: float, more: Scores | None = None
) -> Estimate:
    """The same from outputs on two data sets, shape (samples, d) each. Raises ValueError for fewer than 16 samples."""
    if first.shape[0] < 16:
        raise ValueError(f"samples: expected at least 16 draws on each data set, got {first.shape[0]}")
    each = one_way(failure)
    ways = estimate(cost, first, second, each, more), estimate(cost, second, first, each, more)
    worst = max(ways, key=lambda way: way.bound)
    events = max(way.events for way in ways)
    if isinstance(cost, BoundedRange):
        # The largest loss and the smallest are both bounded, and a width is their difference.
        return attrs.evolve(worst, bound=sum(way.bound for way in ways), events=events)
    return attrs.evolve(worst, events=events)
