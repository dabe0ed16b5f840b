"""Lower bounds on what a sampler loses, with stated confidence.

An event is chosen on one half of the samples and its two probabilities are bounded on the other half by
Clopper & Pearson's exact intervals, so the choice costs no confidence.
"""

import functools
import math
from collections.abc import Callable, Iterable
from typing import TypeVar

import attrs
import numpy as np
from scipy import stats
from scipy.special import ndtri

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, Cost, PureDP, Unbounded, UnsupportedCost
from mechanisms.core import FloatArray, Mechanism
from proofs_tests.harness.neighbours import Pair

D = TypeVar("D")
R = TypeVar("R")

AXES = 32
"""Outputs of at most so many numbers are also looked at number by number."""

EVENTS = 400
"""How many half-lines are tried on the choosing half."""


@attrs.frozen
class Estimate:
    """Bounds that hold together with the stated confidence: P(event) >= low on one data set, <= high on the other."""

    low: float
    high: float
    event: str
    samples: int
    confidence: float


def clopper_pearson(hits: int, trials: int, failure: float) -> tuple[float, float]:
    """One-sided bounds on a probability, each wrong with chance at most `failure`."""
    low = float(stats.beta.ppf(failure, hits, trials - hits + 1)) if hits else 0.0
    high = float(stats.beta.ppf(1.0 - failure, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high


def lower_bound(cost: Cost, low: float, high: float) -> float:
    """What two such probabilities prove, in the currency of the cost: ε, ρ or μ; 0 where nothing."""
    if not low > high:
        return 0.0
    match cost:
        case PureDP() | BoundedRange():
            return math.log(low / high)
        case ApproxDP(delta=delta):
            return math.log((low - delta) / high) if low - delta > high else 0.0
        case ZCDP():
            return _binary_rho(low, high)
        case GDP():
            return float(ndtri(low) - ndtri(high)) if high > 0.0 and low < 1.0 else 0.0
        case Unbounded():
            raise UnsupportedCost("Unbounded() declares nothing, so there is nothing to check")


def _binary_rho(p: float, q: float) -> float:
    """max over orders of D_α/α between two coins: the data-processing inequality."""
    orders = 1.0 + np.geomspace(1e-3, 1e3, 200)
    logs = np.logaddexp(
        orders * math.log(p) + (1.0 - orders) * math.log(q),
        orders * np.log1p(-p) + (1.0 - orders) * np.log1p(-q) if p < 1.0 else np.full_like(orders, -np.inf),
    )
    return max(0.0, float(np.max(logs / ((orders - 1.0) * orders))))


def _numeric(output: object) -> bool:
    """Whether an output is made of numbers that floats hold exactly; complex ones count as two."""
    if isinstance(output, tuple | list):
        return all(isinstance(item, bool | int | float | np.number) and _numeric(item) for item in output)
    if isinstance(output, bool | float | np.floating | np.complexfloating | complex):
        return True
    if isinstance(output, int | np.integer):
        return abs(int(output)) <= 2**53
    if isinstance(output, np.ndarray):
        if output.dtype.kind in "iu":
            return output.size == 0 or int(np.max(np.abs(output.astype(object)))) <= 2**53
        return output.dtype.kind in "bfc" and output.dtype.itemsize <= 16
    return False


def _encoded(output: object) -> str:
    """A text that differs wherever outputs differ. Raises TypeError for a type that cannot be read."""
    if isinstance(output, np.ndarray) and output.dtype.kind != "O":
        return f"{output.dtype}{output.shape}{output.tobytes().hex()}"
    if isinstance(output, np.ndarray | list | tuple):
        return f"{type(output).__name__}[{','.join(_encoded(item) for item in output)}]"
    if isinstance(output, dict):
        return "{" + ",".join(f"{_encoded(key)}:{_encoded(item)}" for key, item in output.items()) + "}"
    if isinstance(output, str | bytes | int | float | complex | bool | np.generic | type(None)):
        return f"{type(output).__name__} {output!r}"
    fields = getattr(type(output), "__attrs_attrs__", None)
    if fields is not None:
        return f"{type(output).__name__}({','.join(_encoded(getattr(output, field.name)) for field in fields)})"
    raise TypeError(
        f"outputs of type {type(output).__name__} cannot be compared: release numbers, texts or attrs classes"
    )


def _as_rows(outputs: Iterable[R]) -> FloatArray:
    """Outputs as rows of numbers; anything else becomes the rank of its text."""
    given: list[object] = list(outputs)
    arrays = [np.asarray(output) for output in given] if all(_numeric(output) for output in given) else []
    if len({array.shape for array in arrays}) == 1:
        rows = np.array([array.ravel() for array in arrays])
        wide = np.hstack([rows.real, rows.imag]) if np.iscomplexobj(rows) else rows
        return np.asarray(wide, dtype=np.float64)
    texts = [_encoded(output) for output in given]
    ranks = {text: float(rank) for rank, text in enumerate(sorted(set(texts)))}
    return np.array([[ranks[text]] for text in texts])


def _numbers(rows: FloatArray) -> FloatArray:
    """Rows with what is not finite as 0, and columns that say where and what it was; unchanged if all is finite."""
    if np.all(np.isfinite(rows)):
        return rows
    return np.hstack(
        [np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0), np.isnan(rows), np.isposinf(rows), np.isneginf(rows)]
    )


def _directions(first: FloatArray, second: FloatArray) -> FloatArray:
    """Where to look, as columns: the difference of the means, the same over the covariance, and each coordinate."""
    difference = first.mean(axis=0) - second.mean(axis=0)
    spread = 0.5 * (np.cov(first, rowvar=False) + np.cov(second, rowvar=False)).reshape(difference.size, -1)
    scale = np.sqrt(np.diag(spread))
    scale = np.where(scale > 0.0, scale, 1e-12 * (1.0 + np.abs(difference)))
    unit = spread / np.outer(scale, scale)
    ridge = 1e-9 * np.eye(difference.size)
    whitened = np.linalg.solve(unit + ridge, difference / scale) / scale
    axes = np.diag(np.where(difference < 0.0, -1.0, 1.0)) if difference.size <= AXES else np.zeros((difference.size, 0))
    return np.column_stack([difference, whitened, axes])


def _along(way: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray(rows @ way)


def _scores(first: FloatArray, second: FloatArray) -> list[Callable[[FloatArray], FloatArray]]:
    """Scores worth looking at: a table of log-ratios where rows repeat, and some directions."""
    scores: list[Callable[[FloatArray], FloatArray]] = [
        functools.partial(_along, way) for way in _directions(first, second).T
    ]
    rows, both = np.unique(np.vstack([first, second]), axis=0, return_inverse=True)
    if rows.shape[0] <= first.shape[0] // 4:
        both = both.ravel()
        counts = [np.bincount(part, minlength=rows.shape[0]) + 0.5 for part in np.split(both, [first.shape[0]])]
        ratios = np.log(counts[0] / counts[1])
        table = {row.tobytes(): float(ratio) for row, ratio in zip(rows, ratios, strict=True)}
        scores.append(lambda x: np.array([table.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(x)]))
    return scores


def _best_event(cost: Cost, first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """The threshold whose half-line looks worst on the choosing half, and how bad it looks."""
    thresholds = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.0, 1.0, EVENTS)))
    trials = first.size
    hits = trials - np.searchsorted(np.sort(first), thresholds)
    misses = trials - np.searchsorted(np.sort(second), thresholds)
    lows = np.where(hits > 0, stats.beta.ppf(1e-3, np.maximum(hits, 1), trials - hits + 1), 0.0)
    highs = np.where(misses < trials, stats.beta.ppf(1.0 - 1e-3, misses + 1, np.maximum(trials - misses, 1)), 1.0)
    worths = [lower_bound(cost, low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
    best = int(np.argmax(worths))
    return float(thresholds[best]), worths[best]


def estimate(cost: Cost, first: FloatArray, second: FloatArray, confidence: float) -> tuple[float, Estimate]:
    """A lower bound from outputs on two data sets, shape (samples, d) each, and the event that shows it."""
    half = first.shape[0] // 2
    rows = _numbers(np.vstack([first, second]))
    first, second = rows[: first.shape[0]], rows[first.shape[0] :]
    # Scores are made on one quarter and compared on another, so that a table that fits its own noise does not win.
    made = half // 2
    looks = [
        (score, *_best_event(cost, score(first[made:half]), score(second[made:half])))
        for score in _scores(first[:made], second[:made])
    ]
    score, threshold, _ = max(looks, key=lambda look: look[2])
    rest = first.shape[0] - half
    failure = 0.5 * (1.0 - confidence)
    low, _ = clopper_pearson(int(np.sum(score(first[half:]) >= threshold)), rest, failure)
    _, high = clopper_pearson(int(np.sum(score(second[half:]) >= threshold)), rest, failure)
    found = Estimate(low, high, f"score >= {threshold:.4g}", first.shape[0], confidence)
    return lower_bound(cost, low, high), found


def outputs(mechanism: Mechanism[D, R], data: D, number: int) -> FloatArray:
    """Draws on one data set, as rows of numbers."""
    return _as_rows(mechanism.sample(data) for _ in range(number))


def empirical_epsilon(
    mechanism: Mechanism[D, R], pair: Pair[D], delta: float, samples: int, confidence: float = 1.0 - 1e-6
) -> float:
    """A lower bound on ε at δ for this pair, right with that confidence; both directions are tried.

    delta: in [0, 1).  samples: draws on each data set, half of them to choose the event.
    """
    cost = ApproxDP(1.0, delta) if delta else PureDP(1.0)
    first, second = _aligned(mechanism, pair, samples)
    each = 0.5 * (1.0 + confidence)
    return max(estimate(cost, first, second, each)[0], estimate(cost, second, first, each)[0])


def _aligned(mechanism: Mechanism[D, R], pair: Pair[D], samples: int) -> tuple[FloatArray, FloatArray]:
    """Draws on both, put into numbers together, so that equal outputs get equal rows."""
    drawn = [mechanism.sample(pair.before) for _ in range(samples)]
    drawn += [mechanism.sample(pair.after) for _ in range(samples)]
    rows = _as_rows(drawn)
    return rows[:samples], rows[samples:]


def statistical_bound(
    mechanism: Mechanism[D, R], pair: Pair[D], cost: Cost, samples: int, confidence: float
) -> tuple[float, Estimate]:
    """The same in the currency of a declared cost: ε, ρ or μ."""
    first, second = _aligned(mechanism, pair, samples)
    each = 0.5 * (1.0 + confidence)
    ways = estimate(cost, first, second, each), estimate(cost, second, first, each)
    if isinstance(cost, BoundedRange):
        # The largest loss and the smallest are both bounded, and a width is their difference.
        return sum(max(0.0, found) for found, _ in ways), max(ways, key=lambda found: found[0])[1]
    return max(ways, key=lambda found: found[0])


@functools.lru_cache(maxsize=1024)
def smallest_detectable(cost: Cost, samples: int, confidence: float = 1.0 - 1e-6) -> float:
    """The smallest factor by which a cost can be understated and still be found, for a typical mechanism of its kind.

    Not for every mechanism: for Laplace noise (pure DP and (ε, δ)), a choice of two (bounded range) and Gaussian noise
    (ρ and μ), each at the factor's cost, with counts two standard deviations short of their means. A mechanism that
    loses its ε on rare events only, or on none that is a half-line of a score, takes more.
    """
    low, high = 1.0, 2.0
    while not _found_at(cost, high, samples, confidence):
        low, high = high, 2.0 * high
        if high > 1e6:
            return math.inf
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _found_at(cost, middle, samples, confidence) else (middle, high)
    return high


def _typical_events(cost: Cost, factor: float) -> tuple[FloatArray, FloatArray]:
    """P and Q of the events worth looking at, for a typical mechanism at factor times the cost."""
    match cost:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return np.array([0.5]), np.array([0.5 * math.exp(-factor * epsilon)])
        case BoundedRange(epsilon=epsilon):
            likely = 1.0 / (1.0 + math.exp(-0.5 * factor * epsilon))
            return np.array([likely]), np.array([1.0 - likely])
        case ZCDP(rho=rho):
            mu = math.sqrt(2.0 * factor * rho)
        case GDP(mu=declared):
            mu = factor * declared
    thresholds = np.linspace(-3.0, 3.0 + mu, 40)
    return np.asarray(stats.norm.sf(thresholds - mu)), np.asarray(stats.norm.sf(thresholds))


def _found_at(cost: Cost, factor: float, samples: int, confidence: float) -> bool:
    trials, failure = samples - samples // 2, 0.25 * (1.0 - confidence)
    claimed = attrs.astuple(cost)[0]
    p, q = _typical_events(cost, factor)
    hits = np.floor(trials * p - 2.0 * np.sqrt(trials * p * (1.0 - p)))
    misses = np.ceil(trials * q + 2.0 * np.sqrt(trials * q * (1.0 - q)))
    # Events so rare or so sure that a bound would be 0 or 1 show nothing.
    useful = (hits > 0.0) & (misses < trials)
    lows = stats.beta.ppf(failure, hits[useful], trials - hits[useful] + 1.0)
    highs = stats.beta.ppf(1.0 - failure, misses[useful] + 1.0, trials - misses[useful])
    ways = 2.0 if isinstance(cost, BoundedRange) else 1.0  # a width adds up over both directions
    return any(
        ways * lower_bound(cost, float(low), float(high)) > claimed for low, high in np.column_stack([lows, highs])
    )
