# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "scipy==1.17.1"]
#
# [tool.leaderboard]
# name = "BoostedAdaSSP, tuned and charged"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# heavy = true
# released = "a reimplementation from the paper, as is the choice around it"
# reads = "nothing; its noise is in floating point, whose last bits are not proved to be safe"
#
# [tool.leaderboard.variants]
# "judged on its own records" = {}
# "judged on a tenth held out" = { held_out = 0.1 }
# ///
"""BoostedAdaSSP with its number of rounds chosen privately, as `_selection` says.

A run is Gaussian noise throughout: of the fit, as `boosted_ada_ssp` says, and of the score.
"""

from typing import Final

import numpy as np

from benchmarks.adapters.peers import boosted_ada_ssp
from benchmarks.adapters.peers._selection import affordable, best_of, epsilon_of, gamma_for, shares
from benchmarks.adapters.protocol import Predict, Promise, Task

ROUNDS: Final = (1, 3, 10, 30, 100)
"""Public."""


def fit(task: Task, promise: Promise, held_out: float = 0.0) -> Predict:
    """held_out: the chance of each record to be kept for the scores, in [0, 1); 0 judges on the records fitted to."""
    for_fit, for_score = shares(affordable(promise.epsilon, promise.delta, gamma_for(ROUNDS)), held_out)
    told = epsilon_of(for_fit, promise.delta)

    def run(fitted: Task, seed: int | None, rounds: int) -> Predict:
        return boosted_ada_ssp.fit(fitted, Promise(told, promise.delta, promise.neighbours, seed), rounds)

    def noise(rng: np.random.Generator) -> float:
        return float(rng.normal(scale=1.0 / for_score))

    return best_of(task, promise, ROUNDS, held_out, run, noise)
