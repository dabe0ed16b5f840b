"""A dominating pair for every kind of cost that has one, as a loss distribution on a common grid. [pld]"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.composition.loss_distribution import ComposedLosses, LossDistribution, from_atoms, from_profile
from accountant.costs import GDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP, gaussian, laplace_profile

MOST_DISTINCT: Final = 32
"""With more distinct costs than this, each is rounded up a little, so that few distributions have to be made."""

FINEST: Final = 1e-150
"""Grid steps below have squares that no float holds."""


def bounded_range_profile(width: float, losses: FloatArray) -> FloatArray:
    """δ(x) of the width-bounded-range class at every x: (e^{w/2} − e^{x/2})²/(e^w − 1) for |x| <= w. [L4]"""
    inside = np.expm1(0.5 * (np.clip(losses, -width, width) - width)) ** 2 / -math.expm1(-width)
    return np.where(losses < -width, -np.expm1(losses), inside)


def _randomized_response(epsilon: float, delta: float, step: float) -> LossDistribution:
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    probabilities = (1.0 - delta) * np.array([truth, 1.0 - truth])
    return from_atoms(np.array([epsilon, -epsilon]), probabilities, delta, step)


def _gaussian(mu: float, step: float, negligible: float) -> LossDistribution:
    high = 0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(negligible))
    return from_profile(lambda losses: gaussian.profile(mu, losses), -high, high, step)


def _scale(cost: Cost) -> float | None:
    """How far the loss spreads, roughly; None for a cost without a dominating pair of its own."""
    match cost:
        case PureDP() | ApproxDP() | LaplaceDP() | BoundedRange():
            return min(cost.epsilon, 1.0)
        case GDP(mu=mu):
            return min(mu, 1.0)
        case _:
            return None


def _distribution(cost: Cost, step: float, negligible: float) -> LossDistribution:
    match cost:
        case PureDP(epsilon=epsilon):
            return _randomized_response(epsilon, 0.0, step)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _randomized_response(epsilon, delta, step)
        case LaplaceDP(epsilon=epsilon):
            return from_profile(lambda losses: laplace_profile(epsilon, losses), -epsilon, epsilon, step)
        case BoundedRange(epsilon=width):
            return from_profile(lambda losses: bounded_range_profile(width, losses), -width, width, step)
        case GDP(mu=mu):
            return _gaussian(mu, step, negligible)
        case _:
            raise TypeError(f"no dominating pair for {cost!r}")


def grid_step(spreads: Sequence[tuple[float, int]]) -> float:
    """A step so fine that joining the dots adds little to the spread of the total. spreads: (scale, rounds)."""
    rounds = sum(times for _, times in spreads)
    typical = math.sqrt(sum(times * spread**2 for spread, times in spreads) / rounds)
    return typical * min(0.05, max(0.002, 16.0 * math.sqrt(rounds) / 20_000))


def _bucketed(costs: Sequence[tuple[Cost, int]]) -> list[tuple[Cost, int]]:
    """Equal costs put together; where many distinct ones remain, ε, width and μ rise to the next 2^(k/64)."""
    counts: dict[Cost, int] = {}
    for cost, times in costs:
        counts[cost] = counts.get(cost, 0) + times
    if len(counts) <= MOST_DISTINCT:
        return list(counts.items())
    coarse: dict[Cost, int] = {}
    for cost, times in counts.items():
        rounded = _rounded_up(cost)
        coarse[rounded] = coarse.get(rounded, 0) + times
    return list(coarse.items())


def _rounded_up(cost: Cost) -> Cost:
    match cost:
        case PureDP(epsilon=epsilon):
            return PureDP(_next(epsilon))
        case LaplaceDP(epsilon=epsilon):
            return LaplaceDP(_next(epsilon))
        case BoundedRange(epsilon=width):
            return BoundedRange(_next(width))
        case GDP(mu=mu):
            return GDP(_next(mu))
        case _:
            return cost


def _next(value: float) -> float:
    """The smallest 2^(k/64) that is at least `value`, k whole; 0 for 0."""
    return max(value, 2.0 ** (math.ceil(64.0 * math.log2(value)) / 64.0)) if value else 0.0


def composition(costs: Sequence[tuple[Cost, int]], delta: float) -> ComposedLosses | None:
    """The dominating pairs of all rounds, ready to be composed; None where a cost has none.

    costs: each with its number of rounds.  delta: the δ of interest; what is cut off is far below it.
    """
    paid = [(cost, times) for cost, times in _bucketed(costs) if _scale(cost) != 0.0 or isinstance(cost, ApproxDP)]
    spreads = [(_scale(cost), times) for cost, times in paid]
    known = [(spread, times) for spread, times in spreads if spread is not None]
    if len(known) < len(spreads) or not any(spread for spread, _ in known):
        return None
    step = grid_step(known)
    if step < FINEST:
        return None
    negligible = delta * 1e-6 / sum(times for _, times in known)
    if min(spread or step for spread, _ in known) < step * 1e-3 or negligible < 1e-300:
        return None
    return ComposedLosses(tuple((_distribution(cost, step, negligible), times) for cost, times in paid))
