"""The state of a ledger as this process knows it, kept in step with the store: turns, and what a turn appends.

What is in the store is the truth. The state that decisions depend on is replayed from there whenever somebody else
has appended, and after a turn that was interrupted, so nothing that was ever written can be forgotten.
"""

import itertools
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Final, ParamSpec, TypeVar

from accountant.audit import Reading, StatementDetails, broken
from accountant.composition import RuleNotInstalled
from accountant.entries import (
    LATEST,
    LONGEST_LINE,
    Account,
    DamagedEntry,
    Entry,
    EntryStore,
    Kind,
    Record,
    Start,
    State,
    decode,
    encode,
    kind_of,
)
from accountant.exceptions import (
    BudgetExceeded,
    KeyRefused,
    LedgerBroken,
    LedgerCopyRefused,
    LedgerUnavailable,
    NotSpendable,
    PolicyRefused,
    ReservationClosed,
    SubBudgetRefused,
)
from accountant.ledger.new_lines import refuse_bad_texts, refuse_too_long, refuse_unreadable

FEW: Final = 64
"""New entries that are read one by one; of more, those that repeat others are read the quick way."""

T = TypeVar("T")
P = ParamSpec("P")


class Replica:
    """One process's copy of what the entries in a store add up to, and its turns at that store.

    store: the entries.  state: after those that are known here; inside a turn, after all of them.
    """

    def __init__(self, store: EntryStore) -> None:
        self.store, self.state = store, State()
        self._lock = threading.RLock()
        self._start: Start | None = None
        self._sure, self._why_broken = True, ""
        self._reading: tuple[StatementDetails, Reading] | None = None
        self._forks = _FORKS.count

    def start_at(self, start: Start) -> None:
        """Read no entries before this checkpoint."""
        self._start, self._sure = start, False

    # --- reading ------------------------------------------------------------------------------------------

    def refresh(self) -> State:
        """The state after all entries that are in the store now."""
        if not self.store.shared and self._sure and len(self.store) == self.state.length:
            return self.state  # the usual case in memory, where a turn would only cost time
        self._locked(lambda: self._catch_up(self.store.newer))
        return self.state

    def account(self, path: str) -> Account:
        """An account, with what everybody has charged to it."""
        return self.refresh().accounts[path]

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        if self.store.shared:
            self.same_process()
        with self._lock:
            return tuple(self.store.read())

    def stated(self, make: Callable[[StatementDetails, str], T]) -> T:
        """What is made of all entries and of the newest one's digest, with the state after exactly these.

        A statement must not mix two moments. What entries say is kept, so that only new ones are read.
        Raises LedgerBroken where they do not hold, also those before a checkpoint that was believed.
        """

        def read_and_make() -> T:
            self._catch_up(self.store.newer)
            (details, reading), self._reading = self._reading or _new_reading(), None  # should it be interrupted
            new = self.state.length - reading.entries
            reading.take(itertools.islice(self.store.read(reading.entries), new) if new else ())
            self._reading = details, reading
            return make(details, reading.head)

        return self._locked(read_and_make)

    # --- a turn -------------------------------------------------------------------------------------------

    def in_turn(self, work: Callable[[State], T]) -> T:
        """Work on the state with every entry in it, while nobody else may append."""
        return self._locked(self._turn, work)

    def _turn(self, work: Callable[[State], T]) -> T:
        store = self.store
        try:
            if store.quick and (done := self._at_first_try(work)):
                return done[0]
            self._catch_up(store.begin)
            return work(self.state)
        finally:
            try:
                store.abort()  # after a commit it does nothing; work that wrote nothing must not keep the turn
            finally:
                if store.in_turn:  # an interrupt came first
                    store.abort()

    def _at_first_try(self, work: Callable[[State], T]) -> tuple[T] | None:
        """Work on the state as it is known, without a turn: the store appends only where there is nothing newer.

        None where there is; a refusal may be due to old news, so it counts as None as well. Then a turn decides.
        """
        known = self.state.length
        if not known or not self._sure or self._why_broken:
            return None
        try:
            value = work(self.state)
        except _NOT_YET:
            if not self._sure or self.state.length != known:
                raise  # something may have been written
            return None
        return (value,) if self.state.length > known else None

    def _locked(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Work while no other thread does, nor a signal handler that came in between."""
        lock = self._lock
        if _FORKS.count != self._forks:
            self.same_process()
        if lock._is_owned():  # type: ignore[attr-defined]  # what threading.Condition asks of it, too
            raise LedgerBroken("a charge is under way in this very thread; a signal handler must not spend")
        try:
            with lock:
                return work(*arguments, **named)
        finally:
            if lock._is_owned():  # type: ignore[attr-defined]  # an interrupt came just before the lock was let go
                lock.release()

    def _catch_up(self, newer: Callable[[int], Iterable[Entry]]) -> None:
        """Take in what others wrote, and what this process wrote before it was interrupted.

        Until the last entry is in, the state is not sure: whatever interrupts, the next turn reads it anew.
        """
        if self._why_broken:
            raise LedgerBroken(self._why_broken)
        state = self.state if self._sure else self._started_over()
        self._sure = False
        entries = newer(state.length)
        try:
            _take_all_in(state, iter(entries))
        except LedgerBroken as error:
            self._why_broken = str(error)  # for good: a later checkpoint must not hide it
            raise
        finally:
            if isinstance(entries, Generator):
                entries.close()  # it holds a connection
        self.state, self._sure = state, True

    def _started_over(self) -> State:
        """A state as it was when this ledger was opened."""
        state = State()
        if self._start is not None:
            state.resume(*self._start)
        return state

    # --- what a turn appends --------------------------------------------------------------------------------

    def write(self, kind: Kind, line: str) -> None:
        """Write the next entry, durably. What it says is the caller's to take into the state, before `wrote`."""
        refuse_bad_texts(line)
        if self.store.shared:
            refuse_unreadable(self.state.length, kind, line)
        self.write_checked(kind, line)

    def write_checked(self, kind: Kind, line: str) -> None:
        """The same for a line that differs from one that was found readable in numbers alone."""
        store = self.store
        if len(line) > LONGEST_LINE:
            refuse_too_long(line)
        self._sure = False  # until the state has it: whatever interrupts, the store tells what was written
        if store.in_turn:
            store.append(kind, line)
            store.commit()
        elif not store.append_next(self.state.length, kind, line):
            self._sure = True
            raise _Overtaken

    def enter(self, record: Record) -> None:
        """Write a record, and take it into the state as any reader will."""
        state = self.state
        number = state.length
        self.write(kind_of(record), encode(number, record))
        if wrong := state.apply(number, record):
            raise broken(number, wrong[0])
        self._sure = True

    def wrote(self, when: int) -> None:
        """The entry is in the store, and the state has it."""
        self.state.length, self.state.time = self.state.length + 1, when
        self._sure = True

    def now(self) -> int:
        """Now, but never before the newest entry: hosts' clocks differ."""
        now = max(time.time_ns(), self.state.time)
        if now >= LATEST:
            raise LedgerUnavailable("this machine's clock is past the year 2286; nothing was written")
        return now

    def same_process(self) -> None:
        """Raise LedgerCopyRefused in a fork's child."""
        if _FORKS.count != self._forks:
            remedy = "open it again by its URL" if self.store.shared else "its budget would be spent twice"
            raise LedgerCopyRefused(f"a fork copied this ledger into another process: {remedy}")


class _Overtaken(Exception):
    """Somebody else wrote first, and nothing was written here."""


_NOT_YET: Final = (
    _Overtaken,
    BudgetExceeded,
    KeyRefused,
    NotSpendable,
    PolicyRefused,
    ReservationClosed,
    SubBudgetRefused,
)
"""What `_at_first_try` may take for old news. Nothing else: a signal handler's exception must reach its user."""


def _new_reading() -> tuple[StatementDetails, Reading]:
    details = StatementDetails()
    return details, Reading(details)


def _take_all_in(state: State, entries: Iterator[Entry]) -> None:
    """Take entries in that follow one another. Raises LedgerBroken."""
    head = None
    for entry in itertools.islice(entries, FEW):
        _take_in(state, entry)
        head = entry.digest
    if head is not None and (more := next(entries, None)) is not None:  # then it pays to learn what repeats
        Reading(state=state, head=head).take(itertools.chain([more], entries))


def _take_in(state: State, entry: Entry) -> None:
    try:
        wrong = state.apply(entry.number, decode(entry))
    except (DamagedEntry, TypeError, ValueError, LookupError, ArithmeticError) as error:
        if isinstance(error, RuleNotInstalled) and state.opened is None:  # nothing is wrong with the ledger
            raise
        wrong = [str(error)]
    if wrong:
        raise broken(entry.number, wrong[0])


class _Forks:
    """How often this process is the child of a fork: a ledger made before one belongs to the parent."""

    def __init__(self) -> None:
        self.count = 0
        if hasattr(os, "register_at_fork"):  # where there is no fork, nothing can be copied by one
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.count += 1


_FORKS = _Forks()
