"""Predictions in a database are those in memory: of all learners that are exported, on tables that are hard on it."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.ledgers.postgres import Server
from learners import (
    Bounds,
    Categorical,
    DatabaseFailed,
    Label,
    Numeric,
    PrivateBoostClassifier,
    RandomFeatureClassifier,
    Schema,
    SqlTable,
    predict_in_database,
    write_predictions,
)
from learners.databases import NotInSql
from learners.tables import Date, OutsideSchema
from proofs_tests.support.learners.databases import TABLE, as_text, connected, in_duckdb, in_postgresql, in_sqlite
from proofs_tests.support.learners.exported import fitted, table_for

ULPS: Final = 4 * np.finfo(np.float64).eps
KEY: Final = 'i"d; --'
KINDS: Final = ["additive", "regression", "halfspace", "forest"]
"""What they say differs in form; `proofs_tests/learners/exports` tries each."""


def columns(name: str, n: int = 500) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    """With a key; and which records are refused."""
    table = table_for(name, n)
    return {KEY: np.arange(n)[::-1]} | as_text(table.columns), table.refused


def same(name: str, table: SqlTable, refused: npt.NDArray[np.bool_]) -> None:
    """What streams out is what the learner says."""
    learner = fitted(name)
    blocks = list(predict_in_database(learner, table, [KEY], refused="keep"))
    found = {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}
    order = np.argsort(-found.pop(KEY))
    found = {key: values[order] for key, values in found.items()}
    assert [reason is not None for reason in found["refused"].tolist()] == refused.tolist()
    records: Any = table_for(name, refused.size).allowed()
    if name == "halfspace":
        records = np.column_stack(list(records.values()))
    there = {key: values[~refused] for key, values in found.items()}
    assert there["prediction"].tolist() == learner.predict(records).tolist()
    scores = [there[key] for key in there if key.startswith("score")]
    if scores:
        wanted = learner.decision_function(records)
        assert np.column_stack(scores).reshape(wanted.shape).tolist() == wanted.tolist()
    shares = [there[key] for key in there if key.startswith("share")]
    if shares:
        assert np.abs(np.column_stack(shares) - learner.predict_proba(records)).max() <= ULPS
    numbers = [values[refused] for key, values in found.items() if key.startswith(("score", "share"))]
    assert all(np.isnan(values).all() for values in numbers)


@pytest.mark.parametrize("name", KINDS)
def test_in_duckdb(name: str) -> None:
    given, refused = columns(name)
    with in_duckdb(given) as connection:
        same(name, SqlTable(connection, [TABLE], block=128), refused)


@pytest.mark.postgres
@pytest.mark.parametrize("name", KINDS)
def test_in_postgresql(name: str, postgresql_server: Server) -> None:
    given, refused = columns(name)
    with postgresql_server.database() as url:
        in_postgresql(url, given)
        same(name, SqlTable(url, [TABLE], block=128), refused)


@pytest.mark.parametrize("name", KINDS)
def test_in_sqlite(name: str, tmp_path: Path) -> None:
    """Where numbers among texts stay numbers: those in text are refused."""
    given, refused = columns(name)
    mixed = {each: values for each, values in table_for(name, refused.size).columns.items() if values.dtype == object}
    url = in_sqlite(tmp_path / "people.db", given | mixed, kinds=dict.fromkeys(mixed, "BLOB"))
    same(name, SqlTable(url, [TABLE], block=128), refused)


def test_three_classes() -> None:
    draw = np.random.default_rng(0)
    given = {"x0": draw.integers(0, 3, 400), "x1": draw.random(400)}
    schema = Schema((Categorical("x0", ("0", "1", "2")), Numeric("x1", 0.0, 1.0)))
    model = PrivateBoostClassifier(
        5.0, 1e-6, classes=(7, 8, 9), rounds_per_column=2, schema=schema, random_state=0
    ).fit(given, given["x0"] + 7)
    with in_duckdb(given, "people") as connection:
        (block,) = predict_in_database(model, SqlTable(connection, "people"), [])
    assert list(block) == ["prediction", *(f"{what} {name}" for what in ("score", "share") for name in (7, 8, 9))]
    assert block["prediction"].dtype == model.predict(given).dtype
    assert block["prediction"].tolist() == model.predict(given).tolist()
    numbers = np.column_stack([values.astype(np.float64) for values in list(block.values())[1:]])
    assert numbers[:, :3].tolist() == model.decision_function(given).tolist()
    assert np.abs(numbers[:, 3:] - model.predict_proba(given)).max() <= ULPS


HOSTILE: Final = Schema(
    (
        Numeric("{before}", 0.0, 1.0),
        Categorical('exchequer_read"', ("{before}", "'; DROP TABLE people; --", "\\", "é"), missing="\\"),
    ),
    Label("prediction", ("no", "{before}'")),
)


@pytest.fixture(scope="module")
def model() -> PrivateBoostClassifier:
    draw, given = np.random.default_rng(0), people()
    y = np.where(draw.random(300) < given["{before}"], "{before}'", "no").astype(object)
    learner = PrivateBoostClassifier(5.0, 1e-5, schema=HOSTILE, random_state=0)
    return learner.fit({name: given[name] for name in HOSTILE.names}, y)


def people() -> dict[str, npt.NDArray[Any]]:
    draw = np.random.default_rng(1)
    jobs = np.array([*HOSTILE.columns[1].values(), None], dtype=object)
    return {
        "prediction": np.arange(300),
        "{before}": draw.random(300),
        'exchequer_read"': jobs[draw.integers(0, jobs.size, 300)],
        "no prediction": draw.integers(0, 9, 300),
    }


QUERY: Final = 'SELECT * FROM people WHERE "no prediction" >= 0 -- {before} exchequer_read'


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """An open connection to a database with people."""
    if request.param == "sqlite":
        in_sqlite(tmp_path / "people.db", people(), "people")
        with contextlib.closing(sqlite3.connect(tmp_path / "people.db", isolation_level=None)) as connection:
            yield connection
        return
    if request.param == "duckdb":
        with in_duckdb(people(), "people") as connection:
            yield connection
        return
    server: Server = request.getfixturevalue("postgresql_server")
    with server.database() as url:
        in_postgresql(url, people(), "people")
        with connected(url) as connection:
            yield connection


def test_names_and_values_that_look_like_sql(database: Any, model: PrivateBoostClassifier) -> None:
    (block,) = predict_in_database(model, SqlTable(database, query=QUERY), ["prediction", "no prediction"])
    given = people()
    records = {name: given[name] for name in HOSTILE.names}
    assert list(block) == ["prediction", "no prediction", "prediction_", "score", "share no", "share {before}'"]
    assert block["prediction"].tolist() == given["prediction"].tolist()
    assert block["prediction_"].tolist() == model.predict(records).tolist()
    assert block["prediction_"].dtype == model.predict(records).dtype
    assert block["score"].tolist() == model.decision_function(records).tolist()
    assert database.execute("SELECT count(*) FROM people").fetchall() == [(300,)]


def test_a_new_table_is_written_and_nothing_else(database: Any, model: PrivateBoostClassifier) -> None:
    table = SqlTable(database, "people")
    assert write_predictions(model, table, ['new"; --'], ["prediction"]) == 300
    (block,) = predict_in_database(model, table, ["prediction"])
    found = database.execute('SELECT * FROM "new""; --" ORDER BY "prediction"')
    assert [each[0] for each in found.description] == list(block)
    assert found.fetchall() == list(zip(*(values.tolist() for values in block.values()), strict=True))
    for name in (['new"; --'], "people"):
        with pytest.raises(DatabaseFailed, match=r"already exists.*Nothing was written"):
            write_predictions(model, table, name, ["prediction"])
    assert table.n == 300
    assert table.names == list(people())


def test_a_record_that_is_refused(database: Any, model: PrivateBoostClassifier) -> None:
    table = SqlTable(database, query='SELECT "prediction" / 99.0 AS "{before}", "exchequer_read""" FROM people')
    with pytest.raises(OutsideSchema, match=r"column '{before}': \d+ of the records.*refused='keep'"):
        list(predict_in_database(model, table, []))
    with pytest.raises(OutsideSchema, match=r"'{before}': 200 of"):
        write_predictions(model, table, "told", [])
    assert write_predictions(model, table, "told", [], refused="keep") == 300
    found = database.execute('SELECT "refused", count(*), count("prediction") FROM told GROUP BY 1 ORDER BY 2')
    assert found.fetchall() == [(None, 100, 100), ("column '{before}'", 200, 0)]


