"""What a ledger believes and what not: interrupted reading, entries that do not add up, false checkpoints."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from accountant import (
    ZCDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    LedgerBroken,
    LedgerUnavailable,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    ReservationClosed,
)
from accountant.canonical_json import canonical
from accountant.entries.chain import digest_of
from accountant.entries.codec import ReleaseLine
from accountant.entries.state import State
from accountant.ledger import writer
from proofs_tests.support.ledgers.doubles import RandomizedResponse


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "books.db"


@pytest.fixture
def ledger(file: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{file}", PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne()) as books:
        yield books


def insert(file: Path, ledger: Ledger, kind: str, record: dict[str, object]) -> None:
    """Write an entry by hand, linked as it should be."""
    number = len(ledger.entries)
    line = canonical({"kind": kind, "number": number, "time": time.time_ns(), **record})
    connection = sqlite3.connect(file)
    connection.execute(
        "INSERT INTO exchequer_entries VALUES (?, ?, ?, ?)", (number, kind, line, digest_of(ledger.head, line))
    )
    connection.commit()
    connection.close()


NO_LOSS = {"delta": "0p0", "loss": "0p0"}
ALL_IS_LEFT: dict[str, object] = {
    "format": 2,
    "accounts": [
        {
            "account": "",
            "ceiling": {"delta": "0p0", "loss": "1p0"},
            "closed": False,
            "committed": NO_LOSS,
            "drawn": NO_LOSS,
        }
    ],
    "open": [],
}


@pytest.mark.parametrize("place", ["apply", "charge"])
def test_an_interrupt_while_catching_up_forgets_nobodys_charge(
    file: Path, ledger: Ledger, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(f"sqlite:///{file}") as other:
        other.release(RandomizedResponse(0.9), other.protect(True))
    with monkeypatch.context() as patch:

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(State, place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = ledger.spent
    assert ledger.spent == PureDP(0.9)
    with pytest.raises(BudgetExceeded):
        ledger.release(RandomizedResponse(0.9), ledger.protect(True))
    assert ledger.verify().sound


def test_an_entry_that_cannot_be_added_up_is_refused_for_good(file: Path, ledger: Ledger) -> None:
    adjacency, steps = {"name": "replace-one"}, [{"cost": ZCDP(0.3).as_dict(), "rounds": 1}]
    charge = {"account": "x", "adjacency": adjacency, "after": NO_LOSS, "mechanism": None, "priced": None}
    insert(file, ledger, "charged", {**charge, "steps": steps})
    for _ in range(3):
        with pytest.raises(LedgerBroken, match="entry 1: basic composition cannot take"):
            ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    with pytest.raises(LedgerBroken, match="entry 1"):
        Ledger.open(f"sqlite:///{file}")


@pytest.mark.parametrize("kept", [False, True])
def test_a_false_checkpoint_gives_nothing_back(file: Path, ledger: Ledger, kept: bool) -> None:
    ledger.release(RandomizedResponse(1.0), ledger.protect(True))
    head = ledger.head
    insert(file, ledger, "checkpoint", {"state": ALL_IS_LEFT})
    for _ in range(3):
        with pytest.raises(LedgerBroken, match="its state is not what"):
            ledger.release(RandomizedResponse(1.0), ledger.protect(True))
    with pytest.raises(LedgerBroken, match="its state is not what"):
        Ledger.open(f"sqlite:///{file}", expect_head=head if kept else None)


def test_a_long_ledgers_checkpoint_is_believed_but_not_by_who_kept_a_head(
    file: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said in LIMITS.md: opening long books believes their newest checkpoint; a kept head does not."""
    ledger.release(RandomizedResponse(1.0), ledger.protect(True))
    insert(file, ledger, "checkpoint", {"state": ALL_IS_LEFT})
    monkeypatch.setattr(writer, "BELIEVED_FROM", 2)
    with Ledger.open(f"sqlite:///{file}") as believing:
        assert believing.spent == PureDP(0.0)
        assert not believing.verify().sound
    with pytest.raises(LedgerBroken, match="its state is not what"):
        Ledger.open(f"sqlite:///{file}", expect_head=ledger.entries[2].digest)


