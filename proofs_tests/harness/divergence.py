"""How far apart two exact distributions are, in each currency a cost can be declared in."""

import math
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

import numpy as np
from scipy.special import logsumexp, ndtri_exp

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
from accountant.composition.loss_distribution import ComposedLosses, from_atoms
from accountant.costs.curves import ORDERS
from proofs_tests.harness.neighbours import Pair

H = TypeVar("H", bound=Hashable)

LogProbabilities = FloatArray
"""Log-probabilities of all outcomes, shape (k,), -inf where an outcome cannot happen."""


def aligned(first: Mapping[H, float], second: Mapping[H, float]) -> Pair[LogProbabilities]:
    """Two distributions as output to log-probability, put into one order of outputs."""
    outputs = list(first.keys() | second.keys())
    return Pair(*(np.array([each.get(output, -np.inf) for output in outputs]) for each in (first, second)))


def max_loss(first: Mapping[H, float], second: Mapping[H, float]) -> float:
    """The largest |ln P/Q| over outputs, in nats; ∞ where one distribution has an output that the other lacks.

    first, second: probability of each output under two neighbouring data sets; each sums to 1.
    """
    return float(np.max(np.abs(losses(aligned(first, second)))))


def loss_width(first: Mapping[H, float], second: Mapping[H, float]) -> float:
    """The largest less the smallest ln P/Q over outputs, in nats: what bounded range bounds.

    first, second: probability of each output under two neighbouring data sets; each sums to 1.
    """
    return float(np.ptp(losses(aligned(first, second))))


def approx_delta(first: Mapping[H, float], second: Mapping[H, float], epsilon: float) -> float:
    """The smallest δ at which two distributions are (ε, δ)-indistinguishable, in both directions.

    first, second: probability of each output under two neighbouring data sets; each sums to 1.
    epsilon: in nats, >= 0.
    """
    both = aligned(first, second)
    return max(hockey_stick(both, epsilon), hockey_stick(Pair(both.after, both.before), epsilon))


def renyi_divergence(first: Mapping[H, float], second: Mapping[H, float], order: float) -> float:
    """The Rényi divergence D_α of two distributions, in nats, in the worse direction.

    first, second: probability of each output under two neighbouring data sets; each sums to 1.
    order: α > 1.
    """
    return float(renyi_curve(aligned(first, second), np.array([order]))[0])


def losses(both: Pair[LogProbabilities]) -> FloatArray:
    """ln P/Q for every outcome that either distribution can produce, shape (at most k,); ±∞ where only one can."""
    possible = ~(np.isneginf(both.before) & np.isneginf(both.after))
    with np.errstate(invalid="ignore"):
        return np.asarray(both.before[possible] - both.after[possible])


def hockey_stick(both: Pair[LogProbabilities], epsilon: float) -> float:
    """Σ max(0, P − e^ε Q)."""
    with np.errstate(over="ignore"):
        return float(np.sum(np.maximum(0.0, np.exp(both.before) - np.exp(epsilon + both.after))))


def smallest_epsilon(both: Pair[LogProbabilities], delta: float) -> float:
    """The smallest ε >= 0 at δ, in both directions, in nats; ∞ where there is none.

    both: probabilities of the same outputs under two neighbours, shape (outputs,) each.  delta: in [0, 1).
    """

    def fits(epsilon: float) -> bool:
        found = max(hockey_stick(both, epsilon), hockey_stick(Pair(both.after, both.before), epsilon))
        return found <= delta * (1.0 + 1e-12) + 1e-15  # the rounding of a sum of probabilities

    if fits(0.0):
        return 0.0
    finite = np.abs(losses(both))
    high = float(np.max(finite[np.isfinite(finite)], initial=0.0))
    if not fits(high * (1.0 + 1e-12)):
        return float("inf")
    low = 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def renyi_curve(both: Pair[LogProbabilities], orders: FloatArray = ORDERS) -> FloatArray:
    """The Rényi divergence D_α in the worse direction at every order, in nats, shape of `orders`.

    both: probabilities of the same outputs under two neighbours, shape (outputs,) each.  orders: α > 1.
    """
    return np.maximum(renyi_one_way(both.before, both.after, orders), renyi_one_way(both.after, both.before, orders))


def renyi_one_way(p: LogProbabilities, q: LogProbabilities, orders: FloatArray) -> FloatArray:
    live = ~np.isneginf(p)
    if np.any(np.isneginf(q[live])):
        return np.full_like(orders, np.inf)
    excess, ratios = orders[:, None] - 1.0, p[live] - q[live]
    if float(np.max(np.abs(ratios))) * float(np.max(excess)) > 1.0:
        large = logsumexp(p[live] + excess * ratios, axis=1) / excess[:, 0]
    else:
        large = np.full_like(orders, -np.inf)
    # Σ p·(p/q)^{α−1} − 1 by expm1, so that small divergences keep their digits.
    scaled = np.minimum(excess * ratios, 1.0)
    moment = np.sum(np.exp(p[live]) * np.expm1(scaled), axis=1)
    small = np.log1p(np.maximum(moment, 0.0)) / excess[:, 0]
    return np.asarray(np.where(np.max(excess * ratios, axis=1) > 1.0, large, small), dtype=np.float64)


