"""A plan: costs fixed before the first release, while the queries may still depend on earlier outputs.

Because the costs are fixed, every composition theorem applies, so a plan is priced as one thing.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.composition import adaptive_range, dominating_pairs, fixed_plans, ranges_as_gaussian
from accountant.composition.loss_distribution import TooFine
from accountant.composition.rules import NOTHING, Amount, Composition, UnsupportedCost, ZCDPComposition
from accountant.costs import (
    GDP,
    OWN_KINDS,
    ZCDP,
    Adjacency,
    ApproxDP,
    BeyondFloats,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    count,
    curves,
    down,
    exact,
    finite_up,
    float_up,
    gaussian,
    open_probability,
    probability_below_one,
    why_not_under,
)

QUICK: Final = ("basic", "kov", "zcdp", "renyi", "gdp", "laplace")
"""Routes by formula: well below a millisecond for equal rounds."""

MOST_ROUNDS: Final = 10**6
"""For theorems that hold a number per round in memory."""

MOST_COUNTED: Final = 2**53
"""For theorems that count rounds in floats: all but `EXACT`."""

MOST_REMEMBERED: Final = 8
"""Steps of plans whose prices are kept, so that they are quickly found and take little memory."""

EXACT: Final = ("basic", "zcdp", "gdp", "laplace")
"""Routes that add up exactly, and take any number of rounds."""

ROUTE_CLAIMS: Final = {
    "basic": "basic",
    "kov": "kov",
    "zcdp": "zcdp-tight",
    "renyi": "L3",
    "gdp": "gdp",
    "laplace": "laplace-dp",
    "pld": "pld",
    "bounded-range": "L5",
}
"""Which claim a route depends on."""

ORDERED: Final = ("bounded-range",)
"""Routes whose price depends on the order of unequal rounds, so that rounds must not be sorted or grouped before."""

ROUTES: Final = (*QUICK, "pld", "bounded-range")
"""All routes of `Plan.price`, by name: theorems for costs that were fixed in advance."""


@attrs.frozen
class Step:
    """Some releases of equal cost, one after another.

    cost: of each.  rounds: how many, at least 1.
    """

    cost: Cost
    rounds: int = attrs.field(converter=count)


@attrs.frozen
class Price:
    """What a plan costs at one δ.

    best: the smallest (ε, δ).  route: the theorem that gives it, by name.
    routes: the ε of every theorem that applies, by name.
    """

    best: ApproxDP
    route: str
    routes: dict[str, float] = attrs.field(hash=False)


def _at_least_one(steps: Iterable[Step]) -> tuple[Step, ...]:
    given = () if isinstance(steps, Step) else tuple(steps)
    if not given or not all(isinstance(step, Step) for step in given):
        raise ValueError(f"steps: expected at least one Step, as in Plan([Step(cost, rounds)]), got {steps!r:.99}")
    return given


@attrs.frozen
class Plan:
    """Costs of releases that are fixed before the first, in the order of the releases.

    steps: at least one.
    adjacency: the relation under which their costs hold, for a plan that knows it; a ledger refuses it under any other.
    Raises ValueError where a step cannot hold under it.
    """

    steps: tuple[Step, ...] = attrs.field(converter=_at_least_one)
    adjacency: Adjacency | None = attrs.field(default=None, kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.adjacency is not None:
            reasons = [why_not_under(step.cost, self.adjacency) for step in self.steps]
            if wrong := next((reason for reason in reasons if reason is not None), None):
                raise ValueError(f"adjacency: {wrong}")

    @staticmethod
    def of(cost: Cost, rounds: int = 1) -> "Plan":
        """The same cost for every round."""
        return Plan((Step(cost, rounds),))

    @staticmethod
    def sequence(costs: Sequence[Cost]) -> "Plan":
        """One cost per round, neighbours that are equal put together."""
        return Plan(tuple(Step(cost, len(list(run))) for cost, run in itertools.groupby(costs)))

    @property
    def rounds(self) -> int:
        """The number of releases."""
        return sum(step.rounds for step in self.steps)

    def last(self, rounds: int) -> "Plan":
        """Its last rounds, from 1 to all of them."""
        steps: list[Step] = []
        for step in reversed(self.steps):
            if rounds:
                steps.append(Step(step.cost, min(step.rounds, rounds)))
                rounds -= steps[-1].rounds
        return Plan(reversed(steps), adjacency=self.adjacency)

    def __iter__(self) -> Iterator[Cost]:
        """The cost of each round, in order."""
        for step in self.steps:
            yield from itertools.repeat(step.cost, step.rounds)

    def amount(self, rule: Composition) -> Amount:
        """What the rounds add up to under a rule, exactly. Raises UnsupportedCost."""
        total = NOTHING
        for step in self.steps:
            total = total.plus(rule.amount(step.cost).times(step.rounds))
        return total

    def price(self, delta: float, *, routes: Sequence[str] | None = None) -> Price:
        """The smallest (ε, δ) that any applicable theorem gives.

        delta: in [0, 1). At δ = 0 only basic composition applies.
        routes: the theorems to try, by their names in `ROUTES`; all of them unless given.
        Raises UnsupportedCost where no theorem applies, as for a ρ-zCDP step at δ = 0, or an unbounded one at any.
        """
        delta = probability_below_one(delta)
        if any(isinstance(step.cost, Unbounded) for step in self.steps):
            raise UnsupportedCost("this plan has no finite price: one of its steps costs Unbounded()")
        found: dict[str, float] = {}
        for name in ROUTES if routes is None else routes:
            epsilon = self.route(name, delta, enough=min(found.values(), default=None))
            if epsilon is not None:
                found[name] = epsilon
        if not found:
            raise UnsupportedCost(f"no composition theorem prices this plan at δ = {delta!r}: {self.steps!r}")
        best = min(found, key=lambda name: found[name])
        return Price(ApproxDP(found[best], delta), best, found)

    def cheapest(self, delta: float) -> Price:
        """The same without what cannot be the smallest, which takes time; what a charge is made at."""
        routes = worth_trying(self)
        price = self.price(delta, routes=routes)
        enough = routes == ROUTES or "bounded-range" in price.routes or not delta
        return price if enough else self.price(delta)

    def route(self, name: str, delta: float, *, enough: float | None = None) -> float | None:
        """The ε that one theorem gives, None where it does not apply.

        name: in `ROUTES`.  delta: in [0, 1).  enough: an ε that is known to hold, where there is one.
        None also where its ε is beyond any float.
        """
        plan = self._reduced
        by = _remembered if plan._ordinary else Plan._by
        try:
            return by(plan, name, delta, enough)
        except BeyondFloats:
            return None

    @property
    def _reduced(self) -> "Plan":
        """The same with Gaussians on samples of everybody, or of nobody, as the plain costs that they are."""
        if not any(isinstance(step.cost, SubsampledGaussian) for step in self.steps):
            return self
        steps = (
            Step(step.cost.reduced, step.rounds) if isinstance(step.cost, SubsampledGaussian) else step
            for step in self.steps
        )
        return Plan(tuple(steps))

    @property
    def _ordinary(self) -> bool:
        """Whether equal plans cost the same for sure: a cost of somebody else's may compare equal and differ."""
        return len(self.steps) <= MOST_REMEMBERED and all(type(step.cost) in OWN_KINDS for step in self.steps)

    def _by(self, name: str, delta: float, enough: float | None) -> float | None:
        if name == "basic":
            return self._basic(delta)
        if delta == 0.0 or (name not in EXACT and self.rounds > MOST_COUNTED):
            return None
        match name:
            case "kov":
                return self._kov(delta)
            case "zcdp":
                return self._zcdp(delta)
            case "renyi":
                return self._renyi(delta)
            case "gdp":
                return self._gdp(delta)
            case "laplace":
                return self._laplace(delta)
            case "pld":
                return self._pld(delta)
            case "bounded-range":
                return self._bounded_range(delta, enough)
            case _:
                raise ValueError(f"unknown route {name!r}; known: {ROUTES}")

    def _basic(self, delta: float) -> float | None:
        total, spent = exact(0.0), exact(0.0)
        for step in self.steps:
            if isinstance(step.cost, ZCDP | GDP | SubsampledGaussian | Unbounded):
                return None
            if isinstance(step.cost, ApproxDP):
                spent += exact(step.cost.delta) * step.rounds
            total += exact(step.cost.epsilon) * step.rounds
        return float_up(total) if spent <= exact(delta) else None

    def _kov(self, delta: float) -> float | None:
        """Optimal composition for equal costs, the closed form for unequal ones. [kov]"""
        pairs = [_epsilon_delta(step.cost) for step in self.steps]
        if not all(pairs) or self.rounds > MOST_ROUNDS:
            return None
        costs = [(pair, step.rounds) for pair, step in zip(pairs, self.steps, strict=True) if pair is not None]
        first = costs[0][0]
        kept = math.fsum(rounds * math.log1p(-d) for (_, d), rounds in costs)
        # Where the releases' own δ are nearly all of it, the difference has lost its digits.
        beyond = math.log1p(-delta) - kept + 2.0**-50 * abs(kept)
        slack = down(-math.expm1(beyond)) if beyond < 0.0 else 0.0
        if slack <= 0.0:
            return None
        if all(pair == first for pair, _ in costs):
            return fixed_plans.kov_homogeneous(first[0], 0.0, self.rounds, slack).epsilon
        epsilons = [epsilon for (epsilon, _), rounds in costs for _ in range(rounds)]
        return fixed_plans.kov_heterogeneous(epsilons, [], slack).epsilon

    def _zcdp(self, delta: float) -> float | None:
        try:
            total = self.amount(ZCDPComposition())
        except UnsupportedCost:
            return None
        return curves.zcdp_epsilon(float_up(total.loss), delta)

    def _renyi(self, delta: float) -> float | None:
        """The exact curves of Laplace and bounded-range steps added up order by order. [L3] [laplace-dp]"""
        total = np.zeros_like(curves.ORDERS)
        for step in self.steps:
            divergence = _divergence(step.cost)
            if divergence is None:
                return None
            with np.errstate(over="ignore"):  # at orders where it is infinite, another is better
                total += step.rounds * divergence
        return curves.renyi_epsilon(total, curves.ORDERS, open_probability(delta))

    def _gdp(self, delta: float) -> float | None:
        """Gaussian releases are together one with μ = √Σμᵢ², exactly; on samples, at most. [gdp]"""
        squares = exact(0.0)
        for step in self.steps:
            if not isinstance(step.cost, GDP | SubsampledGaussian):
                return None
            squares += step.rounds * exact(step.cost.mu) ** 2
        return gaussian.epsilon(finite_up(math.sqrt(float_up(squares))) if squares else 0.0, delta)

    def _laplace(self, delta: float) -> float | None:
        """Laplace releases are together at most one of Σεᵢ, and one exactly. [laplace-dp]"""
        total = exact(0.0)
        for step in self.steps:
            if not isinstance(step.cost, LaplaceDP):
                return None
            total += step.rounds * exact(step.cost.epsilon)
        return curves.laplace_epsilon(float_up(total), delta)

    def _pld(self, delta: float) -> float | None:
        """Dominating pairs of every kind but zCDP, convolved. [pld]"""
        try:
            found = dominating_pairs.epsilon([(step.cost, step.rounds) for step in self.steps], delta)
        except TooFine:
            return None
        return found if found is not None and math.isfinite(found) else None

    def _bounded_range(self, delta: float, enough: float | None) -> float | None:
        """The exact price of one bounded-range release [L4]; an upper bound on that of adaptive ones [L5] [L6]."""
        widths: list[tuple[float, int]] = []
        for step in self.steps:
            if not isinstance(step.cost, BoundedRange):
                return None
            widths.append((step.cost.epsilon, step.rounds))
        if self.rounds == 1:
            return curves.bounded_range_epsilon(widths[0][0], delta)
        above = self.price(delta, routes=QUICK).best.epsilon if enough is None else enough
        return ranges_as_gaussian.epsilon(widths, delta, above)


