"""What a store asks of SQLite: its engine, its write lock, and texts that are none.

Transactions are ours alone (isolation_level=None), and so are locks: one thread at a time uses a connection.
"""

import os
import random
import sqlite3
import time
import urllib.parse
from pathlib import Path

import sqlalchemy as sa

from accountant.exceptions import LedgerMismatch, LedgerUnavailable
from accountant.storage.access import READS, Access


def engine(url: sa.URL, access: Access, patience: float) -> sa.Engine:
    """The engine of a file. patience: seconds to wait for a lock.

    Raises ValueError where there is no folder for it, and LedgerMismatch where there must be a file and is none.
    """
    path = Path(str(url.database))
    if access == "create" and not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} for a ledger to be in")
    if access != "create" and not path.exists():
        raise LedgerMismatch(f"there is no ledger at {url}: the file does not exist")
    # What a crash left half-written is put back by whoever opens the file next; a reader that may, does so too.
    read = "rw" if os.access(path, os.W_OK) else "ro"
    mode = {"create": "rwc", "write": "rw", "read": read, "read-only": "ro"}[access]
    target = f"file:{urllib.parse.quote(str(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False, timeout=patience)
        if access in READS:
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute("PRAGMA journal_mode=TRUNCATE")
            connection.execute("PRAGMA synchronous=FULL")
        return connection

    # Who only watches opens the file each time: a connection would go on with its own copy of pages, or with a file
    # that was replaced.
    pool = sa.NullPool if access == "read-only" else sa.QueuePool
    return sa.create_engine("sqlite://", creator=connect, poolclass=pool)


def begin_immediate(raw: sqlite3.Connection, patience: float) -> None:
    """Take SQLite's write lock. Its own waiting backs off to 100 ms, which starves one of many with short turns.

    patience: seconds to wait for it.  Raises LedgerUnavailable.
    """
    deadline = time.monotonic() + patience
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
        raw.execute(f"PRAGMA busy_timeout = {patience * 1000:.0f}")


def read_any_bytes(connection: sa.Connection) -> None:
    """From now on, read what is not even text, too."""
    driver(connection).text_factory = _any_bytes


def _any_bytes(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def driver(connection: sa.Connection) -> sqlite3.Connection:
    """What sqlite3 itself gave."""
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw
