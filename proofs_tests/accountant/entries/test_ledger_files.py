"""Ledgers as files: what is none, what may only be read, what is not there; and tables of a newer version."""

import contextlib
import os
import resource
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from accountant import Ledger, LedgerBroken, LedgerMismatch, LedgerUnavailable
from accountant.storage.sql_store import SqlStore
from proofs_tests.support.ledgers.durable import Telling, behind_its_back, opened, sound, spend
from proofs_tests.support.ledgers.killed import Forked, Tell, kill_myself


def in_file(path: Path) -> str:
    return f"sqlite:///{path}"


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear auditor, " * 1000, encoding="utf-8")
    for open_it in (opened, Ledger.open, SqlStore):
        with pytest.raises(LedgerBroken, match="no SQLite database"):
            open_it(in_file(path))
    assert path.read_text(encoding="utf-8").startswith("Dear auditor")


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(LedgerMismatch, match="there is no ledger"):
        Ledger.open(in_file(path))
    with pytest.raises(LedgerMismatch, match="there is no ledger"):
        SqlStore(in_file(path), "read")


def test_a_cut_off_file(tmp_path: Path) -> None:
    path = tmp_path / "books.db"
    with opened(in_file(path)) as ledger:
        spend(ledger, 16)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises((LedgerBroken, LedgerUnavailable)):
        opened(in_file(path))


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no folder"):
        opened(in_file(tmp_path / "nowhere" / "books.db"))
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_does_not_exist_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(LedgerMismatch, match="does not exist"):
        Ledger.open(in_file(tmp_path / "books.db"))
    assert not (tmp_path / "books.db").exists()


def test_a_directory_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="could not open"):
        opened(in_file(tmp_path))


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/books", "books.db", "", "sqlite:///a.db?mode=memory"]
)
def test_a_url_that_names_no_durable_ledger(url: str) -> None:
    with pytest.raises(ValueError, match=r"ledger"):
        opened(url)


def read_only(url: str, tell: Tell) -> None:
    """As somebody who may read the file but not write it: root may write everything, so it steps down first."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    with contextlib.closing(SqlStore(url, "read")) as store:
        tell(len(store))
    try:
        spend(opened(url))
        tell("spent")
    except LedgerUnavailable as error:
        tell(error)


def in_a_fork(url: str) -> tuple[str, ...]:
    return Forked.of(0, lambda tell: read_only(url, tell)).wait().lines


def test_a_read_only_file_can_be_read_and_not_spent_from(quick_folder: Path, nursery: ProcessPoolExecutor) -> None:
    path = quick_folder / "books.db"
    with opened(in_file(path)) as ledger:
        spend(ledger, 3)
    path.chmod(0o444)
    quick_folder.chmod(0o555)
    try:
        length, refusal = nursery.submit(in_a_fork, in_file(path)).result()
    finally:
        quick_folder.chmod(0o755)
    assert length == "7"
    assert "readonly database" in refusal or "read-only" in refusal or "unable to open" in refusal
    assert len(sound(in_file(path))) == 7


def die_in_the_middle_of_a_write(path: Path) -> None:
    """Too much for SQLite's memory, so that half of it stands in the file already; then the end."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(7, 1000):
        connection.execute("INSERT INTO exchequer_entries VALUES (?, 'charged', ?, 'd')", (number, "x" * 1000))
    kill_myself()


def killed_in_a_fork(path: Path) -> bool:
    return not Forked.of(0, lambda tell: die_in_the_middle_of_a_write(path)).wait().finished


@pytest.mark.parametrize("reader", ["auditor", "ledger"])
def test_a_file_that_was_left_half_written(tmp_path: Path, nursery: ProcessPoolExecutor, reader: str) -> None:
    """SQLite puts back what was there before: for the next one who spends, and for one who only reads."""
    path = tmp_path / "books.db"
    with opened(in_file(path)) as ledger:
        spend(ledger, 3)
    assert nursery.submit(killed_in_a_fork, path).result()
    assert path.stat().st_size > 200_000
    assert (tmp_path / "books.db-journal").stat().st_size > 0
    if reader == "auditor":
        with contextlib.closing(SqlStore(in_file(path), "read")) as store:
            assert len(list(store.read())) == 7
    assert len(sound(in_file(path))) == 7


def spend_until_the_disk_is_full(url: str, tell: Tell) -> None:
    """No file of this process may grow by more than a little, until it may again."""
    with opened(url) as ledger:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        mechanism, data = Telling(), ledger.protect(1)
        for turn in range(1000):
            try:
                ledger.release(mechanism, data, account=f"{turn}")
            except LedgerUnavailable as error:
                tell(error)
                break
            tell(turn)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ledger.release(mechanism, data, account="afterwards")
        tell("afterwards")


def fill_in_a_fork(url: str) -> tuple[str, ...]:
    return Forked.of(0, lambda tell: spend_until_the_disk_is_full(url, tell)).wait().lines


def test_a_full_disk(tmp_path: Path, nursery: ProcessPoolExecutor) -> None:
    url = in_file(tmp_path / "books.db")
    *seen, refusal, last = nursery.submit(fill_in_a_fork, url).result()
    assert last == "afterwards"
    assert refusal.startswith("could not write to the ledger")
    charged = [str(entry.record["account"]) for entry in sound(url) if entry.kind == "charged"]
    assert len(seen) > 20
    assert charged[: len(seen)] == seen
    assert charged[-1] == "afterwards"
    assert len(charged) - len(seen) <= 2  # the one that failed may count, if it was its release that found no room


def test_every_commit_is_on_the_disk(tmp_path: Path) -> None:
    """SQLite waits for the disk before a commit returns, and keeps everything in one file."""
    with opened(in_file(tmp_path / "books.db")) as ledger:
        spend(ledger)
        store = ledger._writer.store
        assert isinstance(store, SqlStore)
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() in (2, 3)
        copied = tmp_path / "copy.db"
        copied.write_bytes((tmp_path / "books.db").read_bytes())
        assert len(sound(in_file(copied))) == 3


def test_a_newer_schema_is_refused(spent: str) -> None:
    with behind_its_back(spent, disarmed=True) as connection:
        connection.exec_driver_sql("INSERT INTO exchequer_schema VALUES (1000)")
    for access in ("create", "write", "read"):
        with pytest.raises(LedgerMismatch, match=r"version 1000.*newer exchequer"):
            SqlStore(spent, access)
