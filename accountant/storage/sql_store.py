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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from accountant.entries import GENESIS, Entry, Kind, digest_of, follows
from accountant.exceptions import LedgerBroken, LedgerCopyRefused, LedgerMismatch, LedgerUnavailable
from accountant.storage import postgresql, sql_schema, sqlite
from accountant.storage.access import Access, checked_url
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
        self.url = checked_url(url)
        engine = sqlite.engine if self._embedded else postgresql.engine
        self._engine = engine(self.url, access, PATIENCE)
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
                sqlite.begin_immediate(connection, PATIENCE)
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
            postgresql.commit_each(self._writer, False)
        self._writer.begin()
        if self._embedded:
            sqlite.begin_immediate(self._writer, PATIENCE)
        found = self._writer.execute(_BATCH if self._embedded else _TURN, {"start": start, "most": BATCH}).all()
        return self._writer, cast("Sequence[Row]", found)

    def append_next(self, number: int, kind: Kind, line: str) -> bool:
        self._same_process()
        last, before = self._last
        if self._embedded or number != last + 1 or self._writer is None or not postgresql.quiet(self._writer):
            return False
        new = (number, digest_of(before, line))
        values = {"next": number, "before": before, "kind": kind, "line": line, "digest": new[1]}
        try:
            with self._told("write to"):
                postgresql.commit_each(self._writer, True)
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
            if self._embedded or not (writer.invalidated or postgresql.in_transaction(writer)):
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
            sqlite.read_any_bytes(connection)  # PostgreSQL keeps such bytes out
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
