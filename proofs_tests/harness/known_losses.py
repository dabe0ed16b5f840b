"""An ε at δ that compositions of some mechanisms do lose, by formula: a rule of composition must not read less."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from scipy.stats import binom, norm

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    UnsupportedCost,
)
from accountant.arrays import FloatArray
from accountant.composition import fixed_plans
from accountant.costs import gaussian


def lost(cost: Cost, rounds: int, delta: float) -> float:
    """An ε at δ that so many rounds of some mechanism of this cost do lose; of ε-DP and of Gaussians, the largest.

    (ε, δ) by randomized response that tells all with chance δ, bounded range by that of half the width, Laplace noise
    by the side of the middle on which it falls, ρ-zCDP by the Gaussian of that ρ, Gaussians on samples by the sum of
    what was drawn.
    """
    match cost:
        case PureDP(epsilon=epsilon):
            return _responses(epsilon, rounds, delta)
        case BoundedRange(epsilon=width):
            return _responses(0.5 * width, rounds, delta)
        case LaplaceDP(epsilon=epsilon):
            side = 0.5 * math.exp(-0.5 * epsilon)
            return _responses(math.log1p(-side) - math.log(side), rounds, delta)
        case ApproxDP(epsilon=epsilon, delta=own):
            kept = rounds * math.log1p(-own)
            room = 1.0 - (1.0 - delta) * math.exp(-kept)
            return math.inf if room < -1e-15 else _responses(epsilon, rounds, max(0.0, room))
        case GDP(mu=mu):
            return _gaussians(mu * math.sqrt(rounds), delta)
        case ZCDP(rho=rho):
            return _gaussians(math.sqrt(2.0 * rho * rounds), delta)
        case SubsampledGaussian(mu=mu, sampling_rate=rate):
            return _samples(mu, rate, rounds, delta)
        case _:
            raise UnsupportedCost(f"nothing is known here of what {cost!r} loses")


_SLACK: Final = 4e-9
"""By how much the exact sums may be too large: they are rounded up, and a true loss must not be."""


def _responses(epsilon: float, rounds: int, delta: float) -> float:
    if not delta:
        return rounds * epsilon
    low, high = 0.0, rounds * epsilon
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = fixed_plans.randomized_response_delta(epsilon, rounds, middle) * (1.0 - _SLACK) > delta
        low, high = (middle, high) if above else (low, middle)
    return low


def _gaussians(mu: float, delta: float) -> float:
    return math.inf if not delta else gaussian.epsilon(mu, delta) * (1.0 - _SLACK)


MOST_SAMPLES: Final = 200


def _samples(mu: float, rate: float, rounds: int, delta: float) -> float:
    """The largest ε with P(S > t) − e^ε·Q(S > t) = δ over thresholds t: S is the sum of what was drawn, which a record
    in j of the samples moves by jμ. Of more than MOST_SAMPLES rounds the first ones, which lose no more than all.
    """
    if not delta:
        return math.inf
    rounds = min(rounds, MOST_SAMPLES)
    drawn = np.arange(rounds + 1)
    thresholds = np.linspace(-2.0, 1.0 + max(12.0, mu * math.sqrt(rounds)), 400)[:, None]
    under_p = norm.sf(thresholds - drawn * mu / math.sqrt(rounds)) @ binom.pmf(drawn, rounds, rate)
    return _largest(under_p, norm.sf(thresholds[:, 0]), delta)


def _largest(under_p: FloatArray, under_q: FloatArray, delta: float) -> float:
    possible = (under_p > delta) & (under_q > 1e-300)
    if not np.any(possible):
        return 0.0
    found = np.log((under_p[possible] - delta) / under_q[possible])
    return max(0.0, float(np.max(found)) * (1.0 - _SLACK) - _SLACK)


# --- costs of several kinds ------------------------------------------------------------------------------------------


def lost_together(rounds: Sequence[tuple[Cost, int]], delta: float) -> float:
    """An ε at δ in (0, 1) that rounds of unlike costs do lose together, each by the mechanism that `lost` takes for it.

    An own δ is left out, and Gaussians on samples count by themselves, so the truth may be larger.
    """
    alone = max((lost(cost, times, delta) for cost, times in rounds), default=0.0)
    responses = [(epsilon, times) for cost, times in rounds if (epsilon := _response(cost)) is not None]
    mu = math.sqrt(sum(times * strength**2 for cost, times in rounds if (strength := _strength(cost)) is not None))
    return max(alone, _mixed(responses, mu, delta)) if math.isfinite(alone) else alone


def _response(cost: Cost) -> float | None:
    match cost:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case BoundedRange(epsilon=width):
            return 0.5 * width
        case LaplaceDP(epsilon=epsilon):
            side = 0.5 * math.exp(-0.5 * epsilon)
            return math.log1p(-side) - math.log(side)
        case _:
            return None


def _strength(cost: Cost) -> float | None:
    match cost:
        case GDP(mu=mu):
            return mu
        case ZCDP(rho=rho):
            return math.sqrt(2.0 * rho)
        case _:
            return None


def _mixed(responses: Iterable[tuple[float, int]], mu: float, delta: float) -> float:
    """By bisection on δ(x) = Σ p·δ_μ(x − loss), over all that the responses may say."""
    losses, chances = np.zeros(1), np.ones(1)
    for epsilon, times in responses:
        truths = np.arange(times + 1)
        own = (2.0 * truths - times) * epsilon
        losses = np.add.outer(losses, own).ravel()
        chances = np.multiply.outer(chances, binom.pmf(truths, times, 1.0 / (1.0 + math.exp(-epsilon)))).ravel()
    low, high = 0.0, float(np.max(losses)) + 0.5 * mu * mu + 40.0 * mu
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = float(chances @ _curve(mu, middle - losses)) * (1.0 - _SLACK) > delta
        low, high = (middle, high) if above else (low, middle)
    return low * (1.0 - _SLACK)


def _curve(mu: float, losses: FloatArray) -> FloatArray:
    return gaussian.profile(mu, losses) if mu >= gaussian.SMALL else -np.expm1(np.minimum(losses, 0.0))
