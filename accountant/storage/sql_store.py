"""Entries in SQLite or PostgreSQL, through SQLAlchemy Core: durable, append-only, one writer at a time.

SQLite: a turn is `BEGIN IMMEDIATE`, and a commit is on the disk when it returns (synchronous=FULL). The journal is
one that is emptied at each commit, not a write-ahead log: so between two turns the one file is the whole ledger. During
a turn, and after a writer was killed in one, the file may be half-written, and what undoes that is in the `-journal`
beside it: a copy of the file alone then lacks it, and may be damaged beyond reading. `VACUUM INTO` and the command
`.backup copy.db` of sqlite3 copy whole ledgers at any time; LEDGER.md says more.

PostgreSQL: a turn holds an advisory lock until its transaction ends; as a rule nobody else has written meanwhile, and
then one round trip waits for the lock, makes sure of that, appends and commits.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from accountant.entries import GENESIS, Entry, Kind, digest_of, follows
from accountant.exceptions import LedgerBroken, LedgerCopyRefused, LedgerMismatch, LedgerUnavailable
from accountant.storage import postgresql, sql_schema, sqlite
from accountant.storage.access import READS, Access, checked_url
from accountant.storage.sql_schema import ENTRIES
from accountant.storage.writers import NEWER, PostgresqlWriter, Row, SqliteWriter, Writer

PATIENCE: Final = 60.0
"""Seconds to wait for a turn that another process holds."""

BATCH: Final = 10_000
"""Most entries per query: a reader never holds up a writer for long."""

FIRST_BATCH: Final = 100
"""Entries of the first query; each further one asks for ten times as many. Often only a few are wanted."""

NO_END: Final = 2**63 - 1
"""No entry has this number, or a larger one."""

_CHECKPOINT = (
    sa.select(ENTRIES)
    .where(sa.literal_column("kind = 'checkpoint'"), ENTRIES.c.number <= sa.bindparam("latest"))
    .order_by(ENTRIES.c.number.desc())
    .limit(1)
)
_BACKWARDS = (
    sa.select(ENTRIES.c.number, ENTRIES.c.digest)
    .where(ENTRIES.c.number < sa.bindparam("end"))
    .order_by(ENTRIES.c.number.desc())
    .limit(sa.bindparam("most"))
)
_NEWEST = sa.select(ENTRIES.c.number, ENTRIES.c.digest).order_by(ENTRIES.c.number.desc()).limit(1)
# The same lock as a turn's, which goes by the table; where there is none yet, one that goes by the schema.
_LOCK = sa.text(
    "SELECT pg_advisory_xact_lock(hashtext('exchequer'), "
    "coalesce(to_regclass('exchequer_entries')::oid::int, hashtext(current_schema())))"
)


class SqlStore:
    """The entries of one ledger in a database.

    url: "sqlite:///study.db" or "postgresql+psycopg://user@host/database"; one ledger to a database, or to a schema
      of it: "...?options=-csearch_path%3Dstudy".
    access: "create" makes what is missing, "write" wants a ledger to be there, "read" can do nothing but read;
      "read-only" does not even put back what a writer that crashed left half-written in a file.
    Raises ValueError for a URL that is neither, LedgerMismatch where there is no ledger or a newer one, and
    LedgerUnavailable where the database does not answer.
    """

    shared = True

    def __init__(self, url: str, access: Access = "write") -> None:
        self.url = checked_url(url)
        engine = sqlite.engine if self._embedded else postgresql.engine
        self._engine = engine(self.url, access, PATIENCE)
        self._process = os.getpid()
        self._writer: Writer = (
            SqliteWriter(self._engine, PATIENCE) if self._embedded else PostgresqlWriter(self._engine)
        )
        self._last, self._pending = (-1, GENESIS), (-1, GENESIS)
        try:
            with self._own_errors("open"):
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
        return self._writer.in_turn

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
        if found < len(sql_schema.MIGRATIONS) and access not in READS:
            self._turn(sql_schema.migrate)

    def _turn(self, work: sql_schema.Migration) -> None:
        """Work that is done while nobody else writes, whether the tables are there yet or not."""
        with self._engine.connect() as connection, connection.begin():
            if self._embedded:
                sqlite.begin_immediate(sqlite.driver(connection), PATIENCE)
            else:
                connection.execute(_LOCK)
            work(connection)

    # --- writing ------------------------------------------------------------------------------------------

    def begin(self, known: int) -> Iterator[Entry]:
        self._same_process()
        with self._own_errors("lock"):
            first = self._writer.begin(max(known - 1, 0), BATCH)
        return self._linked(known, _rest(first, BATCH, self._in_turn))

    def _in_turn(self, start: int, most: int) -> Sequence[Row]:
        with self._own_errors("read"):
            return self._writer.read(start, most)

    def append_next(self, number: int, kind: Kind, line: str) -> bool:
        self._same_process()
        last, before = self._last
        if self._embedded or number != last + 1:
            return False
        digest = digest_of(before, line)
        with self._own_errors("write to"):
            added = self._writer.append_next((number, kind, line, digest), before)
        if added:
            self._last = (number, digest)
        return added

    def append(self, kind: Kind, line: str) -> None:
        number, before = self._last
        self._pending = (number + 1, digest_of(before, line))
        with self._own_errors("write to"):
            self._writer.append((number + 1, kind, line, self._pending[1]))

    def commit(self) -> None:
        with self._own_errors("write to"):
            self._writer.commit()
        self._last = self._pending

    def abort(self) -> None:
        self._writer.abort()

    # --- reading ------------------------------------------------------------------------------------------

    def newer(self, known: int) -> Iterator[Entry]:
        with self._reading() as connection:
            batch = partial(self._batch, connection)
            first = batch(max(known - 1, 0), FIRST_BATCH)
            yield from self._linked(known, _rest(first, FIRST_BATCH, batch))

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
                    f"the ledger does not hold together: entry {number} is missing, or its digest does not match its "
                    "content and the entry before it; `exchequer ledger verify` lists everything that is wrong"
                )
            before = entry.digest
            yield entry
        if (before == GENESIS and known) or number < last:
            raise LedgerBroken(
                f"entry {max(last, known - 1)} is gone: the ledger was cut off behind this ledger's back"
            )
        self._last = (number, before)

    def read(self, start: int = 0) -> Iterator[Entry]:
        with self._reading() as connection:
            batch = partial(self._batch, connection)
            yield from _rest(batch(start, FIRST_BATCH), FIRST_BATCH, batch)

    def _batch(self, connection: sa.Connection, start: int, most: int) -> Sequence[Row]:
        place = {"start": start, "most": most}
        with self._own_errors("read"):
            try:
                return cast("Sequence[Row]", connection.execute(NEWER, place).all())
            except OperationalError as error:
                if "decode" not in str(error.orig):
                    raise
            # Not even text: it is read all the same, so that the one who verifies can say which entry it is.
            sqlite.read_any_bytes(connection)  # PostgreSQL keeps such bytes out
            return cast("Sequence[Row]", connection.execute(NEWER, place).all())

    def checkpoint(self, latest: int | None = None) -> Entry | None:
        with self._reading() as connection:
            row = connection.execute(_CHECKPOINT, {"latest": NO_END if latest is None else latest}).first()
        return None if row is None else Entry(*cast("Row", tuple(row)))

    def find(self, digest: str) -> int | None:
        """The number of the newest entry with this digest, looked for from the newest one backwards; or None."""
        end, most = NO_END, FIRST_BATCH
        with self._reading() as connection:
            while rows := connection.execute(_BACKWARDS, {"end": end, "most": most}).all():
                for number, found in rows:
                    if found == digest:
                        return int(number)
                end, most = rows[-1][0], min(10 * most, BATCH)
        return None

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
        self._writer.close()
        self._engine.dispose()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        self._same_process()
        with self._own_errors("read"), self._engine.connect() as connection:
            yield connection

    def _same_process(self) -> None:
        """Connections do not survive a fork: parent and child would talk on one line."""
        if os.getpid() != self._process:
            raise LedgerCopyRefused("a fork copied this ledger into another process: open it again by its URL")

    @contextmanager
    def _own_errors(self, what: str) -> Iterator[None]:
        """Say in one sentence what the database refused."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = str(error.orig if isinstance(error, DBAPIError) else error)
            if "not a database" in reason or "malformed" in reason:
                raise LedgerBroken(
                    f"{self.name} is no SQLite database, or a damaged one: {reason}; where it was copied, its -journal "
                    "may have been left behind: copy it again, as LEDGER.md says"
                ) from error
            raise LedgerUnavailable(
                f"could not {what} the ledger at {self.name}: {' '.join(reason.split())}"
            ) from error


def _rest(rows: Sequence[Row], most: int, batch: Callable[[int, int], Sequence[Row]]) -> Iterator[Entry]:
    """The first rows, of which at most so many were asked for, and those after them, batch by batch."""
    while rows:
        yield from (Entry(*row) for row in rows)
        whole, most = len(rows) == most, min(10 * most, BATCH)
        rows = batch(rows[-1][0] + 1, most) if whole else ()
