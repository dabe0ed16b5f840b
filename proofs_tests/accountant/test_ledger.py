"""The ledger: charged before released, refused before charged, never copied, books that hold together."""

import copy
import json
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction

import attrs
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
    Entry,
    FeatureValue,
    Ledger,
    LedgerBroken,
    LedgerCopyRefused,
    MemoryStore,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    ReservationClosed,
    Sealed,
    UnsupportedCost,
    ZCDPComposition,
    verify,
)
from accountant.trail import GENESIS, Kind, digest_of
from proofs_tests.support.doubles import Breaks, Picky, RandomizedResponse

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
        assert ledger.verify() == []
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
    assert ledger.verify(expect_head=ledger.head) == []


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
    assert ledger.verify() == ["entry 1: charged to 'main' and never released (it counts)"]
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
    assert "a fork copied this in-memory ledger" in out.get(timeout=30)
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
    assert "a fork copied this in-memory ledger" in out.get(timeout=30)
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
    assert ledger.verify() == []


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
    assert ledger.verify() == []
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


# --- the books ------------------------------------------------------------------------------------------------


def busy_ledger() -> Ledger:
    ledger = open_ledger(ApproxDP(1.0, 1e-5), ZCDPComposition())
    bit = ledger.protect(True)
    for seed in range(4):
        ledger.release(RandomizedResponse(0.05, seed), bit, account=f"team-{seed % 2}")
    with ledger.reserve(Plan.of(BoundedRange(0.05), 5), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.05, kind=BoundedRange), bit)
    return ledger


def test_lines_are_canonical_json_and_chain_to_the_head() -> None:
    ledger, before = busy_ledger(), GENESIS
    for number, entry in enumerate(ledger.entries):
        assert entry.line == json.dumps(entry.record, sort_keys=True, separators=(",", ":"), allow_nan=False)
        assert entry.digest == digest_of(before, entry.line)
        assert entry.record["number"] == entry.number == number
        before = entry.digest
    assert ledger.head == before


def test_every_single_byte_change_is_detected() -> None:
    entries = list(busy_ledger().entries)
    for place, entry in enumerate(entries):
        before = entries[place - 1].digest if place else GENESIS
        for position in range(len(entry.line)):
            old = entry.line[position]
            new = chr(ord(old) ^ 1)
            line = entry.line[:position] + new + entry.line[position + 1 :]
            assert digest_of(before, line) != entry.digest
            if position % 7 == 0:
                assert verify([*entries[:place], attrs.evolve(entry, line=line), *entries[place + 1 :]])


def test_lost_swapped_repeated_and_cut_entries_are_detected() -> None:
    entries = list(busy_ledger().entries)
    head = entries[-1].digest
    for place in range(len(entries) - 1):
        assert verify([*entries[:place], *entries[place + 1 :]])
        swapped = [*entries[:place], entries[place + 1], entries[place], *entries[place + 2 :]]
        assert verify(swapped)
        assert verify([*entries[: place + 1], entries[place], *entries[place + 1 :]])
        assert any("cut off" in finding for finding in verify(entries[: place + 1], expect_head=head))
    assert verify(entries, expect_head=head) == []


def rewritten(entries: list[Entry], place: int, old: str, new: str) -> list[Entry]:
    """A forger who recomputes every digest after changing one line."""
    forged: list[Entry] = []
    for number, entry in enumerate(entries):
        line = entry.line.replace(old, new, 1) if number == place else entry.line
        forged.append(Entry(number, entry.kind, line, digest_of(forged[-1].digest if forged else GENESIS, line)))
    return forged


def test_a_recomputed_chain_with_a_smaller_cost_fails_the_arithmetic() -> None:
    entries = list(busy_ledger().entries)
    forged = rewritten(entries, 1, '"cost":{"epsilon":0.05', '"cost":{"epsilon":0.01')
    assert verify(forged) == [
        f"entry {n}: its running total is not the sum of the costs so far" for n in (1, 3, 5, 7, 9)
    ]
    bigger = rewritten(entries, 0, '"epsilon":1.0', '"epsilon":0.1')
    assert any("above the budget" in finding for finding in verify(bigger))


def test_books_opened_twice_or_mislabelled_are_findings() -> None:
    entries = list(busy_ledger().entries)
    again = entries[0].line.replace('"number":0', '"number":1')
    second = Entry(1, "opened", again, digest_of(entries[0].digest, again))
    assert any("opened a second time" in finding for finding in verify([entries[0], second]))
    relabelled = attrs.evolve(entries[1], kind="released")
    assert any("called 'charged'" in finding for finding in verify([entries[0], relabelled]))


