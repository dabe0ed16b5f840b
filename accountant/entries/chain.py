"""Entries of the ledger, a hash chain over canonical JSON, and where they live.

An entry's digest is SHA-256 over the digest before it and its line, which is canonical JSON. So a changed, lost,
swapped or repeated entry breaks the chain, and a cut-off end shows against a `head` that an auditor kept elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Final, Literal, Protocol

import attrs

GENESIS: Final = "0" * 64

Kind = Literal[
    "opened",
    "charged",
    "released",
    "returned",
    "allocated",
    "announced",
    "closed",
    "checkpoint",
    "upgraded",
    "produced",
    "key",
    "signed",
]


@attrs.frozen
class Entry:
    """One line of the ledger: its number, its kind, its canonical JSON and its digest."""

    number: int
    kind: Kind
    line: str
    digest: str

    @property
    def record(self) -> dict[str, object]:
        """The line, read."""
        parsed: dict[str, object] = json.loads(self.line)
        return parsed


def digest_of(before: str, line: str) -> str:
    """SHA-256 of one canonical line and the digest before it, in hexadecimal."""
    return hashlib.sha256(f"{before}{line}".encode("ascii")).hexdigest()


def follows(before: str, line: str, digest: str) -> bool:
    """Whether a digest is that of a line and of the digest before it."""
    try:
        return digest_of(before, line) == digest and isinstance(line, str)
    except UnicodeEncodeError:  # canonical JSON is ASCII
        return False


class EntryStore(Protocol):
    """Where entries live: append-only, one writer at a time.

    A turn is `begin`, then at most one `append` with its `commit`, then `abort`, which undoes what was not committed.
    Between `begin` and `abort` nobody else appends, in no thread, process or host that shares the entries. `commit`
    returns only when the entry is as durable as the store is; what happens to an entry whose `commit` raised, the
    next `begin` tells.
    """

    shared: bool
    """Whether other processes may append to it."""

    @property
    def quick(self) -> bool:
        """Whether `append_next` is worth a try before a turn."""

    @property
    def in_turn(self) -> bool:
        """Whether a turn has begun and not ended."""

    def append_next(self, number: int, kind: Kind, line: str) -> bool:
        """Add entry `number` without a turn, durably, if it is the next and the one before is as it was seen here.

        False: nothing was added, and a turn will tell why.
        """

    def begin(self, known: int) -> Iterable[Entry]:
        """Wait for the turn; then as `newer`, to be read to the end before anything is appended."""

    def append(self, kind: Kind, line: str) -> None:
        """Add the next entry; its digest follows from the line and the digest before."""

    def commit(self) -> None:
        """End the turn and keep the entry."""

    def abort(self) -> None:
        """End the turn if it has not ended; what was not committed is gone."""

    def newer(self, known: int) -> Iterable[Entry]:
        """The entries from number `known` on. Raises LedgerBroken where they do not continue what was read before."""

    def read(self, start: int = 0) -> Iterator[Entry]:
        """The entries from number `start` on, oldest first, as they stand there, sound or not."""

    def checkpoint(self, latest: int | None = None) -> Entry | None:
        """The newest checkpoint; of those up to entry `latest`, where that is given."""

    def __len__(self) -> int:
        """The number of entries."""

    @property
    def head(self) -> str:
        """The digest of the newest entry, or GENESIS."""

    def close(self) -> None:
        """Let go of connections."""


class MemoryStore:
    """Entries in this process's memory: gone when it ends.

    Digests are computed when somebody asks for them: in memory an early digest protects nothing, and a
    charge stays cheap.
    """

    shared, quick = False, True

    def __init__(self) -> None:
        self.in_turn = False
        # Plain tuples and strings, which the garbage collector stops tracking: appending stays flat.
        self._rows: list[tuple[Kind, str]] = []
        self._digests: list[str] = []

    def begin(self, known: int) -> Iterable[Entry]:
        self.in_turn = True
        return self.newer(known)

    def newer(self, known: int) -> Iterable[Entry]:
        return () if len(self._rows) == known else tuple(self.read(known))

    def append(self, kind: Kind, line: str) -> None:
        self._rows.append((kind, line))

    def commit(self) -> None:
        """An entry is in memory as soon as it is appended."""

    def abort(self) -> None:
        """What was appended stays: there is nothing to undo."""
        self.in_turn = False

    def append_next(self, number: int, kind: Kind, line: str) -> bool:
        """Nobody else appends, so this is a check against the caller."""
        if number != len(self._rows):
            return False
        self.append(kind, line)
        return True

    def _hash_the_rest(self) -> list[str]:
        done = len(self._digests)
        before, new = self._digests[-1] if done else GENESIS, []
        for _, line in self._rows[done:]:
            before = digest_of(before, line)
            new.append(before)
        # In one step, at their own places: readers do not wait for a turn, and two of them find the same digests.
        self._digests[done : done + len(new)] = new
        return self._digests

    def read(self, start: int = 0) -> Iterator[Entry]:
        digests = self._hash_the_rest()
        for number in range(start, len(digests)):
            kind, line = self._rows[number]
            yield Entry(number, kind, line, digests[number])

    def checkpoint(self, latest: int | None = None) -> Entry | None:
        return None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def head(self) -> str:
        return self._hash_the_rest()[-1] if self._rows else GENESIS

    def close(self) -> None:
        """Memory holds no connection."""
