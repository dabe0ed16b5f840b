"""A rule of composition against the laws that a ledger relies on, and against compositions whose loss is known."""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
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
    UnsupportedBudget,
    UnsupportedCost,
)
from accountant.audit import epsilon_at
from accountant.composition import NOTHING, composition_from_record, fixed_plans
from accountant.costs import BeyondFloats, gaussian
from proofs_tests.harness.report import Report, judged

STRENGTHS: Final = (0.01, 0.1, 0.5, 1.0, 3.0)
"""ε, ρ, μ and widths that are tried; δ of an (ε, δ) cost is a millionth of it."""

ROUNDS: Final = (1, 2, 5, 30, 200)
DELTAS: Final = (1e-3, 1e-6, 1e-9)

BUDGETS: Final[tuple[Budget, ...]] = (PureDP(1.0), ApproxDP(0.5, 1e-6), ApproxDP(4.0, 1e-5), ZCDP(0.5), GDP(1.0))

MOST_FITTING: Final = 10**6
"""Rounds that a ceiling is filled with at most."""

Kind = Callable[[float], Cost]

KINDS: Final[tuple[Kind, ...]] = (
    PureDP,
    lambda strength: ApproxDP(strength, 1e-6 * strength),
    ZCDP,
    LaplaceDP,
    BoundedRange,
    GDP,
)


def check_rule(rule: Composition) -> tuple[Report, ...]:
    """Whether a rule of composition keeps the laws that a ledger relies on; a report for each.

    The record it writes makes it again; a cost of 0 adds nothing, to rounding, and nothing is read as ε = 0; what adds
    less is read as no more, and so at a larger δ; what is read of randomized response, Gaussian noise and their like,
    up to 200 rounds, is not below what they exactly lose; as many as its ceilings let through keep the budget. Kinds of
    cost and of budget that it refuses are left out. That costs may be chosen on the way is for a proof: no list of
    cases shows it.
    Raises ClaimViolated, with the worst case, for the first law that is broken, and ValueError for a rule that takes
    none of the costs. [own-rule]
    """
    return tuple(judged(law(rule)) for law in (_described, _nothing, _monotone, _read_out, _ceilings))


# --- the laws --------------------------------------------------------------------------------------------------------


def _described(rule: Composition) -> Report:
    start = time.perf_counter()
    try:
        again: object = composition_from_record(rule.describe())
    except ValueError as error:
        again = error
    same = again == rule and all(rule.amount(cost) == rule.amount(cost) for _, cost in _taken(rule))
    return _report(rule, "differences from what its record makes", 0.0, 0.0 if same else 1.0, repr(again), 1, start)


def _nothing(rule: Composition) -> Report:
    start, worst = time.perf_counter(), (0.0, "no cost")
    cases = 0
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
    return _report(rule, "ε of nothing", 0.0, *worst, cases, start)


def _monotone(rule: Composition) -> Report:
    start, broken, cases = time.perf_counter(), "", 0
    for kind in KINDS:
        amounts = [found for strength in (0.0, *STRENGTHS) if (found := _amount(rule, kind(strength))) is not None]
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
    return _report(rule, "places where less costs more", 0.0, float(bool(broken)), broken or "none", cases, start)


def _read_out(rule: Composition) -> Report:
    start, cases = time.perf_counter(), 0
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no case")
    for (_, cost), rounds, delta in itertools.product(_taken(rule), ROUNDS, DELTAS):
        cases += 1
        read = epsilon_at(rule, Plan.of(cost, rounds).amount(rule), delta)
        true = lost(cost, rounds, delta)
        ratio = 0.0 if true == 0.0 or math.isinf(read) else math.inf if read <= 0.0 else true / read
        worst = max(worst, (ratio, read, true, f"{rounds} x {cost!r} at δ = {delta:g}"))
    if not cases:
        raise ValueError(f"rule {rule.name!r} takes none of the costs that are known here, so nothing can be checked")
    return _report(rule, "ε", worst[1], worst[2], worst[3], cases, start)


