"""Memory of a fit at up to a million records, each in a process of its own, beside that of all its features at once."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.report import Line, Report
from learners import Bounds, Descent, RandomFeatureRegressor
from learners.random_feature_model import KEPT
from learners.random_features import SolverName

COLUMNS, NUMBER = 20, 200

MOST: Final = 0.75
"""GiB above the data that are asked for: features that are kept, and blocks."""

SOLVERS: Final[dict[str, SolverName]] = {"adassp": "adassp", "descent, 3 rounds": Descent(rounds=3)}


def peak() -> float:
    """The most memory that this program had since it began, in GiB, as Linux tells."""
    # getrusage would tell of the process that started this one as well, which was larger.
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20


def measured(solver: str, records: int) -> dict[str, float]:
    """Peak memory in GiB with the data only and after a fit, and its seconds; call it in a fresh process."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (records, COLUMNS))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1]
    before, start = peak(), time.perf_counter()
    RandomFeatureRegressor(
        1.0,
        1e-7,
        label_bounds=(-1.0, 1.0),
        solver=SOLVERS[solver],
        number=NUMBER,
        schema=Bounds(-1.0, 1.0),
        random_state=0,
    ).fit(X, y)
    return {"before": before, "after": peak(), "seconds": time.perf_counter() - start}


def _elsewhere(solver: str, records: int) -> dict[str, float]:
    program = f"import json; from {__name__} import measured; print(json.dumps(measured({solver!r}, {records})))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def tables(quick: bool) -> list[Report]:
    """Two sizes each: what is added to the data must not grow with the records, once features are no longer kept."""
    lines = []
    for solver in SOLVERS:
        for records in (20_000,) if quick else (100_000, 1_000_000):
            found = _elsewhere(solver, records)
            added, whole = found["after"] - found["before"], records * 2 * NUMBER * 8 / 2**30
            lines.append(
                Line(
                    f"{solver}, {records:,} records, {2 * NUMBER} features: GiB on top of the data "
                    f"(all features: {whole:.2f} GiB; {found['seconds']:.0f} s)",
                    f"{added:.2f}",
                    f"<= {MOST}",
                    added <= MOST,
                )
            )
    return [Report(f"Memory of fits; features are kept up to {KEPT * 8 / 2**30:g} GiB", lines)]
