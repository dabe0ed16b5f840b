"""What a ledger comes to, read from its newest checkpoint on where it is long; that checkpoint is believed."""

from collections.abc import Iterator
from typing import Protocol

import attrs

from accountant.audit import Accumulator, Reading
from accountant.composition import Composition
from accountant.costs import Adjacency, Budget
from accountant.entries import BELIEVED_FROM, Entry, State, read_start
from accountant.exceptions import LedgerBroken
from accountant.storage import SqlStore


@attrs.frozen
class QuickReading:
    """A ledger as its newest entries have it.

    believed: the number of the checkpoint from which on it was read; None where all of it was.
    """

    state: State
    head: str
    believed: int | None

    @property
    def id(self) -> str:
        """The ledger's random name."""
        assert self.state.opened is not None  # or it was not read
        return self.state.opened.id

    @property
    def budget(self) -> Budget:
        """Of the ledger."""
        return self.state.budget

    @property
    def rule(self) -> Composition:
        """Of the ledger."""
        return self.state.rule

    @property
    def adjacency(self) -> Adjacency:
        """Of the ledger."""
        return self.state.adjacency

    @property
    def spent(self) -> Budget:
        """What was charged, in the budget's kind, rounded up."""
        return self.rule.guarantee(self.state.total, self.budget)


class Entries(Protocol):
    """A ledger's entries, some of which can be looked up."""

    def since(self, start: int) -> Iterator[Entry]:
        """The entries from a number on."""

    def checkpoint(self) -> Entry | None:
        """The newest checkpoint."""


def read_quickly(entries: Entries, *accumulators: Accumulator, whole: bool = False) -> QuickReading:
    """Read a ledger. whole: from its first entry on.  accumulators: are told what is read.

    Raises LedgerBroken where it does not hold together.
    """
    newest = None if whole else entries.checkpoint()
    if newest is not None and newest.number >= BELIEVED_FROM:
        state = State()
        state.resume(*read_start(entries.since, newest))
        reading, believed = Reading(*accumulators, state=state, head=newest.digest), newest.number
    else:
        reading, believed = Reading(*accumulators), None
    reading.take(entries.since(reading.entries))
    if reading.state.opened is None:
        raise LedgerBroken("the ledger does not hold together: it was never opened")
    return QuickReading(reading.state, reading.head, believed)


@attrs.frozen
class _Stored:
    store: SqlStore

    def since(self, start: int) -> Iterator[Entry]:
        return self.store.read(start)

    def checkpoint(self) -> Entry | None:
        return self.store.checkpoint()


def quick_reading(store: SqlStore) -> QuickReading:
    """Read the ledger in a store. Raises LedgerBroken, LedgerUnavailable."""
    return read_quickly(_Stored(store))
