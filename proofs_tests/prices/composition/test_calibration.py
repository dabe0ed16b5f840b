"""The least noise that keeps a target: it fits by an independent value, and a little less noise does not."""

import math
from collections.abc import Callable

import mpmath as mp
import pytest

from accountant.composition import calibration
from accountant.composition.advanced import AdvancedComposition
from accountant.composition.calibration import largest_eta, smallest_sigma
from accountant.composition.plans import Plan, Step
from accountant.composition.rules import BasicComposition, Composition, UnsupportedCost, ZCDPComposition
from accountant.costs.cost_kinds import GDP, ZCDP, ApproxDP, BoundedRange, PureDP
from accountant.costs.rounding import FINE
from proofs_tests.support.mechanisms.closed_forms import binomial_delta, gaussian_delta

Laws = Callable[[float], Plan]


def pure(rounds: int) -> Laws:
    return lambda eta: Plan.of(PureDP(eta), rounds)


def gaussian(rounds: int) -> Laws:
    return lambda eta: Plan.of(GDP(eta), rounds)


@pytest.mark.parametrize("rule", [BasicComposition(), ZCDPComposition(), AdvancedComposition(1e-6)])
def test_a_pure_target_is_kept_by_the_sum_whatever_the_rule(rule: Composition) -> None:
    found = largest_eta(pure(7), PureDP(0.7), rule)
    assert 0.1 * (1.0 - 1e-11) <= found <= 0.1 * (1.0 + 1e-15)
    mixed = largest_eta(lambda eta: Plan((Step(PureDP(eta), 1), Step(BoundedRange(2.0 * eta), 3))), PureDP(0.7), rule)
    assert 0.1 * (1.0 - 1e-11) <= mixed <= 0.1 * (1.0 + 1e-15)


def test_a_zcdp_target_is_kept_by_rho() -> None:
    found = largest_eta(gaussian(8), ZCDP(0.01), ZCDPComposition())
    assert 0.05 * (1.0 - 1e-11) <= found <= 0.05
    assert smallest_sigma(lambda sigma: Plan.of(GDP(1.0 / sigma), 8), ZCDP(0.01), ZCDPComposition()) == pytest.approx(
        20.0, rel=1e-11
    )


@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3), (4.0, 1e-9)])
def test_gaussian_rounds_at_a_delta_are_one_on_the_exact_curve(rounds: int, epsilon: float, delta: float) -> None:
    mu = largest_eta(gaussian(rounds), ApproxDP(epsilon, delta), BasicComposition()) * math.sqrt(rounds)
    assert gaussian_delta(mu, epsilon) <= delta
    assert gaussian_delta(mu * (1.0 + 1.1e-6), epsilon) > delta


def _zcdp_epsilon(rho: mp.mpf, delta: float) -> mp.mpf:
    """The tight conversion, over a grid of orders."""
    with mp.workdps(40):
        best = mp.inf
        for place in range(-200, 800):
            order = 1 + mp.mpf(10) ** (mp.mpf(place) / 200)
            value = rho * order + mp.log1p(-1 / order) - (mp.log(mp.mpf(delta)) + mp.log(order)) / (order - 1)
            best = min(best, value)
        return best


def test_a_zcdp_ledger_is_calibrated_to_the_rho_that_its_target_affords() -> None:
    target, rule = ApproxDP(1.0, 1e-6), ZCDPComposition()
    found = largest_eta(gaussian(4), target, rule)
    rho = 2.0 * mp.mpf(found) ** 2
    assert 1.0 - 1e-9 <= _zcdp_epsilon(rho, 1e-6) <= 1.0 + 1e-3
    assert _zcdp_epsilon(rho * mp.mpf(1.002), 1e-6) > 1.0
    advanced = largest_eta(pure(100), target, AdvancedComposition(1e-6))
    rho = 100 * mp.mpf(advanced) * mp.tanh(mp.mpf(advanced) / 2)
    assert 1.0 - 1e-9 <= _zcdp_epsilon(rho, 1e-6) <= 1.0 + 1e-3
    # At this many rounds no composition affords 1.6 times as much.
    assert binomial_delta(1.6 * advanced, 100, 1.0) > 1e-6


def test_randomized_responses_at_a_delta_are_priced_optimally() -> None:
    epsilon = largest_eta(pure(20), ApproxDP(1.0, 1e-5), BasicComposition())
    assert binomial_delta(epsilon, 20, 1.0) <= 1e-5
    assert binomial_delta(epsilon * 1.003, 20, 1.0) > 1e-5


def test_what_only_the_convolution_can_price_is_found_by_it() -> None:
    def mixed(eta: float) -> Plan:
        return Plan((Step(GDP(eta), 2), Step(ApproxDP(0.3 * eta, 1e-9), 2)))

    found = largest_eta(mixed, ApproxDP(1.0, 1e-5), BasicComposition())
    price = mixed(found).price(1e-5).best.epsilon
    assert 1.0 - 2.0 * FINE <= price <= 1.0
    with pytest.raises(UnsupportedCost):
        mixed(found).price(1e-5, routes=("basic", "kov", "zcdp", "renyi", "gdp"))


@pytest.mark.parametrize("rounds", [1, 2, 30])
def test_bounded_ranges_come_within_a_thousandth(rounds: int) -> None:
    found = largest_eta(lambda eta: Plan.of(BoundedRange(eta), rounds), ApproxDP(1.0, 1e-5), BasicComposition())
    price = Plan.of(BoundedRange(found), rounds).price(1e-5).best.epsilon
    within = FINE if rounds == 1 else 5e-4
    assert 1.0 - within <= price <= 1.0


def test_noise_scales_are_the_inverse() -> None:
    target = ApproxDP(1.0, 1e-6)
    eta = largest_eta(gaussian(3), target, BasicComposition())
    assert smallest_sigma(lambda sigma: Plan.of(GDP(1.0 / sigma), 3), target, BasicComposition()) == pytest.approx(
        1.0 / eta, rel=1e-12
    )


def test_where_nothing_fits_or_everything_there_is_no_scale() -> None:
    with pytest.raises(ArithmeticError):
        largest_eta(lambda eta: Plan.of(PureDP(2.0)), PureDP(1.0), BasicComposition())
    with pytest.raises(ArithmeticError):
        largest_eta(lambda eta: Plan.of(PureDP(0.5)), PureDP(1.0), BasicComposition())
    for rule in (BasicComposition(), ZCDPComposition()):
        with pytest.raises(ArithmeticError):
            largest_eta(lambda eta: Plan.of(PureDP(4.0)), ApproxDP(1.0, 1e-6), rule)


def test_few_plans_are_priced() -> None:
    """The search is slow where it guesses badly: a bounded range takes its time."""
    asked: list[float] = []

    def plan_of(eta: float) -> Plan:
        asked.append(eta)
        return Plan.of(BoundedRange(eta), 30)

    largest_eta(plan_of, ApproxDP(1.0, 1e-5), BasicComposition())
    assert len(asked) <= 16
    assert (calibration.ROUGHLY, calibration.GRAINY) == (1e-2, 5e-4)
    assert (calibration.USUAL_GAIN, calibration.USUAL_SLOPE) == (1.075, 1.1)
