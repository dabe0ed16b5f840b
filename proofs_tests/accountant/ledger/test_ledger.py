"""The ledger: charged before released, refused before charged, never copied, books that hold together."""

import copy
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Composition,
    FeatureValue,
    Ledger,
    LedgerCopyRefused,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    ReservationClosed,
    Sealed,
    UnsupportedCost,
    ZCDPComposition,
)
from proofs_tests.support.ledgers.doubles import Breaks, Picky, RandomizedResponse

RULES: list[tuple[Composition, Budget]] = [
    (BasicComposition(), PureDP(1.0)),
    (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(1.0, 1e-5)),
]


def open_ledger(budget: Budget | None = None, rule: Composition | None = None) -> Ledger:
    return Ledger(
        budget if budget is not None else PureDP(1.0),
        composition=rule if rule is not None else BasicComposition(),
        adjacency=ReplaceOne(),
    )


@pytest.mark.parametrize(("rule", "budget"), RULES)
def test_reading_never_changes_anything(rule: Composition, budget: Budget) -> None:
    ledger = open_ledger(budget, rule)
    ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    before = (ledger.head, ledger.spent, ledger.remaining)
    for _ in range(3):
        assert (ledger.head, ledger.spent, ledger.remaining) == before
        assert str(ledger.statement())
        assert repr(ledger)
        assert ledger.affords(Plan.of(PureDP(0.1)))
        assert ledger.verify().sound
    assert len(ledger.entries) == 3


@pytest.mark.parametrize(("rule", "budget"), RULES)
@given(data=st.data())
def test_the_ledger_agrees_with_an_exact_model(rule: Composition, budget: Budget, data: st.DataObject) -> None:
    """Random spends against plain rationals: same refusals, same totals, sound books at every step."""
    ledger, total = open_ledger(budget, rule), Fraction(0)
    bit, ceiling = ledger.protect(True), rule.ceiling(budget).loss
    for epsilon in data.draw(st.lists(st.floats(1e-3, 0.6), max_size=12)):
        loss = rule.amount(PureDP(epsilon)).loss
        if total + loss <= ceiling:
            ledger.release(RandomizedResponse(epsilon), bit)
            total += loss
        else:
            with pytest.raises(BudgetExceeded):
                ledger.release(RandomizedResponse(epsilon), bit)
        assert ceiling - ledger.remaining.loss == total
    assert ledger.verify(expect_head=ledger.head).sound


@pytest.mark.parametrize("k", [1, 3, 7, 10, 49, 1000])
def test_k_equal_parts_are_spent_exactly_k_times(k: int) -> None:
    ledger = open_ledger(PureDP(0.7))
    bit, part = ledger.protect(True), RandomizedResponse(PureDP(0.7).split(k).epsilon)
    for _ in range(k):
        ledger.release(part, bit)
    with pytest.raises(BudgetExceeded, match=r"requested Σε .* only Σε .* remains under basic composition"):
        ledger.release(part, bit)


def test_refusal_names_its_numbers_and_charges_nothing() -> None:
    ledger = open_ledger()
    before = ledger.head
    with pytest.raises(BudgetExceeded) as refused:
        ledger.release(RandomizedResponse(1.5), ledger.protect(True))
    numbers = (refused.value.requested.loss, refused.value.remaining.loss)
    assert numbers == (Fraction(3, 2), Fraction(1))
    assert refused.value.rule == BasicComposition()
    assert ledger.head == before
    assert ledger.spent == PureDP(0.0)


def test_a_sampler_that_dies_leaves_its_charge() -> None:
    ledger = open_ledger()
    with pytest.raises(RuntimeError, match="the sampler died"):
        ledger.release(Breaks(0.25), ledger.protect(True))
    assert ledger.spent == PureDP(0.25)
    assert ledger.verify().sound
    assert "entry 1: charged to 'main' and never released (it counts)" in ledger.verify().notes
    assert ledger.statement().unreleased == 1


def test_a_failed_check_charges_nothing() -> None:
    ledger = open_ledger()
    with pytest.raises(ValueError, match="this data does not fit"):
        ledger.release(Picky(0.25), ledger.protect(True))
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("other", [AddRemoveOne(), FeatureValue(0)])
def test_another_adjacency_is_refused_before_the_charge(other: AddRemoveOne | FeatureValue) -> None:
    ledger = open_ledger()
    with pytest.raises(AdjacencyMismatch, match=r"proved for .* but this ledger promises replace-one"):
        ledger.release(RandomizedResponse(0.1, relation=other), ledger.protect(True))
    assert len(ledger.entries) == 1


def test_a_plan_for_another_adjacency_is_refused_before_the_charge() -> None:
    ledger = open_ledger()
    with pytest.raises(AdjacencyMismatch, match="this plan was proved for add-remove-one"):
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=AddRemoveOne())
    assert len(ledger.entries) == 1


def test_only_this_ledgers_protected_data_is_opened() -> None:
    ledger, other = open_ledger(), open_ledger()
    with pytest.raises(Sealed, match="another ledger"):
        ledger.release(RandomizedResponse(0.1), other.protect(True))
    with pytest.raises(TypeError, match=r"from ledger\.protect"):
        ledger.release(RandomizedResponse(0.1), True)  # type: ignore[arg-type]  # unprotected data must be refused
    assert len(ledger.entries) == 1


