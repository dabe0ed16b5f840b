"""`exchequer audit`: check what somebody's module declares, from the shell."""

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, cast

import attrs
import click

from accountant import AddRemoveOne, Adjacency, ReplaceOne
from accountant.costs.converters import open_probability
from exchequer.prices.price import parse_step
from mechanisms.core.mechanism import Mechanism
from proofs_tests.harness import formats
from proofs_tests.harness.audits import Audit as Audit
from proofs_tests.harness.audits import (
    EstimatorAudit,
    FunctionAudit,
    RecordedAudit,
    Target,
    audits,
    checked,
    found,
    label,
)
from proofs_tests.harness.audits import MeasureAudit as MeasureAudit
from proofs_tests.harness.black_box import Progress
from proofs_tests.harness.checks import CONFIDENCE, SAMPLES
from proofs_tests.harness.formats import Located
from proofs_tests.harness.report import Report, table


def _asked(
    name: str, target: object, claimed: str | None, records: str | None, n: int, adjacency: str, recorded: bool
) -> object:
    """The object itself, or the audit of a plain function or of a mechanism that the options describe."""
    if claimed is None and records is None and not recorded:
        return target
    if isinstance(target, Mechanism) and records is not None:
        if claimed is not None:
            raise ValueError("--claimed: a mechanism declares its own cost; leave it out")
        return Audit.over(target, _domain(records), n)
    if claimed is None or records is None or not callable(target):
        raise ValueError("--claimed and --records go together, with a function of a data set; --recorded needs both")
    kept, cost = _domain(records), parse_step(claimed, 1, "--claimed").cost
    kind = RecordedAudit if recorded else FunctionAudit
    found = kind.over(cast("Callable[[object], object]", target), kept, n, cost, RELATIONS[adjacency])
    return attrs.evolve(found, name=name)


def _domain(records: str) -> list[object]:
    try:
        domain = json.loads(records)
    except ValueError as error:
        raise ValueError(f"--records: expected JSON, as '[0, 1]', got {records!r}: {error}") from error
    if not isinstance(domain, list) or len(domain) < 2:
        raise ValueError(f"--records: expected a JSON list of at least two records, got {records!r}")
    return [tuple(record) if isinstance(record, list) else record for record in domain]


def _estimator(
    name: str, target: object, canaries: int, claimed: str | None, records: str | None, adjacency: str | None
) -> EstimatorAudit:
    """An estimator, or what a function or a class without arguments makes, to be fitted once."""
    if records is not None:
        raise ValueError("--records: a one-run audit makes canaries of the estimator's own schema; leave it out")
    estimator = target
    if inspect.isclass(target) or inspect.isroutine(target):
        try:
            estimator = cast("Callable[[], object]", target)()
        except Exception as error:  # whatever somebody else's function raises
            raise ValueError(f"{name}: {type(error).__name__}: {error}") from error
    if not hasattr(estimator, "fit"):
        raise ValueError(
            f"--one-run: expected an estimator, or a function that makes one, got {type(estimator).__name__}"
        )
    cost = None if claimed is None else parse_step(claimed, 1, "--claimed").cost
    return EstimatorAudit(estimator, canaries, cost, None if adjacency is None else RELATIONS[adjacency], name)


RELATIONS: Final[Mapping[str, Adjacency]] = {each.name: each for each in (ReplaceOne(), AddRemoveOne())}


