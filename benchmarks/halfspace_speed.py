"""200 rounds on 10^5 points of 100 dimensions, against 200 plain products of the same matrix with a vector."""

import statistics
import tracemalloc

import numpy as np

from benchmarks.report import Line, Report
from benchmarks.speed import seconds
from boosting.margin_data import margin_data
from learners import HalfspaceBoostClassifier

ROUNDS = 200


def speed(repeats: int) -> Report:
    """Ratios of one run: fits and products in turn, medians of both; and the most memory, in sizes of the data."""
    rng = np.random.default_rng(0)
    data = margin_data("sphere", 100_000, 100, 0.05, rng)
    vector = rng.standard_normal(100)

    def fit() -> None:
        HalfspaceBoostClassifier(1.0, 1e-6, rounds=ROUNDS, random_state=0).fit(data.points, data.labels)

    def products() -> None:
        for _ in range(ROUNDS):
            data.points @ vector  # only its time matters

    products()  # warm-up
    fit()
    times = [(seconds(products), seconds(fit)) for _ in range(repeats)]
    plain, ours = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = sorted(mine / base for base, mine in times)
    tracemalloc.start()
    fit()
    peak = 1.0 + tracemalloc.get_traced_memory()[1] / data.points.nbytes
    tracemalloc.stop()
    between = f"{ours / plain:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return Report(
        "200 rounds on 10^5 × 100 against 200 plain matrix-vector products",
        (
            Line("200 products, double precision", f"{plain:.3f} s (median of {repeats})"),
            Line("200 rounds", f"{ours:.3f} s"),
            Line(
                "rounds / products",
                between,
                "≤ 1.5",
                ours / plain <= 1.5,
            ),
            Line("most memory / data, the data included", f"{peak:.2f}", "≤ 2", peak <= 2.0),
        ),
    )
