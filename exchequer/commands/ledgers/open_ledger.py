"""Where entries come from: a ledger in a database, by its URL or its file, or an export of one.

Reading writes nothing. A URL may hold a password: what is printed of it, and of any error, is without.
"""

import itertools
import json
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, overload

import attrs
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from accountant import About, Ledger, LedgerBroken, LedgerMismatch, LedgerUnavailable
from accountant.audit import Accumulator, Reading
from accountant.audit.breakdowns import SAID
from accountant.audit.parts import is_part
from accountant.entries import LONGEST, Entry, SigningKey, open_export
from accountant.registry import is_registry
from accountant.storage import SqlStore

SQLITE: Final = b"SQLite format 3\0"
"""How such a file begins."""

ENDINGS: Final = (".db", ".sqlite", ".sqlite3")
"""How the name of a new ledger's file ends, where it is named by its path."""

EVERY: Final = 1000
"""Entries after which progress is told."""

WANTED: Final = "a ledger is named by a URL, as sqlite:///study.db, or by the path of its SQLite file"


@attrs.frozen(eq=False)
class StoredEntries(Sequence[Entry]):
    """The entries that were there when they were first looked at, read anew each time, and never held all at once.

    name: for people; a URL without its password, or a path.  length: how many entries there were.
    store: where they are, where entries can be looked up; else each pass reads them from the first one on.
    """

    name: str
    length: int
    _read: Callable[[int], Iterator[Entry]]
    store: SqlStore | None = None

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Entry]:
        return self.since(0)

    def since(self, start: int) -> Iterator[Entry]:
        """The entries from number `start` on, sound or not.

        Raises ReadingFailed where they end before they should, and LedgerUnavailable.
        """
        return self._read(start)

    def checkpoint(self, latest: int | None = None) -> Entry | None:
        """The newest checkpoint, up to entry `latest`; None where there is none, or nothing can be looked up."""
        last = self.length - 1 if latest is None else latest
        return None if self.store is None else self.store.checkpoint(last)

    def find(self, digest: str) -> int | None:
        """The number of the entry with this digest; None where there is none."""
        if self.store is None:
            return next((entry.number for entry in self if entry.digest == digest), None)
        number = self.store.find(digest)
        return None if number is None or number >= self.length else number

    def newest(self) -> Entry | None:
        """The newest entry; None without any."""
        return self[-1] if self.length else None

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(self.length))]
        number = place + self.length if place < 0 else place
        found = next(self.since(number), None) if number >= 0 else None
        if found is None:
            raise IndexError(f"there is no entry {place}")
        return found


class ReadingFailed(ValueError):
    """The entries end before they should: somewhere in the middle the file is not what it was."""


# --- reading ---------------------------------------------------------------------------------------------------


@contextmanager
def reading(location: str) -> Iterator[StoredEntries]:
    """The ledger at this place, for as long as the block lasts.

    Raises ValueError where there is none, or what is there is neither a ledger nor an export; LedgerUnavailable.
    """
    with without_passwords(location):
        if "://" not in location and not _is_sqlite(_file(location)):
            yield _exported(Path(location))
            return
        store = _readable(url_of(location))
        try:
            if is_registry(store):
                raise ValueError(
                    f"{store.name} is a registry of ledgers, and no ledger: see `exchequer ledger registry`"
                )
            length = len(store)  # others may append while we read: each pass ends where the first one did
            yield StoredEntries(store.name, length, lambda start: _stored(store, start, length), store)
        finally:
            store.close()


def _readable(url: str) -> SqlStore:
    try:
        return SqlStore(url, "read")
    except LedgerUnavailable as error:
        if not _is_interrupted(error):
            raise
        raise LedgerUnavailable(
            "somebody was interrupted while writing to this ledger, and only a writer can clear that up: "
            "`exchequer ledger open` with it does, or whoever spends from it next"
        ) from error


def _is_interrupted(error: LedgerUnavailable) -> bool:
    """Whether SQLite must first undo half a transaction, which a reader may not."""
    return "readonly database" in str(error)


def _stored(store: SqlStore, start: int, length: int) -> Iterator[Entry]:
    try:
        yield from itertools.takewhile(lambda entry: entry.number < length, store.read(start))
    except LedgerBroken as error:
        raise ReadingFailed(str(error)) from error


def _exported(path: Path) -> StoredEntries:
    if not _begins_like_an_export(path):
        raise ValueError(f"{path} is neither a ledger in SQLite nor an export of one")
    if is_part(path):
        raise ValueError(
            f"{path} is a part of a ledger: `exchequer ledger verify` reads it, others want a whole export"
        )
    with open_export(path) as (header, _):
        length = header.entries
    return StoredEntries(str(path), length, lambda start: _lines(path, start))


def _lines(path: Path, start: int) -> Iterator[Entry]:
    with open_export(path) as (_, entries):
        try:
            yield from itertools.islice(entries, start, None)
        except ValueError as error:
            raise ReadingFailed(str(error)) from error


def _begins_like_an_export(path: Path) -> bool:
    with path.open(encoding="ascii", errors="replace") as file:
        line = file.readline(LONGEST)
    try:
        return isinstance(header := json.loads(line), dict) and "exchequer" in header
    except (ValueError, RecursionError):
        return False


