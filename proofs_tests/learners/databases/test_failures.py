"""Writers, cut connections and time limits in the middle of a fit: the same model, or none and the charge stays."""

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from accountant import AddRemoveOne, ApproxDP, Ledger, ZCDPComposition
from benchmarks.ledgers.postgres import OTHERS, Server
from learners import (
    Boolean,
    DatabaseFailed,
    Label,
    Numeric,
    OutsideSchema,
    PrivateBoostClassifier,
    Schema,
    SqlTable,
)
from learners.databases.postgresql_engine import PostgreSQL
from proofs_tests.support.learners.databases import add_to_duckdb, connected, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.in_blocks import released

SCHEMA = Schema((Numeric("a", 0.0, 1.0, bins=4), Boolean("b")), Label("y", ("no", "yes")))

MADE = "SELECT count(*) FROM pg_class WHERE relname LIKE 'exchequer_%'"


def columns(n: int = 300) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    a = draw.random(n)
    return {"a": a, "b": draw.random(n) < 0.5, "y": np.where(a > 0.6, "yes", "no").astype(object)}


def learner(ledger: Ledger | None = None) -> PrivateBoostClassifier:
    return PrivateBoostClassifier(1.0, 1e-5, schema=SCHEMA, ledger=ledger, random_state=2)


@pytest.fixture
def url(postgresql_server: Server) -> Iterator[str]:
    with postgresql_server.database() as found:
        in_postgresql(found, columns(), "people")
        yield found


def in_memory() -> str:
    found = columns()
    return released(learner().fit({name: found[name] for name in SCHEMA.names}, found["y"]))


def gone(connection: "psycopg.Connection[Any]") -> bool:
    """Whether temporary tables are, soon: a server takes a moment to notice that a session ended."""
    for _ in range(50):
        if connection.execute(MADE).fetchall() == [(0,)]:
            return True
        time.sleep(0.1)
    return False


def after_the_first(what: Callable[[], object]) -> Callable[[int, object], None]:
    """Do so when the first round is over."""

    def told(number: int, _: object) -> None:
        if number == 1:
            what()

    return told


@pytest.mark.postgres
def test_whoever_writes_meanwhile_is_not_seen(url: str) -> None:
    def write() -> None:
        with connected(url) as writer:
            writer.execute("UPDATE people SET y = 'no', a = 7.0")
            writer.execute("INSERT INTO people SELECT * FROM people")
            writer.execute("DROP TABLE people")

    found = learner().fit(SqlTable(url, "people", "y"), None, on_round=after_the_first(write))
    assert released(found) == in_memory()


def test_whoever_writes_to_duckdb_meanwhile_is_not_seen() -> None:
    with in_duckdb(columns(), "people") as connection:

        def write() -> None:
            connection.execute("UPDATE people SET y = 'no', a = 7.0")
            connection.execute("DROP TABLE people")

        found = learner().fit(SqlTable(connection, "people", "y"), None, on_round=after_the_first(write))
    assert released(found) == in_memory()


def charged_and_no_model(ledger: Ledger, fit: Callable[[PrivateBoostClassifier], object], words: str) -> None:
    """The whole plan is charged, once."""
    model = learner(ledger)
    with pytest.raises(DatabaseFailed, match=words) as caught:
        fit(model)
    assert "stays charged" in str(caught.value)
    assert not hasattr(model, "model_")
    assert ledger.spent != own_ledger().spent
    assert [entry.record["kind"] for entry in ledger.entries].count("charged") == 1


def own_ledger() -> Ledger:
    return Ledger(ApproxDP(5.0, 1e-3), composition=ZCDPComposition(), adjacency=AddRemoveOne())


@pytest.mark.postgres
def test_a_connection_that_is_cut_in_the_middle_of_a_fit(url: str) -> None:
    def cut() -> None:
        with connected(url) as other:
            other.execute(OTHERS)

    ledger, table = own_ledger(), SqlTable(url, "people", "y")
    charged_and_no_model(ledger, lambda model: model.fit(table, None, on_round=after_the_first(cut)), "connection")
    assert released(learner().fit(table, None)) == in_memory()
    with connected(url) as other:
        assert gone(other)


@pytest.mark.postgres
def test_a_statement_that_takes_too_long(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, original = list[PostgreSQL](), PostgreSQL.of

    def of(address: str) -> PostgreSQL:
        opened.append(original(address))
        return opened[-1]

    def hurry() -> None:
        opened[-1].run("SET statement_timeout = 1")

    monkeypatch.setattr(PostgreSQL, "of", of)
    with connected(url) as connection:
        table = SqlTable(connection, "people", "y")
        charged_and_no_model(
            own_ledger(), lambda model: model.fit(table, None, on_round=after_the_first(hurry)), "timeout"
        )
        assert released(learner().fit(table, None)) == in_memory()
        opened.clear()
        assert gone(connection)


@pytest.mark.postgres
@pytest.mark.parametrize("alone", [True, False], ids=["commits by itself", "in transactions"])
def test_nothing_is_done_on_the_connection_that_is_given(url: str, alone: bool) -> None:
    """Also where a fit was refused, and its error is let go in the middle of the user's own transaction."""
    with connected(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS mine (i integer); DELETE FROM mine")
        connection.autocommit, connection.row_factory = alone, dict_row
        held: list[Exception] = []
        try:
            learner().fit(SqlTable(connection, query="SELECT a + 9 AS a, b, y FROM people", label="y"), None)
        except OutsideSchema as error:
            held.append(error)
        assert connection.info.transaction_status.name == "IDLE"
        connection.execute("BEGIN")
        connection.execute("INSERT INTO mine VALUES (1)")
        assert len(held) == 1
        held.clear()
        gc.collect()
        connection.execute("COMMIT")
    with connected(url) as other:
        assert other.execute("SELECT count(*) FROM mine").fetchall() == [(1,)]


def test_an_error_of_duckdb_tells_no_value() -> None:
    query = "SELECT epoch(strptime('SECRET' || y, '%Y')) AS a, b, y FROM people"
    with in_duckdb(columns(), "people") as connection, pytest.raises(DatabaseFailed, match="not told") as caught:
        learner().fit(SqlTable(connection, query=query, label="y"), None)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:pa@hunter2@localhost:1/db",
        "postgresql://me:12#hunter2@localhost/db",
        "duckdb:///people.db?access_mode=read_write",
    ],
)
def test_urls_that_hide_a_password_badly_or_ask_to_write_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"spelt %40|access_mode") as caught:
        SqlTable(url, "people")
    assert "hunter2" not in str(caught.value)


