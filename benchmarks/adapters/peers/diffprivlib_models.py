# /// script
# requires-python = ">=3.11"
# dependencies = ["diffprivlib==0.6.6", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"]
#
# [tool.leaderboard]
# name = "diffprivlib"
# tasks = ["binary", "multi-class"]
# neighbours = ["replace-one"]
# released = "its own package"
# reads = "the number of records, which replace-one makes public; naive Bayes: which classes occur"
#
# [tool.leaderboard.variants]
# "Gaussian naive Bayes" = { learner = "bayes" }
# "decision tree" = { learner = "tree" }
# "random forest, 10 trees" = { learner = "forest", trees = 10, shuffle = false }
# "random forest, 30 trees" = { learner = "forest", trees = 30, shuffle = true }
# ///
"""diffprivlib's naive Bayes, tree and forests, on columns within [0, 1] by public bounds; pure ε.

Their noise hides one record more or less in a class or in a leaf. They do not hide one more or less in the table:
forests deal records to trees by their number (one more shifts the others), and naive Bayes makes its class counts add
up to it.
A record replaced stays in its tree, leaves one leaf or class and joins another, each at full price: they are told ε/2.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, codes, unit_features


def fit(task: Task, promise: Promise, learner: str, trees: int = 10, shuffle: bool = False) -> Predict:
    """learner: "bayes", "tree" or "forest". One core; δ is left over. Raises ValueError for another promise."""
    from diffprivlib.utils import PrivacyLeakWarning

    if promise.neighbours != "replace-one":
        raise ValueError(f"it does not keep its promise under {promise.neighbours!r}")
    model = _model(task, promise, learner, trees, shuffle)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        model.fit(_unit(task, task.train), task.labels)

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = np.zeros((len(records[task.columns[0].name]), task.classes))
        found[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(_unit(task, records))
        lost = ~np.isfinite(found).all(axis=1)
        found[lost] = 1.0 / task.classes
        return found

    return predict


def _model(task: Task, promise: Promise, learner: str, trees: int, shuffle: bool) -> Any:
    """The one that is asked for; its books are its own, so that they do not grow from fit to fit."""
    from diffprivlib import BudgetAccountant
    from diffprivlib import models as theirs

    common: dict[str, Any] = {
        "epsilon": 0.5 * promise.epsilon,
        "bounds": (0.0, 1.0),
        "random_state": promise.seed,
        "accountant": BudgetAccountant(),
    }
    classes = list(range(task.classes))
    match learner:
        case "bayes":
            return theirs.GaussianNB(**common)
        case "tree":
            return theirs.DecisionTreeClassifier(classes=classes, **common)
        case _:
            return theirs.RandomForestClassifier(trees, classes=classes, shuffle=shuffle, n_jobs=1, **common)


def _unit(task: Task, records: Columns) -> Floats:
    """Columns within [0, 1], categories by their place: shape (n, columns)."""
    places = codes(task.columns, records, 2)
    unit = [
        unit_features([column], records)[:, 0] if column.numeric else place / max(1, len(column.categories) - 1)
        for column, place in zip(task.columns, places, strict=True)
    ]
    return np.column_stack(unit)
