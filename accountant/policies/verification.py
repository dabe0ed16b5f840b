"""Holding a ledger's entries against a policy, whatever policy there was when they were written."""

import re
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from accountant.entries import (
    Charged,
    Checkpoint,
    Entry,
    Opened,
    Record,
    Released,
    Returned,
    State,
    decode,
    decode_charge,
)
from accountant.policies.checks import Checks, PolicyCharge
from accountant.policies.policy import Policy, Violation
from accountant.policies.running_sums import DatasetSums


@attrs.frozen
class Breach:
    """Entry `number` breaks a rule of a policy."""

    number: int
    violation: Violation

    def __str__(self) -> str:
        return f"entry {self.number}: {self.violation.rule}: {self.violation.found}"


@attrs.frozen
class PolicyCheck:
    """What was found. entries: how many were read.  charges: how many of them are charges."""

    policy: Policy
    entries: int
    charges: int
    breaches: tuple[Breach, ...]


def breaches(
    entries: Iterable[Entry], policy: Policy, progress: Callable[[int], object] = lambda entries: None
) -> PolicyCheck:
    """Every entry that broke the policy. Limits are of this ledger alone; others are counted at charges only.

    progress: is told how many entries were read, now and then. What is wrong with the entries themselves is for
    `verify` to say. Raises ValueError for an entry that cannot be read, and where the ledger was never opened.
    """
    replay = _Replay(policy)
    number = 0
    for number, entry in enumerate(entries, 1):
        replay.take(entry)
        if number % 1000 == 0:
            progress(number)
    if replay.checks is None:
        raise ValueError("the ledger was never opened")
    return PolicyCheck(policy, number, replay.charges, tuple(replay.found))


_AS_ANNOUNCED: Final = ',"used":[]}'
"""How the line of a release of what its charge announced ends; there are as many of them as charges."""

_RELEASES: Final = re.compile(r'\{"charge":([0-9]{1,18}),"kind":"released",')


class _Replay:
    """The entries so far. checks: from the first entry on.

    state: knows of the sub-budgets alone, and of no charge, whose sums are for `verify` to check.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self.state, self.charges = policy, State(), 0
        self.found: list[Breach] = []
        self.checks: Checks | None = None
        self._sums: DatasetSums

    def take(self, entry: Entry) -> None:
        """The next entry."""
        number = entry.number
        plain = entry.kind == "released" and self.checks is not None and entry.line.endswith(_AS_ANNOUNCED)
        if plain and (found := _RELEASES.match(entry.line)) is not None:
            self._sums.released(number, int(found[1]))
            return
        record = (decode_charge(number, entry.line) if entry.kind == "charged" else None) or decode(entry)
        if isinstance(record, Opened) and self.checks is None:
            self.checks = Checks(self.policy, record.composition, record.adjacency)
            self._sums = DatasetSums(record.composition)
            self.found += [Breach(number, each) for each in self.checks.promise()]
        if self.checks is not None:
            self.found += [Breach(number, each) for each in self._broken(number, record, self.checks)]
            self._sums.take(number, record)
        if not isinstance(record, Charged | Released | Returned | Checkpoint):
            self.state.apply(number, record)

    def _broken(self, number: int, record: Record, checks: Checks) -> Iterable[Violation]:
        match record:
            case Charged():
                self.charges += 1
                payer = self.state.payer(record.account).path
                said = record.mechanism
                private = None if said is None else said.private
                amount = record.amount(self.state.rule)
                charge = PolicyCharge(record.about, record.time, amount, record.plan, record.price, private, payer)
                return checks.charge(charge, self._sums, self.state.accounts)
            case Released(charge=charged, used=used) if self.policy.secure_noise:
                simulated = [mechanism.mechanism for mechanism, _ in used if not mechanism.private]
                found = f"charge {charged} released {', '.join(simulated)} with simulated noise"
                return [Violation('[noise] source = "secure"', found, "Use SecureNoise")] if simulated else []
            case _:
                return []
