"""`exchequer price`: what a plan costs under each rule, and how much noise a learner needs under each.

Only public numbers go in: costs, rounds, n and settings. No data is read.
"""

import json
from collections.abc import Callable, Sequence

import attrs
import click

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Plan,
    PureDP,
    Step,
    Unbounded,
    ZCDPComposition,
)
from accountant.composition import largest_eta
from accountant.costs import KINDS, count, fraction, largest_below, positive, probability_below_one
from boosting import LazyBregman, boosting_plan, certificates
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from exchequer.prices.pricing_rules import RULES, DoesNotApply, Rule
from learners import Layout, PrivateOneRule, Schema
from learners.base import lazy_boost_settings

MOST_ROUNDS = 100_000
"""The bounds hold a number per round in memory."""

FORMS = (
    "pure-dp:EPS, laplace-dp:EPS, approx-dp:EPS,DELTA, zcdp:RHO, bounded-range:EPS, gdp:MU or "
    "subsampled-gaussian:MU,RATE, each with @ROUNDS if it is repeated"
)


@attrs.frozen
class RuleAnswer:
    """One rule's answer.

    value: ε of the plan, or the eta that the rule affords; None where it does not apply, for `reason`.
    round_cost: what one round costs at that eta.
    """

    rule: Rule
    value: float | None = None
    reason: str = ""
    round_cost: BoundedRange | None = None

    def as_dict(self, name: str) -> dict[str, object]:
        """For JSON. name: what the value is."""
        record: dict[str, object] = {"rule": self.rule.name, "valid_for": self.rule.validity, name: self.value}
        if self.round_cost is not None:
            record["round_cost"] = self.round_cost.as_dict()
        return record | ({"does_not_apply": self.reason} if self.reason else {})


@attrs.frozen
class Answer:
    """All rules' answers, and which are best. better: min for a price, max for an eta."""

    lines: list[RuleAnswer]
    better: Callable[[list[float]], float]

    def best(self, *, filters_only: bool = False) -> RuleAnswer | None:
        """The best line; None where no rule applies."""
        running = [line for line in self.lines if line.rule.validity == "filter" or not filters_only]
        values = [line.value for line in running if line.value is not None]
        return next((line for line in running if values and line.value == self.better(values)), None)

    def remark(self, line: RuleAnswer) -> str:
        """The last column."""
        if line.reason:
            return f"does not apply: {line.reason}"
        if line is self.best():
            return "best"
        return "best filter" if line is self.best(filters_only=True) else ""

    def as_dict(self, name: str) -> dict[str, object]:
        """For JSON."""
        best, best_filter = self.best(), self.best(filters_only=True)
        return {
            "rules": [line.as_dict(name) for line in self.lines],
            "best": best and best.rule.name,
            "best_filter": best_filter and best_filter.rule.name,
        }


def few_enough(rounds: int) -> int:
    """Rounds, between 1 and MOST_ROUNDS."""
    if count(rounds) > MOST_ROUNDS:
        raise ValueError(f"expected at most {MOST_ROUNDS}, got {rounds}")
    return rounds


def _print_json(record: dict[str, object]) -> None:
    click.echo(json.dumps(record, indent=1, allow_nan=False))


def _explain_validity() -> None:
    output.paragraph(
        "filter: holds even where each cost is chosen after seeing what was released before, so a ledger can "
        "stop by it. fixed plan: holds only where all costs are fixed before the first release."
    )


# --- the first form: a plan of costs ------------------------------------------------------------------------


def parse_step(text: str, rounds: int, option: str = "--mechanism") -> Step:
    """KIND:NUMBERS, with @ROUNDS to override `rounds`. Raises ValueError naming the option and the text."""
    kind, _, rest = text.partition(":")
    numbers, at, repeated = rest.partition("@")
    try:
        if kind.partition("@")[0] == Unbounded.kind:
            raise ValueError("an unbounded cost has no finite price, and no budget pays for it")
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind!r}")
        values = [float(number) for number in numbers.split(",")]
        wanted = len(attrs.fields(KINDS[kind]))
        if len(values) != wanted:
            raise ValueError(f"{kind} takes {wanted} number{'s' if wanted > 1 else ''}, got {len(values)}")
        return Step(KINDS[kind](*values), int(repeated) if at else rounds)
    except ValueError as error:
        raise ValueError(f"{option} {text!r}: {error}; expected {FORMS}") from None


def plan_answer(plan: Plan, delta: float) -> Answer:
    """The plan's ε under each rule."""

    def line(rule: Rule) -> RuleAnswer:
        try:
            return RuleAnswer(rule, rule.epsilon(plan, delta))
        except DoesNotApply as error:
            return RuleAnswer(rule, reason=str(error))

    return Answer([line(rule) for rule in RULES], min)


