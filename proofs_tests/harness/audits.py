"""What `exchequer audit` and the pytest plugin check: audits, and where somebody's module has them."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar, cast

import attrs

from accountant import Adjacency, Cost
from boosting import NextMeasure
from mechanisms.core.mechanism import FiniteMechanism, Mechanism
from mechanisms.core.robust import Certified
from proofs_tests.harness.black_box import Progress, check_function, named
from proofs_tests.harness.checks import check_draws, check_mechanism
from proofs_tests.harness.draws import Many, many_of, told_apart
from proofs_tests.harness.neighbours import Pair, neighbours
from proofs_tests.harness.one_run import Canaries, OneRunAudit, check_one_run
from proofs_tests.harness.recording import check_recorded
from proofs_tests.harness.report import ClaimViolated, Report
from proofs_tests.harness.slickness import LabelledPoints, Lookup, check_slickness

D = TypeVar("D")
W = TypeVar("W", bound=Certified)
R = TypeVar("R")
T = TypeVar("T")


def _pairs(pairs: Iterable[Pair[D] | tuple[D, D]]) -> tuple[Pair[D], ...]:
    return tuple(Pair(*pair) for pair in pairs)


@attrs.frozen
class Audit(Generic[D, R]):
    """A mechanism and the pairs of data sets on which to check it."""

    mechanism: Mechanism[D, R]
    pairs: tuple[Pair[D], ...] = attrs.field(converter=_pairs)

    @staticmethod
    def over(mechanism: Mechanism[tuple[T, ...], R], records: Iterable[T], n: int) -> "Audit[tuple[T, ...], R]":
        """All neighbouring samples of n records from a small domain, by the mechanism's own adjacency."""
        return Audit(mechanism, tuple(neighbours(mechanism.adjacency, list(records), n)))


@attrs.frozen
class MeasureAudit(Generic[W]):
    """A measure producer whose certificate to check: see `check_slickness`.

    sizes: numbers of records of the samples that are enumerated.  rounds: how many.  points: different points.
    predictions: values that hypotheses may have.
    """

    measure: NextMeasure[LabelledPoints, W, Lookup]
    sizes: Sequence[int] = (1, 2, 3)
    rounds: int = 3
    points: int = 2
    predictions: Sequence[float] = (-1.0, 1.0)


@attrs.frozen
class FunctionAudit(Generic[D, R]):
    """Any function of a data set, what it claims, and the pairs on which to check it: see `check_function`.

    claimed: its cost.  many: a data set and a number m to m independent outputs, where that is quicker.
    low_order_bits: whether the last bits of floats are looked at.  name: in reports.
    """

    function: Callable[[D], R]
    pairs: tuple[Pair[D], ...] = attrs.field(converter=_pairs)
    claimed: Cost
    many: Many[D, R] | None = None
    low_order_bits: bool = True
    name: str | None = None

    @staticmethod
    def over(
        function: Callable[[tuple[T, ...]], R], records: Iterable[T], n: int, claimed: Cost, adjacency: Adjacency
    ) -> "FunctionAudit[tuple[T, ...], R]":
        """All neighbouring samples of n records from a small domain."""
        return FunctionAudit(function, tuple(neighbours(adjacency, list(records), n)), claimed)


@attrs.frozen
class RecordedAudit(Generic[D]):
    """Any function of a data set, what it claims, and the pairs to record it on: see `check_recorded`.

    claimed: its cost.  sensitivities, public_draws, secret_seeds: as there.  name: in reports.
    """

    function: Callable[[D], object]
    pairs: tuple[Pair[D], ...] = attrs.field(converter=_pairs)
    claimed: Cost
    sensitivities: float | Sequence[float] | None = None
    public_draws: bool = False
    secret_seeds: bool = False
    name: str | None = None

    @staticmethod
    def over(
        function: Callable[[tuple[T, ...]], object], records: Iterable[T], n: int, claimed: Cost, adjacency: Adjacency
    ) -> "RecordedAudit[tuple[T, ...]]":
        """All neighbouring samples of n records from a small domain."""
        return RecordedAudit(function, tuple(neighbours(adjacency, list(records), n)), claimed)


@attrs.frozen
class EstimatorAudit:
    """An estimator, and the canaries of the one fit that it is to be seen by: see `check_one_run`.

    claimed, adjacency: of an estimator that has no ledger which says them.
    """

    estimator: object
    canaries: Canaries | int
    claimed: Cost | None = None
    adjacency: Adjacency | None = None
    name: str | None = None


Target: TypeAlias = (
    Audit[object, object]
    | MeasureAudit[Certified]
    | FunctionAudit[object, object]
    | RecordedAudit[object]
    | EstimatorAudit
    | Callable[[], Report | OneRunAudit]
)
"""An audit, or a check of the kit with its arguments: `functools.partial(check_transcripts, ...)`."""


def audits(target: object) -> Iterator[Target]:
    """The audits that an object stands for: itself, its items, or what it returns when called."""
    if isinstance(target, Audit | MeasureAudit | FunctionAudit | RecordedAudit | EstimatorAudit) or _is_check(target):
        yield cast("Target", target)
    elif isinstance(target, Report):
        yield partial(_itself, target)
    elif isinstance(target, list | tuple):
        for item in target:
            yield from audits(item)
    elif callable(target):
        yield from audits(_called(cast("Callable[[], object]", target)))
    elif isinstance(target, Mechanism):
        raise TypeError(
            "a mechanism: say where to look, by --records and -n, or in an exchequer.testing.Audit(mechanism, pairs)"
        )
    else:
        raise TypeError(
            "expected an Audit, a FunctionAudit or a MeasureAudit of exchequer.testing, a check as functools.partial("
            "check_transcripts, ...), a list of them or a function that returns one, got "
            f"{type(target).__name__}: write audit = Audit.over(mechanism, records, n)"
        )