@pytest.mark.parametrize(
    ("place", "old", "new", "finding"),
    [
        (1, '"adjacency":{"name":"replace-one"}', '"adjacency":{"name":"add-remove-one"}', "its adjacency is not"),
        (10, '"rounds":1', '"rounds":6', "releases 6 rounds of 5"),
        (10, '"rounds":1', '"rounds":-1', "releases -1 rounds of 5"),
        (9, '"rounds":5', '"rounds":0', "whole number"),
        (9, '"steps":[{', '"steps":[],"was":[{', "at least one Step"),
        (2, '"charge":1', '"charge":3', "which is not open"),
    ],
)
def test_forgeries_with_a_recomputed_chain_are_found(place: int, old: str, new: str, finding: str) -> None:
    entries = list(busy_ledger().entries)
    assert old in entries[place].line
    assert any(finding in found for found in verify(rewritten(entries, place, old, new)))


def test_damaged_lines_are_findings_not_crashes() -> None:
    entries = list(busy_ledger().entries)
    for old, new in (('"kind":"charged"', '"kind":"chargex"'), ('"steps":', '"stepz":'), ('"loss":"', '"loss":"q')):
        assert verify(rewritten(entries, 1, old, new))
    assert verify([]) == ["the books were never opened"]


def test_a_store_that_fails_half_way_never_gives_budget_back() -> None:
    class Full(MemoryStore):
        def append(self, kind: Kind, line: str) -> None:
            if kind == "charged":
                raise OSError("disk full")
            super().append(kind, line)

    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne(), store=Full())
    with pytest.raises(OSError, match="disk full"):
        ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.spent == PureDP(0.5)
    with pytest.raises(LedgerBroken, match="a charge was interrupted"):
        ledger.release(RandomizedResponse(0.1), ledger.protect(True))


def test_a_spend_that_comes_back_in_during_a_charge_is_refused_and_loses_nothing() -> None:
    """As a signal handler would: the outer charge must not overwrite the inner one."""

    class Reenters(MemoryStore):
        def append(self, kind: Kind, line: str) -> None:
            super().append(kind, line)
            if kind == "charged":
                ledger.release(RandomizedResponse(0.3), ledger.protect(True))

    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne(), store=Reenters())
    with pytest.raises(LedgerBroken):
        ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.spent == PureDP(0.5)


@pytest.mark.parametrize(("spent", "text"), [(1.0000049, "1.00001"), (0.1, "0.1"), (0.3 + 1e-16, "0.3"), (2.0, "2")])
def test_a_statement_never_promises_more_than_was_charged(spent: float, text: str) -> None:
    ledger = open_ledger(PureDP(5.0))
    ledger.release(RandomizedResponse(spent), ledger.protect(True))
    assert f"together be {text}-differentially private" in str(ledger.statement())


def priced_ledger() -> Ledger:
    ledger = open_ledger(ApproxDP(5.0, 1e-5))
    with ledger.reserve(Plan.of(BoundedRange(0.1), 10), adjacency=ReplaceOne(), delta=1e-5) as charge:
        charge.release(RandomizedResponse(0.1, kind=BoundedRange), ledger.protect(True))
    return ledger


def test_a_price_is_computed_again_by_verify_and_named_in_the_statement() -> None:
    ledger = priced_ledger()
    assert ledger.verify() == []
    assert "10 rounds of main as one plan: approx-dp epsilon 0.557" in str(ledger.statement())
    assert "(by bounded-range)" in str(ledger.statement())
    price = ledger.spent.as_dict()["epsilon"]
    forged = rewritten(
        list(ledger.entries), 1, f'"epsilon":{price!r},"kind":"approx-dp"', '"epsilon":0.5,"kind":"approx-dp"'
    )
    assert "entry 1: its plan costs more than the price it was charged at" in verify(forged)


# --- statements ---------------------------------------------------------------------------------------------------


def test_a_statement_over_simulated_noise_says_so() -> None:
    ledger = busy_ledger()
    text = str(ledger.statement())
    assert text.startswith("simulation: not private")
    assert "With secure noise, everything released so far would together be" in text
    assert "2 x RandomizedResponse(bit), pure-dp epsilon 0.05 each, noise: seeded, account: team-0" in text
    assert ledger.head in text


def test_simulated_noise_shows_even_where_a_reservation_announced_nothing() -> None:
    ledger = open_ledger()
    with ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.1), ledger.protect(True))
    assert str(ledger.statement()).startswith("simulation: not private")


def test_an_open_reservation_of_unknown_noise_is_not_called_private() -> None:
    ledger = open_ledger()
    charge = ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne())
    assert not ledger.statement().private
    charge.release(RandomizedResponse(0.1), ledger.protect(True))
    assert not ledger.statement().private


def test_announced_secure_noise_cannot_be_replaced_by_a_simulation() -> None:
    ledger = open_ledger()
    announced = attrs.evolve(RandomizedResponse(0.1).description, private=True)
    with (
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne(), mechanism=announced) as charge,
        pytest.raises(NotSpendable, match="secure noise was announced"),
    ):
        charge.release(RandomizedResponse(0.1), ledger.protect(True))


def test_an_empty_statement_is_private_and_spends_nothing() -> None:
    statement = open_ledger().statement()
    assert statement.private
    assert "is together 0-differentially private under replace-one" in statement.guarantee
