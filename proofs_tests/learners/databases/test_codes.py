"""A value's code inside a database is what the encoder makes of it in memory; it is refused where that refuses it."""

import contextlib
import datetime
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchmarks.ledgers.postgres import Server
from learners import Boolean, Categorical, Date, Integer, Numeric, Ordered, OutsideSchema, Schema, SqlTable
from learners.additive import BlockReader
from learners.encoding import Layout
from learners.tables import CodedLabels, Column, narrow_codes
from proofs_tests.support.learners.databases import add_to_duckdb, connected, in_postgresql, in_sqlite, quoted

NAME = "a\"b'; DROP TABLE t; -- ‐%s $1"
NUMBERS = [0.0, -0.0, 1.0, 0.5, -1.0, 2.0, 3.0, 1e-300, 5e-324, 1e308, 2.5, 0.1 + 0.2, np.inf, -np.inf, np.nan]
TEXTS = ["a", "A", "a ", "\ta\n", "b;'", 'c"', "é", "é", "", "nan", "None", "1", "1.0", "\u2003a", "DROP TABLE t", "?"]

CUTS = st.sets(st.sampled_from([0.0, 5e-324, 0.1, 0.3, 0.5, 1.0, 2.5]), min_size=1).map(
    lambda cuts: tuple(sorted(cuts))
)
COLUMNS: st.SearchStrategy[tuple[Column, list[Any], str]] = st.one_of(
    st.tuples(
        st.builds(
            lambda cuts, bins, outside, missing: Numeric(NAME, -1.0, 3.0, bins, cuts, outside=outside, missing=missing),
            st.one_of(st.just(()), CUTS),
            st.integers(2, 300),
            st.sampled_from(["error", "clip"]),
            st.sampled_from([None, "own", 0.1]),
        ),
        st.lists(st.one_of(st.none(), st.sampled_from(NUMBERS), st.floats(-1.0, 3.0)), min_size=1, max_size=6),
        st.just("double precision"),
    ),
    st.tuples(
        st.builds(lambda missing: Integer(NAME, 0, 9, bins=4, missing=missing), st.sampled_from([None, "own", 3])),
        st.lists(st.one_of(st.none(), st.sampled_from([0.0, 3.0, 9.0, -0.0, 2.5, np.nan, 10.0])), min_size=1),
        st.sampled_from(["double precision", "real"]),
    ),
    st.tuples(
        st.just(Numeric(NAME, -1.0, 3.0, cuts=(0.1, 0.3, 0.5))),
        st.lists(st.sampled_from([0.1, 0.3, 0.25, 0.5, 3.0, -1.0]), min_size=1).map(
            lambda values: [float(np.float32(value)) for value in values]
        ),
        st.just("real"),
    ),
    st.tuples(
        st.just(Numeric(NAME, 0.0, 2.0**62, cuts=(2.0**53, 2.0**53 + 2, 2.0**60))),
        st.lists(st.sampled_from([2**53, 2**53 + 1, 2**53 + 3, 2**60 - 1, 2**60, 2**62 - 1, -1, 0]), min_size=1),
        st.just("bigint"),
    ),
    st.tuples(
        st.just(Boolean(NAME)),
        st.lists(st.one_of(st.none(), st.sampled_from([0.0, 1.0, -0.0, 0.5, np.nan])), min_size=1),
        st.just("double precision"),
    ),
    st.tuples(st.just(Boolean(NAME)), st.lists(st.one_of(st.none(), st.booleans()), min_size=1), st.just("boolean")),
    st.tuples(
        st.builds(
            lambda names, missing, other: Categorical(
                NAME, names, names[0] if missing else None, names[1] if other else None
            ),
            st.lists(st.sampled_from([text.strip() for text in TEXTS if text.strip()]), min_size=2, unique=True),
            st.booleans(),
            st.booleans(),
        ),
        st.lists(st.one_of(st.none(), st.sampled_from(TEXTS)), min_size=1),
        st.just("text"),
    ),
    st.tuples(
        st.just(Categorical(NAME, ["0", "1.0", "7", "-3"])),
        st.lists(st.sampled_from([0, 1, 7, -3, 8, 2**40]), min_size=1),
        st.just("bigint"),
    ),
    st.tuples(
        st.just(Categorical(NAME, ["True", "0"], missing="0")),
        st.lists(st.one_of(st.none(), st.booleans()), min_size=1),
        st.just("boolean"),
    ),
)

