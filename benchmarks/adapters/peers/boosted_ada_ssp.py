# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6"]
#
# [tool.leaderboard]
# name = "BoostedAdaSSP"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "a reimplementation from the paper"
# reads = "nothing; its noise is in floating point, whose last bits are not proved to be safe"
#
# [tool.leaderboard.variants]
# "100 rounds" = { rounds = 100 }
# "10 rounds" = { rounds = 10 }
# ///
"""BoostedAdaSSP (Tang et al. 2023, arXiv 2303.03451): gradient boosting whose base learner is AdaSSP.

X'X and its smallest eigenvalue are released once, as in AdaSSP; each round releases X'R, R the residuals, of which
each row is clipped to norm 1. Given what earlier rounds released, a record's residual depends on that record alone,
so a record added or removed moves X'R by xr', of norm |x||r| <= 1, and a record replaced by at most 2: residuals have
signs, so one-hot labels save nothing here. Adaptive Gaussians compose as one: a third of mu^2 goes to each of X'X, its
eigenvalue, and all rounds together, so a round has noise of sqrt(3 * rounds) / mu times its sensitivity.
The noise, the sensitivities of the other two releases and the ridge are those of `ada_ssp`.
"""

import math

import numpy as np

from benchmarks.adapters.peers.ada_ssp import RELEASES, features, mu_of, noisy_gram, predictor, sensitivities, targets
from benchmarks.adapters.protocol import Floats, Predict, Promise, Task


def clipped(rows: Floats) -> Floats:
    """Each row shortened to norm 1 where it is longer; shape (n, targets)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1.0))


def fit(task: Task, promise: Promise, rounds: int = 100) -> Predict:
    """rounds: of boosting, at least 1, each with step 1 as in the paper."""
    rng = np.random.default_rng(promise.seed)
    multiplier = math.sqrt(RELEASES) / mu_of(promise.epsilon, promise.delta)
    moved = sensitivities(promise.neighbours, one_hot=False)
    X, Y = features(task, task.train), targets(task)
    inverse = np.linalg.inv(noisy_gram(X.T @ X, multiplier, moved, promise.delta, rng))
    scale = multiplier * moved.cross * math.sqrt(rounds)
    theta = np.zeros((X.shape[1], Y.shape[1]))
    for _ in range(rounds):
        cross = X.T @ clipped(Y - X @ theta)
        theta += inverse @ (cross + rng.normal(scale=scale, size=cross.shape))
    return predictor(task, theta)
