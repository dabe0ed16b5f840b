# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "interpret-core==0.7.8", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "pandas==3.1.1",
# ]
#
# [tool.leaderboard]
# name = "DP-EBM (interpret)"
# tasks = ["binary", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# counts = true
# released = "its own package"
# reads = "which categories and classes occur; the number of records, in the widths of bins"
#
# [tool.leaderboard.refuted]
# regression = "residuals are never clipped, while the noise is for residuals within the labels' range"
#
# [tool.leaderboard.variants]
# "defaults" = {}
# "rate 0.1" = { learning_rate = 0.1 }
# "defaults, classic" = { composition = "classic" }
# ///
"""interpret's DP-EBM with public types and bounds; a warning that it looks at more is an error.

It spends a tenth of ε on bins and the rest on boosting, half of δ on each, and both are Gaussian noise on sums: added
up, each is one Gaussian mechanism, and only the rule for its noise depends on `composition`. A record replaced moves
those sums at most twice as far as one more or less, so "replace-one" tells it an ε that at least doubles all noise.

In a regression it starts from 0 and never clips a residual, while its noise is for residuals as large as the labels'
range. So it is fed labels around the middle of their bounds: without that, labels far from 0 would break its promise
in the first round. Its promise then holds for as long as its noisy scores stay within half the range of the middle.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Column, Columns, Predict, Promise, Task, logistic, two_columns

PARTS: Final = (0.1, 0.9)
"""Shares of ε of bins and boosting."""


def fit(task: Task, promise: Promise, learning_rate: float = 0.01, composition: str = "gdp") -> Predict:
    """One core. Raises ValueError where its noise would not keep to the promise by the exact curve."""
    epsilon = told(promise, composition)
    common = {
        "feature_types": ["continuous" if column.numeric else "nominal" for column in task.columns],
        "privacy_bounds": {
            place: (column.lower, column.upper) for place, column in enumerate(task.columns) if column.numeric
        },
        "epsilon": epsilon,
        "delta": promise.delta,
        "composition": composition,
        "learning_rate": learning_rate,
        "random_state": promise.seed,
        "n_jobs": 1,
    }
    return (_regression if task.kind == "regression" else _binary)(task, common)


def _binary(task: Task, common: dict[str, Any]) -> Predict:
    from interpret.privacy import DPExplainableBoostingClassifier

    model = DPExplainableBoostingClassifier(**common)
    _fitted(model, task, task.labels)
    classes = [int(found) for found in model.classes_]
    if len(classes) < 2:
        return lambda records: np.tile(np.eye(2)[classes[0]], (len(_frame(task.columns, records)), 1))

    def predict(records: Columns) -> npt.NDArray[Any]:
        scores = np.nan_to_num(model.decision_function(_frame(task.columns, records)), posinf=500.0, neginf=-500.0)
        return two_columns(logistic(scores))

    return predict


def _regression(task: Task, common: dict[str, Any]) -> Predict:
    from interpret.privacy import DPExplainableBoostingRegressor

    lower, upper = task.label_bounds
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    model = DPExplainableBoostingRegressor(**common, privacy_target_min=-half, privacy_target_max=half)
    _fitted(model, task, np.clip(task.labels - middle, -half, half))

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = np.nan_to_num(model.predict(_frame(task.columns, records)), posinf=half, neginf=-half)
        return np.asarray(np.clip(found + middle, lower, upper))

    return predict


def _fitted(model: Any, task: Task, labels: npt.NDArray[Any]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*[Pp]rivacy violation")
        warnings.filterwarnings("ignore", message="Privacy violation: using a fixed random_state")
        model.fit(_frame(task.columns, task.train), labels)


def _frame(columns: tuple[Column, ...], records: Columns) -> Any:
    """A frame of the columns as they are: numbers within their public bounds, categories as text."""
    import pandas as pd

    values = {
        column.name: np.clip(records[column.name], column.lower, column.upper)
        if column.numeric
        else records[column.name]
        for column in columns
    }
    return pd.DataFrame(values)


# --- what it is told ------------------------------------------------------------------------------------------------


def told(promise: Promise, composition: str) -> float:
    """The ε to give it, at the promise's δ."""
    rule, delta = {"gdp": gaussian_mu, "classic": classic_mu}[composition], 0.5 * promise.delta
    for part in PARTS:
        spent = rule(part * promise.epsilon, delta)
        if gaussian_delta(part * promise.epsilon, spent) > delta * (1.0 + 1e-9):
            raise ValueError(f"its rule {composition!r} adds too little noise for {part * promise.epsilon, delta}")
    if promise.neighbours == "add-remove-one":
        return promise.epsilon
    return min(_halved(rule, part * promise.epsilon, delta) / part for part in PARTS)


def _halved(rule: Callable[[float, float], float], epsilon: float, delta: float) -> float:
    """The largest ε at which the rule adds twice the noise that it adds at this one."""
    most = 0.5 * rule(epsilon, delta)
    return _largest(lambda smaller: rule(smaller, delta) <= most, epsilon)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The δ of a Gaussian mechanism whose sensitivity is μ standard deviations, at this ε; exact."""
    from scipy.special import log_ndtr

    far, near = -0.5 * mu - epsilon / mu, 0.5 * mu - epsilon / mu
    return math.exp(log_ndtr(near)) - math.exp(epsilon + log_ndtr(far))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ that keeps to (ε, δ): the rule "gdp"."""
    return _largest(lambda mu: gaussian_delta(epsilon, mu) <= delta, 1000.0)


def classic_mu(epsilon: float, delta: float) -> float:
    """The μ of all its sums together by the rule "classic", whose variance is 8 k ln(e + ε/δ) / ε² for k sums."""
    return epsilon / math.sqrt(8.0 * math.log(math.e + epsilon / delta))


def _largest(keeps: Callable[[float], bool], above: float) -> float:
    """Between 0 and `above`, the largest number that keeps to something which only smaller ones keep to."""
    low, high = 0.0, above
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
