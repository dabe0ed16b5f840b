"""The entries of a ledger: forgeries, stores that fail, prices, and what a statement says of it all."""

import json

import attrs
import pytest

from accountant import (
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Composition,
    Entry,
    Ledger,
    LedgerBroken,
    MemoryStore,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.verification import verify
from accountant.entries.chain import GENESIS, Kind, digest_of
from proofs_tests.support.ledgers.doubles import RandomizedResponse


def open_ledger(budget: Budget | None = None, rule: Composition | None = None) -> Ledger:
    return Ledger(
        budget if budget is not None else PureDP(1.0),
        composition=rule if rule is not None else BasicComposition(),
        adjacency=ReplaceOne(),
    )


def errors(entries: list[Entry]) -> tuple[str, ...]:
    """What is wrong with these books."""
    return verify(entries).errors


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
    wrong_totals = [f"entry {n}: its running total is not the sum of the costs so far" for n in (1, 3, 5, 7, 9)]
    assert errors(forged) == (wrong_totals[0], "entry 1: its amount is not what its costs come to", *wrong_totals[1:])
    bigger = rewritten(entries, 0, '"epsilon":1.0', '"epsilon":0.1')
    assert any("above the budget" in finding for finding in errors(bigger))


def test_books_opened_twice_or_mislabelled_are_findings() -> None:
    entries = list(busy_ledger().entries)
    again = entries[0].line.replace('"number":0', '"number":1')
    second = Entry(1, "opened", again, digest_of(entries[0].digest, again))
    assert any("opened a second time" in finding for finding in errors([entries[0], second]))
    relabelled = attrs.evolve(entries[1], kind="released")
    assert any("called 'charged'" in finding for finding in errors([entries[0], relabelled]))


@pytest.mark.parametrize(
    ("place", "old", "new", "finding"),
    [
        (1, '"adjacency":{"name":"replace-one"}', '"adjacency":{"name":"add-remove-one"}', "its adjacency is not"),
        (10, '"rounds":1', '"rounds":6', "releases 6 rounds of 5"),
        (10, '"rounds":1', '"rounds":-1', "at least 0, got -1"),
        (9, '"rounds":5', '"rounds":0', "whole number"),
        (9, '"steps":[{', '"steps":[],"was":[{', "at least one Step"),
        (2, '"charge":1', '"charge":3', "which is not open"),
    ],
)
def test_forgeries_with_a_recomputed_chain_are_found(place: int, old: str, new: str, finding: str) -> None:
    entries = list(busy_ledger().entries)
    assert old in entries[place].line
    assert any(finding in found for found in errors(rewritten(entries, place, old, new)))


def test_damaged_lines_are_findings_not_crashes() -> None:
    entries = list(busy_ledger().entries)
    for old, new in (('"kind":"charged"', '"kind":"chargex"'), ('"steps":', '"stepz":'), ('"loss":"', '"loss":"q')):
        assert errors(rewritten(entries, 1, old, new))
    assert errors([]) == ("the ledger was never opened",)


class FailsBefore(MemoryStore):
    """Its disk is full: a charge is not written."""

    def append(self, kind: Kind, line: str) -> None:
        if kind == "charged":
            raise OSError("disk full")
        super().append(kind, line)


class FailsAfter(MemoryStore):
    """A charge is written, and then something breaks."""

    def append(self, kind: Kind, line: str) -> None:
        super().append(kind, line)
        if kind == "charged":
            raise OSError("connection lost")


@pytest.mark.parametrize(("store", "spent"), [(FailsBefore, 0.0), (FailsAfter, 0.5)])
def test_after_a_failure_what_is_in_the_store_counts(store: type[MemoryStore], spent: float) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne(), store=store())
    with pytest.raises(OSError, match=r"disk full|connection lost"):
        ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.spent == PureDP(spent)
    with pytest.raises(BudgetExceeded):
        ledger.release(RandomizedResponse(1.0001 - spent), ledger.protect(True))
    assert ledger.verify().sound


def test_a_spend_that_comes_back_in_during_a_charge_is_refused_and_loses_nothing() -> None:
    """As a signal handler would: the outer charge must not overwrite the inner one."""

    class Reenters(MemoryStore):
        def append(self, kind: Kind, line: str) -> None:
            super().append(kind, line)
            if kind == "charged":
                ledger.release(RandomizedResponse(0.3), ledger.protect(True))

    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne(), store=Reenters())
    with pytest.raises(LedgerBroken, match="a signal handler must not spend"):
        ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.spent == PureDP(0.5)


@pytest.mark.parametrize("broken", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("place", ["charge", "length"])
def test_an_interrupt_between_the_store_and_the_state_forgets_nothing(
    broken: type[BaseException], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger()
    ledger.release(RandomizedResponse(0.25), ledger.protect(True))

    def interrupt(*_: object) -> None:
        raise broken

    with monkeypatch.context() as patch:
        owner = (
            ("accountant.entries.state.State", "charge")
            if place == "charge"
            else ("accountant.ledger.replica.Replica", "wrote")
        )
        patch.setattr(".".join(owner), interrupt)
        with pytest.raises(broken):
            ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.spent == PureDP(0.75)
    with pytest.raises(BudgetExceeded):
        ledger.release(RandomizedResponse(0.5), ledger.protect(True))
    assert ledger.verify().sound


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
    assert ledger.verify().sound
    assert "10 rounds of main as one plan: approx-dp epsilon 0.557" in str(ledger.statement())
    assert "(by bounded-range)" in str(ledger.statement())
    price = ledger.spent.as_dict()["epsilon"]
    forged = rewritten(
        list(ledger.entries), 1, f'"epsilon":{price!r},"kind":"approx-dp"', '"epsilon":0.5,"kind":"approx-dp"'
    )
    assert "entry 1: its plan costs more than the price it was charged at" in errors(forged)


# --- statements ---------------------------------------------------------------------------------------------------


def test_a_statement_over_simulated_noise_says_so() -> None:
    ledger = busy_ledger()
    text = str(ledger.statement())
    assert text.startswith("simulation: not private")
    assert "With secure noise, everything released so far would together be" in text
    assert "2 x RandomizedResponse(bit), pure-dp epsilon 0.05 each, noise: seeded (numpy), account: team-0" in text
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
