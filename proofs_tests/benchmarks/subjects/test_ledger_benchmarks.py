"""The benchmark of the ledger measures what it says: all entries, the least that writing takes, races that count."""

import contextlib
from pathlib import Path

import pytest

from accountant import ApproxDP, ZCDPComposition
from benchmarks.ledgers import ledger, ledger_durable, ledger_verification
from benchmarks.ledgers.postgres import NoServer
from benchmarks.ledgers.races import PARTS, attempt, opened
from benchmarks.runner.report import Grid, Measured, Report
from benchmarks.runner.run import Missing
from benchmarks.runner.suite import Setting


def test_the_bound_writes_what_the_ledger_writes() -> None:
    books = ledger.opened(ZCDPComposition(), ApproxDP(1.0, 1e-5))
    ledger.batch(books, 5)
    assert ledger.encode_and_hash([entry.record for entry in books.entries]) == books.head
    assert ledger.hash_lines([entry.line for entry in books.entries]) == books.head


def test_a_batch_has_a_time_for_each_release_and_one_for_the_digests() -> None:
    books = ledger.opened(ZCDPComposition(), ApproxDP(1.0, 1e-5))
    assert len(ledger.batch(books, 7)) == 8
    assert len(books.entries) == 15


def test_turns_are_taken_at_every_size() -> None:
    found = ledger.filled(ZCDPComposition(), ApproxDP(1.0, 1e-5), (20, 400), 1)
    assert list(found.at) == [20, 400]
    assert len(found.releases) == 10 + (400 - 20 - 4 * ledger.RELEASES_PER_TURN) // 2


def test_releases_in_memory_are_tables_of_numbers() -> None:
    report, growth = ledger.in_memory((20, 400), 2, judged=False)
    assert isinstance(report, Report)
    assert {line.met for line in report.lines} == {None}
    assert isinstance(growth, Grid)
    assert growth.head[1:] == ("entries=20", "entries=400")
    assert all(isinstance(cell, Measured) for row in growth.rows for cell in row[1:])


def test_verification_covers_all_entries_and_leaves_no_short_turn() -> None:
    store = ledger_verification.books(10_000, 3)
    turns = [len(some) for some in ledger_verification.turns(store.read())]
    assert turns == [5_000, 5_001]
    times = ledger_verification.measure(store)
    assert (times.entries, len(times.verifying)) == (10_001, 2)


def test_charges_on_sqlite_are_beside_bare_rows() -> None:
    (report,) = ledger_durable.with_store("SQLite", lambda name, places: ledger_durable.costs(name, places, 2, True))
    ratios = [line for line in report.lines if line.asked]
    assert len(ratios) == 2
    assert all(isinstance(line.found, Measured) and line.found.value > 0.0 for line in ratios)


def test_a_race_that_was_not_exact_shows(tmp_path: Path) -> None:
    def too_few(url: str) -> int:
        with opened(url) as books:
            return attempt(books, 3)

    def lying(url: str) -> int:
        too_few(url)
        return PARTS

    for number, race in enumerate((too_few, lying)):
        url = f"sqlite:///{tmp_path / f'books{number}.db'}"
        exact, _ = ledger_durable.lines_of(lambda url=url: contextlib.nullcontext(url), race, 1)  # type: ignore[misc]  # mypy infers no default of a lambda
        assert exact.met is False


def test_without_a_server_postgresql_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise NoServer("no server here")

    monkeypatch.setattr(ledger_durable, "Server", none)
    with pytest.raises(Missing, match="no server here"), ledger_durable.postgresql():
        pass


def test_parts_have_names_of_their_own(tmp_path: Path) -> None:
    for quick, number in ((False, 10), (True, 5)):
        names = [part.name for part in ledger.parts(Setting(None, quick, tmp_path))]
        assert len(set(names)) == len(names) == number
