"""200 rounds on 10^5 points of 100 dimensions, against 200 plain products of the same matrix with a vector."""

import tracemalloc

import numpy as np

from benchmarks.runner import Line, Measured, Report, Work, at_most, in_turns, limited, thread_counts
from boosting.theory import margin_data
from learners import HalfspaceBoostClassifier

ROUNDS, DIMENSION = 200, 100
RATIO, MEMORY = 1.5, 2.0
"""What is asked: times the products, and times the data."""


def speed(quick: bool) -> list[Report]:
    """Fits and products in turn, and the ratio of each turn; the most memory, as Python's allocator tells.

    What is asked is asked of BLAS as a user has it, with all of its threads; the ratio of one thread stands beside it.
    quick: a fiftieth of the records and one turn; nothing is asked of that.
    """
    records, repeats = (2_000, 1) if quick else (100_000, 5)
    rng = np.random.default_rng(0)
    data = margin_data("sphere", records, DIMENSION, 0.05, rng)
    vector = rng.standard_normal(DIMENSION)

    def fit() -> None:
        HalfspaceBoostClassifier(1.0, 1e-6, rounds=ROUNDS, random_state=0).fit(data.points, data.labels)

    def products() -> None:
        for _ in range(ROUNDS):
            data.points @ vector  # only its time matters

    works = {"products, double precision": products, "rounds": fit}
    times = in_turns(
        {
            f"{ROUNDS} {name}; BLAS threads: {few}": limited(works[name], few)
            for few in thread_counts()
            for name in works
        },
        repeats,
    )
    lines = [Line(name, Measured.median(found, unit="s")) for name, found in times.items()]
    most = max(thread_counts())
    for few in thread_counts():
        plain, ours = (times[f"{ROUNDS} {name}; BLAS threads: {few}"] for name in works)
        ratios = (mine / base for base, mine in zip(plain, ours, strict=True))
        over = Measured.median(ratios, unit="times the products", form=".2f")
        what = f"rounds / products; BLAS threads: {few}"
        lines.append(at_most(what, over, RATIO, judged=not quick) if few == most else Line(what, over))
    memory = Measured(memory_of(fit, data.points.nbytes), unit="times the data", form=".2f")
    lines.append(at_most("most memory, the data included", memory, MEMORY, judged=not quick))
    title = f"{ROUNDS} rounds on {records:,} × {DIMENSION} beside {ROUNDS} matrix-vector products, turns: {repeats}"
    return [Report(title, lines)]


def memory_of(fit: Work, size: int) -> float:
    """The most memory of a fit and its data, over the size of the data in bytes."""
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return 1.0 + peak / size
