"""`exchequer learners`: what can be trained, and what each learner is for, as the code has it."""

import inspect
import json
from typing import Any

import attrs
import click
from sklearn.base import is_classifier

import learners
from exchequer.commands.train import OWN_OPTIONS
from exchequer.console import output
from exchequer.trainable import DEFAULT, DEFAULT_FOR_NUMBERS, ELSEWHERE, LEARNERS
from learners.base import PrivateEstimator


@attrs.frozen
class LearnerFacts:
    """What a class says of itself. learns: classes or numbers.  weights, blocks: whether `fit` takes such data."""

    learns: str
    weights: bool
    blocks: bool
    tuning: bool

    @staticmethod
    def of(kind: type[PrivateEstimator[Any, Any]]) -> "LearnerFacts":
        """Read off the class."""
        classes = "classes" if getattr(kind, "_multi_class", False) else "two classes"
        return LearnerFacts(
            classes if is_classifier(kind()) else "numbers",
            "sample_weight" in inspect.signature(kind.fit).parameters,
            kind.takes_blocks,
            "tune" in inspect.signature(kind).parameters,
        )

    def words(self) -> str:
        """In one go, without what it does not take."""
        takes = {"weights": self.weights, "blocks": self.blocks, "--tune": self.tuning}
        return ", ".join([self.learns, *(what for what, there in takes.items() if there)])


def show(name: str | None, *, as_json: bool) -> None:
    """All learners, or one with its parameters."""
    if as_json:
        found = {key: _record(key) for key in ([name] if name else LEARNERS)}
        click.echo(json.dumps(found, indent=1, default=str))
    elif name is None:
        _show_all()
    else:
        _show_one(name)


def _show_all() -> None:
    output.facts([(name, f"{LearnerFacts.of(each.kind).words()}: {each.what}") for name, each in LEARNERS.items()])
    output.paragraph(
        f"\nWithout --learner, train takes {DEFAULT} for classes and {DEFAULT_FOR_NUMBERS} for numbers. Weights, and "
        "tables in blocks, are taken in Python. `exchequer learners NAME` lists a learner's parameters."
    )
    for estimator, where in ELSEWHERE.items():
        output.paragraph(f"{estimator}: {where}.")


def _mark(there: bool) -> str:
    return "yes" if there else "-"


def _show_one(name: str) -> None:
    learner = LEARNERS[name]
    output.title(f"{name}: {learner.what}")
    facts = LearnerFacts.of(learner.kind)
    output.facts(
        [
            ("in Python", f"learners.{learner.estimator}"),
            ("learns", facts.learns),
            ("weights", _mark(facts.weights)),
            ("blocks", _mark(facts.blocks)),
            ("delta", f"{learner.delta:g} where none is given"),
        ]
    )
    output.heading("Parameters, for --set and --tune")
    output.facts([(key, repr(default)) for key, default in parameters(learner.kind).items()])
    output.heading("What they are")
    output.paragraph((inspect.getdoc(learner.kind) or "").partition("\n>>> ")[0].rstrip())


def parameters(kind: type[PrivateEstimator[Any, Any]]) -> dict[str, object]:
    """Those that have no option of their own, with their defaults."""
    found = inspect.signature(kind).parameters.values()
    return {each.name: each.default for each in found if each.name not in OWN_OPTIONS}


def _record(name: str) -> dict[str, object]:
    learner = LEARNERS[name]
    facts = attrs.asdict(LearnerFacts.of(learner.kind))
    return {"estimator": learner.estimator, "what": learner.what, **facts, "parameters": parameters(learner.kind)}


def elsewhere() -> list[str]:
    """Public estimators that `train` does not offer, for a test that none is forgotten."""
    offered = {each.estimator for each in LEARNERS.values()} | set(ELSEWHERE)
    public = [(name, getattr(learners, name)) for name in learners.__all__]
    kinds = [
        name
        for name, each in public
        if isinstance(each, type) and issubclass(each, PrivateEstimator) and hasattr(each, "predict")
    ]
    return [name for name in kinds if name not in offered and not inspect.isabstract(getattr(learners, name))]
