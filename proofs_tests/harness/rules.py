"""A rule of composition against the laws that a ledger relies on, and against compositions whose loss is known."""

import itertools
import json
import math
import random
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Final

from accountant import (
    GDP,
    ZCDP,
    Amount,
    ApproxDP,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    LaplaceDP,
    Plan,
    PureDP,
    Step,
    SubsampledGaussian,
    UnsupportedBudget,
    UnsupportedCost,
)
from accountant.audit import epsilon_at
from accountant.composition import NOTHING, composition_from_record
from accountant.costs import BeyondFloats
from proofs_tests.harness.known_losses import lost, lost_together
from proofs_tests.harness.report import Report, judged

STRENGTHS: Final = (0.01, 0.1, 0.5, 1.0, 3.0)
"""ε, ρ, μ and widths that are tried beside random ones; δ of an (ε, δ) cost is a millionth of it."""

RANDOM: Final = 3
"""Random strengths, budgets and mixtures of each pair of kinds; what is tried always, a wrong rule may know."""

ROUNDS: Final = (1, 2, 5, 30, 200)
DELTAS: Final = (1e-3, 1e-6, 1e-9)

BUDGETS: Final[tuple[Budget, ...]] = (PureDP(1.0), ApproxDP(0.5, 1e-6), ApproxDP(4.0, 1e-5), ZCDP(0.5), GDP(1.0))

MOST_FITTING: Final = 10**6
"""Rounds that a ceiling is filled with at most."""

MOST_TRIED: Final = 15
"""Costs that are tried with each budget."""

Kind = Callable[[float], Cost]

KINDS: Final[tuple[Kind, ...]] = (
    PureDP,
    lambda strength: ApproxDP(strength, 1e-6 * strength),
    ZCDP,
    LaplaceDP,
    BoundedRange,
    GDP,
    lambda strength: SubsampledGaussian(strength, 0.25),
)


def check_rule(rule: Composition, *, seed: int | None = None) -> tuple[Report, ...]:
    """Whether a rule of composition keeps the laws that a ledger relies on; a report for each.

    The record it writes makes it again; a cost of 0 adds nothing, to rounding, and nothing is read as ε = 0; what adds
    less is read as no more, and so at a larger δ; what is read of randomized response, Gaussian noise and their like,
    up to 200 rounds, alone and mixed, is not below what they exactly lose; what it guarantees of a budget's kind is
    what is read; as many as its ceilings let through keep the budget. Kinds of cost and of budget that it refuses are
    left out. That costs may be chosen on the way is for a proof: no list of cases shows it.
    seed: of the random strengths, budgets and mixtures beside the usual ones; a new one unless given. Reports name it.
    Raises ClaimViolated, with the worst case, for the first law that is broken, and ValueError for a rule that takes
    none of the costs. [own-rule]
    """
    trial = Trial(rule, secrets.randbits(32) if seed is None else seed)
    laws = (_described, _nothing, _monotone, _read_out, _mixtures, _guarantees, _ceilings)
    return tuple(judged(_answered(trial, law)) for law in laws)


class Trial:
    """A rule, and what it is tried on.

    strengths: above 0.  taken: costs of these strengths that the rule takes.  some: of these, at random.
    budgets: of every kind, some random.
    """

    def __init__(self, rule: Composition, seed: int) -> None:
        self.rule, self.seed, self.random = rule, seed, random.Random(seed)
        self.strengths = sorted({*STRENGTHS, *(10.0 ** self.random.uniform(-3.0, 1.0) for _ in range(RANDOM))})
        pairs = ((kind, kind(strength)) for kind in KINDS for strength in self.strengths)
        self.taken: list[Cost] = [cost for _, cost in pairs if _amount(rule, cost) is not None]
        self.some = self.random.sample(self.taken, min(len(self.taken), MOST_TRIED))
        self.budgets: list[Budget] = [*BUDGETS, *(self._budget() for _ in range(RANDOM))]

    def _budget(self) -> Budget:
        strength, delta = 10.0 ** self.random.uniform(-2.0, 1.0), 10.0 ** self.random.uniform(-10.0, -3.0)
        kinds: tuple[Budget, ...] = (PureDP(strength), ApproxDP(strength, delta), ZCDP(strength), GDP(strength))
        return self.random.choice(kinds)


