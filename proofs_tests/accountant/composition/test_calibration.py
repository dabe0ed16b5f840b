"""Noise scales for a target: never above it, and as good as the price allows."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Composition,
    Cost,
    GDPComposition,
    Plan,
    PureDP,
    Step,
    ZCDPComposition,
)
from accountant.composition.calibration import GRAINY, Target, largest_eta, smallest_sigma
from accountant.costs.rounding import largest_below


@settings(max_examples=12)
@given(st.sampled_from([PureDP, BoundedRange, GDP]), st.integers(1, 60), st.floats(0.05, 8.0), st.floats(1e-9, 1e-3))
def test_the_price_of_the_calibrated_plan_is_the_target(
    kind: type[PureDP] | type[BoundedRange] | type[GDP], rounds: int, epsilon: float, delta: float
) -> None:
    eta = largest_eta(lambda eta: Plan.of(kind(eta), rounds), ApproxDP(epsilon, delta), BasicComposition())
    price = Plan.of(kind(eta), rounds).price(delta).best.epsilon
    near = GRAINY if kind is BoundedRange else 1e-5
    assert epsilon * (1 - near) <= price <= epsilon


@pytest.mark.parametrize(
    ("target", "rule"),
    [(PureDP(1.0), BasicComposition()), (ZCDP(0.1), ZCDPComposition()), (ApproxDP(1.0, 1e-6), ZCDPComposition())],
)
def test_targets_in_sums_are_kept_exactly(target: Target, rule: Composition) -> None:
    def plan_of(eta: float) -> Plan:
        return Plan.of(BoundedRange(eta), 7)

    eta = largest_eta(plan_of, target, rule)
    assert plan_of(eta).amount(rule).within(rule.ceiling(target))
    assert not plan_of(eta * (1 + 1e-9)).amount(rule).within(rule.ceiling(target))


@pytest.mark.parametrize("target", [GDP(0.3), ApproxDP(1.0, 1e-6)])
def test_a_ledger_of_gaussians_is_filled_exactly(target: Target) -> None:
    rule = GDPComposition()
    eta = largest_eta(lambda eta: Plan.of(GDP(eta), 7), target, rule)
    assert Plan.of(GDP(eta), 7).amount(rule).within(rule.ceiling(target))
    assert not Plan.of(GDP(eta * (1 + 1e-9)), 7).amount(rule).within(rule.ceiling(target))


def test_a_sigma_is_the_smallest_that_fits() -> None:
    def plan_of(sigma: float) -> Plan:
        return Plan.of(GDP(1.0 / sigma), 10)

    sigma = smallest_sigma(plan_of, ApproxDP(1.0, 1e-6), BasicComposition())
    assert plan_of(sigma).price(1e-6).best.epsilon <= 1.0
    assert plan_of(sigma * (1 - 1e-5)).price(1e-6).best.epsilon > 1.0


def test_a_mixture_that_only_the_convolution_prices_is_calibrated_too() -> None:
    def plan_of(eta: float) -> Plan:
        mixed: tuple[Cost, Cost] = (ApproxDP(eta, 1e-8), GDP(eta))
        return Plan(tuple(Step(cost, 5) for cost in mixed))

    eta = largest_eta(plan_of, ApproxDP(1.0, 1e-6), BasicComposition())
    assert 1.0 - 1e-5 <= plan_of(eta).price(1e-6).best.epsilon <= 1.0


def test_a_target_that_nothing_fits_is_an_arithmetic_error() -> None:
    def plan_of(eta: float) -> Plan:
        return Plan((Step(ApproxDP(0.5, 1e-8), 1), Step(GDP(eta), 5)))

    with pytest.raises(ArithmeticError):
        largest_eta(plan_of, ApproxDP(0.4, 1e-6), BasicComposition())


@given(st.floats(1e-6, 1e6), st.floats(0.3, 3.0), st.floats(1e-3, 1e3))
def test_a_dear_search_returns_only_what_was_seen_to_fit(target: float, power: float, start: float) -> None:
    calls: list[float] = []

    def value(x: float) -> float:
        calls.append(x)
        return float(x**power)

    found = largest_below(value, target, start)
    assert found in calls
    assert target * (1 - 1e-5) <= found**power <= target
    assert len(calls) <= 60


def _always(constant: float) -> Callable[[float], float]:
    return lambda x: constant


def test_a_search_without_an_end_says_so() -> None:
    for constant in (0.5, 2.0):
        with pytest.raises(ArithmeticError, match="no noise scale"):
            largest_below(_always(constant), 1.0)
