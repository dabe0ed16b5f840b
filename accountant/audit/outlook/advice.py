"""What each rule of composition would have charged for the same releases, at the ledger's own δ.

The totals of rules are those of privacy filters: they hold although each release was chosen after seeing those before,
so a ledger that had been opened under the rule could have promised them. What a theorem for fixed plans gives is for
reading only. A rule is fixed when a ledger is opened, so all of this is advice for the next one.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, TypeVar

import attrs

from accountant.audit import ReadOut, Spending
from accountant.composition import (
    NOTHING,
    ROUTE_CLAIMS,
    AdvancedComposition,
    Amount,
    BasicComposition,
    Composition,
    GDPComposition,
    NoBound,
    Plan,
    Step,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.costs import (
    GDP,
    ZCDP,
    ApproxDP,
    BeyondFloats,
    Budget,
    Cost,
    PureDP,
    Unbounded,
    exact,
    float_down,
)

C = TypeVar("C", bound=Cost)

OTHERS: Final = ("basic", "zcdp", "gdp", "advanced")
"""Rules that a ledger can be opened with; of equal totals the first is advised."""

MOST_KINDS: Final = 64
"""Of costs that a privacy loss distribution is made of, for reading: of more it takes long."""

READING: Final = (
    "for reading only: it holds for plans that were fixed before their first release, no ledger stops by it"
)


@attrs.frozen
class Releases:
    """What was charged for, however it was added up.

    rounds: of each cost, those inside priced plans left out.  planned: those inside plans that were charged at a price.
    prices: those prices, and how often each was paid.
    """

    rounds: Mapping[Cost, int] = attrs.field(hash=False)
    planned: Mapping[Cost, int] = attrs.field(factory=dict, hash=False)
    prices: Mapping[ApproxDP, int] = attrs.field(factory=dict, hash=False)

    @staticmethod
    def of(spending: Spending) -> "Releases":
        """Those of the entries that were gathered, less what was given back."""
        return Releases(_some(spending.summed), _some(spending.priced), _some(spending.prices))

    @staticmethod
    def of_plan(plan: Plan) -> "Releases":
        """The rounds of a plan, each charged by itself."""
        rounds: dict[Cost, int] = {}
        for step in plan.steps:
            rounds[step.cost] = rounds.get(step.cost, 0) + step.rounds
        return Releases(rounds)

    @property
    def all_rounds(self) -> dict[Cost, int]:
        """All rounds of each cost, those of priced plans too."""
        found = dict(self.rounds)
        for cost, rounds in self.planned.items():
            found[cost] = found.get(cost, 0) + rounds
        return found

    @property
    def ways(self) -> list[dict[Cost, int]]:
        """How they may be charged: priced plans at their prices, or round by round; one way where there is no plan."""
        if not self.prices:
            return [dict(self.rounds)]
        priced = dict(self.rounds)
        for price, times in self.prices.items():
            priced[price] = priced.get(price, 0) + times
        return [priced, self.all_rounds]


def _some(counts: Mapping[C, int]) -> dict[C, int]:
    return {cost: number for cost, number in counts.items() if number > 0}


@attrs.frozen
class RuleTotal:
    """What one rule makes of the releases.

    name: of the rule.  rule: None where it cannot be made for this budget.  own: whether it is the ledger's.
    amount: in the rule's unit, exactly.  total: in the budget's kind, or (ε, δ) at the δ asked for; rounded up.
    fits: whether it would all have been paid; None where there is no budget of that kind.
    left: what would be left, in the rule's unit.  share: which part of the ceiling that is, rounded down.
    why: why there is no total.
    """

    name: str
    rule: Composition | None
    own: bool
    amount: Amount | None = None
    total: Budget | None = None
    fits: bool | None = None
    left: Amount | None = None
    share: float | None = None
    why: str = ""

    @property
    def claims(self) -> tuple[str, ...]:
        """Ids of the theorems that it depends on, of CLAIMS.md."""
        return () if self.rule is None else self.rule.claims

    @property
    def loss(self) -> float | None:
        """The first number of the total: ε, ρ or μ; None without one."""
        match self.total:
            case PureDP(epsilon=loss) | ApproxDP(epsilon=loss) | ZCDP(rho=loss) | GDP(mu=loss):
                return loss
            case _:
                return None


@attrs.frozen
class Advice:
    """Every rule's total of the same releases.

    budget: that of the ledger, or (0, δ) where a δ was asked for of a ledger that has none.
    lines: of each rule, the ledger's own first.  reading: what is for reading only.
    """

    budget: Budget
    lines: tuple[RuleTotal, ...]
    reading: ReadOut | None

    @property
    def own(self) -> RuleTotal:
        """The ledger's own rule."""
        return self.lines[0]

    @property
    def best(self) -> RuleTotal | None:
        """The rule with the smallest total that is a promise at this δ; of equal ones the own, or else the first."""
        known = [line for line in self.lines if line.loss is not None and line.fits is not False]
        if not known:  # nothing fits: then the smallest of all
            known = [line for line in self.lines if line.loss is not None]
        return min(known, key=lambda line: line.loss or 0.0, default=None)

    @property
    def most_left(self) -> RuleTotal | None:
        """The rule with the largest part of its ceiling left; of equal ones the own, or else the first."""
        known = [line for line in self.lines if line.fits and line.share is not None]
        return max(known, key=lambda line: line.share or 0.0, default=None)

    def saves(self, factor: float) -> RuleTotal | None:
        """The best rule, where the own charges at least so many times as much, and has no more left; else None."""
        best, own = self.best, self.own.loss
        if best is None or best.own or best.loss is None or own is None or own < factor * best.loss or not own:
            return None
        return None if (best.share or 0.0) < (self.own.share or 0.0) else best


