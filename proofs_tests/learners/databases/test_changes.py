"""Tables that change between two looks, and a server that crashes: refused before a charge, or charged and no model."""

from collections.abc import Iterator
from typing import Any

import pytest

from accountant import AddRemoveOne, ApproxDP, Ledger, ZCDPComposition
from benchmarks.ledgers.postgres import Server
from learners import DatabaseFailed, PrivateBoostClassifier, SqlTable
from learners.databases import ChangedTable
from learners.databases.engines import CHARGED
from learners.databases.postgresql_engine import PostgreSQL
from mechanisms import SeededNoise
from proofs_tests.learners.databases.test_failures import (
    SCHEMA,
    after_the_first,
    columns,
    in_memory,
    learner,
    own_ledger,
)
from proofs_tests.support.learners.databases import connected, in_duckdb, in_postgresql
from proofs_tests.support.learners.in_blocks import released

CHANGES = {
    "ALTER TABLE people ALTER a TYPE VARCHAR": "'a' was .* and is .*",
    "ALTER TABLE people DROP COLUMN b": "'b' was .* and is absent",
    "ALTER TABLE people ADD COLUMN c INTEGER": "'c' was absent and is ",
}


@pytest.fixture
def url(postgresql_server: Server) -> Iterator[str]:
    with postgresql_server.database() as found:
        in_postgresql(found, columns(), "people")
        yield found


def refused(table: SqlTable, words: str) -> None:
    """By fits, before anything is charged, and by whatever reads records."""
    ledger = own_ledger()
    with pytest.raises(ChangedTable, match=words + r".*Make it anew.*Nothing was charged"):
        learner(ledger).fit(table, None)
    assert "charged" not in [entry.record["kind"] for entry in ledger.entries]


@pytest.mark.parametrize("records", ["stay", "fetched"])
@pytest.mark.parametrize("change", CHANGES, ids=["another type", "one less", "one more"])
def test_a_table_of_duckdb_that_changed_is_refused(change: str, records: Any) -> None:
    with in_duckdb(columns(), "people") as connection:
        table = SqlTable(connection, "people", "y", records=records)
        connection.execute(change)
        refused(table, CHANGES[change])
        assert connection.execute("SELECT count(*) FROM people").fetchall() == [(300,)]


@pytest.mark.postgres
@pytest.mark.parametrize("change", CHANGES, ids=["another type", "one less", "one more"])
def test_a_table_of_postgresql_that_changed_is_refused(change: str, url: str) -> None:
    stay, fetched = SqlTable(url, "people", "y"), SqlTable(url, "people", "y", records="fetched")
    with connected(url) as owner:
        owner.execute(change.encode())
        refused(stay, CHANGES[change])
        refused(fetched, CHANGES[change])
        owner.execute("DROP TABLE people")  # nothing holds it
    with pytest.raises(DatabaseFailed, match="Nothing was charged"):
        learner().fit(stay, None)


@pytest.mark.postgres
def test_a_table_cannot_change_while_it_is_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at its columns and the end of the statement that reads them."""
    original, tried = PostgreSQL.refuse_changed, list[str]()

    def looked(self: PostgreSQL, source: str, before: Any) -> None:
        original(self, source, before)
        with connected(url) as other:
            other.execute("SET lock_timeout = 10")
            try:
                other.execute("ALTER TABLE people ALTER a TYPE text")
            except Exception as error:  # whatever psycopg calls it
                tried.append(str(error))

    monkeypatch.setattr(PostgreSQL, "refuse_changed", looked)
    assert released(learner().fit(SqlTable(url, "people"), "y")) == in_memory()
    assert len(tried) == 1
    assert "lock timeout" in tried[0]


def booked(url: str) -> Ledger:
    return Ledger.open(url, ApproxDP(5.0, 1e-3), composition=ZCDPComposition(), adjacency=AddRemoveOne())


def booked_learner(ledger: Ledger) -> PrivateBoostClassifier:
    return PrivateBoostClassifier(1.0, 1e-5, schema=SCHEMA, ledger=ledger, random_state=SeededNoise(2))


def entries(url: str) -> list[str]:
    with connected(url) as other:
        return [str(kind) for (kind,) in other.execute("SELECT kind FROM exchequer_entries ORDER BY number")]


@pytest.mark.postgres
def test_a_server_that_crashes_in_the_middle_of_a_fit(url: str, postgresql_server: Server) -> None:
    """Which has the ledger, too: the charge is there when it is back, and the next fit finds nothing in its way."""
    with booked(url) as ledger:
        model, table = booked_learner(ledger), SqlTable(url, "people", "y")
        with pytest.raises(DatabaseFailed, match=CHARGED):
            model.fit(table, None, on_round=after_the_first(postgresql_server.restart))
    assert not hasattr(model, "model_")
    assert entries(url).count("charged") == 1
    assert released(learner().fit(table, None)) == in_memory()


@pytest.mark.postgres
def test_a_charge_is_committed_before_what_it_is_for_is_computed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger in the same server: another session sees the charge whenever a statement asks for sums."""
    original, seen = PostgreSQL.run, list[tuple[str, bool]]()

    def run(self: PostgreSQL, statement: str, *given: Any, **named: Any) -> list[tuple[object, ...]]:
        seen.append((statement, "charged" in entries(url)))
        return original(self, statement, *given, **named)

    with booked(url) as ledger:
        table = SqlTable(url, "people", "y")
        monkeypatch.setattr(PostgreSQL, "run", run)
        booked_learner(ledger).fit(table, None)
    sums = [there for statement, there in seen if "sum(" in statement or "GROUP BY c" in statement]
    before = [there for statement, there in seen if statement.startswith("INSERT") and "refused" in statement]
    assert len(sums) > 4
    assert all(sums)
    assert before == [False]


def test_a_fit_writes_nothing_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """DuckDB shows how far it is by itself."""
    with in_duckdb(columns(), "people") as connection:
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET progress_bar_time = 0")
        capfd.readouterr()
        learner().fit(SqlTable(connection, "people"), "y")
        assert capfd.readouterr().out == ""
        assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]