def test_something_without_a_plain_cost_is_refused() -> None:
    class Costless:
        adjacency = ReplaceOne()

        def under(self, slickness: object) -> None: ...

    ledger = open_ledger()
    with pytest.raises(NotSpendable, match=r"Costless has no plain cost.*robust\.under\(slickness\)"):
        ledger.release(Costless(), ledger.protect(True))  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("copy_it", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_ledger_cannot_be_copied(copy_it: Callable[[Ledger], object]) -> None:
    with pytest.raises(LedgerCopyRefused):
        copy_it(open_ledger())


def test_a_reservation_cannot_be_copied() -> None:
    reservation = open_ledger().reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne())
    for copy_it in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(LedgerCopyRefused):
            copy_it(reservation)


def test_sklearn_clone_keeps_the_same_ledger() -> None:
    ledger = open_ledger()
    assert clone(ledger, safe=False) is ledger


def reserve_in_fork(ledger: Ledger, out: "multiprocessing.Queue[str]") -> None:
    try:
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne())
        out.put("reserved")
    except LedgerCopyRefused as error:
        out.put(str(error))


def test_a_fork_cannot_reserve() -> None:
    context = multiprocessing.get_context("fork")
    out: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=reserve_in_fork, args=(open_ledger(), out))
    child.start()
    assert "a fork copied this ledger" in out.get(timeout=30)
    child.join()


def spend_in_fork(spender: Ledger | Reservation, ledger: Ledger, out: "multiprocessing.Queue[str]") -> None:
    try:
        spender.release(RandomizedResponse(0.1), ledger.protect(True))
        out.put("released")
    except LedgerCopyRefused as error:
        out.put(str(error))


@pytest.mark.parametrize("reserved", [False, True])
def test_a_fork_cannot_spend_the_budget_a_second_time(reserved: bool) -> None:
    ledger, context = open_ledger(), multiprocessing.get_context("fork")
    spender = ledger.reserve(Plan.of(PureDP(0.1), 3), adjacency=ReplaceOne()) if reserved else ledger
    out: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=spend_in_fork, args=(spender, ledger, out))
    child.start()
    assert "a fork copied this ledger" in out.get(timeout=30)
    child.join()


def test_threads_racing_for_the_last_of_the_budget() -> None:
    """16 threads, 400 attempts at 1/100 of the budget: exactly 100 succeed."""
    ledger = open_ledger()
    bit, part = ledger.protect(True), RandomizedResponse(PureDP(1.0).split(100).epsilon)
    won: list[int] = []

    def attempt() -> None:
        for _ in range(25):
            try:
                ledger.release(part, bit)
                won.append(1)
            except BudgetExceeded:
                pass

    threads = [threading.Thread(target=attempt) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 100
    assert ledger.verify().sound


# --- reservations ------------------------------------------------------------------------------------------


def test_a_reservation_charges_once_and_releases_round_by_round() -> None:
    ledger = open_ledger()
    with ledger.reserve(Plan.of(PureDP(0.1), 3), account="study", adjacency=ReplaceOne()) as charge:
        assert ledger.spent == PureDP(0.30000000000000004)
        for seed in range(3):
            charge.release(RandomizedResponse(0.1, seed), ledger.protect(True))
        with pytest.raises(ReservationClosed, match="all 3 rounds"):
            charge.release(RandomizedResponse(0.1), ledger.protect(True))
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert ledger.verify().sound
    used = ledger.entries[-1].record["used"]
    assert isinstance(used, list)
    assert [(row["rounds"], row["mechanism"]["mechanism"]) for row in used] == [(3, "RandomizedResponse")]


def test_a_round_must_not_cost_more_than_was_reserved_for_it() -> None:
    ledger = open_ledger()
    plan = Plan.sequence([PureDP(0.1), PureDP(0.2)])
    with (
        ledger.reserve(plan, adjacency=ReplaceOne()) as charge,
        pytest.raises(NotSpendable, match=r"round 1 was reserved at PureDP\(epsilon=0.1\)"),
    ):
        charge.release(RandomizedResponse(0.2), ledger.protect(True))
    with ledger.reserve(plan, adjacency=ReplaceOne()) as charge, pytest.raises(NotSpendable, match="round 1"):
        charge.release(RandomizedResponse(0.1, kind=BoundedRange), ledger.protect(True))


def test_a_closed_reservation_releases_nothing() -> None:
    ledger = open_ledger()
    with ledger.reserve(Plan.of(PureDP(0.1), 3), adjacency=ReplaceOne()) as charge:
        pass
    with pytest.raises(ReservationClosed, match="closed"):
        charge.release(RandomizedResponse(0.1), ledger.protect(True))


def test_a_plan_over_budget_is_refused_whole() -> None:
    ledger = open_ledger()
    assert not ledger.affords(Plan.of(PureDP(0.1), 11))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(Plan.of(PureDP(0.1), 11), adjacency=ReplaceOne())
    with pytest.raises(NotSpendable, match="takes a Plan"):
        ledger.reserve(PureDP(0.1), adjacency=ReplaceOne())  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(UnsupportedCost):
        open_ledger(ApproxDP(1.0, 1e-5), ZCDPComposition()).reserve(
            Plan.of(PureDP(0.1)), delta=1e-6, adjacency=ReplaceOne()
        )
    assert len(ledger.entries) == 1
