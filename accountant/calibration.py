"""From a budget to a noise scale: the least noise whose plan still keeps the target, never above it."""

import math
from collections.abc import Callable

from accountant.composition import BasicComposition, Composition, UnsupportedCost
from accountant.costs import ZCDP, ApproxDP, BoundedRange, PureDP
from accountant.plans import QUICK, ROUTES, Plan
from accountant.rounding import largest, largest_below

Target = PureDP | ApproxDP | ZCDP


def largest_eta(plan_of: Callable[[float], Plan], target: Target, rule: Composition) -> float:
    """The largest inverse noise scale whose plan, released on a ledger with that rule, costs at most the target.

    plan_of: inverse scale to the plan of all rounds; its cost must not fall where the scale rises.
    A pure target is kept by the sum of the plan's ε, whatever the ledger adds up. A ledger that adds up
    (ε, δ) charges a plan at its best price; the others compare their own sums.
    Raises ArithmeticError where no scale, or every scale, fits.
    """
    match target:
        case PureDP():
            return _within(BasicComposition(), target, plan_of)
        case ApproxDP() if isinstance(rule, BasicComposition):
            return _at_price(plan_of, target)
        case _:
            return _within(rule, target, plan_of)


def smallest_sigma(plan_of: Callable[[float], Plan], target: Target, rule: Composition) -> float:
    """The smallest noise scale whose plan costs at most the target; see `largest_eta`.

    plan_of: noise scale (σ or b) to the plan of all rounds.
    """
    return 1.0 / largest_eta(lambda inverse: plan_of(1.0 / inverse), target, rule)


def _within(rule: Composition, target: Target, plan_of: Callable[[float], Plan]) -> float:
    ceiling = rule.ceiling(target)
    return largest(lambda eta: plan_of(eta).amount(rule).within(ceiling))


def _at_price(plan_of: Callable[[float], Plan], target: ApproxDP) -> float:
    """By the quick routes first; the exact ones are asked only near the answer."""

    def price(eta: float, routes: tuple[str, ...]) -> float:
        try:
            return plan_of(eta).price(target.delta, routes=routes).best.epsilon
        except UnsupportedCost:
            return math.inf

    # Mixtures that only the convolution can price are looked for around 1.
    start = largest_below(lambda eta: price(eta, QUICK), target.epsilon) if price(1.0, QUICK) < math.inf else 1.0
    return largest_below(lambda eta: price(eta, _worth_trying(plan_of(start))), target.epsilon, start)


def _worth_trying(plan: Plan) -> tuple[str, ...]:
    """All routes, but for the one that cannot win: for bounded range the convolution is above the exact price."""
    ranges = all(isinstance(step.cost, BoundedRange) for step in plan.steps)
    return tuple(name for name in ROUTES if not (ranges and name == "pld"))
