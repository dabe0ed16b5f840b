"""diffprivlib's classifiers, told what is public; a warning that they look at more is an error."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peer_workers.serve import Arrays, Floats, Job, serve_fits


def imports() -> None:
    """The package."""


def load(arrays: Arrays) -> dict[str, Any]:
    """Boolean features with their norm, columns within [0, 1], and labels 0 and 1."""
    return {
        "Boolean": arrays["one_hot"].astype(np.float64),
        "unit": arrays["unit"],
        "norm": float(arrays["norm"]),
        "labels": (arrays["signs"] > 0).astype(np.int64),
    }


def model(fed: dict[str, Any], job: Job) -> Any:
    """The one that the job names; its books are its own, so that they do not grow from fit to fit."""
    from diffprivlib import BudgetAccountant
    from diffprivlib import models as theirs

    common = {"epsilon": job["epsilon"], "random_state": job["seed"], "accountant": BudgetAccountant()}
    match job["learner"]:
        case "LogisticRegression":
            return theirs.LogisticRegression(data_norm=fed["norm"], C=job["C"], max_iter=1000, **common)
        case "GaussianNB":
            return theirs.GaussianNB(bounds=(0.0, 1.0), **common)
        case _:
            # Its trees compare labels with places in `classes`: with any other labels they would count nothing.
            forest = theirs.RandomForestClassifier
            return forest(job["trees"], bounds=(0.0, 1.0), classes=[0, 1], shuffle=job["shuffle"], n_jobs=1, **common)


def fit(fed: dict[str, Any], job: Job) -> Callable[[dict[str, Any]], Floats]:
    """On Boolean features for logistic regression, else on columns within [0, 1]."""
    from diffprivlib.utils import PrivacyLeakWarning
    from sklearn.exceptions import ConvergenceWarning

    form = "Boolean" if job["learner"] == "LogisticRegression" else "unit"
    found = model(fed, job)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # it gives scipy an argument that will go
        found.fit(fed[form], fed["labels"])

    def scores(other: dict[str, Any]) -> Floats:
        if hasattr(found, "decision_function"):
            return np.asarray(found.decision_function(other[form]), dtype=np.float64)
        likely = (found.predict_proba if job["learner"] == "forest" else found.predict_log_proba)(other[form])
        return np.asarray(likely[:, 1] - likely[:, 0], dtype=np.float64)

    return scores


if __name__ == "__main__":
    serve_fits(load, fit, imports)
