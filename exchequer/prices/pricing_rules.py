"""Every rule that can price a plan, as one table: its name, what it is valid for, and its ε at a total δ."""

from collections.abc import Callable
from fractions import Fraction
from typing import Final, Literal, TypeAlias

import attrs

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Composition,
    Cost,
    GDPComposition,
    Plan,
    SubsampledGaussian,
    TextbookComposition,
    Unbounded,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.composition import fixed_plans
from accountant.costs import BeyondFloats, exact, float_down

Validity: TypeAlias = Literal["filter", "fixed plan"]


class DoesNotApply(ValueError):
    """A rule has no theorem for this plan; says why."""


def _own_delta(plan: Plan) -> Fraction:
    """Σδ over the rounds, exactly."""
    deltas = (exact(step.cost.delta) * step.rounds for step in plan.steps if isinstance(step.cost, ApproxDP))
    return sum(deltas, Fraction(0))


def _room(plan: Plan, delta: float) -> float:
    """What the rounds leave of δ for the theorem itself, rounded down."""
    if delta == 0.0:
        raise DoesNotApply("needs delta above 0")
    own = _own_delta(plan)
    room = float_down(exact(delta) - own)
    if room <= 0.0:
        raise DoesNotApply(f"the rounds' own deltas add up to {float(own):.3g} and leave nothing of delta")
    return room


def _filtered(rule: Composition, plan: Plan, delta: float) -> float:
    """The ε that a filter makes of the plan's sum."""
    # Read out against an empty budget: against a real one the filter may round an ε down to what it keeps.
    spent = rule.guarantee(plan.amount(rule), ApproxDP(0.0, delta))
    assert isinstance(spent, ApproxDP)
    return spent.epsilon


def _basic(plan: Plan, delta: float) -> float:
    own = _own_delta(plan)
    if own > exact(delta):
        raise DoesNotApply(f"the rounds' own deltas add up to {float(own):.3g}, above delta")
    return _filtered(BasicComposition(), plan, delta)


def _advanced(plan: Plan, delta: float) -> float:
    """δ′ is what the rounds leave of δ."""
    return _filtered(AdvancedComposition(_room(plan, delta)), plan, delta)


def _textbook(plan: Plan, delta: float) -> float:
    """√(2v ln(1/δ′)) + v/2 for v = Σε², kept for comparison."""
    return _filtered(TextbookComposition(_room(plan, delta)), plan, delta)


def _zcdp(plan: Plan, delta: float) -> float:
    if delta == 0.0:
        raise DoesNotApply("needs delta above 0")
    return _filtered(ZCDPComposition(), plan, delta)


def _gdp(plan: Plan, delta: float) -> float:
    if delta == 0.0:
        raise DoesNotApply("needs delta above 0")
    return _filtered(GDPComposition(), plan, delta)


def _epsilon(cost: Cost) -> float:
    if isinstance(cost, ZCDP | GDP | SubsampledGaussian | Unbounded):
        raise UnsupportedCost(f"{cost!r} has no ε")
    return cost.epsilon


def _epsilons(plan: Plan) -> list[float]:
    return [epsilon for step in plan.steps for epsilon in [_epsilon(step.cost)] * step.rounds]


def _printed(plan: Plan, delta: float) -> float:
    room, epsilons = _room(plan, delta), _epsilons(plan)
    if len(set(epsilons)) > 1:
        raise DoesNotApply("is printed for equal rounds only")
    if room > 0.999:
        raise DoesNotApply("delta is so near 1 that its delta' would round to 1")
    return fixed_plans.drv(epsilons[0], 0.0, plan.rounds, room).epsilon


def _routed(name: str) -> Callable[[Plan, float], float]:
    """One of the routes that `Plan.price` takes."""

    def price(plan: Plan, delta: float) -> float:
        if delta == 0.0:
            raise DoesNotApply("needs delta above 0")
        epsilon = plan.route(name, delta)
        if epsilon is None:
            raise UnsupportedCost(f"no {name} route for this plan")
        return epsilon

    return price


def _kov(plan: Plan, delta: float) -> float:
    _room(plan, delta)
    return _routed("kov")(plan, delta)


@attrs.frozen
class Rule:
    """A rule of composition as a newcomer meets it.

    validity: a "filter" holds for costs chosen on the way; a "fixed plan" rule only for costs fixed before
    the first release.  unsupported: why it does not apply where a kind of cost has no theorem.
    """

    name: str
    title: str
    validity: Validity
    price: Callable[[Plan, float], float]
    unsupported: str

    def epsilon(self, plan: Plan, delta: float) -> float:
        """The ε of the plan at that δ in total. Raises DoesNotApply."""
        if any(isinstance(step.cost, Unbounded) for step in plan.steps):
            raise DoesNotApply("an unbounded round has no finite price")
        try:
            return self.price(plan, delta)
        except UnsupportedCost:
            raise DoesNotApply(self.unsupported) from None
        except BeyondFloats:
            raise DoesNotApply("its epsilon is beyond any float") from None


_NO_EPSILON = "a zcdp or gdp round has no epsilon of its own"

RULES: Final = (
    Rule("basic", "basic: sum of epsilons", "filter", _basic, _NO_EPSILON),
    Rule("zcdp", "zCDP, tight conversion", "filter", _zcdp, "an approx-dp round has no rho"),
    Rule("advanced", "advanced, fully adaptive", "filter", _advanced, _NO_EPSILON),
    Rule("advanced-textbook", "advanced, by sum of eps^2", "filter", _textbook, _NO_EPSILON),
    Rule("gdp", "Gaussian, exact", "filter", _gdp, "holds for gdp rounds only"),
    Rule("printed", "Dwork-Rothblum-Vadhan 2010", "fixed plan", _printed, _NO_EPSILON),
    Rule("kov", "Kairouz-Oh-Viswanath", "fixed plan", _kov, _NO_EPSILON),
    Rule("renyi", "Renyi curve", "fixed plan", _routed("renyi"), "an approx-dp round has no Renyi curve"),
    Rule("laplace", "Laplace noise added up", "fixed plan", _routed("laplace"), "holds for laplace-dp rounds only"),
    Rule("pld", "privacy-loss distribution", "fixed plan", _routed("pld"), "a zcdp round has no dominating pair"),
    Rule(
        "bounded-range",
        "bounded range, upper bound",
        "fixed plan",
        _routed("bounded-range"),
        "holds for bounded-range rounds only",
    ),
)
