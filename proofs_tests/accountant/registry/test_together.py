"""Guarantees are added under one relation, by factors that hold, and never in the direction that does not."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    Budget,
    FeatureValue,
    FeatureValues,
    PureDP,
    ReplaceOne,
    Unbounded,
)
from accountant.composition import NOTHING
from accountant.registry import LedgerOver, Registration, together, under

BOTH = FeatureValues((0, 1))


def ledger(budget: Budget, adjacency: Adjacency, spent: Budget | None = None) -> LedgerOver:
    """A ledger over a data set."""
    made = Registration("id", "place", "hospital", budget, {"name": "basic"}, adjacency, 0, "head", 1, NOTHING)
    return LedgerOver(made, budget if spent is None else spent)


@pytest.mark.parametrize(
    ("proved", "wanted"),
    [
        (ReplaceOne(), AddRemoveOne()),
        (FeatureValue(0), ReplaceOne()),
        (FeatureValue(0), AddRemoveOne()),
        (BOTH, ReplaceOne()),
        (BOTH, FeatureValue(2)),
        (FeatureValue(0), FeatureValue(1)),
        (FeatureValue(0), BOTH),
    ],
)
def test_what_says_nothing_is_not_converted(proved: Adjacency, wanted: Adjacency) -> None:
    assert under(ApproxDP(1.0, 1e-6), proved, wanted) is None


@pytest.mark.parametrize(
    ("proved", "wanted"),
    [(ReplaceOne(), FeatureValue(3)), (ReplaceOne(), BOTH), (BOTH, FeatureValue(1)), (BOTH, BOTH)],
)
def test_a_change_of_features_is_a_replacement(proved: Adjacency, wanted: Adjacency) -> None:
    assert under(ApproxDP(1.0, 1e-6), proved, wanted) == ApproxDP(1.0, 1e-6)


@given(st.floats(0.0, 20.0), st.floats(0.0, 1e-9))
def test_two_records_cost_twice_epsilon_and_more_delta(epsilon: float, delta: float) -> None:
    found = under(ApproxDP(epsilon, delta), AddRemoveOne(), ReplaceOne())
    assert found is not None
    with mpmath.workdps(60):
        exact = (1 + mpmath.exp(mpmath.mpf(epsilon))) * mpmath.mpf(delta)
        assert found.epsilon == 2 * epsilon
        assert mpmath.mpf(found.delta) >= exact
        assert mpmath.mpf(found.delta) <= exact * (1 + mpmath.mpf(2) ** -45) + mpmath.mpf(2) ** -1070


def test_twice_is_needed_by_an_explicit_pair() -> None:
    """A count with discrete noise, P(k) ~ r^|k|: ln(1/r) under add-remove-one, and a replaced record moves it by 2.

    Its answers are one histogram of two cells, of which a replaced record changes both.
    """
    r = Fraction(1, 2)
    cell = {k: (1 - r) / (1 + r) * r ** abs(k) for k in range(-30, 31)}
    one = max(cell[k] / cell[k + 1] for k in range(-20, 20))
    both = max(cell[a] * cell[b] / (cell[a + 1] * cell[b - 1]) for a in range(-10, 10) for b in range(-10, 10))
    assert one == 1 / r
    assert both == one**2
    found = under(ApproxDP(float(mpmath.log(2)), 0.0), AddRemoveOne(), ReplaceOne())
    assert found is not None
    assert found.epsilon == 2 * float(mpmath.log(2))


@given(st.integers(2, 5), st.fractions(0, Fraction(1, 1000)), st.fractions(0, Fraction(1, 1000)))
def test_both_factors_of_two_records_are_attained(power: int, delta: Fraction, least: Fraction) -> None:
    """One bit over three data sets in a row, each (ln power, δ) away from the next, by exact fractions."""
    chances = [least, power * least + delta, power * (power * least + delta) + delta]
    for one, other in itertools.pairwise(chances):
        pairs = [(one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)]
        assert all(p <= power * q + delta for p, q in pairs)
    assert chances[2] == power**2 * least + (1 + power) * delta
    found = under(ApproxDP(math.log(power), float(delta)), AddRemoveOne(), ReplaceOne())
    assert found is not None
    assert found.epsilon == pytest.approx(2 * math.log(power), rel=1e-12)
    assert found.delta == pytest.approx(float((1 + power) * delta), rel=1e-12)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 0.01)), min_size=1, max_size=8))
def test_a_sum_is_never_below_the_exact_one(pairs: list[tuple[float, float]]) -> None:
    found = together("hospital", [ledger(ApproxDP(*pair), ReplaceOne()) for pair in pairs])
    assert found.budget is not None
    assert Fraction(found.budget.epsilon) >= sum(Fraction(epsilon) for epsilon, _ in pairs)
    assert Fraction(found.budget.delta) >= sum(Fraction(delta) for _, delta in pairs)


def test_relations_are_joined_where_one_holds_for_all_and_else_not() -> None:
    mixed = together("hospital", [ledger(PureDP(1.0), AddRemoveOne()), ledger(PureDP(2.0), ReplaceOne(), PureDP(0.5))])
    assert mixed.adjacency == ReplaceOne()
    assert (mixed.budget, mixed.spent) == (ApproxDP(4.0, 0.0), ApproxDP(2.5, 0.0))
    assert len(mixed.factors) == 1
    apart = together("hospital", [ledger(PureDP(1.0), FeatureValue(0)), ledger(PureDP(1.0), FeatureValue(1))])
    assert (apart.budget, apart.spent, apart.adjacency) == (None, None, None)
    assert "no relation is common" in apart.why_not


def test_what_promises_nothing_is_no_sum() -> None:
    found = together("hospital", [ledger(PureDP(1.0), ReplaceOne()), ledger(Unbounded(), ReplaceOne())])
    assert found.budget is None
    assert "promises nothing" in found.why_not
    many = [ledger(ApproxDP(1.0, 0.6), ReplaceOne())] * 2
    assert together("hospital", many).budget is None


def test_rho_is_read_at_a_delta_that_is_counted() -> None:
    found = together("hospital", [ledger(ZCDP(0.5), ReplaceOne()), ledger(PureDP(1.0), ReplaceOne())])
    alone = ZCDP(0.5).to_approx(delta=1e-6)
    assert found.budget is not None
    assert found.budget.delta == 1e-6
    assert found.budget.epsilon >= alone.epsilon + 1.0