def advise(
    releases: Releases,
    rule: Composition,
    budget: Budget,
    *,
    spent: Amount | None = None,
    delta: float | None = None,
    reading: bool = True,
) -> Advice:
    """Add the same releases up by every rule.

    rule, budget: of the ledger.  spent: what its own rule charged, in all; computed unless given.
    delta: in (0, 1): read everything as (ε, δ) at this δ, where the budget has none of its own.
    reading: False to leave out what is for reading only.
    Raises ValueError for a delta beside a budget that has another.
    """
    if delta is not None and isinstance(budget, ApproxDP) and budget.delta not in (0.0, delta):
        raise ValueError(f"delta: the ledger promises δ = {budget.delta:g}, and its total is read at that")
    asked = delta is not None and not (isinstance(budget, ApproxDP) and budget.delta)
    at = ApproxDP(0.0, delta) if asked and delta is not None else budget
    lines = [_own(releases, rule, at, asked, spent)]
    lines += [_best_way(releases, name, at, asked) for name in OTHERS if name != rule.name]
    return Advice(at, tuple(lines), _reading(releases, at) if reading else None)


# --- one rule ------------------------------------------------------------------------------------------------


def _own(releases: Releases, rule: Composition, budget: Budget, asked: bool, spent: Amount | None) -> RuleTotal:
    if isinstance(rule, NoBound) and asked:
        return RuleTotal(rule.name, rule, True, why="it counts releases, and promises nothing")
    try:
        amount = _sum(rule, releases.ways[0]) if spent is None else spent
    except (UnsupportedCost, BeyondFloats) as error:
        return RuleTotal(rule.name, rule, True, why=str(error))
    return _total(rule, amount, budget, asked, own=True)


def _best_way(releases: Releases, name: str, budget: Budget, asked: bool) -> RuleTotal:
    """Another rule, with priced plans at their prices or round by round, whichever comes to less."""
    found = [_one_way(costs, name, budget, asked) for costs in releases.ways]
    known = [line for line in found if line.loss is not None]
    return min(known, key=lambda line: (line.fits is False, line.loss or 0.0), default=found[-1])


