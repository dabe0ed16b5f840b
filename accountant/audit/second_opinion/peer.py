"""What is asked of dp-accounting: in words that leave it no choice, and only after it has given some known answers.

An event of theirs means what their version says. `GaussianDpEvent(z)` is noise of z times how far one record moves the
sum: under add-or-remove, where nothing else can be meant, a Gaussian of μ = 1/z. Under replace-one it has meant that
too, and a proposed change would double it. So Gaussians and Laplace noise are asked under add-or-remove. Randomized
response is a replacement in every version. Whatever is asked is first asked where the answer is known.
"""

import functools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from accountant.arrays import FloatArray
from accountant.entries import visible
from accountant.explained import Explained

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Curve: TypeAlias = Callable[[SimpleNamespace, FloatArray, float, int], FloatArray]
"""The peer, Rényi orders, a cost's number and its rounds, to their divergences, shape of the orders."""

AGREEMENT: Final = 1e-6
"""How near its known answers must be, relatively; those on a grid of losses, GRIDDED."""

GRIDDED: Final = 1e-3


class PeerMissing(Explained, ImportError, ValueError):
    """dp-accounting is not installed."""


class PeerReadsDifferently(ValueError):
    """This dp-accounting understands a question otherwise than it is meant: its totals would be of other costs."""


# --- the questions --------------------------------------------------------------------------------------------------


def gaussian_curve(peer: SimpleNamespace, orders: FloatArray, mu: float, times: int) -> FloatArray:
    """Of μ-Gaussians: noise 1/μ beside a record that counts 1 and comes or goes."""
    accountant = peer.RdpAccountant(list(orders), peer.NeighboringRelation.ADD_OR_REMOVE_ONE)
    return cast("FloatArray", accountant.compose(peer.GaussianDpEvent(1.0 / mu), times).rdp)


def laplace_curve(peer: SimpleNamespace, orders: FloatArray, epsilon: float, times: int) -> FloatArray:
    """Of Laplace noise: scale 1/ε beside a record that counts 1 and comes or goes."""
    accountant = peer.RdpAccountant(list(orders), peer.NeighboringRelation.ADD_OR_REMOVE_ONE)
    return cast("FloatArray", accountant.compose(peer.LaplaceDpEvent(1.0 / epsilon), times).rdp)


def zcdp_curve(peer: SimpleNamespace, orders: FloatArray, rho: float, times: int) -> FloatArray:
    """Of ρ-zCDP as such."""
    accountant = peer.RdpAccountant(list(orders), peer.NeighboringRelation.ADD_OR_REMOVE_ONE)
    return cast("FloatArray", accountant.compose(peer.ZCDpEvent(rho), times).rdp)


def response_curve(peer: SimpleNamespace, orders: FloatArray, epsilon: float, times: int) -> FloatArray:
    """Of ε-randomized response: one answer is replaced by the other, whatever the version calls it."""
    accountant = peer.RdpAccountant(list(orders), peer.NeighboringRelation.REPLACE_ONE)
    # It answers at random with chance p, odds (1 − p/2) : p/2 = e^ε : 1.
    event = peer.RandomizedResponseDpEvent(2.0 / (1.0 + math.exp(epsilon)), 2)
    return cast("FloatArray", accountant.compose(event, times).rdp)


def sampled_curve(peer: SimpleNamespace, orders: FloatArray, mu: float, rate: float, times: int) -> FloatArray:
    """Of μ-Gaussians on Poisson samples, records coming or going; an order that it cannot answer at is ∞."""
    accountant = peer.RdpAccountant(list(orders), peer.NeighboringRelation.ADD_OR_REMOVE_ONE)
    event = peer.PoissonSampledDpEvent(rate, peer.GaussianDpEvent(1.0 / mu))
    found = np.asarray(accountant.compose(event, times).rdp, dtype=np.float64)
    return np.where(np.isfinite(found), found, np.inf)


def sampled_losses(
    peer: SimpleNamespace, mu: float, rate: float, step: float, *, below: bool = False
) -> "PrivacyLossDistribution":
    """The distributions of one such Gaussian's losses, one for each direction, rounded up to the grid, or down."""
    distribution = peer.from_gaussian_mechanism(
        1.0 / mu,
        sensitivity=1.0,
        value_discretization_interval=step,
        sampling_prob=rate,
        pessimistic_estimate=not below,
        use_connect_dots=not below,
    )
    return cast("PrivacyLossDistribution", distribution)