def test_what_is_refused_before_anything_is_read(model: PrivateBoostClassifier) -> None:
    with in_duckdb(people(), "people") as connection:
        table = SqlTable(connection, "people")
        with pytest.raises(ValueError, match=r"keep: the table has no columns \['id'\]"):
            predict_in_database(model, table, ["id"])
        with pytest.raises(ValueError, match="stands twice"):
            predict_in_database(model, table, ["prediction", "prediction"])
        with pytest.raises(ValueError, match="refused: expected"):
            predict_in_database(model, table, [], refused="mark")  # type: ignore[arg-type]  # that is the point
        with pytest.raises(ValueError, match=r"lacks the columns \['{before}'\]"):
            predict_in_database(model, SqlTable(connection, query='SELECT "exchequer_read""" FROM people'), [])
        other = SqlTable(connection, query='SELECT TIME \'10:00\' AS "{before}", "exchequer_read""" FROM people')
        with pytest.raises(NotInSql, match=r"'{before}' is TIME.*predict_in_blocks"):
            predict_in_database(model, other, [])
        waves = RandomFeatureClassifier(1.0, 1e-6, n_components=4, schema=Bounds(0.0, 1.0), random_state=0)
        waves.fit(np.random.default_rng(0).random((50, 2)), np.arange(50) % 2)
        with pytest.raises(NotInSql, match=r"random waves.*predict_in_blocks"):
            predict_in_database(waves, table, [])


