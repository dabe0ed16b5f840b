"""What the entries paid for, gathered in one pass: how many rounds of which cost, at which prices, for whom.

Rounds that were given back do not count; charges whose value was never released do.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, Protocol

import attrs

from accountant.audit.fast_reader import Accumulator, Run
from accountant.audit.reading import Reading
from accountant.composition import NOTHING, Amount, Composition, Plan
from accountant.costs import ApproxDP, Cost, float_up
from accountant.entries import Allocated, Charged, Entry, Opened, Record, Released, Returned, decode

MOST_POINTS: Final = 2000
"""Most points of the spend over time."""


class Listener(Protocol):
    """Somebody who wants to see each record in the same pass."""

    def take(self, number: int, record: Record) -> None:
        """The next record."""


class SpendingPoint(NamedTuple):
    """After entry `number`, at `time` in nanoseconds since 1970, the ledger had charged `amount` in all."""

    number: int
    time: int
    amount: Amount


class Charge(NamedTuple):
    """A charge that may still give rounds back."""

    account: str
    payer: str
    mechanism: str
    plan: Plan
    price: ApproxDP | None
    route: str | None


@attrs.define
class Spending(Accumulator):
    """What the entries so far add up to.

    opened: the first entry.  charges: their number.
    summed: rounds of each cost that the rule adds up.  priced: rounds inside plans that were charged at a price.
    prices: those prices, and how often each was paid.  routes: the theorems behind them.
    by_account, by_payer, by_mechanism: what was charged to each label, sub-budget ("" for the whole) and mechanism.
    by_place: the same to each pair of sub-budget and label.
    total: the sum of all costs by the rule.  stated: the running total as the newest entry states it.
    """

    opened: Opened | None = None
    charges: int = 0
    summed: Counter[Cost] = attrs.field(factory=Counter)
    priced: Counter[Cost] = attrs.field(factory=Counter)
    prices: Counter[ApproxDP] = attrs.field(factory=Counter)
    routes: Counter[str] = attrs.field(factory=Counter)
    by_account: dict[str, Amount] = attrs.field(factory=dict)
    by_payer: dict[str, Amount] = attrs.field(factory=dict)
    by_mechanism: dict[str, Amount] = attrs.field(factory=dict)
    by_place: dict[tuple[str, str], Amount] = attrs.field(factory=dict)
    total: Amount = NOTHING
    stated: Amount = NOTHING
    _allocated: set[str] = attrs.field(factory=set)
    _open: dict[int, Charge] = attrs.field(factory=dict)
    _amounts: dict[tuple[Plan, ApproxDP | None], Amount] = attrs.field(factory=dict)
    _points: list[SpendingPoint] = attrs.field(factory=list)
    _stride: int = 1
    _last: SpendingPoint | None = None

    @property
    def promise(self) -> Opened:
        """The first entry. Raises ValueError where it is missing."""
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        return self.opened

    @property
    def rule(self) -> Composition:
        """The rule of this ledger."""
        return self.promise.composition

    @property
    def rounds(self) -> Counter[Cost]:
        """All rounds of each cost, however they were charged."""
        return self.summed + self.priced

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        match record:
            case Opened():
                self.opened = record
            case Charged():
                self._charged(number, record)
            case Returned():
                self._returned(number, record)
            case Released(charge=charge):
                self._open.pop(charge, None)
            case Allocated(account=path):
                self._allocated.add(path)
            case _:
                pass

    def take_run(self, run: Run) -> None:
        """The next entries."""
        made = {template: self._paid(template.record, uses) for template, uses in run.uses.items()}
        self._open.update((number, made[template]) for number, template in run.open.items())
        for sort in run.released:
            if isinstance(sort[1], int):
                self._open.pop(sort[1], None)
        before = self.charges - len(run.charges)
        place = -before % self._stride
        while place < len(run.charges):
            self._keep(_point(run, place))
            place += 1 + -(before + place + 1) % self._stride
        if run.charges:
            self._last = _point(run, -1)
            self.stated = self._last.amount

    def _charged(self, number: int, record: Charged) -> None:
        self._open[number] = self._paid(record, 1)
        point = self._last = SpendingPoint(number, record.time, self.total)
        self.stated = record.after
        if (self.charges - 1) % self._stride == 0:
            self._keep(point)

    def _paid(self, record: Charged, times: int) -> Charge:
        """So many charges like this one."""
        plan, price = record.plan, record.price
        if price is None:
            _add(self.summed, plan, times)
        else:
            _add(self.priced, plan, times)
            self.prices[price] += times
            self.routes[record.route or ""] += times
        said = record.mechanism
        name = "plan" if said is None else f"{said.mechanism}({said.query})"
        charge = Charge(record.account, self._payer(record.account), name, plan, price, record.route)
        self.charges += times
        self._count(charge, self._amount(record).times(times), 1)
        return charge

    def _returned(self, number: int, record: Returned) -> None:
        charge = self._open.get(record.charge)
        if charge is None or record.rounds > charge.plan.rounds:
            raise ValueError(f"entry {number} gives back rounds that are not open")
        kept, unused = parted(charge.plan, charge.plan.rounds - record.rounds)
        _add(self.summed if charge.price is None else self.priced, unused, -1)
        if kept is None:
            del self._open[record.charge]
            if charge.price is not None:
                self.prices[charge.price] -= 1
                self.routes[charge.route or ""] -= 1
        else:
            self._open[record.charge] = charge._replace(plan=kept)
        self._count(charge, record.amount, -1)
        point = self._last = SpendingPoint(number, record.time, self.total)
        self.stated = record.after
        if (self.charges - 1) % self._stride == 0:
            self._keep(point)

    def _amount(self, record: Charged) -> Amount:
        key = (record.plan, record.price)
        if (known := self._amounts.get(key)) is not None:
            return known
        if len(self._amounts) >= 10_000:  # a ledger in which every cost is another
            self._amounts.clear()
        return self._amounts.setdefault(key, record.amount(self.rule))

    def _payer(self, account: str) -> str:
        while account and account not in self._allocated:
            account = account.rpartition("/")[0]
        return account

    def _count(self, charge: Charge, amount: Amount, sign: int) -> None:
        places = (self.by_account, charge.account), (self.by_payer, charge.payer), (self.by_mechanism, charge.mechanism)
        for sums, name in places:
            sums[name] = _plus(sums.get(name, NOTHING), amount, sign)
        place = charge.payer, charge.account
        self.by_place[place] = _plus(self.by_place.get(place, NOTHING), amount, sign)
        self.total = _plus(self.total, amount, sign)

    def _keep(self, point: SpendingPoint) -> None:
        """One more point over time; where they become too many, every second one goes."""
        self._points.append(point)
        if len(self._points) >= MOST_POINTS:
            self._points, self._stride = self._points[::2], 2 * self._stride

    @property
    def points(self) -> Sequence[SpendingPoint]:
        """The total over time, oldest first, the newest always among them; at most MOST_POINTS."""
        newest = [] if self._last is None or self._points[-1] == self._last else [self._last]
        return (*self._points, *newest)


def gather(entries: Iterable[Entry], *listeners: Listener) -> Spending:
    """One pass over the entries. listeners: are shown every record too.

    Raises ValueError (`DamagedEntry`) for an entry that cannot be read, and where the first is missing.
    """
    spending = Spending()
    if listeners:  # who must see each record
        for entry in entries:
            record = decode(entry)
            spending.take(entry.number, record)
            for listener in listeners:
                listener.take(entry.number, record)
    else:
        Reading(spending, checked=False).take(entries)
    if spending.opened is None:
        raise ValueError("the ledger was never opened")
    return spending


def parted(plan: Plan, rounds: int) -> tuple[Plan | None, Plan]:
    """The first `rounds` rounds of a plan, None for none, and the rest; rounds < plan.rounds."""
    first, rest = [], []
    for step in plan.steps:
        taken = min(step.rounds, rounds)
        rounds -= taken
        if taken:
            first.append(attrs.evolve(step, rounds=taken))
        if taken < step.rounds:
            rest.append(attrs.evolve(step, rounds=step.rounds - taken))
    return Plan(tuple(first)) if first else None, Plan(tuple(rest))


def share(part: Amount, whole: Amount) -> float:
    """What part of the whole loss it is, rounded up; of Σδ where there is no other loss."""
    for of_part, of_whole in ((part.loss, whole.loss), (part.delta, whole.delta)):
        if of_whole:
            return float_up(Fraction(of_part, of_whole))
    return 0.0


def _point(run: Run, place: int) -> SpendingPoint:
    number, _, time, loss, delta = run.charges[place]
    return SpendingPoint(number, int(time), run.total(loss, delta))


def _add(counts: Counter[Cost], plan: Plan, sign: int) -> None:
    for step in plan.steps:
        counts[step.cost] += sign * step.rounds


def _plus(total: Amount, amount: Amount, sign: int) -> Amount:
    return total.plus(amount) if sign > 0 else total.minus(amount)
