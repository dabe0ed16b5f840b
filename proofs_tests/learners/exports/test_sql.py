"""Names, literals and categories in SQL: what is quoted, what is refused, and that engines read it as it was meant."""

import math
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.ledgers.postgres import Server
from learners import (
    Boolean,
    Bounds,
    Categorical,
    LazyBoostClassifier,
    Numeric,
    PrivateBoostClassifier,
    RandomFeatureClassifier,
    Schema,
)
from learners.exports import EXPORTABLE, NotPortable, as_sql, portable
from learners.exports.columns import inputs_of
from learners.exports.portable_model import Names
from learners.exports.sql import TERMS_IN_A_STAGE
from learners.exports.sql_dialects import DIALECTS, WHITE
from learners.exports.sql_files import csv_table
from proofs_tests.support.learners.engines import KEY, TABLE, in_duckdb, in_sqlite

TEXTS = ["", "'", "\\", "\\'", "a\nb", "--", "/*", "$1", "%s", "{0}", "🙂", "\u2028", ";", '"', "E'", "\x7f"]
finite = st.floats(allow_nan=False, allow_infinity=False)


def _told_by_duckdb(sql: str) -> Any:
    found = duckdb.connect().execute(sql).fetchone()
    assert found is not None
    return found[0]


def _told_by_sqlite(sql: str) -> Any:
    return sqlite3.connect(":memory:").execute(sql).fetchone()[0]


LOCAL: dict[str, Callable[[str], Any]] = {"duckdb": _told_by_duckdb, "sqlite": _told_by_sqlite}


@pytest.mark.parametrize("name", LOCAL)
@given(value=finite)
@example(value=math.ulp(0.0))
@example(value=1.7976931348623157e308)
@example(value=-2.2250738585072014e-308)
@example(value=0.1 + 0.2)
def test_a_number_is_read_as_exactly_that_double(name: str, value: float) -> None:
    assert LOCAL[name](f"SELECT {DIALECTS[name].number(value)}") == value


@pytest.mark.postgres
def test_postgresql_reads_numbers_and_texts_as_they_are(postgresql_server: Server) -> None:
    draw = np.random.default_rng(0)
    numbers = [*(draw.normal(size=200) * 10.0 ** draw.integers(-300, 300, 200)).tolist(), math.ulp(0.0), 0.1 + 0.2]
    dialect = DIALECTS["postgresql"]
    with postgresql_server.connect() as connection:
        for conforming in ("on", "off"):
            connection.execute(f"SET standard_conforming_strings = {conforming}".encode())
            literals = [*map(dialect.number, numbers), *map(dialect.text, TEXTS)]
            assert connection.execute(f"SELECT {', '.join(literals)}".encode()).fetchone() == (*numbers, *TEXTS)


@pytest.mark.parametrize("name", LOCAL)
def test_text_is_read_as_it_is(name: str) -> None:
    for text in TEXTS:
        assert LOCAL[name](f"SELECT {DIALECTS[name].text(text)}") == text


def test_white_space_is_what_python_strips() -> None:
    assert list(WHITE) == [code for code in range(0x110000) if not chr(code).strip()]


@pytest.mark.parametrize("name", DIALECTS)
def test_names_that_there_cannot_be_are_refused(name: str) -> None:
    dialect = DIALECTS[name]
    assert dialect.identifier('a"b; c') == '"a""b; c"'
    for wrong in ("", "a\0b", "\ud800"):
        with pytest.raises(NotPortable):
            dialect.identifier(wrong)
    with pytest.raises(NotPortable, match="NUL"):
        dialect.text("a\0b")


def fitted(schema: Schema, n: int = 60) -> PrivateBoostClassifier:
    draw = np.random.default_rng(0)
    table = {column.name: draw.integers(0, 2, n) for column in schema.columns}
    return PrivateBoostClassifier(50.0, schema=schema, rounds_per_column=1, random_state=0).fit(
        table, next(iter(table.values()))
    )


def test_names_that_an_engine_takes_for_one_or_cuts_are_refused() -> None:
    alike = portable(fitted(Schema((Boolean("Age"), Boolean("age")))))
    for dialect in ("duckdb", "sqlite"):
        with pytest.raises(NotPortable, match="'Age' and 'age' are the same name in"):
            as_sql(alike, dialect, "t")
    assert '"Age"' in as_sql(alike, "postgresql", "t")
    long = portable(fitted(Schema((Boolean("ä" * 32), Boolean("b")))))
    with pytest.raises(NotPortable, match="no names of 64 bytes"):
        as_sql(long, "postgresql", "t")


