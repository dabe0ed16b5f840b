# /// script
# requires-python = ">=3.11"
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "exchequer"
# tasks = ["binary"]
# neighbours = ["replace-one"]
# released = "this project"
# reads = "the number of records, which replace-one makes public"
# ours = true
#
# [tool.leaderboard.variants."boosted 1-Rules"]
# learner = "rules"
#
# [tool.leaderboard.variants."logistic regression"]
# learner = "logistic"
#
# [tool.leaderboard.variants."random forest"]
# learner = "forest"
#
# [tool.leaderboard.variants."DPBoost"]
# learner = "boosting"
#
# [tool.leaderboard.variants."random features"]
# learner = "features"
#
# [tool.leaderboard.variants."halfspaces"]
# learner = "halfspaces"
#
# [tool.leaderboard.variants."rados"]
# learner = "rados"
# ///
"""Our other classifiers, with their defaults."""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Predict, Promise, Task, norm_bound, unit_features


def estimator(task: Task, promise: Promise, learner: str) -> Any:
    """The one of that name."""
    import learners
    from benchmarks.adapters.ours._tables import label_names, schema

    common: dict[str, Any] = {
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "classes": label_names(task),
        "random_state": promise.seed,
    }
    if learner == "halfspaces":
        return learners.HalfspaceBoostClassifier(fit_intercept=True, **common)
    common["schema"], public_seed = schema(task), promise.seed or 0
    match learner:
        case "rules":
            return learners.LazyBoostClassifier(**common)
        case "logistic":
            return learners.DPLogisticRegression(**common)
        case "forest":
            return learners.DPRandomForestClassifier(seed=public_seed, **common)
        case "boosting":
            return learners.DPGradientBoostingClassifier(seed=public_seed, **common)
        case "features":
            return learners.RandomFeatureClassifier(feature_seed=public_seed, **common)
        case _:
            return learners.RadoBoostClassifier(**common)


def fit(task: Task, promise: Promise, learner: str) -> Predict:
    """On columns as they are; halfspaces, which take points of a ball, on features divided by their largest norm."""
    points = learner == "halfspaces"

    def fed(records: Columns) -> Any:
        if not points:
            return dict(records)
        return unit_features(task.columns, records) / norm_bound(task.columns)

    model = estimator(task, promise, learner).fit(fed(task.train), task.labels)

    def predict(records: Columns) -> npt.NDArray[Any]:
        if hasattr(model, "predict_proba") and learner != "rules":
            return np.asarray(model.predict_proba(fed(records)))
        return np.asarray(model.decision_function(fed(records)))

    return predict
