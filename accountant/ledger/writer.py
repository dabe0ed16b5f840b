"""The one that writes: takes its turn at the store, decides on what the ledger holds by then, appends one entry."""

import contextlib
import functools
import json
import operator
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from accountant.canonical_json import canonical
from accountant.composition import Amount, Composition, UnsupportedBudget, composition_from_record
from accountant.costs import Adjacency, Budget
from accountant.entries import (
    BELIEVED_FROM,
    NEWEST_FORMAT,
    Account,
    Allocated,
    Announced,
    Checkpoint,
    Closed,
    EntryStore,
    Opened,
    Produced,
    ReleaseLine,
    Returned,
    SigningKey,
    State,
    Upgraded,
    read_start,
    why_unreadable,
)
from accountant.exceptions import (
    BudgetExceeded,
    KeyRefused,
    LedgerCopyRefused,
    NotSpendable,
    ReservationClosed,
    SubBudgetRefused,
)
from accountant.ledger import charge_recorder
from accountant.ledger.account_names import unknown_label
from accountant.ledger.new_charges import LONGEST_ACCOUNT, NewCharge
from accountant.ledger.new_lines import refuse_bad_texts, refuse_unreadable
from accountant.ledger.replica import Replica
from accountant.witnesses import KeyRequest, WriterSigning

if TYPE_CHECKING:
    from accountant.policies import Guard
    from accountant.registry import Membership

CHECKPOINT_EVERY: Final = 10_000
"""Entries after which whoever opens the ledger next writes a checkpoint, so that opening stays quick."""

AS_ANNOUNCED: Final = ReleaseLine.of(())
"""A release of what its charge announced."""