def gaussian_shift(both: Pair[LogProbabilities]) -> float:
    """The smallest μ with which the pair is no easier to tell apart than N(0, 1) from N(μ, 1), both ways.

    By Neyman & Pearson the best events collect outcomes in the order of their loss; between them the trade-off
    curve is straight, and a Gaussian's is convex, so the corners decide. Chances above 1/2 are read from the other
    end, so that both tails keep their digits.
    """
    return _shift(both, _quantiles)


def _shift(both: Pair[LogProbabilities], quantiles: Callable[[FloatArray, FloatArray], FloatArray]) -> float:
    """The largest distance of the quantiles of the chances of an event that collects outcomes in order of their loss.

    quantiles: ln of the chance of the event, and of its complement, to the quantile of the noise; shape (k,) each.
    """
    possible = ~(np.isneginf(both.before) & np.isneginf(both.after))
    p, q = both.before[possible], both.after[possible]
    order = np.argsort(-losses(both))
    (p, p_rest), (q, q_rest) = _from_both_ends(p[order]), _from_both_ends(q[order])
    # An event that is impossible, or sure, on one side only: no Gaussian does that.
    if np.any(np.isneginf(q) & ~np.isneginf(p)) or np.any(np.isneginf(p_rest) & ~np.isneginf(q_rest)):
        return float("inf")
    with np.errstate(invalid="ignore"):
        apart = quantiles(p, p_rest) - quantiles(q, q_rest)
    return float(np.max(np.nan_to_num(apart, nan=0.0), initial=0.0))


def _from_both_ends(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln Σ up to each corner, and ln Σ after it, each summed from its own end."""
    return np.logaddexp.accumulate(logs)[:-1], np.logaddexp.accumulate(logs[::-1])[::-1][1:]


def laplace_shift(both: Pair[LogProbabilities]) -> float:
    """The smallest ε with which the pair is no easier to tell apart than Laplace noise around 0 from around ε.

    Both ways; by the corners of the trade-off curve as for `gaussian_shift`, as Laplace noise has a convex one too.
    """
    return _shift(both, _laplace_quantiles)


def _laplace_quantiles(below: FloatArray, above: FloatArray) -> FloatArray:
    return np.where(below < math.log(0.5), below + math.log(2.0), -above - math.log(2.0))


def _quantiles(below: FloatArray, above: FloatArray) -> FloatArray:
    half = math.log(0.5)
    return np.where(below < half, ndtri_exp(np.minimum(below, half)), -ndtri_exp(np.minimum(above, half)))


def measured(both: Pair[LogProbabilities], cost: Cost) -> tuple[str, float, float]:
    """What is compared for that kind of cost: its name, the declared number, and the true one."""
    match cost:
        case PureDP(epsilon=epsilon):
            return "loss", epsilon, float(np.max(np.abs(losses(both))))
        case LaplaceDP(epsilon=epsilon):
            return "Laplace ε", epsilon, laplace_shift(both)
        case BoundedRange(epsilon=epsilon):
            seen = losses(both)
            return "width", epsilon, float(np.max(seen) - np.min(seen))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"ε at δ = {delta:g}", epsilon, smallest_epsilon(both, delta)
        case ZCDP(rho=rho):
            return "ρ", rho, float(np.max(renyi_curve(both) / ORDERS))
        case GDP(mu=mu):
            return "μ", mu, gaussian_shift(both)
        case SubsampledGaussian():
            raise UnsupportedCost(f"{cost!r} is a curve and no number: check its cost.to_approx(delta=...)")
        case Unbounded():
            raise UnsupportedCost("Unbounded() declares nothing, so there is nothing to check")


def composed_epsilon(both: Pair[LogProbabilities], rounds: int, delta: float) -> float:
    """ε at δ of `rounds` independent releases on the same pair, in the worse direction, by convolution; rounded up."""
    return max(_composed(both, rounds, delta), _composed(Pair(both.after, both.before), rounds, delta))


def _composed(both: Pair[LogProbabilities], rounds: int, delta: float) -> float:
    live = ~np.isneginf(both.before)
    seen, chances = both.before[live] - both.after[live], np.exp(both.before[live])
    sure = float(np.sum(chances[np.isposinf(seen)]))
    finite = np.isfinite(seen)
    if not np.any(finite):
        return float("inf")
    spread = float(np.sqrt(np.sum(chances[finite] * seen[finite] ** 2))) or 1e-6
    distribution = from_atoms(seen[finite], chances[finite], sure, min(1.0, spread) * 0.01)
    return ComposedLosses(((distribution, rounds),)).epsilon(delta)
