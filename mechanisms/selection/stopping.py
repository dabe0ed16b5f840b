"""How many runs: distributions of a random number K, and what the best of K runs costs under each.

All that costs need to know of one run is in `RunPrivacy`; the mechanism itself is in
`mechanisms.selection.private_selection`.
"""

import abc
import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import attrs
import numpy as np

from accountant import GDP, ZCDP, BoundedRange, LaplaceDP, PureDP
from accountant.arrays import FloatArray
from accountant.composition import bounded_range_profile
from accountant.costs import ORDERS, curves, gaussian, open_probability, positive, up
from accountant.slow_imports import brentq
from mechanisms.randomness import NoiseSource, uniform

SMALLEST_GAMMA: Final = 2.0**-40
"""Below it 1 − gamma loses its digits, and nobody waits for that many runs."""

LARGEST_MEAN: Final = 700.0
"""A Poisson distribution with a larger mean starts below the smallest float."""

SMALLEST_COST: Final = 2.0**-100
"""Smaller costs of a run are rounded up to it: their squares would underflow in the profiles."""

LARGEST_TANGENT: Final = 500.0
"""Steeper tangents of the privacy profile would overflow; without them bounds are looser, and valid."""

TANGENTS: Final = 513
"""How many tangents of the privacy profile are tried; any number gives a valid bound."""


# --- one run, as the theorems see it ----------------------------------------------------------------------------


@attrs.frozen(eq=False)
class RunPrivacy:
    """What is known of one run of a uniformly chosen candidate, for every pair of neighbours.

    loss: the largest privacy loss, ∞ where it is unbounded.  divergences: Rényi divergences at ORDERS.
    profile: losses x >= 0 to δ(x), rounded up.  epsilon: δ to ε.  reach: where δ(x) has become negligible.
    """

    loss: float
    divergences: FloatArray
    profile: Callable[[FloatArray], FloatArray]
    epsilon: Callable[[float], float]
    reach: float


def _pure_profile(epsilon: float, losses: FloatArray) -> FloatArray:
    """(e^ε − e^x)⁺/(1 + e^ε): randomized response is the worst of its class."""
    return np.asarray(np.maximum(0.0, -np.expm1(losses - epsilon)) / (1.0 + math.exp(-epsilon)))


def _gaussian_profile(mu: float, losses: FloatArray) -> FloatArray:
    values = gaussian.profile(mu, losses) * (1.0 + 1e-11 * (1.0 + 1.0 / mu))
    return np.asarray(np.clip(values + 2.0**-1000, 0.0, 1.0))


def _zcdp_profile(rho: float, losses: FloatArray) -> FloatArray:
    """The least δ over orders [zcdp-tight], and Pinsker's √(ρ/2), which holds at every x >= 0."""
    excess = ORDERS - 1.0
    logs = excess * (rho * ORDERS - losses[:, None]) + ORDERS * np.log(excess / ORDERS) - np.log(excess)
    least = np.exp(np.minimum(np.min(logs, axis=1), 0.0)) * (1.0 + 1e-9)
    return np.asarray(np.minimum(least, math.sqrt(0.5 * rho)))


def run_privacy(cost: PureDP | LaplaceDP | BoundedRange | ZCDP | GDP) -> RunPrivacy:
    """One run of a mechanism of that cost, or of SMALLEST_COST if that is more: [L3], [L4], [gdp], [zcdp-tight]."""
    match cost:
        case PureDP(epsilon=epsilon_):
            loss = max(epsilon_, SMALLEST_COST)
            divergences = np.minimum(curves.pure_rho(loss) * ORDERS, loss)
            return RunPrivacy(loss, divergences, lambda x: _pure_profile(loss, x), lambda _: loss, loss)
        case LaplaceDP(epsilon=epsilon_):
            loss = max(epsilon_, SMALLEST_COST)
            profile, epsilon = partial(curves.laplace_profile, loss), partial(curves.laplace_epsilon, loss)
            return RunPrivacy(loss, curves.laplace_divergence(loss, ORDERS), profile, epsilon, loss)
        case BoundedRange(epsilon=epsilon_):
            width = max(epsilon_, SMALLEST_COST)
            divergences = curves.bounded_range_divergence(width, ORDERS)
            profile, epsilon = partial(bounded_range_profile, width), partial(curves.bounded_range_epsilon, width)
            return RunPrivacy(width, divergences, profile, epsilon, width)
        case GDP():
            mu = max(cost.mu, SMALLEST_COST)
            rho = GDP(mu).to_zcdp().rho
            profile, epsilon = partial(_gaussian_profile, mu), partial(gaussian.epsilon, mu)
            return RunPrivacy(math.inf, rho * ORDERS, profile, epsilon, _tail(rho))
        case ZCDP():
            rho = max(cost.rho, SMALLEST_COST)
            profile, epsilon = partial(_zcdp_profile, rho), partial(curves.zcdp_epsilon, rho)
            return RunPrivacy(math.inf, rho * ORDERS, profile, epsilon, _tail(rho))


def _tail(rho: float) -> float:
    """Where δ falls below e^-50, far below any gamma."""
    return curves.bun_steinke_epsilon(rho, math.exp(-50.0))


