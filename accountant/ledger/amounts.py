"""What is charged or set aside, as a ledger's rule of composition counts it; and an entry's steps and price as text."""

import contextlib
import json
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


def amount_of_release(rule: Composition, cost: Cost) -> tuple[Amount, str]:
    """What one release adds up to, and its step as an entry writes it. Raises BeyondFloats, and UnsupportedCost."""
    with _within_floats(rule, cost):
        return rule.amount(cost), _compact([{"cost": cost.as_dict(), "rounds": 1}])


def amount_of_share(rule: Composition, share: Fraction | float | Budget, ceiling: Amount) -> Amount:
    """What a sub-budget may draw of an account with this ceiling; share: as `Ledger.allocate` takes it.

    Raises SubBudgetRefused where it is none, and UnsupportedBudget.
    """
    if isinstance(share, PureDP | ApproxDP | ZCDP | GDP | Unbounded):
        return rule.ceiling(share)
    if isinstance(share, bool) or not isinstance(share, int | float | Fraction) or not 0 < share <= 1:
        raise SubBudgetRefused(f"share: expected a part of this budget in (0, 1], or a budget, got {share!r}")
    return ceiling.scaled(Fraction(share))


def steps_text(plan: Plan) -> str:
    """The steps of a plan as an entry writes them."""
    return _compact([{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps])


def price_text(price: Price | None) -> str:
    """The price of a plan as an entry writes it."""
    return "null" if price is None else _compact({"cost": price.best.as_dict(), "route": price.route})


@contextlib.contextmanager
def _within_floats(rule: Composition, what: Cost | Plan) -> Iterator[None]:
    """Name what is so dear that no number says how much."""
    try:
        yield
    except BeyondFloats as error:
        raise BeyondFloats(
            f"{what!r:.200} comes to more {rule.unit} than any float holds, so no finite budget pays for it; "
            "nothing was charged. Lower the cost or the number of rounds"
        ) from error


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
