"""Verifying what is new in a ledger since a head that an auditor kept, in the time that the new part takes.

The reader starts at the newest checkpoint at or before the kept head and goes on to the end, as strictly as `verify`.
Why it may start there:

- A digest covers its line and the digest before it, so the kept head fixes every line up to it: nobody can find other
  ones with the same head. The reader computes each digest from the checkpoint up to the kept head anew. If they fit,
  the checkpoint's line is the very one that stood there when the head was kept, whoever owns the database by now.
- Whether that checkpoint was right was established when the head was kept: `verify` compared it with its replay of all
  entries before. So the head should be one of a ledger that was verified then; that is for its keeper to know.
- A head that no entry has is refused: entries were cut off, or the ledger was rolled back or rewritten.

What the checkpoint does not say is taken from entries that the same chain covers, or the reader starts earlier. What a
charge was for stands in its own entry: where the new part releases one from before the checkpoint, an earlier one is
taken. The first entry, with rule and relation, is not covered: so its ceiling must be the checkpoint's, and it must
agree with at least one charge between checkpoint and head, in relation and in what the rule makes of its cost. Where
there is no such charge, an earlier checkpoint is taken. Other entries before the checkpoint are not read: a change
there is for `verify` with `expect_head` to find. No sum here depends on them.
"""

import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Protocol

import attrs

from accountant.audit.verification import EVERY, Verification, Verifier, not_expected
from accountant.entries import GENESIS, Entry, Start, read_start
from accountant.exceptions import LedgerBroken


class Entries(Protocol):
    """A ledger whose entries can be looked up."""

    def find(self, digest: str) -> int | None:
        """The number of the entry with this digest."""

    def checkpoint(self, latest: int) -> Entry | None:
        """The newest checkpoint up to entry `latest`."""

    def newest(self) -> Entry | None:
        """The newest entry."""

    def since(self, start: int) -> Iterator[Entry]:
        """The entries from number `start` on."""


@attrs.frozen
class NewPart:
    """What was found in entries that are newer than a kept head.

    new: their number; None where no entry has that head.  start: the checkpoint that was started from, 0 for none.
    """

    verification: Verification
    new: int | None
    start: int


def verify_since(
    entries: Entries,
    head: str,
    *,
    claims: Collection[str] | None = None,
    progress: Callable[[int], object] | None = None,
) -> NewPart:
    """Verify what follows the entry whose digest is `head`, and what lies between it and the checkpoint before it.

    claims, progress: as `verify` takes them. What stands before that checkpoint is not read; see the module.
    """
    kept = entries.find(head)
    if kept is None:
        return NewPart(_unknown(entries.newest(), head), None, 0)
    latest = kept
    while True:
        start = _start(entries, latest)
        verifier, charges = _read(entries, start, (head, kept), claims, progress)
        first = 0 if start is None else start[0].number
        if not first or (verifier.older is None and charges):
            found = verifier.verification()
            return NewPart(found, found.entries - kept - 1, first)
        latest = first - 1 if verifier.older is None else min(first, verifier.older) - 1


def _unknown(newest: Entry | None, head: str) -> Verification:
    """The finding of `verify`, without reading all entries."""
    last, entries = (GENESIS, 0) if newest is None else (newest.digest, newest.number + 1)
    return Verification((not_expected(last, head),), (), entries, last)


def _start(entries: Entries, latest: int) -> tuple[Start, str] | None:
    """The newest checkpoint up to there that can be read; None for the first entry."""
    found = entries.checkpoint(latest)
    if found is None:
        return None
    try:
        return read_start(entries.since, found), found.digest
    except LedgerBroken:  # read from the first entry on, what is wrong with it is found in its place
        return None


def _read(
    entries: Entries,
    start: tuple[Start, str] | None,
    kept: tuple[str, int],
    claims: Collection[str] | None,
    progress: Callable[[int], object] | None,
) -> tuple[Verifier, int]:
    """All entries from the start on; also how many charges there were up to the kept head."""
    head, number = kept
    verifier = Verifier(expect_head=head, claims=claims, start=start)
    rest = entries.since(verifier.entries)
    verifier.take(itertools.islice(rest, number + 1 - verifier.entries))
    charges = verifier.charges
    verifier.forget_older()  # releases up to the kept head were checked when it was kept
    while some := list(itertools.islice(rest, EVERY)):
        verifier.take(some)
        if progress is not None:
            progress(verifier.entries)
    return verifier, charges