MOMENTS = [
    datetime.datetime.fromisoformat(text)
    for text in [
        "2020-02-29T00:00:00",
        "1999-12-31T23:59:59.999999",
        "2000-01-01T00:00:00",
        "2010-01-01T12:00:00.000001",
        "2010-01-01T12:00:00",
        "1969-12-31T23:59:59.999999",
        "1970-01-01T00:00:01.300001",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59.123456",
        "2262-04-11T23:47:16.854775",
    ]
]
DATE_TEXTS = ["2020-02-29", " 2010-01-01T12:00 ", "2021-02-29", "1999-12-31 23:59:59.999999", "?", "", "n/a", "2010"]
DATES = st.builds(
    lambda bounds, cuts, missing, outside, other: Date(
        NAME, bounds[0], bounds[1], cuts=cuts, missing=missing, outside=outside, other=other if missing else None
    ),
    st.sampled_from([("1960-01-01", "2030-01-01"), ("2000-01-01", "2010-01-01 12:00:00.000001")]),
    st.sampled_from([(), ("2005-01-01", "2010-01-01 12:00"), ("2010-01-01 06:00", "2010-01-01 12:00:00")]),
    st.sampled_from([None, "own", "2006-07-08"]),
    st.sampled_from(["error", "clip"]),
    st.sampled_from([None, "missing"]),
)
FORMED = Date(NAME, "2000-01-01", "2030-01-01", cuts=("2020-02-29",), missing="own", form="%d.%m.%Y")
MORE: st.SearchStrategy[tuple[Column, list[Any], str]] = st.one_of(
    st.tuples(
        DATES,
        st.lists(st.one_of(st.none(), st.sampled_from(MOMENTS), st.datetimes()), min_size=1, max_size=6),
        st.sampled_from(["timestamp", "timestamp with time zone"]),
    ),
    st.tuples(
        DATES,
        st.lists(st.one_of(st.none(), st.dates(datetime.date(1950, 1, 1), datetime.date(2040, 1, 1))), min_size=1),
        st.just("date"),
    ),
    st.tuples(DATES, st.lists(st.one_of(st.none(), st.sampled_from(DATE_TEXTS)), min_size=1), st.just("text")),
    st.tuples(
        st.just(FORMED),
        st.lists(st.sampled_from(["29.02.2020", "1.3.2020", " 01.01.2000", "30.2.2020", None, ""]), min_size=1),
        st.just("text"),
    ),
    st.tuples(
        st.just(Date(NAME, "2000-01-01", "2030-01-01", cuts=("2020-02-29",), form="%Y%m%d", outside="clip")),
        st.lists(st.sampled_from([20200229, 20200228, 20210229, 19991231, -20200229]), min_size=1, max_size=2),
        st.just("bigint"),
    ),
    st.tuples(
        st.builds(
            lambda names, missing, other: Ordered(NAME, names, missing=missing, other=other if missing else None),
            st.lists(st.sampled_from([text.strip() for text in TEXTS if text.strip()]), min_size=2, unique=True),
            st.sampled_from([None, "own"]),
            st.sampled_from([None, "missing"]),
        ),
        st.lists(st.one_of(st.none(), st.sampled_from(TEXTS)), min_size=1),
        st.just("text"),
    ),
    st.tuples(
        st.just(Ordered(NAME, ["0", "7", "1.0"], missing="7", other="0")),
        st.lists(st.one_of(st.none(), st.sampled_from([0, 1, 7, -3])), min_size=1),
        st.just("bigint"),
    ),
)


def alone(column: Column, values: list[Any]) -> list[int] | None:
    """The codes in memory, each value by itself; None where one is refused."""
    try:
        return [int(code) for code in narrow_codes({NAME: in_memory(values)}, Schema((column,)))[0]]
    except OutsideSchema:
        return None


def in_memory(values: list[Any]) -> npt.NDArray[Any]:
    """As a DataFrame has them."""
    if any(isinstance(value, datetime.date) for value in values):
        return np.array(values, dtype="M8[us]")
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return boxed


def inside(database: Any, column: Column) -> list[int] | None:
    """The same in a database, in the order of the key."""
    schema = Schema((column, Numeric("key", 0.0, 99.0, bins=99)))
    read = BlockReader(Layout(schema), CodedLabels((0, 1)), "test", None, None)
    try:
        rows: Any = SqlTable(database, "t", "y").block_rows(None).map(read)
    except OutsideSchema:
        return None
    table = rows.table
    return [int(code) for (code,) in table.engine.run(f"SELECT c0 FROM {table.name} ORDER BY c1")]


def as_table(values: list[Any], kind: str = "") -> dict[str, Any]:
    """Moments as text of ISO 8601, in UTC."""
    zoned = kind.endswith("with time zone")
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = [
        f"{value.isoformat()}{'+00:00' if zoned else ''}" if isinstance(value, datetime.date) else value
        for value in values
    ]
    return {NAME: boxed, "key": np.arange(len(values)), "y": np.zeros(len(values), dtype=np.int64)}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as made:
        made.execute("SET GLOBAL TimeZone = 'America/New_York'")
        yield made


@given(COLUMNS | MORE)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((Categorical(NAME, ["a", "A"]), ["A", "a", " a"], "VARCHAR COLLATE NOCASE"))
def test_in_duckdb(connection: duckdb.DuckDBPyConnection, case: tuple[Column, list[Any], str]) -> None:
    column, values, kind = case
    add_to_duckdb(connection, as_table(values, kind), "t", {NAME: kind})
    assert inside(connection, column) == alone(column, values)


