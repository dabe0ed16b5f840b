"""The learners that `exchequer train` offers: a line for each, and the options that they take.

Read for `exchequer --help` too, so numpy and its like are imported only when a learner is asked for.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import attrs
import click

if TYPE_CHECKING:
    from learners.base import PrivateClassifier

Setting: TypeAlias = int | float | str
F = TypeVar("F", bound=Callable[..., object])


@attrs.frozen
class Option:
    """What some learners take; the name on the command line has dashes instead of underscores.

    kind: what click takes for a type.
    """

    kind: Any
    help: str


OPTIONS: Final[Mapping[str, Option]] = {
    "adjacency": Option(
        str,
        "What the promise hides: add-remove-one that a record is there, and so how many there are; replace-one what it "
        "says, while their number is public, at almost twice the noise.",
    ),
    "rounds_per_column": Option(int, "Rounds per column, from 1."),
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
    """estimator: its class in `learners`.  what: for the help.

    defaults: of each of OPTIONS that it takes, as the class has them; None where it goes by the size of the data.
    steps: the option that says how many rounds the progress bar has; "" where none does.
    delta: what it gets where none is given.
    """

    estimator: str
    what: str
    defaults: Mapping[str, Setting | None]
    steps: str = "rounds"
    delta: float = 0.0

    def build(self, **arguments: object) -> "PrivateClassifier[Any]":
        """The estimator, not fitted."""
        kind = getattr(importlib.import_module("learners"), self.estimator)
        return cast("PrivateClassifier[Any]", kind(**arguments))

    def refuse_others(self, name: str, given: Mapping[str, Setting]) -> None:
        """Raise UsageError for an option of another learner. name: of this one."""
        strange = [flag(option) for option in given if option not in self.defaults]
        if strange:
            own = ", ".join(map(flag, self.defaults)) or "no such option"
            raise click.UsageError(f"{', '.join(strange)}: not for --learner {name}, which takes {own}")


LEARNERS: Final[Mapping[str, TrainableLearner]] = {
    "private-boost": TrainableLearner(
        "PrivateBoostClassifier",
        "a curve for every column that add up; recommended; needs a --delta; two classes or more",
        {"adjacency": "add-remove-one", "rounds_per_column": 8},
        steps="",
        delta=1e-6,
    ),
    "lazy-boost": TrainableLearner(
        "LazyBoostClassifier",
        "one-feature rules that vote, a table that a person can read; two classes",
        {"rounds": None, "learning_rate": None, "density": None},
    ),
    "logistic": TrainableLearner(
        "DPLogisticRegression", "logistic regression by objective perturbation; two classes", {}, ""
    ),
    "gradient-boosting": TrainableLearner("DPGradientBoostingClassifier", "DPBoost of Li et al.; two classes", {}, ""),
    "forest": TrainableLearner("DPRandomForestClassifier", "random trees with noisy leaves; two classes", {}, ""),
    "bagging": TrainableLearner("DPBaggingClassifier", "teachers that vote on drawn points; two classes", {}, ""),
}
DEFAULT: Final = "private-boost"


def flag(option: str) -> str:
    """The option as it is typed."""
    return f"--{option.replace('_', '-')}"


def current_options(given: Mapping[str, Setting | None]) -> dict[str, Setting]:
    """Those that were given, by their names of now. Raises UsageError for one that is given by both its names."""
    found: dict[str, Setting] = {}
    for name, value in given.items():
        new = RENAMED.get(name, name)
        if value is None:
            continue
        if new != name:
            if given.get(new) is not None:
                raise click.UsageError(f"{flag(new)} and {flag(name)} are one option: give {flag(new)} alone")
            click.echo(f"Warning: {flag(name)} is called {flag(new)} now.", err=True)
        found[new] = value
    return found


def _default_texts(option: str) -> Iterator[str]:
    for key, each in LEARNERS.items():
        if option in each.defaults:
            default = each.defaults[option]
            yield f"{key}: {'by epsilon, delta and the size of the data' if default is None else default}"


def learner_options(command: F) -> F:
    """Decorate a command with `--learner` and every one of OPTIONS, by old names too; not given, they are None."""
    for old, new in RENAMED.items():
        known = f"The old name of {flag(new)}."
        command = click.option(flag(old), old, type=OPTIONS[new].kind, hidden=True, help=known)(command)
    for name, option in reversed(list(OPTIONS.items())):
        help_text = f"{option.help} Default with {'; '.join(_default_texts(name))}."
        command = click.option(flag(name), name, type=option.kind, help=help_text)(command)
    kinds = " ".join(f"{name}: {each.what}." for name, each in LEARNERS.items())
    choice = click.Choice(list(LEARNERS))
    return click.option(
        "--learner", type=choice, default=DEFAULT, show_default=True, help=f"What kind of model. {kinds}"
    )(command)


def __getattr__(name: str) -> object:
    if name.startswith("__"):  # as importing asks for; numpy is behind what follows
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from accountant.renamed import old_names

    return old_names(__name__)(name)
