# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "interpret-core==0.7.8", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "pandas==3.1.1",
# ]
#
# [tool.leaderboard]
# name = "not private (EBM of interpret)"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# private = false
# heavy = true
# released = "its own package"
# reads = "everything"
# ///
"""What there is to learn without privacy, by interpret's explainable boosting at its defaults, with interactions."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Predict, Promise, Task


def fit(task: Task, promise: Promise) -> Predict:
    """One core; ε and δ are ignored."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    types = ["continuous" if column.numeric else "nominal" for column in task.columns]
    made = ExplainableBoostingRegressor if task.kind == "regression" else ExplainableBoostingClassifier
    model = made(feature_types=types, random_state=promise.seed, n_jobs=1)
    if task.kind != "regression" and np.unique(task.labels).size < 2:
        return lambda records: np.tile(np.eye(task.classes)[task.labels[0]], (len(_frame(task, records)), 1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Interactions with 3 or more terms|Detected multiclass problem")
        model.fit(_frame(task, task.train), task.labels)

    def predict(records: Columns) -> npt.NDArray[Any]:
        frame = _frame(task, records)
        if task.kind == "regression":
            return np.asarray(model.predict(frame), dtype=np.float64)
        found = np.zeros((len(frame), task.classes))
        found[:, [int(number) for number in model.classes_]] = model.predict_proba(frame)
        return found

    return predict


def _frame(task: Task, records: Columns) -> Any:
    import pandas as pd

    return pd.DataFrame({column.name: records[column.name] for column in task.columns})
