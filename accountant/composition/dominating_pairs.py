"""A dominating pair for every kind of cost that has one, as a loss distribution on a common grid. [pld]"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.composition.loss_distribution import (
    MAX_POINTS,
    ComposedLosses,
    LossDistribution,
    TooFine,
    from_atoms,
    from_profile,
)
from accountant.costs import (
    GDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    gaussian,
    laplace_profile,
    subsampling,
)
from accountant.costs.subsampling import DIRECTIONS, Direction

MOST_DISTINCT: Final = 32
"""With more distinct costs than this, each is rounded up a little, so that few distributions have to be made."""

FINEST: Final = 1e-150
"""Grid steps below have squares that no float holds."""


COARSER: Final = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Grids are made so many times coarser where tails are heavy, until one is short enough."""


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


def _subsampled(cost: SubsampledGaussian, step: float, negligible: float, direction: Direction) -> LossDistribution:
    """Of μ-GDP on a Poisson sample, in one direction; the other has another distribution. [subsampled-gaussian]"""
    mu, rate = cost.mu, cost.sampling_rate
    low, high = subsampling.span(mu, rate, negligible, direction)
    if not high - low < math.inf:
        raise TooFine(f"losses of {cost!r} whose exponentials are beyond any float")
    return from_profile(lambda losses: subsampling.profile(mu, rate, losses, direction), low, high, step)


def _scale(cost: Cost) -> float | None:
    """How far the loss spreads, roughly; None for a cost without a dominating pair of its own."""
    match cost:
        case PureDP() | ApproxDP() | LaplaceDP() | BoundedRange():
            return min(cost.epsilon, 1.0)
        case GDP(mu=mu):
            return min(mu, 1.0)
        case SubsampledGaussian(mu=mu, sampling_rate=rate):
            return min(subsampling.spread(mu, rate), 1.0)
        case _:
            return None


def _distribution(cost: Cost, step: float, negligible: float, direction: Direction = "remove") -> LossDistribution:
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
        case SubsampledGaussian():
            return _subsampled(cost, step, negligible, direction)
        case _:
            raise TypeError(f"no dominating pair for {cost!r}")


def _free(cost: Cost) -> bool:
    """Whether nothing can be lost. How far the loss spreads does not tell: a sample may hold almost nobody, and then
    what little noise there is hides nothing."""
    if isinstance(cost, SubsampledGaussian):
        return cost.reduced == PureDP(0.0)
    return _scale(cost) == 0.0 and not isinstance(cost, ApproxDP)


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
        case SubsampledGaussian(mu=mu, sampling_rate=rate):
            return SubsampledGaussian(_next(mu), min(1.0, _next(rate))).reduced
        case _:
            return cost


def _next(value: float) -> float:
    """The smallest 2^(k/64) that is at least `value`, k whole; 0 for 0."""
    return max(value, 2.0 ** (math.ceil(64.0 * math.log2(value)) / 64.0)) if value else 0.0


def epsilon(costs: Sequence[tuple[Cost, int]], delta: float) -> float | None:
    """The ε of all rounds at δ, rounded up; None where a cost has no dominating pair, ∞ where no ε is enough.

    costs: each with its number of rounds.  delta: in (0, 1).
    With a Gaussian on a sample that of the worse direction: every other pair stands for both. [subsampled-gaussian]
    Raises TooFine where the grid would be too long.
    """
    if len(costs) == 1 == costs[0][1] and isinstance(cost := costs[0][0], SubsampledGaussian):
        return cost.to_approx(delta=delta).epsilon  # its own curve, without a grid
    sampled = any(isinstance(cost, SubsampledGaussian) for cost, _ in costs)
    found = 0.0
    for direction in DIRECTIONS if sampled else DIRECTIONS[:1]:
        worst = _in_one_direction(costs, delta, direction, COARSER if sampled else COARSER[:1])
        if worst is None:
            return None
        found = max(found, worst)
    return found


def _in_one_direction(
    costs: Sequence[tuple[Cost, int]], delta: float, direction: Direction, coarser: Sequence[float]
) -> float | None:
    """On the finest grid that is short enough; a coarser one costs a little ε."""
    for factor in coarser:
        try:
            pairs = composition(costs, delta, direction, factor)
            return None if pairs is None else pairs.epsilon(delta)
        except TooFine:
            if factor == coarser[-1]:
                raise
    return None


def composition(
    costs: Sequence[tuple[Cost, int]], delta: float, direction: Direction = "remove", coarser: float = 1.0
) -> ComposedLosses | None:
    """The dominating pairs of all rounds in one direction, ready to be composed; None where a cost has none.

    costs: each with its number of rounds.  delta: the δ of interest; what is cut off is far below it.
    coarser: how much longer the steps of the grid are than usual.  Raises TooFine where the grid would be too long.
    """
    paid = [(cost, times) for cost, times in _bucketed(costs) if not _free(cost)]
    spreads = [(_scale(cost), times) for cost, times in paid]
    known = [(spread, times) for spread, times in spreads if spread is not None]
    heavy_tails = any(isinstance(cost, SubsampledGaussian) for cost, _ in paid)
    if len(known) < len(spreads) or not (heavy_tails or any(spread for spread, _ in known)):
        return None
    negligible = delta * 1e-6 / sum(times for _, times in known)
    step = max(grid_step(known) * coarser, _shortest(paid, negligible))
    if not step < math.inf:
        raise TooFine(f"losses of {[cost for cost, _ in paid]!r:.99} whose exponentials are beyond any float")
    if step < FINEST:
        return None
    finest = min(spread or step for spread, _ in known)
    if (finest < step * 1e-3 and not heavy_tails) or negligible < 1e-300:
        return None
    parts = tuple((_distribution(cost, step, negligible, direction), times) for cost, times in paid)
    return ComposedLosses(parts, heavy_tails)


def _shortest(costs: Sequence[tuple[Cost, int]], negligible: float) -> float:
    """A step on whose grid the loss of every subsampled round fits, however far it reaches; 0 without any."""
    reaches = [
        high - low
        for cost, _ in costs
        if isinstance(cost, SubsampledGaussian)
        for low, high in [subsampling.span(cost.mu, cost.sampling_rate, max(negligible, 1e-300), "remove")]
    ]
    return max(reaches, default=0.0) / (MAX_POINTS // 16)
