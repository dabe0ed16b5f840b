"""The one that writes: takes its turn at the store, decides on what is in the books by then, appends one entry.

What is in the store is the truth. The state that decisions rest on is replayed from there whenever somebody else
has appended, and after a turn that was interrupted, so nothing that was ever written can be forgotten.
"""

import contextlib
import functools
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable
from typing import Final, TypeVar

import attrs

from accountant.composition import Amount, Composition, UnsupportedBudget, amount_text, composition_from_record
from accountant.costs import Adjacency, Budget, adjacency_record
from accountant.entries import (
    GENESIS,
    LATEST,
    LONGEST_LABEL,
    LONGEST_LINE,
    Account,
    Allocated,
    Announced,
    Checkpoint,
    Closed,
    DamagedEntry,
    Entry,
    EntryStore,
    Kind,
    Opened,
    Record,
    Returned,
    State,
    canonical,
    digest_of,
    kind_of,
    line_of,
    read,
    why_not_written,
    why_unreadable,
)
from accountant.exceptions import (
    BudgetExceeded,
    LedgerBroken,
    LedgerCopyRefused,
    LedgerUnavailable,
    NotSpendable,
    ReservationClosed,
    SubBudgetRefused,
)
from accountant.ledger import charge_recorder
from accountant.ledger.account_names import unknown_label

CHECKPOINT_EVERY: Final = 10_000
"""Entries after which whoever opens the books next writes a checkpoint, so that opening stays quick."""

BELIEVED_FROM: Final = 50_000
"""Number from which on a checkpoint is believed at opening; shorter books are read whole, in a second or two."""

LONGEST_ACCOUNT: Final = LONGEST_LABEL
"""Characters of an account's path."""

T = TypeVar("T")


