"""Entries in SQLite or PostgreSQL, through SQLAlchemy Core: durable, append-only, one writer at a time.

SQLite: a turn is `BEGIN IMMEDIATE`, and a commit is on the disk when it returns (synchronous=FULL). The journal is
one that is emptied at each commit, not a write-ahead log: so between two turns the one file is the whole ledger. During
a turn, and after a writer was killed in one, the file may be half-written, and what undoes that is in the `-journal`
beside it: a copy of the file alone then lacks it, and may be damaged beyond reading. `VACUUM INTO` and the command
`.backup copy.db` of sqlite3 copy whole ledgers at any time; LEDGER.md says more.

PostgreSQL: a turn holds an advisory lock until its transaction ends; as a rule nobody else has written meanwhile, and
then one round trip waits for the lock, makes sure of that, appends and commits.
"""

import contextlib
import os
import random
import selectors
import sqlite3
import time
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, cast

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from accountant.entries import GENESIS, Entry, Kind, digest_of, follows
from accountant.exceptions import LedgerBroken, LedgerCopyRefused, LedgerMismatch, LedgerUnavailable
from accountant.storage import sql_schema
from accountant.storage.sql_schema import ENTRIES

PATIENCE: Final = 60.0
"""Seconds to wait for a turn that another process holds."""

BATCH: Final = 10_000
"""Entries per query: a reader never holds up a writer for long."""

_BATCH = (
    sa.select(ENTRIES)
    .where(ENTRIES.c.number >= sa.bindparam("start"))
    .order_by(ENTRIES.c.number)
    .limit(sa.bindparam("most"))
)
_TURN = sa.text("SELECT number, kind, line, digest FROM exchequer_turn(:start, :most)").columns(*ENTRIES.c)
_APPEND = sa.text("SELECT exchequer_append(:next, :before, :kind, :line, :digest)")
_CHECKPOINT = (
    sa.select(ENTRIES).where(sa.literal_column("kind = 'checkpoint'")).order_by(ENTRIES.c.number.desc()).limit(1)
)
_NEWEST = sa.select(ENTRIES.c.number, ENTRIES.c.digest).order_by(ENTRIES.c.number.desc()).limit(1)
# The same lock as a turn's, which goes by the table; where there is none yet, one that goes by the schema.
_LOCK = sa.text(
    "SELECT pg_advisory_xact_lock(hashtext('exchequer'), "
    "coalesce(to_regclass('exchequer_entries')::oid::int, hashtext(current_schema())))"
)

Access = Literal["create", "write", "read"]

Row = tuple[int, Kind, str, str]


