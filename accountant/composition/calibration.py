"""From a budget to a noise scale: the least noise whose plan still keeps the target, never above it."""

import math
from collections.abc import Callable
from typing import Final

from accountant.composition.plans import QUICK, ROUTES, Plan, worth_trying
from accountant.composition.rules import BasicComposition, Composition, UnsupportedCost
from accountant.costs import FINE, GDP, ZCDP, ApproxDP, PureDP, largest, largest_below

Target = PureDP | ApproxDP | ZCDP | GDP


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
    """By the quick routes first; the exact ones are asked only near the answer, and by as few plans as will do."""

    def price(eta: float, routes: tuple[str, ...]) -> float:
        try:
            return plan_of(eta).price(target.delta, routes=routes).best.epsilon
        except UnsupportedCost:
            return math.inf

    # Mixtures that only the convolution can price are looked for around 1.
    if price(1.0, QUICK) == math.inf:
        return largest_below(lambda eta: price(eta, ROUTES), target.epsilon)
    start = largest_below(lambda eta: price(eta, QUICK), target.epsilon, within=ROUGHLY)
    routes = worth_trying(plan_of(start))
    ranges = "pld" not in routes and plan_of(start).rounds > 1  # priced on a grid
    return largest_below(
        lambda eta: price(eta, routes),
        target.epsilon,
        start * USUAL_GAIN if ranges else start,
        within=GRAINY if ranges else FINE,
        slope=USUAL_SLOPE if ranges else 1.0,
    )


ROUGHLY: Final = 1e-2
"""Relative, for a starting point."""

GRAINY: Final = 5e-4
"""For the price of bounded-range releases, which comes from a grid, jumps by about 1e-4, and takes its time."""

USUAL_GAIN: Final = 1.075
"""By how much that price lets noise shrink below that of the quick routes, where there are many rounds."""

USUAL_SLOPE: Final = 1.1
"""By how many per cent that price rises where noise shrinks by one."""