def gaussian_losses(peer: SimpleNamespace, mu: float, step: float) -> "PrivacyLossDistribution":
    """The distribution of one Gaussian's losses, rounded up to the grid."""
    distribution = peer.from_gaussian_mechanism(1.0 / mu, sensitivity=1.0, value_discretization_interval=step)
    return cast("PrivacyLossDistribution", distribution)


def laplace_losses(peer: SimpleNamespace, epsilon: float, step: float) -> "PrivacyLossDistribution":
    """The same of Laplace noise."""
    distribution = peer.from_laplace_mechanism(1.0 / epsilon, sensitivity=1.0, value_discretization_interval=step)
    return cast("PrivacyLossDistribution", distribution)


def losses_on_grid(peer: SimpleNamespace, masses: dict[int, float], step: float) -> "PrivacyLossDistribution":
    """A distribution on the grid, by steps, to be composed without rounding up."""
    create = peer.PrivacyLossDistribution.create_from_rounded_probability
    return cast("PrivacyLossDistribution", create(masses, 0.0, step, pessimistic_estimate=False))


# --- known answers --------------------------------------------------------------------------------------------------


def _known_answers(peer: SimpleNamespace) -> Iterator[tuple[str, float, float, float]]:
    """(what was asked, their answer, the true one, how near it must be)."""
    orders = np.array([2.0, 3.0])
    curves: tuple[tuple[str, Curve, float, float], ...] = (
        ("a Gaussian of μ = 1/2, Rényi order 2", gaussian_curve, 0.5, 2.0 * 0.5**2 / 2.0),
        ("Laplace noise of ε = 1, Rényi order 2", laplace_curve, 1.0, math.log((2.0 * math.e + math.exp(-2.0)) / 3.0)),
        ("0.1-zCDP, Rényi order 2", zcdp_curve, 0.1, 0.2),
        # Odds of 3 : 1, so 3/4 against 1/4: (3/4)²/(1/4) + (1/4)²/(3/4) = 7/3.
        ("randomized response of ε = ln 3, Rényi order 2", response_curve, math.log(3.0), math.log(7.0 / 3.0)),
    )
    for what, curve, number, true in curves:
        yield what, float(curve(peer, orders, number, 1)[0]), true, AGREEMENT
        yield f"five times {what}", float(curve(peer, orders, number, 5)[0]), 5.0 * true, AGREEMENT
    true = 0.25 + math.log(2.0 / 3.0) - (math.log(1e-3) + math.log(3.0)) / 2.0
    epsilon, _ = peer.compute_epsilon([3.0], [0.25], 1e-3)
    yield "ε at δ = 0.001 of the Rényi divergence 1/4 at order 3", float(epsilon), true, AGREEMENT
    # P(N(μ, 1) > μ/2) − P(N(0, 1) > μ/2) = erf(μ/√8).
    distribution = gaussian_losses(peer, 0.5, 1e-3)
    yield "δ at ε = 0 of a Gaussian of μ = 1/2", _delta(distribution, 0.0), math.erf(0.5 / math.sqrt(8.0)), GRIDDED
    distribution = laplace_losses(peer, 1.0, 1e-3)
    yield "δ at ε = 0 of Laplace noise of ε = 1", _delta(distribution, 0.0), -math.expm1(-0.5), GRIDDED
    step = math.log(3.0)
    distribution = losses_on_grid(peer, {1: 0.75, -1: 0.25}, step)
    yield "δ at ε = 0 of losses ±ln 3", _delta(distribution, 0.0), 0.75 * 2.0 / 3.0, AGREEMENT
    yield (
        "δ at ε = ln 3 of two of them",
        _delta(distribution.self_compose(2, 0.0), step),
        0.75**2 * 2.0 / 3.0,
        AGREEMENT,
    )
    # Losses ±ln 3 beside 2·ln 3 with chance 9/13, −ln 3 with 4/13: all above ln 3 is 3·ln 3, with 27/52.
    both = distribution.compose(losses_on_grid(peer, {2: 9.0 / 13.0, -1: 4.0 / 13.0}, step), 0.0)
    yield "δ at ε = ln 3 of two unlike distributions", _delta(both, step), 6.0 / 13.0, AGREEMENT
    # .75·(1 − e^ε/3) = 1/4.
    yield "ε at δ = 1/4 of losses ±ln 3", _epsilon(distribution, 0.25), math.log(2.0), AGREEMENT
    yield "ε at δ = 6/13 of two unlike distributions", _epsilon(both, 6.0 / 13.0), step, AGREEMENT
    # At ε = μ²/2 a Gaussian has δ = 1/2 − e^ε·Φ(−μ); one of .3 and one of .4 make one of .5.
    delta = 0.5 - math.exp(0.125) * 0.5 * math.erfc(0.5 / math.sqrt(2.0))
    distribution = gaussian_losses(peer, 0.3, 1e-3).compose(gaussian_losses(peer, 0.4, 1e-3), 0.0)
    one = gaussian_losses(peer, 0.5, 1e-3)
    for what, each in (("a Gaussian of μ = 1/2", one), ("those of .3 and .4", distribution)):
        yield f"ε at δ = {delta:.6g} of {what}", _epsilon(each, delta), 0.125, GRIDDED
    # Laplace noise of ε = 1 has δ(ε) = 1 − e^{(ε − 1)/2}.
    epsilon = _epsilon(laplace_losses(peer, 1.0, 1e-3), -math.expm1(-0.25))
    yield "ε at δ = 0.221199 of Laplace noise of ε = 1", epsilon, 0.5, GRIDDED
    # ∫ M²/N = 1 + q²(e^{μ²} − 1); at ε = 0 sampling multiplies δ by the rate.
    true = math.log1p(0.04 * math.expm1(0.25))
    answer = float(sampled_curve(peer, orders, 0.5, 0.2, 3)[0])
    yield "three Gaussians of μ = 1/2 on a fifth of the records, Rényi order 2", answer, 3.0 * true, AGREEMENT
    distribution = sampled_losses(peer, 0.5, 0.2, 1e-4)
    true = 0.2 * math.erf(0.5 / math.sqrt(8.0))
    yield "δ at ε = 0 of a Gaussian of μ = 1/2 on a fifth", _delta(distribution, 0.0), true, GRIDDED
    joined = peer.PrivacyLossDistribution(peer.connect_dots(step, np.array([-1, 1]), np.array([2.0 / 3.0, 0.0])))
    yield "δ at ε = 0 of joined dots", _delta(joined, 0.0), 0.5, AGREEMENT


