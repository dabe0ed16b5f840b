"""ε that mechanisms of a given cost do have, by closed forms, exact laws and explicit adversaries.

What no price may be below. Nothing here comes from the accountant's own formulas: laws are written out, and composed as
binomials, by a transform, or in closed form.
"""

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, log_ndtr, ndtr

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, LaplaceDP, PureDP
from accountant.arrays import FloatArray

Cost: TypeAlias = PureDP | LaplaceDP | BoundedRange | GDP | ZCDP | ApproxDP

DELTA: Final = 1e-5
OFFSETS, SEARCHES = 40, 3

CELLS: Final = 64
"""Into so many cells Laplace noise between its two centres is rounded."""

ORDERS: Final = 1.0 + np.geomspace(1e-3, 1e6, 400)
"""Rényi orders at which an adversary's two losses are held against ρ."""

HIGHS: Final = 48
"""Larger losses that are tried for it, and cuts of a choice among Gaussians."""


@attrs.frozen
class Known:
    """epsilon: reached.  exact: whether nothing of that cost has a larger one.  how: what reaches it, in words."""

    epsilon: float
    exact: bool
    how: str


# --- laws -------------------------------------------------------------------------------------------------------------


def _solved(delta_at: Callable[[float], float], highest: float, delta: float) -> float:
    """Where a falling δ(x) comes down to δ, 0 if it begins below."""
    if delta_at(0.0) <= delta:
        return 0.0
    return float(brentq(lambda x: delta_at(x) - delta, 0.0, highest, xtol=1e-12))


def law_epsilon(losses: FloatArray, law: FloatArray, delta: float) -> float:
    """ε at δ of a loss with finitely many values; shapes (k,)."""

    def delta_at(x: float) -> float:
        over = losses > x
        return float(np.sum(law[over] * -np.expm1(x - losses[over])))

    return _solved(delta_at, max(float(np.max(losses)), 1e-300), delta)


def two_point_epsilon(rounds: int, high: float, low: float, delta: float = DELTA) -> float:
    """ε at δ of a loss that is `high` or `low` (E e^{−loss} = 1), added up over the rounds: exact."""
    p = (math.exp(-low) - 1.0) / (math.exp(-low) - math.exp(-high))
    times = np.arange(rounds + 1, dtype=np.float64)
    choose = gammaln(rounds + 1.0) - gammaln(times + 1.0) - gammaln(rounds - times + 1.0)
    law = np.exp(choose + times * math.log(p) + (rounds - times) * math.log1p(-p))
    return law_epsilon(times * high + (rounds - times) * low, law, delta)


def worst_range_epsilon(rounds: int, width: float) -> float:
    """The largest over offsets t of two-point losses {t, t − width}. Any offset gives a value that no price may be
    below, so a coarse search is safe."""
    low, high, best = 0.0, width, 0.0
    for _ in range(SEARCHES):
        offsets = np.linspace(low, high, OFFSETS + 1)[1:-1]
        found = [two_point_epsilon(rounds, t, t - width) for t in offsets.tolist()]
        place, best = int(np.argmax(found)), max(best, *found)
        step = (high - low) / OFFSETS
        low, high = float(offsets[place]) - step, float(offsets[place]) + step
    return best


def gaussian_epsilon(mu: float, delta: float = DELTA) -> float:
    """ε at δ of one Gaussian release, by the formula as Balle & Wang 2018 print it; not the accountant's code."""

    def delta_at(x: float) -> float:
        return math.exp(log_ndtr(0.5 * mu - x / mu)) - math.exp(x + log_ndtr(-0.5 * mu - x / mu))

    return _solved(delta_at, 0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(delta)), delta)


def laplace_epsilon(rounds: int, epsilon: float, delta: float = DELTA) -> float:
    """ε at δ of Laplace noise that moves by ε scales, rounded to cells between the two centres: a mechanism of its own,
    which no price of Laplace noise may be below.

    With cells of w = ε/CELLS scales the losses are whole multiples of w: ±ε, and ε − (2i + 1)w in cell i.
    """
    step, cell = epsilon / CELLS, np.arange(CELLS)
    law = np.zeros(2 * CELLS + 1)
    law[2 * CELLS], law[0] = 0.5, 0.5 * math.exp(-epsilon)
    law[2 * CELLS - 1 - 2 * cell] += 0.5 * np.exp(-cell * step) * -math.expm1(-step)
    size = 2 * CELLS * rounds + 1
    length = 1 << (size - 1).bit_length()
    whole = np.fft.irfft(np.fft.rfft(law, length) ** rounds, length)[:size]
    losses: FloatArray = (np.arange(size, dtype=np.float64) - CELLS * rounds) * step
    return law_epsilon(losses, np.maximum(whole, 0.0), delta)