def _answered(trial: Trial, law: Callable[[Trial], Report]) -> Report:
    """The law's report; broken where the rule's code fails on what it took, which would stop a ledger."""
    start = time.perf_counter()
    try:
        return law(trial)
    except (UnsupportedCost, UnsupportedBudget, BeyondFloats) as error:
        return _report(trial, "answers that it does not give", 0.0, 1.0, str(error), 1, start)


# --- the laws --------------------------------------------------------------------------------------------------------


def _described(trial: Trial) -> Report:
    start, rule = time.perf_counter(), trial.rule
    try:
        again: object = composition_from_record(json.loads(json.dumps(dict(rule.describe()))))
    except (ValueError, TypeError) as error:
        again = error
    same = isinstance(again, Composition) and again == rule
    if isinstance(again, Composition):
        same = same and all(rule.amount(cost) == again.amount(cost) for cost in trial.taken)
    return _report(trial, "differences from what its record makes", 0.0, 0.0 if same else 1.0, repr(again), 1, start)


def _nothing(trial: Trial) -> Report:
    start, worst = time.perf_counter(), (0.0, "no cost")
    rule, cases = trial.rule, 0
    for kind in KINDS:
        amount = _amount(rule, kind(0.0))
        if amount is None:
            continue
        cases += 1
        worst = max(worst, (float(amount.loss + amount.delta), f"{kind(0.0)!r} adds {amount!r}"))
    for delta in DELTAS:
        epsilon = epsilon_at(rule, NOTHING, delta)
        if math.isfinite(epsilon):  # below the δ that it has spent from the start it promises nothing
            worst = max(worst, (epsilon, f"ε at δ = {delta:g} before any charge"))
    return _report(trial, "ε of nothing", 0.0, *worst, cases, start)


def _monotone(trial: Trial) -> Report:
    start, broken, cases, rule = time.perf_counter(), "", 0, trial.rule
    for kind in KINDS:
        tried = [_amount(rule, kind(strength)) for strength in (0.0, *trial.strengths)]
        amounts = [amount for amount in tried if amount is not None]
        for less, more in itertools.pairwise(amounts):
            cases += 1
            if not less.within(more):
                broken = broken or f"{less!r} of a smaller cost, {more!r} of a larger one"
            for delta in DELTAS:
                if not epsilon_at(rule, less, delta) <= epsilon_at(rule, more, delta):
                    broken = broken or f"{less!r} is read as more than {more!r} at δ = {delta:g}"
        for amount in amounts:
            read = [epsilon_at(rule, amount, delta) for delta in sorted(DELTAS)]
            if read != sorted(read, reverse=True):
                broken = broken or f"{amount!r} is read as more at a larger δ: {read}"
    return _report(trial, "places where less costs more", 0.0, float(bool(broken)), broken or "none", cases, start)


def _read_out(trial: Trial) -> Report:
    start, cases, rule = time.perf_counter(), 0, trial.rule
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no case")
    for cost, rounds, delta in itertools.product(trial.taken, ROUNDS, DELTAS):
        cases += 1
        read = epsilon_at(rule, Plan.of(cost, rounds).amount(rule), delta)
        worst = max(worst, _compared(lost(cost, rounds, delta), read, f"{rounds} x {cost!r} at δ = {delta:g}"))
    if not cases:
        raise ValueError(f"rule {rule.name!r} takes none of the costs that are known here, so nothing can be checked")
    return _report(trial, "ε", worst[1], worst[2], worst[3], cases, start)


def _compared(true: float, read: float, witness: str) -> tuple[float, float, float, str]:
    """How far what is read is below the truth, what is read, the truth, and where."""
    ratio = 0.0 if true == 0.0 or math.isinf(read) else math.inf if read <= 0.0 else true / read
    return ratio, read, true, witness


