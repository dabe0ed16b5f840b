"""Every rule: what a cost adds, what a budget allows, what a sum stands for; sums as exact rationals."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from accountant.composition.advanced import AdvancedComposition, TextbookComposition
from accountant.composition.gaussian_sum import GDPComposition
from accountant.composition.rule_names import composition_from_record, own_rule
from accountant.composition.rules import (
    ENDLESS,
    NOTHING,
    Amount,
    BasicComposition,
    Composition,
    NoBound,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    amount_from_record,
    amount_record,
    amount_text,
    digits_of,
    distinct_texts,
    parallel,
    readable,
)
from accountant.costs import curves
from accountant.costs.cost_kinds import GDP, ZCDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP, Unbounded
from accountant.costs.rounding import BeyondFloats, float_up
from proofs_tests.support.mechanisms.just_above import just_above

UNIT = Fraction(1, 2**1074)
FLOATS = (5e-324, 1e-300, 0.1, 0.3, 1.0 / 3.0, 1.0, 7.5, 1e300, 1.7976931348623157e308)
BASIC, ZEROS = BasicComposition(), ZCDPComposition()
ADVANCED, TEXTBOOK = AdvancedComposition(1e-7), TextbookComposition(1e-7)
RULES: tuple[Composition, ...] = (BASIC, ZEROS, ADVANCED, TEXTBOOK, GDPComposition(), NoBound())


# --- amounts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", FLOATS)
@pytest.mark.parametrize("second", FLOATS)
def test_sums_are_exact(first: float, second: float) -> None:
    one, two = Amount.of(first, 0.25), Amount.of(second)
    assert (one.loss, one.delta, two.delta) == (Fraction(first), Fraction(1, 4), Fraction(0))
    assert one.plus(two).loss == Fraction(first) + Fraction(second)
    assert one.plus(two.plus(one)).delta == Fraction(1, 2)
    assert one.minus(two).loss == max(0, Fraction(first) - Fraction(second))
    assert one.minus(two).delta == Fraction(1, 4)
    assert two.minus(one).delta == 0
    assert one.times(7).loss == 7 * Fraction(first)
    assert one.times(7).delta == Fraction(7, 4)
    assert one.within(two.plus(Amount.of(0.0, 0.25))) == (first <= second)


def test_a_part_is_rounded_down_to_a_unit() -> None:
    found = Amount(10, 7).scaled(Fraction(2, 3))
    assert found == Amount(6, 4)
    assert type(found) is Amount
    assert Amount(9, 6).scaled(Fraction(2, 3)) == Amount(6, 4)
    assert Amount.of(0.3, 0.1).scaled(Fraction(1)) == Amount.of(0.3, 0.1)


def test_both_parts_are_compared() -> None:
    whole = Amount(5, 5)
    assert [Amount(*parts).within(whole) for parts in ((5, 5), (4, 5), (5, 4), (6, 5), (5, 6), (6, 4), (4, 6))] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert type(Amount(1, 2).plus(Amount(3, 4))) is Amount


def test_endless_is_more_than_any_float() -> None:
    largest = Amount.of(1.7976931348623157e308)
    assert not largest.endless
    assert not largest.times(2).endless
    assert ENDLESS.endless
    assert ENDLESS.minus(Amount.of(1.0).times(10**300)).endless
    assert not Amount.of(1.0).times(10**300).endless
    assert ENDLESS.loss > 2 * largest.loss
    assert repr(ENDLESS) == "Amount(loss=inf, delta=0.0)"
    assert repr(Amount.of(0.3, 0.1)) == "Amount(loss=0.3, delta=0.1)"
    assert Amount(0) == NOTHING == Amount.of(0.0)
    assert not Amount(1 << 2098).endless
    assert Amount(1 << 2099).endless


# --- what a cost adds ---------------------------------------------------------------------------------------------

NUMBER = 0.7
RHOS: dict[Cost, mp.mpf] = {
    PureDP(NUMBER): mp.mpf(NUMBER) * mp.tanh(mp.mpf(NUMBER) / 2),
    LaplaceDP(NUMBER): mp.mpf(NUMBER) + mp.expm1(-mp.mpf(NUMBER)),
    BoundedRange(NUMBER): mp.mpf(NUMBER) / -mp.expm1(-mp.mpf(NUMBER))
    - 1
    - mp.log(mp.mpf(NUMBER) / -mp.expm1(-mp.mpf(NUMBER))),
    GDP(NUMBER): mp.mpf(NUMBER) ** 2 / 2,
    ZCDP(NUMBER): mp.mpf(NUMBER),
}


def _loss(rule: Composition, cost: Cost) -> mp.mpf:
    units = rule.amount(cost).loss_units
    return mp.mpf(units) / mp.mpf(2) ** 1074


@pytest.mark.parametrize("cost", RHOS)
def test_a_cost_adds_its_rho(cost: Cost) -> None:
    rho, near = RHOS[cost], 5e-12
    with mp.workdps(400):
        for rule in (ZEROS, ADVANCED):
            found = _loss(rule, cost)
            assert rho * (1 - mp.mpf(10) ** -14) <= found <= rho * (1 + near)
            assert rule.amount(cost).delta_units == 0
        textbook = mp.mpf(NUMBER) ** 2 if isinstance(cost, PureDP) else 2 * rho
        found = _loss(TEXTBOOK, cost)
        assert textbook * (1 - mp.mpf(10) ** -14) <= found <= textbook * (1 + near)
        assert TEXTBOOK.amount(cost).delta_units == 0


def test_a_cost_with_a_delta_adds_it() -> None:
    cost = ApproxDP(NUMBER, 1e-9)
    assert BASIC.amount(cost) == Amount.of(NUMBER, 1e-9)
    assert ADVANCED.amount(cost) == Amount.of(PureDP(NUMBER).to_zcdp().rho, 1e-9)
    assert TEXTBOOK.amount(cost) == Amount(TEXTBOOK.amount(PureDP(NUMBER)).loss_units, Amount.of(0.0, 1e-9).delta_units)
    assert TEXTBOOK.amount(PureDP(0.3)).loss >= Fraction(0.3) ** 2
    assert ZEROS.amount(ApproxDP(NUMBER, 0.0)) == ZEROS.amount(PureDP(NUMBER))
    with pytest.raises(UnsupportedCost):
        ZEROS.amount(cost)


def test_basic_adds_the_epsilon_of_what_is_pure() -> None:
    for cost in (PureDP(NUMBER), LaplaceDP(NUMBER), BoundedRange(NUMBER)):
        assert BASIC.amount(cost) == Amount.of(NUMBER)
    for other in (ZCDP(NUMBER), GDP(NUMBER)):
        with pytest.raises(UnsupportedCost):
            BASIC.amount(other)


def test_nothing_finite_pays_for_unbounded_releases() -> None:
    for rule in RULES[:-1]:
        with pytest.raises(UnsupportedCost, match="NoBound"):
            rule.amount(Unbounded())
        with pytest.raises(UnsupportedBudget, match="NoBound"):
            rule.ceiling(Unbounded())


def test_no_bound_counts() -> None:
    rule = NoBound()
    for cost in (*RHOS, ApproxDP(0.1, 0.1), Unbounded()):
        assert rule.amount(cost).loss == 1
    assert rule.ceiling(Unbounded()) == ENDLESS
    assert rule.guarantee(rule.amount(Unbounded()), Unbounded()) == Unbounded()
    for budget in (PureDP(1.0), ApproxDP(1.0, 0.1), ZCDP(1.0), GDP(1.0)):
        with pytest.raises(UnsupportedBudget):
            rule.ceiling(budget)
    with pytest.raises(UnsupportedCost):
        rule.amount(object())  # type: ignore[arg-type]  # the point of the test


# --- what a budget allows, and what a sum stands for --------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0 / 3.0, 8.0])
def test_basic_keeps_epsilon_and_delta_as_they_are(epsilon: float) -> None:
    assert BASIC.ceiling(PureDP(epsilon)) == Amount.of(epsilon)
    assert BASIC.ceiling(ApproxDP(epsilon, 0.1)) == Amount.of(epsilon, 0.1)
    for budget in (ZCDP(1.0), GDP(1.0)):
        with pytest.raises(UnsupportedBudget):
            BASIC.ceiling(budget)
    total = Amount.of(epsilon, 0.1).times(3)
    pure, both = BASIC.guarantee(total, PureDP(1.0)), BASIC.guarantee(total, ApproxDP(1.0, 0.1))
    assert isinstance(pure, PureDP)
    assert isinstance(both, ApproxDP)
    assert Fraction(math.nextafter(pure.epsilon, 0.0)) < 3 * Fraction(epsilon) <= Fraction(pure.epsilon)
    assert both.epsilon == pure.epsilon
    assert Fraction(math.nextafter(both.delta, 0.0)) < 3 * Fraction(0.1) <= Fraction(both.delta)


def _tight(rho: mp.mpf, delta: mp.mpf) -> mp.mpf:
    """ε of ρ-zCDP by golden section over the orders."""

    def at(s: mp.mpf) -> mp.mpf:
        excess = mp.exp(s)
        return rho * (1 + excess) + mp.log(excess / (1 + excess)) - (mp.log(delta) + mp.log1p(excess)) / excess

    low, high, ratio = mp.mpf(-12), mp.mpf(40), (mp.sqrt(5) - 1) / 2
    for _ in range(80):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, second) if at(first) < at(second) else (first, high)
    return max(mp.mpf(0), at((low + high) / 2))


def _textbook(square_sum: mp.mpf, delta: mp.mpf) -> mp.mpf:
    return mp.sqrt(-2 * mp.log(delta) * square_sum) + square_sum / 2


READ = {"zcdp": _tight, "advanced": _tight, "advanced-textbook": _textbook}


@pytest.mark.parametrize("rule", [ZEROS, ADVANCED, TEXTBOOK])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("delta", [2.5e-7, 1e-3])
def test_a_ceiling_keeps_its_budget_and_hardly_more_would(rule: Composition, epsilon: float, delta: float) -> None:
    """By the formula in sixty digits, at the δ that is left for it."""
    budget = ApproxDP(epsilon, delta)
    ceiling = rule.ceiling(budget)
    spent = mp.mpf(delta if rule is ZEROS else 1e-7)
    rho = mp.mpf(ceiling.loss_units) / mp.mpf(2) ** 1074
    formula = READ[rule.name]
    assert formula(rho, spent) <= epsilon
    assert formula(rho * (1 + mp.mpf(10) ** -9), spent) > epsilon * (1 - 1e-10) - 1e-13
    assert ceiling.delta == (0 if rule is ZEROS else Fraction(delta) - Fraction(1e-7))
    told = rule.guarantee(ceiling, budget)
    assert isinstance(told, ApproxDP)
    assert epsilon * (1 - 1e-10) - 1e-13 <= told.epsilon <= epsilon
    beyond = rule.guarantee(ceiling.plus(Amount.of(float(rho))), budget)
    assert isinstance(beyond, ApproxDP)
    just_above(beyond.epsilon, formula(2 * rho, spent), within=1e-10, absolute=5e-14)
    assert told.delta == delta
    slightly = Amount(ceiling.loss_units, ceiling.delta_units + (1 << 1040))
    if rule is not ZEROS:  # more δ than there is: the ε that is told is not cut to the budget's
        longer = rule.guarantee(slightly, budget)
        assert isinstance(longer, ApproxDP)
        assert longer.epsilon >= formula(rho, spent)
        assert longer.delta >= slightly.delta + Fraction(1e-7)
        assert longer.delta <= (slightly.delta + Fraction(1e-7)) * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize("rule", [ZEROS, ADVANCED, TEXTBOOK])
def test_what_is_within_a_ceiling_is_told_as_its_budget_at_most(rule: Composition) -> None:
    """An ε that was rounded above the budget's is cut to it; beyond the ceiling nothing is cut."""
    budget = ApproxDP(0.3, 1e-5)
    ceiling, above = rule.ceiling(budget), math.nextafter(0.3, 1.0)
    assert rule._kept(above, ceiling, budget) == 0.3
    assert rule._kept(0.2, ceiling, budget) == 0.2
    assert rule._kept(above, ceiling.plus(Amount(1)), budget) == above


