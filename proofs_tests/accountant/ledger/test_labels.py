"""Labels beside sub-budgets: a name that nobody set aside or announced draws on nothing."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from accountant import (
    ApproxDP,
    BasicComposition,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    SubBudgetRefused,
    UnknownLabel,
)
from accountant.audit.spending import gather
from accountant.audit.verification import Verifier, verify
from accountant.entries.codec import decode
from accountant.entries.state import State
from accountant.ledger import writer
from accountant.ledger.writer import LedgerWriter
from proofs_tests.support.ledgers.books import Secure, rechained
from proofs_tests.support.ledgers.doubles import RandomizedResponse

BIT = Secure(0.125)


def shared_out(*names: str) -> Ledger:
    """A ledger with these sub-budgets, an eighth each."""
    ledger = Ledger(PureDP(8.0), composition=BasicComposition(), adjacency=ReplaceOne())
    for name in names:
        ledger.allocate(name, 0.125)
    return ledger


def accounts(ledger: Ledger) -> list[str]:
    return [str(entry.record["account"]) for entry in ledger.entries if entry.kind == "charged"]


def charges(ledger: Ledger, account: str) -> tuple[Callable[[], object], ...]:
    """Every way to charge an account."""
    return (
        lambda: ledger.release(BIT, ledger.protect(True), account=account),
        lambda: ledger.reserve(Plan.of(PureDP(0.125), 2), adjacency=ReplaceOne(), account=account),
        lambda: ledger.reserve(Plan.of(PureDP(0.125), 2), adjacency=ReplaceOne(), account=account, delta=1e-9),
    )


def test_a_name_that_was_misspelt_charges_nothing() -> None:
    ledger = shared_out("team-a", "team-b", "others")
    before = ledger.entries
    for account in ("tema-a", "tema-a/first", "TEAM-A", "team-a ", "mian", "/team-a"):
        for charge in charges(ledger, account):
            with pytest.raises(UnknownLabel) as refused:
                charge()
            said = str(refused.value)
            assert repr(account) in said
            assert "nearest there are: team-a, team-b" in said or account == "mian"
            assert "nothing was charged" in said
            assert "ledger.announce or `exchequer ledger label`" in said
        with pytest.raises(UnknownLabel):
            ledger.labelled(account)
    assert ledger.entries == before
    assert ledger.remaining.loss == 5


def test_what_may_be_charged_where_there_are_sub_budgets() -> None:
    ledger = shared_out("team-a")
    ledger.announce("pilot")
    known = ("main", "main/model", "pilot", "pilot/model", "team-a", "team-a/model", "team-a/any/thing")
    for account in known:
        charges(ledger, account)[0]()
    assert accounts(ledger) == list(known)
    team = ledger.sub_budget("team-a")
    assert (float(team.remaining.loss), float(ledger.remaining.loss)) == (1.0 - 3 * 0.125, 7.0 - 4 * 0.125)
    found = verify(ledger.entries)
    assert (found.errors, found.notes) == ((), ())


def test_the_same_holds_in_a_sub_budget_that_has_sub_budgets() -> None:
    ledger = shared_out("team-a")
    team = ledger.sub_budget("team-a")
    charges(team, "frist")[0]()
    team.allocate("first", 0.5)
    for charge in (*charges(team, "frist"), *charges(ledger, "team-a/frist")):
        with pytest.raises(UnknownLabel, match=r"'team-a/frist': the sub-budget 'team-a' has .* are: team-a/first\."):
            charge()
    team.announce("pilot")
    for account in ("main", "pilot", "first/x"):
        charges(team, account)[0]()
    charges(team.labelled("main"), "x")[0]()
    assert accounts(ledger) == ["team-a/frist", "team-a", "team-a/pilot", "team-a/first/x", "team-a/main/x"]


def test_a_ledger_without_sub_budgets_takes_any_label() -> None:
    ledger = shared_out()
    for account in ("tema-a", "a/b", "x"):
        charges(ledger, account)[0]()
    assert ledger.labelled("anything").account == ""
    charges(ledger.labelled("anything"), "main")[0]()
    assert accounts(ledger) == ["tema-a", "a/b", "x", "anything"]


def test_closed_sub_budgets_are_still_sub_budgets() -> None:
    ledger = shared_out("team-a")
    ledger.close_account("team-a")
    with pytest.raises(UnknownLabel, match="nearest there are: team-a"):
        charges(ledger, "tema-a")[0]()


@pytest.mark.parametrize("label", ["", "main", "team-a", "pilot", " x", "a//b", "a/", "x" * 2000, None, 3])
def test_labels_that_cannot_be_announced(label: str) -> None:
    ledger = shared_out("team-a")
    ledger.announce("pilot")
    before = len(ledger.entries)
    with pytest.raises(SubBudgetRefused):
        ledger.announce(label)
    assert len(ledger.entries) == before


def test_a_sub_budget_is_not_called_main() -> None:
    ledger = shared_out("team-a")
    for above in (ledger, ledger.sub_budget("team-a")):
        with pytest.raises(SubBudgetRefused, match="main"):
            above.allocate("main", 0.5)


# --- durable ones --------------------------------------------------------------------------------------------------


def durable(folder: Path) -> str:
    url = f"sqlite:///{folder / 'study.db'}"
    with Ledger.open(url, PureDP(8.0), composition=BasicComposition(), adjacency=ReplaceOne()):
        pass
    return url


def test_another_handle_knows_what_was_announced_and_set_aside_meanwhile(tmp_path: Path) -> None:
    """It decides on what is in the store at the charge, and not on what it has read before."""
    url = durable(tmp_path)
    with Ledger.open(url) as first, Ledger.open(url) as second:
        charges(first, "tema-a")[0]()
        second.allocate("team-a", 0.5)
        for charge in charges(first, "tema-a"):
            with pytest.raises(UnknownLabel):
                charge()
        second.announce("tema-a")
        charges(first, "tema-a")[0]()
        assert accounts(first) == ["tema-a", "tema-a"]
    with Ledger.open(url) as again:
        charges(again, "tema-a/x")[0]()
        assert again.verify().sound


def test_no_charge_slips_in_while_a_sub_budget_is_made(tmp_path: Path) -> None:
    """Two handles at once: in the ledger no charge to the label stands after the sub-budget."""
    url = durable(tmp_path)
    started = threading.Barrier(2)

    def spend() -> None:
        with Ledger.open(url) as ledger:
            started.wait()
            while len(refused) < 3:  # whoever is first, and however slow the other is
                try:
                    ledger.release(RandomizedResponse(1e-6), ledger.protect(True), account="label")
                    paid.append(True)
                except UnknownLabel:
                    refused.append(True)

    paid: list[bool] = []
    refused: list[bool] = []
    spender = threading.Thread(target=spend)
    spender.start()
    with Ledger.open(url) as ledger:
        started.wait()
        ledger.allocate("team", 0.5)
        spender.join()
        kinds = [entry.kind for entry in ledger.entries]
    assert "charged" not in kinds[kinds.index("allocated") :]
    assert kinds.count("charged") == len(paid)


def test_a_checkpoint_keeps_labels_and_without_any_lists_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = durable(tmp_path)
    with Ledger.open(url) as ledger:
        ledger.allocate("team", 0.5)
        assert ledger._writer.state.as_dict().keys() == {"accounts", "format", "open"}
        ledger.announce("pilot")
        ledger._writer.write_checkpoint()
        assert json.loads(ledger.entries[-1].line)["state"]["labels"] == ["pilot"]
    monkeypatch.setattr(writer, "BELIEVED_FROM", 0)
    with Ledger.open(url) as ledger:
        assert ledger._writer.replica._start is not None, "it was resumed"
        charges(ledger, "pilot")[0]()
        with pytest.raises(UnknownLabel):
            charges(ledger, "pliot")[0]()
        assert ledger.verify().sound


# --- books that were written before labels were announced -------------------------------------------------------------


def old_books(monkeypatch: pytest.MonkeyPatch, times: int = 1) -> Ledger:
    """A ledger as the versions before wrote it, which let every label through."""
    ledger = shared_out("team-a")
    with monkeypatch.context() as before:
        before.setattr(State, "lists", lambda *_: True)
        for _ in range(times):
            charges(ledger, "tema-a")[0]()
        charges(ledger, "team-a")[0]()
    return ledger


@pytest.mark.parametrize("fast", [True, False])
def test_old_books_verify_and_a_note_counts_the_charges(monkeypatch: pytest.MonkeyPatch, fast: bool) -> None:
    ledger = old_books(monkeypatch, 50)
    audit = Verifier(fast=fast)
    audit.take(ledger.entries)
    found = audit.verification()
    assert found.errors == ()
    assert len(found.notes) == 1
    assert found.notes[0].startswith("50 of 51 charges, the first to 'tema-a', named neither a sub-budget nor an")


def test_old_books_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = old_books(monkeypatch)
    again = LedgerWriter(ledger._writer.store)
    again.resume(whole=True)
    assert again.state.accounts[""].drawn.loss == 0.25
    ledger.announce("tema-a")
    charges(ledger, "tema-a")[0]()
    assert verify(ledger.entries).errors == ()


def test_announcements_that_do_not_hold_are_found() -> None:
    ledger = shared_out("team-a")
    ledger.announce("pilot")
    entries = list(ledger.entries)
    twice = rechained([*entries, attrs.evolve(entries[-1], line=_renumbered(entries[-1]))], len(entries))
    assert "it announces a label, but the label 'pilot' is announced already" in str(verify(twice).errors)
    taken = attrs.evolve(entries[-1], line=entries[-1].line.replace("pilot", "team-a"))
    assert "sub-budget 'team-a'" in str(verify(rechained([*entries[:-1], taken], len(entries) - 1)).errors)


def _renumbered(entry: Entry) -> str:
    return entry.line.replace(f'"number":{entry.number}', f'"number":{entry.number + 1}')


def test_places_add_up_to_what_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = old_books(monkeypatch, 3)
    with ledger.reserve(Plan.of(PureDP(0.25), 4), adjacency=ReplaceOne()) as charge:
        charge.give_back()
    spending = gather(ledger.entries)
    kept = {place: amount.loss for place, amount in spending.by_place.items() if amount.loss}
    assert kept == {("", "tema-a"): 0.375, ("team-a", "team-a"): 0.125}
    assert sum(kept.values()) == spending.total.loss


def test_the_entry_says_the_label_and_nothing_else() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.announce("a/b")
    record = ledger.entries[-1].record
    assert record == {"account": "a/b", "kind": "announced", "number": 1, "time": decode(ledger.entries[-1]).time}