# --- how many runs ----------------------------------------------------------------------------------------------


class Stopping(abc.ABC):
    """The distribution of the number of runs K, with generating function f(x) = E[x^K].

    The best of K runs is released as output y with probability q(y)·E[f′(x)], x uniform between the chances that
    one run ranks below y and that it ranks at most as high. Two facts about f′ are therefore all that costs need.
    """

    name: str

    @property
    @abc.abstractmethod
    def parameters(self) -> tuple[tuple[str, float], ...]:
        """What the entry says about it."""

    @property
    @abc.abstractmethod
    def mean(self) -> float:
        """E[K], the expected number of runs."""

    @abc.abstractmethod
    def generating_function(self, x: FloatArray) -> FloatArray:
        """E[x^K] for x in [0, 1], any shape."""

    @abc.abstractmethod
    def terms(self) -> Iterator[tuple[int, float]]:
        """(k, P(K = k)) from the smallest k on, without end."""

    @abc.abstractmethod
    def tilt(self, run: RunPrivacy) -> float:
        """A bound on ln f′(x)/f′(x′) over neighbours."""

    @abc.abstractmethod
    def fall(self, higher: FloatArray) -> FloatArray:
        """ln f′(1)/f′(1 − G) at chances G >= 0 that a run ranks higher, any shape; 0 at 0, and rising.

        Along a line G′ = s·G + d, d >= 0, its difference at G′ and at G rises or falls all the way.
        """

    def levels(self, number: int) -> FloatArray:
        """Chances from 0 to 1 between which `fall` rises in about even steps, shape (number + 1,)."""
        return np.linspace(0.0, 1.0, number + 1)

    @abc.abstractmethod
    def divergences(self, run: RunPrivacy) -> FloatArray:
        """Rényi divergences of the best of K runs at ORDERS. [random-stopping-renyi]"""

    def draw(self, noise: NoiseSource) -> int:
        """One K, by inverting its distribution function at a number of 52 fair bits.

        Exact to about 2^-52 for a few runs; the terms' rounding adds up to 1e-13 at a mean of 10,000 (LIMITS).
        """
        left = uniform(noise)
        for k, probability in self.terms():
            left -= probability
            # The second condition is the far tail, which rounding may keep `left` from ever reaching.
            if left <= 0.0 or (k > self.mean and probability < 2.0**-80):
                return k
        raise AssertionError("terms() has no end")


def _gamma(value: float) -> float:
    number = open_probability(value)
    if number < SMALLEST_GAMMA:
        raise ValueError(f"expected gamma of at least 2^-40, got {value!r}")
    return number


def _eta(value: float) -> float:
    if isinstance(value, bool):
        raise TypeError(f"expected a number above -1, got {value!r}")
    positive(value + 1.0)
    return float(value)


