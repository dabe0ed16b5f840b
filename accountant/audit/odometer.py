"""The odometer: what the ledger says so far, read at any δ, under any rule, over time and by account.

Read-outs only. A ledger stops by its own rule, a sum against a ceiling that was fixed when it was opened; nothing
here may decide whether another release is made. What a theorem for fixed plans (`Plan.price`, and so every PLD
curve) gives for costs that were chosen one after another, each knowing the outputs before, is no guarantee.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from accountant.audit.spending import Spending, SpendingPoint, gather, share
from accountant.composition import (
    ORDERED,
    ROUTE_CLAIMS,
    ROUTES,
    AdvancedComposition,
    Amount,
    BasicComposition,
    Composition,
    GDPComposition,
    NoBound,
    OwnRule,
    Plan,
    Step,
    TextbookComposition,
    UnsupportedCost,
    ZCDPComposition,
    least_mu,
)
from accountant.costs import (
    ApproxDP,
    Budget,
    Cost,
    curves,
    exact,
    float_up,
    gaussian,
    open_probability,
    probability_below_one,
)
from accountant.entries import Entry

FIXED: Final = "for a plan whose costs were all fixed before its first release"
"""What a read-out by a theorem of `Plan.price` holds for."""


@attrs.frozen
class ReadOut:
    """What one rule or theorem makes of the same costs. name: of the rule.  epsilon: None where it does not apply.

    delta: at which.  note: what it holds for, or why there is none.  claims: ids of the theorems.
    """

    name: str
    epsilon: float | None
    delta: float
    note: str
    claims: tuple[str, ...]


@attrs.frozen
class Share:
    """What was charged to one name: exactly, and as a share of everything that was charged (by its loss)."""

    name: str
    amount: Amount
    share: float


@attrs.frozen
class Odometer:
    """A snapshot. `odometer(entries)` and `Ledger.odometer()` make it.

    rule, budget: of the ledger.  total: what was charged, less what was given back, in the rule's own units.
    charges: how many.  rounds: of each cost, those inside priced plans too.  priced: whether there were such plans.
    by_sub_budget, by_account, by_mechanism: largest first; "" is the whole budget.
    points: the total over time, at most 2,000 of them, the newest included.
    """

    rule: Composition
    budget: Budget
    total: Amount
    charges: int
    rounds: Mapping[Cost, int] = attrs.field(hash=False)
    priced: bool
    by_sub_budget: tuple[Share, ...]
    by_account: tuple[Share, ...]
    by_mechanism: tuple[Share, ...]
    points: tuple[SpendingPoint, ...]

    # --- the guarantee ------------------------------------------------------------------------------------

    def epsilon(self, delta: float) -> float:
        """What the ledger's own rule guarantees at δ, rounded up; ∞ below the δ that its releases have spent.

        delta: in [0, 1). The rules zcdp and gdp give a tight ε at every δ > 0; the others have spent a δ, and their
        ε does not change with a larger one.
        """
        return epsilon_at(self.rule, self.total, delta)

    def at(self, deltas: Iterable[float]) -> list[float]:
        """`epsilon` at each δ."""
        return [self.epsilon(delta) for delta in deltas]

    def curve(self, deltas: Iterable[float]) -> list[tuple[float, float]]:
        """(δ, ε) at each δ."""
        return [(delta, self.epsilon(delta)) for delta in deltas]

    @property
    def least_delta(self) -> float:
        """The smallest δ at which the rule guarantees anything: 0 for zcdp and gdp, which do at every δ above 0."""
        return least_delta(self.rule, self.total)

    # --- read-outs that are no guarantee ----------------------------------------------------------------------

    @property
    def plan(self) -> Plan | None:
        """Everything that was charged, as if it had been one plan, equal costs together; None if nothing was."""
        steps = tuple(Step(cost, rounds) for cost, rounds in self.rounds.items())
        return Plan(steps) if steps else None

    def pld_curve(self, deltas: Iterable[float]) -> list[tuple[float, float | None]]:
        """(δ, ε) by convolving dominating pairs, as if all costs had been fixed in advance; None where there are none.

        By our own `accountant.composition.loss_distribution`, rounded up: no extra is needed. ρ-zCDP costs have no
        dominating pair. deltas: each in (0, 1). For a report; no guarantee where a cost was chosen after an output was
        seen.
        """
        plan = self.plan
        return [(delta, 0.0 if plan is None else plan.route("pld", open_probability(delta))) for delta in deltas]

    def other_rules(self, delta: float, *, delta_prime: float | None = None) -> list[ReadOut]:
        """What every rule, and every theorem for fixed plans, would have given at δ for the same rounds.

        delta: in (0, 1).  delta_prime: of the advanced rule, in (0, delta]; None takes what the releases' own δ leave.
        Rounds of plans that were charged at a price count as rounds here. Those of the rules would have been
        guarantees, had the ledger been opened under them.
        """
        delta = open_probability(delta)
        prime = self._delta_prime(delta) if delta_prime is None else delta_prime
        found = [
            self._under(BasicComposition(), delta),
            *(self._advanced(kind, delta, prime) for kind in (AdvancedComposition, TextbookComposition)),
            self._under(ZCDPComposition(), delta),
            self._under(GDPComposition(), delta),
        ]
        plan = self.plan
        if plan is None:
            return found
        return found + [_by_theorem(plan, name, delta) for name in ROUTES if name not in ("basic", "zcdp", "gdp")]

    def _delta_prime(self, delta: float) -> float:
        """What the releases' own δ leave."""
        own = ((exact(cost.delta), n) for cost, n in self.rounds.items() if isinstance(cost, ApproxDP))
        return float(exact(delta) - sum((each * n for each, n in own), exact(0.0)))

    def _advanced(self, kind: type[AdvancedComposition], delta: float, delta_prime: float) -> ReadOut:
        if not 0.0 < delta_prime < 1.0:
            return ReadOut(kind.name, None, delta, "the releases' own δ leave nothing for δ′", ())
        found = self._under(kind(delta_prime), delta)
        note = f"had the ledger been opened with δ′ = {delta_prime:g}"
        return found if found.epsilon is None else attrs.evolve(found, note=note)

    def _under(self, rule: Composition, delta: float) -> ReadOut:
        plan = self.plan
        try:
            epsilon = 0.0 if plan is None else epsilon_at(rule, plan.amount(rule), delta)
        except UnsupportedCost as error:
            return ReadOut(rule.name, None, delta, str(error), rule.claims)
        if math.isinf(epsilon):
            return ReadOut(rule.name, None, delta, "it spends more than this δ", rule.claims)
        return ReadOut(rule.name, epsilon, delta, "", rule.claims)

    # --- over time ----------------------------------------------------------------------------------------

    def over_time(self, delta: float) -> list[tuple[int, int, float]]:
        """(entry, time in nanoseconds since 1970, ε at δ by the ledger's rule) of every point; at most 2,000."""
        return [(point.number, point.time, epsilon_at(self.rule, point.amount, delta)) for point in self.points]


