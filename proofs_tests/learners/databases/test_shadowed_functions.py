"""Functions, operators and macros named as the database's own: no release changes, or they are refused."""

import pytest

from benchmarks.ledgers.postgres import Server
from learners import DatabaseFailed, SqlTable, predict_in_database, write_predictions
from proofs_tests.learners.databases.test_failures import columns, in_memory, learner, own_ledger
from proofs_tests.support.learners.databases import connected, in_duckdb, in_postgresql
from proofs_tests.support.learners.in_blocks import released

MACROS = {
    "floor": "floor(x) AS 5",
    "greatest": "greatest(a, b) AS 0",
    "sum": "sum(x) AS 0",
    "plus": '"+"(a, b) AS 0',
    "an element": "array_extract(a, b) AS 3",
    "range": "range(a) AS [1, 2]",
    "a database": "current_database() AS 'other'",
}


@pytest.mark.parametrize("macro", MACROS.values(), ids=MACROS)
def test_macros_of_duckdb_are_refused_where_statements_of_ours_run(macro: str) -> None:
    """Whatever else the database calls by name is no business of ours."""
    with in_duckdb(columns(), "people") as connection:
        table = SqlTable(connection, "people", "y")
        connection.execute("CREATE MACRO mine(x) AS x")
        model = learner().fit(SqlTable(connection, query="SELECT mine(a) AS a, b, y FROM people", label="y"), None)
        assert released(model) == in_memory()
        connection.execute(f"CREATE MACRO {macro}")
        ledger = own_ledger()
        with pytest.raises(DatabaseFailed, match=r"macros .* Rename them.*Nothing was charged"):
            learner(ledger).fit(table, None)
        assert "charged" not in [entry.record["kind"] for entry in ledger.entries]
        for told in (
            lambda: list(predict_in_database(model, table, [])),
            lambda: write_predictions(model, table, "t", []),
        ):
            with pytest.raises(DatabaseFailed, match="macros"):
                told()
        assert connection.execute("SELECT count(*) FROM people").fetchall() == [(300,)]


@pytest.mark.postgres
def test_functions_of_postgresql(postgresql_server: Server) -> None:
    """One of exact types beside a polymorphic one, and a path that has PostgreSQL's own schema last."""
    with postgresql_server.database() as url:
        in_postgresql(url, columns(), "people")
        with connected(url) as owner:
            for name, types, kind in (("width_bucket", "float8, float8[]", "int"), ("floor", "float8", "float8")):
                owner.execute(
                    f"CREATE FUNCTION public.{name}({types}) RETURNS {kind} LANGUAGE sql AS 'SELECT 2::{kind}'"
                )
            owner.execute(f"ALTER DATABASE {owner.info.dbname} SET search_path = public, pg_catalog")
            owner.execute(f"ALTER DATABASE {owner.info.dbname} SET default_transaction_read_only = on")
            owner.execute(f"ALTER DATABASE {owner.info.dbname} SET quote_all_identifiers = on")
            try:
                assert released(learner().fit(SqlTable(url, "people", "y"), None)) == in_memory()
            finally:
                owner.execute(f"ALTER DATABASE {owner.info.dbname} RESET ALL")


@pytest.mark.postgres
@pytest.mark.parametrize("code", ["check_violation", "query_canceled", "syntax_error"])
def test_an_error_that_a_function_raises_of_another_class_tells_no_value(code: str, postgresql_server: Server) -> None:
    with postgresql_server.database() as url:
        in_postgresql(url, columns(), "people")
        with connected(url) as owner:
            owner.execute(
                "CREATE FUNCTION bad(t text) RETURNS float8 LANGUAGE plpgsql AS "
                f"$$BEGIN RAISE EXCEPTION 'SECRET %', t USING ERRCODE = '{code}'; END$$"
            )
        with pytest.raises(DatabaseFailed, match="not told") as caught:
            learner().fit(SqlTable(url, query="SELECT bad(y) AS a, b, y FROM people", label="y"), None)
    assert "SECRET" not in str(caught.value)


def test_a_word_that_duckdb_does_not_know_is_not_told() -> None:
    query = "SELECT a, b, y FROM people WHERE timezone('SECRET' || y, TIMESTAMPTZ '2020-01-01') IS NOT NULL"
    with in_duckdb(columns(), "people") as connection, pytest.raises(DatabaseFailed, match="not told") as caught:
        learner().fit(SqlTable(connection, query=query, label="y"), None)
    assert "SECRET" not in str(caught.value)
