"""The pytest plugin: a fixture `privacy` that checks claims, within one budget of time and of false alarms for the run.

    def test_noisy_sum(privacy):
        privacy.function(noisy_sum, PureDP(1.0), records=[0, 1])

Loaded by pytest wherever this package is installed; what it needs is imported when a test asks for the fixture.
"""

import json
import random
import secrets
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

import pytest

if TYPE_CHECKING:
    from accountant import Adjacency, Cost
    from exchequer.testing import Canaries, OneRunAudit, Report
    from mechanisms import Mechanism

D = TypeVar("D")
R = TypeVar("R")
P = ParamSpec("P")
Found = TypeVar("Found", "Report", "OneRunAudit", "tuple[Report, ...]")

FIXTURE: Final = "privacy"
PROPERTY: Final = "exchequer.privacy"
"""Under which a test's reports are kept."""

FALSE_ALARMS: Final = 1e-6
"""The chance that a run refutes any correct claim, unless another is asked for."""

SECONDS: Final = 600.0
"""For all checks of a run, unless another time is asked for."""

SECONDS_OF_A_PAIR: Final = 2.0
"""In a recording, where there is time: what `check_recorded` takes unless told. Too little proves nothing."""


class Run:
    """What all tests of a run share.

    seed: of what draws from `random` or from numpy's global state.  false_alarms: the chance for the whole run.
    seconds: for all checks.  workers: processes that share the run.  each: whether all of them run all tests.
    tests: those that are known to check claims.
    """

    def __init__(self, seed: int, false_alarms: float, seconds: float, workers: int = 1, *, each: bool) -> None:
        self.seed, self.false_alarms, self.seconds, self.workers = seed, false_alarms, seconds, workers
        self._copies = workers if each else 1
        self.tests: frozenset[str] = frozenset()
        self._begun, self._spent, self._late = 0, 0.0, 0

    def chance(self, test: str) -> float:
        """Of a false alarm in a test: nine tenths for those that are known, in equal parts.

        The rest is for those that ask for the fixture while they run; each has less than the one before.
        """
        if test in self.tests:
            return 0.9 * self.false_alarms / len(self.tests) / self._copies
        self._late += 1
        return 0.1 * self.false_alarms / self.workers / (self._late * (self._late + 1))

    def begin(self) -> float:
        """The seconds that the next test may take: an equal part of what is left."""
        left = (self.seconds - self._spent) / max(1, len(self.tests) - self._begun)
        self._begun += 1
        return max(left, 1.0)

    def spend(self, seconds: float) -> None:
        """Taken by a test."""
        self._spent += seconds


