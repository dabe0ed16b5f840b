"""Columns as tables of real databases."""

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
import psycopg
from psycopg import sql

TABLE: Final = 'peo"ple; --'

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Of floats, whole numbers, truth values, time stamps or objects, where None is NULL."""

_KINDS: Final = {"f": "double precision", "i": "bigint", "b": "boolean", "M": "timestamp"}


def as_columns(frame: pd.DataFrame) -> Columns:
    """Of a frame without missing text."""
    return {
        str(name): np.array(values.tolist()) if values.dtype.kind in _KINDS else np.array(values.tolist(), dtype=object)
        for name, values in frame.items()
    }


def as_text(columns: Columns) -> dict[str, npt.NDArray[Any]]:
    """The same, with the numbers among texts and the dates of columns of dates as text, as Python writes them."""
    return {name: _text(values) for name, values in columns.items()}


def _text(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind == "M":
        listed = [None if each == "NaT" else each for each in np.datetime_as_string(values).tolist()]
    elif values.dtype.kind == "O":
        listed = [repr(each) if isinstance(each, float) else each for each in values.tolist()]
    else:
        return values
    return np.array(listed, dtype=object)


def in_duckdb(
    columns: Columns, name: str = TABLE, path: str = ":memory:", kinds: Mapping[str, str] | None = None
) -> duckdb.DuckDBPyConnection:
    """A database of one thread with the columns as a table. kinds: types of columns that are not as usual."""
    connection = duckdb.connect(path, config={"threads": 1})
    add_to_duckdb(connection, columns, name, kinds)
    return connection


def add_to_duckdb(
    connection: duckdb.DuckDBPyConnection, columns: Columns, name: str, kinds: Mapping[str, str] | None = None
) -> None:
    """A further table, in the place of one of this name."""
    typed = _typed(columns, "VARCHAR", kinds)
    named = ", ".join(f"{quoted(each)} {kind}" for each, kind in typed.items())
    connection.execute(f"CREATE OR REPLACE TABLE {quoted(name)} ({named})")
    if _records(columns):  # of none, DuckDB refuses to insert any
        connection.executemany(
            f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", _records(columns)
        )


def in_postgresql(url: str, columns: Columns, name: str = TABLE, kinds: Mapping[str, str] | None = None) -> None:
    """The same in a database of PostgreSQL."""
    with connected(url) as connection:
        typed = _typed(columns, "text", kinds)
        parts = [sql.SQL("{} {}").format(sql.Identifier(each), sql.SQL(kind)) for each, kind in typed.items()]
        table = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(parts)))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for record in _records(columns):
                copy.write_row(record)


def in_sqlite(path: Path, columns: Columns, name: str = TABLE, kinds: Mapping[str, str] | None = None) -> str:
    """The same in a file of SQLite, in the place of a table of this name; its URL."""
    named = ", ".join(f"{quoted(each)} {kind}" for each, kind in _typed(columns, "TEXT", kinds).items())
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
        connection.execute(f"CREATE TABLE {quoted(name)} ({named})")
        connection.executemany(
            f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", _records(columns)
        )
    return f"sqlite:///{path}"


def connected(url: str) -> "psycopg.Connection[Any]":
    """A connection that commits by itself."""
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def _typed(columns: Columns, text: str, kinds: Mapping[str, str] | None) -> dict[str, str]:
    return {name: _KINDS.get(values.dtype.kind, text) for name, values in columns.items()} | dict(kinds or {})


def _records(columns: Columns) -> list[tuple[object, ...]]:
    return list(zip(*(values.tolist() for values in columns.values()), strict=True))