def test_sums_are_read_at_the_float_above_them() -> None:
    for loss in (1e-6, 0.0137, 0.37, 1.0, 7.3, 50.0):
        for times in range(1, 8):
            total = Amount.of(loss).times(times).plus(Amount.of(1e-17 * loss))
            above = float_up(total.loss)
            assert ADVANCED.epsilon(total) == curves.zcdp_epsilon(above, ADVANCED.delta_prime)
            assert TEXTBOOK.epsilon(total) == curves.advanced_epsilon(above, TEXTBOOK.delta_prime)


def test_the_deltas_of_a_sum_are_told_rounded_up() -> None:
    for rule in (ADVANCED, TEXTBOOK):
        for times in (1, 3, 7):
            total = rule.amount(ApproxDP(0.1, 1e-8)).times(times)
            told = rule.guarantee(total, ApproxDP(5.0, 1e-6))
            assert isinstance(told, ApproxDP)
            real = times * Fraction(1e-8) + Fraction(1e-7)
            assert Fraction(math.nextafter(told.delta, 0.0)) < real <= Fraction(told.delta)


def test_what_is_told_of_sums_is_the_next_float_above() -> None:
    """Where the nearest float is below, too."""
    for times in range(2, 60):
        loss, delta = times * Fraction(0.1), times * Fraction(1e-3)
        total = Amount.of(0.1, 1e-3).times(times)
        pure, both = BASIC.guarantee(total, PureDP(1.0)), BASIC.guarantee(total, ApproxDP(1.0, 0.1))
        told = ZEROS.guarantee(total, ZCDP(1.0))
        assert isinstance(pure, PureDP)
        assert isinstance(both, ApproxDP)
        assert isinstance(told, ZCDP)
        for found, real in ((pure.epsilon, loss), (both.epsilon, loss), (both.delta, delta), (told.rho, loss)):
            assert Fraction(math.nextafter(found, 0.0)) < real <= Fraction(found)