@contextmanager
def _bar(shown: bool) -> Iterator[Progress | None]:
    """A bar on the terminal, where there is one."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("outputs drawn")
        yield lambda drawn, total: bar.update(task, completed=drawn, total=total)


def _located(name: str, target: object, report: Report) -> Located:
    """Where the named object is written, relative to here, as far as that is known."""
    module = sys.modules.get(name.partition(":")[0])
    try:
        source = target if inspect.isfunction(target) else module
        file, line = inspect.getsourcefile(source), inspect.getsourcelines(source)[1]  # type: ignore[arg-type]  # None raises TypeError
    except (TypeError, OSError):
        return Located(report)
    near = file is not None and Path(file).resolve().is_relative_to(Path.cwd())
    return Located(
        report, Path(file).resolve().relative_to(Path.cwd()).as_posix() if near and file else None, max(line, 1)
    )


@click.command()
@click.argument("name", metavar="PACKAGE.MODULE:NAME")
@click.option("--samples", type=click.IntRange(min=100), default=SAMPLES, show_default=True, help="Draws a side.")
@click.option("--confidence", type=float, default=CONFIDENCE, help="Of statistical verdicts.", show_default=True)
@click.option("--claimed", metavar="KIND:NUMBERS", help="Of a function: its claim, as pure-dp:1 or gdp:0.5.")
@click.option("--records", metavar="JSON", help="The domain of a record, as '[0, 1]' or '[[0, 1], [1, 1]]'.")
@click.option(
    "-n", "n", type=click.IntRange(min=1), default=3, help="Records of a data set, with --records.", show_default=True
)
@click.option(
    "--adjacency",
    type=click.Choice(list(RELATIONS)),
    help=f"Of a function: {ReplaceOne.name} unless given. Of an estimator: that of its ledger.",
)
@click.option("--recorded", is_flag=True, help="Of a function: record its noise, and give it back on a neighbour.")
@click.option(
    "--one-run",
    type=click.IntRange(min=2),
    metavar="CANARIES",
    help="Of an estimator: how many records of its schema to hide in one fit, and to guess from what it releases.",
)
@click.option("--time-limit", type=float, metavar="SECONDS", help="For sampling; what was found by then is reported.")
@click.option("--processes", type=click.IntRange(min=1), default=1, help="To draw in.", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of a table.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Also write JUnit XML there.")
@click.option("--sarif", "sarif_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write SARIF there.")
def audit(
    name: str,
    samples: int,
    confidence: float,
    claimed: str | None,
    records: str | None,
    n: int,
    adjacency: str | None,
    recorded: bool,
    one_run: int | None,
    time_limit: float | None,
    processes: int,
    as_json: bool,
    junit: Path | None,
    sarif_file: Path | None,
) -> None:
    """Check that mechanisms, and any functions of data, cost what they declare.

    NAME is an `exchequer.testing.Audit` (a mechanism and pairs of neighbouring data sets), a `FunctionAudit` (any
    function, its claim and pairs), a `RecordedAudit` (the same, whose noise is recorded and given back on a neighbour)
    or a `MeasureAudit` (a boosting measure, whose slickness certificate is checked), an `EstimatorAudit` (an estimator
    and its canaries), any check of `exchequer.testing` with its arguments as a `functools.partial`, a list of them, or
    a function that returns any of these; or, with --records, a mechanism; or, with --claimed and --records, a function
    of a tuple of records that draws its own noise; or, with --one-run, an estimator with a schema, or what makes one.

    A verdict is "exact" (computed, over all pairs given), "refuted" (the worst pair is printed), or "not refuted",
    with the factor that would have been found and its probability. Mechanisms with finitely many outcomes are checked
    exactly, all others by sampling. "Not understood" is what recording could not follow: nothing is concluded then.
    What cannot be checked is told, and does not keep the rest of a list from being checked.

    Exit code 1 when a claim is refuted, else 2 when something is wrong with the input, else 3 when something was not
    understood, else 0.

    \b
    Examples:
      exchequer audit mypackage.checks:audits
      exchequer audit mypackage:noisy_sum --claimed pure-dp:1 --records '[0, 1]' --time-limit 60
      exchequer audit mypackage:noisy_sum --claimed pure-dp:1 --records '[0, 1]' --recorded
      exchequer audit mypackage:estimator --one-run 2048
    """
    target = found(name)
    if one_run is not None:
        if recorded:
            raise ValueError("--one-run, --recorded: two ways to check; take one")
        asked: object = _estimator(name, target, one_run, claimed, records, adjacency)
    else:
        asked = _asked(name, target, claimed, records, n, adjacency or ReplaceOne.name, recorded)
    for path in (junit, sarif_file):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    with _bar(not as_json) as progress:
        check = partial(checked, time_limit=time_limit, processes=processes, progress=progress)
        reports, errors = _all(name, audits(asked), lambda each: check(each, samples, open_probability(confidence)))
    if not reports and not errors:
        raise ValueError(f"{name}: nothing to check")
    places = [_located(name, target, report) for report in reports]
    if junit is not None:
        junit.write_text(formats.junit(places, errors=errors), encoding="utf-8")
    if sarif_file is not None:
        sarif_file.write_text(json.dumps(formats.sarif(places, errors), indent=1), encoding="utf-8")
    if not reports:
        raise ValueError("; ".join(errors))
    unchecked = [{"verdict": "not checked", "error": error} for error in errors]
    listed = [*(report.as_dict() for report in reports), *unchecked]
    click.echo(json.dumps(listed, indent=1) if as_json else table(reports))
    for report in reports:
        if report.verdict in ("refuted", "not understood"):
            click.echo(f"\n{report}", err=True)
    for error in errors:
        click.echo(f"\nnot checked: {error}", err=True)
    verdicts = {report.verdict for report in reports}
    raise SystemExit(1 if "refuted" in verdicts else 2 if errors else 3 if "not understood" in verdicts else 0)


def _all(
    name: str, targets: Iterator[Target], check: Callable[[Target], list[Report]]
) -> tuple[list[Report], list[str]]:
    """The reports of all targets, and why others could not be checked."""
    reports, errors = list[Report](), list[str]()
    while True:
        try:
            target = next(targets)
        except StopIteration:
            return reports, errors
        except (TypeError, ValueError) as error:  # what follows in the list is not known
            return reports, [*errors, f"{name}: {error}"]
        try:
            reports += check(target)
        except ValueError as error:
            about = label(target)
            errors.append(f"{name}: {error}" if about == name else f"{name}: {about}: {error}")
