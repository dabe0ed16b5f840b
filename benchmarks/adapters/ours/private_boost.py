# /// script
# requires-python = ">=3.11"
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "PrivateBoost"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "this project"
# reads = "nothing"
# ours = true
# ///
"""The learner that we recommend, with nothing set but its budget: `PrivateBoostClassifier`, `PrivateBoostRegressor`."""

from benchmarks.adapters.protocol import Predict, Promise, Task


def fit(task: Task, promise: Promise) -> Predict:
    """On the records as they are."""
    from benchmarks.adapters.ours._tables import label_names, schema
    from learners import PrivateBoostClassifier, PrivateBoostRegressor

    if task.kind == "regression":
        regressor = PrivateBoostRegressor(
            promise.epsilon,
            promise.delta,
            label_bounds=task.label_bounds,
            adjacency=promise.neighbours,
            schema=schema(task),
            random_state=promise.seed,
        )
        return regressor.fit(dict(task.train), task.labels).predict
    classifier = PrivateBoostClassifier(
        promise.epsilon,
        promise.delta,
        adjacency=promise.neighbours,
        schema=schema(task),
        classes=label_names(task),
        random_state=promise.seed,
    )
    return classifier.fit(dict(task.train), task.labels).predict_proba