@pytest.mark.parametrize("rule", [ZEROS, ADVANCED, TEXTBOOK])
def test_a_part_of_a_ceiling_is_told_as_what_it_is(rule: Composition) -> None:
    """And not as the whole budget, nor as more."""
    budget = ApproxDP(1.0, 1e-3)
    part = rule.ceiling(budget).scaled(Fraction(1, 3))
    told = rule.guarantee(part, budget)
    assert isinstance(told, ApproxDP)
    rho = mp.mpf(part.loss_units) / mp.mpf(2) ** 1074
    just_above(told.epsilon, READ[rule.name](rho, mp.mpf(1e-3 if rule is ZEROS else 1e-7)), 1e-10, 5e-14)


def test_delta_prime_is_part_of_delta() -> None:
    for rule in (ADVANCED, TEXTBOOK):
        with pytest.raises(UnsupportedBudget, match="alone exceeds"):
            rule.ceiling(ApproxDP(1.0, math.nextafter(1e-7, 0.0)))
        exactly = rule.ceiling(ApproxDP(1.0, 1e-7))
        assert exactly.delta_units == 0
        assert exactly.loss_units > 0
        for budget in (PureDP(1.0), ZCDP(1.0), GDP(1.0)):
            with pytest.raises(UnsupportedBudget):
                rule.ceiling(budget)
        # Outside its budget's kind a sum is told as it stands.
        told = rule.guarantee(rule.amount(PureDP(0.1)), PureDP(1e-9))
        assert isinstance(told, ApproxDP)
        assert told.epsilon > 0.1
    for wrong in (0.0, 1.0, -0.1, math.nan):
        for kind in (AdvancedComposition, TextbookComposition):
            with pytest.raises(ValueError, match=r"\(0, 1\)"):
                kind(wrong)


