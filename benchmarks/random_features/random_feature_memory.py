"""Memory of a fit at up to a million records, each in a process of its own, beside that of all its features at once."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from benchmarks.runner import Line, Measured, Part, Report, Setting, Table, at_most, elsewhere, peak
from learners import Bounds, Descent, RandomFeatureRegressor
from learners.random_features import KEPT, SolverName

COLUMNS, NUMBER = 20, 200

MOST: Final = 0.75
"""GiB above the data that are asked for: features that are kept, and blocks."""

SOLVERS: Final[dict[str, SolverName]] = {"adassp": "adassp", "descent, 3 rounds": Descent(rounds=3)}


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
        n_components=NUMBER,
        schema=Bounds(-1.0, 1.0),
        random_state=0,
    ).fit(X, y)
    return {"before": before, "after": peak(), "seconds": time.perf_counter() - start}


def table(solver: str, sizes: Sequence[int]) -> Report:
    """What is added to the data must not grow with the records, once features are no longer kept."""
    lines = []
    for records in sizes:
        found = elsewhere(__name__, measured.__name__, solver, records)
        added, whole = found["after"] - found["before"], records * 2 * NUMBER * 8 / 2**30
        what = f"{records:,} records"
        lines += [
            at_most(f"{what}: on top of the data", Measured(added, unit="GiB", form=".2f"), MOST),
            Line(f"{what}: all features at once would be", Measured(whole, unit="GiB", form=".2f")),
            Line(f"{what}: time", Measured(found["seconds"], unit="s")),
        ]
    kept = f"features are kept up to {KEPT * 8 / 2**30:g} GiB"
    return Report(f"Memory of a fit by {solver}, {2 * NUMBER} features; {kept}", lines)


def parts(setting: Setting) -> list[Part]:
    """One for each solver, at two sizes. quick: one solver, at a small one."""
    sizes = (5_000,) if setting.quick else (100_000, 1_000_000)
    expected = 2.5 if setting.quick else 25.0
    solvers = list(SOLVERS)[: 1 if setting.quick else None]
    return [Part(f"memory of a fit by {solver}", partial(_tables, solver, sizes), expected) for solver in solvers]


def _tables(solver: str, sizes: Sequence[int]) -> list[Table]:
    return [table(solver, sizes)]
