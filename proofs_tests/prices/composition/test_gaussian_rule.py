"""Sums of squares are exact, budgets are rounded down, what is told is rounded up."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from accountant.composition.gaussian_sum import LARGEST_MU, GDPComposition, least_mu
from accountant.composition.rules import NOTHING, Amount, UnsupportedBudget, UnsupportedCost
from accountant.costs.cost_kinds import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
)
from accountant.costs.curves import LARGEST_BUDGET
from accountant.costs.rounding import BeyondFloats
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta

RULE = GDPComposition()
MUS = (0.1, 0.3, 1.0 / 3.0, 1.0, 2.7, 1e-100, 1e100)
UNIT = Fraction(1, 2**1074)


@pytest.mark.parametrize("mu", MUS)
def test_a_release_adds_its_square_exactly(mu: float) -> None:
    found = RULE.amount(GDP(mu))
    assert found.loss == Fraction(mu) ** 2
    assert found.delta_units == 0
    assert RULE.ceiling(GDP(mu)) == found


@pytest.mark.parametrize("mu", [1e-150, 1.3e-160, 3e-162, 5e-324])
def test_a_square_below_a_unit_is_rounded_up_for_a_cost_and_down_for_a_budget(mu: float) -> None:
    found, kept = RULE.amount(GDP(mu)).loss, RULE.ceiling(GDP(mu)).loss
    assert kept <= Fraction(mu) ** 2 <= found <= kept + UNIT
    assert found > 0


def test_the_largest_mu() -> None:
    assert LARGEST_MU == 2.0**500
    assert RULE.amount(GDP(LARGEST_MU)).loss == Fraction(2) ** 1000
    with pytest.raises(BeyondFloats, match="square"):
        RULE.amount(GDP(math.nextafter(LARGEST_MU, math.inf)))
    assert RULE.ceiling(GDP(1e300)) == RULE.ceiling(GDP(LARGEST_MU)) == RULE.amount(GDP(LARGEST_MU))
    assert RULE.amount(GDP(0.0)) == NOTHING
    assert RULE.ceiling(GDP(0.0)) == NOTHING


def test_a_gaussian_on_a_sample_adds_what_it_would_without_sampling() -> None:
    assert RULE.amount(SubsampledGaussian(0.3, 0.5)) == RULE.amount(GDP(0.3))
    assert RULE.amount(SubsampledGaussian(0.3, 0.0)) == NOTHING


def test_only_gaussian_costs_are_added_up() -> None:
    for cost in (PureDP(0.1), ApproxDP(0.1, 0.0), ZCDP(0.1), LaplaceDP(0.1), BoundedRange(0.1), Unbounded()):
        with pytest.raises(UnsupportedCost):
            RULE.amount(cost)
    for budget in (PureDP(0.1), ApproxDP(0.1, 0.0), ZCDP(0.1), Unbounded()):
        with pytest.raises(UnsupportedBudget):
            RULE.ceiling(budget)


def test_what_costs_nothing_adds_nothing_whatever_its_kind() -> None:
    for cost in (PureDP(0.0), ZCDP(0.0), LaplaceDP(0.0), BoundedRange(0.0)):
        assert RULE.amount(cost) == NOTHING


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0, 300.0])
@pytest.mark.parametrize("delta", [1e-15, 3.3e-7, 0.1])
def test_a_budget_is_worth_the_largest_mu_whose_delta_fits(epsilon: float, delta: float) -> None:
    """By the definition of the curve: the ceiling keeps δ at ε, and a billionth more does not."""
    budget = ApproxDP(epsilon, delta)
    ceiling = RULE.ceiling(budget)
    mu = float(mp.sqrt(mp.mpf(ceiling.loss.numerator) / ceiling.loss.denominator))
    assert gaussian_delta(mu * (1 - 1e-15), epsilon) <= delta
    assert gaussian_delta(mu * (1 + 1e-9), epsilon) > delta
    assert ceiling.delta_units == 0
    told = RULE.guarantee(ceiling, budget)
    assert isinstance(told, ApproxDP)
    assert told.delta == delta
    assert epsilon * (1 - 1e-8) - 1e-8 <= told.epsilon <= epsilon
    beyond = RULE.guarantee(ceiling.times(2), budget)
    assert isinstance(beyond, ApproxDP)
    assert beyond.epsilon > epsilon
    assert gaussian_delta(mu * math.sqrt(2.0) * (1 - 1e-15), beyond.epsilon) <= delta
    less = RULE.guarantee(ceiling.scaled(Fraction(1, 4)), budget)
    assert isinstance(less, ApproxDP)
    assert gaussian_delta(0.5 * mu * (1 - 1e-15), less.epsilon) <= delta
    assert less.epsilon <= 1e-12 or gaussian_delta(0.5 * mu, less.epsilon * (1 - 1e-8) - 1e-10) > delta


def test_a_budget_beyond_floats_is_taken_for_the_largest() -> None:
    assert RULE.ceiling(ApproxDP(1.7e308, 1e-6)) == RULE.ceiling(ApproxDP(LARGEST_BUDGET, 1e-6))
    found = RULE.ceiling(ApproxDP(1.7e308, 1e-6)).loss
    assert Fraction(LARGEST_BUDGET) < found < Fraction(2.0001 * LARGEST_BUDGET)


@pytest.mark.parametrize("squares", [Fraction(1, 3), Fraction(7, 5), Fraction(10) ** 200, Fraction(1, 10**200)])
def test_the_least_mu_is_the_least(squares: Fraction) -> None:
    found = least_mu(squares)
    assert Fraction(math.nextafter(found, 0.0)) ** 2 < squares <= Fraction(found) ** 2


def test_the_least_mu_of_squares_is_their_root() -> None:
    for mu in (*MUS, 0.7, 1.1, 1e-150):
        assert least_mu(Fraction(mu) ** 2) == mu
        beyond = Fraction(mu) ** 2 + Fraction(1, 2**1074)
        assert least_mu(beyond) == math.nextafter(mu, math.inf)
    assert least_mu(Fraction(0)) == 0.0
    for place in range(1, 200):
        found = least_mu(Fraction(place, 7))
        assert Fraction(math.nextafter(found, 0.0)) ** 2 < Fraction(place, 7) <= Fraction(found) ** 2
    assert RULE.guarantee(RULE.amount(GDP(0.5)).times(4), GDP(9.0)) == GDP(1.0)
    assert RULE.guarantee(RULE.amount(GDP(0.3)), GDP(0.1)) == GDP(0.3)
    assert RULE.guarantee(Amount(1), GDP(0.1)) == GDP(least_mu(UNIT))


def test_the_rule_is_named() -> None:
    assert RULE.describe() == {"name": "gdp"}