@pytest.fixture(scope="module")
def server(postgresql_server: Server) -> Iterator[str]:
    """Whose account writes dates in its own way, in a time zone of its own."""
    with postgresql_server.database() as url:
        with connected(url) as connection:
            for setting in ("timezone = 'Asia/Kathmandu'", "datestyle = 'German, DMY'"):
                connection.execute(f"ALTER ROLE current_user SET {setting}")
        yield url.replace("+psycopg", "")
        with connected(url) as connection:
            connection.execute("ALTER ROLE current_user RESET ALL")


@pytest.mark.postgres
@given(COLUMNS | MORE)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((Categorical(NAME, ["a", "A"]), ["A", "a", " a"], "character(5)"))
@example((Numeric(NAME, 0.0, 1.0, cuts=(0.1, 0.3)), [0.1, 0.3, 0.25, 1.0], "numeric(20, 10)"))
def test_in_postgresql(server: str, case: tuple[Column, list[Any], str]) -> None:
    column, values, kind = case
    with connected(server) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
    in_postgresql(server, as_table(values, kind), "t", {NAME: kind})
    assert inside(server, column) == alone(column, values)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sqlite") / "people.db"


NAMES = Categorical(NAME, ["a", "A", "7", "7.5", "0.30000000000000004", "1"], other="A", missing="1")
FINE = Numeric(NAME, -9.0, 2.0**63, cuts=(0.5, 2.0**53, 2.0**60), missing="own")


@given(COLUMNS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((NAMES, ["a", "A", "a ", "a\0", "\u0430", 7, 7.0, 7.5, 8.5, 1e300, None, "7.0", ""], "BLOB"))
@example((NAMES, ["a", "A", "a ", "a\0b", 7, 7.5, 1], "TEXT COLLATE NOCASE"))
@example((NAMES, ["a", "A ", "A", "nan", "None"], "TEXT COLLATE RTRIM"))
@example((Boolean(NAME), ["yes", "FALSE", " 1 ", "1.0", 1, 0, 1.0, -0.0, "t"], "BLOB"))
@example((Boolean(NAME), [1.0000000000000002], "REAL"))
@example((Boolean(NAME), [1, "1\0"], "BLOB"))
@example((FINE, [2**53 + 1, 2**60 - 1, 2**63 - 1, 0.5, None, 1, -9, float("nan")], "BLOB"))
@example((FINE, [2**53 + 1, 2**60 - 1, 2**63 - 1, 0.5], "REAL"))
@example((FINE, [1, float("inf")], "NUMERIC"))
def test_in_sqlite(file: Path, case: tuple[Column, list[Any], str]) -> None:
    """Where each value has its own type."""
    column, values, kind = case
    plain = [int(value) if isinstance(value, bool) else value for value in values]
    url = in_sqlite(file, as_table(plain), "t", {NAME: "INTEGER" if kind == "boolean" else kind})
    assert inside(url, column) == alone(column, [each for (each,) in stored(file)])


def stored(file: Path) -> list[tuple[Any]]:
    """The values as SQLite has them: its types of columns change what is written."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT {quoted(NAME)} FROM t ORDER BY key").fetchall()


@pytest.mark.parametrize(
    ("column", "value"),
    [(FINE, "1"), (FINE, b"1"), (NAMES, b"a"), (NAMES, 0.1 + 0.2), (NAMES, 1e20), (Boolean(NAME), b"1")],
    ids=["text", "bytes", "bytes of a name", "17 digits", "a large fraction", "bytes of a truth"],
)
def test_what_sqlite_does_not_read_as_python_does_is_refused(file: Path, column: Column, value: object) -> None:
    assert inside(in_sqlite(file, as_table([value]), "t", {NAME: "BLOB"}), column) is None


def test_decimals_and_huge_numbers_of_duckdb(connection: duckdb.DuckDBPyConnection) -> None:
    """Which DuckDB would round twice on their way to a double."""
    texts = ["0.1", "0.30000000000000004441", "0.3", "1.0000000000000002220446049250313"]
    cuts = (0.1, 0.3, 0.1 + 0.2, 1.0 + 2.0**-52)
    connection.execute(f"CREATE OR REPLACE TABLE t ({quoted(NAME)} DECIMAL(38, 31), key BIGINT, y BIGINT)")
    connection.executemany(
        "INSERT INTO t VALUES (CAST(? AS DECIMAL(38, 31)), ?, 0)", [(t, k) for k, t in enumerate(texts)]
    )
    assert inside(connection, Numeric(NAME, 0.0, 2.0, cuts=cuts)) == alone(
        Numeric(NAME, 0.0, 2.0, cuts=cuts), [float(text) for text in texts]
    )
