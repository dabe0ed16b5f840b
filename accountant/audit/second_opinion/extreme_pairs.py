"""What mechanisms of a given cost can lose at most, found by search and not by formula.

For the second opinion: nothing here comes from `accountant.costs.curves`, `gaussian` or `adaptive_range`, so that a
wrong constant there shows. A bounded-range mechanism of width w has losses in [t − w, t] for some offset t in [0, w];
the extreme ones have the two ends only, and the offset is searched. An ε-DP one is at most randomized response.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import log_ndtr

from accountant.arrays import FloatArray

CELLS: Final = 32
"""Cells of an interval that is searched; the best place and its neighbours are searched again."""

SEARCHES: Final = 6
"""How often: the place of a maximum is then known to (2/CELLS)^SEARCHES of the interval."""

MOST_SEARCHED: Final = 513
"""Places of a profile at which the worst offset is searched."""

ORDERS: Final = 1.0 + np.geomspace(1e-8, 1e8, 241)
"""Where sup D(α)/α is looked for."""

NEGLIGIBLE: Final = 1e-6
"""Below it ρ is ε²/2, or a quarter of it, to twelve digits."""


def best_offset(value: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """The offset between `low` and `high` at which each of as many functions with one hill is largest.

    value: offsets of shape (*low.shape, k) to values of that shape.
    """
    cells = np.linspace(0.0, 1.0, CELLS + 1)
    for _ in range(SEARCHES):
        places = low[..., None] + (high - low)[..., None] * cells
        best = np.argmax(value(places), axis=-1)
        step = (high - low) / CELLS
        low, high = np.maximum(low + (best - 1.0) * step, low), np.minimum(low + (best + 1.0) * step, high)
    return 0.5 * (low + high)


def two_points(width: float, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln P(loss = t) and ln P(loss = t − w): what makes Σ P·e^{−loss} one. Shapes of `offset`."""
    whole = math.log(-math.expm1(-width))
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.expm1(np.minimum(offset - width, 0.0)))) - whole, offset - width + np.log(
            np.abs(np.expm1(-offset))
        ) - whole


def _divergence(width: float, excess: FloatArray, offset: FloatArray) -> FloatArray:
    """D_α of the extreme pair, α = 1 + excess, by its definition; shapes broadcast."""
    upper, lower = two_points(width, offset)
    high, low = excess * offset, excess * (offset - width)
    moment = np.logaddexp(upper + high, lower + low)
    # Where both exponents are small, ln of a sum near 1 would lose its digits.
    near = np.log1p(np.exp(upper) * np.expm1(np.minimum(high, 1.0)) + np.exp(lower) * np.expm1(low))
    return np.asarray(np.where(excess * width < 0.5, near, moment) / excess)


