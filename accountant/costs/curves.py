"""The transcendental formulas behind the conversions, each rounded towards more loss.

Orders α are Rényi orders, α > 1. All ε and ρ are in nats. Formulas and proofs: CLAIMS.md, ids in brackets.
"""

import functools
import math
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs.converters import non_negative, open_probability
from accountant.costs.rounding import down, finite_up, largest

ORDERS: FloatArray = 1.0 + np.geomspace(1e-3, 1e6, 400)
"""The grid of orders on which Rényi curves are added up; any grid gives a valid bound."""


ABSOLUTE = 2.0**-46
"""Absolute head-room (1.4e-14) for an ε that is a small difference of terms of order one."""


LARGEST_BUDGET: Final = 2.0**900
"""A larger ε is taken for this one where a budget becomes a ceiling: that is less, and nothing on the way overflows."""


def pure_rho(epsilon: float) -> float:
    """ρ of ε-DP: ε·tanh(ε/2). [L3]"""
    return finite_up(epsilon * math.tanh(0.5 * epsilon)) if epsilon > 0.0 else 0.0


def bounded_range_rho(epsilon: float) -> float:
    """ρ of ε-bounded range: u - 1 - ln u, u = ε/(1 - e^{-ε}). [L3]

    Below 2^-7 the difference to ε²/8 is under a millionth of it, and cancellation would cost more.
    """
    if epsilon == 0.0:
        return 0.0
    if epsilon < 2.0**-7:
        return finite_up(epsilon * epsilon / 8.0)
    u = epsilon / -math.expm1(-epsilon)
    return finite_up(u - 1.0 - math.log1p(u - 1.0))


def bounded_range_epsilon(width: float, delta: float) -> float:
    """The smallest ε with δ(ε) <= delta for the class of width-bounded-range mechanisms. [L4]

    δ(x) = (e^{w/2} - e^{x/2})² / (e^w - 1), so x = 2 ln(e^{w/2} - √(δ (e^w - 1))), written so that
    e^w cannot overflow.
    """
    if not 0.0 <= delta < 1.0:
        raise ValueError(f"delta must be in [0, 1), got {delta!r}")
    if width == 0.0 or delta == 0.0:
        return width
    # ln(1 - √y) = ln(1 - y) - ln(1 + √y), with 1 - y written so that δ near 1 cancels nothing.
    root = math.sqrt(delta * -math.expm1(-width))
    less = (1.0 - delta) + delta * math.exp(-width)
    epsilon = width + 2.0 * (math.log(less) - math.log1p(root)) if less > 0.0 else 0.0
    return min(width, max(0.0, finite_up(finite_up(epsilon) + width * 2.0**-50) + ABSOLUTE))


_SERIES: Final = 16
"""Terms of the exponential series that `laplace_rho` takes below 1: the next one is below 2^-46 of the sum."""


def laplace_rho(epsilon: float) -> float:
    """ρ of Laplace noise: ε + e^{−ε} − 1. [laplace-dp]

    Below 1 by its series ε²/2 − ε³/6 + …, where the closed form cancels.
    """
    if epsilon >= 1.0:
        return finite_up(epsilon + math.expm1(-epsilon))
    rest = 1.0
    for place in range(_SERIES, 2, -1):
        rest = 1.0 - epsilon / place * rest
    return finite_up(0.5 * epsilon * epsilon * rest) if epsilon > 0.0 else 0.0


def laplace_profile(epsilon: float, losses: FloatArray) -> FloatArray:
    """δ(x) = 1 − min(1, e^{(x−ε)/2}, e^x) of Laplace noise at every x, shape of `losses`. [laplace-dp]"""
    return np.asarray(-np.expm1(np.minimum(np.minimum(0.5 * (losses - epsilon), losses), 0.0)))


def laplace_epsilon(epsilon: float, delta: float) -> float:
    """The smallest x with δ(x) <= delta for Laplace noise: ε + 2 ln(1 − δ), at least 0. [laplace-dp]"""
    if not 0.0 <= delta < 1.0:
        raise ValueError(f"delta must be in [0, 1), got {delta!r}")
    if delta == 0.0:
        return epsilon
    return min(epsilon, max(0.0, finite_up(epsilon + 2.0 * math.log1p(-delta)) + ABSOLUTE))


def laplace_divergence(epsilon: float, orders: FloatArray) -> FloatArray:
    """The exact Rényi curve of Laplace noise, shape of `orders`. [laplace-dp]

    D_α = ε + ln(1 − (1 − e^{−(2α−1)ε})·(α−1)/(2α−1))/(α−1), the form of Mironov 2017 without its overflow. Capped by ρα
    and by ε.
    """
    excess, rise = orders - 1.0, 2.0 * orders - 1.0
    fall = np.log1p(excess * np.expm1(-rise * epsilon) / rise) / excess
    # The two terms nearly cancel where αε is small.
    return np.minimum(np.minimum(laplace_rho(epsilon) * orders, epsilon), epsilon + fall + 1e-15 * epsilon)


_LEAST_EXCESS: Final = math.exp(-12.0)
_LARGEST_EXCESS: Final = math.exp(40.0)
_STEPS: Final = 64
"""Newton's steps after which the search for an order ends; it takes at most a dozen from 1e-250 to 1e100 in ρ."""


def bun_steinke_epsilon(rho: float, delta: float) -> float:
    """ε = ρ + 2√(ρ ln(1/δ)). [003-Lem15]"""
    delta = open_probability(delta)
    return finite_up(non_negative(rho) + 2.0 * math.sqrt(rho * -math.log(delta)))