@pytest.mark.parametrize("rho", [1e-9, 0.01, 0.4, 9.0])
def test_sums_are_read_out_by_both_formulas(rho: float) -> None:
    total = Amount.of(rho)
    r, d = mp.mpf(rho), mp.mpf(1e-7)
    just_above(ADVANCED.epsilon(total), _tight(r, d), within=1e-10, absolute=5e-14)
    just_above(TEXTBOOK.epsilon(total), _textbook(r, d))


def test_nothing_is_told_as_nothing() -> None:
    for rule in (ADVANCED, TEXTBOOK):
        assert rule.epsilon(NOTHING) == 0.0
        assert rule.epsilon(Amount(1)) > 0.0
        assert rule.ceiling(ApproxDP(0.0, 1e-3)).loss_units == 0


def test_zcdp_keeps_rho_as_it_is() -> None:
    assert ZEROS.ceiling(ZCDP(0.3)) == Amount.of(0.3)
    told = ZEROS.guarantee(Amount.of(0.1).times(3), ZCDP(0.3))
    assert isinstance(told, ZCDP)
    assert Fraction(math.nextafter(told.rho, 0.0)) < 3 * Fraction(0.1) <= Fraction(told.rho)
    for budget in (PureDP(1.0), GDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(UnsupportedBudget):
            ZEROS.ceiling(budget)


def test_what_is_beyond_floats_is_refused() -> None:
    with pytest.raises(BeyondFloats):
        TEXTBOOK.amount(PureDP(1e200))
    with pytest.raises(BeyondFloats):
        ADVANCED.amount(GDP(1e200))


# --- parallel ------------------------------------------------------------------------------------------------------


def test_cells_cost_their_largest_and_twice_that_where_a_record_may_move() -> None:
    costs = [0.1, 0.7, 0.3]
    assert parallel(costs, replace_one=False) == PureDP(0.7)
    assert parallel(costs, replace_one=True) == PureDP(1.4)
    assert parallel(costs, replace_one=True, public_membership=True) == PureDP(0.7)
    assert parallel(costs, replace_one=False, public_membership=True) == PureDP(0.7)
    assert parallel([], replace_one=True) == PureDP(0.0)
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="non-negative"):
            parallel([0.1, wrong], replace_one=True)


