"""The composition laws, and each rule against an exact or independent computation."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    GDPComposition,
    LaplaceDP,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    TextbookComposition,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    parallel,
)
from accountant.composition.fixed_plans import (
    drv,
    drv_tight,
    kov_heterogeneous,
    kov_homogeneous,
    randomized_response_delta,
)
from accountant.composition.rule_names import composition_from_record
from accountant.composition.rules import NOTHING, Amount, amount_from_record, amount_text
from accountant.costs.curves import advanced_epsilon
from accountant.costs.rounding import float_down, float_up
from proofs_tests.support.mechanisms.strategies import pure_costs, small_epsilons

RULES: list[tuple[Composition, Budget]] = [
    (BasicComposition(), PureDP(1.0)),
    (BasicComposition(), ApproxDP(1.0, 1e-5)),
    (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(1.0, 1e-5)),
    (ZCDPComposition(), ZCDP(0.1)),
    (GDPComposition(), ApproxDP(1.0, 1e-5)),
    (GDPComposition(), GDP(0.1)),
]
takeable = st.one_of(pure_costs, st.builds(BoundedRange, small_epsilons))
rules = st.sampled_from([rule for rule, _ in RULES if not isinstance(rule, GDPComposition)])


def total(rule: Composition, costs: list[Cost]) -> Amount:
    amount = NOTHING
    for cost in costs:
        amount = amount.plus(rule.amount(cost))
    return amount


@given(rules, takeable, st.integers(1, 200))
def test_count_is_repeated_composition(rule: Composition, cost: Cost, count: int) -> None:
    assert rule.amount(cost).times(count) == total(rule, [cost] * count)
    assert Plan.of(cost, count).amount(rule) == total(rule, [cost] * count)


@given(rules, st.lists(takeable, max_size=8), st.randoms())
def test_order_does_not_matter(rule: Composition, costs: list[Cost], random: object) -> None:
    shuffled = sorted(costs, key=lambda _: random.random())  # type: ignore[attr-defined]  # hypothesis's Random
    assert total(rule, costs) == total(rule, shuffled)


@given(st.floats(0.0, 1e300), st.floats(0.0, 0.99))
def test_amounts_are_the_floats_exactly(loss: float, delta: float) -> None:
    amount = Amount.of(loss, delta)
    assert (amount.loss, amount.delta) == (Fraction(loss), Fraction(delta))
    record = {"loss": amount_text(amount.loss_units), "delta": amount_text(amount.delta_units)}
    assert amount_from_record(record) == amount


@pytest.mark.parametrize(("rule", "budget"), RULES)
def test_the_books_can_name_the_rule(rule: Composition, budget: Budget) -> None:
    assert composition_from_record(rule.describe()) == rule


@pytest.mark.parametrize("k", [*range(1, 60), 100, 333, 512, 999, 1000])
@pytest.mark.parametrize("budget", [PureDP(1.0), PureDP(0.1), ApproxDP(0.3, 1e-6)])
def test_a_basic_budget_is_spent_in_k_equal_parts_and_not_k_plus_one(budget: PureDP | ApproxDP, k: int) -> None:
    rule = BasicComposition()
    part = rule.amount(budget.split(k))
    assert part.times(k).within(rule.ceiling(budget))
    assert not part.times(k + 1).within(rule.ceiling(budget))


@pytest.mark.parametrize(("rule", "budget"), RULES)
def test_every_k_from_1_to_1000_on_every_rule(rule: Composition, budget: Budget) -> None:
    """The ceiling in the rule's own unit, split: k parts fit, k + 1 do not."""
    ceiling = rule.ceiling(budget)
    for k in range(1, 1001):
        part = Amount(ceiling.loss_units // k, ceiling.delta_units // k)
        assert part.times(k).within(ceiling)
        assert not part.times(k + 1).within(ceiling)


def test_one_ulp_over_the_budget_is_refused() -> None:
    ceiling = BasicComposition().ceiling(PureDP(1.0))
    assert Amount.of(1.0).within(ceiling)
    assert not Amount.of(1.0 + 2.0**-52).within(ceiling)
    assert not Amount.of(0.1).times(10).plus(Amount.of(5e-324)).within(Amount.of(0.1).times(10))


def exact_delta(epsilon: float, k: int, target: mp.mpf) -> mp.mpf:
    """δ(target) of k-fold ε-randomized response, by its binomial sum in 50 digits."""
    e = mp.mpf(epsilon)
    keep = mp.exp(e) / (1 + mp.exp(e))
    terms = (
        mp.binomial(k, j) * keep**j * (1 - keep) ** (k - j) * (1 - mp.exp(target - (2 * j - k) * e))
        for j in range(k + 1)
        if (2 * j - k) * e > target
    )
    return mp.fsum(terms)


@pytest.mark.parametrize(("epsilon", "k"), list(itertools.product([0.01, 0.05, 0.2, 1.0], [1, 10, 100, 400])))
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_advanced_filter_covers_k_fold_randomized_response(epsilon: float, k: int, delta: float) -> None:
    for rule in (AdvancedComposition(delta), TextbookComposition(delta)):
        spent = rule.guarantee(Plan.of(PureDP(epsilon), k).amount(rule), ApproxDP(1e6, delta))
        assert isinstance(spent, ApproxDP)
        with mp.workdps(50):
            assert exact_delta(epsilon, k, mp.mpf(spent.epsilon)) <= mp.mpf(delta)


def _tight(rho: float, delta: float) -> float:
    """The least over orders of D + ln((α − 1)/α) − (ln δ + ln α)/(α − 1), on a grid of its own."""
    orders = 1.0 + np.geomspace(1e-4, 1e5, 200_001)
    values = rho * orders + np.log1p(-1.0 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1.0)
    return float(np.min(values))


@pytest.mark.parametrize(("epsilon", "delta", "gain"), [(1.0, 1e-6, 1.39), (0.1, 1e-5, 2.0), (3.0, 1e-6, 1.257)])
def test_the_tight_reading_affords_more_than_the_textbooks(epsilon: float, delta: float, gain: float) -> None:
    budget = ApproxDP(epsilon, 2 * delta)
    tight, book = AdvancedComposition(delta).ceiling(budget), TextbookComposition(delta).ceiling(budget)
    assert float(tight.loss / book.loss) * 2.0 == pytest.approx(gain, rel=0.01)
    assert tight.delta == book.delta == Fraction(2 * delta) - Fraction(delta)
    rho = float(tight.loss)
    assert epsilon * (1 - 1e-6) <= _tight(rho, delta) <= epsilon * (1 + 1e-8)  # the grid misses the best order
    # A sum that is a tenth larger does not keep the budget by any order.
    assert _tight(1.1 * rho, delta) > 1.02 * epsilon


@given(st.floats(1e-9, 50.0) | st.floats(1e10, 1e16), st.floats(1e-12, 0.1))
def test_the_textbook_formula_is_never_below_the_tight_conversion(rho: float, delta: float) -> None:
    tight, book = AdvancedComposition(delta), TextbookComposition(delta)
    squares = Amount.of(rho).times(2)
    with mp.workdps(40):
        exact = 2 * mp.sqrt(mp.log(1 / mp.mpf(delta)) * mp.mpf(rho)) + mp.mpf(rho)
        assert exact <= book.epsilon(squares) <= exact * (1 + mp.mpf(10) ** -11)
    assert tight.epsilon(Amount.of(rho)) <= book.epsilon(squares)
    assert tight.epsilon(Amount.of(0.0)) == 0.0 == book.epsilon(Amount.of(0.0))


def test_ledgers_opened_with_the_textbook_formula_keep_it() -> None:
    assert composition_from_record({"name": "advanced", "delta_prime": 1e-6}) == TextbookComposition(1e-6)
    for rule in (AdvancedComposition(1e-6), TextbookComposition(1e-6)):
        assert composition_from_record(rule.describe()) == rule
    assert AdvancedComposition(1e-6) != TextbookComposition(1e-6)
    # Older versions took {"name": "advanced", "delta_prime": …} with whatever else there was for the formula.
    assert AdvancedComposition(1e-6).describe()["name"] not in ("basic", "zcdp", "advanced", "no-bound")
    wrong: list[dict[str, str | float]] = [
        {"name": "advanced"},
        {"name": "advanced-tight"},
    ]
    for record in wrong:
        with pytest.raises(ValueError, match="unknown rule"):
            composition_from_record(record)


def test_the_advanced_filter_would_not_hold_with_its_constant_10_percent_down() -> None:
    """The check above can fail: at k = 400, ε = 0.05, δ = 1e-30, nine tenths of the bound are not enough."""
    with mp.workdps(80):
        bound = mp.mpf(advanced_epsilon(400 * 0.05**2, 1e-30))
        assert exact_delta(0.05, 400, bound) <= mp.mpf("1e-30")
        assert exact_delta(0.05, 400, bound * mp.mpf("0.9")) > mp.mpf("1e-30")


def test_remark_16_is_false_for_general_pure_mechanisms() -> None:
    """[001-Remark16] k = 24, ε = 0.02, δ = 1e-8: the claimed ε is 0.430122, the true δ there 2.118e-8."""
    with mp.workdps(50):
        claimed = 24 * mp.mpf("0.02") ** 2 + mp.mpf("0.02") * mp.sqrt(24 * mp.log(mp.mpf(10) ** 8))
        assert claimed == pytest.approx(0.430122, abs=1e-6)
        assert float(exact_delta(0.02, 24, claimed)) == pytest.approx(2.118283e-8, rel=1e-5)


@given(st.floats(0.01, 1.0), st.integers(1, 60), st.floats(1e-9, 1e-2))
def test_kov_is_optimal_for_randomized_response(epsilon: float, k: int, slack: float) -> None:
    ours = kov_homogeneous(epsilon, 0.0, k, slack)
    with mp.workdps(50):
        assert exact_delta(epsilon, k, mp.mpf(ours.epsilon)) <= mp.mpf(slack)
        if ours.epsilon > 1e-6:
            assert exact_delta(epsilon, k, mp.mpf(ours.epsilon) * (1 - mp.mpf(10) ** -5)) > mp.mpf(slack) * (
                1 - mp.mpf(10) ** -3
            )


@given(st.floats(0.01, 1.0), st.integers(1, 60), st.floats(1e-9, 1e-2))
def test_fixed_plan_bounds_stand_in_their_proven_order(epsilon: float, k: int, slack: float) -> None:
    optimal = kov_homogeneous(epsilon, 0.0, k, slack).epsilon
    mixed = kov_heterogeneous([epsilon] * k, [0.0] * k, slack).epsilon
    assert optimal <= mixed * (1 + 1e-9)
    assert optimal <= drv_tight(epsilon, 0.0, k, slack).epsilon <= drv(epsilon, 0.0, k, slack).epsilon


def mixed_delta(epsilons: list[float], target: mp.mpf) -> mp.mpf:
    """δ(target) of randomized responses with different ε, by enumeration."""
    total = mp.mpf(0)
    for truths in itertools.product((1, -1), repeat=len(epsilons)):
        loss = mp.fsum(mp.mpf(e) * t for e, t in zip(epsilons, truths, strict=True))
        log_p = mp.fsum(-mp.log(1 + mp.exp(-mp.mpf(e) * t)) for e, t in zip(epsilons, truths, strict=True))
        total += max(mp.mpf(0), mp.exp(log_p) * (1 - mp.exp(target - loss)))
    return total


@pytest.mark.parametrize("slack", [1e-2, 1e-6])
def test_kov_for_unequal_costs_is_its_printed_formula_and_covers_mixed_randomized_response(slack: float) -> None:
    epsilons = [0.9, 0.1, 0.4, 0.4, 0.02, 0.7, 0.3, 0.2, 0.1, 0.1]
    ours = kov_heterogeneous(epsilons, [1e-7] * 10, slack)
    with mp.workdps(40):
        e = [mp.mpf(x) for x in epsilons]
        drift = mp.fsum((mp.exp(x) - 1) * x / (mp.exp(x) + 1) for x in e)
        squares = mp.fsum(x * x for x in e)
        first = drift + mp.sqrt(2 * squares * mp.log(mp.e + mp.sqrt(squares) / mp.mpf(slack)))
        second = drift + mp.sqrt(2 * squares * mp.log(1 / mp.mpf(slack)))
        exact = min(mp.fsum(e), first, second)
        assert exact <= mp.mpf(ours.epsilon) <= exact * (1 + mp.mpf(10) ** -9)
        assert mixed_delta(epsilons, mp.mpf(ours.epsilon)) <= mp.mpf(slack)
    assert ours.delta == pytest.approx(1 - (1 - 1e-7) ** 10 * (1 - slack), rel=1e-9)


def test_every_rule_adds_the_deltas_up() -> None:
    plan = Plan.of(ApproxDP(0.01, 1e-7), 30)
    for rule, base in ((BasicComposition(), 0.0), (AdvancedComposition(1e-6), 1e-6)):
        spent = rule.guarantee(plan.amount(rule), ApproxDP(10.0, 1e-4))
        assert isinstance(spent, ApproxDP)
        assert spent.delta == pytest.approx(30e-7 + base, rel=1e-12)


@given(st.fractions(0, 10**6))
def test_fractions_round_to_the_named_side(value: Fraction) -> None:
    assert Fraction(float_down(value)) <= value <= Fraction(float_up(value))
    assert float_up(value) <= math.nextafter(float_down(value), math.inf)


def test_randomized_response_delta_matches_the_exact_sum() -> None:
    for epsilon, k, target in ((0.1, 50, 0.5), (1.0, 10, 3.0), (0.02, 24, 0.430122)):
        with mp.workdps(50):
            assert randomized_response_delta(epsilon, k, target) == pytest.approx(
                float(exact_delta(epsilon, k, mp.mpf(target))), rel=1e-7
            )


def test_zcdp_rule_covers_randomized_response_exactly() -> None:
    """A pure cost on a zCDP ledger: its guarantee holds for k-fold randomized response."""
    rule = ZCDPComposition()
    for epsilon, k in itertools.product([0.05, 0.3, 1.0], [1, 30, 200]):
        spent = rule.guarantee(Plan.of(PureDP(epsilon), k).amount(rule), ApproxDP(1e6, 1e-6))
        assert isinstance(spent, ApproxDP)
        with mp.workdps(50):
            assert exact_delta(epsilon, k, mp.mpf(spent.epsilon)) <= mp.mpf("1e-6")


def test_kinds_that_do_not_add_up_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedCost, match="basic composition cannot take ZCDP"):
        BasicComposition().amount(ZCDP(0.1))
    with pytest.raises(UnsupportedCost, match="zcdp composition cannot take ApproxDP"):
        ZCDPComposition().amount(ApproxDP(0.1, 1e-6))
    with pytest.raises(UnsupportedCost, match=r"basic composition cannot take GDP.*at_delta"):
        BasicComposition().amount(GDP(0.1))


