"""The connection that a store writes on: on SQLite straight through its driver, on PostgreSQL through SQLAlchemy.

On SQLite nearly all of a charge's time but the disk's was SQLAlchemy's. On PostgreSQL the server's answers count.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Final, Protocol, cast

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from accountant.entries import Kind
from accountant.storage import postgresql, sqlite
from accountant.storage.sql_schema import ENTRIES

Row = tuple[int, Kind, str, str]
"""Number, kind, line and digest of an entry."""

_TURN: Final = sa.text("SELECT number, kind, line, digest FROM exchequer_turn(:start, :most)").columns(*ENTRIES.c)
_APPEND: Final = sa.text("SELECT exchequer_append(:next, :before, :kind, :line, :digest)")
NEWER: Final = (
    sa.select(ENTRIES)
    .where(ENTRIES.c.number >= sa.bindparam("start"))
    .order_by(ENTRIES.c.number)
    .limit(sa.bindparam("most"))
)
"""Entries from a number on, oldest first."""

_NEWER: Final = "SELECT number, kind, line, digest FROM exchequer_entries WHERE number >= ? ORDER BY number LIMIT ?"
_INSERT: Final = "INSERT INTO exchequer_entries (number, kind, line, digest) VALUES (?, ?, ?, ?)"


class Writer(Protocol):
    """One connection, which is made when it is needed and let go of when it is in doubt.

    A turn is `begin`, then at most one `append` with its `commit`, then `abort`.
    """

    @property
    def in_turn(self) -> bool:
        """Whether a transaction is open."""

    def begin(self, start: int, most: int) -> Sequence[Row]:
        """Wait for the turn; the first entries from `start` on, as they are then."""

    def read(self, start: int, most: int) -> Sequence[Row]:
        """More of them, within the turn."""

    def append(self, row: Row) -> None:
        """Add a row."""

    def append_next(self, row: Row, before: str) -> bool:
        """Add a row without a turn where the newest entry has the digest `before`; False where it was not tried."""

    def commit(self) -> None:
        """End the turn and keep the row."""

    def abort(self) -> None:
        """Undo what was not committed, if anything; a connection that is in doubt after it is dropped."""

    def drop(self) -> None:
        """Let go of the connection, whatever it is in the middle of."""

    def close(self) -> None:
        """Let go of the connection."""


class SqliteWriter:
    """patience: seconds to wait for the write lock."""

    def __init__(self, engine: sa.Engine, patience: float) -> None:
        self._engine, self._patience = engine, patience
        self._connection: sa.Connection | None = None
        self._raw: sqlite3.Connection | None = None

    @property
    def in_turn(self) -> bool:
        return self._raw is not None and self._raw.in_transaction

    def begin(self, start: int, most: int) -> Sequence[Row]:
        try:
            return self._begin(start, most)
        except (sqlite3.Error, SQLAlchemyError):
            self.drop()  # an interrupt may have left it in a muddle: nothing was under way, so a new one may be tried
            return self._begin(start, most)

    def _begin(self, start: int, most: int) -> Sequence[Row]:
        if self._connection is None or self._raw is None:
            self._connection = self._engine.connect()
            self._raw = sqlite.driver(self._connection)
        sqlite.begin_immediate(self._raw, self._patience)
        return self.read(start, most)

    def read(self, start: int, most: int) -> Sequence[Row]:
        assert self._raw is not None  # a turn has begun
        return self._raw.execute(_NEWER, (start, most)).fetchall()

    def append(self, row: Row) -> None:
        assert self._raw is not None  # a turn has begun
        self._raw.execute(_INSERT, row)

    def append_next(self, row: Row, before: str) -> bool:
        return False

    def commit(self) -> None:
        assert self._raw is not None  # a turn has begun
        self._raw.execute("COMMIT")

    def abort(self) -> None:
        if not self.in_turn:
            return
        try:
            cast("sqlite3.Connection", self._raw).execute("ROLLBACK")
        except sqlite3.Error:
            self.drop()

    def drop(self) -> None:
        connection, self._connection, self._raw = self._connection, None, None
        if connection is not None:
            _hang_up(connection)

    def close(self) -> None:
        self.abort()
        connection, self._connection, self._raw = self._connection, None, None
        if connection is not None:
            connection.close()


class PostgresqlWriter:
    """As a rule nobody else has written meanwhile: then one round trip makes sure of that, appends and commits."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None

    @property
    def in_turn(self) -> bool:
        return self._connection is not None and self._connection.in_transaction()

    def begin(self, start: int, most: int) -> Sequence[Row]:
        try:
            return self._begin(start, most)
        except SQLAlchemyError as error:
            # A connection that died since the last turn, or that an interrupt left in a muddle: nothing was under
            # way, so a new one may be tried.
            self.drop()
            if isinstance(error, DBAPIError) and not error.connection_invalidated:
                raise
            return self._begin(start, most)

    def _begin(self, start: int, most: int) -> Sequence[Row]:
        if self._connection is None:
            self._connection = self._engine.connect()
        if not self._connection.closed and not self._connection.invalidated:
            postgresql.commit_each(self._connection, False)
        self._connection.begin()
        return cast("Sequence[Row]", self._connection.execute(_TURN, {"start": start, "most": most}).all())

    def read(self, start: int, most: int) -> Sequence[Row]:
        assert self._connection is not None  # a turn has begun
        return cast("Sequence[Row]", self._connection.execute(NEWER, {"start": start, "most": most}).all())

    def append(self, row: Row) -> None:
        assert self._connection is not None  # a turn has begun
        self._connection.execute(ENTRIES.insert(), dict(zip(ENTRIES.c.keys(), row, strict=True)))

    def append_next(self, row: Row, before: str) -> bool:
        if self._connection is None or not postgresql.quiet(self._connection):
            return False
        number, kind, line, digest = row
        values = {"next": number, "before": before, "kind": kind, "line": line, "digest": digest}
        try:
            postgresql.commit_each(self._connection, True)
            added = bool(self._connection.scalar(_APPEND, values))
            self._connection.rollback()  # ends what SQLAlchemy began; on the server nothing is open
        except BaseException:  # an interrupt, say: whatever state the connection is in, the next one is new
            self.drop()
            raise
        return added

    def commit(self) -> None:
        assert self._connection is not None  # a turn has begun
        self._connection.commit()

    def abort(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.rollback()
            if not (connection.invalidated or postgresql.in_transaction(connection)):
                self._connection = connection
        except SQLAlchemyError:
            pass
        if self._connection is None:
            _hang_up(connection)

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            _hang_up(connection)

    def close(self) -> None:
        self.abort()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _hang_up(connection: sa.Connection) -> None:
    """Close it, and not for the pool: what it was in the middle of ends with it."""
    with contextlib.suppress(SQLAlchemyError, sqlite3.Error):
        connection.invalidate()
        connection.close()
