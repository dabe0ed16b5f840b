"""`exchequer audit`: check what somebody's module declares, from the shell."""

import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar, cast

import attrs
import click

from accountant.costs.converters import open_probability
from boosting import NextMeasure
from mechanisms.core.mechanism import FiniteMechanism, Mechanism
from mechanisms.core.robust import Certified
from proofs_tests.harness.checks import CONFIDENCE, SAMPLES, check_draws, check_mechanism
from proofs_tests.harness.neighbours import Pair, neighbours
from proofs_tests.harness.report import ClaimViolated, Report, table
from proofs_tests.harness.slickness import LabelledPoints, Lookup, check_slickness

D = TypeVar("D")
W = TypeVar("W", bound=Certified)
R = TypeVar("R")
T = TypeVar("T")


@attrs.frozen
class Audit(Generic[D, R]):
    """A mechanism and the pairs of data sets on which to check it."""

    mechanism: Mechanism[D, R]
    pairs: tuple[Pair[D], ...] = attrs.field(converter=tuple[Pair[D], ...])

    @staticmethod
    def over(mechanism: Mechanism[tuple[T, ...], R], records: Iterable[T], n: int) -> "Audit[tuple[T, ...], R]":
        """All neighbouring samples of n records from a small domain, by the mechanism's own adjacency."""
        return Audit(mechanism, tuple(neighbours(mechanism.adjacency, list(records), n)))


@attrs.frozen
class MeasureAudit(Generic[W]):
    """A measure producer whose certificate to check: see `check_slickness`."""

    measure: NextMeasure[LabelledPoints, W, Lookup]
    sizes: Sequence[int] = (1, 2, 3)
    rounds: int = 3
    points: int = 2
    predictions: Sequence[float] = (-1.0, 1.0)


Target: TypeAlias = Audit[object, object] | MeasureAudit[Certified]


def audits(target: object) -> Iterator[Target]:
    """The audits that an object stands for: itself, its items, or what it returns when called."""
    if isinstance(target, Audit | MeasureAudit):
        yield cast("Target", target)
    elif isinstance(target, list | tuple):
        for item in target:
            yield from audits(item)
    elif callable(target):
        yield from audits(_called(cast("Callable[[], object]", target)))
    else:
        raise TypeError(
            "expected an Audit or a MeasureAudit, a list of them or a function that returns one, got "
            f"{type(target).__name__}: write audit = Audit.over(mechanism, records, n), where Audit is "
            "exchequer.testing.Audit"
        )


def _called(target: Callable[[], object]) -> object:
    try:
        return target()
    except Exception as error:  # whatever somebody else's function raises
        raise ValueError(f"{target!r}: {type(error).__name__}: {error}") from error


def found(name: str) -> object:
    """The object that "package.module:name" names. Raises ValueError naming what is missing."""
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"expected package.module:NAME, got {name!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` would: modules of the folder one stands in
    try:
        return cast("object", getattr(importlib.import_module(module), attribute))
    except Exception as error:  # whatever somebody else's module raises
        raise ValueError(f"{name}: {type(error).__name__}: {error}") from error


def checked(audit: Target, samples: int, confidence: float) -> list[Report]:
    """The reports, refuted or not; a finite mechanism's draws are compared with its distribution as well."""
    if isinstance(audit, MeasureAudit):
        settings = attrs.asdict(audit, recurse=False)
        return [_reported(partial(check_slickness, **settings))]
    mechanism, pairs = audit.mechanism, audit.pairs
    checks: list[Callable[[], Report]] = [
        lambda: check_mechanism(mechanism, pairs, samples=samples, confidence=confidence)
    ]
    if isinstance(mechanism, FiniteMechanism):
        distinct = {repr(data): data for pair in pairs for data in pair}
        draws, each = max(500, 20_000 // len(distinct)), 1.0 - (1.0 - confidence) / len(distinct)
        checks += [partial(check_draws, mechanism, data, samples=draws, confidence=each) for data in distinct.values()]
    reports = [_reported(check) for check in checks]
    # One line for all the data sets whose draws were compared: the worst.
    return reports[:1] + sorted(reports[1:], key=lambda report: -report.found)[:1]


def _reported(check: Callable[[], Report]) -> Report:
    try:
        return check()
    except ClaimViolated as violated:
        return violated.report
    except Exception as error:  # whatever somebody else's mechanism raises is bad input, not a violated claim
        raise ValueError(f"{type(error).__name__}: {error}") from error


@click.command()
@click.argument("name", metavar="PACKAGE.MODULE:NAME")
@click.option("--samples", type=click.IntRange(min=100), default=SAMPLES, show_default=True, help="Draws a side.")
@click.option("--confidence", type=float, default=CONFIDENCE, help="Of statistical verdicts.", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of a table.")
def audit(name: str, samples: int, confidence: float, as_json: bool) -> None:
    """Check that mechanisms cost what they declare.

    NAME is an `Audit` of proofs_tests.harness.command (a mechanism and pairs of neighbouring data sets) or a
    `MeasureAudit` (a boosting measure, whose slickness certificate is checked), a list of them, or a function that
    returns either.

    A verdict is "exact" (computed, over all pairs given), "refuted" (the worst pair is printed), or "not refuted",
    with the factor that would have been found and its probability. Mechanisms with finitely many outcomes are checked
    exactly, all others by sampling. Exit code 1 when a claim is refuted, 2 when something is wrong with the input,
    else 0.

    \b
    Example:
      exchequer audit mypackage.checks:audits
    """
    reports = [
        report for each in audits(found(name)) for report in checked(each, samples, open_probability(confidence))
    ]
    if not reports:
        raise ValueError(f"{name}: nothing to check")
    click.echo(json.dumps([report.as_dict() for report in reports], indent=1) if as_json else table(reports))
    wrong = [report for report in reports if report.refuted]
    for report in wrong:
        click.echo(f"\n{report}", err=True)
    raise SystemExit(1 if wrong else 0)
