"""What a report shows of the entries themselves, gathered in one pass: times, noise, claims, plans, open charges.

What charges add up to is the business of `State` and `Spending`, which see the same records in the same pass.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs

from accountant.audit import Accumulator, Run, Spending, declared_elsewhere, parted
from accountant.audit.report.released import ReleaseGroups
from accountant.audit.report.spent_on import AboutSpending
from accountant.composition import ROUTE_CLAIMS, Amount, Plan
from accountant.costs import CLAIM_OF_KIND, Cost, Description
from accountant.entries import Charged, DamagedEntry, OpenCharge, Opened, Record, Released, Returned, State

MOST_KEPT: Final = 1000
"""Plans, and rounds given back, that are kept one by one; the others are only counted."""


class Waiting(NamedTuple):
    """A charge that may still be released, or given back: when it was made, by what if that was announced."""

    time: int
    mechanism: Description | None
    plan: Plan


class PricedPlan(NamedTuple):
    """A plan that was charged as one thing, by the entry of that number."""

    number: int
    record: Charged


class GivenBack(NamedTuple):
    """Unused rounds that were given back by the entry of that number."""

    number: int
    record: Returned


@attrs.define
class NoiseUse:
    """A noise source. private: False for a simulation.  released: rounds drawn from it.  waiting: rounds not yet."""

    private: bool = True
    released: int = 0
    waiting: int = 0


class Evidence(Accumulator):
    """What one pass over the entries collects, sound or not.

    unreadable: entries that could not be taken in, which `verify` says more about.
    plans, given_back: the first MOST_KEPT of each; `spending.routes` and `kinds` count them all.
    costs: rounds of each cost, by the mechanism that was announced.  claims: ids that costs and plans depend on.
    declared: what is said of costs that are somebody's word.  abouts: what was charged for what.
    """

    def __init__(self) -> None:
        self.state, self.spending, self.drawn = State(), Spending(), ReleaseGroups()
        self.kinds: Counter[str] = Counter()
        self.first_time, self.last_time = 0, 0
        self.unreadable = 0
        self.waiting: dict[int, Waiting] = {}
        self.claims: set[str] = set()
        self.declared: set[str] = set()
        self.abouts = AboutSpending()
        self.plans: list[PricedPlan] = []
        self.given_back: list[GivenBack] = []
        self.costs: dict[str, Counter[Cost]] = {}
        self._simulated = False

    def take(self, number: int, record: Record) -> None:
        """The next entry. One that cannot be added up is counted and skipped."""
        try:
            self._take(number, record)
        except (DamagedEntry, LookupError, TypeError, ValueError, ArithmeticError):
            self.unreadable += 1

    def miss(self) -> None:
        """The next entry cannot be read."""
        self.unreadable += 1

    def take_run(self, run: Run) -> None:
        """The next entries, all of which could be read and added up."""
        self.kinds["charged"] += len(run.charges)
        self.kinds["released"] += len(run.releases)
        self.last_time = max(self.last_time, run.time)
        for template, uses in run.uses.items():
            record, terms = template.record, template.terms
            self.state.payer(record.account).draw(terms.amount.times(uses))
            self._made(record, uses)
        for number, template, time, _, _ in run.charges:
            if number in run.open:
                record, terms = template.record, template.terms
                payer = self.state.payer(record.account)
                self.state.open[number] = OpenCharge(record.account, payer.path, terms.rounds, terms.amount)
                self.waiting[number] = Waiting(int(time), record.mechanism, record.plan)
            if template.record.route is not None and len(self.plans) < MOST_KEPT:
                self.plans.append(PricedPlan(number, template.record))
        for (used, charge), times in run.released.items():
            if isinstance(charge, int):
                self.state.open.pop(charge, None)
                before = self.waiting.pop(charge, None)
                self._drew(used.record, None if before is None else before.mechanism, times)
            else:
                self._drew(used.record, charge.record.mechanism, times)
        self.state.length, self.state.time = run.end, run.time
        self.spending.take_run(run)
        self.abouts.take_run(run)

    @property
    def opened(self) -> Opened | None:
        """The first entry; None for a ledger that was never opened."""
        return self.state.opened

    @property
    def private(self) -> bool:
        """Whether no mechanism, announced or released, drew simulated noise."""
        return not self._simulated

    @property
    def unknown(self) -> int:
        """Open charges that did not announce a mechanism: nobody can say yet what noise they draw."""
        return sum(waiting.mechanism is None for waiting in self.waiting.values())

    @property
    def sources(self) -> dict[str, NoiseUse]:
        """The noise sources by name, those that open charges announced included."""
        found: dict[str, NoiseUse] = {}
        for group in self.drawn.groups():
            source = found.setdefault(group.noise, NoiseUse())
            source.private = source.private and group.private
            source.released += group.rounds
        for waiting in self.waiting.values():
            if waiting.mechanism is not None:
                source = found.setdefault(waiting.mechanism.noise, NoiseUse())
                source.private = source.private and waiting.mechanism.private
                source.waiting += waiting.plan.rounds
        return found

    def spent_over_time(self) -> Iterator[tuple[int, int, float]]:
        """(entry, time in nanoseconds since 1970, share of the budget) from the first entry to the newest."""
        ceiling = self.state.root.ceiling
        yield 0, self.first_time, 0.0
        time = self.first_time
        for point in self.spending.points if self.spending.charges else ():
            time = max(time, point.time)
            yield point.number, time, part_of(point.amount, ceiling)
        yield self.state.length - 1, self.last_time, part_of(self.state.total, ceiling)

    # --- one entry ------------------------------------------------------------------------------------

    def _take(self, number: int, record: Record) -> None:
        if self.state.opened is None and not isinstance(record, Opened):
            raise ValueError("an entry before the ledger was opened")
        self.kinds[type(record).__name__.lower()] += 1
        self.first_time = self.first_time or record.time
        self.last_time = max(self.last_time, record.time)
        self.state.apply(number, record)
        self.spending.take(number, record)
        self.abouts.take(number, record)
        match record:
            case Charged():
                self._charged(number, record)
            case Released():
                self._released(record)
            case Returned():
                self._returned(number, record)
            case _:
                pass

    def _charged(self, number: int, record: Charged) -> None:
        self.waiting[number] = Waiting(record.time, record.mechanism, record.plan)
        self._made(record, 1)
        if record.route is not None and len(self.plans) < MOST_KEPT:
            self.plans.append(PricedPlan(number, record))

    def _made(self, record: Charged, times: int) -> None:
        """So many charges like this one."""
        if record.mechanism is not None:
            self._rests_on(record.mechanism)
        self._count(record.mechanism, record.plan, times)
        kinds = {step.cost.kind for step in record.plan.steps}
        self.claims.update(CLAIM_OF_KIND[kind] for kind in kinds & CLAIM_OF_KIND.keys())
        if record.route is not None:
            self.claims.add(ROUTE_CLAIMS.get(record.route, record.route))

    def _released(self, record: Released) -> None:
        waiting = self.waiting.pop(record.charge, None)
        self._drew(record, None if waiting is None else waiting.mechanism, 1)

    def _drew(self, record: Released, announced: Description | None, times: int) -> None:
        """So many releases like this one, of charges that announced this mechanism."""
        for mechanism, rounds in record.used:
            self._rests_on(mechanism)
            self.drawn.add(mechanism, rounds * times)
        if not record.used and announced is not None:
            self.drawn.add(announced, times)

    def _returned(self, number: int, record: Returned) -> None:
        if len(self.given_back) < MOST_KEPT:
            self.given_back.append(GivenBack(number, record))
        waiting = self.waiting.get(record.charge)
        if waiting is None or record.rounds > waiting.plan.rounds:
            return
        kept, unused = parted(waiting.plan, waiting.plan.rounds - record.rounds)
        self._count(waiting.mechanism, unused, -1)
        if kept is None:
            del self.waiting[record.charge]
        else:
            self.waiting[record.charge] = waiting._replace(plan=kept)

    def _count(self, mechanism: Description | None, plan: Plan, sign: int) -> None:
        costs = self.costs.setdefault(label(mechanism), Counter())
        for step in plan.steps:
            costs[step.cost] += sign * step.rounds

    def _rests_on(self, mechanism: Description) -> None:
        self._simulated = self._simulated or not mechanism.private
        self.claims.update(mechanism.claims)
        if len(self.declared) < MOST_KEPT:
            self.declared.update(declared_elsewhere(mechanism))


def label(mechanism: Description | None) -> str:
    """A mechanism's name in tables, as `Spending` has it."""
    return "plan" if mechanism is None else f"{mechanism.mechanism}({mechanism.query})"


def part_of(amount: Amount, whole: Amount) -> float:
    """What part of a ceiling is used up: of the loss or of the δ, whichever is larger."""
    return max(_ratio(amount.loss_units, whole.loss_units), _ratio(amount.delta_units, whole.delta_units))


def _ratio(part: int, whole: int) -> float:
    """A part of a whole; nothing of nothing is 0, something of nothing is more than all of it."""
    return part / whole if whole else (2.0 if part else 0.0)