def zcdp_epsilon(rounds: int, rho: float) -> float:
    """The largest of Gaussian noise of that ρ and of two losses whose Rényi divergences are at most ρα, both ways."""
    best = gaussian_epsilon(math.sqrt(2.0 * rho * rounds))
    widest = rho + 2.0 * math.sqrt(rho * math.log(1.0 / DELTA))
    for high in np.geomspace(0.3 * math.sqrt(rho), 1.3 * widest, HIGHS).tolist():
        low = _lowest_loss(high, rho)
        if low:
            best = max(best, two_point_epsilon(rounds, high, -low))
    return best


def _lowest_loss(high: float, rho: float) -> float:
    """The largest s for which the losses `high` and −s are ρ-zCDP; 0 where there is none above 1e-12."""

    def fits(low: float) -> bool:
        p = math.expm1(low) / (math.exp(low) - math.exp(-high))
        excess = ORDERS - 1.0
        ours = np.logaddexp(math.log(p) + excess * high, math.log1p(-p) - excess * low)
        theirs = np.logaddexp(math.log(p) - ORDERS * high, math.log1p(-p) + ORDERS * low)
        # A thousandth less, as other orders lie between these.
        return bool(np.all(np.maximum(ours, theirs) <= 0.999 * rho * ORDERS * excess))

    low, top = 1e-12, 2.0 * high
    if not fits(low):
        return 0.0
    for _ in range(50):
        middle = math.sqrt(low * top)
        low, top = (middle, top) if fits(middle) else (low, middle)
    return low


def best_of_gaussians(mu: float, gamma: float, delta: float = DELTA) -> float:
    """ε at δ of the best of K runs, K logarithmic, of N(μ, 1) against N(0, 1), for one bad way to rank.

    What speaks against μ most is ranked first, where the two laws of how many outputs rank higher come apart; then what
    speaks for it. The best output is y with density ∝ p(y)/(γ + (1 − γ)·P(a run ranks higher)).
    """
    ends = np.linspace(0.0, 12.0 + mu, 4001)
    middles, found = 0.5 * (ends[:-1] + ends[1:]), 0.0
    for first in np.linspace(-5.0, -0.2, HIGHS + 1).tolist():
        ours, theirs = (
            -np.diff(ndtr(mean - ends)) / (gamma + (1.0 - gamma) * (ndtr(first - mean) + ndtr(mean - middles)))
            for mean in (mu, 0.0)
        )
        scale = (1.0 - gamma) / -math.log(gamma)

        def delta_at(x: float, ours: FloatArray = ours, theirs: FloatArray = theirs, scale: float = scale) -> float:
            return scale * max(0.0, float(np.max(np.cumsum((ours - math.exp(x) * theirs)[::-1]))))

        found = max(found, _solved(delta_at, 100.0, delta))
    return found


# --- by kind of cost --------------------------------------------------------------------------------------------------


def known(cost: Cost, rounds: int) -> Known:
    """The largest ε at DELTA that is known to be reached by so many rounds of that cost, all fixed in advance."""
    match cost:
        case PureDP(epsilon=epsilon):
            return Known(two_point_epsilon(rounds, epsilon, -epsilon), True, "randomized response, its binomial law")
        case ApproxDP(epsilon=epsilon, delta=own):
            left = -math.expm1(math.log1p(-DELTA) - rounds * math.log1p(-own))
            how = "randomized response that tells all with chance δ, its binomial law"
            return Known(two_point_epsilon(rounds, epsilon, -epsilon, left), True, how)
        case LaplaceDP(epsilon=epsilon) if rounds == 1:
            return Known(max(0.0, epsilon + 2.0 * math.log1p(-DELTA)), True, "closed form")
        case LaplaceDP(epsilon=epsilon):
            return Known(laplace_epsilon(rounds, epsilon), True, f"noise rounded to {CELLS} cells, convolved")
        case BoundedRange(epsilon=width):
            how = "the worst exponential mechanism of two candidates, repeated"
            return Known(worst_range_epsilon(rounds, width), rounds == 1, how)
        case GDP(mu=mu):
            return Known(gaussian_epsilon(mu * math.sqrt(rounds)), True, "closed form")
        case ZCDP(rho=rho):
            return Known(zcdp_epsilon(rounds, rho), False, "Gaussian noise, or the worst two losses")
