# /// script
# requires-python = ">=3.11"
# dependencies = ["lightgbm==4.7.0", "numpy==2.4.6", "scipy==1.17.1"]
#
# [tool.leaderboard]
# name = "not private (LightGBM)"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one", "replace-one"]
# private = false
# released = "its own package"
# reads = "everything"
# ///
"""What there is to learn without privacy, by LightGBM at its defaults: 100 rounds of 31 leaves at rate 0.1."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Kind, Predict, Promise, Task, codes, two_columns

OBJECTIVES: Final[dict[Kind, str]] = {"binary": "binary", "multi-class": "multiclass", "regression": "regression"}


def fit(task: Task, promise: Promise) -> Predict:
    """One core; ε and δ are ignored."""
    import lightgbm

    nominal = [place for place, column in enumerate(task.columns) if not column.numeric]
    options = {"objective": OBJECTIVES[task.kind], "num_threads": 1, "verbosity": -1}
    if task.kind == "multi-class":
        options["num_class"] = task.classes
    if promise.seed is not None:
        options["seed"] = promise.seed
    data = lightgbm.Dataset(_plain(task, task.train), task.labels, categorical_feature=nominal)
    model = lightgbm.train(options, data)

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = np.asarray(model.predict(_plain(task, records), num_threads=1), dtype=np.float64)
        return two_columns(found) if task.kind == "binary" else found

    return predict


def _plain(task: Task, records: Columns) -> Floats:
    """Numbers as they are, categories by their place: shape (n, columns)."""
    places = codes(task.columns, records, 2)
    return np.column_stack(
        [records[column.name] if column.numeric else place for column, place in zip(task.columns, places, strict=True)]
    ).astype(np.float64)
