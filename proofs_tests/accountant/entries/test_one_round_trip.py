"""PostgreSQL appends in one round trip where nobody else has written; where somebody has, a turn decides."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from accountant import BudgetExceeded, LedgerBroken, Plan, PureDP, ReplaceOne
from accountant.storage.sql_store import SqlStore
from proofs_tests.support.ledgers.durable import SIXTEENTH, behind_its_back, opened, sound, spend

pytestmark = pytest.mark.parametrize("places", ["postgresql"], indirect=True)


class Turns:
    """Counts turns and round trips; what is to happen between a decision and its one round trip."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.turns, self.between = 0, list[Callable[[], object]]()
        begin, append = SqlStore.begin, SqlStore.append_next

        def counted(store: SqlStore, known: int) -> object:
            self.turns += 1
            return begin(store, known)

        def overtaken(store: SqlStore, *entry: Any) -> bool:
            if self.between:
                self.between.pop()()
            return append(store, *entry)

        patched.setattr(SqlStore, "begin", counted)
        patched.setattr(SqlStore, "append_next", overtaken)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Turns:
    return Turns(monkeypatch)


def test_charges_of_one_writer_take_no_turns(url: str, counts: Turns) -> None:
    with opened(url) as ledger:
        counts.turns = 0
        spend(ledger, 3)
        ledger.allocate("team", 0.5)
        with ledger.reserve(Plan.of(SIXTEENTH, 2), adjacency=ReplaceOne()) as reserved:
            reserved.give_back()
        ledger.close_account("team")
        assert counts.turns == 0
        assert ledger.spent == PureDP(3 / 16)
    assert len(sound(url)) == 1 + 6 + 2 + 2


def test_the_one_who_is_overtaken_decides_anew(url: str, counts: Turns) -> None:
    with opened(url) as ledger, opened(url) as other:
        spend(ledger)
        counts.turns = 0
        counts.between = [lambda: spend(other)]
        spend(ledger)
        assert counts.turns > 0
        assert ledger.spent == other.spent == PureDP(3 / 16)
    sound(url)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_server_that_prefers_other_isolation(url: str, counts: Turns, level: str) -> None:
    """What is read after the wait for the lock must be what was committed before it, whatever the server prefers."""
    with behind_its_back(url) as connection:
        name = connection.exec_driver_sql("SELECT current_database()").scalar()
        connection.exec_driver_sql(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = '{level}'")
    with opened(url) as ledger, opened(url) as other:
        spend(ledger)
        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(spend, one, 6) for one in (ledger, other)]:
                each.result()
        assert ledger.spent == other.spent == PureDP(13 / 16)
    sound(url)


def test_the_last_of_the_budget_is_spent_once(url: str, counts: Turns) -> None:
    """Both see a sixteenth left, and one of them takes it."""
    with opened(url) as ledger, opened(url) as other:
        spend(ledger, 15)
        counts.between = [lambda: spend(other)]
        with pytest.raises(BudgetExceeded):
            spend(ledger)
        assert ledger.spent == other.spent == PureDP(1.0)
    sound(url)


def test_nobody_is_refused_because_of_old_news(url: str) -> None:
    with opened(url) as ledger, opened(url) as other:
        reserved = other.reserve(Plan.of(SIXTEENTH, 10), adjacency=ReplaceOne())
        spend(ledger, 6)
        with pytest.raises(BudgetExceeded):
            spend(ledger)
        reserved.give_back()
        spend(ledger, 10)
        assert ledger.spent == PureDP(1.0)
    sound(url)


CHANGES = [
    "UPDATE exchequer_entries SET digest = reverse(digest) WHERE number = 2",
    "DELETE FROM exchequer_entries WHERE number = 2",
    "INSERT INTO exchequer_entries VALUES (5, 'charged', '', '')",
    "INSERT INTO exchequer_entries SELECT 5, kind, line, digest FROM exchequer_entries WHERE number = 2",
]


@pytest.mark.parametrize("change", CHANGES)
def test_books_that_were_changed_behind_its_back_are_not_continued(url: str, change: str) -> None:
    with opened(url) as ledger:
        spend(ledger)
        with behind_its_back(url, disarmed=True) as connection:
            connection.exec_driver_sql(change)
        with pytest.raises(LedgerBroken):
            spend(ledger)
        with behind_its_back(url) as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM exchequer_entries").scalar() in (2, 3, 4)


def test_a_turn_follows_on_a_round_trip_and_that_on_a_turn(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection commits each statement alone in the one, and holds the lock to the end in the other."""
    with opened(url) as ledger, opened(url) as other:
        for quick in (True, False, True, False, False, True, True):
            monkeypatch.setattr(SqlStore, "quick", quick)
            spend(ledger)
            spend(other)
    assert [entry.kind for entry in sound(url)] == ["opened", *("charged", "released") * 14]


@pytest.mark.parametrize("method", ["scalar", "rollback"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, TimeoutError])
def test_an_interrupt_around_the_round_trip_leaves_a_ledger_that_goes_on(
    url: str, monkeypatch: pytest.MonkeyPatch, method: str, late: bool, stop: type[BaseException]
) -> None:
    """What the server did counts, once; the connection is not used again, whatever state it is in."""
    with opened(url) as ledger:
        spend(ledger)
        with monkeypatch.context() as patched:
            real, due = getattr(sa.Connection, method), [True]

            def interrupted(connection: sa.Connection, *given: Any) -> object:
                answer = real(connection, *given) if late or not due else None
                if due:
                    due.pop()
                    raise stop
                return answer

            patched.setattr(sa.Connection, method, interrupted)
            with pytest.raises(stop):
                spend(ledger)
        written = method == "rollback" or late
        assert ledger.spent == PureDP((1 + written) / 16)
        with opened(url) as other:
            spend(other)
        spend(ledger, 3)
        assert ledger.spent == PureDP((5 + written) / 16)
    sound(url)