# --- the ledger ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_books_keep_a_rule(rule: Composition) -> None:
    assert composition_from_record(rule.describe()) == rule
    assert type(composition_from_record(rule.describe())) is type(rule)
    with pytest.raises(ValueError, match="unknown rule"):
        composition_from_record({**rule.describe(), "name": "no such rule"})


def test_a_budget_has_a_rule_of_its_own_unit() -> None:
    """ρ adds up ρ, μ adds up squares of μ, and everything else ε."""
    assert own_rule(ZCDP(0.1)) == ZCDPComposition()
    assert own_rule(GDP(0.1)) == GDPComposition()
    for budget in (PureDP(1.0), ApproxDP(1.0, 1e-6), Unbounded()):
        assert own_rule(budget) == BasicComposition()


def test_rules_are_named_in_the_books() -> None:
    assert [rule.describe()["name"] for rule in RULES] == [
        "basic",
        "zcdp",
        "advanced-tight",
        "advanced",
        "gdp",
        "no-bound",
    ]
    for name in ("advanced-tight", "advanced"):
        with pytest.raises(ValueError, match="unknown rule"):
            composition_from_record({"name": name})
        assert composition_from_record({"name": name, "delta_prime": "1e-5"}).describe()["delta_prime"] == 1e-5


@pytest.mark.parametrize("value", [*FLOATS, 0.0, 3.0 * 2.0**-5])
def test_books_keep_an_amount(value: float) -> None:
    for amount in (Amount.of(value), Amount.of(0.3, min(value, 0.5)), Amount.of(value, 0.25).times(3)):
        assert amount_from_record(amount_record(amount)) == amount
    numerator, _, exponent = amount_text(Amount.of(value).loss_units).partition("p")
    assert int(numerator, 16) * Fraction(2) ** int(exponent) == Fraction(value)


