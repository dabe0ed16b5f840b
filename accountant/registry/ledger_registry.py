"""The registry itself: an append-only, chained table in SQLite or PostgreSQL, as a ledger's entries are.

It is not created as a side effect: a registry that was asked for and is not there would hide the ledgers in the one
that was meant. So `Registry.create` makes it, and `Registry.open` wants it to be there.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Self, cast

import attrs

from accountant.canonical_json import canonical
from accountant.entries import Entry, Kind
from accountant.exceptions import LedgerBroken, LedgerMismatch, LedgerUnavailable
from accountant.registry.registration import Registration
from accountant.storage import Access, SqlStore

REGISTRY: Final = "EXCHEQUER_REGISTRY"
"""The environment variable that names a registry for every ledger that is opened."""

_FIRST: Final = cast("Kind", "registry")  # kinds of a table of ours, that no ledger has
_NEXT: Final = cast("Kind", "registered")


MOST_HEADS: Final = 20
"""Of one ledger that are looked up: each of them vouches for all entries before it."""


class KnownHead(NamedTuple):
    """A ledger had so many entries, the newest with the digest `head`, at this place."""

    entries: int
    head: str
    location: str


def is_registry(store: SqlStore) -> bool:
    """Whether what is stored begins as a registry, and not as a ledger. Raises LedgerUnavailable."""
    try:
        first = next(iter(store.read(0)), None)
    except LedgerBroken:
        return False  # what is damaged is for `verify` to tell
    return first is not None and first.kind == _FIRST


class Registry:
    """Which ledgers exist over which data set. Use it as a context manager, or close it.

    name: its URL without a password.
    """

    def __init__(self, store: SqlStore) -> None:
        self._store, self._known, self._lock = store, 0, threading.Lock()
        self._found: dict[tuple[str, str], Registration] = {}
        self._heads: dict[str, dict[KnownHead, None]] = {}
        self.name = store.name

    @classmethod
    def create(cls, url: str) -> Self:
        """A new registry, or the one that is there.

        url: as of a ledger, in a database, or a schema of PostgreSQL, of its own.
        Raises ValueError, LedgerMismatch where there is a ledger, LedgerUnavailable.
        """
        return cls._at(url, "create")

    @classmethod
    def open(cls, url: str, access: Access = "write") -> Self:
        """The registry that is there. access: "read" to do nothing but read.

        Raises ValueError, LedgerMismatch where there is none, LedgerBroken, LedgerUnavailable.
        """
        return cls._at(url, access)

    @classmethod
    def _at(cls, url: str, access: Access) -> Self:
        with _named():
            try:
                store = SqlStore(url, access)
            except LedgerMismatch as error:
                if access == "create" or "there is no ledger" not in str(error):
                    raise
                raise LedgerMismatch(f"{error}: `exchequer ledger registry URL --create` makes a registry") from None
        registry = cls(store)
        try:
            if access == "create":
                registry._begin()
            registry.refresh()
            if not registry._known:
                raise LedgerMismatch(f"there is no registry at {registry.name}: make it with --create")
        except BaseException:
            store.close()
            raise
        return registry

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- reading ------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what others entered. Raises LedgerBroken where the registry was changed, LedgerUnavailable."""
        with self._lock, _named():
            self._take_in(self._store.newer(self._known))

    def ledgers(self, dataset: str | None = None) -> tuple[Registration, ...]:
        """The ledgers over a data set, or over any, as they were last entered; first come, first listed."""
        found = tuple(self._found.values())
        return found if dataset is None else tuple(each for each in found if each.dataset == dataset)

    def heads(self, ledger: str) -> tuple[KnownHead, ...]:
        """What was entered of the ledger with this id, the newest last. All of it is still there in a ledger that was
        neither rolled back, nor went on in two places as a copy of itself."""
        return tuple(self._heads.get(ledger, ()))[-MOST_HEADS:]

    def places(self, ledger: str) -> tuple[str, ...]:
        """Where the ledger with this id ever was, the newest last."""
        return tuple(dict.fromkeys(each.location for each in self._heads.get(ledger, ())))

    def _take_in(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.number == 0:
                if entry.kind != _FIRST:
                    raise LedgerMismatch(f"there is no registry at {self.name}, but a ledger: give another URL")
            else:
                self._take(entry)
            self._known = entry.number + 1

    def _take(self, entry: Entry) -> None:
        try:
            new = Registration.from_line(entry.line)
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerBroken(f"line {entry.number} of {self.name} cannot be read: {error}") from error
        old = self._found.get((new.ledger, new.dataset))
        self._found[new.ledger, new.dataset] = attrs.evolve(new, first=new.time if old is None else old.first)
        heads, head = self._heads.setdefault(new.ledger, {}), KnownHead(new.entries, new.head, new.location)
        heads.pop(head, None)  # the newest last
        heads[head] = None

    # --- writing ------------------------------------------------------------------------------------------

    def enter(self, new: Registration) -> None:
        """Enter a ledger for a data set, unless it is there with this head and at this place."""
        with self._turn():
            old = self._found.get((new.ledger, new.dataset))
            if old is None or (old.head, old.location) != (new.head, new.location):
                line = new.line(self._known)
                Registration.from_line(line)  # what could not be read back would close the registry to everybody
                self._append(_NEXT, line)

    def _begin(self) -> None:
        with self._turn():
            if not self._known:
                first = {"id": os.urandom(16).hex(), "kind": "registry", "number": 0, "registry": 1}
                self._append(_FIRST, canonical({**first, "time": time.time_ns()}))

    def _append(self, kind: Kind, line: str) -> None:
        self._store.append(kind, line)
        self._store.commit()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """All that is in the store is known, and nobody else may append; what is appended is known afterwards."""
        with self._lock, _named():
            try:
                self._take_in(self._store.begin(self._known))
                yield
            finally:
                self._store.abort()
            self._take_in(self._store.newer(self._known))


@contextmanager
def _named() -> Iterator[None]:
    """Say of what is wrong that it is so with the registry."""
    try:
        yield
    except (LedgerUnavailable, LedgerBroken, LedgerMismatch) as error:
        if str(error).startswith("registry"):
            raise
        raise type(error)(f"registry of ledgers, which is a database like a ledger's: {error}") from error
