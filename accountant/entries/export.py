"""The ledger as JSON Lines: for an archive, and for whoever verifies it without this library.

Schema 1. ASCII, one JSON object per line, each line ended by a line feed; keys sorted, no spaces. The first line is

    {"entries":3,"exchequer":"ledger","head":"<64 hex>","id":"<32 hex>","schema":1}

with the number of entries, the digest of the last one (64 zeros where there is none) and the id of the ledger ("" where
its first entry cannot be read). Each further line is one entry, oldest first:

    {"digest":"<64 hex>","kind":"charged","line":"{\\"account\\":\\"main\\",...}","number":1}

`line` is a text: the canonical JSON of the entry, byte for byte as it was hashed. It is not parsed into the export,
because no two languages print a number alike. To verify the chain with SHA-256 and a JSON parser alone:

 1. Parse the first line. Let `before` be 64 times the character "0".
 2. For each further line: parse it, and compute SHA-256 over the ASCII bytes of `before` followed by those of its
    `line`, in lower-case hexadecimal. It must equal its `digest`, which is the next `before`.
 3. Count the entries and compare with `entries`; compare the last `digest` with `head`, and `head` with the digest
    that was kept elsewhere. The entries' numbers are 0, 1, 2 and so on; parsed, each `line` has the same `number` and
    `kind`, and that of entry 0 has the `id`.

What the lines say, and what they must add up to, is in `accountant.entries.entry_kinds` and `accountant.entries.state`.
An export can be read again for verification only: no ledger can be opened on it, as two copies of one budget would both
be spent.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

import attrs

from accountant.canonical_json import canonical
from accountant.entries.atomic_files import whole_file
from accountant.entries.chain import GENESIS, Entry, Kind

SCHEMA: Final = 1
"""The version of the export's schema."""

LONGEST: Final = 1 << 26
"""Characters in a line of a file; no entry comes near, and a longer line is not read into memory."""

IN_MEMORY: Final = 1 << 24
"""Characters that are kept in memory until the number of entries is known; more go to a temporary file."""

OPENING: Final = frozenset({"entries", "exchequer", "head", "id", "schema"})
ENTRY: Final = frozenset({"digest", "kind", "line", "number"})


@attrs.frozen
class Header:
    """The first line. entries: how many follow.  head: the digest of the last.  id: of the ledger."""

    entries: int
    head: str
    id: str


# --- writing ---------------------------------------------------------------------------------------------------


def write_export(entries: Iterable[Entry], out: IO[str]) -> Header:
    """Write the ledger, sound or not, as it is; return what the first line says.

    entries: read once, one after another. As their number and their head stand first, they wait in a temporary file.
    """
    number, head, name = 0, GENESIS, ""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as waiting:
        for entry in entries:
            name = _id_of(entry) if not number else name
            number, head = number + 1, entry.digest
            waiting.write(_exported(entry))
        waiting.seek(0)
        header = {"entries": number, "exchequer": "ledger", "head": head, "id": name, "schema": SCHEMA}
        out.write(canonical(header) + "\n")
        while chunk := waiting.read(1 << 16):
            out.write(chunk.decode("ascii"))
    return Header(number, head, name)


def _exported(entry: Entry) -> bytes:
    record: dict[str, object] = {
        "digest": entry.digest,
        "kind": entry.kind,
        "line": entry.line,
        "number": entry.number,
    }
    return (canonical(record) + "\n").encode("ascii")


def save_export(entries: Iterable[Entry], path: str | Path) -> Header:
    """`write_export` to a file, which is there whole or not at all."""
    with whole_file(path) as out:
        return write_export(entries, out)