def _delta(distribution: "PrivacyLossDistribution", epsilon: float) -> float:
    return float(distribution.get_delta_for_epsilon(epsilon))


def _epsilon(distribution: "PrivacyLossDistribution", delta: float) -> float:
    return float(distribution.get_epsilon_for_delta(delta))


def _checked(peer: SimpleNamespace) -> None:
    for what, answer, true, near in _known_answers(peer):
        if not abs(answer - true) <= near * true:
            raise PeerReadsDifferently(
                visible(
                    f"no second opinion: dp-accounting {peer.version} reads this differently. Asked for {what}, where "
                    f"{true:.6g} is known, it says {answer:.6g}; install a version that agrees"
                )
            )


# --- the peer -------------------------------------------------------------------------------------------------------


def peer() -> SimpleNamespace:
    """What is used of dp-accounting. Raises PeerMissing, and PeerReadsDifferently where a known answer is another."""
    try:
        import dp_accounting
        from dp_accounting import rdp
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError as error:
        raise PeerMissing("the second opinion needs dp-accounting: pip install 'exchequer[pld]'") from error
    return _trusted(
        getattr(dp_accounting, "__version__", "of an unnamed version"),
        RdpAccountant=rdp.RdpAccountant,
        compute_epsilon=rdp.compute_epsilon,
        NeighboringRelation=dp_accounting.NeighboringRelation,
        RandomizedResponseDpEvent=dp_accounting.RandomizedResponseDpEvent,
        GaussianDpEvent=dp_accounting.GaussianDpEvent,
        PoissonSampledDpEvent=dp_accounting.PoissonSampledDpEvent,
        LaplaceDpEvent=dp_accounting.LaplaceDpEvent,
        ZCDpEvent=dp_accounting.ZCDpEvent,
        PrivacyLossDistribution=privacy_loss_distribution.PrivacyLossDistribution,
        from_gaussian_mechanism=privacy_loss_distribution.from_gaussian_mechanism,
        from_laplace_mechanism=privacy_loss_distribution.from_laplace_mechanism,
        connect_dots=pld_pmf.create_pmf_pessimistic_connect_dots,
    )


@functools.lru_cache(maxsize=1)
def _trusted(version: str, **parts: object) -> SimpleNamespace:
    """Asked once, as it takes some milliseconds, and again where any part is another object."""
    found = SimpleNamespace(version=version, **parts)
    _checked(found)
    return found


def forget() -> None:
    """Ask for the known answers again the next time."""
    _trusted.cache_clear()