class LedgerWriter:
    """Writes the entries of one ledger in this process. Shared by all its accounts.

    replica: the ledger as this process sees them.  signing: what is signed with a writer's key, if there is one.
    guard: holds each charge against a policy, where there is one.  membership: in a registry, where there is one.
    """

    def __init__(self, store: EntryStore) -> None:
        self.replica = Replica(store)
        self.guard: Guard | None = None
        self.membership: Membership | None = None
        self.signing: WriterSigning | None = None

    @property
    def store(self) -> EntryStore:
        """Where the entries are."""
        return self.replica.store

    @property
    def state(self) -> State:
        """After the entries that are known here."""
        return self.replica.state

    # --- opening ------------------------------------------------------------------------------------------

    def open_new(self, budget: Budget, rule: Composition, adjacency: Adjacency) -> None:
        """Write the first entry, unless somebody else has. Raises UnsupportedBudget."""
        rule.ceiling(budget)
        if composition_from_record(json.loads(canonical(rule.describe()))) != rule:  # as it will be read
            raise UnsupportedBudget(
                f"{rule!r} is not a rule that a ledger can name, so nobody could verify it: derive it from OwnRule, "
                "under a name of its own"
            )

        def begin(state: State) -> None:
            if state.opened is None:
                self.replica.enter(Opened(self.replica.now(), budget, rule, adjacency, os.urandom(16).hex()))

        self.replica.in_turn(begin)

    def resume(self, *, whole: bool = False) -> None:
        """Read a ledger that exists. Raises LedgerBroken where it does not hold together.

        whole: from the first entry on. Else a long one is read from its newest checkpoint on, which is believed.
        """
        newest = self.store.checkpoint()
        if newest is not None and newest.number >= BELIEVED_FROM and not whole:
            self.replica.start_at(read_start(self.store.read, newest))
        self.replica.refresh()
        start = 0 if newest is None else newest.number
        if self.state.length - start > CHECKPOINT_EVERY:
            with contextlib.suppress(NotSpendable):  # too many open charges to be written down: it is read whole
                self.write_checkpoint()

    def write_checkpoint(self) -> None:
        """Write down what the entries so far add up to."""
        self.replica.in_turn(lambda state: self.replica.enter(Checkpoint(self.replica.now(), state.as_dict())))

    # --- one entry of each kind ---------------------------------------------------------------------------

    def charge(self, new: NewCharge) -> int:
        """Write a charge, durably, and return its number.

        Raises BudgetExceeded, UnknownLabel, SubBudgetRefused for a closed one, or PolicyRefused; then nothing was
        written.
        """
        if new.upgrades:
            self._upgraded(functools.partial(self._upgrade_for, new))
        number = self.replica.in_turn(functools.partial(self._charge, new))
        charge_recorder.note(self, number)
        if self.signing is not None:
            self.signing.pending.append(number)
            if len(self.signing.pending) >= self.signing.every:
                self.sign()
        return number

    def _upgraded(self, upgrade: Callable[[State], None]) -> None:
        """Make sure that the ledger is of the newest format."""
        if self.state.format < NEWEST_FORMAT:
            self.replica.in_turn(upgrade)

    def _upgrade_for(self, new: NewCharge, state: State) -> None:
        """Upgrade the ledger, unless the charge is refused: then nothing is written."""
        self._admitted(new, state)
        self._upgrade(state)

    def _upgrade(self, state: State) -> None:
        """Write that entries may say more from here on, unless somebody has. Older versions then read no further."""
        if state.format < NEWEST_FORMAT:
            self.replica.enter(Upgraded(self.replica.now(), NEWEST_FORMAT))

    def note_model(self, model: str, charges: Sequence[int]) -> int:
        """Write that a model came of charges, and return the entry's number.

        Raises ValueError where these are no charges; then nothing was written.
        """
        length = self.replica.refresh().length
        numbers = [_number(each) for each in charges]
        for number in numbers:
            entry = next(iter(self.store.read(number)), None) if 0 <= number < length else None
            if entry is None or entry.kind != "charged":
                raise ValueError(f"charges: entry {number} is no charge of this ledger")
        record = functools.partial(Produced, model=model, charges=tuple(sorted(set(numbers))))
        if not numbers:
            raise ValueError("charges: expected at least one number of an entry")
        self._upgraded(self._upgrade)

        def produce(state: State) -> int:
            number = state.length
            self.replica.enter(record(self.replica.now()))
            return number

        return self.replica.in_turn(produce)

    def _charge(self, new: NewCharge, state: State) -> int:
        account, amount, (payer, when) = new.account, new.amount, self._admitted(new, state)
        if self.signing is not None and (reason := self.signing.why_not(state)) is not None:
            raise KeyRefused(f"{reason}; nothing was charged")
        replica, number, guard = self.replica, state.length, self.guard
        line = new.line if state.format >= NEWEST_FORMAT else new.line.without_amount()
        replica.write_checked("charged", line.at(number, when, state.total.plus(amount)))
        state.charge(number, account, payer, amount, new.rounds)
        replica.wrote(when)
        if guard is not None:
            guard.charged(number, new, when)
        return number

    def _admitted(self, new: NewCharge, state: State) -> tuple[Account, int]:
        """Who pays for a charge, and when it is written. Raises where it is refused, PolicyRefused among others."""
        payer, when = _payer_of(new, state), self.replica.now()
        if self.guard is not None:
            self.guard.admit(new, payer.path, when, state)
        return payer, when

    def refuse_unsayable(self, description: str) -> None:
        """Raise NotSpendable for a `Description.canonical` that a reservation's last entry could not hold."""
        refuse_bad_texts(description)
        if self.store.shared:
            refuse_unreadable(0, "released", ReleaseLine.of([(description, 1)]).at(0, 0, 0))

    def mark_released(self, charge: int, used: ReleaseLine) -> None:
        """Write that the value of a charge was drawn. Raises ReservationClosed."""
        self.replica.in_turn(functools.partial(self._mark_released, charge, used))

    def _mark_released(self, charge: int, used: ReleaseLine, state: State) -> None:
        if charge not in state.open:
            raise ReservationClosed(f"charge {charge} is marked as released already")
        replica = self.replica
        when = replica.now()
        line = used.at(state.length, when, charge)
        if used is AS_ANNOUNCED:
            replica.write_checked("released", line)
        else:  # a list of what a reservation released
            replica.write("released", line)
        del state.open[charge]
        replica.wrote(when)
        if self.guard is not None:
            self.guard.released(state.length - 1, charge)

    def give_back(self, charge: int, rounds: int, amount: Amount) -> None:
        """Write that rounds of an open charge were not used and never will be. Raises ReservationClosed."""

        def give_back(state: State) -> None:
            found = state.open.get(charge)
            if found is None or rounds > found.rounds or not amount.within(found.amount):
                raise ReservationClosed(f"charge {charge} has no {rounds} rounds to give back")
            self.replica.enter(Returned(self.replica.now(), charge, rounds, amount, state.total.minus(amount)))

        self.replica.in_turn(give_back)

    def allocate(self, path: str, ceiling: Amount) -> None:
        """Write a sub-budget. Raises SubBudgetRefused."""

        def allocate(state: State) -> None:
            reason = why_unreadable(path) or state.why_not_allocate(path, ceiling)
            if reason is not None or len(path) > LONGEST_ACCOUNT:
                raise SubBudgetRefused(f"{reason or 'its name is too long'}; nothing was allocated")
            self.replica.enter(Allocated(self.replica.now(), path, ceiling))

        self.replica.in_turn(allocate)

    def announce(self, path: str) -> None:
        """Write a label. Raises SubBudgetRefused."""

        def announce(state: State) -> None:
            reason = state.why_not_announce(path)
            if reason is not None:
                raise SubBudgetRefused(f"{reason}; nothing was announced")
            self.replica.enter(Announced(self.replica.now(), path))

        self.replica.in_turn(announce)

    def close_account(self, path: str) -> Amount:
        """Write that a sub-budget is closed, and return what it did not spend. Raises SubBudgetRefused."""

        def close(state: State) -> Amount:
            reason = state.why_not_close(path)
            if reason is not None:
                raise SubBudgetRefused(reason)
            unspent = state.unspent(path)
            self.replica.enter(Closed(self.replica.now(), path, unspent))
            return unspent

        return self.replica.in_turn(close)

    # --- keys of writers ------------------------------------------------------------------------------------

    def sign_with(self, key: SigningKey, every: int) -> None:
        """Sign with this key from here on. Raises KeyRefused."""
        signing = WriterSigning(key, every)
        if (reason := signing.why_not(self.replica.refresh())) is not None:
            raise KeyRefused(f"{reason}: `exchequer ledger writers enrol` enrols keys")
        with contextlib.suppress(KeyRefused):  # of a key that was revoked: what it charged stays unsigned
            self.sign()  # with the key until now
        self.signing = signing

    def sign(self) -> int | None:
        """Sign what is pending, and return that entry's number; None where nothing is. Raises KeyRefused."""
        signing = self.signing
        if signing is None or not signing.pending:
            return None

        def sign(state: State) -> int | None:
            if (reason := signing.why_not(state)) is not None:
                raise KeyRefused(f"{reason}: {len(signing.pending)} charges stay unsigned")
            signing.settle(self.store.read)
            if not signing.pending:
                return None
            number = state.length
            self.replica.enter(signing.at(number, self.replica.now(), self.store.head, self._id(state)))
            signing.settle(self.store.read)
            return number

        return self.replica.in_turn(sign)

    def change_key(self, request: KeyRequest) -> int:
        """Write a change of keys, and return the entry's number. Raises KeyRefused; then nothing was written."""

        def refuse(state: State) -> None:
            change = request.at(state.length, 0, self.store.head, self._id(state))
            if (reason := state.writers.why_not_change(change)) is not None:
                raise KeyRefused(f"{reason}; nothing was written")

        def change(state: State) -> int:
            refuse(state)
            number = state.length
            self.replica.enter(request.at(number, self.replica.now(), self.store.head, self._id(state)))
            return number

        self.replica.refresh()
        refuse(self.state)
        with contextlib.suppress(KeyRefused):  # of a key that was revoked already; what it charged stays unsigned
            self.sign()  # while this handle's key still may
        self.replica.in_turn(self._upgrade)
        return self.replica.in_turn(change)

    def _id(self, state: State) -> str:
        assert state.opened is not None  # a ledger is opened when it is made
        return state.opened.id

    def close(self) -> None:
        """Sign what is pending, then let go of the store, whatever comes of that."""
        try:
            with contextlib.suppress(LedgerCopyRefused):  # a fork's child has nothing of its own to sign
                self.sign()
        finally:
            self.store.close()


def _payer_of(new: NewCharge, state: State) -> Account:
    """Who pays for a charge. Raises BudgetExceeded, UnknownLabel, or SubBudgetRefused where it is refused."""
    account, amount = new.account, new.amount
    payer = state.payer(account)
    if payer.closed:
        raise SubBudgetRefused(f"the sub-budget {payer.path!r} is closed; nothing was charged")
    if not state.lists(account, payer):
        raise unknown_label(state, account, payer)
    if not payer.affords(amount):
        raise BudgetExceeded(amount, payer.left, state.rule, payer.path)
    return payer


def _number(value: object) -> int:
    """The number of an entry, of numpy's too. Raises ValueError."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        pass
    raise ValueError(f"charges: expected numbers of entries, got {value!r:.99}")