def test_checkpoints_of_long_books_are_written_and_read(
    file: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "BELIEVED_FROM", 5)
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", 5)
    team = ledger.allocate("team", 0.5)
    for _ in range(4):
        team.release(RandomizedResponse(0.01), ledger.protect(True))
    waiting = ledger.reserve(Plan.of(PureDP(0.01), 3), adjacency=ReplaceOne())
    spent, left = ledger.spent, team.remaining
    with Ledger.open(f"sqlite:///{file}") as first:
        assert first.entries[-1].kind == "checkpoint"
        first.release(RandomizedResponse(0.02), first.protect(True))
    with Ledger.open(f"sqlite:///{file}") as second:
        assert second.sub_budget("team").remaining == left
        with waiting:
            waiting.give_back()
        assert second.spent == ledger.spent
        assert ledger.verify().sound
    assert spent == PureDP(0.07)


def test_digests_that_many_ask_for_at_once_are_computed_once() -> None:
    books = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            assert books.head

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        books.release(RandomizedResponse(0.01), books.protect(True))
    stop.set()
    for thread in threads:
        thread.join()
    assert books.verify().sound
    assert len(books.entries) == 601


def test_a_block_that_is_entered_again_writes_nothing(ledger: Ledger) -> None:
    charge = ledger.reserve(Plan.of(PureDP(0.1), 2), adjacency=ReplaceOne())
    with charge:
        charge.release(RandomizedResponse(0.1), ledger.protect(True))
    entries = ledger.entries
    with charge, pytest.raises(ReservationClosed):
        charge.release(RandomizedResponse(0.1), ledger.protect(True))
    assert ledger.entries == entries
    with pytest.raises(ReservationClosed, match="released already"):
        ledger._writer.mark_released(charge.number, ReleaseLine.of(()))
    with pytest.raises(ReservationClosed, match="no 1 rounds"):
        ledger._writer.give_back(charge.number, 1, ledger.remaining)
    assert ledger.entries == entries


def test_a_clock_that_is_off_by_centuries_writes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 10**19)
    with pytest.raises(LedgerUnavailable, match="2286"):
        ledger.release(RandomizedResponse(0.1), ledger.protect(True))
    assert len(ledger.entries) == 1


def test_what_the_books_could_not_say_is_refused_before_it_is_charged(ledger: Ledger) -> None:
    class Mute(RandomizedResponse):
        sample = None  # type: ignore[assignment]  # the mistake under test

    sealed = ledger.protect(True)
    with pytest.raises(NotSpendable, match="nothing that could be called"):
        ledger.release(Mute(0.1), sealed)  # type: ignore[arg-type]  # as above
    for account in ("", "x" * 2000, 7):
        with pytest.raises(NotSpendable, match="account: expected a short text"):
            ledger.release(RandomizedResponse(0.1), sealed, account=account)  # type: ignore[arg-type]  # as above
    with pytest.raises(NotSpendable, match=r"mechanism=m\.description"):
        ledger.reserve(
            Plan.of(PureDP(0.1)),
            adjacency=ReplaceOne(),
            mechanism=RandomizedResponse(0.1),  # type: ignore[arg-type]  # as above
        )
    assert [entry.kind for entry in ledger.entries] == ["opened"]


def test_passwords_stay_out_of_messages() -> None:
    for url in (
        "postgresql+psycopg://u:hunter2@127.0.0.1:1/db",
        "postgresql+psycopg://127.0.0.1:1/db?user=u&password=hunter2",
        "postgresql+psycopg:/u:hunter2@127.0.0.1/db",
        "postgresql+psycopg://u:hunter2@127.0.0.1:port/db",
    ):
        with pytest.raises((LedgerUnavailable, ValueError)) as refused:
            Ledger.open(url)
        assert "hunter2" not in str(refused.value)


def test_a_sub_budgets_statement_says_what_it_adds_and_no_more() -> None:
    """A query of one account may be chosen by the outputs of another: its cost by itself is no promise."""
    books = Ledger(PureDP(4.0), composition=BasicComposition(), adjacency=ReplaceOne())
    team = books.allocate("team", 0.5)
    team.release(RandomizedResponse(0.01), books.protect(True))
    said = team.statement()
    assert "add at most ε = 0.01 under replace-one to what" in said.guarantee
    assert "differentially private" not in said.guarantee
    assert said.account == "team"
