"""The learners that `exchequer train` offers, and the options that they take.

Read for `exchequer --help` too, so numpy and its like are imported only when a learner is asked for.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import attrs
import click

from exchequer.console.option_types import DIRECTION, PAIRS

if TYPE_CHECKING:
    from learners.base import PrivateEstimator

Setting: TypeAlias = object
"""What an option was given, as its type makes it."""

F = TypeVar("F", bound=Callable[..., object])


@attrs.frozen
class Option:
    """What some learners take; the name on the command line has dashes instead of underscores.

    kind: what click takes for a type.  parameter: what learners call it, where that is another name.
    multiple: whether it may be given several times, for one mapping of all its pairs.
    """

    kind: Any
    help: str
    parameter: str = ""
    multiple: bool = False


OPTIONS: Final[Mapping[str, Option]] = {
    "adjacency": Option(
        str,
        "What the promise hides: add-remove-one that a record is there, and so how many there are; replace-one what it "
        "says, while their number is public, at almost twice the noise.",
    ),
    "rounds_per_column": Option(int, "Rounds per column, from 1."),
    "interactions": Option(
        PAIRS,
        "Pairs of columns that get an effect of their own: auto chooses them by what was released, at no further cost; "
        "a:b,c:d names them; none.",
    ),
    "monotone": Option(
        DIRECTION,
        "A column of numbers with which the score must not fall, COLUMN=+1, or not rise, COLUMN=-1; free of charge. "
        "Several times for several columns.",
        parameter="monotonic_cst",
        multiple=True,
    ),
    "loss": Option(
        str,
        "squared for means, absolute for medians, huber for what is typical, poisson for counts and amounts from 0.",
    ),
    "intervals": Option(
        float,
        "Share of epsilon, from 0 to below 1, for a histogram of residuals: `predict --intervals` needs one; .05 is "
        "usual.",
    ),
    "rounds": Option(int, "How many simple rules vote, from 1."),
    "learning_rate": Option(float, "How strongly each round turns to the records that are still wrong, above 0."),
    "density": Option(
        float,
        "Share of the records over which the weight must be spread, above 0 up to 1. Larger needs less noise, smaller "
        "lets the model dwell on hard records.",
    ),
}


RENAMED: Final[Mapping[str, str]] = {"sweeps": "rounds_per_column"}
"""Options by their names of version 0.1, which go on for one version, and by those of now."""


@attrs.frozen
class TrainableLearner:
    """estimator: its class in `learners`.  what: in a line, for people.

    defaults: of each of OPTIONS that it takes, as the class has them; None where it goes by the size of the data.
    steps: the option that says how many rounds the progress bar has; "" where none does.
    delta: what it gets where none is given.  numbers: whether it predicts numbers, instead of classes.
    """

    estimator: str
    what: str
    defaults: Mapping[str, Setting | None]
    steps: str = "rounds"
    delta: float = 0.0
    numbers: bool = False

    @property
    def kind(self) -> "type[PrivateEstimator[Any, Any]]":
        """Its class."""
        return cast("type[PrivateEstimator[Any, Any]]", getattr(importlib.import_module("learners"), self.estimator))

    def build(self, **arguments: object) -> "PrivateEstimator[Any, Any]":
        """The estimator, not fitted."""
        return self.kind(**arguments)

    def refuse_others(self, name: str, given: Mapping[str, Setting]) -> None:
        """Raise UsageError for an option of another learner. name: of this one."""
        strange = [flag(option) for option in given if option not in self.defaults]
        if strange:
            own = ", ".join(map(flag, self.defaults)) or "no such option"
            raise click.UsageError(f"{', '.join(strange)}: not for --learner {name}, which takes {own}")


LEARNERS: Final[Mapping[str, TrainableLearner]] = {
    "private-boost": TrainableLearner(
        "PrivateBoostClassifier",
        "a curve for every column that add up; recommended for classes; needs a --delta",
        {"adjacency": "add-remove-one", "rounds_per_column": 8, "interactions": "auto", "monotone": None},
        steps="",
        delta=1e-6,
    ),
    "private-boost-regressor": TrainableLearner(
        "PrivateBoostRegressor",
        "curves and pairs of columns that add up to a number; recommended for numbers; needs a --delta",
        {"adjacency": "add-remove-one", "interactions": "auto", "loss": "squared", "intervals": 0.0},
        steps="",
        delta=1e-6,
        numbers=True,
    ),
    "lazy-boost": TrainableLearner(
        "LazyBoostClassifier",
        "one-feature rules that vote, a table that a person can read",
        {"rounds": None, "learning_rate": None, "density": None},
    ),
    "logistic": TrainableLearner("DPLogisticRegression", "logistic regression by objective perturbation", {}, ""),
    "gradient-boosting": TrainableLearner("DPGradientBoostingClassifier", "DPBoost of Li et al.", {}, ""),
    "forest": TrainableLearner("DPRandomForestClassifier", "random trees with noisy leaves", {}, ""),
    "bagging": TrainableLearner("DPBaggingClassifier", "teachers that vote on drawn points", {}, ""),
    "random-features": TrainableLearner(
        "RandomFeatureClassifier", "a linear model on random features, for smooth boundaries", {}, "", 1e-6
    ),
    "random-features-regressor": TrainableLearner(
        "RandomFeatureRegressor", "the same for numbers, for smooth functions of few columns", {}, "", 1e-6, True
    ),
}
DEFAULT: Final = "private-boost"
DEFAULT_FOR_NUMBERS: Final = "private-boost-regressor"

ELSEWHERE: Final[Mapping[str, str]] = {
    "RadoBoostClassifier": "`exchequer rados fit`, from a file of rados",
    "HalfspaceBoostClassifier": "Python: it reads points in a ball, and no schema",
}
"""Learners that `exchequer train` does not offer, and where they are used."""


def flag(option: str) -> str:
    """The option as it is typed."""
    return f"--{option.replace('_', '-')}"


def current_options(given: Mapping[str, Setting | None]) -> dict[str, Setting]:
    """Those that were given, by their names of now. Raises UsageError for one that is given by both its names."""
    found: dict[str, Setting] = {}
    for name, value in given.items():
        new = RENAMED.get(name, name)
        if value is None or (OPTIONS[new].multiple and not value):
            continue
        if new != name:
            if given.get(new) is not None:
                raise click.UsageError(f"{flag(new)} and {flag(name)} are one option: give {flag(new)} alone")
            click.echo(f"Warning: {flag(name)} is called {flag(new)} now.", err=True)
        found[new] = value
    return found


def as_parameters(options: Mapping[str, Setting]) -> dict[str, Setting]:
    """Options by the names of the learners' parameters, those of several pairs as one mapping."""
    return {
        OPTIONS[name].parameter or name: dict(cast("Any", value)) if OPTIONS[name].multiple else value
        for name, value in options.items()
    }


