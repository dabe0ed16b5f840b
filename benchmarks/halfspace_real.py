"""Halfspaces over the Boolean features of real sets, beside both logistic regressions: ε = 1 and less, δ = 1e-6."""

import numpy as np

from benchmarks.peers import logistic_regression, norm
from benchmarks.registry import OURS
from benchmarks.report import Grid
from benchmarks.splits import PAPER, Holdouts, Split
from benchmarks.systems import Results, Scorer, System, grids, measure
from learners import HalfspaceBoostClassifier

EPSILONS = (0.1, 0.3, 1.0, 3.0)
DELTA = 1e-6


def halfspace(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """With its defaults; the radius is the norm of a record of Boolean features, and public."""
    model = HalfspaceBoostClassifier(
        epsilon, delta, radius=norm(split.train.schema), fit_intercept=True, random_state=seed
    )
    model.fit(split.train.one_hot.astype(np.float64), split.train.signs)
    return lambda part: model.decision_function(part.one_hot.astype(np.float64))


def real(folder: str | None, seeds: int) -> list[Grid]:
    """A table for each set."""
    systems = [
        System("boosted means (ours)", halfspace),
        next(each for each in OURS if "logistic" in each.name),
        logistic_regression(1.0),
    ]
    tables: list[Grid] = []
    for name in PAPER:
        plan, results = Holdouts(folder, name), Results(None)
        found = {each: measure(each, plan, results, EPSILONS, DELTA, seeds) for each in systems}
        tables += grids(found, f"{name}, {plan.protocol}, δ = {DELTA:g}, {seeds} seeds")
    return tables