def _ceilings(rule: Composition) -> Report:
    """As many equal rounds as fit, whose loss is known, against the budget."""
    start, cases = time.perf_counter(), 0
    worst: tuple[float, float, float, str] = (0.0, 1.0, 0.0, "no budget")
    for budget in BUDGETS:
        try:
            ceiling = rule.ceiling(budget)
        except UnsupportedBudget:
            continue
        for delta, epsilon in _promised(budget):
            for _, cost in _taken(rule):
                rounds = _fitting(rule.amount(cost), ceiling)
                if rounds:
                    cases += 1
                    true = lost(cost, rounds, delta)
                    ratio = true / epsilon if epsilon else math.inf * (true > 0.0)
                    worst = max(worst, (ratio, epsilon, true, f"{rounds} x {cost!r} fit into {budget!r}"))
    return _report(rule, "ε that a budget lets through", worst[1], worst[2], worst[3], cases, start)


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


# --- what is known ---------------------------------------------------------------------------------------------------


def lost(cost: Cost, rounds: int, delta: float) -> float:
    """An ε at δ that so many rounds of some mechanism of this cost do lose; of ε-DP and of Gaussians, the largest.

    (ε, δ) by randomized response that tells all with chance δ, bounded range by that of half the width, Laplace noise
    by the side of the middle on which it falls, ρ-zCDP by the Gaussian of that ρ.
    """
    match cost:
        case PureDP(epsilon=epsilon):
            return _responses(epsilon, rounds, delta)
        case BoundedRange(epsilon=width):
            return _responses(0.5 * width, rounds, delta)
        case LaplaceDP(epsilon=epsilon):
            side = 0.5 * math.exp(-0.5 * epsilon)
            return _responses(math.log1p(-side) - math.log(side), rounds, delta)
        case ApproxDP(epsilon=epsilon, delta=own):
            kept = rounds * math.log1p(-own)
            room = 1.0 - (1.0 - delta) * math.exp(-kept)
            return math.inf if room < -1e-15 else _responses(epsilon, rounds, max(0.0, room))
        case GDP(mu=mu):
            return _gaussians(mu * math.sqrt(rounds), delta)
        case ZCDP(rho=rho):
            return _gaussians(math.sqrt(2.0 * rho * rounds), delta)
        case _:
            raise UnsupportedCost(f"nothing is known here of what {cost!r} loses")


_SLACK: Final = 4e-9
"""By how much the exact sums may be too large: they are rounded up, and a true loss must not be."""


def _responses(epsilon: float, rounds: int, delta: float) -> float:
    if not delta:
        return rounds * epsilon
    low, high = 0.0, rounds * epsilon
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = fixed_plans.randomized_response_delta(epsilon, rounds, middle) * (1.0 - _SLACK) > delta
        low, high = (middle, high) if above else (low, middle)
    return low


def _gaussians(mu: float, delta: float) -> float:
    return math.inf if not delta else gaussian.epsilon(mu, delta) * (1.0 - _SLACK)


def _taken(rule: Composition) -> Sequence[tuple[Kind, Cost]]:
    """Costs above 0 that the rule takes."""
    pairs = ((kind, kind(strength)) for kind in KINDS for strength in STRENGTHS)
    return [(kind, cost) for kind, cost in pairs if _amount(rule, cost) is not None]


def _amount(rule: Composition, cost: Cost) -> Amount | None:
    try:
        return rule.amount(cost)
    except (UnsupportedCost, BeyondFloats):
        return None


def _report(
    rule: Composition, quantity: str, bound: float, found: float, witness: str, cases: int, start: float
) -> Report:
    return Report(
        subject=f"rule of composition {rule.name}",
        claimed=f"adds up {rule.unit}",
        quantity=quantity,
        bound=bound,
        found=found,
        method="search",
        witness=witness,
        pairs=cases,
        seconds=time.perf_counter() - start,
    )
