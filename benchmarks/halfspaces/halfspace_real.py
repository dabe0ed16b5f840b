"""Halfspaces over the Boolean features of real sets, beside both logistic regressions: ε = 1 and less, δ = 1e-6."""

from typing import Any

import numpy as np

from benchmarks.data import TITLES, Holdouts, Part, Split
from benchmarks.peer_workers.fits_diffprivlib import fit, load
from benchmarks.peers import arrays, norm
from benchmarks.runner import Grid
from benchmarks.systems import DIFFPRIVLIB, LEFT_OUT, OURS, Results, Scorer, System, grids, measure
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


def of_diffprivlib(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """Its objective perturbation, ε alone, C = 1; see `benchmarks.peers.peers` for what it promises."""

    def fed(part: Part) -> dict[str, Any]:
        return load(arrays(split.name, part))

    scores = fit(fed(split.train), {"learner": "LogisticRegression", "C": 1.0, "epsilon": epsilon, "seed": seed})
    return lambda part: scores(fed(part))


def systems() -> list[System]:
    """Halfspaces, our logistic regression, and diffprivlib's where it is installed."""
    ours = [System("boosted means (ours)", halfspace), next(each for each in OURS if "logistic" in each.name)]
    return [*ours, System("logistic regression, C=1 (diffprivlib)", of_diffprivlib)] if DIFFPRIVLIB else ours


def real(folder: str | None, name: str, quick: bool) -> list[Grid]:
    """Accuracy and AUC on one of `splits.PAPER`. Raises DataNotFound."""
    epsilons, seeds = (EPSILONS[::2], 1) if quick else (EPSILONS, 5)
    plan, results = Holdouts(folder, name), Results(None)
    found = {each: measure(each, plan, results, epsilons, DELTA, seeds) for each in systems()}
    return grids(found, f"{TITLES[name]}, {plan.protocol}, δ={DELTA:g}, seeds: {seeds}{LEFT_OUT}")
