# /// script
# requires-python = ">=3.11"
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "PrivateBoost, tuned and charged"
# tasks = ["binary", "multi-class"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "this project"
# reads = "nothing"
# ours = true
# heavy = true
# ///
"""The recommended learner with its settings chosen privately, by noisy counts of records that are classified right.

Twice as many fits as settings, in expectation; the best is released, and the choice is charged within (ε, δ).
"""

from typing import Final

from benchmarks.adapters.protocol import Predict, Promise, Task

SETTINGS: Final = (
    {"rounds_per_column": 4, "interactions": ()},
    {"rounds_per_column": 8, "interactions": ()},
    {"rounds_per_column": 8, "interactions": "auto"},
)
"""Public. The last is the default."""


def fit(task: Task, promise: Promise) -> Predict:
    """On the records as they are."""
    from benchmarks.adapters.ours._tables import label_names, schema
    from learners import PrivateBoostClassifier

    classifier = PrivateBoostClassifier(
        promise.epsilon,
        promise.delta,
        adjacency=promise.neighbours,
        tune=SETTINGS,
        schema=schema(task),
        classes=label_names(task),
        random_state=promise.seed,
    )
    return classifier.fit(dict(task.train), task.labels).predict_proba