def _file(location: str) -> Path:
    """The path of a file that exists. Raises ValueError."""
    path = Path(location)
    if path.is_file():
        return path
    what = "is no file" if path.exists() else "does not exist"
    raise ValueError(f"{without_password(location)} {what}; {WANTED}; to read only, by the path of an export as well")


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def replayed(
    entries: StoredEntries, *accumulators: Accumulator, progress: Callable[[int], object] = lambda entries: None
) -> Reading:
    """All entries, read once; accumulators are told what they say, and progress how many were read.

    Raises LedgerBroken where they do not hold.
    """
    reading, rest = Reading(*accumulators), iter(entries)
    while some := list(itertools.islice(rest, EVERY)):
        reading.take(some)
        progress(reading.entries)
    if reading.state.opened is None:
        raise LedgerBroken("the ledger does not hold together: it was never opened")
    if reading.entries != len(entries):
        raise LedgerBroken(
            f"the ledger does not hold together: it ends after {reading.entries} of {len(entries)} entries"
        )
    return reading


# --- spending --------------------------------------------------------------------------------------------------


def url_of(location: str) -> str:
    """The URL of a ledger that can be spent from. Raises ValueError; whether there is one, the database tells."""
    if "://" in location:
        return _url(location)
    path = _file(location)
    if _is_sqlite(path):
        return sa.URL.create("sqlite", database=str(path)).render_as_string()
    if _begins_like_an_export(path):
        raise ValueError(f"{path} is an export, for reading only: two copies of one budget would both be spent")
    raise ValueError(f"{path} is no SQLite file; {WANTED}")


def url_to_begin(location: str) -> str:
    """The URL of a ledger that is there, or may be begun at this path: a new file needs an ending that says SQLite.

    Only for opening with a budget: elsewhere a path that does not exist is a typing error. Raises ValueError.
    """
    path = Path(location)
    if "://" in location or path.exists() or path.suffix.lower() not in ENDINGS:
        return url_of(location)
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to put {path.name} into; make it first")
    return sa.URL.create("sqlite", database=str(path)).render_as_string()


def _url(location: str) -> str:
    try:
        parsed = sa.make_url(location)
    except (SQLAlchemyError, ValueError):
        raise ValueError(f"{without_password(location)} is no URL of a ledger; {WANTED}") from None
    # Then the password ended before it should, and its rest would be looked up as the name of a host.
    if "@" in f"{parsed.host}{parsed.database}":
        raise ValueError(f"{without_password(location)}: an @ in a password is spelt %40")
    return location


def about_of(given: Iterable[str]) -> About:
    """What `--about NAME=TEXT` says, and from the environment what it does not. Raises ValueError."""
    said = dict[str, str]()
    for each in given:
        name, sign, text = each.partition("=")
        if not sign or name not in SAID:
            raise ValueError(f"--about: expected NAME=TEXT with one of {', '.join(SAID)}, got {each!r:.60}")
        said[name] = text
    return About(**said).over(About.from_environment())


@contextmanager
def spending(location: str, writer_key: SigningKey | None = None, about: About | None = None) -> Iterator[Ledger]:
    """The ledger that is there, for as long as the block lasts.

    writer_key: what charges are signed with.  about: what charges say; unless given, what the environment does.
    Raises as `Ledger.open` does.
    """
    with without_passwords(location), Ledger.open(url_of(location), writer_key=writer_key, about=about) as ledger:
        yield ledger


def is_begun(location: str) -> bool:
    """Whether there is a ledger with entries, for somebody who is about to write. Raises LedgerUnavailable."""
    with without_passwords(location):
        try:
            store = _probe(url_of(location))
        except LedgerMismatch:
            return False
        try:
            return len(store) > 0
        finally:
            store.close()


def _probe(url: str) -> SqlStore:
    try:
        return SqlStore(url, "read")  # what is no ledger is not written to
    except LedgerUnavailable as error:
        if not _is_interrupted(error):
            raise
        return SqlStore(url, "write")


# --- passwords -------------------------------------------------------------------------------------------------

_IN_URL: Final = re.compile(r"(://[^:@/]*:).*@")  # up to the last "@", which is more than SQLAlchemy takes it for
_AS_TAKEN: Final = re.compile(r"://[^:@/]*:([^@]*)@")
_ELSEWHERE: Final = re.compile(r"^([^:]*:).*@")  # a URL that was not typed well, perhaps
_IN_QUERY: Final = re.compile(r"(?i)([?&](?:ssl)?password=)([^&]*)")


def without_password(location: str) -> str:
    """A location as it may be printed."""
    typed = _IN_URL if "://" in location else _ELSEWHERE
    return _IN_QUERY.sub(r"\1***", typed.sub(r"\1***@", location, count=1))


def _without_its_passwords(text: str, location: str) -> str:
    """A text about a location, without its passwords, spelt in whatever way."""
    found = {*_AS_TAKEN.findall(location), *(secret for _, secret in _IN_QUERY.findall(location))}
    found |= {urllib.parse.unquote(secret) for secret in found} | {urllib.parse.unquote_plus(each) for each in found}
    text = text.replace(location, without_password(location))
    for secret in sorted(found, key=len, reverse=True):
        if len(secret) > 2:  # of one or two characters every text is full
            text = text.replace(secret, "***")
    return text


@contextmanager
def without_passwords(location: str) -> Iterator[None]:
    """Leave passwords out of whatever is wrong."""
    try:
        yield
    except (ValueError, OSError, LedgerBroken, LedgerUnavailable) as error:
        said, fit = str(error), _without_its_passwords(str(error), location)
        if said == fit:
            raise
        kind = type(error) if isinstance(error, LedgerBroken | LedgerUnavailable) else ValueError
        raise kind(fit) from None


def until_failure(entries: Iterable[Entry], failures: list[str]) -> Iterator[Entry]:
    """The entries; where reading them fails in the middle, the end of them, and one more failure."""
    try:
        yield from entries
    except ReadingFailed as error:
        failures.append(str(error))