def _id_of(first: Entry) -> str:
    try:
        name = json.loads(first.line)["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


# --- reading, for verification only ----------------------------------------------------------------------------


def read_header(line: str) -> Header:
    """The first line of an export. Raises ValueError saying what is wrong with it."""
    record = _parsed(line, 1)
    if record.get("exchequer") != "ledger":
        raise _wrong(1, 'not an export of a ledger: it does not say "exchequer":"ledger"')
    schema = record.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < SCHEMA:
        raise _wrong(1, f"schema: expected {SCHEMA}, got {schema!r}")
    if schema > SCHEMA:
        raise _wrong(1, f"an export of schema {schema}; this version reads {SCHEMA}: use a newer exchequer")
    _expect(record, OPENING, line, 1)
    return Header(_count(record, "entries", 1), _text(record, "head", 1), _text(record, "id", 1))


def read_export(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of an export, for `accountant.audit.verification.verify` and other readers; never for a ledger to go
    on from.

    lines: with or without their line feeds. Whether the entries are sound is the auditor's question; here they are
    whole: every one that the first line promises, written exactly as this module writes.
    Raises ValueError naming the line and what is wrong with it: of the first line at once, of others when their turn
    comes.
    """
    rest = iter(lines)
    return _entries(read_header(next(rest, "")), rest)


@contextmanager
def open_export(path: str | Path) -> Iterator[tuple[Header, Iterator[Entry]]]:
    """The first line of a file and its entries, as `read_export` reads them, for as long as the block lasts.

    Raises ValueError naming the file and the line, or OSError.
    """
    with Path(path).open(encoding="ascii", errors="surrogateescape", newline="\n") as file:
        lines = iter(lambda: file.readline(LONGEST), "")
        with _naming(path):
            header = read_header(next(lines, ""))
        yield header, _named_entries(path, header, lines)


def _named_entries(path: str | Path, header: Header, lines: Iterator[str]) -> Iterator[Entry]:
    with _naming(path):
        yield from _entries(header, lines)


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _entries(header: Header, lines: Iterator[str]) -> Iterator[Entry]:
    number, head = 0, GENESIS
    for number, line in enumerate(lines, 1):
        if number > header.entries:
            raise _wrong(number + 1, f"more follows after the {header.entries} entries that line 1 promises")
        entry = _entry(line, number + 1)
        if number == 1 and _id_of(entry) != header.id:
            raise _wrong(2, f"this ledger has another id than line 1 says, {header.id!r}")
        head = entry.digest
        yield entry
    if number < header.entries:
        raise _wrong(number + 2, f"the export is cut off here: it holds {number} of {header.entries} entries")
    if head != header.head or (not number and header.id):
        raise _wrong(1, f"its head and id are not those of the entries, whose head is {head!r}")


def _entry(line: str, place: int) -> Entry:
    record = _parsed(line, place)
    _expect(record, ENTRY, line, place)
    number = _count(record, "number", place)
    kind = cast("Kind", _text(record, "kind", place))  # an unknown one is for the auditor to find
    return Entry(number, kind, _text(record, "line", place), _text(record, "digest", place))


def _wrong(place: int, what: str) -> ValueError:
    return ValueError(f"line {place}: {what}"[:300])


def _parsed(line: str, place: int) -> Mapping[str, object]:
    if not line.isascii():
        raise _wrong(place, "not ASCII, so this is no export, or not a text file at all")
    if len(line) >= LONGEST:
        raise _wrong(place, f"longer than {LONGEST} characters")
    try:
        record = json.loads(line)
    except RecursionError:
        raise _wrong(place, "nested too deeply") from None
    except ValueError as error:
        raise _wrong(place, f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise _wrong(place, f"expected an object, got a {type(record).__name__}")
    return record


def _expect(record: Mapping[str, object], names: frozenset[str], line: str, place: int) -> None:
    """Exactly these parts, exactly as they were written: so nothing can be said twice, or hidden in between."""
    if record.keys() != names:
        strange, missing = sorted(record.keys() - names), sorted(names - record.keys())
        raise _wrong(place, f"missing {missing}, unknown {strange}")
    try:
        written = canonical(dict(record))
    except (ValueError, RecursionError):
        written = ""
    if written != line.removesuffix("\n"):
        raise _wrong(place, "not as it was exported: spaces, order, repeated parts or escapes differ")


def _text(record: Mapping[str, object], name: str, place: int) -> str:
    if not isinstance(value := record[name], str):
        raise _wrong(place, f"{name}: expected a text, got a {type(value).__name__}")
    return value


def _count(record: Mapping[str, object], name: str, place: int) -> int:
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(place, f"{name}: expected a whole number of at least 0, got {value!r}")
    return value