class Bookkeeper:
    """The books of one ledger, as this process sees and continues them. Shared by all accounts of the ledger."""

    def __init__(self, store: EntryStore) -> None:
        self.store, self.state = store, State()
        self._lock = threading.RLock()
        self._base: tuple[Opened, int, Checkpoint] | None = None
        self._sure, self._why_broken = True, ""
        self._forks = _FORKS.count

    # --- opening ------------------------------------------------------------------------------------------

    def open_new(self, budget: Budget, rule: Composition, adjacency: Adjacency) -> None:
        """Write the first entry, unless somebody else has. Raises UnsupportedBudget."""
        rule.ceiling(budget)
        if composition_from_record(rule.describe()) != rule:
            raise UnsupportedBudget(f"{rule!r} is not a rule that the books can name, so nobody could verify it")

        def begin(state: State) -> None:
            if state.opened is None:
                self._enter(Opened(self._time(), budget, rule, adjacency, os.urandom(16).hex()))

        self._in_turn(begin)

    def resume(self, *, whole: bool = False) -> None:
        """Read books that exist. Raises LedgerBroken where they do not hold.

        whole: from the first entry on. Else long ones are read from their newest checkpoint on, which is believed.
        """
        newest = self.store.checkpoint()
        if newest is not None and newest.number >= BELIEVED_FROM and not whole:
            self._base, self._sure = self._read_checkpoint(newest), False
        self._alone(lambda: self._catch_up(self.store.newer))
        start = 0 if newest is None else newest.number
        if self.state.length - start > CHECKPOINT_EVERY:
            with contextlib.suppress(NotSpendable):  # too many open charges to be written down: it is read whole
                self.write_checkpoint()

    def write_checkpoint(self) -> None:
        """Write down what the entries so far add up to."""
        self._in_turn(lambda state: self._enter(Checkpoint(self._time(), state.as_dict())))

    def _read_checkpoint(self, newest: Entry) -> tuple[Opened, int, Checkpoint]:
        try:
            first, before, same = self._entry(0), self._entry(newest.number - 1), self._entry(newest.number)
            opened, record = read(first), read(newest)
            linked = (digest_of(GENESIS, first.line), digest_of(before.digest, newest.line))
            if linked != (first.digest, same.digest) or not isinstance(opened, Opened):
                raise DamagedEntry("its chain does not hold")
            if not isinstance(record, Checkpoint):
                raise DamagedEntry("it is none")
            State().resume(opened, newest.number, record)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise LedgerBroken(f"the checkpoint in entry {newest.number} cannot be used: {error}") from error
        return opened, newest.number, record

    def _entry(self, number: int) -> Entry:
        return next(iter(self.store.read(number)))

    # --- reading ------------------------------------------------------------------------------------------

    def refresh(self) -> State:
        """The state after all entries that are in the store now."""
        if not self.store.shared and self._sure and len(self.store) == self.state.length:
            return self.state  # the usual case in memory, where a turn would only cost time
        self._alone(lambda: self._catch_up(self.store.newer))
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

    def at_once(self, path: str) -> tuple[tuple[Entry, ...], Account]:
        """All entries, and an account after exactly these: a statement must not mix two moments."""

        def read_both() -> tuple[tuple[Entry, ...], Account]:
            self._catch_up(self.store.newer)
            entries = tuple(itertools.islice(self.store.read(), self.state.length))
            return entries, attrs.evolve(self.state.accounts[path])

        return self._alone(read_both)

    # --- writing ------------------------------------------------------------------------------------------

    def charge(self, amount: Amount, account: str, mechanism: str, steps: str, priced: str, rounds: int) -> int:
        """Write a charge, durably, and return its number. mechanism, steps, priced: canonical JSON.

        Raises BudgetExceeded, UnknownLabel, or SubBudgetRefused for a closed one; then nothing was written.
        """
        if not isinstance(account, str) or not 0 < len(account) <= LONGEST_ACCOUNT:
            raise NotSpendable(f"account: expected a short text that says who or what is charged, got {account!r:.99}")
        who = _quoted(account)

        def charge(state: State) -> int:
            payer = state.payer(account)
            if payer.closed:
                raise SubBudgetRefused(f"the sub-budget {payer.path!r} is closed; nothing was charged")
            if not state.lists(account, payer):
                raise unknown_label(state, account, payer)
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
            return number

        number = self._in_turn(charge)
        charge_recorder.note(self, number)
        return number

    def mark_released(self, charge: int, used: str) -> None:
        """Write that the value of a charge was drawn. used: canonical JSON. Raises ReservationClosed."""

        def mark(state: State) -> None:
            if charge not in state.open:
                raise ReservationClosed(f"charge {charge} is marked as released already")
            when = self._time()
            self._write(
                "released",
                f'{{"charge":{charge},"kind":"released","number":{state.length},"time":{when},"used":{used}}}',
            )
            del state.open[charge]
            self._wrote(when)

        self._in_turn(mark)

    def give_back(self, charge: int, rounds: int, amount: Amount) -> None:
        """Write that rounds of an open charge were not used and never will be. Raises ReservationClosed."""

        def give_back(state: State) -> None:
            found = state.open.get(charge)
            if found is None or rounds > found.rounds or not amount.within(found.amount):
                raise ReservationClosed(f"charge {charge} has no {rounds} rounds to give back")
            self._enter(Returned(self._time(), charge, rounds, amount, state.total.minus(amount)))

        self._in_turn(give_back)

    def allocate(self, path: str, ceiling: Amount) -> None:
        """Write a sub-budget. Raises SubBudgetRefused."""

        def allocate(state: State) -> None:
            reason = why_unreadable(path) or state.why_not_allocate(path, ceiling)
            if reason is not None or len(path) > LONGEST_ACCOUNT:
                raise SubBudgetRefused(f"{reason or 'its name is too long'}; nothing was allocated")
            self._enter(Allocated(self._time(), path, ceiling))

        self._in_turn(allocate)

    def announce(self, path: str) -> None:
        """Write a label. Raises SubBudgetRefused."""

        def announce(state: State) -> None:
            reason = state.why_not_announce(path)
            if reason is not None:
                raise SubBudgetRefused(f"{reason}; nothing was announced")
            self._enter(Announced(self._time(), path))

        self._in_turn(announce)

    def close_account(self, path: str) -> Amount:
        """Write that a sub-budget is closed, and return what it did not spend. Raises SubBudgetRefused."""

        def close(state: State) -> Amount:
            reason = state.why_not_close(path)
            if reason is not None:
                raise SubBudgetRefused(reason)
            unspent = state.unspent(path)
            self._enter(Closed(self._time(), path, unspent))
            return unspent

        return self._in_turn(close)

    # --- a turn -------------------------------------------------------------------------------------------

    def _in_turn(self, work: Callable[[State], T]) -> T:
        """Work on the state with every entry in it, while nobody else may append."""

        def turn() -> T:
            try:
                if self.store.quick and (done := self._at_first_try(work)):
                    return done[0]
                self._catch_up(self.store.begin)
                return work(self.state)
            finally:
                try:
                    self.store.abort()  # after a commit it does nothing; work that wrote nothing must not keep the turn
                finally:
                    if self.store.in_turn:  # an interrupt came first
                        self.store.abort()

        return self._alone(turn)

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

    def _alone(self, work: Callable[[], T]) -> T:
        """Work while no other thread does, nor a signal handler that came in between."""
        self.same_process()
        if self._is_ours():
            raise LedgerBroken("a charge is under way in this very thread; a signal handler must not spend")
        try:
            with self._lock:
                return work()
        finally:
            if self._is_ours():  # an interrupt came just before the lock was let go
                self._lock.release()

    def _is_ours(self) -> bool:
        return bool(self._lock._is_owned())  # type: ignore[attr-defined]  # what threading.Condition asks of it, too

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
            for entry in entries:
                _take_in(state, entry)
        except LedgerBroken as error:
            self._why_broken = str(error)  # for good: a later checkpoint must not hide it
            raise
        finally:
            if isinstance(entries, Generator):
                entries.close()  # it holds a connection
        self.state, self._sure = state, True

    def _started_over(self) -> State:
        """A state as it was when these books were opened."""
        state = State()
        if self._base is not None:
            state.resume(*self._base)
        return state

    def _write(self, kind: Kind, line: str) -> None:
        refuse_bad_texts(line)
        if self.store.shared:
            self._refuse_unreadable(kind, line)
        self._sure = False  # until the state has it: whatever interrupts, the store tells what was written
        if self.store.in_turn:
            self.store.append(kind, line)
            self.store.commit()
        elif not self.store.append_next(self.state.length, kind, line):
            self._sure = True
            raise _Overtaken

    def _enter(self, record: Record) -> None:
        """Write a record, and take it into the state as any reader will."""
        state = self.state
        number = state.length
        self._write(kind_of(record), line_of(number, record))
        if wrong := state.apply(number, record):
            raise LedgerBroken(_not_holding(number, wrong[0]))
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


_NOT_YET: Final = (_Overtaken, BudgetExceeded, NotSpendable, ReservationClosed, SubBudgetRefused)
"""What `_at_first_try` may take for old news. Nothing else: a signal handler's exception must reach its user."""


def refuse_bad_texts(line: str) -> None:
    """Raise NotSpendable for canonical JSON with a text in it that only Python could read."""
    if (reason := why_not_written(line)) is not None:
        raise NotSpendable(f"{reason}. Nothing was written; leave it out")


def _take_in(state: State, entry: Entry) -> None:
    try:
        wrong = state.apply(entry.number, read(entry))
    except (DamagedEntry, TypeError, ValueError, LookupError, ArithmeticError) as error:
        wrong = [str(error)]
    if wrong:
        raise LedgerBroken(_not_holding(entry.number, wrong[0]))


def _not_holding(number: int, what: str) -> str:
    return (
        f"the books do not hold together: entry {number}: {what}; "
        "`exchequer ledger verify` lists everything that is wrong"
    )


@functools.lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    if (reason := why_unreadable(text)) is not None:
        raise NotSpendable(f"account: {reason}. Nothing was charged; leave it out")
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
