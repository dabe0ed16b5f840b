"""Where a table is: a URL or an open connection, and a table's name or a query."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, cast

import sqlalchemy as sa

from learners.databases.engines import DatabaseFailed, Engine
from learners.databases.sqlite_engine import SQLite
from learners.exports import DIALECTS, DialectName

Database: TypeAlias = object
"""A URL as text or of SQLAlchemy, or an open connection of duckdb, psycopg or sqlite3."""

TableName: TypeAlias = str | Sequence[str]
"""With points between its parts; or the parts, where they hold points themselves."""

_DRIVERS: Final = {"duckdb": "duckdb", "postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}
_URLS: Final = "duckdb:///people.db, sqlite:///people.db or postgresql://user@host/database"


def split_address(address: str) -> tuple[str, str]:
    """A URL, and the table that stands after its last #; "" for none. Raises ValueError for a # in a password."""
    url, _, table = address.rpartition("#") if "#" in address else (address, "", "")
    if "@" in table and "@" not in url:
        raise ValueError("an @ in the password of a URL is spelt %40, and a # is spelt %23")
    return url, table


def shown_address(address: str) -> str:
    """The same for others to read: without a password, and without options. Raises ValueError for no URL."""
    url, table = split_address(address)
    return "#".join([_by_url(url)[1], *([table] if table else [])])


def opener(database: Database, *, writing: bool = False) -> tuple[Callable[[], Engine], str]:
    """What opens an engine each time, and what it may be called where others read it: without a password.

    writing: whether a file is opened for more than reading.
    Raises ValueError for what is no database of ours, ImportError where its driver is not installed.
    """
    if isinstance(database, str | sa.URL):
        return _by_url(database, writing=writing)
    library = type(database).__module__.partition(".")[0].lstrip("_")
    if library == "duckdb":
        return _duckdb(cast("Any", database)), "duckdb"
    if library == "psycopg":
        return _psycopg(cast("Any", database)), "postgresql"
    if isinstance(database, sqlite3.Connection):
        return _sqlite(SQLite.file_of(database), writing=writing), "sqlite"
    raise TypeError(
        f"expected the URL of a database, such as {_URLS}, or an open connection of duckdb, psycopg or sqlite3, got a "
        f"{type(database).__name__}"
    )


def _by_url(given: str | sa.URL, *, writing: bool = False) -> tuple[Callable[[], Engine], str]:
    try:
        url = sa.make_url(given)
    except (sa.exc.ArgumentError, ValueError):
        raise ValueError(f"this is no URL of a database; expected one such as {_URLS}") from None
    # Then a password ended before it should, and its rest would be looked up, and named, as a host or a database.
    if "@" in f"{url.host}{url.database}":
        raise ValueError("an @ in the password of a URL is spelt %40, and a # is spelt %23")
    engine, shown = _DRIVERS.get(url.get_backend_name()), url.render_as_string(hide_password=True)
    if engine is None:
        raise ValueError(f"{url.get_backend_name()}: no database of ours; expected a URL such as {_URLS}")
    shown = shown.partition("?")[0]
    if engine != "postgresql" and url.host:
        raise ValueError(f"{shown}: three slashes stand before a file, as in {engine}:///{url.host}")
    match engine:
        case "duckdb":
            return _duckdb_file(url, writing=writing), shown
        case "sqlite":
            return _sqlite_file(url, writing=writing), shown
    return _server(url), shown


def _duckdb_file(url: sa.URL, *, writing: bool) -> Callable[[], Engine]:
    options = {name: value for name, value in url.query.items() if isinstance(value, str)}
    if any(name.lower() == "access_mode" for name in options):
        raise ValueError("access_mode: files are opened for reading only; leave it out of the URL")

    def opened() -> Engine:
        return cast("Engine", _duckdb_engine().of(url.database or ":memory:", options, writing=writing))

    return opened


def _sqlite_file(url: sa.URL, *, writing: bool) -> Callable[[], Engine]:
    if not url.database or url.database == ":memory:":
        raise ValueError(
            "a database of SQLite in memory has no records yet; expected a file, as in sqlite:///people.db"
        )
    if set(url.query) - {"timeout"}:
        raise ValueError(f"{sorted(set(url.query) - {'timeout'})}: files of SQLite have one option, timeout in seconds")
    try:
        timeout = float(str(url.query.get("timeout", 5.0)))
    except ValueError:
        raise ValueError("timeout: expected seconds, as in sqlite:///people.db?timeout=60") from None
    return _sqlite(url.database, timeout, writing=writing)


def _sqlite(path: str, timeout: float = 5.0, *, writing: bool) -> Callable[[], Engine]:
    def opened() -> Engine:
        return SQLite.of(path, timeout=timeout, writing=writing)

    return opened


def _server(url: sa.URL) -> Callable[[], Engine]:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)

    def opened() -> Engine:
        return cast("Engine", _postgresql_engine().of(address))

    return opened


def _duckdb(connection: Any) -> Callable[[], Engine]:
    def opened() -> Engine:
        return cast("Engine", _duckdb_engine()(connection, close=False))

    return opened


def _psycopg(connection: Any) -> Callable[[], Engine]:
    def opened() -> Engine:
        return cast("Engine", _postgresql_engine().beside(connection))

    return opened


def _duckdb_engine() -> Any:
    try:
        from learners.databases.duckdb_engine import DuckDB
    except ImportError as error:
        raise ImportError("tables in DuckDB need duckdb and pyarrow: pip install 'exchequer[duckdb]'") from error
    return DuckDB


def _postgresql_engine() -> Any:
    try:
        from learners.databases.postgresql_engine import PostgreSQL
    except ImportError as error:
        raise ImportError("tables in PostgreSQL need psycopg: pip install 'exchequer[postgresql]'") from error
    return PostgreSQL


def source_of(table: TableName | None, query: str | None, dialect: DialectName) -> str:
    """What stands after FROM. Raises ValueError for both or neither."""
    if (table is None) == (query is None) or query == "" or table == "":
        raise ValueError("expected either table= or query=: a table's name, or a SELECT statement")
    if query is not None:
        return f"(\n{query.rstrip().rstrip(';')}\n) AS given"
    assert table is not None
    parts = table.split(".") if isinstance(table, str) else list(table)
    return ".".join(map(DIALECTS[dialect].identifier, parts))


__all__ = ["Database", "DatabaseFailed", "TableName", "opener", "shown_address", "source_of", "split_address"]
