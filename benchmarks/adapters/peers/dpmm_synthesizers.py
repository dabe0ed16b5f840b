# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "dpmm==0.1.9", "numpy==1.26.4", "pandas==2.1.0", "scikit-learn==1.5.0", "scipy==1.17.1", "opendp==0.12.1",
#     "networkx==2.8.8", "threadpoolctl==3.8.0",
# ]
#
# [tool.leaderboard]
# name = "dpmm"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one"]
# heavy = true
# released = "its own package, called past its reading of tables"
# reads = "nothing; its noise is in floating point, whose last bits are not proved to be safe"
#
# [tool.leaderboard.variants]
# "AIM of 2 rounds a column and 1 MB, then boosting" = { kind = "AIM" }
# "MST, then boosting" = { kind = "MST" }
# ///
"""A synthetic table by AIM or MST, as dpmm 0.1.9 has them, then scikit-learn's gradient boosting on that table.

Numbers are cut into 16 equal bins of their public bounds, a regression's labels, too, and predicted by the middles of
bins. dpmm's models are called on coded columns with their public sizes, past its own reading of tables. Settings are
public, and chosen for time, on some of our tables: dpmm's AIM would take 16 rounds a column and 80 MB, see
`_dpmm_models`. The number of rows is the model's own total, an estimate from noisy counts. Codes whose noisy counts are
small become one code, dpmm's default.
It promises by zCDP, converted to (epsilon, delta) by its own rule. By reading its code: a record added or removed moves
one cell of a count by 1, and by at most 1 the scores that pairs of columns are chosen by.
Its Gaussian noise is OpenDP's, which takes no seed, so a seed fixes its choices, not its noise. OpenDP's noise is exact
up to rounding, but dpmm adds it to counts in floating point, outside of what OpenDP proves.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.peers._dpmm_models import BINS, fitted, middles, names
from benchmarks.adapters.protocol import Columns, Floats, Integers, Predict, Promise, Task, codes

MOST_ROWS: Final = 200_000
MOST_CATEGORIES: Final = 255
"""What scikit-learn's boosting takes as categories; a column with more is read as numbers."""


def fit(task: Task, promise: Promise, kind: str) -> Predict:
    """kind: "AIM" or "MST". One core. Raises ValueError for a table that is too large."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    nominal = [0 < len(column.categories) <= MOST_CATEGORIES for column in task.columns]
    common = {"categorical_features": nominal, "early_stopping": False, "random_state": promise.seed}
    with threadpool_limits(1):
        table = _synthesised(task, promise, kind)
        return (_regression if task.kind == "regression" else _classification)(task, table, common)


def _synthesised(task: Task, promise: Promise, kind: str) -> Integers:
    """The synthetic table, shape (rows, columns + 1), the label last."""
    model = fitted(task, promise, kind, compress=True)
    rows = int(np.clip(model.generator.model.total, 1.0, MOST_ROWS))
    return np.asarray(model.generate(n_records=rows)[names(task)], dtype=np.int64)


def _regression(task: Task, table: Integers, common: dict[str, Any]) -> Predict:
    from sklearn.ensemble import HistGradientBoostingRegressor

    lower, upper = task.label_bounds
    model = HistGradientBoostingRegressor(**common).fit(table[:, :-1], middles()[table[:, -1]])

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = np.clip(model.predict(codes(task.columns, records, BINS).T), -1.0, 1.0)
        return np.asarray(lower + 0.5 * (upper - lower) * (1.0 + found))

    return predict


def _classification(task: Task, table: Integers, common: dict[str, Any]) -> Predict:
    from sklearn.ensemble import HistGradientBoostingClassifier

    present, model = np.unique(table[:, -1]), None
    if present.size > 1:  # a single class is nothing to learn from
        model = HistGradientBoostingClassifier(**common).fit(table[:, :-1], table[:, -1])

    def predict(records: Columns) -> Floats:
        X = codes(task.columns, records, BINS).T
        found = np.zeros((len(X), task.classes))
        found[:, present] = 1.0 if model is None else model.predict_proba(X)
        return found

    return predict
