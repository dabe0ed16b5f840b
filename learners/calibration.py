"""From a budget to a noise scale: the least noise whose plan still keeps the target."""

from collections.abc import Callable

from accountant import ZCDP, ApproxDP, BasicComposition, Composition, Plan, PureDP
from accountant.rounding import largest

Target = PureDP | ApproxDP | ZCDP


def keeper(target: Target, rule: Composition) -> Callable[[Plan], bool]:
    """A test whether a plan, released on a ledger with that rule, costs at most the target.

    A pure target is kept by the sum of the plan's ε, whatever the ledger adds up. A ledger that adds up
    (ε, δ) charges a plan at its best price; the others compare their own sums.
    """
    match target:
        case PureDP():
            return _sums_within(BasicComposition(), target)
        case ApproxDP(epsilon=epsilon, delta=delta) if isinstance(rule, BasicComposition):
            return lambda plan: plan.price(delta).best.epsilon <= epsilon
        case _:
            return _sums_within(rule, target)


def _sums_within(rule: Composition, target: Target) -> Callable[[Plan], bool]:
    ceiling = rule.ceiling(target)
    return lambda plan: plan.amount(rule).within(ceiling)


def largest_eta(plan_of: Callable[[float], Plan], target: Target, rule: Composition) -> float:
    """The largest inverse noise scale whose plan keeps the target; never above it."""
    kept = keeper(target, rule)
    return largest(lambda eta: kept(plan_of(eta)))
