"""A part of a ledger as JSON Lines: entries `first` to `first + entries - 1`, of a window of time.

ASCII, one JSON object per line, each line ended by a line feed; keys sorted, no spaces. The first line is

    {"before":"<64 hex>","entries":8,"exchequer":"ledger-part","first":9,"head":"<64 hex>","id":"<32 hex>",
     "of":36,"opened":"<line of entry 0>","schema":1,"state":{...},"time":...}

in one line: `before` is the digest of entry `first - 1`, from which the chain of the part goes on; `head` the digest of
its last entry; `of` how many entries the ledger had; `opened` the line of entry 0, with the promise; `state` and `time`
what the entries before the part add up to, as a checkpoint writes it. Each further line is one entry, as in an export.

The digests of the part are computed from `before` on, and each sum from `state` on. That `before` and `state` are right
is the word of whoever exported: an auditor who kept the head of the part before, or has that part, compares it with
`before`. A part that begins with the first entry is a whole export of the ledger as it was then, and is written as one.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol

import attrs

from accountant.audit import Reading
from accountant.audit.outlook import IN, Window, time_of
from accountant.canonical_json import canonical
from accountant.entries import GENESIS, LONGEST, Checkpoint, Entry, Opened, Start, decode, write_export

KIND: Final = "ledger-part"
"""What the first line says under `exchequer`."""

SCHEMA: Final = 1

_HEADER: Final = frozenset(
    {"before", "entries", "exchequer", "first", "head", "id", "of", "opened", "schema", "state", "time"}
)
_BEGINS: Final = '{"before":'
"""Keys are sorted."""

_ENTRY: Final = frozenset({"digest", "kind", "line", "number"})


class Entries(Protocol):
    """A ledger that can be read from any entry on."""

    def __len__(self) -> int:
        """How many entries there are."""

    def since(self, start: int) -> Iterator[Entry]:
        """The entries from number `start` on."""


@attrs.frozen
class PartHeader:
    """The first line. first: the number of the first entry.  entries: how many follow.  of: of how many in all.

    before: the digest of the entry before it.  head: of the last one.  opened: the line of entry 0.
    state, time: what the entries before it add up to, and when the newest of them was written; the exporter's word.
    """

    first: int
    entries: int
    of: int
    before: str
    head: str
    id: str
    opened: str
    state: Mapping[str, object] = attrs.field(hash=False)
    time: int

    @property
    def start(self) -> Start:
        """Where a reader starts. Raises ValueError where the promise cannot be read."""
        opened = decode(Entry(0, "opened", self.opened, GENESIS))
        if not isinstance(opened, Opened):
            raise ValueError("line 1: opened: it is no first entry of a ledger")
        return Start(opened, self.first - 1, Checkpoint(self.time, self.state))

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**attrs.asdict(self, recurse=False), "exchequer": KIND, "schema": SCHEMA}


# --- writing ---------------------------------------------------------------------------------------------------


def write_part(entries: Entries, window: Window, out: IO[str]) -> PartHeader | None:
    """Write the entries of a window; None where that is a whole export, as nothing stands before it.

    Raises ValueError where no entry lies in the window, LedgerBroken where the entries before it do not hold: a part
    says what they add up to. Whether the part itself is sound is for `verify_part` to say.
    """
    first, end, head = _found(entries, window)
    if not first:
        write_export(itertools.islice(entries.since(0), end), out)
        return None
    before = Reading()
    before.take(itertools.islice(entries.since(0), first))
    state = before.state
    opening, opened = next(entries.since(0)), state.opened
    assert opened is not None  # or it would not have been read
    record, time = state.as_dict(), state.time
    header = PartHeader(first, end - first, len(entries), before.head, head, opened.id, opening.line, record, time)
    out.write(canonical(header.as_dict()) + "\n")
    for entry in itertools.islice(entries.since(first), end - first):
        out.write(canonical(_exported(entry)) + "\n")
    return header


def _found(entries: Entries, window: Window) -> tuple[int, int, str]:
    """The number of the first entry in the window, that of the first after it, and the digest of the last in it."""
    first, end, head = None, 0, GENESIS
    for number, entry in enumerate(entries.since(0)):
        place = window.place(time_of(entry))
        if place > IN:
            break
        if place == IN:
            first = number if first is None else first
            end, head = number + 1, entry.digest
    if first is None:
        raise ValueError("no entry was written in that time, so there is nothing to export")
    return first, end, head


def _exported(entry: Entry) -> dict[str, object]:
    return {"digest": entry.digest, "kind": entry.kind, "line": entry.line, "number": entry.number}


# --- reading ---------------------------------------------------------------------------------------------------


def is_part(path: str | Path) -> bool:
    """Whether a file begins as a part of a ledger does. Raises OSError."""
    with Path(path).open(encoding="ascii", errors="replace") as file:
        if file.read(len(_BEGINS)) != _BEGINS:
            return False
        line = _BEGINS + file.readline(LONGEST)
    try:
        return isinstance(header := json.loads(line), dict) and header.get("exchequer") == KIND
    except (ValueError, RecursionError):
        return False


@contextmanager
def open_part(path: str | Path) -> Iterator[tuple[PartHeader, Iterator[Entry]]]:
    """The first line and the entries, for as long as the block lasts.

    Raises ValueError naming the file, the line and what is wrong with it, of entries when their turn comes; OSError.
    """
    with Path(path).open(encoding="ascii", errors="surrogateescape", newline="\n") as file:
        lines = iter(lambda: file.readline(LONGEST), "")
        header = _header(_parsed(path, next(lines, ""), 1, _HEADER), path)
        yield header, _entries(path, header, lines)


def _entries(path: str | Path, header: PartHeader, lines: Iterable[str]) -> Iterator[Entry]:
    number, head = 0, header.before
    for number, line in enumerate(lines, 1):
        if number > header.entries:
            raise _wrong(path, number + 1, f"more follows after the {header.entries} entries that line 1 promises")
        record = _parsed(path, line, number + 1, _ENTRY)
        digest, kind, said, at = record["digest"], record["kind"], record["line"], record["number"]
        if not (isinstance(digest, str) and isinstance(kind, str) and isinstance(said, str) and type(at) is int):
            raise _wrong(path, number + 1, "digest, kind and line are texts, number a whole number")
        head = digest
        yield Entry(at, kind, said, digest)  # type: ignore[arg-type]  # an unknown kind is for the auditor to find
    if number < header.entries:
        raise _wrong(path, number + 2, f"the part is cut off here: it holds {number} of {header.entries} entries")
    if head != header.head:
        raise _wrong(path, 1, f"its head is not that of the entries, which is {head!r}")


def _header(record: Mapping[str, object], path: str | Path) -> PartHeader:
    counts = {name: record[name] for name in ("first", "entries", "of", "time")}
    texts = {name: record[name] for name in ("before", "head", "id", "opened")}
    state = record["state"]
    if record["exchequer"] != KIND or record["schema"] != SCHEMA or not isinstance(state, dict):
        raise _wrong(path, 1, f"expected a part of a ledger of schema {SCHEMA}; a newer exchequer may know others")
    if not all(type(number) is int and number >= 0 for number in counts.values()) or not counts["first"]:
        raise _wrong(path, 1, "first, entries, of and time are whole numbers, first at least 1")
    if not all(isinstance(text, str) for text in texts.values()):
        raise _wrong(path, 1, "before, head, id and opened are texts")
    return PartHeader(state=state, **counts, **texts)  # type: ignore[arg-type]  # as was just checked


def _parsed(path: str | Path, line: str, place: int, names: frozenset[str]) -> Mapping[str, object]:
    """An object with exactly these parts, exactly as it was written: so nothing can be said twice, or hidden."""
    try:
        record = json.loads(line) if line.isascii() else None
        if isinstance(record, dict) and record.keys() == names and canonical(record) == line.removesuffix("\n"):
            return record
    except (ValueError, TypeError, RecursionError):
        pass
    raise _wrong(path, place, f"expected an object with {', '.join(sorted(names))}, as it was exported")


def _wrong(path: str | Path, place: int, what: str) -> ValueError:
    return ValueError(f"{path}: line {place}: {what}"[:300])
