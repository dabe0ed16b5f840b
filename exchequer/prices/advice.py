"""`exchequer advise`: what a model will be worth and what it will reveal, from public numbers alone."""

import json
import math
from importlib import resources
from typing import Any, Final, cast

import attrs
import click
import numpy as np
from scipy.special import ndtr, ndtri

from accountant import ApproxDP
from accountant.audit import best_guess, percent, power, times
from accountant.costs import count, gaussian, positive, probability_below_one
from exchequer.console import output
from exchequer.console.input_errors import checked
from exchequer.trainable import DEFAULT, DEFAULT_FOR_NUMBERS, LEARNERS

ALARMS: Final = 0.01
"""Share of false alarms at which an attacker's power is read."""

CELLS: Final = 16
"""Parts of a column that a round tells apart, as an example."""

HIDDEN: Final = 0.5
"""Noise above this share of what a cell has hides it."""

WITHOUT_DELTA: Final = "lazy-boost"


@attrs.frozen
class Plan:
    """What is asked about; all of it public. records: n.  classes: K, 0 for numbers.  delta: 0 for pure privacy."""

    records: int
    columns: int
    classes: int
    epsilon: float
    delta: float

    @property
    def learner(self) -> str:
        """By its name on the command line."""
        if self.classes == 0:
            return DEFAULT_FOR_NUMBERS
        return DEFAULT if self.delta else WITHOUT_DELTA

    @property
    def mu(self) -> float:
        """Of the Gaussian noise that (epsilon, delta) allows, all rounds together; delta > 0."""
        return gaussian.mu(self.epsilon, self.delta)

    @property
    def rounds(self) -> int:
        """Releases of the recommended classifier."""
        return self.columns * int(cast("int", LEARNERS[DEFAULT].defaults["rounds_per_column"]))

    @property
    def noise(self) -> float:
        """Of one round, in units of the most that one record can move it; delta > 0."""
        return math.sqrt(self.rounds) / self.mu

    def power(self, alarms: float = ALARMS) -> float:
        """Of the best attacker, rounded up by the (ε, δ) bound, or by the exact curve of the Gaussian if that is less.

        alarms: the share of false ones, in (0, 1).  Φ(Φ⁻¹(alarms) + μ) is the trade-off of μ-GDP. [gdp]
        """
        bound = power(ApproxDP(self.epsilon, self.delta), alarms)
        return bound if not self.delta else min(bound, float(ndtr(ndtri(alarms) + self.mu)) * (1.0 + 1e-9))


@attrs.frozen
class Expected:
    """How good the recommended learner was on public data. same: with as much signal against noise as in the plan.

    at: by the ε of the plan.  beyond: "" or which end of what was measured the same signal is beyond.
    """

    name: str
    records: int
    columns: int
    without_privacy: float
    at: float
    same: float
    beyond: str


def public_figures() -> list[dict[str, Any]]:
    """The figures of our benchmarks that ship with this package."""
    return cast(
        "list[dict[str, Any]]",
        json.loads(resources.files("exchequer.prices").joinpath("public_accuracy.json").read_text(encoding="utf-8")),
    )


def expected(plan: Plan) -> list[Expected]:
    """Accuracy on public data, of two classes; delta > 0.

    What a record's signal is over the noise of a round goes by n·μ/√columns: the ε at which the public data has as much
    of it as the plan is where its accuracy is read, on a line between what was measured.
    """
    signal, found = plan.records * plan.mu / math.sqrt(plan.columns), []
    for data in public_figures():
        epsilons = np.array([each["epsilon"] for each in data["by_epsilon"]])
        accuracies = np.array([each["accuracy"] for each in data["by_epsilon"]])
        scale = data["records"] / math.sqrt(data["columns"])
        signals = np.array([scale * gaussian.mu(epsilon, data["delta"]) for epsilon in epsilons.tolist()])
        beyond = "at least" if signal > signals[-1] else "at most" if signal < signals[0] else ""
        found.append(
            Expected(
                data["name"],
                data["records"],
                data["columns"],
                data["without_privacy"],
                float(np.interp(math.log(plan.epsilon), np.log(epsilons), accuracies)),
                float(np.interp(math.log(signal), np.log(signals), accuracies)),
                beyond,
            )
        )
    return sorted(found, key=lambda each: abs(math.log(each.records / plan.records)))


