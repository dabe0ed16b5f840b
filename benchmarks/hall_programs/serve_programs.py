"""`python -m benchmarks.hall_programs.serve_programs MODULE`: draws from a module's programs, asked line by line."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from benchmarks.hall_programs.program import Program, plain
from benchmarks.peer_workers.serve import Answer, Job, serve

if TYPE_CHECKING:
    from accountant import Cost


def programs(module: str) -> Mapping[str, Program]:
    """Those of a module of this folder, by name."""
    found: Sequence[Program] = import_module(f"benchmarks.hall_programs.{module}").PROGRAMS
    return {program.name: program for program in found}


def draw(known: Mapping[str, Program], job: Job) -> Answer:
    """{"program", "data", "number", "limit"}: that many outputs, or fewer where the seconds are over."""
    function, data = known[job["program"]].function, tuple(job["data"])
    outputs, end = list[object](), time.monotonic() + job["limit"]
    for _ in range(job["number"]):
        outputs.append(plain(function(data)))
        if time.monotonic() > end:
            break
    return {"outputs": outputs}


def recorded(known: Mapping[str, Program], job: Job) -> Answer:
    """{"program"}: the report of `check_recorded` over its pairs. Needs the kit in this interpreter."""
    from proofs_tests.harness import ClaimViolated
    from proofs_tests.harness.recording import check_recorded

    program = known[job["program"]]
    pairs = [_pair(*pair) for pair in program.pairs]
    claim = claimed(program)
    try:
        report = check_recorded(program.function, pairs, claimed=claim, public_draws=True, subject=program.name)
    except ClaimViolated as violated:
        report = violated.report
    return dict(report.as_dict())


def _pair(before: Any, after: Any) -> Any:
    from proofs_tests.harness import Pair

    return Pair(before, after)


def claimed(program: Program) -> "Cost":
    """The claim as our accountant has it."""
    from accountant import GDP, ZCDP, ApproxDP, PureDP

    kinds: Mapping[str, Callable[..., Cost]] = {"pure": PureDP, "approx": ApproxDP, "gdp": GDP, "zcdp": ZCDP}
    return kinds[program.kind](*program.numbers)


def main() -> None:
    """The command."""
    module = sys.argv[1]
    known = programs(module)
    handlers = {
        "draw": lambda job: draw(known, job),
        "recorded": lambda job: recorded(known, job),
        "versions": lambda job: {name: metadata.version(name) for name in job["names"]},
    }
    serve(handlers, lambda: None)


if __name__ == "__main__":
    main()