def test_amounts_are_written_in_one_way() -> None:
    assert amount_text(Amount.of(3.0 * 2.0**-5).loss_units) == "3p-5"
    assert amount_text(0) == amount_text(0, 7) == "0p0"
    assert amount_text(Amount.of(48.0).loss_units) == "3p4"
    assert amount_text(Amount.of(48.0).loss_units, -4) == "3p0"
    assert amount_from_record(amount_record(ENDLESS)) == ENDLESS
    for wrong in (
        "6p-5",
        "3p-5 ",
        "03p-5",
        "-3p-5",
        "3p-1075",
        "0p1",
        "3P-5",
        "3p+5",
        "1p1075",
        "1p1074",
        "3",
        "p3",
        "",
        "1p99999999999999999999",
        "f" * 600 + "p0",
    ):
        with pytest.raises(ValueError):  # noqa: PT011  # some are not numbers at all
            amount_from_record({"delta": "0p0", "loss": wrong})
        with pytest.raises(ValueError):  # noqa: PT011
            amount_from_record({"delta": wrong, "loss": "0p0"})
    for record in ({}, {"loss": "1p0"}, {"loss": "1p0", "delta": "0p0", "more": "0p0"}):
        with pytest.raises(ValueError, match="a loss and a delta"):
            amount_from_record(record)


# --- messages -----------------------------------------------------------------------------------------------------


def test_amounts_are_readable() -> None:
    assert readable(Amount.of(0.25), BASIC) == "Σε 0.25"
    assert readable(Amount.of(0.25, 0.125), ADVANCED) == "Σρ 0.25, Σδ 0.125"
    third = Amount(-(-(1 << 1074) // 3))
    assert [digits_of(third.loss_units, digits) for digits in (3, 6, 12)] == ["0.333", "0.333333", "0.333333333333"]
    assert digits_of(Amount.of(1e-7).loss_units, 6) == "1e-07"
    assert digits_of(Amount.of(1e7).loss_units, 6) == "1e+07"
    assert digits_of(Amount.of(123456.0).loss_units, 6) == "123456"
    assert digits_of(Amount.of(0.00012345).loss_units, 3) == "0.000123"
    assert digits_of(0, 6) == "0"


def test_two_amounts_are_told_apart() -> None:
    assert distinct_texts(Amount.of(0.5), Amount.of(0.25), BASIC) == ("Σε 0.5", "Σε 0.25")
    assert distinct_texts(Amount.of(0.5, 0.125), Amount.of(0.25), BASIC, "=") == ("Σε=0.5, Σδ=0.125", "Σε=0.25, Σδ=0")
    more, less = Amount.of(1.0), Amount.of(math.nextafter(1.0, 0.0))
    first, second = distinct_texts(more, less, BASIC)
    assert (first, second) == ("Σε 1", "Σε 0.9999999999999999")
    first, second = distinct_texts(Amount(more.loss_units + 1), more, BASIC)
    assert first.startswith("Σε 1 + 4.94e-324")
    assert second == "Σε 1"
    first, second = distinct_texts(more, Amount(more.loss_units + 1), BASIC)
    assert first.startswith("Σε 1 - 4.94e-324")
    assert second == "Σε 1"