def range_renyi(width: float, orders: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest Rényi divergence of width-bounded range at each order, and the offset that reaches it.

    width: > 0.  orders: shape (k,), > 1.
    """
    excess = orders - 1.0
    ends = np.zeros_like(orders), np.full_like(orders, width)
    offset = best_offset(lambda t: _divergence(width, excess[:, None], t), *ends)
    return _divergence(width, excess, offset), offset


def response_renyi(epsilon: float, orders: FloatArray) -> FloatArray:
    """Rényi divergences of ε-randomized response, shape of `orders`: its two losses are ±ε."""
    truth = -np.logaddexp(0.0, -epsilon)
    excess = orders - 1.0
    small = np.minimum(excess * epsilon, 1.0)
    near = np.log1p(math.exp(truth) * np.expm1(small) + math.exp(truth - epsilon) * np.expm1(-small))
    moment = np.logaddexp(truth + excess * epsilon, truth - epsilon - excess * epsilon)
    return np.asarray(np.where(excess * epsilon < 0.5, near, moment) / excess)


def _beyond_first(x: FloatArray) -> FloatArray:
    """e^x − 1 − x, with its digits near 0."""
    near = np.clip(x, -0.1, 0.1)
    series = np.zeros_like(x)
    for power in range(10, 1, -1):
        series = (series + 1.0 / math.factorial(power)) * near
    return np.where(np.abs(x) < 0.1, series * near, np.expm1(x) - x)


def laplace_renyi(epsilon: float, orders: FloatArray) -> FloatArray:
    """Rényi divergences of Laplace noise that moves by ε scales, shape of `orders`, > 1; ε > 0.

    Its loss is ε with chance 1/2, −ε with e^{−ε}/2, in between l with density e^{(l − ε)/2}/4; so the moment is
    (α e^{(α−1)ε} + (α−1) e^{−αε})/(2α − 1).
    """
    excess = orders - 1.0
    up, low = excess * epsilon, -orders * epsilon
    above_one = orders * _beyond_first(np.minimum(up, 1.0)) + excess * _beyond_first(low)
    moment = np.logaddexp(np.log(orders) + up, np.log(excess) + low) - np.log(2.0 * orders - 1.0)
    return np.asarray(np.where(up < 0.5, np.log1p(above_one / (2.0 * orders - 1.0)), moment) / excess)


def laplace_rho(epsilon: float) -> float:
    """sup over orders of D(α)/α for Laplace noise that moves by ε scales."""
    if epsilon < NEGLIGIBLE:
        return 0.5 * epsilon * epsilon
    return float(np.max(laplace_renyi(epsilon, ORDERS) / ORDERS))


def laplace_profile(epsilon: float, losses: FloatArray) -> FloatArray:
    """δ(x) of the same: 1 − e^{(x − ε)/2} between −ε and ε; shape of `losses`."""
    inside = -np.expm1(np.minimum(0.5 * (losses - epsilon), 0.0))
    return np.asarray(np.where(losses < -epsilon, -np.expm1(np.minimum(losses, 0.0)), inside))


def range_rho(width: float) -> float:
    """sup over orders of D(α)/α for width-bounded range: the ρ that its class needs."""
    if width < NEGLIGIBLE:
        return 0.125 * width * width
    return float(np.max(range_renyi(width, ORDERS)[0] / ORDERS))


def response_rho(epsilon: float) -> float:
    """The same for ε-DP."""
    if epsilon < NEGLIGIBLE:
        return 0.5 * epsilon * epsilon
    return float(np.max(response_renyi(epsilon, ORDERS) / ORDERS))


def range_profile(width: float, losses: FloatArray) -> FloatArray:
    """δ(x) of the width-bounded-range class: the largest E(1 − e^{x − loss})⁺ over offsets. losses: shape (k,)."""

    def value(x: FloatArray, offset: FloatArray) -> FloatArray:
        upper, lower = two_points(width, offset)
        high, low = -np.expm1(np.minimum(x - offset, 0.0)), -np.expm1(np.minimum(x - offset + width, 0.0))
        return np.asarray(np.exp(upper) * high + np.exp(lower) * low)

    # On a long grid the offset is searched at some places and drawn through them: near the best one it hardly matters.
    places = losses if losses.size <= MOST_SEARCHED else np.linspace(np.min(losses), np.max(losses), MOST_SEARCHED)
    # An offset below x leaves nothing above x; from x + w on, everything is above it.
    ends = np.clip(places, 0.0, width), np.clip(places + width, 0.0, width)
    found = best_offset(lambda t: value(places[:, None], t), *ends)
    return value(losses, found if places is losses else np.interp(losses, places, found))


def response_profile(epsilon: float, losses: FloatArray) -> FloatArray:
    """δ(x) of ε-randomized response; shape of `losses`."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    high, low = -np.expm1(np.minimum(losses - epsilon, 0.0)), -np.expm1(np.minimum(losses + epsilon, 0.0))
    return np.asarray(truth * high + truth * math.exp(-epsilon) * low)


def normal_profile(mu: float, losses: FloatArray) -> FloatArray:
    """δ(x) of N(0, 1) against N(mu, 1), as Balle & Wang 2018 print it; mu > 0, shape of `losses`."""
    first, second = log_ndtr(0.5 * mu - losses / mu), losses + log_ndtr(-0.5 * mu - losses / mu)
    return np.asarray(np.exp(first) * -np.expm1(np.minimum(second - first, 0.0)))


def least_epsilon(profile: Callable[[FloatArray], FloatArray], delta: float, highest: float) -> float:
    """The ε in [0, highest] at which a falling profile reaches delta, to 1e-9 of `highest`; bisection on a grid."""
    low, high = 0.0, highest
    for _ in range(4):
        places = np.linspace(low, high, 257)
        fits = profile(places) <= delta
        if fits[0]:
            return low
        place = int(np.argmax(fits)) if np.any(fits) else 256
        low, high = float(places[place - 1]), float(places[place])
    return low