@functools.lru_cache(maxsize=4096)  # whoever fits anew, as in a grid search, calibrates to the same target anew
def _remembered(plan: Plan, name: str, delta: float, enough: float | None) -> float | None:
    return plan._by(name, delta, enough)


def forget_prices() -> None:
    """So that the next one is found anew, for whoever measures how long that takes."""
    _remembered.cache_clear()
    adaptive_range.forget()
    curves.forget()


def worth_trying(plan: Plan) -> tuple[str, ...]:
    """All routes, but for one that cannot win: for bounded range the convolution is above the exact price, if there is
    one."""
    widest = math.inf if plan.rounds <= adaptive_range.MAX_ROUNDS else ranges_as_gaussian.WIDEST
    ranges = all(isinstance(step.cost, BoundedRange) and step.cost.epsilon <= widest for step in plan.steps)
    return tuple(name for name in ROUTES if not (ranges and name == "pld"))


def _divergence(cost: Cost) -> FloatArray | None:
    """The Rényi curve of one release on `curves.ORDERS`, None where it has none."""
    with np.errstate(over="ignore"):
        match cost:
            case BoundedRange(epsilon=epsilon):
                return curves.bounded_range_divergence(epsilon, curves.ORDERS)
            case LaplaceDP(epsilon=epsilon):
                return curves.laplace_divergence(epsilon, curves.ORDERS)
            case PureDP() | GDP() | SubsampledGaussian():
                return cost.to_zcdp().rho * curves.ORDERS
            case ZCDP(rho=rho):
                return rho * curves.ORDERS
            case _:
                return None


def _epsilon_delta(cost: Cost) -> tuple[float, float] | None:
    match cost:
        case PureDP(epsilon=epsilon) | LaplaceDP(epsilon=epsilon) | BoundedRange(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=delta):
            return epsilon, delta
        case _:
            return None