class Privacy:
    """The fixture: checks within the budgets of the run; see `function`, `recorded`, `mechanism`, `one_run` and `run`.

    reports: what was found, one per check. Options of the marker `privacy` are those of all checks of a test.
    """

    def __init__(self, run: Run, node: pytest.Item, options: Mapping[str, object]) -> None:
        self._run, self._node, self._options = run, node, options
        self._seconds, self._chance = run.begin(), run.chance(node.nodeid)
        self.reports: list[Report] = []

    def function(
        self,
        function: Callable[[D], R],
        claimed: "Cost",
        pairs: Iterable[tuple[D, D]] | None = None,
        *,
        records: Sequence[object] | None = None,
        n: int = 3,
        adjacency: "Adjacency | None" = None,
        **options: object,
    ) -> "Report":
        """`check_function`, on the pairs given or on all samples of n records. Raises ClaimViolated.

        adjacency: of these samples; replace-one unless given.  options: those of `check_function`.
        """
        __tracebackhide__ = True
        from exchequer import testing

        found = self._pairs(pairs, records, n, adjacency)
        given = self._with_budget({"time_limit": max(self._seconds, 1.0), **self._options, **options})
        return self.run(partial(testing.check_function, function, found, claimed, **cast("dict[str, Any]", given)))

    def recorded(
        self,
        program: Callable[[D], object],
        claimed: "Cost",
        pairs: Iterable[tuple[D, D]] | None = None,
        *,
        records: Sequence[object] | None = None,
        n: int = 3,
        adjacency: "Adjacency | None" = None,
        **options: object,
    ) -> "Report":
        """`check_recorded`, on the pairs given or on all samples of n records. Raises ClaimViolated.

        adjacency: of these samples; replace-one unless given.  options: those of `check_recorded`, whose time limit
        is what is left of the test's time, and its seconds of a pair an equal part of that, from 1 to 2.
        """
        __tracebackhide__ = True
        from exchequer import testing

        found = self._pairs(pairs, records, n, adjacency)
        left = max(self._seconds, 1.0)
        times = {"time_limit": left, "seconds": min(SECONDS_OF_A_PAIR, max(left / max(1, len(found)), 1.0))}
        given = {"claimed": claimed, **times, **self._options, **options}
        return self.run(partial(testing.check_recorded, program, found, **cast("dict[str, Any]", given)))

    def mechanism(
        self,
        mechanism: "Mechanism[D, R]",
        pairs: Iterable[tuple[D, D]] | None = None,
        *,
        records: Sequence[object] | None = None,
        n: int = 3,
        **options: object,
    ) -> "Report":
        """`check_mechanism`, on the pairs given or on all samples of n records. Raises ClaimViolated.

        options: those of `check_mechanism`; of a mechanism that is sampled, those of `check_function`.
        """
        __tracebackhide__ = True
        from exchequer import testing
        from mechanisms import FiniteMechanism

        found = self._pairs(pairs, records, n, mechanism.adjacency)
        if isinstance(mechanism, FiniteMechanism):
            return self.run(partial(testing.check_mechanism, mechanism, found, **cast("dict[str, Any]", options)))
        about = mechanism.description
        own: dict[str, object] = {"low_order_bits": False, "name": f"{about.mechanism}({about.query})"}
        given = self._with_budget({**own, "time_limit": max(self._seconds, 1.0), **self._options, **options})
        check = partial(
            testing.check_function, mechanism.sample, found, mechanism.cost, many=testing.many_of(mechanism)
        )
        return self.run(partial(check, **cast("dict[str, Any]", given)))

    def one_run(
        self, estimator: object, X: object = None, y: object = None, *, canaries: "Canaries | int", **options: object
    ) -> "OneRunAudit":
        """`check_one_run`: what one fit of an estimator shows of what it costs. Raises ClaimViolated.

        options: those of `check_one_run`. Its confidence is what the budget of false alarms leaves, unless it is given:
        the bound is smaller for it.
        """
        __tracebackhide__ = True
        from exchequer import testing

        given = self._with_budget({**self._options, **options})
        chance = given.pop("failure", None)
        confidence = {} if chance is None else {"confidence": 1.0 - cast("float", chance)}
        check = partial(testing.check_one_run, estimator, X, y, canaries=canaries)
        return self.run(partial(check, **cast("dict[str, Any]", {**given, **confidence})))

    def run(self, check: Callable[P, Found], *arguments: P.args, **named: P.kwargs) -> Found:
        """Any check of `exchequer.testing` that gives a report, or raises ClaimViolated, noted as the others are."""
        __tracebackhide__ = True
        from exchequer.testing import ClaimViolated, Report

        started = time.monotonic()
        try:
            found = check(*arguments, **named)
        except ClaimViolated as violated:
            self._note(violated.report)
            self._node.add_report_section("call", "privacy", self._how_to_reproduce(violated.report))
            raise ClaimViolated(violated.report) from None
        finally:
            self._spend(time.monotonic() - started)
        for report in found if isinstance(found, tuple) else [found if isinstance(found, Report) else found.report]:
            self._note(report)
        return found

    def _spend(self, seconds: float) -> None:
        self._seconds -= seconds
        self._run.spend(seconds)

    def _pairs(
        self,
        pairs: Iterable[tuple[D, D]] | None,
        records: Sequence[object] | None,
        n: int,
        adjacency: "Adjacency | None",
    ) -> "list[Any]":
        from accountant import ReplaceOne
        from exchequer import testing

        if (pairs is None) == (records is None):
            raise ValueError("give either pairs= of neighbouring data sets, or records= that a data set may have")
        if pairs is not None:
            return [testing.Pair(*pair) for pair in pairs]
        assert records is not None
        return list(testing.neighbours(adjacency or ReplaceOne(), records, n))

    def _with_budget(self, options: dict[str, object]) -> dict[str, object]:
        """The k-th check of a test has 1/(k(k + 1)) of the test's chance of a false alarm, unless it says another."""
        number = len(self.reports) + 1
        return options if "confidence" in options else {"failure": self._chance / (number * (number + 1)), **options}

    def _note(self, report: "Report") -> None:
        self.reports.append(report)
        if report.verdict == "not understood":
            said = f"{report.subject}: not understood, so that nothing is concluded: {report.not_understood}"
            warnings.warn(f"{said}. privacy.function looks at outputs alone", pytest.PytestWarning, stacklevel=4)
        self._node.user_properties.append((PROPERTY, json.dumps(report.as_dict())))

    def _how_to_reproduce(self, report: "Report") -> str:
        return (
            f"worst: {report.witness}\n"
            f"reproduce: pytest '{self._node.nodeid}' --privacy-seed={self._run.seed}\n"
            "(the seed is that of random and of numpy.random's global state; other draws are the program's. "
            "On the worst pair alone, pairs=[(before, after)] with samples=100_000 shows the loss more sharply.)"
        )


