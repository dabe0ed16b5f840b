"""Reading entries one after another: what repeats earlier ones the quick way, and the others whole.

`Verifier` is a reader that lists what is wrong; `Reading` is one for everybody who only wants to know what the entries
add up to. Both keep the state, and tell accumulators what passes by, so that one pass answers several questions.
"""

import abc
from collections.abc import Iterable
from typing import Final

from accountant.audit.entry_checks import StateReplay
from accountant.audit.fast_reader import Accumulator, FastReader
from accountant.composition import RuleNotInstalled
from accountant.entries import GENESIS, Entry, Record, State, decode, decode_charge, follows, kind_of
from accountant.exceptions import LedgerBroken

NONSENSE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What reading and adding up nonsense may raise."""


class Reader(abc.ABC):
    """Takes entries, some at a time. entries: how many were taken.  head: the digest of the newest, or GENESIS."""

    def __init__(self, replay: StateReplay, accumulators: tuple[Accumulator, ...] = (), expect_head: str | None = None):
        self.entries, self.head = 0, GENESIS
        self._due = 0  # the number of the next entry
        self._expected, self._seen = expect_head, -1  # how many entries there were when the expected head came by
        self._replay, self._accumulators = replay, accumulators
        self._fast = FastReader(replay, accumulators)

    def take(self, entries: Iterable[Entry]) -> None:
        """The next entries."""
        head, due, expected, offset = self.head, self._due, self._expected, self.entries - self._due
        charged, released = self._fast.charged, self._fast.released
        for entry in entries:
            line, kind = entry.line, entry.kind
            linked = follows(head, line, entry.digest)
            if not (
                linked
                and entry.number == due
                and ((kind == "charged" and charged(due, line)) or (kind == "released" and released(due, line)))
            ):
                self._due = due
                self._read_whole(entry, linked)
                offset += due - self._due
                due = self._due
            due += 1
            head = entry.digest
            if head == expected:
                self._seen = offset + due
        self.head, self._due, self.entries = head, due, offset + due

    @abc.abstractmethod
    def _read_whole(self, entry: Entry, linked: bool) -> None:
        """The slow way. linked: whether its digest fits its line and the digest before it."""

    def _settle(self) -> None:
        """Tell the state, and accumulators, of everything that was taken in."""
        self._fast.settle()
        self._fast.go_on()

    def _tell(self, number: int, record: Record) -> None:
        for accumulator in self._accumulators:
            accumulator.take(number, record)


class Reading(Reader):
    """What entries add up to; that they are as they must be is for `verify` to say.

    accumulators: are told what the entries say.  state: to start from, after so many entries, the last with the digest
    `head`; it is the one that moves on.  checked: False to take entries as they stand, whatever is wrong with them, as
    long as each can be read.
    """

    def __init__(
        self, *accumulators: Accumulator, state: State | None = None, head: str = GENESIS, checked: bool = True
    ) -> None:
        super().__init__(StateReplay(state), accumulators)
        self.entries = self._due = self._replay.state.length
        self.head, self._checked, self._adds_up = head, checked, True
        self._settle()

    @property
    def state(self) -> State:
        """After all entries that were taken."""
        return self._replay.state

    def take(self, entries: Iterable[Entry]) -> None:
        """The next entries. Raises LedgerBroken at the first that does not hold, after which nothing is to be taken.

        Where they are not checked, ValueError (`DamagedEntry`) for one that cannot be read. RuleNotInstalled where
        nobody here can add up.
        """
        super().take(entries)
        self._settle()

    def _read_whole(self, entry: Entry, linked: bool) -> None:
        self._fast.settle()
        if self._checked:
            self._take_checked(entry, linked)
        else:
            self._take_any(entry)
        self._fast.go_on()

    def _take_checked(self, entry: Entry, linked: bool) -> None:
        due = self._due
        if not linked or entry.number != due:
            raise broken(due, "it is missing, or its digest does not match its content and the entry before it")
        try:
            record = (decode_charge(due, entry.line) if entry.kind == "charged" else None) or decode(entry)
            wrong = self._replay.apply(due, record)
        except NONSENSE as error:
            if isinstance(error, RuleNotInstalled) and self.state.opened is None:  # nothing is wrong with the ledger
                raise
            raise broken(due, str(error)) from error
        if kind_of(record) != entry.kind:
            raise broken(due, f"it is called {entry.kind!r}, and is of another kind")
        if wrong:
            raise broken(due, wrong[0])
        self._fast.learn(due, record, entry.line)
        self._tell(due, record)

    def _take_any(self, entry: Entry) -> None:
        record, self._due = decode_charge(entry.number, entry.line) or decode(entry), entry.number
        if self._adds_up:
            try:
                if not self._replay.apply(entry.number, record):
                    self._fast.learn(entry.number, record, entry.line)
            except NONSENSE:
                self._adds_up = False  # then no entry is like another: each is read whole
                self._fast.stop()
        self._tell(entry.number, record)


def broken(number: int, what: str) -> LedgerBroken:
    """The refusal of a ledger for what is wrong with one of its entries."""
    return LedgerBroken(
        f"the ledger does not hold together: entry {number}: {what}; "
        "`exchequer ledger verify` lists everything that is wrong"
    )
