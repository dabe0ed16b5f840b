"""`exchequer price --halfspace`: how many records learning a halfspace takes, by two theorems, term by term.

Only public numbers go in: no data are read. Its options are read for `exchequer --help` too, so numpy and its like are
imported only when it runs.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import attrs
import click

from exchequer.console.input_errors import about, checked
from exchequer.trainable import Option, flag

if TYPE_CHECKING:
    from boosting.theory import HalfspaceTask, SampleSize

F = TypeVar("F", bound=Callable[..., object])

OPTIONS: Final[Mapping[str, Option]] = {
    "margin": Option(float, "how far from the plane all points are, in a ball of radius 1; above 0 up to 1."),
    "dimension": Option(int, "of the points, from 1."),
    "error": Option(float, "share of new records that may be put on the wrong side, above 0 up to 1."),
    "failure": Option(float, "probability that it may be more after all, between 0 and 1."),
    "noise_rate": Option(
        float, "at most this share of labels is flipped, from 0. Default: error * margin / 32, the paper's."
    ),
    "sigma": Option(
        float, "noise on each coordinate of a weak hypothesis, above 0. Default: what needs fewest records."
    ),
}
NEEDED: Final = ("margin", "dimension", "error", "failure", "epsilon")
TITLES: Final = {"33": "privacy alone (Thm 33)", "30": "margins (Thm 30)"}
"""The theorems of paper 003, and what new data are owed to in each."""


def halfspace_options(command: F) -> F:
    """Decorate a command with `--halfspace` and every one of OPTIONS; those not given arrive as None."""
    for name, option in reversed(list(OPTIONS.items())):
        command = click.option(flag(name), name, type=option.kind, help=f"With --halfspace: {option.help}")(command)
    help_text = "Say instead how many records private boosting needs to learn a halfspace."
    return click.option("--halfspace", is_flag=True, help=help_text)(command)


def refuse_strangers(halfspace: bool, given: Mapping[str, float | None], others: Mapping[str, object]) -> None:
    """Raise UsageError for options of one form of `price` that were given with another; None is not given.

    given: of OPTIONS.  others: options that `--halfspace` does not take.
    """
    strange = ", ".join(flag(name) for name, value in (others if halfspace else given).items() if value is not None)
    if strange:
        raise click.UsageError(f"{strange}: {'not' if halfspace else 'only'} with --halfspace")


def _task(given: Mapping[str, float | None], epsilon: float, delta: float) -> "HalfspaceTask":
    from accountant.costs import count, fraction, open_probability, positive
    from boosting.theory import HalfspaceTask

    ranges = {"margin": fraction, "error": fraction, "failure": open_probability}
    numbers = {name: checked(flag(name), check, given[name] or 0.0) for name, check in ranges.items()}
    dimension = checked("--dimension", count, int(given["dimension"] or 0))
    epsilon, delta = checked("--epsilon", positive, epsilon), checked("--delta", open_probability, delta)
    with about("--noise-rate"):
        return HalfspaceTask(
            **numbers, epsilon=epsilon, delta=delta, dimension=dimension, noise_rate=given["noise_rate"]
        )


def sizes(task: "HalfspaceTask", sigma: float | None) -> "dict[str, SampleSize]":
    """The records by each theorem; without a sigma, each at the one that needs the fewest."""
    from accountant.costs import positive
    from boosting.theory import best_sigma, by_margins, by_privacy

    routes = {"33": by_privacy, "30": by_margins}
    if sigma is None:
        return {name: best_sigma(task, route) for name, route in routes.items()}
    checked("--sigma", positive, sigma)
    return {name: route(task, sigma) for name, route in routes.items()}


def price_halfspace(given: Mapping[str, float | None], epsilon: float | None, delta: float, *, as_json: bool) -> None:
    """Print the records that the task needs. given: every one of OPTIONS. Raises UsageError where one is missing."""
    missing = [flag(name) for name in NEEDED if {**given, "epsilon": epsilon}[name] is None]
    if missing or epsilon is None:
        raise click.UsageError(f"--halfspace needs {' and '.join(missing)}")
    task = _task(given, epsilon, delta)
    found = sizes(task, given["sigma"])
    if as_json:
        click.echo(json.dumps(_record(task, found), indent=1, allow_nan=False))
    else:
        _show(task, found)


def _fewest(found: "Mapping[str, SampleSize]") -> str:
    return min(found, key=lambda theorem: found[theorem].records)


def _record(task: "HalfspaceTask", found: "Mapping[str, SampleSize]") -> dict[str, object]:
    theorems = [
        {"theorem": name, **attrs.asdict(size), "records": size.records, "dominates": size.dominant}
        for name, size in found.items()
    ]
    settings = {**attrs.asdict(task), "noise_rate": task.promised_noise_rate}
    return {"learner": "halfspace", **settings, "theorems": theorems, "best": _fewest(found)}


def _show(task: "HalfspaceTask", found: "Mapping[str, SampleSize]") -> None:
    from exchequer.console import output

    output.title(f"Records to learn a halfspace of margin {task.margin:g} in {task.dimension} dimensions")
    output.paragraph(
        f"For epsilon {task.epsilon:g} and delta {task.delta:g}, and an error of at most {task.error:g} on new data "
        f"but for probability {task.failure:g}, where labels are flipped at a rate of {task.promised_noise_rate:g} at "
        "most."
    )
    named = {name.replace("_", " "): [f"{size.terms[name]:,}" for size in found.values()] for name in _terms(found)}
    rows = [*named.items(), ("all of it", [f"{size.records:,}" for size in found.values()]), *_run(found)]
    titles = [TITLES[name] for name in found]
    output.table(["records for", *titles], [(name, *cells) for name, cells in rows], numbers=titles)
    _explain(found)


def _terms(found: "Mapping[str, SampleSize]") -> list[str]:
    return list(next(iter(found.values())).terms)


def _run(found: "Mapping[str, SampleSize]") -> list[tuple[str, list[str]]]:
    """What the run would be, a line each."""
    every = found.values()
    return [
        ("at sigma", [f"{size.sigma:.4g}" for size in every]),
        ("rounds", [f"{size.rounds:,}" for size in every]),
        ("advantage of a round", [f"{size.advantage:.4g}" for size in every]),
        ("margin reached", [f"{size.margin:.4g}" if size.margin else "above 0" for size in every]),
        (
            "fat-shattering dimension",
            ["-" if size.fat_shattering is None else f"{size.fat_shattering:.5g}" for size in every],
        ),
    ]


def _explain(found: "Mapping[str, SampleSize]") -> None:
    from boosting.reweighted_sample import MAX_ROUNDS
    from exchequer.console import output

    for name, size in found.items():
        output.paragraph(f"Theorem {name}: {size.dominant.replace('_', ' ')} dominates.")
    best = _fewest(found)
    output.paragraph(
        f"Fewest: {found[best].records:,} by Theorem {best} of paper 003. So many are enough, fewer may be. Both "
        "depend on theorems on new data that are cited and not proved here, 19 by Theorem 33 and 28 by Theorem 30."
    )
    long = [name for name, size in found.items() if size.rounds > MAX_ROUNDS]
    if long:
        output.paragraph(
            f"LazyBregman certifies at most {MAX_ROUNDS:,} rounds, fewer than Theorem {' and '.join(long)} takes at "
            "this sigma. A smaller one takes fewer rounds and more records."
        )