def advise(records: int, columns: int, classes: int, epsilon: float, delta: float, *, as_json: bool) -> None:
    """Print it. Raises ValueError naming the option that cannot be."""
    plan = Plan(
        checked("--n", count, records),
        checked("--columns", count, columns),
        classes,
        checked("--epsilon", positive, epsilon),
        checked("--delta", probability_below_one, delta),
    )
    if plan.delta >= 1.0 / plan.records:
        raise ValueError(f"--delta: {delta!r} is not below 1/n = {1.0 / plan.records:.3g}, so it promises nothing")
    if classes != 2 and not delta:
        what = "more than two classes" if classes else "numbers"
        raise ValueError(f"--delta: learners of {what} have Gaussian noise, which needs one; 1e-6 is usual")
    if as_json:
        click.echo(json.dumps(_record(plan), indent=1))
        return
    output.title(f"{_what(plan)} at epsilon {plan.epsilon:g}, delta {plan.delta:g}")
    output.paragraph("Nothing here is computed from data; all five numbers count as public.")
    _learner(plan)
    if plan.delta and plan.classes:
        _noise(plan)
        _accuracy(plan)
    _meaning(plan)


def _what(plan: Plan) -> str:
    learnt = f"{plan.classes} classes" if plan.classes else "numbers"
    return f"{plan.records:,} records of {plan.columns} columns, {learnt},"


def _learner(plan: Plan) -> None:
    output.heading("Which learner")
    output.paragraph(f"{plan.learner}: {LEARNERS[plan.learner].what}.")
    if not plan.delta:
        output.paragraph(
            f"With a delta above 0 (far below 1/n = {1.0 / plan.records:.1g}) {DEFAULT} is better by far on all public "
            "data that we measured; without one its Gaussian noise is not to be had."
        )


def _noise(plan: Plan) -> None:
    output.heading("What noise its releases have")
    cell, noise = plan.records / CELLS, plan.noise
    output.paragraph(
        f"Everything together is {plan.mu:.3g}-Gaussian differential privacy. {plan.rounds} rounds share it, so each "
        f"sum over a cell of a column carries Gaussian noise as large as what {noise:,.0f} records can move it at "
        f"most. A cell with a sixteenth of the records has {cell:,.0f} of them: noise of {noise / cell:.1%} in each "
        "round, and "
        "a few rounds average it."
    )
    if noise > HIDDEN * cell:
        output.paragraph(
            "That hides much of what such cells say: expect coarse curves. More records, fewer columns or a larger "
            "epsilon help, each in proportion, columns by their square root."
        )


def _accuracy(plan: Plan) -> None:
    output.heading("What accuracy to expect")
    rows = [
        (
            each.name,
            f"{each.records:,}",
            str(each.columns),
            f"{each.at:.1%}",
            f"{each.beyond} {each.same:.1%}".strip(),
            f"{each.without_privacy:.1%}",
        )
        for each in expected(plan)
    ]
    same = "your noise"
    head = ["data", "records", "columns", "your epsilon", same, "no privacy"]
    output.table(head, rows, numbers=head[1:], whole=head[:1])
    output.paragraph(
        f'Right of held-out records, by {DEFAULT}, two classes; from the benchmarks of this library. "{same}" is read '
        "where that data has as much signal against noise as yours, by n, columns and epsilon. How far that is from "
        "the accuracy without privacy is what privacy costs; how hard your own data are, nobody can say without them."
        + (" More classes share the same noise, and cost more." if plan.classes > 2 else "")
    )


def _meaning(plan: Plan) -> None:
    promise = ApproxDP(plan.epsilon, plan.delta)
    output.heading("What epsilon means for one person")
    failing = f", but for a probability of {2.0 * plan.delta:.2g}" if plan.delta else ""
    factor = times(plan.epsilon, 2.0 if plan.delta else 1.0)
    lines = [
        (
            "odds",
            "Whatever somebody believes about a person's record beforehand, having seen the model multiplies the odds "
            f"by at most {factor}{failing}" + (f" (e^epsilon is {times(plan.epsilon)})." if plan.delta else "."),
        ),
        (
            "a guess",
            "Somebody who knows every other record, and tosses a coin over the last one, is right in at most "
            f"{percent(best_guess(promise))} of the cases instead of 50 %.",
        ),
        (
            "an attack",
            f"The best possible attack that raises a false alarm for {ALARMS:.0%} of those who are not in the data "
            f"finds at most {percent(plan.power())} of those who are. Blind guessing finds {ALARMS:.0%}.",
        ),
    ]
    output.facts(lines)
    output.paragraph(
        "These are bounds for the worst case: everything but one record known, and the attack that suits it best. "
        "Other models of the same records add to them: keep one ledger (`exchequer ledger open`)."
    )


def _record(plan: Plan) -> dict[str, object]:
    promise, gaussian_classes = ApproxDP(plan.epsilon, plan.delta), bool(plan.delta and plan.classes)
    noise = {"mu": plan.mu, "rounds": plan.rounds, "records_of_noise": plan.noise} if gaussian_classes else None
    figures = [attrs.asdict(each) for each in expected(plan)] if gaussian_classes else []
    return {
        **attrs.asdict(plan),
        "learner": plan.learner,
        "noise": noise,
        "public_data": figures,
        "odds": math.exp(min(plan.epsilon, 700.0)),
        "best_guess": best_guess(promise),
        "false_alarms": ALARMS,
        "power": plan.power(),
    }