def odometer(entries: Iterable[Entry]) -> Odometer:
    """Read the entries once. Raises ValueError for one that cannot be read; `verify` says whether they are sound."""
    return from_spending(gather(entries))


def from_spending(spending: Spending) -> Odometer:
    """The odometer of entries that were gathered already."""
    return Odometer(
        rule=spending.rule,
        budget=spending.promise.budget,
        total=spending.total,
        charges=spending.charges,
        rounds=dict(spending.rounds),
        priced=any(spending.prices.values()),
        by_sub_budget=_shares(spending.by_payer, spending.total),
        by_account=_shares(spending.by_account, spending.total),
        by_mechanism=_shares(spending.by_mechanism, spending.total),
        points=tuple(spending.points),
    )


def least_delta(rule: Composition, total: Amount) -> float:
    """The smallest δ at which a rule guarantees anything for this total; 0 for zcdp and gdp, where every δ > 0 does.

    1 where it promises nothing: (ε, 1) holds for whatever is released.
    """
    match rule:
        case BasicComposition():
            return float_up(total.delta)
        case AdvancedComposition(delta_prime=delta_prime):
            return float_up(total.delta + exact(delta_prime))
        case NoBound():
            return 1.0
        case OwnRule():
            return rule.least_delta(total)
        case _:
            return 0.0


def epsilon_at(rule: Composition, total: Amount, delta: float) -> float:
    """What a rule guarantees at δ for this total, rounded up; ∞ where that δ is spent. delta: in [0, 1)."""
    delta = probability_below_one(delta)
    if isinstance(rule, OwnRule):
        return rule.read(total, delta)
    loss = float_up(total.loss)
    if isinstance(rule, ZCDPComposition):
        if not loss:
            return 0.0
        return curves.zcdp_epsilon(loss, delta) if delta else math.inf
    if isinstance(rule, GDPComposition):
        if not loss:
            return 0.0
        return gaussian.epsilon(least_mu(total.loss), delta) if delta else math.inf
    if not delta >= least_delta(rule, total):
        return math.inf
    if isinstance(rule, AdvancedComposition):
        return rule.epsilon(total)
    return loss


def _by_theorem(plan: Plan, name: str, delta: float) -> ReadOut:
    if name in ORDERED and len(plan.steps) > 1:
        note = "it depends on the order of unequal releases, which is not kept here; `Plan.sequence` prices a list"
        return ReadOut(name, None, delta, note, (ROUTE_CLAIMS[name],))
    epsilon = plan.route(name, delta)
    note = FIXED if epsilon is not None else "it does not apply to these costs, or not at this δ"
    return ReadOut(name, epsilon, delta, note, (ROUTE_CLAIMS[name],))


def _shares(amounts: Mapping[str, Amount], total: Amount) -> tuple[Share, ...]:
    found = [Share(name, amount, share(amount, total)) for name, amount in amounts.items()]
    return tuple(sorted(found, key=lambda each: (-each.share, -each.amount.delta_units, each.name)))


def top(shares: Sequence[Share], most: int = 10) -> tuple[Share, ...]:
    """The largest ones; the others together as the last, where there are more."""
    if len(shares) <= most:
        return tuple(shares)
    rest = shares[most - 1 :]
    amount = Amount(sum(each.amount.loss_units for each in rest), sum(each.amount.delta_units for each in rest))
    return (*shares[: most - 1], Share(f"{len(rest)} others", amount, sum(each.share for each in rest)))