def label(target: Target) -> str:
    """What an audit is about, for messages."""
    if isinstance(target, Audit):
        return f"{target.mechanism.description.mechanism}({target.mechanism.description.query})"
    what = target.func if isinstance(target, partial) else getattr(target, "function", target)
    return str(getattr(target, "name", None) or named(what))


def _is_check(target: object) -> bool:
    """Whether it is a check of this kit with its arguments."""
    return isinstance(target, partial) and str(target.func.__module__).startswith(__package__)


def _itself(report: Report) -> Report:
    return report


def _called(target: Callable[[], object]) -> object:
    if _takes_data(target):
        raise TypeError(
            f"{target!r} is a function of a data set: say what it claims and where to look, by --claimed, --records "
            "and -n, or in an exchequer.testing.FunctionAudit(function, pairs, claimed)"
        )
    try:
        return target()
    except ClaimViolated as violated:
        return violated.report
    except (Exception, SystemExit) as error:  # whatever somebody else's function raises
        raise ValueError(f"{target!r}: {type(error).__name__}: {error}") from error


def _takes_data(target: Callable[..., object]) -> bool:
    """Whether it cannot be called without an argument."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(each.kind in kinds and each.default is inspect.Parameter.empty for each in parameters)


def found(name: str) -> object:
    """The object that "package.module:name" names. Raises ValueError naming what is missing."""
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"expected package.module:NAME, got {name!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` would: modules of the folder one stands in
    try:
        return cast("object", getattr(importlib.import_module(module), attribute))
    except (Exception, SystemExit) as error:  # whatever somebody else's module raises
        raise ValueError(f"{name}: {type(error).__name__}: {error}") from error


def checked(
    audit: Target,
    samples: int,
    confidence: float,
    *,
    time_limit: float | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """The reports, refuted or not; a finite mechanism's draws are compared with its distribution as well.

    time_limit, processes, progress: for functions, and for mechanisms that are sampled; see `check_function`. Checks
    that come with their arguments keep their own. Raises ValueError for whatever cannot be checked.
    """
    if isinstance(audit, partial):
        return [_reported(audit)]
    if isinstance(audit, FunctionAudit):
        run = partial(
            check_function,
            audit.function,
            audit.pairs,
            audit.claimed,
            name=audit.name,
            many=audit.many,
            samples=samples,
            confidence=confidence,
            low_order_bits=audit.low_order_bits,
            processes=processes,
            time_limit=time_limit,
            progress=progress,
        )
        return [_reported(run)]
    if isinstance(audit, RecordedAudit):
        return [_reported(partial(_recorded, audit))]
    if isinstance(audit, EstimatorAudit):
        return [_reported(partial(_in_one_run, audit, confidence))]
    if isinstance(audit, MeasureAudit):
        settings = attrs.asdict(audit, recurse=False)
        return [_reported(partial(check_slickness, **settings))]
    assert isinstance(audit, Audit)
    mechanism, pairs = audit.mechanism, audit.pairs
    if not pairs:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets; are all records the same?")
    if (time_limit is not None or processes > 1) and not isinstance(mechanism, FiniteMechanism):
        function = _as_function(mechanism, pairs)
        return checked(function, samples, confidence, time_limit=time_limit, processes=processes, progress=progress)
    checks: list[Callable[[], Report]] = [
        lambda: check_mechanism(mechanism, pairs, samples=samples, confidence=confidence)
    ]
    if isinstance(mechanism, FiniteMechanism):
        distinct = {told_apart(data): data for pair in pairs for data in pair}
        draws, each = max(500, 20_000 // len(distinct)), 1.0 - (1.0 - confidence) / len(distinct)
        checks += [partial(check_draws, mechanism, data, samples=draws, confidence=each) for data in distinct.values()]
    reports = [_reported(check) for check in checks]
    # One line for all the data sets whose draws were compared: the worst.
    return reports[:1] + sorted(reports[1:], key=lambda report: -report.found)[:1]


def _recorded(audit: RecordedAudit[D]) -> Report:
    return check_recorded(
        audit.function,
        audit.pairs,
        claimed=audit.claimed,
        sensitivities=audit.sensitivities,
        public_draws=audit.public_draws,
        secret_seeds=audit.secret_seeds,
        subject=audit.name or "",
    )


def _in_one_run(audit: EstimatorAudit, confidence: float) -> Report:
    check = partial(check_one_run, audit.estimator, canaries=audit.canaries, confidence=confidence)
    try:
        report = check(claimed=audit.claimed, adjacency=audit.adjacency).report
    except ClaimViolated as violated:
        report = violated.report
    return report if audit.name is None else attrs.evolve(report, subject=audit.name)


def _as_function(mechanism: Mechanism[D, R], pairs: tuple[Pair[D], ...]) -> FunctionAudit[D, R]:
    """A mechanism as seen from its outputs. Its low-order bits are left alone, as without a time limit."""
    name = f"{mechanism.description.mechanism}({mechanism.description.query})"
    return FunctionAudit(mechanism.sample, pairs, mechanism.cost, many_of(mechanism), low_order_bits=False, name=name)


def _reported(check: Callable[[], Report | OneRunAudit]) -> Report:
    try:
        found = check()
    except ClaimViolated as violated:
        return violated.report
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever it raises is bad input, no violated claim
        raise ValueError(f"{type(error).__name__}: {error}") from error
    report = found.report if isinstance(found, OneRunAudit) else found
    if not isinstance(report, Report):
        raise ValueError(f"expected a check that gives a report, got {type(report).__name__} from {check!r}")
    return report
