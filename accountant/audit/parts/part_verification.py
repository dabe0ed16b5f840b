"""What can be checked of a part of a ledger by itself, as strictly as `verify` does; and what cannot, as a caveat."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator

import attrs

from accountant.audit import Verification, Verifier, in_symbols
from accountant.audit.parts.part_file import PartHeader
from accountant.entries import GENESIS, Entry, State, digest_of, visible

EVERY = 1000
"""Entries after which `progress` is called."""


class PartVerifier(Verifier):
    """A verifier that goes on from what the first line of a part says, and says so."""

    def __init__(self, header: PartHeader, expect_head: str | None, claims: Collection[str] | None) -> None:
        self._header = header
        super().__init__(expect_head=expect_head, claims=claims, start=(header.start, header.before))

    def _caveats(self) -> Iterator[str]:
        first, last = self._header.first, self._header.first + self._header.entries - 1
        yield (
            f"this is a part of a ledger, entries {first} to {last} of {self._header.of}: what stands before it was "
            "not checked, and what that adds up to is the word of whoever exported it"
        )
        yield from super()._caveats()

    def _notes(self) -> Iterator[str]:
        if not self._start:  # it goes on from entry 0
            yield from self._of_start()
        yield from super()._notes()

    def _of_start(self) -> Iterator[str]:
        state = self._replay.state
        yield (
            f"its digests were computed from {self._header.before} on, that of entry {self._header.first - 1}: compare "
            "it with the head of the part before, or of a ledger that you verified"
        )
        yield visible(
            f"the first entry promises {in_symbols(state.budget)} by {state.rule.name!r} under {state.adjacency.name}: "
            "compare that with what you know"
        )
        if self.older is not None:
            yield "it releases, or gives back, charges from before it: what these were for was not compared"


def verify_part(
    header: PartHeader,
    entries: Iterable[Entry],
    *,
    expect_head: str | None = None,
    claims: Collection[str] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Verification:
    """Verify a part: every digest, sum, ceiling, price and release in it, from what its first line says on.

    Never plainly "sound", as what stands before it is not there. expect_head, claims, progress: as `verify` takes them.
    Raises ValueError where the first line says nothing that a reader can start from.
    """
    try:
        verifier = PartVerifier(header, expect_head, claims)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"line 1: nobody can start from what it says: {type(error).__name__}: {error}"[:300]
        ) from error
    rest = iter(entries)
    while some := list(itertools.islice(rest, EVERY)):
        verifier.take(some)
        if progress is not None:
            progress(verifier.entries - header.first)
    found = verifier.verification()
    return attrs.evolve(
        found, errors=(*_wrong_start(header), *found.errors), entries=max(found.entries - header.first, 0)
    )


def _wrong_start(header: PartHeader) -> Iterator[str]:
    """What the first line says that cannot be."""
    start = header.start
    if start.opened.id != header.id:
        yield "the first line names another ledger than the first entry in it"
    if header.first == 1 and digest_of(GENESIS, header.opened) != header.before:
        yield "the part goes on from another first entry than the one that it promises"
    state = State()
    state.resume(*start)
    for account in state.accounts.values():
        if not (account.drawn.within(account.ceiling) and account.committed.within(account.ceiling)):
            yield visible(f"what stands before it comes to more than {account.path or 'the budget'!r} has")
    if header.first + header.entries > header.of:
        yield f"it says that the ledger had {header.of} entries, and holds later ones"