def _order_epsilon(divergence: float, order: float, delta: float) -> float:
    """ε at one order: D + ln((α-1)/α) - (ln δ + ln α)/(α-1)."""
    excess = order - 1.0
    return divergence + math.log(excess / order) - (math.log(delta) + math.log(order)) / excess


def _best_order(rho: float, delta: float) -> float:
    """The order at which `_order_epsilon` of ρα is least, of those from 1 + e^-12 to 1 + e^40. [zcdp-tight]

    Its derivative, ρ + (ln δ + ln α)/(α − 1)², vanishes once: where ρx² + ln(1 + x) = ln(1/δ), x = α − 1. In ln x the
    left side is convex and rises, so Newton's steps fall towards the root from above, here from a place where neither
    term is more than the right side. Every order is a valid bound, so a poor root is safe.
    """
    target = -math.log(delta)
    excess = min(math.sqrt(target / rho), math.expm1(min(target, 40.0)), _LARGEST_EXCESS)
    for _ in range(_STEPS):
        square = rho * excess * excess
        step = (square + math.log1p(excess) - target) / (2.0 * square + excess / (1.0 + excess))
        if step < 1e-9 or excess < _LEAST_EXCESS:  # below 0 where the root is beyond the largest
            break
        excess *= math.exp(-step)
    return 1.0 + max(excess, _LEAST_EXCESS)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The tight ε of ρ-zCDP at δ: the minimum over orders. [zcdp-tight]

    Raises ValueError unless 0 < δ < 1.
    """
    rho, delta = non_negative(rho), open_probability(delta)
    if rho == 0.0:
        return 0.0
    if rho > 1e100:  # no order near the best one is representable
        return bun_steinke_epsilon(rho, delta)
    order = _best_order(rho, delta)
    best = _order_epsilon(rho * order, order, delta)
    tight = max(0.0, finite_up(best + 1e-12 * rho)) + ABSOLUTE
    return min(tight, bun_steinke_epsilon(rho, delta))  # which is smaller where the best order is too close to 1


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest ρ found whose tight conversion at δ stays at or below ε. The inverse of `zcdp_epsilon`."""
    epsilon, delta = non_negative(epsilon), open_probability(delta)
    return _zcdp_rho(min(epsilon, LARGEST_BUDGET), delta) if epsilon else 0.0


@functools.lru_cache(maxsize=1024)  # every ledger of a study asks for its budget's
def _zcdp_rho(epsilon: float, delta: float) -> float:
    # Where the closed form of Bun & Steinke stands, written without cancellation: a good place to start.
    guess = (epsilon / (math.sqrt(epsilon - math.log(delta)) + math.sqrt(-math.log(delta)))) ** 2
    if guess == 0.0 or zcdp_epsilon(1e-250, delta) > epsilon:
        return 0.0
    return largest(lambda rho: zcdp_epsilon(rho, delta) <= epsilon, start=guess)


def forget() -> None:
    """What inverse conversions were found, so that the next one is found anew."""
    _zcdp_rho.cache_clear()


def bounded_range_divergence(width: float, orders: FloatArray) -> FloatArray:
    """The exact Rényi curve of the class of width-bounded-range mechanisms, shape of `orders`. [L3]

    The two-point extremal distribution, maximised over the offset in closed form:
    A = (e^{αw} - 1)/(e^w - 1),  D = [ln((A-1)/(α-1)) + α ln((α-1)A/(α(A-1)))] / (α-1).
    Capped by ρα and by the width itself; where the formula loses its digits the cap is what is used.
    """
    caps = np.minimum(bounded_range_rho(width) * orders, width)
    if not 1e-3 <= width < LARGEST_BUDGET:
        return caps
    excess = orders - 1.0
    log_a = width * excess + np.log(-np.expm1(-width * orders)) - math.log(-math.expm1(-width))
    log_a_less_one = log_a + np.log(-np.expm1(-log_a))
    curve = (
        log_a_less_one - np.log(excess) + orders * (np.log(excess) + log_a - np.log(orders) - log_a_less_one)
    ) / excess
    # Near α = 1 the two logarithms nearly cancel before the division by α - 1.
    error = 1e-15 * (np.abs(log_a) + np.abs(np.log(excess)) + 1.0) * orders / excess
    bound = np.where(np.isfinite(curve), curve + error, np.inf)
    return np.minimum(caps, bound)


def renyi_epsilon(divergences: FloatArray, orders: FloatArray, delta: float) -> float:
    """The smallest ε over the given orders at δ. [zcdp-tight]"""
    delta = open_probability(delta)
    excess = orders - 1.0
    values = divergences + np.log(excess / orders) - (math.log(delta) + np.log(orders)) / excess
    return max(0.0, finite_up(float(np.min(values)))) + ABSOLUTE


def advanced_epsilon(square_sum: float, delta_prime: float) -> float:
    """ε = √(2 ln(1/δ′) v) + v/2 for v = Σεᵢ², the textbooks' formula. [advanced-filter]"""
    delta_prime = open_probability(delta_prime)
    return finite_up(math.sqrt(-2.0 * math.log(delta_prime) * square_sum) + 0.5 * square_sum)


def advanced_square_sum(epsilon: float, delta_prime: float) -> float:
    """The largest v with `advanced_epsilon(v, δ′)` <= ε, rounded down; closed form."""
    if epsilon == 0.0:
        return 0.0
    epsilon = min(epsilon, LARGEST_BUDGET)
    log_term = -2.0 * math.log(open_probability(delta_prime))
    # √v solves x²/2 + √log_term·x = ε; this form has no cancellation.
    root = 2.0 * epsilon / (math.sqrt(log_term) + math.sqrt(log_term + 2.0 * epsilon))
    return max(0.0, down(down(root * root)))
