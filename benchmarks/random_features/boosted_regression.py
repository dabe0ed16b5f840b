"""`PrivateBoostRegressor` beside `RandomFeatureRegressor`, untuned: R² on held-out records, and coverage of intervals.

Nine tenths of the records train, a tenth tests; all see the same splits. The settings of the boosted regression were
chosen on these data sets at these ε, with other noise; there are no other regressions among the public data.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from benchmarks.data import (
    ABALONE,
    FRIEDMAN,
    MEDICAL,
    Regression,
    abalone,
    friedman,
    medical,
    widened,
    wine_of,
)
from benchmarks.random_features.random_feature_fits import DELTA, count, row
from benchmarks.runner import Grid, Measured, Part, Setting, Table
from learners import PrivateBoostRegressor, RandomFeatureRegressor

EPSILONS: Final = (0.5, 1.0, 3.0)
COVERAGE: Final = 0.9
INTERVALS: Final = 0.1
"""Share of the budget for intervals, where they are asked for."""

Predicted = Callable[[Regression, Regression, float, int], FloatArray]


def boosted(train: Regression, test: Regression, epsilon: float, seed: int, **more: object) -> FloatArray:
    """With its defaults, under add-remove-one unless told otherwise."""
    model = PrivateBoostRegressor(
        epsilon,
        DELTA,
        label_bounds=train.bounds,
        schema=train.schema,
        random_state=seed,
        **more,  # type: ignore[arg-type]  # a table of settings
    )
    return model.fit(train.table, train.labels).predict(test.table)


def random_features(train: Regression, test: Regression, epsilon: float, seed: int) -> FloatArray:
    """With its defaults; it promises replace-one."""
    model = RandomFeatureRegressor(
        epsilon, DELTA, label_bounds=train.bounds, schema=train.schema, feature_seed=seed, random_state=seed
    )
    return model.fit(train.table, train.labels).predict(test.table)


SYSTEMS: Final[Mapping[str, Predicted]] = {
    "PrivateBoostRegressor": boosted,
    "PrivateBoostRegressor, replace-one": partial(boosted, adjacency="replace-one"),
    "RandomFeatureRegressor (replace-one)": random_features,
}


def explained(labels: FloatArray, predictions: FloatArray) -> float:
    """R²."""
    return 1.0 - float(np.mean((labels - predictions) ** 2) / np.var(labels))


def _scores(data: Regression, predicted: Predicted, epsilon: float, repeats: int) -> Measured:
    found = []
    for seed in range(repeats):
        train, test = (data.part(rows) for rows in data.split(seed))
        found.append(explained(test.labels, predicted(train, test, epsilon, seed)))
    return Measured.mean(found, form=".3f")


def scores(data: Regression, repeats: int) -> list[Table]:
    """R² by ε, with bounds as they are and ten times too wide."""
    bounds = {
        "": data,
        ", inputs' bounds 10 x": widened(data, 10.0, labels=False),
        ", all bounds 10 x": widened(data, 10.0, labels=True),
    }
    rows = [
        row(f"{name}{wide}", (_scores(held, predicted, epsilon, repeats) for epsilon in EPSILONS))
        for wide, held in bounds.items()
        for name, predicted in SYSTEMS.items()
    ]
    title = f"{data.name}: R² on held-out records, δ = {DELTA:g}, {count(repeats, 'split')}"
    return [Grid(title, ("model", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)), tuple(rows))]


def _covered(data: Regression, epsilon: float, repeats: int) -> tuple[Measured, Measured]:
    shares, widths = [], []
    for seed in range(repeats):
        train, test = (data.part(rows) for rows in data.split(seed))
        model = PrivateBoostRegressor(
            epsilon, DELTA, label_bounds=data.bounds, schema=data.schema, intervals=INTERVALS, random_state=seed
        )
        ends = model.fit(train.table, train.labels).predict_interval(test.table, COVERAGE)
        shares.append(float(np.mean((test.labels >= ends[:, 0]) & (test.labels <= ends[:, 1]))))
        widths.append(float(np.mean(ends[:, 1] - ends[:, 0]) / np.std(test.labels)))
    return Measured.mean(shares, form=".3f"), Measured.mean(widths, form=".2f")


def coverage(data: Regression, repeats: int) -> list[Table]:
    """Of intervals for 90 %, and how wide they are in deviations of the labels."""
    found = [_covered(data, epsilon, repeats) for epsilon in EPSILONS]
    rows = (row("held", (share for share, _ in found)), row("width", (width for _, width in found)))
    title = f"{data.name}: intervals for {COVERAGE:.0%}, δ = {DELTA:g}, {count(repeats, 'split')}"
    return [Grid(title, ("", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)), tuple(rows))]


def parts(setting: Setting) -> list[Part]:
    """R² and coverage for each data set; quick: one split of 400 medical costs."""
    if setting.quick:
        few = partial(lambda: medical(setting.data).few(400))
        return [Part("boosted regression", lambda: [*scores(few(), 1), *coverage(few(), 1)], 15.0)]
    sets: dict[str, Callable[[], Regression]] = {
        MEDICAL: lambda: medical(setting.data),
        "red wine": lambda: wine_of("red", setting.data),
        "white wine": lambda: wine_of("white", setting.data),
        ABALONE: lambda: abalone(setting.data),
        FRIEDMAN: friedman,
    }

    def tables(load: Callable[[], Regression]) -> list[Table]:
        return [*scores(load(), 10), *coverage(load(), 10)]

    return [Part(f"boosted regression, {name}", partial(tables, load), 300.0) for name, load in sets.items()]
