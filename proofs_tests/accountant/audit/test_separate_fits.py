"""What fits on ledgers of their own come to: exact sums, rounded up, and nothing where nothing is promised."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import ZCDP, ApproxDP, Budget, PureDP, Unbounded
from accountant.audit.separate_fits import SeparateFits, added_up, in_words

EPSILONS = st.floats(0.0, 1e6)
COSTS = st.one_of(st.builds(PureDP, EPSILONS), st.builds(ApproxDP, EPSILONS, st.floats(0.0, 0.02)))


def is_rounded_up(value: float, exactly: Fraction) -> bool:
    """Whether it is the smallest float that is not below."""
    return Fraction(value) >= exactly and (not value or Fraction(math.nextafter(value, -math.inf)) < exactly)


@given(st.lists(COSTS, min_size=1, max_size=40))
def test_costs_add_up_exactly_in_any_order(costs: list[PureDP | ApproxDP]) -> None:
    total = added_up(costs)
    assert isinstance(total, PureDP | ApproxDP)
    assert is_rounded_up(total.epsilon, sum((Fraction(each.epsilon) for each in costs), Fraction()))
    delta = sum((Fraction(each.delta) for each in costs if isinstance(each, ApproxDP)), Fraction())
    assert is_rounded_up(getattr(total, "delta", 0.0), delta)
    assert isinstance(total, ApproxDP) == bool(delta)
    assert added_up(reversed(costs)) == total


@pytest.mark.parametrize(
    "costs",
    [
        [PureDP(1.0), Unbounded()],
        [Unbounded()],
        [PureDP(1.0), ZCDP(0.5)],
        [ApproxDP(1.0, 0.5), ApproxDP(1.0, 0.5)],
        [ApproxDP(1.0, 0.5), ApproxDP(1.0, math.nextafter(0.5, 0.0)), ApproxDP(1.0, 2.0**-60)],
        [PureDP(1.7e308), PureDP(1.7e308)],
    ],
)
def test_what_promises_nothing_promises_nothing_together(costs: list[Budget]) -> None:
    assert added_up(costs) == Unbounded()


def test_ten_times_a_tenth_is_no_less_than_it_is() -> None:
    """A float above 0.1 ten times over; a sum of floats would say 0.9999999999999999."""
    total = added_up([PureDP(0.1)] * 10)
    assert isinstance(total, PureDP)
    assert total.epsilon > 1.0
    assert in_words([("replace-one", PureDP(0.1))] * 10) == "1-differentially private under replace-one"


def test_what_it_says() -> None:
    seven = in_words([("replace-one", ApproxDP(1.0, 1e-6))] * 7)
    assert seven == "(7, 7e-06)-differentially private under replace-one"
    both = in_words([("replace-one", PureDP(0.3)), ("add-remove-one", PureDP(0.5))])
    assert both == (
        "1.3-differentially private under replace-one, where a fit under add-remove-one counts as two steps; under "
        "add-remove-one they promise nothing"
    )
    assert "not private under replace-one" in in_words([("replace-one", Unbounded()), ("add-remove-one", PureDP(0.5))])
    apart = in_words([("feature-value (column 0)", PureDP(1.0)), ("feature-value (column 1)", PureDP(1.0))])
    assert apart.startswith("not private under any one relation: each is under its own (feature-value (column 0); ")
    assert str(SeparateFits(3, 7, False, "X", False)) == (
        "This is fit 3 of 7 that this estimator, its clones and its copies made, each on a ledger of its own. If they "
        "saw the same records, they are together X."
    )
    assert str(SeparateFits(3, 7, True, "X", True)) == (
        "This is fit 3 of at least 7 that this estimator, its clones and its copies made, each on a ledger of its own; "
        "others, made in other processes or before it was saved, are not counted. If they saw the same records, those "
        "that are known would, with secure noise, together be X."
    )
