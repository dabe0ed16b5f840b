"""The database that is followed: opened so that nothing can be written to it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from accountant import Entry
from accountant.entries import visible
from accountant.storage import SqlStore
from exchequer.commands.ledgers.open_ledger import SQLITE, url_of, without_passwords


class Source:
    """One ledger in SQLite or PostgreSQL.

    name: for people who may not know where it is: the name of the file or of the database, without folder or host.
    Raises ValueError for what is no such ledger, LedgerMismatch where there is none, and LedgerUnavailable.
    """

    def __init__(self, location: str) -> None:
        self._location = location
        _refuse_exports(location)
        with without_passwords(location):
            self._url: Final = url_of(location)
            url = sa.make_url(self._url)
            database = str(url.database or "")
            self._file = Path(database) if url.get_backend_name() == "sqlite" else None
            self.name = visible(database if self._file is None else self._file.name)
            self._turn = threading.Lock()
            self._store, self._stale = SqlStore(self._url, "read-only"), False

    def store(self) -> SqlStore:
        """Where the entries are now. Raises FileNotFoundError, and as opening it does."""
        with self._turn, without_passwords(self._location):
            if self._stale:
                if self._file is not None and not self._file.exists():  # it may come back, as from a move
                    raise FileNotFoundError(f"there is no file {self.name}")
                fresh = SqlStore(self._url, "read-only")
                self._store.close()
                self._store, self._stale = fresh, False
            return self._store

    def open_again(self) -> None:
        """Look at the next call of `store` whether there is a ledger still."""
        self._stale = True

    def read(self, start: int) -> Iterator[Entry]:
        """The entries from number `start` on, as they stand there."""
        with without_passwords(self._location):
            yield from self.store().read(start)

    def __len__(self) -> int:
        with without_passwords(self._location):
            return len(self.store())

    def close(self) -> None:
        """Let go of connections."""
        with self._turn:
            self._store.close()


def _refuse_exports(location: str) -> None:
    path = Path(location)
    if "://" in location or not path.is_file():
        return  # `url_of` says what is wrong with it
    with path.open("rb") as file:
        if file.read(len(SQLITE)) != SQLITE:
            raise ValueError(
                f"{path} is no ledger in SQLite; an export never changes: `exchequer ledger report` makes its page"
            )
