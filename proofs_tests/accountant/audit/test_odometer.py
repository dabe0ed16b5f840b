"""The odometer: the ledger's own figures at every δ, and read-outs that are labelled as such."""

import itertools
import math
from collections.abc import Iterable, Iterator

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    Amount,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    ZCDPComposition,
)
from accountant.audit.odometer import FIXED, Odometer, odometer, top
from accountant.audit.second_opinion import TOLERANCE, second_opinion
from accountant.audit.spending import MOST_POINTS, parted
from accountant.composition.plans import ROUTES
from accountant.composition.rules import NOTHING
from accountant.costs import gaussian
from accountant.costs.curves import advanced_epsilon, zcdp_epsilon
from accountant.entries.codec import decode
from accountant.entries.state import State
from proofs_tests.support.ledgers.doubles import RandomizedResponse

DELTA = 1e-6
DELTAS = (0.0, 1e-12, 1e-9, 5e-7, 1e-6, 1e-3, 0.5)
RULES: list[tuple[Composition, Budget]] = [
    (BasicComposition(), PureDP(50.0)),
    (BasicComposition(), ApproxDP(50.0, 1e-5)),
    (AdvancedComposition(DELTA), ApproxDP(50.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(50.0, 1e-5)),
    (ZCDPComposition(), ZCDP(50.0)),
]


def open_ledger(rule: Composition | None = None, budget: Budget | None = None) -> Ledger:
    rule, budget = rule or ZCDPComposition(), budget or ApproxDP(50.0, 1e-5)
    return Ledger(budget, composition=rule, adjacency=ReplaceOne())


def charge(ledger: Ledger, cost: Cost, rounds: int = 1, account: str = "main", mechanism: str = "") -> None:
    said = attrs.evolve(RandomizedResponse(1.0).description, mechanism=mechanism) if mechanism else None
    ledger.reserve(Plan.of(cost, rounds), adjacency=ReplaceOne(), account=account, mechanism=said)


# --- the guarantee ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "budget"), RULES, ids=str)
def test_it_says_what_the_ledger_says(rule: Composition, budget: Budget) -> None:
    ledger = open_ledger(rule, budget)
    assert ledger.odometer().at(DELTAS[1:]) == [ledger.odometer().epsilon(delta) for delta in DELTAS[1:]]
    for cost in (PureDP(0.3), BoundedRange(0.2)):
        charge(ledger, cost, 5)
    meter, spent = ledger.odometer(), ledger.spent
    if isinstance(spent, ZCDP):
        assert meter.epsilon(DELTA) == spent.to_approx(delta=DELTA).epsilon
    else:
        assert isinstance(spent, PureDP | ApproxDP)
        delta = spent.delta if isinstance(spent, ApproxDP) else 0.0
        assert meter.epsilon(delta) == pytest.approx(spent.epsilon, rel=1e-12)
        assert meter.least_delta <= delta
    assert meter.curve(DELTAS) == list(zip(DELTAS, meter.at(DELTAS), strict=True))
    assert all(low >= high for low, high in itertools.pairwise(meter.at(DELTAS)))


def test_basic_has_no_epsilon_below_the_delta_that_was_spent() -> None:
    ledger = open_ledger(BasicComposition())
    charge(ledger, ApproxDP(0.1, 1e-9), 5)
    charge(ledger, PureDP(0.5))
    meter = ledger.odometer()
    assert meter.at([0.0, 4.9e-9]) == [math.inf, math.inf]
    assert meter.at([meter.least_delta, 1e-3]) == [pytest.approx(1.0, rel=1e-15)] * 2
    assert meter.least_delta == pytest.approx(5e-9, rel=1e-12)


def test_advanced_keeps_its_delta_prime() -> None:
    ledger = open_ledger(AdvancedComposition(DELTA))
    charge(ledger, ApproxDP(0.1, 1e-9), 5)
    meter = ledger.odometer()
    assert meter.epsilon(DELTA) == math.inf
    assert meter.at([1.005001e-6, 1e-2]) == [pytest.approx(zcdp_epsilon(0.5 * math.tanh(0.05), DELTA), rel=1e-9)] * 2


def test_zcdp_is_tight_at_every_delta() -> None:
    ledger = open_ledger()
    charge(ledger, GDP(0.2), 10)
    meter = ledger.odometer()
    for delta in (1e-12, 1e-6, 1e-2):
        assert meter.epsilon(delta) == pytest.approx(zcdp_epsilon(0.2, delta), rel=1e-9)
        assert meter.epsilon(delta) >= gaussian.epsilon(0.2 * math.sqrt(10), delta)
    assert meter.epsilon(0.0) == math.inf
    assert open_ledger().odometer().epsilon(0.0) == 0.0
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        meter.epsilon(1.0)


def test_a_plan_at_a_price_counts_at_its_price() -> None:
    ledger = open_ledger(BasicComposition())
    plan = Plan.of(GDP(0.1), 20)
    ledger.reserve(plan, adjacency=ReplaceOne(), delta=DELTA)
    meter = ledger.odometer()
    assert meter.priced
    assert meter.epsilon(DELTA) == plan.price(DELTA).best.epsilon
    assert meter.rounds == {GDP(0.1): 20}


# --- read-outs ----------------------------------------------------------------------------------------------------


def test_what_every_other_rule_would_have_given() -> None:
    ledger = open_ledger()
    for cost, rounds in ((PureDP(0.1), 20), (BoundedRange(0.2), 10)):
        charge(ledger, cost, rounds)
    meter = ledger.odometer()
    found = {each.name: each for each in meter.other_rules(DELTA)}
    assert set(found) == {"basic", "advanced", "advanced-textbook", "zcdp", *ROUTES}
    plan = Plan((Step(PureDP(0.1), 20), Step(BoundedRange(0.2), 10)))
    for name, epsilon in plan.price(DELTA).routes.items():
        assert found[name].epsilon == pytest.approx(epsilon, rel=1e-9)
    assert found["basic"].epsilon == pytest.approx(4.0)
    assert found["zcdp"].epsilon == meter.epsilon(DELTA)
    squares = 20 * 0.01 + 10 * 2.0 * BoundedRange(0.2).to_zcdp().rho
    rho = 20 * PureDP(0.1).to_zcdp().rho + 10 * BoundedRange(0.2).to_zcdp().rho
    assert found["advanced"].epsilon == pytest.approx(zcdp_epsilon(rho, DELTA), rel=1e-9)
    assert found["advanced-textbook"].epsilon == pytest.approx(advanced_epsilon(squares, DELTA), rel=1e-9)
    assert (found["renyi"].note, found["basic"].note) == (FIXED, "")
    assert found["gdp"].epsilon is None
    assert "cannot take PureDP" in found["gdp"].note
    other = {each.name: each for each in meter.other_rules(DELTA, delta_prime=1e-8)}
    assert other["advanced-textbook"].epsilon == pytest.approx(advanced_epsilon(squares, 1e-8), rel=1e-9)


def test_rules_that_cannot_take_a_cost_say_so() -> None:
    ledger = open_ledger(AdvancedComposition(DELTA))
    charge(ledger, GDP(0.1), 3)
    charge(ledger, ApproxDP(0.1, 1e-7), 3)
    found = {each.name: each for each in ledger.odometer().other_rules(DELTA)}
    assert found["basic"].epsilon is None
    assert "cannot take" in found["basic"].note
    assert found["zcdp"].epsilon is None
    assert found["advanced"].note == "had the ledger been opened with δ′ = 7e-07"
    assert found["advanced"].epsilon is not None
    least = {each.name: each for each in ledger.odometer().other_rules(1e-7)}
    assert least["advanced"].note == "the releases' own δ leave nothing for δ′"
    basic = open_ledger(BasicComposition())
    charge(basic, ApproxDP(0.1, 1e-7), 3)
    assert basic.odometer().other_rules(1e-7)[0].note == "it spends more than this δ"
    assert [each.epsilon for each in open_ledger().odometer().other_rules(DELTA)] == [0.0] * 5


def test_the_pld_curve_is_that_of_a_fixed_plan_and_agrees_with_dp_accounting() -> None:
    ledger = open_ledger()
    for cost, rounds in ((GDP(0.1), 30), (PureDP(0.1), 20), (GDP(0.3), 2)):
        charge(ledger, cost, rounds)
    meter = ledger.odometer()
    for delta, epsilon in meter.pld_curve((1e-9, 1e-6, 1e-3)):
        (theirs,) = [total for total in second_opinion(ledger.entries, delta=delta).theirs if "PLD" in total.name]
        assert theirs.epsilon is not None
        assert epsilon == pytest.approx(theirs.epsilon, rel=TOLERANCE)
        assert epsilon is not None
        assert epsilon <= meter.epsilon(delta)
    charge(ledger, ZCDP(0.01))
    assert ledger.odometer().pld_curve([DELTA]) == [(DELTA, None)]
    assert open_ledger().odometer().pld_curve([DELTA]) == [(DELTA, 0.0)]


# --- by account, by mechanism, over time --------------------------------------------------------------------------


def test_shares_by_sub_budget_account_and_mechanism() -> None:
    ledger = open_ledger()
    team = ledger.allocate("team-a", 0.5)
    ledger.announce("survey")
    charge(ledger, ZCDP(0.1), account="survey", mechanism="Gaussian")
    charge(team, ZCDP(0.2), account="boost", mechanism="Exponential")
    charge(team, ZCDP(0.1), account="cuts", mechanism="Gaussian")
    meter = ledger.odometer()
    assert [(each.name, round(each.share, 12)) for each in meter.by_sub_budget] == [("team-a", 0.75), ("", 0.25)]
    assert [each.name for each in meter.by_account] == ["team-a/boost", "survey", "team-a/cuts"]
    assert [(each.name, round(each.share, 12)) for each in meter.by_mechanism] == [
        ("Exponential(bit)", 0.5),
        ("Gaussian(bit)", 0.5),
    ]
    for shares in (meter.by_sub_budget, meter.by_account, meter.by_mechanism):
        assert added(each.amount for each in shares) == meter.total
    assert sum(each.share for each in meter.by_account) == pytest.approx(1.0)


def test_plans_that_announce_nothing_stand_as_plans() -> None:
    ledger = open_ledger()
    charge(ledger, ZCDP(0.1))
    assert [each.name for each in ledger.odometer().by_mechanism] == ["plan"]


def test_amounts_that_have_no_loss_are_shared_by_delta() -> None:
    ledger = open_ledger(BasicComposition())
    charge(ledger, ApproxDP(0.0, 1e-7), 3, "a")
    charge(ledger, ApproxDP(0.0, 1e-7), 1, "b")
    assert [round(each.share, 9) for each in ledger.odometer().by_account] == [0.75, 0.25]


def test_the_smaller_ones_are_put_together() -> None:
    ledger = open_ledger()
    for place in range(12):
        charge(ledger, ZCDP(0.01 * (place + 1)), account=f"account {place}")
    meter = ledger.odometer()
    few = top(meter.by_account, 4)
    assert [each.name for each in few] == ["account 11", "account 10", "account 9", "9 others"]
    assert added(each.amount for each in few) == meter.total
    assert top(meter.by_account, 12) == meter.by_account


def test_spend_over_time_is_thinned_and_keeps_its_ends() -> None:
    ledger = open_ledger(BasicComposition())
    data = ledger.protect(True)
    mechanism = RandomizedResponse(0.001)
    for _ in range(4500):
        ledger.release(mechanism, data)
    points = ledger.odometer().points
    assert MOST_POINTS / 4 < len(points) <= MOST_POINTS
    assert points[0].number == 1
    assert points[-1].number == 2 * 4500 - 1
    assert points[-1].amount == ledger.odometer().total
    for early, late in itertools.pairwise(points):
        assert early.number < late.number
        assert early.time <= late.time
        assert early.amount.within(late.amount)
    few = ledger.odometer().over_time(0.0)
    assert few[0][2] == 0.001
    assert few[-1][2] == pytest.approx(4.5)


# --- reading ------------------------------------------------------------------------------------------------------


def test_it_is_a_snapshot_and_reading_changes_nothing() -> None:
    ledger = open_ledger()
    charge(ledger, GDP(0.1), 5)
    head, meter = ledger.head, ledger.odometer()
    before = meter.epsilon(DELTA)
    assert ledger.head == head
    charge(ledger, GDP(0.1), 5)
    assert meter.epsilon(DELTA) == before < ledger.odometer().epsilon(DELTA)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        meter.total = NOTHING  # type: ignore[misc]  # frozen, as mypy sees too


def test_entries_are_read_once() -> None:
    ledger = open_ledger()
    charge(ledger, GDP(0.1), 5)
    seen = 0

    def once() -> Iterator[Entry]:
        nonlocal seen
        for entry in ledger.entries:
            seen += 1
            yield entry

    assert odometer(once()) == ledger.odometer()
    assert seen == len(ledger.entries)


def test_entries_that_are_no_books_are_refused() -> None:
    ledger = open_ledger()
    charge(ledger, GDP(0.1))
    with pytest.raises(ValueError, match="never opened"):
        odometer([])
    with pytest.raises(ValueError, match="never opened"):
        odometer(ledger.entries[1:])
    with pytest.raises(ValueError, match="KeyError"):
        odometer([attrs.evolve(ledger.entries[0], line="{}")])


@pytest.mark.parametrize("rounds", [1, 3, 4, 8])
def test_a_plan_is_parted_after_any_round(rounds: int) -> None:
    plan = Plan((Step(GDP(0.1), 3), Step(PureDP(0.2), 1), Step(GDP(0.3), 5)))
    first, rest = parted(plan, rounds)
    assert first is not None
    assert [*first, *rest] == list(plan)
    assert first.rounds == rounds
    assert parted(plan, 0) == (None, plan)


amounts = st.floats(-3.0, -0.5).map(lambda power: 10.0**power)
costs = st.one_of(st.builds(PureDP, amounts), st.builds(BoundedRange, amounts))
acts = st.lists(
    st.tuples(costs, st.integers(1, 6), st.sampled_from(["main", "a", "b", "b/x"]), st.integers(0, 6)), max_size=12
)


@settings(max_examples=60)
@given(acts, st.sampled_from([BasicComposition(), AdvancedComposition(1e-6), ZCDPComposition()]))
def test_totals_are_those_of_the_books(acts: list[tuple[Cost, int, str, int]], rule: Composition) -> None:
    """Against the exact replay and against costs counted by hand, with rounds used and given back at random."""
    ledger = open_ledger(rule, ApproxDP(500.0, 1e-5))
    ledger.allocate("b", 0.5)
    ledger.announce("a")
    data, by_hand = ledger.protect(True), list[Cost]()
    for cost, rounds, account, used in acts:
        assert isinstance(cost, PureDP | BoundedRange)
        drawn = RandomizedResponse(cost.epsilon, kind=type(cost))
        with ledger.reserve(Plan.of(cost, rounds), adjacency=ReplaceOne(), account=account) as open_charge:
            for _ in range(min(used, rounds)):
                open_charge.release(drawn, data)
            if used % 2 == 0:
                open_charge.give_back()
        by_hand += [cost] * (min(used, rounds) if used % 2 == 0 else rounds)
    state, meter = State(), ledger.odometer()
    for entry in ledger.entries:
        assert state.apply(entry.number, decode(entry)) == []
    assert meter.total == state.total == added(rule.amount(cost) for cost in by_hand)
    assert sorted(map(repr, meter.rounds.items())) == sorted(
        repr((cost, by_hand.count(cost))) for cost in dict.fromkeys(by_hand)
    )
    assert meter.charges == len(acts)
    payers = {each.name: each.amount for each in meter.by_sub_budget}
    assert payers.get("b", NOTHING) == state.accounts["b"].drawn
    assert not meter.points or meter.points[-1].amount == meter.total
    assert _agrees_with(ledger.spent, meter)


def _agrees_with(spent: Budget, meter: Odometer) -> bool:
    assert isinstance(spent, ApproxDP)
    return bool(np.isclose(meter.epsilon(1e-5), spent.epsilon, rtol=1e-9, atol=1e-13))


def added(amounts: Iterable[Amount]) -> Amount:
    total = NOTHING
    for amount in amounts:
        total = total.plus(amount)
    return total


def test_a_price_that_depends_on_the_order_is_not_read_out_of_books_that_group_rounds() -> None:
    """Two narrow releases among wide ones: grouped they would be priced 5.6 % below what an adversary reaches."""
    ledger = open_ledger(BasicComposition())
    for cost, rounds in ((BoundedRange(1.0), 1), (BoundedRange(0.1), 10), (BoundedRange(1.0), 2)):
        charge(ledger, cost, rounds)
    found = {each.name: each for each in ledger.odometer().other_rules(0.2994049941805144)}
    assert found["bounded-range"].epsilon is None
    assert "order" in found["bounded-range"].note
    in_order = Plan.sequence([BoundedRange(1.0), *[BoundedRange(0.1)] * 10, *[BoundedRange(1.0)] * 2])
    assert in_order.price(0.2994049941805144).best.epsilon > 0.21
    equal = open_ledger(BasicComposition())
    charge(equal, BoundedRange(0.1), 10)
    assert {each.name: each for each in equal.odometer().other_rules(DELTA)}["bounded-range"].epsilon is not None
