# /// script
# requires-python = ">=3.11"
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "RandomFeatureRegressor"
# tasks = ["regression"]
# neighbours = ["replace-one"]
# released = "this project"
# reads = "the number of records, which replace-one makes public"
# ours = true
# ///
"""Our other regressor, with its defaults."""

from benchmarks.adapters.protocol import Predict, Promise, Task


def fit(task: Task, promise: Promise) -> Predict:
    """On the records as they are."""
    from benchmarks.adapters.ours._tables import schema
    from learners import RandomFeatureRegressor

    model = RandomFeatureRegressor(
        promise.epsilon,
        promise.delta,
        label_bounds=task.label_bounds,
        schema=schema(task),
        feature_seed=promise.seed or 0,
        random_state=promise.seed,
    )
    return model.fit(dict(task.train), task.labels).predict
