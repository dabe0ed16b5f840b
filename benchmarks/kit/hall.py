"""The hall of audits: programs of other libraries against what their documentation claims, by the kit.

Each library runs in an interpreter of its own. `python -m benchmarks.kit.hall --only NAME` audits one and prints it.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from benchmarks.hall_programs import (
    data_synthesizer,
    diffprivlib_tools,
    flower,
    jax_private,
    multi_freq_ldpy,
    open_dp,
    pipeline_dp,
    pure_ldp,
    pure_ldp_before,
    py_dp,
    serve_programs,
    tumult,
)
from benchmarks.hall_programs.program import Data, Program
from benchmarks.peers import Worker, folder, python_with
from benchmarks.runner import Grid, Measured, Part, Setting
from proofs_tests.harness import ClaimViolated, Pair, check_function

LIBRARIES: Final[tuple[ModuleType, ...]] = (
    data_synthesizer,
    diffprivlib_tools,
    flower,
    jax_private,
    multi_freq_ldpy,
    open_dp,
    pipeline_dp,
    pure_ldp_before,
    pure_ldp,
    py_dp,
    tumult,
)
"""Each with LIBRARY, its name on the registry; PINS, the version that is audited first; and PROGRAMS."""

HEAD: Final = ("program", "library", "claim", "neighbours", "verdict", "witness", "time")

PATIENCE: Final = 120.0
"""Seconds for each program."""

PIECE: Final = 5.0
"""Seconds that a worker draws before it answers."""

FEW: Final = 200
"""Outputs in the quick form."""


def audited(worker: Worker, program: Program, samples: int) -> dict[str, Any]:
    """What the kit says of it, as `Report.as_dict`, refuted or not, and the statement in words."""
    if program.recorded:
        return worker.ask(do="recorded", program=program.name)
    pairs = [Pair(before, after) for before, after in program.pairs]
    try:
        report = check_function(
            program.function,
            pairs,
            serve_programs.claimed(program),
            name=program.name,
            many=lambda data, number: _drawn(worker, program, data, number),
            samples=samples,
            low_order_bits=program.last_bits,
            time_limit=PATIENCE,
        )
    except ClaimViolated as violated:
        report = violated.report
    return dict(report.as_dict())


def _drawn(worker: Worker, program: Program, data: Data, number: int) -> Sequence[object]:
    outputs = list[object]()
    while len(outputs) < number:
        missing = number - len(outputs)
        outputs += worker.ask(do="draw", program=program.name, data=list(data), number=missing, limit=PIECE)["outputs"]
    return outputs


def verdict(program: Program, found: dict[str, Any]) -> str:
    """In words: proved, refuted, not understood, or not refuted and what that is worth."""
    most, claim = float(found["found"]), float(found["bound"])
    symbol = str(found["quantity"])
    if found["verdict"] == "refuted" and program.recorded:
        return f"proved: {symbol} {_short(most)} of {_short(claim)}"
    if found["verdict"] == "refuted":
        return f"refuted: {symbol} ≥ {_short(most)} of {_short(claim)}"
    if found["verdict"] == "not understood":
        return f"not understood: {symbol} {_short(most)} of {_short(claim)} along a run, of what was followed"
    if program.recorded:
        return f"not refuted: {symbol} {_short(most)} of {_short(claim)} along a run"
    if found["factor"] is None:
        return f"not refuted: {symbol} ≥ {_short(most)} of {_short(claim)}"
    return f"not refuted: a factor of {_short(float(found['factor']))} would have shown"


def _short(number: float) -> str:
    return "∞" if math.isinf(number) else f"{number:.3g}"


def claim(program: Program) -> str:
    """As text."""
    symbols = {"pure": "ε = {:.3g}", "approx": "ε = {:.3g}, δ = {:g}", "gdp": "μ = {:g}", "zcdp": "ρ = {:g}"}
    return symbols[program.kind].format(*program.numbers)


def witness(found: dict[str, Any]) -> str:
    """Of a pair and an event, or of a call: short."""
    text = str(found["witness"]).replace("diffprivlib_tools.py", "the call")
    return text if len(text) <= 200 else f"{text[:197]}..."


def table(module: ModuleType, python: Path, samples: int | None = None) -> Grid:
    """All programs of a library. samples: in place of what each asks for."""
    name = f"{module.LIBRARY} {module.PINS[0].partition('==')[2]}"
    rows = []
    with Worker(serve_programs, python, module.__name__.rpartition(".")[2]) as worker:
        for program in module.PROGRAMS:
            found = audited(worker, program, samples or program.samples)
            seconds = Measured(float(found["seconds"]), unit="s", form=".1f")
            about = (claim(program), program.neighbours, verdict(program, found), witness(found))
            rows.append((program.name, name, *about, seconds))
    return Grid(f"{name}: {len(rows)} programs", HEAD, tuple(rows))


def parts(setting: Setting) -> list[Part]:
    """A part per library. quick: only what we depend on ourselves, in the interpreter that runs this."""
    if setting.quick:
        return [Part("opendp", lambda: [table(open_dp, Path(sys.executable), FEW)], 10.0)]
    return [_part(module) for module in LIBRARIES]


def _part(module: ModuleType) -> Part:
    def make() -> list[Grid]:
        return [table(module, python_with(module.LIBRARY, module.PINS, folder()))]

    return Part(module.PINS[0].replace("==", " "), make, 5.0 * len(module.PROGRAMS))


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    known = [module.PINS[0].replace("==", " ") for module in LIBRARIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kit.hall", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME", help=f"what its name contains; known: {', '.join(known)}")
    options = parser.parse_args(arguments)
    for module, name in zip(LIBRARIES, known, strict=True):
        if options.only in name:
            for grid in _part(module).make():
                print(grid.table, flush=True)


if __name__ == "__main__":
    main()
