# /// script
# requires-python = ">=3.11"
# dependencies = ["diffprivlib==0.6.6", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"]
#
# [tool.leaderboard]
# name = "logistic regression (diffprivlib)"
# tasks = ["binary", "multi-class"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "its own package"
# reads = "which classes occur"
#
# [tool.leaderboard.variants]
# "C=1" = { C = 1.0 }
# "C=0.01" = { C = 0.01 }
# ///
"""diffprivlib's logistic regression: a linear term of noise in its objective; pure ε, split evenly between classes.

Its noise follows Chaudhuri, Monteleoni and Sarwate's theorem for records of norm 1. For a norm R it takes R where the
bound on curvature needs R², and it leaves out of R the constant of its intercept, which it does not regularise either.
So it is fed rows of norm 1 with the constant among them and no intercept of its own: what is then left is the theorem.
C is as for features that were not scaled. That theorem is for a record replaced; one more or less moves less, and the
number of records cancels from what is minimised.
Its proof is about the exact minimum; it stops where the gradient is small, which nobody is charged for.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, norm_bound, unit_features


def fit(task: Task, promise: Promise, C: float) -> Predict:
    """One core; δ is left over. C: the inverse of the regularisation of features within [0, 1]."""
    from diffprivlib import BudgetAccountant
    from diffprivlib.models import LogisticRegression
    from diffprivlib.utils import PrivacyLeakWarning
    from sklearn.exceptions import ConvergenceWarning

    if np.unique(task.labels).size < 2:
        return lambda records: np.tile(np.eye(task.classes)[task.labels[0]], (len(_rows(task, records)), 1))
    model = LogisticRegression(
        epsilon=promise.epsilon,
        data_norm=1.0,
        C=C * _norm(task) ** 2,
        fit_intercept=False,
        max_iter=1000,
        n_jobs=1,
        random_state=promise.seed,
        accountant=BudgetAccountant(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # it gives scipy an argument that will go
        warnings.simplefilter("ignore", FutureWarning)  # and scikit-learn one
        model.fit(_rows(task, task.train), task.labels)

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = np.zeros((len(records[task.columns[0].name]), task.classes))
        found[:, model.classes_] = model.predict_proba(_rows(task, records))
        return found

    return predict


def _rows(task: Task, records: Columns) -> Floats:
    """Features and a constant, of a norm of at most 1 together: shape (n, features + 1)."""
    features = unit_features(task.columns, records)
    return np.column_stack([features, np.ones(len(features))]) / _norm(task)


def _norm(task: Task) -> float:
    """The bound of features and a constant 1; a little above, so that rounding clips nothing."""
    return float(np.hypot(norm_bound(task.columns), 1.0)) * (1.0 + 1e-12)
