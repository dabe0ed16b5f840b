# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6"]
#
# [tool.leaderboard]
# name = "AdaSSP"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "a reimplementation from the paper"
# reads = "nothing; its noise is in floating point, whose last bits are not proved to be safe"
#
# [tool.leaderboard.variants]
# "exact Gaussian" = { noise = "exact" }
# "as printed" = { noise = "printed" }
# ///
"""AdaSSP (Wang 2018, algorithm 2): ridge regression from noisy X'X, X'y and smallest eigenvalue of X'X.

Rows x of X hold an intercept and are divided by their public bound, so |x| <= 1 and x >= 0; rows y have |y| <= 1.
Add or remove a record: X'X moves by xx', whose triangle has norm at most |x|^2 <= 1; its eigenvalues by at most the
largest of xx' (Weyl), 1; X'y by xy', of norm |x||y| <= 1.
Replace (x, y) by (z, w): X'X moves by xx' - zz', of squared norm |x|^4 + |z|^4 - 2(xz)^2 <= 2, and its eigenvalues lie
within [-|z|^2, |x|^2], so the smallest one of X'X still moves by at most 1; X'y by at most 2. One-hot y: the squared
norm of xy' - zw' is |x|^2 + |z|^2 - 2(xz)(yw) <= 2, for xz >= 0 and yw >= 0.
Each is released with normal noise of `multiplier` times its sensitivity: together one Gaussian of mu = sqrt(3) /
multiplier, converted exactly. "as printed" takes the paper's multiplier instead, from three times (eps/3, delta/3).
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import (
    Columns,
    Floats,
    Neighbours,
    Predict,
    Promise,
    Task,
    norm_bound,
    two_columns,
    unit_features,
)

RELEASES: Final = 3
FAILS: Final = 0.05
"""The paper's rho: how often its bound on the noise of X'X may fail. It is about accuracy, not privacy."""

LEAST: Final = 0.02
"""No class gets a lower probability before they are made to sum to 1: a score beyond its bounds is not certainty."""


@dataclass(frozen=True)
class Sensitivities:
    """L2, of X'X (its upper triangle), of X'Y, and of the smallest eigenvalue of X'X."""

    gram: float
    cross: float
    least: float = 1.0


def sensitivities(neighbours: Neighbours, one_hot: bool) -> Sensitivities:
    """Of rows of norm at most 1; the docstring of this module says why. one_hot: rows y are non-negative."""
    if neighbours == "add-remove-one":
        return Sensitivities(1.0, 1.0)
    return Sensitivities(math.sqrt(2.0), math.sqrt(2.0) if one_hot else 2.0)


def delta_of(mu: float, epsilon: float) -> float:
    """The least delta for which a Gaussian of sensitivity mu standard deviations keeps (epsilon, delta)."""
    shift = epsilon / mu
    return _normal(0.5 * mu - shift) - math.exp(epsilon) * _normal(-0.5 * mu - shift)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu whose Gaussian keeps (epsilon, delta). Raises ValueError where delta is not within (0, 1)."""
    if not 0.0 < delta < 1.0:
        raise ValueError(f"a Gaussian needs delta within (0, 1), not {delta}")
    low, high = 0.0, 1.0
    while delta_of(high, epsilon) <= delta:
        low, high = high, 2.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def printed_multiplier(epsilon: float, delta: float) -> float:
    """The paper's sqrt(log(6/delta)) / (epsilon/3). Raises ValueError where three such releases break the promise.

    That noise is too little for (epsilon/3, delta/3) each by the usual bound, but the three together are one Gaussian.
    """
    multiplier = math.sqrt(math.log(6.0 / delta)) / (epsilon / RELEASES)
    if delta_of(math.sqrt(RELEASES) / multiplier, epsilon) > delta:
        raise ValueError(f"the paper's noise does not keep epsilon = {epsilon}, delta = {delta}: ask for less epsilon")
    return multiplier


def features(task: Task, records: Columns) -> Floats:
    """An intercept and `unit_features`, divided by the public bound of their norm: shape (n, d), no row above 1."""
    X = unit_features(task.columns, records)
    bound = math.hypot(1.0, norm_bound(task.columns))
    return np.column_stack([np.ones(len(X)), X]) / bound


def targets(task: Task) -> Floats:
    """Shape (n, 1): labels within [-1, 1] by their bounds, or classes as -1 and 1; or one-hot, (n, classes)."""
    if task.kind == "multi-class":
        return np.asarray(task.labels[:, None] == np.arange(task.classes), dtype=np.float64)
    lower, upper = task.label_bounds if task.kind == "regression" else (0.0, 1.0)
    labels = np.clip(np.asarray(task.labels, dtype=np.float64), lower, upper)
    return np.asarray(2.0 * (labels - lower) / (upper - lower) - 1.0)[:, None]


def noisy_gram(gram: Floats, multiplier: float, moved: Sensitivities, delta: float, rng: np.random.Generator) -> Floats:
    """X'X with noise and the ridge that the paper chooses from its smallest eigenvalue, released: two releases."""
    d = len(gram)
    sigma, tail = multiplier * moved.gram, math.sqrt(math.log(6.0 / delta))
    least = float(np.linalg.eigvalsh(gram)[0]) + multiplier * moved.least * (float(rng.normal()) - tail)
    ridge = max(0.0, sigma * math.sqrt(d * math.log(2.0 * d * d / FAILS)) - max(0.0, least))
    upper = np.triu(rng.normal(scale=sigma, size=(d, d)))
    return np.asarray(gram + upper + np.triu(upper, 1).T + ridge * np.eye(d))


def predictor(task: Task, theta: Floats) -> Predict:
    """From coefficients, shape (d, targets), on the scale of `targets`."""

    def predict(records: Columns) -> npt.NDArray[Any]:
        scores = features(task, records) @ theta
        if task.kind == "multi-class":
            shares = _squashed(2.0 * scores - 1.0)
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        unit = 0.5 * (1.0 + scores[:, 0])
        if task.kind == "binary":
            return two_columns(_squashed(scores[:, 0]))
        lower, upper = task.label_bounds
        return np.asarray(lower + (upper - lower) * np.clip(unit, 0.0, 1.0))

    return predict


def _squashed(scores: Floats) -> Floats:
    """From −1 … 1 and beyond to within (LEAST, 1 − LEAST), rising: cut off at both ends there would be ties in AUC."""
    return np.asarray(0.5 + (0.5 - LEAST) * np.tanh(scores), dtype=np.float64)


def fit(task: Task, promise: Promise, noise: str = "exact") -> Predict:
    """noise: "exact" or "printed". Raises ValueError where the printed noise does not keep the promise."""
    rng = np.random.default_rng(promise.seed)
    moved = sensitivities(promise.neighbours, one_hot=task.kind == "multi-class")
    if noise == "printed":
        multiplier = printed_multiplier(promise.epsilon, promise.delta)
    else:
        multiplier = math.sqrt(RELEASES) / mu_of(promise.epsilon, promise.delta)
    X, Y = features(task, task.train), targets(task)
    gram = noisy_gram(X.T @ X, multiplier, moved, promise.delta, rng)
    cross = X.T @ Y + rng.normal(scale=multiplier * moved.cross, size=(X.shape[1], Y.shape[1]))
    return predictor(task, np.asarray(np.linalg.solve(gram, cross), dtype=np.float64))
