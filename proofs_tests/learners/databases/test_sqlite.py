"""Files of SQLite: what is seen while others write, what is refused, and that nothing is written."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners import DatabaseFailed, PrivateBoostClassifier, SqlTable, write_predictions
from learners.databases.sqlite_engine import SQLite
from proofs_tests.learners.databases.test_failures import (
    after_the_first,
    charged_and_no_model,
    columns,
    in_memory,
    learner,
    own_ledger,
)
from proofs_tests.support.learners.databases import in_sqlite
from proofs_tests.support.learners.in_blocks import released


@pytest.fixture(params=["delete", "wal"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "a ?#%file.db"
    in_sqlite(path, columns(), "people")
    with opened(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {request.param}")
    return path


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=0.05, isolation_level=None)) as connection:
        yield connection


def test_a_connection_stands_for_its_file_and_whoever_writes_meanwhile_is_not_seen(file: Path) -> None:
    with opened(file) as connection:
        connection.execute("BEGIN")

        def write() -> None:
            connection.execute("UPDATE people SET y = 'no', a = 7.0")
            connection.execute("COMMIT")
            connection.execute("DROP TABLE people")

        found = learner().fit(SqlTable(connection, "people", "y"), None, on_round=after_the_first(write))
    assert released(found) == in_memory()


def test_records_that_are_fetched_are_those_of_one_moment(file: Path) -> None:
    """With a WAL others write on; without one they wait until this has read."""
    with opened(file) as connection:
        ((mode,),) = connection.execute("PRAGMA journal_mode")
        rows = SqlTable(connection, "people", "y", records="fetched", block=50).block_rows(None)
        with contextlib.nullcontext() if mode == "wal" else pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("DELETE FROM people")
    found: Any = rows.total(lambda block: np.array([np.asarray(block.data.labels).size]))
    assert found.tolist() == [300]


def test_a_lock_of_anothers_is_waited_for_and_then_nothing_is_charged(tmp_path: Path) -> None:
    url, ledger = in_sqlite(tmp_path / "people.db", columns(), "people"), own_ledger()
    table = SqlTable(f"{url}?timeout=0.05", "people", "y")
    with opened(tmp_path / "people.db") as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseFailed, match=r"locked.*Nothing was charged"):
            learner(ledger).fit(table, None)
    assert not ledger.entries[1:]
    assert released(learner().fit(table, None)) == in_memory()


def test_a_statement_that_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, original = list[SQLite](), SQLite.of

    def of(path: str, **settings: Any) -> SQLite:
        made.append(original(path, **settings))
        return made[-1]

    monkeypatch.setattr(SQLite, "of", of)
    table = SqlTable(in_sqlite(tmp_path / "people.db", columns(), "people"), "people", "y")

    def interrupt() -> None:
        made[-1]._own.set_progress_handler(lambda: 1, 100)

    charged_and_no_model(
        own_ledger(), lambda model: model.fit(table, None, on_round=after_the_first(interrupt)), "interrupted"
    )


def test_nothing_is_written_but_predictions_that_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    table = SqlTable(in_sqlite(path, columns(), "people"), "people", "y")
    before = path.read_bytes()
    path.chmod(0o400)
    model: PrivateBoostClassifier = learner().fit(table, None)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["people.db"]
    path.chmod(0o600)
    assert write_predictions(model, table, "said", ["a"]) == 300
    found = columns()
    with opened(path) as connection:
        said = connection.execute("SELECT prediction FROM said ORDER BY rowid").fetchall()
    assert [each for (each,) in said] == model.predict({name: found[name] for name in ("a", "b")}).tolist()


def test_addresses_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = in_sqlite(tmp_path / "people.db", columns(), "people")
    with sqlite3.connect(":memory:") as connection, pytest.raises(ValueError, match=r"is in memory.*backup"):
        SqlTable(connection, "people")
    connection.close()
    with pytest.raises(ValueError, match="is closed"):
        SqlTable(connection, "people")
    with pytest.raises(ValueError, match="in memory"):
        SqlTable("sqlite://", "people")
    with pytest.raises(ValueError, match="one option, timeout"):
        SqlTable(f"{url}?mode=rwc", "people")
    with pytest.raises(ValueError, match="expected seconds"):
        SqlTable(f"{url}?timeout=soon", "people")
    with pytest.raises(DatabaseFailed, match="unable to open"):
        SqlTable(f"sqlite:///{tmp_path}/nobody.db", "people")
    with pytest.raises(DatabaseFailed, match="no such table"):
        SqlTable(url, "nobody")
    with pytest.raises(ValueError, match="expected one SELECT statement"):
        SqlTable(url, query="SELECT 1) AS a; DROP TABLE people; SELECT (1")
    (tmp_path / "text.db").write_text("a,b\n" * 500)
    with pytest.raises(DatabaseFailed, match="not a database"):
        SqlTable(f"sqlite:///{tmp_path}/text.db", "people")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ImportError, match=r"need SQLite 3\.35\.0 or newer"):
        SqlTable(url, "people")


def test_text_that_is_no_text_is_not_quoted(tmp_path: Path) -> None:
    url = in_sqlite(tmp_path / "people.db", {"a": np.array([1.0]), "y": np.array([1])}, "people")
    with opened(tmp_path / "people.db") as connection:
        connection.execute("UPDATE people SET y = CAST(x'7365637265747ff0' AS TEXT)")
    with pytest.raises(DatabaseFailed, match="cannot be read there") as caught:
        list(SqlTable(url, "people", records="fetched").parts(["y"]))
    assert "secret" not in str(caught.value)
