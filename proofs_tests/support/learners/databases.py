"""Frames of pandas as tables of real databases."""

from collections.abc import Mapping
from typing import Any, Final

import duckdb
import pandas as pd
import psycopg
from psycopg import sql

TABLE: Final = 'peo"ple; --'

_KINDS: Final = {"f": "double precision", "i": "bigint", "b": "boolean"}


def in_duckdb(frame: pd.DataFrame, name: str = TABLE, path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """A database of one thread with the frame as a table; None is NULL, and NaN is NaN in columns of floats."""
    connection = duckdb.connect(path, config={"threads": 1})
    kinds = {"f": "DOUBLE", "i": "BIGINT", "b": "BOOLEAN"}
    named = ", ".join(f"{_quoted(str(n))} {kinds.get(v.dtype.kind, 'VARCHAR')}" for n, v in frame.items())
    connection.execute(f"CREATE TABLE {_quoted(name)} ({named})")
    places = ", ".join("?" * len(frame.columns))
    connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", _records(frame))
    return connection


def in_postgresql(url: str, frame: pd.DataFrame, name: str = TABLE, kinds: Mapping[str, str] | None = None) -> None:
    """The same in a database of PostgreSQL. kinds: types of columns that are not as usual."""
    with connected(url) as connection:
        columns = [
            sql.SQL("{} {}").format(
                sql.Identifier(str(n)), _sql((kinds or {}).get(str(n), _KINDS.get(v.dtype.kind, "text")))
            )
            for n, v in frame.items()
        ]
        table = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(columns)))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for record in _records(frame):
                copy.write_row(record)


def connected(url: str) -> "psycopg.Connection[Any]":
    """A connection that commits by itself."""
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def _sql(kind: str) -> sql.SQL:
    return sql.SQL(kind)


def _records(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    columns = [values.tolist() for _, values in frame.items()]
    return list(zip(*columns, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