RUN: Final = pytest.StashKey[Run]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Budgets, the seed, and where to write SARIF."""
    group = parser.getgroup("privacy", "claims of differential privacy (exchequer)")
    group.addoption("--privacy-seed", type=int, help="of random and numpy.random, as a failure prints it")
    group.addoption("--privacy-time", type=float, help=f"seconds for all checks of the run; {SECONDS:g} unless given")
    group.addoption("--privacy-false-alarms", type=float, help="the chance that the run refutes a correct claim")
    group.addoption("--privacy-sarif", type=Path, metavar="PATH", help="write what was found there, as SARIF 2.1.0")
    parser.addini("privacy_time", "seconds for all checks of a run", default=str(SECONDS))
    parser.addini("privacy_false_alarms", "the chance that a run refutes a correct claim", default=str(FALSE_ALARMS))


def pytest_configure(config: pytest.Config) -> None:
    """The run's budgets. Raises UsageError for numbers that are none."""
    config.addinivalue_line(
        "markers", "privacy(**options): checks a claim of differential privacy; options of the test's checks"
    )
    seed = config.getoption("--privacy-seed")
    alarms = _number(config, "privacy_false_alarms")
    if not 0.0 < alarms < 1.0:
        raise pytest.UsageError(f"privacy_false_alarms: expected a chance in (0, 1), got {alarms!r}")
    found = seed if seed is not None else getattr(config, "workerinput", {}).get("privacy_seed", secrets.randbits(32))
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    each = config.getoption("dist", "no") == "each"
    config.stash[RUN] = Run(found, alarms, _number(config, "privacy_time"), workers, each=each)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Workers of pytest-xdist have the seed of the run."""
    node.workerinput["privacy_seed"] = node.config.stash[RUN].seed


def _number(config: pytest.Config, name: str) -> float:
    given = config.getoption("--" + name.replace("_", "-"))
    text = config.getini(name) if given is None else given
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number > 0.0:
        raise pytest.UsageError(f"{name}: expected a positive number, got {text!r}")
    return number


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`-m privacy` selects whatever uses the fixture, or is marked."""
    for item in items:
        if FIXTURE in getattr(item, "fixturenames", ()) and item.get_closest_marker(FIXTURE) is None:
            item.add_marker(FIXTURE)


