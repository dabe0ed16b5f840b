"""The one that writes: takes its turn at the store, decides on what is in the books by then, appends one entry.

What is in the store is the truth. The state that decisions rest on is replayed from there whenever somebody else
has appended, and after a turn that was interrupted, so nothing that was ever written can be forgotten.
"""

import functools
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Never

import attrs

from accountant import charges
from accountant.adjacency import Adjacency, adjacency_record
from accountant.books import Account, State
from accountant.composition import (
    Amount,
    Composition,
    UnsupportedBudget,
    amount_text,
    composition_from_record,
)
from accountant.costs import Budget
from accountant.lines import kind_of, line_of
from accountant.records import LONGEST_LINE, Allocated, Checkpoint, Closed, DamagedEntry, Opened, Record, Returned, read
from accountant.refusals import BudgetExceeded, LedgerBroken, LedgerCopyRefused, NotSpendable, SubBudgetRefused
from accountant.trail import GENESIS, Entry, EntryStore, Kind, canonical, digest_of

CHECKPOINT_EVERY: Final = 10_000
"""Entries after which whoever opens the books next writes a checkpoint, so that opening stays quick."""


class Bookkeeper:
    """The books of one ledger, as this process sees and continues them. Shared by all accounts of the ledger."""

    def __init__(self, store: EntryStore) -> None:
        self.store, self.state = store, State()
        self._lock = threading.RLock()
        self._turn = _Turn(self)
        self._busy, self._sure = False, True
        self._forks = _FORKS.count

    # --- opening ------------------------------------------------------------------------------------------

    def open_new(self, budget: Budget, rule: Composition, adjacency: Adjacency) -> None:
        """Write the first entry, unless somebody else has. Raises UnsupportedBudget."""
        rule.ceiling(budget)
        if composition_from_record(rule.describe()) != rule:
            raise UnsupportedBudget(f"{rule!r} is not a rule that the books can name, so nobody could verify it")
        with self._turn:
            if self.state.opened is not None:
                return
            self._enter(Opened(time.time_ns(), budget, rule, adjacency, os.urandom(16).hex()))

    def resume(self) -> None:
        """Read books that exist, from their newest checkpoint on. Raises LedgerBroken where they do not hold."""
        with self._alone():
            start = self._start_over()
            self._take(self.store.newer(self.state.length))
        if self.state.length - start > CHECKPOINT_EVERY:
            self.write_checkpoint()

    def _start_over(self) -> int:
        """Forget the state, and read it anew from the newest checkpoint, or from nothing. Where that stands."""
        self.state, self._sure = State(), True
        newest = self.store.checkpoint()
        if newest is None:
            return 0
        try:
            first, before, same = self._entry(0), self._entry(newest.number - 1), self._entry(newest.number)
            opened, record = read(first), read(newest)
            linked = (digest_of(GENESIS, first.line), digest_of(before.digest, newest.line))
            if linked != (first.digest, same.digest) or not isinstance(opened, Opened):
                raise DamagedEntry("its chain does not hold")
            if not isinstance(record, Checkpoint):
                raise DamagedEntry("it is none")
            self.state.resume(opened, newest.number, record)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise LedgerBroken(f"the checkpoint in entry {newest.number} cannot be used: {error}") from error
        return newest.number

    def _entry(self, number: int) -> Entry:
        return next(iter(self.store.read(number)))

    def write_checkpoint(self) -> None:
        """Write down what the entries so far add up to."""
        with self._turn as state:
            self._enter(Checkpoint(self._time(), state.as_dict()))

    # --- reading ------------------------------------------------------------------------------------------

    def refresh(self) -> State:
        """The state after all entries that are in the store now."""
        if not self.store.shared and self._sure and len(self.store) == self.state.length:
            return self.state  # the usual case in memory, where a turn would only cost time
        with self._alone():
            self._catch_up(self.store.newer)
        return self.state

    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        if self.store.shared:
            self.same_process()
        with self._lock:
            return tuple(self.store.read())

    def at_once(self, path: str) -> tuple[tuple[Entry, ...], Account]:
        """All entries, and an account after exactly these: a statement must not mix two moments."""
        with self._alone():
            self._catch_up(self.store.newer)
            entries = tuple(itertools.islice(self.store.read(), self.state.length))
            return entries, attrs.evolve(self.state.accounts[path])

    # --- writing ------------------------------------------------------------------------------------------

    def charge(self, amount: Amount, account: str, mechanism: str, steps: str, priced: str, rounds: int) -> int:
        """Write a charge, durably, and return its number. mechanism, steps, priced: canonical JSON.

        Raises BudgetExceeded, or SubBudgetRefused for a closed one; then nothing was written.
        """
        if not isinstance(account, str) or not account:
            raise NotSpendable(f"account: expected a text that says who or what is charged, got {account!r}")
        who = _quoted(account)
        with self._turn as state:
            payer = state.payer(account)
            if payer.closed:
                raise SubBudgetRefused(f"the sub-budget {payer.path!r} is closed; nothing was charged")
            if not payer.affords(amount):
                raise BudgetExceeded(amount, payer.left, state.rule, payer.path)
            number, when = state.length, self._time()
            after = state.total.plus(amount)
            self._write(
                "charged",
                f'{{"account":{who},"adjacency":{_relation(state.adjacency)},'
                f'"after":{{"delta":"{amount_text(after.delta_units)}","loss":"{amount_text(after.loss_units)}"}},'
                f'"kind":"charged","mechanism":{mechanism},"number":{number},'
                f'"priced":{priced},"steps":{steps},"time":{when}}}',
            )
            state.charge(number, account, amount, rounds)
            self._wrote(when)
        charges.note(self, number)
        return number

    def mark_released(self, charge: int, used: str) -> None:
        """Write that the value of a charge was drawn. used: canonical JSON."""
        with self._turn as state:
            when = self._time()
            self._write(
                "released",
                f'{{"charge":{charge},"kind":"released","number":{state.length},"time":{when},"used":{used}}}',
            )
            state.open.pop(charge, None)
            self._wrote(when)

    def give_back(self, charge: int, rounds: int, amount: Amount) -> None:
        """Write that rounds of an open charge were not used and never will be."""
        with self._turn as state:
            self._enter(Returned(self._time(), charge, rounds, amount, state.total.minus(amount)))

    def allocate(self, path: str, ceiling: Amount) -> None:
        """Write a sub-budget. Raises SubBudgetRefused."""
        with self._turn as state:
            reason = state.why_not_allocate(path, ceiling)
            if reason is not None:
                raise SubBudgetRefused(f"{reason}; nothing was allocated")
            self._enter(Allocated(self._time(), path, ceiling))

    def close_account(self, path: str) -> Amount:
        """Write that a sub-budget is closed, and return what it did not spend. Raises SubBudgetRefused."""
        with self._turn as state:
            reason = state.why_not_close(path)
            if reason is not None:
                raise SubBudgetRefused(reason)
            unspent = state.unspent(path)
            self._enter(Closed(self._time(), path, unspent))
        return unspent

    # --- a turn -------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread, and no signal handler that came in between."""
        self._hold()
        try:
            yield
        finally:
            self._let_go()

    def _hold(self) -> None:
        self.same_process()
        self._lock.acquire()
        if self._busy:
            self._lock.release()
            raise LedgerBroken("a charge is under way in this very thread; a signal handler must not spend")
        self._busy = True

    def _let_go(self) -> None:
        self._busy = False
        self._lock.release()

    def _catch_up(self, newer: Callable[[int], Iterable[Entry]]) -> None:
        if not self._sure:
            self._start_over()
        self._take(newer(self.state.length))

    def _take(self, entries: Iterable[Entry]) -> None:
        """Entries that somebody else wrote, or that this process wrote before it was interrupted."""
        for entry in entries:
            try:
                self._take_in(entry.number, read(entry))
            except DamagedEntry as error:
                self._broken(entry.number, str(error))

    def _take_in(self, number: int, record: Record) -> None:
        if wrong := self.state.apply(number, record):
            self._broken(number, wrong[0])

    def _broken(self, number: int, what: str) -> Never:
        self._sure = False  # so that the next turn reads it again, and refuses again
        raise LedgerBroken(
            f"the books do not hold together: entry {number}: {what}; "
            "`exchequer ledger verify` lists everything that is wrong"
        )

    def _write(self, kind: Kind, line: str) -> None:
        if self.store.shared:
            self._refuse_unreadable(kind, line)
        self._sure = False  # until the state has it: whatever interrupts, the store tells what was written
        self.store.append(kind, line)
        self.store.commit()

    def _enter(self, record: Record) -> None:
        """Write a record, and take it into the state as any reader will."""
        number = self.state.length
        self._write(kind_of(record), line_of(number, record))
        self._take_in(number, record)
        self._sure = True

    def _refuse_unreadable(self, kind: Kind, line: str) -> None:
        """What could not be read back would close the books to everybody, so it is not written."""
        number = self.state.length
        if len(line) > LONGEST_LINE:
            raise NotSpendable(f"this would take a line of {len(line)} characters, more than anybody reads back")
        try:
            faithful = line_of(number, read(Entry(number, kind, line, ""))) == line
        except DamagedEntry as error:
            raise NotSpendable(f"the books cannot describe this, so nothing was written: {error}") from error
        if not faithful:
            raise NotSpendable("the books cannot describe this as it is, so nothing was written")

    def _wrote(self, when: int) -> None:
        """The entry is in the store, and the state has it."""
        self.state.length, self.state.time = self.state.length + 1, when
        self._sure = True

    def _time(self) -> int:
        """Now, but never before the newest entry: hosts' clocks differ."""
        return max(time.time_ns(), self.state.time)

    def same_process(self) -> None:
        """Raise LedgerCopyRefused in a fork's child."""
        if _FORKS.count != self._forks:
            remedy = "open it again by its URL" if self.store.shared else "its budget would be spent twice"
            raise LedgerCopyRefused(f"a fork copied this ledger into another process: {remedy}")


class _Turn:
    """The state with every entry in it, while nobody else may append. One for all turns: they never nest."""

    __slots__ = ("_books",)

    def __init__(self, books: Bookkeeper) -> None:
        self._books = books

    def __enter__(self) -> State:
        books = self._books
        books._hold()
        try:
            books._catch_up(books.store.begin)
        except BaseException:
            self._abort()
            raise
        return books.state

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self._books._let_go()
        else:
            self._abort()

    def _abort(self) -> None:
        try:
            self._books.store.abort()
        finally:
            self._books._let_go()


@functools.lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return json.dumps(text)


@functools.lru_cache(maxsize=64)
def _relation(adjacency: Adjacency) -> str:
    return canonical(dict(adjacency_record(adjacency)))


class _Forks:
    """How often this process is the child of a fork: a ledger made before one belongs to the parent."""

    def __init__(self) -> None:
        self.count = 0
        if hasattr(os, "register_at_fork"):  # where there is no fork, nothing can be copied by one
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.count += 1


_FORKS = _Forks()