@pytest.mark.postgres
def test_an_error_tells_no_value(url: str) -> None:
    with connected(url) as connection:
        connection.execute("CREATE TABLE big AS SELECT 123456789e400::numeric AS a, true AS b, 'no' AS y")
    with pytest.raises(DatabaseFailed, match=r"not told.*records='fetched'.*Nothing was charged") as caught:
        learner().fit(SqlTable(url, "big", "y"), None)
    assert "1234" not in str(caught.value)


TWO = "SELECT 1 AS a) AS g; CREATE TABLE pwned (i integer); SELECT * FROM (SELECT 2 AS a"


@pytest.mark.postgres
def test_a_query_of_postgresql_is_one_statement(url: str) -> None:
    with pytest.raises(DatabaseFailed, match=r"multiple commands.*Nothing was charged"):
        SqlTable(url, query=TWO)
    with connected(url) as other:
        assert other.execute("SELECT to_regclass('pwned')").fetchall() == [(None,)]


def test_a_query_of_duckdb_is_one_statement() -> None:
    with in_duckdb(columns(), "people") as connection:
        with pytest.raises(ValueError, match="one SELECT statement"):
            SqlTable(connection, query=TWO)
        assert connection.execute("SHOW TABLES").fetchall() == [("people",)]


def test_a_database_that_is_closed_in_the_middle_of_a_fit() -> None:
    connection = in_duckdb(columns(), "people")
    table = SqlTable(connection, "people", "y")
    charged_and_no_model(
        own_ledger(), lambda model: model.fit(table, None, on_round=after_the_first(connection.close)), "closed"
    )


@pytest.mark.postgres
def test_an_account_that_may_only_read_makes_temporary_tables(url: str) -> None:
    with connected(url) as owner:
        owner.execute("DROP ROLE IF EXISTS reader")
        owner.execute("CREATE ROLE reader LOGIN")
        owner.execute("GRANT USAGE ON SCHEMA public TO reader")
        owner.execute("GRANT SELECT ON people TO reader")
        try:
            found = learner().fit(SqlTable(url.replace("exchequer@", "reader@"), "people", "y"), None)
            owner.execute("REVOKE TEMPORARY ON DATABASE " + owner.info.dbname + " FROM PUBLIC")
            with pytest.raises(DatabaseFailed, match=r"permission denied.*records='fetched'"):
                learner().fit(SqlTable(url.replace("exchequer@", "reader@"), "people", "y"), None)
        finally:
            owner.execute("GRANT TEMPORARY ON DATABASE " + owner.info.dbname + " TO PUBLIC")
            owner.execute("DROP OWNED BY reader")
            owner.execute("DROP ROLE reader")
    assert released(found) == in_memory()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("duckdb://people.db#people", "three slashes .* duckdb:///people.db"),
        ("sqlite://people.db#people", "three slashes .* sqlite:///people.db"),
        ("duckdb:///{folder}/people.sqlite#people", "a file of SQLite: its URL is sqlite:///"),
        ("duckdb:///{folder}/new.db?nonsense=1#people", "nonsense"),
    ],
)
def test_an_address_that_is_a_little_wrong_is_put_right(address: str, words: str, tmp_path: Path) -> None:
    in_sqlite(tmp_path / "people.sqlite", columns(), "people")
    in_duckdb(columns(), "people", str(tmp_path / "new.db")).close()
    with pytest.raises((ValueError, DatabaseFailed), match=words):
        SqlTable(address.format(folder=tmp_path))


def test_nothing_is_fetched_from_the_network(tmp_path: Path) -> None:
    """DuckDB would install what reads a file that is not its own."""
    in_duckdb(columns(), "people", str(tmp_path / "new.db")).close()
    query = "SELECT a, b, y FROM people WHERE current_setting('autoinstall_known_extensions') = false"
    assert SqlTable(f"duckdb:///{tmp_path}/new.db", query=query).n == 300


def test_a_file_of_duckdb_stays_as_it_was(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("duck") / "people.duckdb"
    in_duckdb(columns(), "people", str(path)).close()
    before = path.read_bytes()
    assert released(learner().fit(SqlTable(f"duckdb:///{path}?threads=1#people"), "y")) == in_memory()
    assert path.read_bytes() == before


def test_a_table_of_the_same_name_in_another_schema() -> None:
    with in_duckdb(columns(), "people") as connection:
        connection.execute('CREATE SCHEMA "o.ther"')
        add_to_duckdb(connection, columns(40), "more")
        connection.execute('CREATE TABLE "o.ther".people AS SELECT * FROM more')
        assert SqlTable(connection, ["o.ther", "people"]).n == 40
        assert SqlTable(connection, "people").n == 300
