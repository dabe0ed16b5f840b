"""A policy's turn at a ledger: it refuses a charge in the very turn in which that would be written."""

import json
from collections.abc import Iterator
from typing import Protocol

from accountant.audit import Reading
from accountant.composition import Amount, Composition, Plan
from accountant.costs import Adjacency, ApproxDP
from accountant.entries import About, Entry, State
from accountant.policies.checks import Checks, Outside, PolicyCharge
from accountant.policies.policy import Policy, Violation
from accountant.policies.running_sums import DatasetSums


class EntryReader(Protocol):
    """Where a ledger's entries are read."""

    def read(self, start: int = 0) -> Iterator[Entry]:
        """The entries from a number on."""


class WantedCharge(Protocol):
    """A charge that somebody wants to write."""

    @property
    def amount(self) -> Amount:
        """What it adds by the ledger's rule."""

    @property
    def plan(self) -> Plan:
        """Its costs."""

    @property
    def price(self) -> ApproxDP | None:
        """Of a plan that is charged as one thing."""

    @property
    def about(self) -> About:
        """What it says that it is about."""

    @property
    def announced(self) -> str:
        """`Description.canonical`, or "null"."""


class Guard:
    """Holds charges of one ledger against a policy, with running sums of what each data set was charged.

    outside: knows of other ledgers over the same data set; None to count this ledger alone.
    """

    def __init__(
        self, policy: Policy, store: EntryReader, rule: Composition, adjacency: Adjacency, outside: Outside | None
    ) -> None:
        self.policy = policy
        self._store, self._outside = store, outside
        self._checks = Checks(policy, rule, adjacency)
        self._sums = DatasetSums(rule)
        self._private: dict[str, bool | None] = {}

    def read_all(self) -> None:
        """Add up what each data set was charged so far, where that matters: a pass over all entries."""
        if self.policy.limits_datasets:
            Reading(self._sums, checked=False).take(self._store.read())

    def admit(self, new: WantedCharge, payer: str, time: int, state: State) -> None:
        """Raise PolicyRefused for a charge that may not be written now. Call it in the charge's turn.

        state: with all entries so far.  time: of the entry.
        """
        if self.policy.limits_datasets and self._sums.seen < state.length:
            self._sums.catch_up(self._store.read(self._sums.seen), state.length)
        charge = PolicyCharge(new.about, time, new.amount, new.plan, new.price, self._is_private(new.announced), payer)
        _refuse(self.policy, self._checks.charge(charge, self._sums, state.accounts, self._outside))

    def charged(self, number: int, new: WantedCharge, time: int) -> None:
        """Entry `number` is the charge that was admitted."""
        if self.policy.limits_datasets and number == self._sums.seen:
            self._sums.charge(number, new.about.dataset, time, new.amount)

    def released(self, number: int, charge: int) -> None:
        """Entry `number` marks a charge as released."""
        if self.policy.limits_datasets:
            self._sums.released(number, charge)

    def _is_private(self, announced: str) -> bool | None:
        if not self.policy.secure_noise or announced == "null":
            return None
        if announced not in self._private:
            if len(self._private) >= 1000:
                self._private.clear()
            self._private[announced] = json.loads(announced)["private"] is True
        return self._private[announced]


def refuse_opening(policy: Policy, rule: Composition, adjacency: Adjacency, about: About) -> None:
    """Raise PolicyRefused where a ledger of this promise may not be opened, or not by whoever says so of themselves."""
    checks = Checks(policy, rule, adjacency)
    _refuse(policy, checks.promise())
    _refuse(policy, checks.person(about))


def _refuse(policy: Policy, violations: Iterator[Violation]) -> None:
    for violation in violations:
        raise violation.refusal(policy)
