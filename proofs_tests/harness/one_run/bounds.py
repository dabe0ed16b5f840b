"""Lower bounds on a cost by how many guesses are right, and how many guesses to make."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from scipy import stats
from scipy.special import ndtr

from accountant import GDP, ApproxDP, Cost, PureDP, UnsupportedCost
from accountant.costs import gaussian
from proofs_tests.harness.one_run.tails import (
    Counts,
    approximate_tail,
    gaussian_needed,
    possible,
    pure_tail,
)
from proofs_tests.harness.power import POWER

HALVINGS: Final = 30
"""Of the interval that a bound lies in."""

LARGEST: Final = 64.0
"""No bound is above it: ε or μ."""

MOST_TIMES: Final = 100.0
"""Of a claim; larger losses are not looked for."""

ALTERNATIVES: Final = "each canary's score shows all that it may"

SHARES: Final = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
"""Of the canaries, that are guessed."""


def refutes(counts: Counts, cost: PureDP | ApproxDP | GDP, chance: float) -> bool:
    """Whether so many right guesses come with probability `chance` at most from whatever keeps that cost.

    [one-run], [one-run-delta], [one-run-curve]
    """
    match cost:
        case PureDP(epsilon=epsilon):
            return pure_tail(counts, epsilon) <= chance
        case ApproxDP(epsilon=epsilon, delta=delta):
            return approximate_tail(counts, epsilon, delta) <= chance
        case GDP(mu=mu):
            return not possible(counts, gaussian_needed(mu), chance)


def lower_bound(counts: Counts, family: Callable[[float], PureDP | ApproxDP | GDP], chance: float) -> float:
    """The largest number whose cost is refuted, rounded down; 0 where none is. Too large with that chance at most.

    family: a number > 0 to a cost, each of which promises less than those of smaller numbers.
    """
    low, high = 0.0, LARGEST
    if not refutes(counts, family(2.0**-20), chance):
        return 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refutes(counts, family(middle), chance) else (low, middle)
    return low


def family_of(cost: Cost) -> Callable[[float], PureDP | ApproxDP | GDP]:
    """Costs of one kind, by ε at the same δ or by μ. Raises UnsupportedCost for other kinds."""
    match cost:
        case PureDP():
            return PureDP
        case ApproxDP(delta=delta):
            return (lambda epsilon: ApproxDP(epsilon, delta)) if delta else PureDP
        case GDP():
            return GDP
        case _:
            raise UnsupportedCost(
                f"claimed: expected PureDP, ApproxDP or GDP, got {cost!r}; see its to_approx(delta=…)"
            )


def usual_guesses(canaries: int, claimed: Cost, confidence: float) -> int:
    """How many guesses prove most where the claim is tight, even; fixed by public numbers, before any is made.

    Of those that can refute the claim at all: few guesses may not, though all are right. Where none of these proves
    anything of a tight claim, the number that refutes the smallest loss.
    """
    accuracy = accuracy_if_tight(claimed)
    family, chance = family_of(claimed), 1.0 - confidence
    sizes = sorted({max(2, 2 * int(canaries * share / 2.0)) for share in SHARES if canaries * share >= 2.0})
    able = [size for size in sizes if refutes(Counts(canaries, size, size), _times(claimed, 1.0), chance)] or sizes
    proved = {size: _proved(canaries, size, accuracy, family, chance) for size in able}
    if any(proved.values()):
        return max(proved, key=lambda size: (proved[size], size))
    factors = {size: smallest_factor(canaries, size, claimed, chance) or MOST_TIMES for size in able}
    return min(factors, key=lambda size: (factors[size], -size))


def smallest_factor(canaries: int, guesses: int, claimed: Cost, chance: float) -> float | None:
    """How many times the claim a loss must be to be refuted with probability POWER where canaries show all of it.

    None where a hundred times is not enough. That is, for Gaussian and (ε, δ) claims, where scores are independent
    N(±μ²/2, μ²); for pure ones, where each canary's bit is told the truth about with odds e^ε.
    """

    def found(factor: float) -> bool:
        loss = _times(claimed, factor)
        accuracy = accuracy_if_tight(loss)(guesses / canaries)
        correct = int(stats.binom.ppf(1.0 - POWER, guesses, accuracy))
        return refutes(Counts(canaries, guesses, correct), _times(claimed, 1.0), chance)

    low, high = 1.0, MOST_TIMES
    if not found(high):
        return None
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _times(cost: Cost, factor: float) -> PureDP | ApproxDP | GDP:
    number = cost.mu if isinstance(cost, GDP) else getattr(cost, "epsilon", 0.0)
    return family_of(cost)(factor * number)


def _proved(
    canaries: int,
    guesses: int,
    accuracy: Callable[[float], float],
    family: Callable[[float], PureDP | ApproxDP | GDP],
    chance: float,
) -> float:
    correct = min(guesses, round(guesses * accuracy(guesses / canaries)))
    return lower_bound(Counts(canaries, guesses, correct), family, chance)


def accuracy_if_tight(claimed: Cost) -> Callable[[float], float]:
    """Of the guesses about that share of the canaries whose scores say most, at scores N(±μ²/2, μ²)."""
    match claimed:
        case GDP(mu=mu):
            pass
        case ApproxDP(epsilon=epsilon, delta=delta) if delta:
            mu = gaussian.mu(epsilon, delta)
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return lambda share: 1.0 / (1.0 + math.exp(-epsilon))
        case _:
            family_of(claimed)
    return lambda share: _best_scores(mu, share)


@lru_cache(maxsize=256)
def _best_scores(mu: float, share: float) -> float:
    """Of |N(±μ/2, 1)| the largest `share`: how often the sign is that of the mean."""
    low, high = 0.0, 40.0 + mu
    for _ in range(60):
        cut = 0.5 * (low + high)
        said = float(ndtr(0.5 * mu - cut) + ndtr(-0.5 * mu - cut))
        low, high = (cut, high) if said > share else (low, cut)
    right, wrong = float(ndtr(0.5 * mu - low)), float(ndtr(-0.5 * mu - low))
    return right / (right + wrong)