class SqlStore:
    """The entries of one ledger in a database.

    url: "sqlite:///study.db" or "postgresql+psycopg://user@host/database"; one ledger to a database, or to a schema
      of it: "...?options=-csearch_path%3Dstudy".
    access: "create" makes what is missing, "write" wants a ledger to be there, "read" can do nothing but read.
    Raises ValueError for a URL that is neither, LedgerMismatch where there is no ledger or a newer one, and
    LedgerUnavailable where the database does not answer.
    """

    shared = True

    def __init__(self, url: str, access: Access = "write") -> None:
        self.url = _checked_url(url)
        self._engine = _sqlite(self.url, access) if self._embedded else _postgresql(self.url, access)
        self._process, self._writer = os.getpid(), cast("sa.Connection | None", None)
        self._last, self._pending = (-1, GENESIS), (-1, GENESIS)
        try:
            with self._told("open"):
                self._prepare(access)
        except BaseException:
            self._engine.dispose()
            raise

    @property
    def quick(self) -> bool:
        """In PostgreSQL, where each round trip counts."""
        return not self._embedded

    @property
    def in_turn(self) -> bool:
        """Whether a transaction of the writer's is open."""
        return self._writer is not None and self._writer.in_transaction()

    @property
    def _embedded(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def name(self) -> str:
        """The URL without passwords."""
        hidden = {key: "***" if "password" in key else value for key, value in self.url.query.items()}
        return self.url.set(query=hidden).render_as_string(hide_password=True)

    def _prepare(self, access: Access) -> None:
        with self._engine.connect() as connection:
            found = sql_schema.version_of(connection)
        sql_schema.check_version(found, sql_schema.MIGRATIONS)
        if not found and access != "create":
            raise LedgerMismatch(f"there is no ledger at {self.name}")
        if found < len(sql_schema.MIGRATIONS) and access != "read":
            self._turn(sql_schema.migrate)

    def _turn(self, work: sql_schema.Migration) -> None:
        """Work that is done while nobody else writes, whether the tables are there yet or not."""
        with self._engine.connect() as connection, connection.begin():
            if self._embedded:
                _begin_immediate(connection)
            else:
                connection.execute(_LOCK)
            work(connection)

    # --- writing ------------------------------------------------------------------------------------------

    def begin(self, known: int) -> Iterator[Entry]:
        with self._told("lock"):
            try:
                connection, first = self._wait(max(known - 1, 0))
            except SQLAlchemyError as error:
                # A connection that died since the last turn, or that an interrupt left in a muddle: nothing was under
                # way, so a new one may be tried.
                self._drop_writer()
                if isinstance(error, DBAPIError) and not error.connection_invalidated:
                    raise
                connection, first = self._wait(max(known - 1, 0))
        return self._linked(known, self._rest(connection, first))

    def _wait(self, start: int) -> tuple[sa.Connection, Sequence[Row]]:
        """Take the turn; the first entries from `start` on, as they are then."""
        self._same_process()
        if self._writer is None:
            self._writer = self._engine.connect()
        if not self._embedded and not self._writer.closed and not self._writer.invalidated:
            _commit_each(self._writer, False)
        self._writer.begin()
        if self._embedded:
            _begin_immediate(self._writer)
        found = self._writer.execute(_BATCH if self._embedded else _TURN, {"start": start, "most": BATCH}).all()
        return self._writer, cast("Sequence[Row]", found)

    def append_next(self, number: int, kind: Kind, line: str) -> bool:
        self._same_process()
        last, before = self._last
        if self._embedded or number != last + 1 or self._writer is None or not _quiet(self._writer):
            return False
        new = (number, digest_of(before, line))
        values = {"next": number, "before": before, "kind": kind, "line": line, "digest": new[1]}
        try:
            with self._told("write to"):
                _commit_each(self._writer, True)
                added = bool(self._writer.scalar(_APPEND, values))
                self._writer.rollback()  # ends what SQLAlchemy began; on the server nothing is open
        except BaseException:  # an interrupt, say: whatever state the connection is in, the next one is new
            self._drop_writer()
            raise
        if added:
            self._last = new
        return added

    def append(self, kind: Kind, line: str) -> None:
        number, before = self._last
        self._pending = (number + 1, digest_of(before, line))
        values = {"number": number + 1, "kind": kind, "line": line, "digest": self._pending[1]}
        assert self._writer is not None  # a turn has begun
        with self._told("write to"):
            self._writer.execute(ENTRIES.insert(), values)

    def commit(self) -> None:
        assert self._writer is not None  # a turn has begun
        with self._told("write to"):
            self._writer.commit()
        self._last = self._pending

    def abort(self) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            writer.rollback()
            if self._embedded or not (writer.invalidated or _server(writer).pgconn.transaction_status):
                self._writer = writer
        except SQLAlchemyError:
            pass
        if self._writer is None:
            _hang_up(writer)

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            _hang_up(writer)

    # --- reading ------------------------------------------------------------------------------------------

    def newer(self, known: int) -> Iterator[Entry]:
        with self._reading() as connection:
            start = max(known - 1, 0)
            yield from self._linked(known, self._rest(connection, self._batch(connection, start)))

    def _linked(self, known: int, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries from `known` on, each linked to the one before. Raises LedgerBroken where one is not."""
        number, before = known - 1, GENESIS
        last, seen = self._last
        for entry in entries:
            if entry.number == last and entry.digest != seen:
                raise LedgerBroken(f"entry {last} was changed behind this ledger's back")
            if entry.number == known - 1:
                before = entry.digest
                continue
            number += 1
            if entry.number != number or not follows(before, entry.line, entry.digest):
                raise LedgerBroken(
                    f"the books do not hold together: entry {number} is missing, or its digest does not match its "
                    "content and the entry before it; `exchequer ledger verify` lists everything that is wrong"
                )
            before = entry.digest
            yield entry
        if (before == GENESIS and known) or number < last:
            raise LedgerBroken(
                f"entry {max(last, known - 1)} is gone: the books were cut off behind this ledger's back"
            )
        self._last = (number, before)

    def read(self, start: int = 0) -> Iterator[Entry]:
        with self._reading() as connection:
            yield from self._rest(connection, self._batch(connection, start))

    def _rest(self, connection: sa.Connection, rows: Sequence[Row]) -> Iterator[Entry]:
        """The first rows, and those after them, batch by batch."""
        while rows:
            yield from (Entry(*row) for row in rows)
            rows = self._batch(connection, rows[-1][0] + 1) if len(rows) == BATCH else ()

    def _batch(self, connection: sa.Connection, start: int) -> Sequence[Row]:
        place = {"start": start, "most": BATCH}
        with self._told("read"):
            try:
                return cast("Sequence[Row]", connection.execute(_BATCH, place).all())
            except OperationalError as error:
                if "decode" not in str(error.orig):
                    raise
            # Not even text: it is read all the same, so that the one who verifies can say which entry it is.
            raw = connection.connection.dbapi_connection
            assert isinstance(raw, sqlite3.Connection)  # PostgreSQL keeps such bytes out
            raw.text_factory = _any_bytes
            return cast("Sequence[Row]", connection.execute(_BATCH, place).all())

    def checkpoint(self) -> Entry | None:
        with self._reading() as connection:
            row = connection.execute(_CHECKPOINT).first()
        return None if row is None else Entry(*cast("Row", tuple(row)))

    def __len__(self) -> int:
        return self._newest()[0] + 1

    @property
    def head(self) -> str:
        return self._newest()[1]

    def _newest(self) -> tuple[int, str]:
        with self._reading() as connection:
            row = connection.execute(_NEWEST).first()
        return (-1, GENESIS) if row is None else (int(row[0]), str(row[1]))

    def close(self) -> None:
        self.abort()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._engine.dispose()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        self._same_process()
        with self._told("read"), self._engine.connect() as connection:
            yield connection

    def _same_process(self) -> None:
        """Connections do not survive a fork: parent and child would talk on one line."""
        if os.getpid() != self._process:
            raise LedgerCopyRefused("a fork copied this ledger into another process: open it again by its URL")

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say in one sentence what the database refused."""
        try:
            yield
        except SQLAlchemyError as error:
            reason = str(error.orig if isinstance(error, DBAPIError) else error)
            if "not a database" in reason or "malformed" in reason:
                raise LedgerBroken(
                    f"{self.name} is no SQLite database, or a damaged one: {reason}; where it was copied, its -journal "
                    "may have been left behind: copy it again, as LEDGER.md says"
                ) from error
            raise LedgerUnavailable(
                f"could not {what} the ledger at {self.name}: {' '.join(reason.split())}"
            ) from error


def _hang_up(connection: sa.Connection) -> None:
    """Close it, and not for the pool: what it was in the middle of ends with it."""
    with contextlib.suppress(SQLAlchemyError):
        connection.invalidate()
        connection.close()


class _Server(Protocol):
    """What is needed of psycopg's connection."""

    autocommit: bool
    closed: bool
    pgconn: "_Line"

    def fileno(self) -> int:
        """Of its socket."""


class _Line(Protocol):
    transaction_status: int


def _server(connection: sa.Connection) -> _Server:
    return cast("_Server", connection.connection.driver_connection)


def _commit_each(connection: sa.Connection, alone: bool) -> None:
    """Whether statements are transactions of their own. It is only set where it changes: in a transaction it cannot."""
    if _server(connection).autocommit is not alone:
        _server(connection).autocommit = alone


def _quiet(connection: sa.Connection) -> bool:
    """Whether no transaction is open and the server has nothing to say.

    It might say that it hangs up, and what is written to it then is in doubt: nobody knows whether it was done.
    """
    if connection.invalidated or _server(connection).closed or _server(connection).pgconn.transaction_status:
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(_server(connection).fileno(), selectors.EVENT_READ)
        return not selector.select(0)


def _begin_immediate(connection: sa.Connection) -> None:
    """Take SQLite's write lock. Its own waiting backs off to 100 ms, which starves one of many with short turns."""
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    deadline = time.monotonic() + PATIENCE
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                raw.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise LedgerUnavailable(f"could not lock the ledger: {error}") from error
            time.sleep(random.uniform(0.0002, 0.002))
    finally:
        raw.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")


def _any_bytes(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _checked_url(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except (SQLAlchemyError, ValueError, AttributeError):  # it may hold a password, so it is not repeated
        raise ValueError("this is no URL of a ledger; try 'sqlite:///study.db'") from None
    match parsed.get_backend_name():
        case "sqlite":
            if not parsed.database or parsed.database == ":memory:" or parsed.query:
                raise ValueError(
                    "a durable ledger needs a plain file: 'sqlite:///study.db'; without one use Ledger(...)"
                )
            return parsed
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ValueError(f"a ledger lives in sqlite or postgresql, not in {other!r}")


def _sqlite(url: sa.URL, access: Access) -> sa.Engine:
    path = Path(str(url.database))
    if access == "create" and not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} for a ledger to be in")
    if access != "create" and not path.exists():
        raise LedgerMismatch(f"there is no ledger at {url}: the file does not exist")
    # What a crash left half-written is put back by whoever opens the file next; a reader that may, does so too.
    mode = {"create": "rwc", "write": "rw", "read": "rw" if os.access(path, os.W_OK) else "ro"}[access]
    target = f"file:{urllib.parse.quote(str(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        # Transactions are ours alone (isolation_level=None), and so are locks: one thread at a time uses a connection.
        connection = sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
        if access == "read":
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute("PRAGMA journal_mode=TRUNCATE")
            connection.execute("PRAGMA synchronous=FULL")
        return connection

    return sa.create_engine("sqlite://", creator=connect, poolclass=sa.QueuePool)


def _postgresql(url: sa.URL, access: Access) -> sa.Engine:
    try:
        # READ COMMITTED, whatever the server prefers: what is read after the lock must be what was committed before it.
        engine = sa.create_engine(url, isolation_level="READ COMMITTED", pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise ValueError("a ledger in PostgreSQL needs psycopg: pip install 'exchequer[postgresql]'") from error

    @sa.event.listens_for(engine, "connect")
    def durable(connection: DBAPIConnection, record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {PATIENCE * 1000:.0f}")
        cursor.execute("SET default_transaction_isolation = 'read committed'")  # also of statements that stand alone
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        if access == "read":
            cursor.execute("SET default_transaction_read_only = on")
        cursor.close()
        connection.commit()

    return engine
