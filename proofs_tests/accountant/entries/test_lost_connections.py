"""A server that hangs up: the ledger heals, or it fails clearly; nothing is lost."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from accountant import LedgerUnavailable, Plan, PureDP, ReplaceOne
from accountant.storage.sql_store import SqlStore
from benchmarks.ledgers.postgres import OTHERS
from proofs_tests.support.ledgers.durable import SIXTEENTH, Telling, behind_its_back, opened, sound, spend

postgresql = pytest.mark.parametrize("places", ["postgresql"], indirect=True)


LEFT = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def hang_up(url: str) -> None:
    """The server ends every connection but this one, and has ended them: on a busy machine it takes its time."""
    with behind_its_back(url) as connection:
        connection.exec_driver_sql(OTHERS)
        while connection.exec_driver_sql(LEFT).scalar_one():
            connection.exec_driver_sql("SELECT pg_sleep(0.01), pg_stat_clear_snapshot()")


def eventually(read: Callable[[], Any]) -> Any:
    """What is read at the first or at the second attempt: one may hear that the connection is gone."""
    try:
        return read()
    except LedgerUnavailable:
        return read()


@postgresql
def test_a_connection_that_was_lost_since_the_last_charge(url: str) -> None:
    """Nothing was under way, so a new connection is made, and nobody hears of it."""
    with opened(url) as ledger:
        spend(ledger)
        hang_up(url)
        spend(ledger)
        with ledger.reserve(Plan.of(SIXTEENTH, 2), adjacency=ReplaceOne()) as reservation:
            hang_up(url)
            reservation.release(Telling(cost=SIXTEENTH), ledger.protect(7))
            hang_up(url)
        hang_up(url)
        assert eventually(lambda: ledger.spent) == PureDP(4 / 16)
        hang_up(url)
        assert len(eventually(lambda: ledger.entries)) == 7
    assert [entry.kind for entry in sound(url)] == ["opened", *("charged", "released") * 3]


@postgresql
def test_a_connection_that_is_lost_while_sampling(url: str) -> None:
    with opened(url) as ledger:
        losing = Telling(cost=SIXTEENTH, sampling=lambda: hang_up(url))
        assert ledger.release(losing, ledger.protect(7)) == 7
        assert ledger.spent == PureDP(1 / 16)
    assert [entry.kind for entry in sound(url)] == ["opened", "charged", "released"]


@postgresql
@pytest.mark.parametrize("method", ["append", "commit"])
@pytest.mark.parametrize("committed", [0, 1], ids=["the-charge", "the-release"])
def test_a_connection_that_is_lost_in_a_turn(
    url: str, monkeypatch: pytest.MonkeyPatch, method: str, committed: int
) -> None:
    """Before the charge is committed, nothing is in the ledger; after it, the charge is. The ledger goes on."""
    monkeypatch.setattr(SqlStore, "quick", False)
    with opened(url) as ledger:
        spend(ledger)
        with monkeypatch.context() as patched:
            interfere(patched, method, committed, before=lambda: hang_up(url))
            with pytest.raises(LedgerUnavailable, match="could not write to the ledger"):
                spend(ledger)
        assert eventually(lambda: ledger.spent) == PureDP((1 + committed) / 16)
        spend(ledger)
    released = [entry.kind for entry in sound(url)].count("released")
    assert released == 2


@pytest.mark.parametrize("committed", [0, 1], ids=["the-charge", "the-release"])
def test_a_commit_whose_answer_is_lost(url: str, monkeypatch: pytest.MonkeyPatch, committed: int) -> None:
    """The entry is in the ledger although the store failed: it counts, in this ledger as in every other."""

    def lost() -> None:
        raise LedgerUnavailable("the answer was lost")

    with opened(url) as ledger:
        with monkeypatch.context() as patched:
            interfere(patched, "append_next" if url.startswith("postgresql") else "commit", committed, after=lost)
            with pytest.raises(LedgerUnavailable, match="the answer was lost"):
                spend(ledger)
        assert ledger.spent == PureDP(1 / 16)
        spend(ledger, 15)
    kinds = [entry.kind for entry in sound(url)]
    assert kinds.count("charged") == 16
    assert kinds.count("released") == 15 + committed


@postgresql
def test_a_connection_that_is_lost_in_the_one_round_trip(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can know whether it was written, so it is not tried again; what the ledger says, counts."""

    def quiet(connection: sa.Connection) -> bool:
        hang_up(url)
        return True

    with opened(url) as ledger:
        spend(ledger)
        with monkeypatch.context() as patched:
            patched.setattr("accountant.storage.postgresql.quiet", quiet)
            with pytest.raises(LedgerUnavailable, match="could not write to the ledger"):
                spend(ledger)
        assert eventually(lambda: ledger.spent) == PureDP(1 / 16)
        spend(ledger)
    assert [entry.kind for entry in sound(url)] == ["opened", *("charged", "released") * 2]


def interfere(
    patched: pytest.MonkeyPatch,
    method: str,
    call: int,
    *,
    before: Callable[[], object] = int,
    after: Callable[[], object] = int,
) -> None:
    """Have something happen around one call of a method of the store; counted from 0."""
    real, left = getattr(SqlStore, method), iter(range(call))

    def interfered(store: SqlStore, *arguments: str) -> object:
        theirs = next(left, None) is not None
        if not theirs:
            before()
        answer = real(store, *arguments)
        if not theirs:
            after()
        return answer

    patched.setattr(SqlStore, method, interfered)
