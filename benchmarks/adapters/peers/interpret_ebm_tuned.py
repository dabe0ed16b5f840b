# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "interpret-core==0.7.8", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "pandas==3.1.1",
# ]
#
# [tool.leaderboard]
# name = "DP-EBM (interpret), tuned and charged"
# tasks = ["binary", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# counts = true
# heavy = true
# released = "its own package; the choice around it is a reimplementation from the paper"
# reads = "which categories and classes occur; the number of records it is fitted to, in the widths of bins"
#
# [tool.leaderboard.refuted]
# regression = "residuals are never clipped, while the noise is for residuals within the labels' range"
#
# [tool.leaderboard.variants]
# "judged on its own records" = {}
# "judged on a tenth held out" = { held_out = 0.1 }
# ///
"""interpret's DP-EBM with its settings chosen privately, as `_selection` says.

A run is Gaussian noise throughout, μ in all: bins, boosting and score compose as one Gaussian mechanism. What DP-EBM
adds up moves twice as far where a record is replaced (see `interpret_ebm`, whose marks hold here, too).
"""

import math
from typing import Any, Final

import numpy as np

from benchmarks.adapters.peers import interpret_ebm
from benchmarks.adapters.peers._selection import affordable, best_of, gamma_for, shares
from benchmarks.adapters.peers.interpret_ebm import PARTS, gaussian_mu
from benchmarks.adapters.protocol import Predict, Promise, Task

SETTINGS: Final = tuple(
    {"learning_rate": rate, "max_rounds": 100, "max_bins": bins} for rate in (0.03, 0.3) for bins in (8, 32)
)
"""Public. All rounds together step as far as by its default, or 10 times as far; with its 32 bins, or a quarter.

A third of its 300 rounds, at three times the rate, takes half the time: what noise adds up to is the same.
"""


def fit(task: Task, promise: Promise, held_out: float = 0.0) -> Predict:
    """held_out: the chance of each record to be kept for the scores, in [0, 1); 0 judges on the records fitted to."""
    for_fit, for_score = shares(affordable(promise.epsilon, promise.delta, gamma_for(SETTINGS)), held_out)
    told = told_for(for_fit, promise)

    def run(fitted: Task, seed: int | None, setting: dict[str, Any]) -> Predict:
        return fitted_with(fitted, told, promise.delta, seed, setting)

    def noise(rng: np.random.Generator) -> float:
        return float(rng.normal(scale=1.0 / for_score))

    return best_of(task, promise, SETTINGS, held_out, run, noise)


def fitted_with(task: Task, epsilon: float, delta: float, seed: int | None, setting: dict[str, Any]) -> Predict:
    """One DP-EBM, on one core."""
    numbers = {place: (each.lower, each.upper) for place, each in enumerate(task.columns) if each.numeric}
    common = {
        "feature_types": ["continuous" if each.numeric else "nominal" for each in task.columns],
        "privacy_bounds": numbers,
        "epsilon": epsilon,
        "delta": delta,
        "composition": "gdp",
        "random_state": seed,
        "n_jobs": 1,
        **setting,
    }
    return (interpret_ebm._regression if task.kind == "regression" else interpret_ebm._binary)(task, common)


def told_for(mu: float, promise: Promise) -> float:
    """The ε to give DP-EBM, at the promise's δ, so that all its noise together is that of μ."""
    most = mu if promise.neighbours == "add-remove-one" else 0.5 * mu

    def spent(epsilon: float) -> float:
        return math.hypot(*(gaussian_mu(part * epsilon, 0.5 * promise.delta) for part in PARTS))

    return interpret_ebm._largest(lambda epsilon: spent(epsilon) <= most, 1000.0)
