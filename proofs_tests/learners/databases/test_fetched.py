"""Records that are fetched from a database in blocks: the same releases as in memory, bit by bit, for every learner."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from benchmarks.ledgers.postgres import Server
from learners import DatabaseFailed, PrivateBoostClassifier, SqlTable, predict_in_blocks
from learners.databases.postgresql_engine import PostgreSQL
from proofs_tests.support.learners.databases import (
    TABLE,
    as_columns,
    connected,
    in_duckdb,
    in_postgresql,
    in_sqlite,
    quoted,
)
from proofs_tests.support.learners.in_blocks import LABEL, LEARNERS, people, released, schema

SOME = ["boosted trees", "halfspace", "rados"]
"""That are quick, and read a table in three different ways."""


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return people()


@pytest.fixture(scope="module")
def in_memory() -> dict[str, str]:
    return {}


@pytest.fixture(scope="module")
def database(frame: pd.DataFrame) -> Iterator[duckdb.DuckDBPyConnection]:
    with in_duckdb(as_columns(frame)) as connection:
        yield connection


@pytest.fixture(scope="module")
def server(postgresql_server: Server, frame: pd.DataFrame) -> Iterator[str]:
    with postgresql_server.database() as url:
        in_postgresql(url, as_columns(frame))
        yield url


def alone(name: str, frame: pd.DataFrame, known: dict[str, str]) -> str:
    """What a fit in memory releases."""
    if name not in known:
        known[name] = released(LEARNERS[name]().fit(frame.drop(columns=[LABEL]), frame[LABEL]))
    return known[name]


@pytest.mark.parametrize("name", LEARNERS)
def test_from_duckdb(
    name: str, frame: pd.DataFrame, in_memory: dict[str, str], database: duckdb.DuckDBPyConnection
) -> None:
    table = SqlTable(database, [TABLE], LABEL, records="fetched", block=2048)
    assert released(LEARNERS[name]().fit(table, None)) == alone(name, frame, in_memory)


@pytest.mark.postgres
@pytest.mark.parametrize("name", SOME)
def test_from_postgresql(name: str, frame: pd.DataFrame, in_memory: dict[str, str], server: str) -> None:
    table = SqlTable(server, [TABLE], records="fetched", block=100)
    assert released(LEARNERS[name]().fit(table, LABEL)) == alone(name, frame, in_memory)


@pytest.mark.parametrize("name", SOME)
def test_from_sqlite(name: str, frame: pd.DataFrame, in_memory: dict[str, str], tmp_path: Path) -> None:
    table = SqlTable(in_sqlite(tmp_path / "people.db", as_columns(frame)), [TABLE], records="fetched", block=100)
    assert released(LEARNERS[name]().fit(table, LABEL)) == alone(name, frame, in_memory)


@pytest.mark.postgres
def test_a_connection_is_left_as_it_was(server: str) -> None:
    with connected(server) as connection:
        with pytest.raises(ValueError, match="stands twice"):
            SqlTable(connection, query="SELECT 1 AS a, 2 AS a")
        table = SqlTable(connection, [TABLE], LABEL, records="fetched", block=100)
        LEARNERS["boosted trees"]().fit(table, None)
        assert connection.info.transaction_status.name == "IDLE"
    with pytest.raises(ValueError, match="is closed"):
        table.block_rows(LABEL)


@pytest.mark.postgres
def test_records_come_in_the_order_of_the_table_whoever_reads_meanwhile(server: str) -> None:
    engine = PostgreSQL.of(server.replace("+psycopg", ""))
    engine.hold()
    assert engine.run("SHOW synchronize_seqscans") == [("off",)]
    engine.close()


def test_predictions_of_a_table_in_a_file_that_is_only_read(
    frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("duck") / "people.duckdb"
    in_duckdb(as_columns(frame), "people", str(path)).close()
    before = path.read_bytes()
    features = frame.drop(columns=[LABEL])
    model = PrivateBoostClassifier(1.0, 1e-5, rounds_per_column=1, schema=schema(), random_state=3)
    model.fit(features, frame[LABEL])
    table = SqlTable(f"duckdb:///{path}#people", label=LABEL, records="fetched", block=2048)
    found = np.concatenate(list(predict_in_blocks(model, table, "decision_function")))
    assert found.tolist() == model.decision_function(features).tolist()
    assert path.read_bytes() == before


@pytest.mark.postgres
def test_a_query_that_answers_otherwise_each_time_is_seen_once(server: str) -> None:
    """And a writer between the count and the records is not seen."""
    table = SqlTable(server, [TABLE], records="fetched")
    rows = table.block_rows(LABEL)
    with connected(server) as writer:
        writer.execute(f"CREATE TABLE more AS SELECT * FROM {quoted(TABLE)} LIMIT 5")
        writer.execute(f"INSERT INTO {quoted(TABLE)} SELECT * FROM more")
        writer.execute("DROP TABLE more")
    assert rows.total(lambda block: np.array([np.asarray(block.data.labels).size])).tolist() == [rows.n] == [427]
    assert table.block_rows(LABEL).n == 432


def test_what_is_refused(frame: pd.DataFrame, database: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(ValueError, match="expected either table= or query="):
        SqlTable(database)
    with pytest.raises(ValueError, match="expected either table= or query="):
        SqlTable(database, "people", query="SELECT 1")
    with pytest.raises(TypeError, match="expected the URL"):
        SqlTable(3, "people")
    with pytest.raises(ValueError, match="no URL"):
        SqlTable("secret@host", "people")
    with pytest.raises(ValueError, match="no database of ours"):
        SqlTable("mysql://user:secret@host/people", "people")
    with pytest.raises(DatabaseFailed, match="does not exist"):
        SqlTable(database, "nobody")
    with pytest.raises(ValueError, match="at least one record"):
        SqlTable(database, query=f"SELECT * FROM {quoted(TABLE)} LIMIT 0", records="fetched").block_rows(LABEL)


@pytest.mark.parametrize(
    "url", ["postgresql://me:hunter2@127.0.0.1:1/x", "postgresql://me:hunter2@127.0.0.1/x?port=hunter2"]
)
def test_no_password_is_told(url: str) -> None:
    with pytest.raises(DatabaseFailed) as caught:
        SqlTable(url, "people")
    assert "hunter2" not in str(caught.value)