def test_a_file_of_duckdb_is_written_only_where_that_is_asked(tmp_path: Path, model: PrivateBoostClassifier) -> None:
    path = tmp_path / "people.duckdb"
    in_duckdb(people(), "people", str(path)).close()
    before, table = path.read_bytes(), SqlTable(f"duckdb:///{path}?threads=1#people")
    list(predict_in_database(model, table, []))
    assert path.read_bytes() == before
    write_predictions(model, table, "told", ["prediction"])
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall() == [
            ("people",),
            ("told",),
        ]


@pytest.mark.postgres
def test_an_account_that_may_only_read_predicts(postgresql_server: Server, model: PrivateBoostClassifier) -> None:
    with postgresql_server.database() as url, connected(url) as owner:
        in_postgresql(url, people(), "people")
        owner.execute("CREATE ROLE only_reader LOGIN")
        try:
            owner.execute("GRANT USAGE ON SCHEMA public TO only_reader")
            owner.execute("GRANT SELECT ON people TO only_reader")
            table = SqlTable(url.replace("exchequer@", "only_reader@"), "people")
            assert sum(block["score"].size for block in predict_in_database(model, table, [])) == 300
            with pytest.raises(DatabaseFailed, match=r"permission denied.*Nothing was written"):
                write_predictions(model, table, "told", [])
        finally:
            owner.execute("DROP OWNED BY only_reader")
            owner.execute("DROP ROLE only_reader")


@pytest.mark.postgres
def test_a_connection_that_is_cut_among_the_blocks(postgresql_server: Server, model: PrivateBoostClassifier) -> None:
    with postgresql_server.database() as url, connected(url) as other:
        in_postgresql(url, people(), "people")
        blocks = predict_in_database(model, SqlTable(url, "people", block=100), [])
        next(blocks)
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        other.execute(f"{others} AND pid <> pg_backend_pid()".encode())
        with pytest.raises(DatabaseFailed, match="Nothing was charged"):
            next(blocks)


@pytest.mark.parametrize("database", ["duckdb", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_moments_with_a_zone_are_read_in_utc(database: Any) -> None:
    draw = np.random.default_rng(0)
    when = np.datetime64("2020-01-01T00:00:00") + draw.integers(0, 10**8, 300).astype("timedelta64[s]")
    schema = Schema((Date("when", "2020-01-01", "2023-06-01"),))
    y = (when > np.datetime64("2021-06-01")).astype(np.int64)
    model = PrivateBoostClassifier(5.0, 1e-5, schema=schema, random_state=0).fit({"when": when}, y)
    listed = ", ".join(f"({number}, TIMESTAMPTZ '{moment}+00')" for number, moment in enumerate(when.tolist()))
    database.execute(f'CREATE TABLE moments AS SELECT * FROM (VALUES {listed}) AS given(id, "when")')
    (block,) = predict_in_database(model, SqlTable(database, "moments"), ["id"])
    assert block["score"][np.argsort(block["id"])].tolist() == model.decision_function({"when": when}).tolist()


def test_columns_of_any_type_are_kept() -> None:
    kept = {
        "u": "uuid()",
        "d": "x::DECIMAL(20, 3)",
        "t": "TIMESTAMP '2020-01-01'",
        "l": "[x]",
        "gap": "NULL",
        "whole": "CASE WHEN x > 0 THEN x END",
        "e": "'a'::ENUM('a')",
        "z": "TIMESTAMPTZ '2020-01-01 00:00+00'",
    }
    listed = ", ".join(f"{value} AS {name}" for name, value in kept.items())
    bits = np.arange(50) % 2
    model = PrivateBoostClassifier(1.0, 1e-6, random_state=0).fit(bits[:, np.newaxis], bits)
    with in_duckdb({"x": np.arange(3)}, "people") as connection:
        table = SqlTable(connection, query=f"SELECT x % 2 AS x0, {listed} FROM people")
        (block,) = predict_in_database(model, table, list(kept))
    assert block["whole"].tolist() == [None, 1, 2]
    assert block["gap"].tolist() == [None] * 3
    assert block["d"].tolist() == [0, 1, 2]
    assert len({*block["u"].tolist()}) == 3
