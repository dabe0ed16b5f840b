# /// script
# requires-python = ">=3.11"
# dependencies = ["scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"]
#
# [tool.leaderboard]
# name = "not private (scikit-learn)"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# private = false
# released = "its own package"
# reads = "everything"
#
# [tool.leaderboard.variants]
# "gradient-boosted trees" = { learner = "trees" }
# "logistic or ridge regression" = { learner = "linear" }
# ///
"""What there is to learn without privacy, by scikit-learn at its defaults: trees of histograms, and linear models."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, codes, unit_features


def fit(task: Task, promise: Promise, learner: str) -> Predict:
    """learner: "trees" or "linear". One core; ε and δ are ignored."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    trees = learner == "trees"
    model = _trees(task, promise) if trees else _linear(task)
    features = _plain if trees else _unit
    if task.kind != "regression" and np.unique(task.labels).size < 2:
        return lambda records: np.tile(np.eye(task.classes)[task.labels[0]], (len(features(task, records)), 1))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="lbfgs failed to converge")
        model.fit(features(task, task.train), task.labels)

    def predict(records: Columns) -> npt.NDArray[Any]:
        with threadpool_limits(1):
            if task.kind == "regression":
                return np.asarray(model.predict(features(task, records)), dtype=np.float64)
            found = np.zeros((len(features(task, records)), task.classes))
            found[:, model.classes_] = model.predict_proba(features(task, records))
            return found

    return predict


def _trees(task: Task, promise: Promise) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    # It takes at most 255 categories; more are left as numbers, in the order of the public schema.
    nominal = [0 < len(column.categories) <= 255 for column in task.columns]
    made = HistGradientBoostingRegressor if task.kind == "regression" else HistGradientBoostingClassifier
    return made(categorical_features=nominal, random_state=promise.seed)


def _linear(task: Task) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return Ridge() if task.kind == "regression" else LogisticRegression(max_iter=1000)


def _plain(task: Task, records: Columns) -> Floats:
    """Numbers as they are, categories by their place: shape (n, columns)."""
    places = codes(task.columns, records, 2)
    return np.column_stack(
        [records[column.name] if column.numeric else place for column, place in zip(task.columns, places, strict=True)]
    ).astype(np.float64)


def _unit(task: Task, records: Columns) -> Floats:
    return unit_features(task.columns, records)