def _one_way(costs: Mapping[Cost, int], name: str, budget: Budget, asked: bool) -> RuleTotal:
    rule = _rule(name, costs, budget)
    if rule is None:
        why = "the releases' own δ leave no δ for it" if isinstance(budget, ApproxDP) else "it needs a budget with a δ"
        return RuleTotal(name, None, False, why=why)
    try:
        return _total(rule, _sum(rule, costs), budget, asked, own=False)
    except (UnsupportedCost, BeyondFloats) as error:
        return RuleTotal(rule.name, rule, False, why=str(error))


def _rule(name: str, costs: Mapping[Cost, int], budget: Budget) -> Composition | None:
    """The rule of that name; advanced with all of δ as δ′ where no release has a δ, with half of it where that does."""
    if name != "advanced":
        return {"basic": BasicComposition(), "zcdp": ZCDPComposition(), "gdp": GDPComposition()}[name]
    if not isinstance(budget, ApproxDP) or not budget.delta:
        return None
    own = sum((exact(cost.delta) * n for cost, n in costs.items() if isinstance(cost, ApproxDP)), Fraction(0))
    room = exact(budget.delta) - own
    prime = float_down(room) if own and 2 * own > exact(budget.delta) else budget.delta / (2.0 if own else 1.0)
    return AdvancedComposition(prime) if room > 0 and prime > 0.0 else None


def _sum(rule: Composition, costs: Mapping[Cost, int]) -> Amount:
    total = NOTHING
    for cost, rounds in costs.items():
        total = total.plus(rule.amount(cost).times(rounds))
    return total


def _total(rule: Composition, amount: Amount, budget: Budget, asked: bool, *, own: bool) -> RuleTotal:
    """Read a sum against the budget; `asked` where it is a δ alone, which no ceiling follows from."""
    try:
        total = rule.guarantee(amount, budget)
        if asked:
            if isinstance(total, ApproxDP) and isinstance(budget, ApproxDP) and total.delta > budget.delta:
                return RuleTotal(rule.name, rule, own, amount, why="it spends more than this δ")
            return RuleTotal(rule.name, rule, own, amount, total)
        ceiling = rule.ceiling(budget)
    except (UnsupportedBudget, UnsupportedCost, BeyondFloats) as error:
        return RuleTotal(rule.name, rule, own, amount, why=str(error))
    if isinstance(total, Unbounded):
        return RuleTotal(rule.name, rule, own, amount, total, True)
    left = ceiling.minus(amount)
    return RuleTotal(rule.name, rule, own, amount, total, amount.within(ceiling), left, _share(left, ceiling))


def _share(left: Amount, ceiling: Amount) -> float:
    """Which part of the ceiling is left, rounded down: of the part that is nearest to its end."""
    parts = [Fraction(have, most) for have, most in zip(left, ceiling, strict=True) if most]
    return float_down(min(parts, default=Fraction(0)))


# --- for reading ---------------------------------------------------------------------------------------------


def _reading(releases: Releases, budget: Budget) -> ReadOut | None:
    """All rounds as one plan, by their privacy loss distribution; None without a δ, or without releases."""
    costs = releases.all_rounds
    if not isinstance(budget, ApproxDP) or not budget.delta or not costs:
        return None
    claims = (ROUTE_CLAIMS["pld"],)
    if len(costs) > MOST_KINDS:
        return ReadOut("pld", None, budget.delta, f"left out: more than {MOST_KINDS} different costs", claims)
    epsilon = Plan(_steps(costs)).route("pld", budget.delta)
    note = READING if epsilon is not None else "some of these costs have no dominating pair, or not at this δ"
    return ReadOut("pld", epsilon, budget.delta, note, claims)


def _steps(costs: Mapping[Cost, int]) -> Iterable[Step]:
    return tuple(Step(cost, rounds) for cost, rounds in costs.items())
