"""What a statement says beside its total: who was charged what, how plans were priced, and what all of it depends on.

Kept by the sub-budget that paid, so that one pass answers for the whole ledger and for each of its sub-budgets. It can
go on as entries are added; what it holds grows with what differs, and with plans, each of which a statement names.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from accountant.audit.displayed_numbers import rounded_up
from accountant.audit.fast_reader import Accumulator, ReleaseTemplate, Run
from accountant.composition import ROUTE_CLAIMS, Plan
from accountant.costs import CLAIM_OF_KIND, Budget, Cost, Description
from accountant.entries import ROOT, About, Allocated, Charged, Opened, Record, Released, Returned

Row = tuple[str, str, str, int, str]
"""Account, mechanism, cost, rounds and noise of equal charges."""

RowKey = tuple[str, str, str, str, str]
"""The sub-budget that paid; account, mechanism, cost and noise."""

_NUMBERS: Final = ("epsilon", "delta", "rho", "mu", "sampling_rate")


class _Open:
    """A charge without its release. unknown: it did not announce a mechanism."""

    __slots__ = ("payer", "rounds", "unknown")

    def __init__(self, payer: str, record: Charged) -> None:
        self.payer, self.rounds, self.unknown = payer, record.plan.rounds, record.mechanism is None


class StatementDetails(Accumulator):
    """What one pass over the entries collects for statements. opened: the first entry."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self._rows: dict[RowKey, int] = {}
        self._claims: dict[str, set[str]] = {}
        self._about: dict[tuple[str, About], int] = {}  # the sub-budget that paid; how many charges say so
        self._simulated: set[str] = set()
        self._open: dict[int, _Open] = {}
        self._plans: list[tuple[str, str]] = []  # the sub-budget that paid, and a sentence
        self._sentences: dict[tuple[str, str], tuple[str, str]] = {}  # those that may occur again, each kept once
        self._plans_told: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._allocated = {ROOT}

    # --- what a statement says ----------------------------------------------------------------------------

    def rows(self, account: str) -> tuple[Row, ...]:
        """One for each group of equal charges to this sub-budget and those below, in the order of their first ones."""
        found: dict[tuple[str, str, str, str], int] = {}
        for (payer, *key), rounds in self._rows.items():
            if _within(payer, account):
                who, what, cost, noise = key
                found[who, what, cost, noise] = found.get((who, what, cost, noise), 0) + rounds
        return tuple((who, what, cost, rounds, noise) for (who, what, cost, noise), rounds in found.items())

    def about(self, account: str) -> tuple[tuple[str, int], ...]:
        """What its charges say that they are about, and how many say so; in the order of their first ones."""
        found: dict[About, int] = {}
        for (payer, about), charges in self._about.items():
            if _within(payer, account):
                found[about] = found.get(about, 0) + charges
        return tuple((str(about), charges) for about, charges in found.items())

    def plans(self, account: str) -> tuple[str, ...]:
        """How plans were priced, given back and released, oldest first."""
        told, texts = self._plans_told.get(account, (0, ()))
        if told < len(self._plans):
            texts += tuple(text for payer, text in self._plans[told:] if _within(payer, account))
            self._plans_told[account] = len(self._plans), texts
        return texts

    def claims(self, account: str) -> set[str]:
        """The theorems that its charges and releases depend on."""
        return {claim for payer, claims in self._claims.items() if _within(payer, account) for claim in claims}

    def private(self, account: str) -> bool:
        """Whether all of its noise is known to be real."""
        waiting = (charge.payer for charge in self._open.values() if charge.unknown)
        return not any(_within(payer, account) for payers in (self._simulated, waiting) for payer in payers)

    def unreleased(self, account: str) -> int:
        """How many of its charges have no release."""
        return sum(_within(charge.payer, account) for charge in self._open.values())

    # --- what the entries say -----------------------------------------------------------------------------

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        match record:
            case Opened():
                self.opened = self.opened or record
            case Charged():
                payer = self._charged(record, 1)
                self._open[number] = _Open(payer, record)
                if (text := _priced(record)) is not None:
                    self._say_again(payer, text)
            case Released():
                charge = self._open.pop(record.charge, None)
                if charge is not None:
                    self._released(charge.payer, record)
            case Returned():
                self._returned(record)
            case Allocated(account=path):
                self._allocated.add(path)
            case _:
                pass

    def take_run(self, run: Run) -> None:
        """The next entries."""
        payers = {template: self._charged(template.record, uses) for template, uses in run.uses.items()}
        said: list[tuple[int, str, str]] = []  # in which order, once all are known
        prices = {template: _priced(template.record) for template in payers}
        if any(prices.values()):
            said += [
                (number, payers[template], text)
                for number, template, *_ in run.charges
                if (text := prices[template]) is not None
            ]
        said += self._released_in(run, {number: payers[sort] for number, sort, *_ in run.charges})
        for _, payer, text in sorted(said):
            self._say_again(payer, text)
        self._open.update((number, _Open(payers[sort], sort.record)) for number, sort in run.open.items())

    def _released_in(self, run: Run, payers: dict[int, str]) -> Iterator[tuple[int, str, str]]:
        """The releases of a run; what is to be said of them, each by the number of its entry."""
        noted, texts = set[tuple[str, ReleaseTemplate]](), dict[ReleaseTemplate, str | None]()
        for number, charge, used, _ in run.releases:
            payer = payers.get(charge)
            if payer is None:
                before = self._open.pop(charge, None)
                if before is None:
                    continue
                payer = before.payer
            if (payer, used) not in noted:
                noted.add((payer, used))
                self._rests_on(payer, (mechanism for mechanism, _ in used.record.used))
                texts[used] = _used(used.record)
            if (text := texts[used]) is not None:
                yield number, payer, text

    def _charged(self, record: Charged, times: int) -> str:
        """So many charges like this one; who paid."""
        payer, plan, announced = self._payer(record.account), record.plan, record.mechanism
        if record.about:
            self._about[payer, record.about] = self._about.get((payer, record.about), 0) + times
        name, noise = ("plan", "-") if announced is None else (_name(announced), announced.noise)
        claims = self._rests_on(payer, () if announced is None else (announced,))
        if record.price is not None:
            route = str(record.route)  # one that is no theorem here is for `verify` to find; it is named all the same
            claims.add(ROUTE_CLAIMS.get(route, route))
        if len(plan.steps) > 1:
            name = f"step of {name}"  # which step is which query stands in what was released
        for step in plan.steps:
            if step.cost.kind in CLAIM_OF_KIND:
                claims.add(CLAIM_OF_KIND[step.cost.kind])
            key = (payer, record.account, name, cost_text(step.cost), noise)
            self._rows[key] = self._rows.get(key, 0) + step.rounds * times
        return payer

    def _released(self, payer: str, record: Released) -> None:
        """Note what was really drawn; where it was of several queries, how often each."""
        self._rests_on(payer, (mechanism for mechanism, _ in record.used))
        if (text := _used(record)) is not None:
            self._say_again(payer, text)

    def _returned(self, record: Returned) -> None:
        """Note that rounds were given back; a charge that gave all of them back waits for no release."""
        charge = self._open.get(record.charge)
        if charge is None:
            return
        what = f"{record.rounds} of the {charge.rounds} rounds of entry {record.charge} were given back unused"
        self._plans.append((charge.payer, what))
        charge.rounds -= record.rounds
        if not charge.rounds:
            del self._open[record.charge]

    def _rests_on(self, payer: str, mechanisms: Iterable[Description]) -> set[str]:
        """Note noise and claims; all claims of this sub-budget, to be added to."""
        claims = self._claims.setdefault(payer, set())
        for mechanism in mechanisms:
            claims.update(mechanism.claims)
            if not mechanism.private:
                self._simulated.add(payer)
        return claims

    def _say_again(self, payer: str, text: str) -> None:
        said = (payer, text)
        self._plans.append(self._sentences.setdefault(said, said))

    def _payer(self, account: str) -> str:
        """What was charged to a path before it had a budget of its own was paid by the account above it."""
        while account not in self._allocated:
            account = account.rpartition("/")[0]
        return account


def cost_text(cost: Cost | Budget) -> str:
    """A cost by its kind and its numbers, rounded up."""
    record = cost.as_dict()
    numbers = ", ".join(f"{name} {rounded_up(float(record[name]))}" for name in _NUMBERS if name in record)
    return f"{record['kind']} {numbers}".rstrip()


def _within(payer: str, account: str) -> bool:
    """Whether a sub-budget is this one, or in it; all are in the whole."""
    return not account or payer == account or payer.startswith(f"{account}/")


def _name(mechanism: Description) -> str:
    return f"{mechanism.mechanism}({mechanism.query})"


def _priced(record: Charged) -> str | None:
    """What is to be said of a plan that was charged as one thing."""
    if record.price is None:
        return None
    plan: Plan = record.plan
    price = cost_text(record.price)
    return f"{plan.rounds} rounds of {record.account} as one plan: {price} (by {record.route})"


def _used(record: Released) -> str | None:
    """What is to be said of a release of several queries."""
    counts: dict[str, int] = {}
    for mechanism, rounds in record.used:
        name = _name(mechanism)
        counts[name] = counts.get(name, 0) + rounds
    if len(counts) < 2:
        return None
    return "released " + ", ".join(f"{rounds} x {name}" for name, rounds in counts.items())