def _default_text(default: Setting | None, option: Option) -> str:
    if option.multiple:
        return "none"
    if default is None:
        return "by epsilon, delta and the size of the data"
    return "none" if default == () else str(default)


def _default_texts(name: str) -> Iterator[str]:
    for key, each in LEARNERS.items():
        if name in each.defaults:
            yield f"{key}: {_default_text(each.defaults[name], OPTIONS[name])}"


def learner_options(command: F) -> F:
    """Decorate a command with `--learner` and every one of OPTIONS, by old names too; not given, they are None."""
    for old, new in RENAMED.items():
        known = f"The old name of {flag(new)}."
        command = click.option(flag(old), old, type=OPTIONS[new].kind, hidden=True, help=known)(command)
    for name, option in reversed(list(OPTIONS.items())):
        help_text = f"{option.help} Default with {'; '.join(_default_texts(name))}."
        command = click.option(flag(name), name, type=option.kind, multiple=option.multiple, help=help_text)(command)
    return click.option(
        "--learner",
        type=click.Choice(list(LEARNERS)),
        help="What kind of model; `exchequer learners` says what each is for. Default: "
        f"{DEFAULT} where the schema's label has classes, {DEFAULT_FOR_NUMBERS} where it has bounds.",
    )(command)


def __getattr__(name: str) -> object:
    if name.startswith("__"):  # as importing asks for; numpy is behind what follows
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from accountant.renamed import old_names

    return old_names(__name__)(name)
