"""What is charged or set aside, as a ledger's rule of composition counts it."""

import contextlib
from collections.abc import Iterator
from fractions import Fraction

from accountant.composition import Amount, Composition, Plan, Price
from accountant.costs import GDP, ZCDP, ApproxDP, BeyondFloats, Budget, Cost, PureDP, Unbounded
from accountant.exceptions import NotSpendable, SubBudgetRefused


def amount_of_plan(rule: Composition, plan: Plan, delta: float) -> tuple[Amount, Price | None]:
    """What a plan adds up to; above δ = 0 as one release, at the price that is returned with it.

    Raises NotSpendable for what is no plan, BeyondFloats, and UnsupportedCost.
    """
    if not isinstance(plan, Plan):
        raise NotSpendable(f"reserve takes a Plan, got {type(plan).__name__}: try Plan.of(cost, rounds=...)")
    with _within_floats(rule, plan):
        if delta == 0.0:
            return plan.amount(rule), None
        price = plan.cheapest(delta)
        return rule.amount(price.best), price


def amount_of_release(rule: Composition, cost: Cost) -> Amount:
    """What one release adds up to. Raises BeyondFloats, and UnsupportedCost."""
    with _within_floats(rule, cost):
        return rule.amount(cost)


def amount_of_share(rule: Composition, share: Fraction | float | Budget, ceiling: Amount) -> Amount:
    """What a sub-budget may draw of an account with this ceiling; share: as `Ledger.allocate` takes it.

    Raises SubBudgetRefused where it is none, and UnsupportedBudget.
    """
    if isinstance(share, PureDP | ApproxDP | ZCDP | GDP | Unbounded):
        return rule.ceiling(share)
    if isinstance(share, bool) or not isinstance(share, int | float | Fraction) or not 0 < share <= 1:
        raise SubBudgetRefused(f"share: expected a part of this budget in (0, 1], or a budget, got {share!r}")
    return ceiling.scaled(Fraction(share))


@contextlib.contextmanager
def _within_floats(rule: Composition, what: Cost | Plan) -> Iterator[None]:
    """Name what costs more than any float holds."""
    try:
        yield
    except BeyondFloats as error:
        raise BeyondFloats(
            f"{what!r:.200} comes to more {rule.unit} than any float holds, so no finite budget pays for it; "
            "nothing was charged. Lower the cost or the number of rounds"
        ) from error
