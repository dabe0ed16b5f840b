"""200 rounds on 10^5 points of 100 dimensions, against 200 plain products of the same matrix with a vector."""

import tracemalloc

import numpy as np

from benchmarks.report import Line, Measured, Report, at_most
from benchmarks.timing import in_turns
from boosting.margin_data import margin_data
from learners import HalfspaceBoostClassifier

ROUNDS, DIMENSION = 200, 100
RATIO, MEMORY = 1.5, 2.0
"""What is asked: times the products, and times the data."""


def speed(quick: bool) -> list[Report]:
    """Fits and products in turn, and the ratio of each turn; the most memory, as Python's allocator tells.

    quick: a tenth of the records and one turn; nothing is asked of that.
    """
    records, repeats = (10_000, 1) if quick else (100_000, 5)
    rng = np.random.default_rng(0)
    data = margin_data("sphere", records, DIMENSION, 0.05, rng)
    vector = rng.standard_normal(DIMENSION)

    def fit() -> None:
        HalfspaceBoostClassifier(1.0, 1e-6, rounds=ROUNDS, random_state=0).fit(data.points, data.labels)

    def products() -> None:
        for _ in range(ROUNDS):
            data.points @ vector  # only its time matters

    times = in_turns({"products": products, "rounds": fit}, repeats)
    ratios = [ours / plain for plain, ours in zip(times["products"], times["rounds"], strict=True)]
    tracemalloc.start()
    fit()
    peak = 1.0 + tracemalloc.get_traced_memory()[1] / data.points.nbytes
    tracemalloc.stop()
    over = Measured.median(ratios, unit="times the products", form=".2f")
    memory = Measured(peak, unit="times the data", form=".2f")
    return [
        Report(
            f"{ROUNDS} rounds on {records:,} × {DIMENSION} beside {ROUNDS} matrix-vector products, turns: {repeats}",
            (
                Line(f"{ROUNDS} products, double precision", Measured.median(times["products"], unit="s")),
                Line(f"{ROUNDS} rounds", Measured.median(times["rounds"], unit="s")),
                at_most("rounds / products", over, RATIO, judged=not quick),
                at_most("most memory, the data included", memory, MEMORY, judged=not quick),
            ),
        )
    ]
