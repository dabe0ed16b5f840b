"""What sampling would have found: the factor that a report states, and for which alternatives.

The alternatives: on the pair, one of the events that were tested has a probability between LIKELY and 1 − LIKELY on one
data set, and what it loses by itself, in the currency of the cost, is `factor` times what is declared. (A width is
lost on two such events, one in each direction.) For every one of them, the check refutes the claim with at least the
probability POWER, whatever else the mechanism does and whichever event looked worst: all events are tested, so no
choice comes in between, and what is left are binomial counts, of which quantiles are taken exactly.

Nothing is said of a mechanism that loses on rarer events, or on none that was tested. Which are tested: see
`proofs_tests.harness.statistical`; each single output is where there are at most 64 different ones.
"""

import functools
import math
from typing import Final

import attrs
import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri

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
from accountant.arrays import FloatArray
from proofs_tests.harness.statistical import (
    EVENTS,
    laplace_chance,
    laplace_quantile,
    lower_bounds,
    lowest,
    one_way,
    share,
    tested,
)

POWER: Final = 0.9
"""The probability that reports state."""

LIKELY: Final = 0.05
"""Events that are rarer are not among the alternatives."""

ALTERNATIVES: Final = f"a tested event of probability {LIKELY:g} to {1.0 - LIKELY:g} loses so much"
DRAW_ALTERNATIVES: Final = f"an outcome of stated probability {LIKELY:g} or more comes so much too often"

MOST: Final = 1e6
"""A factor above is no use to anybody."""

PROBABILITIES: Final = np.concatenate([np.geomspace(LIKELY, 0.5, 9), 1.0 - np.geomspace(0.5, LIKELY, 9)[1:]])
SPLITS: Final = (1.0, 0.875, 0.75, 0.625, 0.5)
"""How a width is divided between the two directions."""


@functools.lru_cache(maxsize=1024)
def smallest_detectable(
    cost: Cost,
    samples: int,
    confidence: float = 1.0 - 1e-6,
    events: int = 2 * EVENTS,
    *,
    failure: float | None = None,
) -> float | None:
    """The smallest factor by which a cost can be too small and be found with probability POWER; None if there is none.

    samples: draws on each of the two data sets.  events: how many were tested, in either direction.
    failure: 1 − confidence, where that is too small for a float beside 1.
    The factor is right for each of the alternatives above, and is that of the worst of them.
    """
    found = functools.partial(_found_at, cost, samples=samples, failure=failure or 1.0 - confidence, events=events)
    low, high = 1.0, 2.0
    if attrs.astuple(cost)[0] == 0.0:
        return None  # all factors of nothing are nothing
    while not found(high):
        low, high = high, 2.0 * high
        if high > MOST:
            return None
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _found_at(cost: Cost, factor: float, samples: int, failure: float, events: int) -> bool:
    """Whether counts prove more than is claimed with probability POWER, for the worst alternative of this factor."""
    claimed = float(attrs.astuple(cost)[0])
    trials, failure = tested(samples), share(one_way(failure), events)
    # A width takes four counts, of which those of one data set depend on each other: chances of error add up.
    tail = 0.25 * (1.0 - POWER) if isinstance(cost, BoundedRange) else 1.0 - math.sqrt(POWER)
    if not isinstance(cost, BoundedRange):
        return bool(np.min(_proved(cost, factor * claimed, trials, failure, tail)) > claimed)
    ways = [
        _proved(cost, part * factor * claimed, trials, failure, tail)
        + _proved(cost, (1.0 - part) * factor * claimed, trials, failure, tail)
        for part in SPLITS
    ]
    return bool(np.min(ways) > claimed)


def _proved(cost: Cost, loss: float, trials: int, failure: float, tail: float) -> FloatArray:
    """What counts of events that lose so much prove, shape of PROBABILITIES; each unlucky in a share `tail` of runs."""
    p, q = PROBABILITIES, _other(cost, loss)
    hits, misses = (np.asarray(count) for count in (stats.binom.ppf(tail, trials, p), stats.binom.isf(tail, trials, q)))
    return lower_bounds(cost, lowest(hits, trials, failure), 1.0 - lowest(trials - misses, trials, failure))


def _other(cost: Cost, loss: float) -> FloatArray:
    """The probabilities q at which events of PROBABILITIES lose so much."""
    p = PROBABILITIES
    match cost:
        case PureDP() | BoundedRange():
            return p * math.exp(-loss)
        case ApproxDP(delta=delta):
            # An event that is no likelier than δ shows nothing: it is as likely on the other data set.
            return np.where(p > delta, (p - delta) * math.exp(-loss), p)
        case LaplaceDP():
            return laplace_chance(laplace_quantile(p) - loss)
        case GDP():
            return np.asarray(ndtr(ndtri(p) - loss))
        case ZCDP():
            low, high = np.zeros_like(p), p
            for _ in range(50):
                middle = 0.5 * (low + high)
                enough = lower_bounds(cost, p, middle) >= loss
                low, high = np.where(enough, middle, low), np.where(enough, high, middle)
            return high
        case SubsampledGaussian():
            raise UnsupportedCost(f"{cost!r} is a curve and no number: check its cost.to_approx(delta=...)")
        case Unbounded():
            raise UnsupportedCost("Unbounded() declares nothing, so there is nothing to check")


def smallest_detectable_draw(stated: FloatArray, samples: int, failure: float) -> float | None:
    """The same for stated probabilities: the factor by which one outcome comes too often, found with probability POWER.

    stated: the probabilities of outcomes, shape (k,), of which those from LIKELY on are among the alternatives, the
    rarest of them being the worst.  failure: the chance of error of one bound.  None where none can come too often.
    """
    likely = stated[(stated >= LIKELY) & (stated < 1.0 - 1e-9)]
    if not likely.size:
        return None
    rarest = float(np.min(likely))

    def found(factor: float) -> bool:
        hits = stats.binom.ppf(1.0 - POWER, samples, min(1.0, factor * rarest))
        return bool(lowest(np.array([hits]), samples, failure)[0] > rarest)

    low, high = 1.0, 1.0 / rarest
    if not found(high):
        return None
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
