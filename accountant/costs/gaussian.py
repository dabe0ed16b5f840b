"""The exact privacy curve of Gaussian noise, its inverses, and the classical formula by name.

μ = Δ₂/σ throughout (the parameter of Gaussian differential privacy). k releases of μ_i are one of √Σμ_i².
"""

import math
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs.converters import non_negative, open_probability, positive
from accountant.costs.curves import ABSOLUTE
from accountant.costs.rounding import finite_up, largest
from accountant.slow_imports import erfcx, log_ndtr, ndtr

_SQRT_HALF = math.sqrt(0.5)

SMALL: Final = 1e-6
"""Below it a difference of two Mills ratios loses its digits, and a tangent is as good."""

LARGE: Final = 1e4
"""Above it both terms are exponentials of numbers whose digits before the point use up all there are."""


def profile(mu: float, losses: FloatArray) -> FloatArray:
    """δ(x) = Φ(μ/2 − x/μ) − e^x Φ(−μ/2 − x/μ) at every x of `losses`, not rounded; above it below SMALL, beyond LARGE.
    [gdp]

    With φ(a)/e^xφ(b) equal for a = x/μ − μ/2, b = x/μ + μ/2, both terms are φ(a) times a Mills ratio, so their
    difference keeps its digits in the right tail; left of a = 0 it is taken as it stands.
    """
    if mu < SMALL:
        return _tangent(mu, losses)
    if mu > LARGE:
        return _without_the_second(mu, losses)
    with np.errstate(over="ignore"):  # x/μ may be infinite, where δ is 0
        a, b = losses / mu - 0.5 * mu, losses / mu + 0.5 * mu
        right = a > 0.0
        safe_a, safe_b = np.where(right, a, 0.0), np.where(right, b, mu)
        mills = erfcx(safe_a * _SQRT_HALF) - erfcx(safe_b * _SQRT_HALF)
        tail = 0.5 * np.exp(-0.5 * safe_a**2) * mills
    plain = ndtr(-a) - np.exp(np.where(right, -1.0, losses + log_ndtr(-b)))
    return np.where(right, tail, plain)


def _without_the_second(mu: float, losses: FloatArray) -> FloatArray:
    """Φ(μ/2 − x/μ), which is above δ(x), with its argument rounded up: digits of x are lost where μ is large."""
    with np.errstate(over="ignore"):  # x/μ may be infinite, where δ is 0
        ratio = losses / mu
        return np.asarray(ndtr(0.5 * mu - ratio + 2.0**-50 * (0.5 * mu + np.abs(ratio))), dtype=np.float64)


def delta(mu: float, epsilon: float) -> float:
    """The smallest δ of μ-GDP at ε, rounded up. Source: Balle & Wang 2018, Theorem 8. [gdp]

    mu, epsilon: >= 0, finite.
    """
    mu, epsilon = non_negative(mu), non_negative(epsilon)
    if mu == 0.0:
        return 0.0
    value = float(profile(mu, np.array([epsilon]))[0])
    return min(1.0, max(0.0, value * (1.0 + 4e-13 * (1.0 + 1.0 / max(mu, SMALL))) + 2.0**-1000))


def _tangent(mu: float, losses: FloatArray) -> FloatArray:
    """μ·(φ(a) − a·Φ(−a)), a = max(0, x/μ − μ/2), for x >= 0: above δ(x), as the Mills ratio is convex and falling.

    For x < 0 by δ(x) = 1 − e^x + e^x·δ(−x).
    """
    with np.errstate(over="ignore"):  # x/μ may be infinite, where δ is 0
        a = np.minimum(np.maximum(np.abs(losses) / mu - 0.5 * mu, 0.0), 40.0)
        density = np.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi)
    right = mu * np.maximum(density - a * ndtr(-a), 0.0) * (1.0 + 1e-10)
    below = np.minimum(losses, 0.0)
    left = -np.expm1(below) + np.exp(below) * right
    return np.asarray(np.where(losses < 0.0, left, right), dtype=np.float64)


def epsilon(mu: float, delta_: float) -> float:
    """The smallest ε of μ-GDP at δ, rounded up. Raises ValueError unless 0 < δ < 1. [gdp]"""
    mu, delta_ = non_negative(mu), open_probability(delta_)
    if mu == 0.0 or delta(mu, 0.0) <= delta_:
        return 0.0
    high = finite_up(0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(delta_)))
    if delta(mu, high) > delta_:  # the Chernoff bound holds; only rounding at extreme δ can get here
        return high
    # `largest` finds how far one may go down from there, so that the result is one whose δ was seen to fit.
    room = largest(lambda gap: gap <= high and delta(mu, max(0.0, high - gap)) <= delta_, start=high * 2.0**-20)
    return finite_up(max(0.0, high - room)) + ABSOLUTE


def mu(epsilon_: float, delta_: float) -> float:
    """The largest μ found whose ε at δ is at most `epsilon_`: the inverse of `epsilon`, never above the target.

    The analytic calibration of Balle & Wang: sigma = Δ₂/μ. Raises ValueError for δ outside (0, 1).
    """
    epsilon_, delta_ = non_negative(epsilon_), open_probability(delta_)
    root = math.sqrt(-math.log(delta_))
    # Where the Chernoff bound stands; the exact curve allows more.
    start = math.sqrt(2.0) * epsilon_ / (math.sqrt(epsilon_ + root**2) + root) if epsilon_ else delta_
    return largest(lambda found: delta(found, epsilon_) <= delta_, start=start)


def classical_sigma(epsilon_: float, delta_: float, sensitivity: float) -> float:
    """σ = √(2 ln(1.25/δ))·Δ₂/ε, for reproducing papers. [classical-gaussian]

    epsilon_: in (0, 1), the only range it is proved for; raises ValueError outside. At ε = 8, δ = 1e-3 it would
    give a true δ of 1.31e-3. Use `mu` instead, at every ε.
    """
    if not 0.0 < epsilon_ < 1.0:
        raise ValueError(
            f"the classical formula is proved for 0 < epsilon < 1 only, got {epsilon_!r}: "
            "use accountant.costs.gaussian.mu"
        )
    delta_ = open_probability(delta_)
    return finite_up(math.sqrt(2.0 * math.log(1.25 / delta_)) * positive(sensitivity) / epsilon_)
