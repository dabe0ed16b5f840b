"""The exact privacy curve of μ-GDP on a Poisson sample, in either direction, and its inverse. [subsampled-gaussian]

M = (1 − q)·N(0, 1) + q·N(μ, 1) against N = N(0, 1): M where the record is there ("remove"), N where it is not ("add").
"""

import math
from typing import Final, Literal, TypeAlias

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.converters import open_probability
from accountant.costs.curves import ABSOLUTE
from accountant.costs.rounding import down, finite_up

Direction: TypeAlias = Literal["remove", "add"]
"""Which of the neighbours comes first in P(S) − e^x·Q(S)."""

DIRECTIONS: Final[tuple[Direction, Direction]] = ("remove", "add")
"""Both count: a composition is as bad as the worse of the two."""


SMALLEST_RATE: Final = 1e-290
"""Below it a sample is taken for everybody: q·e^{ε′} would be a product of what are no ordinary floats."""


def profile(mu: float, rate: float, losses: FloatArray, direction: Direction) -> FloatArray:
    """δ(x) of M against N ("remove") or of N against M ("add"), at every x of `losses`; not rounded.

    mu: > 0.  rate: in (0, 1).  With δ_μ the curve of μ-GDP, no digits are lost where it loses none:
    q·δ_μ(ln(1 + (e^x − 1)/q)) to remove, and (1 − e^x(1 − q))·δ_μ(−ln(1 − (1 − e^{−x})/q)) to add, where these
    logarithms exist; beyond, 1 − e^x and 0.
    """
    if direction == "remove":
        certain = losses <= math.log1p(-rate)
        inner = np.log1p(np.maximum(np.expm1(losses) / rate, -1.0 + 2.0**-52))
        return np.asarray(np.where(certain, -np.expm1(losses), rate * gaussian.profile(mu, inner)))
    beyond = losses >= -math.log1p(-rate)
    inner = -np.log1p(np.maximum(np.expm1(-losses) / rate, -1.0 + 2.0**-52))
    # 1 − e^x(1 − q) = e^x·(e^{−x} − 1 + q)
    share = np.exp(losses) * (np.expm1(-losses) + rate)
    return np.asarray(np.where(beyond, 0.0, np.maximum(share, 0.0) * gaussian.profile(mu, inner)))


def span(mu: float, rate: float, negligible: float, direction: Direction) -> tuple[float, float]:
    """Losses between which all but `negligible` of the mass under P lies; ∞ where they are no ordinary floats.

    The mass above the second is at most that. Below the first the curve is joined to δ = 1, which is above it.
    """
    reach = 0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(min(1.0, negligible / rate)))
    if not reach < 700.0:
        return -math.inf, math.inf
    far = math.log1p(rate * math.expm1(reach))
    near = min(-math.log1p(-rate), reach)
    return (-near, far) if direction == "remove" else (-far, near)


def spread(mu: float, rate: float) -> float:
    """How far the loss of one release usually is from its mean: its standard deviation under N, roughly."""
    places = np.linspace(-6.0, 6.0, 241)
    weights = np.exp(-0.5 * places**2)
    weights /= np.sum(weights)
    losses = np.logaddexp(math.log1p(-rate), math.log(rate) + mu * places - 0.5 * mu * mu)
    mean = float(np.sum(weights * losses))
    return math.sqrt(float(np.sum(weights * (losses - mean) ** 2)))


def epsilon(mu: float, rate: float, delta: float) -> float:
    """The smallest ε of one release at δ in (0, 1), rounded up: ln(1 + q(e^{ε′} − 1)), ε′ that of μ-GDP at δ/q.

    mu: >= 0.  rate: in [0, 1]. [subsampled-gaussian]
    """
    open_probability(delta)
    if rate == 1.0:
        return gaussian.epsilon(mu, delta)
    if delta >= rate or mu == 0.0:  # δ(0) is below q
        return 0.0
    # As a sample never costs more than everybody; at rates near 1 rounding would say it does.
    whole = min(gaussian.epsilon(mu, down(delta / rate)), gaussian.epsilon(mu, delta))
    if whole == 0.0 or rate < SMALLEST_RATE:
        return whole
    if whole > 700.0:  # less than a nat below, and q·e^{ε′} + 1 − q is at most q·e^{ε′}·(1 + e^{−ε′}/q)
        below = whole + math.log(rate) + math.log1p(math.exp(-whole) / rate)
        return min(whole, max(0.0, finite_up(below)))
    return min(whole, finite_up(math.log1p(rate * math.expm1(whole))) + ABSOLUTE)