def _mixtures(trial: Trial) -> Report:
    """Of every two kinds of cost, several rounds of each at random strengths, in either order."""
    start, cases, rule = time.perf_counter(), 0, trial.rule
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no case")
    for first, second in itertools.combinations_with_replacement(KINDS, 2):
        for _ in range(RANDOM):
            costs = [kind(trial.random.choice(trial.strengths)) for kind in (first, second)]
            rounds = [(cost, trial.random.choice(ROUNDS[:-1])) for cost in costs]
            if any(_amount(rule, cost) is None for cost in costs):
                continue
            cases += 1
            plan = Plan([Step(cost, times) for cost, times in rounds])
            if plan.amount(rule) != Plan(reversed(plan.steps)).amount(rule):
                worst = max(worst, (math.inf, 0.0, math.inf, f"{rounds!r} adds up to something else in another order"))
            delta = trial.random.choice(DELTAS)
            read = epsilon_at(rule, plan.amount(rule), delta)
            worst = max(worst, _compared(lost_together(rounds, delta), read, f"{rounds!r} at δ = {delta:g}"))
    return _report(trial, "ε of unlike costs", worst[1], worst[2], worst[3], cases, start)


def _guarantees(trial: Trial) -> Report:
    """What a ledger shows as spent, in the kind of each budget: not below the truth, and (ε, δ) as it is read."""
    start, cases, rule = time.perf_counter(), 0, trial.rule
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no budget")
    for budget, ceiling in _kept(trial):
        for cost, most in itertools.product(trial.some, (1, 30)):
            rounds = min(most, _fitting(rule.amount(cost), ceiling))
            if not rounds:
                continue
            amount = Plan.of(cost, rounds).amount(rule)
            shown, where = rule.guarantee(amount, budget), f"{rounds} x {cost!r} of {budget!r}"
            cases += 1
            if isinstance(shown, ApproxDP) and shown.delta:
                read = epsilon_at(rule, amount, shown.delta)
                least = min(read, budget.epsilon) if isinstance(budget, ApproxDP) and amount.within(ceiling) else read
                worst = max(worst, _compared(least * (least > shown.epsilon), shown.epsilon, where))
            for delta, epsilon in _promised(shown):
                worst = max(worst, _compared(lost(cost, rounds, delta), epsilon, where))
    return _report(trial, "ε that is shown as spent", worst[1], worst[2], worst[3], cases, start)


def _kept(trial: Trial) -> Iterator[tuple[Budget, Amount]]:
    """The budgets that the rule keeps, with their ceilings."""
    for budget in trial.budgets:
        try:
            yield budget, trial.rule.ceiling(budget)
        except UnsupportedBudget:
            continue


def _ceilings(trial: Trial) -> Report:
    """As many equal rounds as fit, whose loss is known, against the budget."""
    start, cases, rule = time.perf_counter(), 0, trial.rule
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no budget")
    for budget, ceiling in _kept(trial):
        for delta, epsilon in _promised(budget):
            for cost in trial.some:
                rounds = _fitting(rule.amount(cost), ceiling)
                if rounds:
                    cases += 1
                    true = lost(cost, rounds, delta)
                    ratio = true / epsilon if epsilon else math.inf * (true > 0.0)
                    worst = max(worst, (ratio, epsilon, true, f"{rounds} x {cost!r} fit into {budget!r}"))
    return _report(trial, "ε that a budget lets through", worst[1], worst[2], worst[3], cases, start)


def _promised(budget: Budget) -> Iterator[tuple[float, float]]:
    """(δ, ε) that a budget promises."""
    match budget:
        case PureDP(epsilon=epsilon):
            yield 0.0, epsilon
        case ApproxDP(epsilon=epsilon, delta=delta):
            yield delta, epsilon
        case ZCDP() | GDP():
            for delta in DELTAS:
                yield delta, budget.to_approx(delta=delta).epsilon
        case _:
            return


def _fitting(amount: Amount, ceiling: Amount) -> int:
    """How many times an amount fits below a ceiling; 0 for one that adds nothing."""
    shares = [
        whole // part
        for part, whole in ((amount.loss_units, ceiling.loss_units), (amount.delta_units, ceiling.delta_units))
        if part
    ]
    return min(*shares, MOST_FITTING) if shares else 0


def _amount(rule: Composition, cost: Cost) -> Amount | None:
    try:
        return rule.amount(cost)
    except (UnsupportedCost, BeyondFloats):
        return None


def _report(trial: Trial, quantity: str, bound: float, found: float, witness: str, cases: int, start: float) -> Report:
    return Report(
        subject=f"rule of composition {trial.rule.name}",
        claimed=f"adds up {trial.rule.unit}",
        quantity=quantity,
        bound=bound,
        found=found,
        method="search",
        witness=f"{witness} (seed {trial.seed})",
        pairs=cases,
        seconds=time.perf_counter() - start,
    )