def price_plan(mechanisms: Sequence[str], rounds: int, delta: float, *, as_json: bool) -> None:
    """Print what the mechanisms cost together under each rule."""
    plan = Plan(tuple(parse_step(text, rounds) for text in mechanisms))
    checked("--rounds", few_enough, plan.rounds)
    delta = checked("--delta", probability_below_one, delta)
    answer = plan_answer(plan, delta)
    if as_json:
        steps = [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps]
        _print_json({"plan": steps, "delta": delta, **answer.as_dict("epsilon")})
        return
    output.title(f"The cost of {_plan_text(plan)}, at delta {delta:g} in all")
    rows = [(line.rule.title, line.rule.validity, _number(line.value), answer.remark(line)) for line in answer.lines]
    output.table(["rule", "valid for", "epsilon", ""], rows, numbers=["epsilon"], whole=["rule", "valid for"])
    _explain_validity()
    best = answer.best()
    output.paragraph(
        "No rule prices this plan at this delta."
        if best is None
        else f"Best: {best.rule.title}, epsilon {_number(best.value)}. A smaller epsilon is a stronger promise."
    )


def _plan_text(plan: Plan) -> str:
    return " + ".join(
        f"{step.rounds} x {step.cost.kind} {', '.join(f'{number:g}' for number in attrs.astuple(step.cost))}"
        for step in plan.steps
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


# --- the second form: a learner and its budget ----------------------------------------------------------------


@attrs.frozen
class Boosting:
    """A run of LazyBoostClassifier before it has data. n: the public number of records."""

    n: int
    rounds: int
    density: float
    learning_rate: float

    def __attrs_post_init__(self) -> None:
        checked("--n", count, self.n)
        checked("--rounds", few_enough, self.rounds)
        checked("--density", fraction, self.density)
        checked("--learning-rate", positive, self.learning_rate)

    def plan(self) -> Callable[[float], Plan]:
        """From eta to the plan of the run. Which features there are does not move the cost."""
        layout = Layout(Schema.boolean(["any"]))
        runs = certificates(LazyBregman(self.density, self.learning_rate), self.rounds, self.n)
        return lambda eta: boosting_plan(PrivateOneRule(layout, eta), runs)


def boosting(n: int, rounds: int, density: float | None, learning_rate: float | None) -> Boosting:
    """The run that `train` would make of so many rounds; what is not given is taken as it takes it."""
    checked("--n", count, n)
    default = lazy_boost_settings(n, 1.0, 0.0, 1, rounds=checked("--rounds", few_enough, rounds))
    return Boosting(
        n,
        rounds,
        default.density if density is None else density,
        default.learning_rate if learning_rate is None else learning_rate,
    )


def _most_expensive(plan: Plan) -> Plan:
    """Every round at the cost of the last: ζ never falls from round to round."""
    return Plan.of(plan.steps[-1].cost, plan.rounds)


def _eta(rule: Rule, plan_of: Callable[[float], Plan], target: ApproxDP) -> float:
    match rule.name:
        case "basic":
            return largest_eta(plan_of, PureDP(target.epsilon), BasicComposition())
        case "advanced" if target.delta:
            return largest_eta(plan_of, target, AdvancedComposition(target.delta))
        case "zcdp" if target.delta:
            return largest_eta(plan_of, target, ZCDPComposition())
    # The printed formula knows equal rounds only.
    priced = (lambda eta: _most_expensive(plan_of(eta))) if rule.name == "printed" else plan_of
    return largest_below(lambda eta: rule.epsilon(priced(eta), target.delta), target.epsilon)


def learner_answer(run: Boosting, target: ApproxDP) -> Answer:
    """The inverse noise scale that each rule affords, and what one round then costs."""
    plan_of = run.plan()

    def line(rule: Rule) -> RuleAnswer:
        try:
            eta = _eta(rule, plan_of, target)
        except DoesNotApply as error:
            return RuleAnswer(rule, reason=str(error))
        cost = plan_of(eta).steps[-1].cost
        assert isinstance(cost, BoundedRange)
        return RuleAnswer(rule, eta, round_cost=cost)

    return Answer([line(rule) for rule in RULES], max)


def price_learner(run: Boosting, epsilon: float, delta: float, *, as_json: bool) -> None:
    """Print how much noise the learner needs under each rule."""
    target = ApproxDP(checked("--epsilon", positive, epsilon), checked("--delta", probability_below_one, delta))
    with about("--epsilon"):
        answer = learner_answer(run, target)
        used = largest_eta(run.plan(), target if delta else PureDP(epsilon), BasicComposition())
    if as_json:
        settings = {"learner": "lazy-boost", **attrs.asdict(run), "epsilon": epsilon, "delta": delta}
        _print_json({**settings, **answer.as_dict("eta"), "train_uses_eta": used})
        return
    output.title(f"The noise of {run.rounds} rounds on {run.n} records, for epsilon {epsilon:g}, delta {delta:g}")
    rows = [
        (
            line.rule.title,
            line.rule.validity,
            _number(line.value),
            _number(None if line.round_cost is None else line.round_cost.epsilon),
            answer.remark(line),
        )
        for line in answer.lines
    ]
    output.table(
        ["rule", "valid for", "eta", "one round", ""], rows, numbers=["eta", "one round"], whole=["rule", "valid for"]
    )
    output.paragraph(
        "eta is the inverse scale of the noise: larger is better. With d Boolean features a round's rule is, as a "
        "rule of thumb, within ln(2d + 2)/eta of the smallest weighted error. One round costs that epsilon of "
        "bounded range."
    )
    _explain_validity()
    output.paragraph(f"exchequer train fixes its rounds in advance, so it takes the best: eta {_number(used)}.")