def pytest_collection_finish(session: pytest.Session) -> None:
    """How many tests share the budgets."""
    using = (item.nodeid for item in session.items if FIXTURE in getattr(item, "fixturenames", ()))
    session.config.stash[RUN].tests = frozenset(using)


@pytest.fixture
def privacy(request: pytest.FixtureRequest) -> Privacy:
    """Checks claims of differential privacy: `privacy.function(f, PureDP(1.0), records=[0, 1])`; see `Privacy`."""
    import numpy as np

    run, node = request.config.stash[RUN], request.node
    own = zlib.crc32(f"{run.seed} {node.nodeid}".encode())
    random.seed(own)
    np.random.seed(own)  # noqa: NPY002  # for programs that draw from it
    marker = node.get_closest_marker(FIXTURE)
    return Privacy(run, node, {} if marker is None else dict(marker.kwargs))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What was refuted fails the run, whatever a rerun of the test says: a verdict is no accident to try again."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    again = [] if reporter is None else reporter.stats.get("rerun", [])
    told = [json.loads(value) for report in again for name, value in report.user_properties if name == PROPERTY]
    if session.exitstatus == pytest.ExitCode.OK and any(record["verdict"] == "refuted" for record in told):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """A line per check, worst first, the seed and the chance of a false alarm; the SARIF file, where asked for."""
    found = _found(terminalreporter)
    path = config.getoption("--privacy-sarif")
    if not found and path is None:
        return
    from exchequer.testing import Located, Report, sarif, table

    reports = [Located(Report.of(record), place[0], (place[1] or 0) + 1) for place, record in found]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        errors = _errors(terminalreporter, {place[2] for place, _ in found})
        log = sarif(reports, [*errors, *_why_incomplete(exitstatus, checks=len(reports))])
        path.write_text(json.dumps(log, indent=1), encoding="utf-8")
    if not reports:
        return
    terminalreporter.section("privacy claims")
    terminalreporter.write_line(table(each.report for each in reports))
    run = config.stash[RUN]
    chance = sum(1.0 - each.report.confidence for each in reports)
    more = f", more than {run.false_alarms:g}: tests give confidences of their own" if chance > run.false_alarms else ""
    terminalreporter.write_line(
        f"seed {run.seed}; a correct claim is refuted with a chance of at most {chance:.2g} in all{more}"
    )


def _why_incomplete(exitstatus: int, *, checks: int) -> list[str]:
    """Why a file without findings says nothing: whoever reads it would take old ones for fixed."""
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    why = [] if ended else [f"the tests did not end normally: exit code {int(exitstatus)} of pytest"]
    return why if checks else [*why, "no privacy claim was checked"]


def _errors(terminalreporter: Any, told: set[str]) -> list[str]:
    """What could not be checked: failures of tests that check claims and say nothing of one, or are not collected."""
    stats = terminalreporter.stats
    failed = [each for kind in ("failed", "error") for each in stats.get(kind, []) if hasattr(each, "longrepr")]
    ours = [each for each in failed if FIXTURE in getattr(each, "keywords", (FIXTURE,))]
    names = {each.nodeid: getattr(each, "location", ("", None, ""))[2] for each in ours}
    return [f"{each.nodeid}: {each.longreprtext[-300:]}" for each in ours if names[each.nodeid] not in told]


def _found(terminalreporter: Any) -> "list[tuple[tuple[str, int | None, str], dict[str, Any]]]":
    """Where a test is, and what was found in it: in its fixtures too. Reports of later phases tell of earlier ones."""
    last: dict[str, tuple[tuple[str, int | None, str], list[dict[str, Any]]]] = {}
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if not hasattr(report, "user_properties"):
            continue
        records = [json.loads(value) for name, value in report.user_properties if name == PROPERTY]
        name = f"{report.nodeid} {getattr(getattr(report, 'node', None), 'gateway', '')}"
        if len(records) > len(last.get(name, (None, []))[1]):
            last[name] = (report.location, records)
    return [(place, record) for place, records in last.values() for record in records]