@attrs.frozen
class NegativeBinomialStopping(Stopping):
    """K >= 1 with P(K = k) ∝ (1 − gamma)^k·Π_{l<k} (l + eta)/(l + 1): the truncated negative binomial distribution.

    eta: shape, > -1, with eta·ln(1/gamma) <= 600. 1 is the geometric distribution, 0 the logarithmic one; the closer
      to -1, the further it spreads K and the less it costs.
    gamma: in [2^-40, 1); the smaller, the more runs. `with_mean` finds it.
    Cost: at most (2 + eta) runs of pure DP. Proof: [random-stopping]. Source: Papernot & Steinke 2022, Def. 1.
    """

    name = "truncated negative binomial"
    eta: float = attrs.field(converter=_eta)
    gamma: float = attrs.field(converter=_gamma)

    def __attrs_post_init__(self) -> None:
        if not self.eta * self._log <= 600.0:
            raise ValueError(f"expected eta·ln(1/gamma) of at most 600, got eta={self.eta!r}, gamma={self.gamma!r}")

    @staticmethod
    def with_mean(eta: float, mean: float) -> "NegativeBinomialStopping":
        """The one of shape `eta` whose expected number of runs is `mean`, > 1. Raises ValueError if there is none."""
        low, high = math.log(SMALLEST_GAMMA), math.log1p(-(2.0**-40))

        def too_many(log: float) -> float:
            return math.log(_negative_binomial_mean(eta, math.exp(log)) / positive(mean))

        if not too_many(high) < 0.0 < too_many(low):
            raise ValueError(f"no gamma in [2^-40, 1) gives eta={eta!r} a mean of {mean!r}")
        return NegativeBinomialStopping(eta, math.exp(float(brentq(too_many, low, high, xtol=1e-14))))

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta), ("gamma", self.gamma))

    @property
    def mean(self) -> float:
        return _negative_binomial_mean(self.eta, self.gamma)

    @property
    def _log(self) -> float:
        return -math.log(self.gamma)

    def generating_function(self, x: FloatArray) -> FloatArray:
        logs = np.log1p(-(1.0 - self.gamma) * x)
        if _logarithmic(self.eta):
            return np.asarray(-logs / self._log)
        return np.asarray(np.expm1(-self.eta * logs) / math.expm1(self.eta * self._log))

    def terms(self) -> Iterator[tuple[int, float]]:
        shape = 1.0 / self._log if _logarithmic(self.eta) else self.eta / math.expm1(self.eta * self._log)
        probability = (1.0 - self.gamma) * shape
        for k in itertools.count(1):
            yield k, probability
            probability *= (1.0 - self.gamma) * (k + self.eta) / (k + 1.0)

    def fall(self, higher: FloatArray) -> FloatArray:
        """(1 + eta)·ln(1 + r·G), r = 1/gamma − 1."""
        return np.asarray((1.0 + self.eta) * np.log1p((1.0 - self.gamma) / self.gamma * higher))

    def levels(self, number: int) -> FloatArray:
        levels = np.expm1(np.linspace(0.0, 1.0, number + 1) * self._log) * self.gamma / (1.0 - self.gamma)
        return np.append(levels[:-1], 1.0)

    def tilt(self, run: RunPrivacy) -> float:
        """(1 + eta)·x for any x >= ln(1 + r·δ(x)), r = 1/gamma − 1. [random-stopping]

        f′ ∝ g^{-1-eta} with g = gamma + (1 − gamma)·P(a run ranks higher), and e^x·P + δ(x) bounds the
        neighbour's P; so g grows by at most max(e^x, 1 + r·δ(x)). For pure ε that is (e^ε + gamma)/(1 + gamma·e^ε).
        """
        low, high = 0.0, run.reach
        for _ in range(64):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._offset(run, middle) > middle else (low, middle)
        return up((1.0 + self.eta) * up(max(high, self._offset(run, high))))

    def _offset(self, run: RunPrivacy, loss: float) -> float:
        return math.log1p((1.0 / self.gamma - 1.0) * float(run.profile(np.array([loss]))[0]))

    def divergences(self, run: RunPrivacy) -> FloatArray:
        """D_λ + ln E[K]/(λ − 1) + (1 + eta)·sup of ln g′ − λ/(λ − 1)·ln g over P, g in units of gamma.

        Replacing the neighbour's P by a tangent e^x·P + δ(x), the sup has a closed form; the least over tangents is
        never above Papernot & Steinke 2022, Thm 2, which uses Rényi bounds in their place.
        """
        losses = np.linspace(0.0, min(run.reach, LARGEST_TANGENT), TANGENTS)
        slopes, offsets = np.exp(losses), run.profile(losses)
        ratio, excess = 1.0 / self.gamma - 1.0, (ORDERS - 1.0)[:, None]
        order = excess + 1.0
        worst = np.clip((excess * slopes - order * (1.0 + ratio * offsets)) / (ratio * slopes), 0.0, 1.0)
        sups = np.log1p(ratio * (slopes * worst + offsets)) - order / excess * np.log1p(ratio * worst)
        shape = (1.0 + self.eta) * np.min(sups, axis=1)
        return np.asarray(run.divergences + shape + math.log(self.mean) / (ORDERS - 1.0))


def _logarithmic(eta: float) -> bool:
    """Where the limit eta → 0 is exact to double precision."""
    return abs(eta) < 2.0**-60


def _negative_binomial_mean(eta: float, gamma: float) -> float:
    log = -math.log(gamma)
    spread = log if _logarithmic(eta) else -math.expm1(-eta * log) / eta
    return (1.0 - gamma) / (gamma * spread)


def _poisson_mean(value: float) -> float:
    number = positive(value)
    if number > LARGEST_MEAN:
        raise ValueError(f"expected a mean of at most {LARGEST_MEAN}, got {value!r}")
    return number


@attrs.frozen
class PoissonStopping(Stopping):
    """K ~ Poisson(mean), which may be 0: then nothing is run and None is released.

    mean: in (0, 700].
    The most concentrated of these and the most expensive: its pure cost, ε + mean·tanh(ε/2), grows with the mean.
    Source: Papernot & Steinke 2022, Thm 6. [random-stopping-renyi]
    """

    name = "Poisson"
    mean: float = attrs.field(converter=_poisson_mean)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("mean", self.mean),)

    def generating_function(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.exp(self.mean * (x - 1.0)))

    def terms(self) -> Iterator[tuple[int, float]]:
        probability = math.exp(-self.mean)
        for k in itertools.count():
            yield k, probability
            probability *= self.mean / (k + 1.0)

    def fall(self, higher: FloatArray) -> FloatArray:
        """mean·G."""
        return np.asarray(self.mean * higher)

    def tilt(self, run: RunPrivacy) -> float:
        """mean·(x − x′), and no event's chance changes by more than δ(0). [random-stopping]"""
        return up(self.mean * float(run.profile(np.zeros(1))[0]))

    def divergences(self, run: RunPrivacy) -> FloatArray:
        """D_λ + mean·δ(ln(λ/(λ − 1))) + ln(mean)/(λ − 1), and the output None, as likely under both."""
        excess = ORDERS - 1.0
        some = excess * (run.divergences + self.mean * run.profile(-np.log(excess / ORDERS))) + math.log(self.mean)
        return np.asarray(np.logaddexp(-self.mean, some) / excess)