def test_names_of_ours_give_way_to_those_of_the_table() -> None:
    names = ("Prediction", "score", "exchequer_score_0", "refused")
    model = fitted(Schema(tuple(Boolean(name) for name in names)))
    columns = {name: np.array([0, 1, 1]) for name in names}
    found = in_duckdb(as_sql(portable(model), "duckdb", TABLE, [KEY, *names]), columns)
    assert {"prediction_", "score_", "refused_", "share 0", *names} <= set(found)
    assert found["prediction_"].tolist() == model.predict(columns).tolist()
    assert found["score"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("table", ["exchequer_read", "main.EXCHEQUER_read"])
def test_names_of_ours_give_way_to_that_of_the_table(table: str) -> None:
    model, columns = fitted(Schema.boolean(["a"])), {"a": np.array([0, 1, 1])}
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE exchequer_read (a INTEGER)")
        connection.executemany("INSERT INTO exchequer_read VALUES (?)", [(value,) for value in columns["a"].tolist()])
        found = connection.execute(as_sql(portable(model), "sqlite", table)).fetchall()
    assert sorted(row[1] for row in found) == sorted(model.predict(columns).tolist())


def test_a_zero_of_either_sign_is_the_category_zero() -> None:
    """As it is to `predict`, be it a number or text."""
    for reading, column in zip((each.reading for each in inputs_of(NAMED)), NAMED.columns, strict=True):
        assert isinstance(reading, Names)
        for name in ("0.0", "-0.0"):
            for value in (name, float(name)):
                assert reading.codes[name] == column.codes(np.array([value], dtype=object))[0]


def test_a_table_in_a_schema_has_both_names_quoted() -> None:
    assert 'FROM "my ""own"."people" AS t' in as_sql(
        portable(fitted(Schema.boolean(["a"]))), "duckdb", 'my "own.people'
    )


def test_many_terms_are_added_in_several_stages() -> None:
    """Engines limit how deep an expression is."""
    names = [f"c{number}" for number in range(TERMS_IN_A_STAGE + 20)]
    model, draw = fitted(Schema.boolean(names)), np.random.default_rng(1)
    columns = {name: draw.integers(0, 2, 30) for name in names}
    statements = [as_sql(portable(model), "duckdb", TABLE, [KEY]), as_sql(portable(model), "sqlite", TABLE, [KEY])]
    for statement, run in zip(statements, (in_duckdb, in_sqlite), strict=True):
        assert "exchequer_summed_2 AS" in statement
        assert run(statement, columns)["score"].tolist() == model.decision_function(columns).tolist()


NAMED = Schema((Categorical("c", ("0", "1", "2.5", "x")), Categorical("d", ("True", "False", "none"), "none", "none")))


@pytest.mark.parametrize("kind", ["whole numbers", "floats", "truth values", "text"])
def test_categories_are_found_whatever_type_the_column_has(kind: str) -> None:
    values: dict[str, tuple[list[object], str]] = {
        "whole numbers": ([0, 1, 1, 0], "int64"),
        "floats": ([0.0, 1.0, 2.5, 1.0], "float64"),
        "truth values": ([True, False, True, True], "bool"),
        "text": (["0.0", "True", "x", " 1 "], "object"),
    }
    listed, dtype = values[kind]
    model = fitted(Schema((NAMED.columns[0], Boolean("z"))))
    columns = {"c": np.array(listed, dtype=dtype), "z": np.array([0, 1, 1, 0])}
    found = in_duckdb(as_sql(portable(model), "duckdb", TABLE, [KEY]), columns)
    assert found["score"].tolist() == model.decision_function(columns).tolist()


def test_nan_among_floats_is_a_missing_category() -> None:
    table = pd.DataFrame({"c": [0, 1] * 30, "d": ["True", "none", "False"] * 20})
    model = PrivateBoostClassifier(50.0, schema=NAMED, rounds_per_column=1, random_state=0).fit(table, table["c"])
    columns = {"c": np.array([0, 1, 1]), "d": np.array([math.nan, 1.0, 0.0])}
    found = in_duckdb(as_sql(portable(model), "duckdb", TABLE, [KEY]), columns)
    assert found["score"].tolist() == model.decision_function(columns).tolist()


def test_text_in_a_column_of_numbers_is_refused_where_the_engine_would_let_it_pass() -> None:
    model = fitted(Schema((Numeric("a", 0, 1, missing="own"), Boolean("b"))))
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(0.5, 1), ("0.5", 1), (None, 0), (b"1", 0), (1, "1"), (1, "2")]
        )
        found = connection.execute(as_sql(portable(model), "sqlite", "t")).fetchall()
    connection.close()
    assert [row[-1] for row in found] == [None, "column 'a'", None, "column 'a'", None, "column 'b'"]
    assert [row[2] is None for row in found] == [False, True, False, True, False, True]


def test_what_cannot_be_exported_says_why_and_what_can() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (80, 2))
    waves = RandomFeatureClassifier(1.0, 1e-6, schema=Bounds(-1, 1), random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(NotPortable, match=r"random waves.*PrivateBoostClassifier"):
        portable(waves)
    votes = LazyBoostClassifier(schema=Bounds(-1, 1).over(["x0", "x1"]), rounds=4, calibration=0.3, random_state=0)
    with pytest.raises(NotPortable, match="calibration=0"):
        portable(votes.fit(X, (X[:, 0] > 0).astype(int)))
    assert EXPORTABLE[0] == "PrivateBoostClassifier"


def test_classes_need_a_literal() -> None:
    names = (Fraction(1, 2), Fraction(1, 3))
    model = PrivateBoostClassifier(classes=names, rounds_per_column=1, random_state=0)
    y = np.empty(60, dtype=object)
    y[:] = [names[place % 2] for place in range(60)]
    with pytest.raises(NotPortable, match="no literal"):
        as_sql(portable(model.fit(np.zeros((60, 1)), y)), "duckdb", "t")


def test_nothing_of_a_csv_file_is_guessed(tmp_path: Path) -> None:
    """A record that begins with # is no comment, and one that has another character often says no separator."""
    path = tmp_path / "people.csv"
    path.write_text("id,v\n#1,2\n#2;;;;,3\n4;;;;,5 # five\n")
    table = csv_table(DIALECTS["duckdb"], str(path), None)
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM {table}").fetchall()
    assert found == [("#1", "2"), ("#2;;;;", "3"), ("4;;;;", "5 # five")]
