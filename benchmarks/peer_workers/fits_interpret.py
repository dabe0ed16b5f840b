"""interpret's DP-EBM with public types and bounds; a warning that it looks at more is an error."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peer_workers.serve import Arrays, Floats, Job, serve_fits


def imports() -> None:
    """The package."""


def load(arrays: Arrays) -> dict[str, Any]:
    """A frame of the columns as they are: numbers within their public bounds, categories as text."""
    import pandas as pd

    names = [str(name) for name in arrays["names"]]
    public = zip(names, arrays["numeric"], arrays["lower"], arrays["upper"], strict=True)
    return {
        "frame": pd.DataFrame({name: arrays[f"column:{name}"] for name in names}),
        "types": ["continuous" if number else "nominal" for number in arrays["numeric"]],
        "bounds": {name: (float(low), float(high)) for name, number, low, high in public if number},
        "signs": arrays["signs"],
    }


def fit(fed: dict[str, Any], job: Job) -> Callable[[dict[str, Any]], Floats]:
    """One job, one core. The job's "told" is the ε that it is given."""
    from interpret.privacy import DPExplainableBoostingClassifier

    model = DPExplainableBoostingClassifier(
        feature_types=fed["types"],
        privacy_bounds=fed["bounds"],
        epsilon=job["told"],
        delta=job["delta"],
        learning_rate=job["learning_rate"],
        random_state=job["seed"],
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Possible privacy violation")
        warnings.filterwarnings("ignore", message="Privacy violation: using a fixed random_state")
        model.fit(fed["frame"], fed["signs"])
    return lambda other: np.asarray(model.decision_function(other["frame"]), dtype=np.float64)


if __name__ == "__main__":
    serve_fits(load, fit, imports)