def test_every_rule_that_adds_up_rho_takes_every_cost_that_has_one() -> None:
    """Σε² of the textbooks' filter is twice Σρ, so a proven ρ may stand for it. [advanced-filter]"""
    for cost in (PureDP(0.3), LaplaceDP(0.3), BoundedRange(0.3), GDP(0.3)):
        assert ZCDPComposition().amount(cost).loss == Fraction(cost.to_zcdp().rho)
        assert AdvancedComposition(1e-6).amount(cost).loss == Fraction(cost.to_zcdp().rho)
    for proven in (LaplaceDP(0.3), BoundedRange(0.3), GDP(0.3)):
        assert TextbookComposition(1e-6).amount(proven).loss == Fraction(2.0 * proven.to_zcdp().rho)
    assert AdvancedComposition(1e-6).amount(ZCDP(0.1)).loss == Fraction(0.1)
    assert TextbookComposition(1e-6).amount(ZCDP(0.1)).loss == Fraction(0.2)
    assert float(TextbookComposition(1e-6).amount(PureDP(0.3)).loss) == pytest.approx(0.09, rel=1e-11)
    leaky = AdvancedComposition(1e-6).amount(ApproxDP(0.3, 1e-7))
    assert (leaky.loss, leaky.delta) == (Fraction(PureDP(0.3).to_zcdp().rho), Fraction(1e-7))
    assert 0.045 <= GDP(0.3).to_zcdp().rho <= 0.045 * (1 + 1e-11)


@pytest.mark.parametrize(
    ("rule", "budget"),
    [
        (BasicComposition(), ZCDP(0.1)),
        (AdvancedComposition(1e-5), PureDP(1.0)),
        (AdvancedComposition(1e-5), ApproxDP(1.0, 1e-6)),
        (ZCDPComposition(), PureDP(1.0)),
        (ZCDPComposition(), ApproxDP(1.0, 0.0)),
        (GDPComposition(), PureDP(1.0)),
        (GDPComposition(), ZCDP(1.0)),
        (ZCDPComposition(), GDP(1.0)),
    ],
)
def test_budgets_a_rule_cannot_keep_are_refused_at_birth(rule: Composition, budget: Budget) -> None:
    with pytest.raises(UnsupportedBudget):
        Ledger(budget, composition=rule, adjacency=ReplaceOne())


def test_parallel_composition_doubles_under_replace_one() -> None:
    """[001-Thm2] Under replace-one the pair of exact cell counts reveals the cell, so max alone is false."""
    assert parallel([0.1, 0.3], replace_one=False) == PureDP(0.3)
    assert parallel([0.1, 0.3], replace_one=True) == PureDP(0.6)
    assert parallel([0.1, 0.3], replace_one=True, public_membership=True) == PureDP(0.3)
