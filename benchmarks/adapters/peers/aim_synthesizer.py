# /// script
# requires-python = ">=3.11"
# dependencies = ["smartnoise-synth==1.0.8", "torch==2.13.0", "scikit-learn==1.7.2"]
#
# [tool.leaderboard]
# name = "AIM and boosting"
# tasks = ["binary", "multi-class", "regression"]
# neighbours = ["add-remove-one"]
# released = "its own package, called past its reading of tables"
# reads = "nothing: domain, workload and settings are public, and the number of rows is estimated from noisy marginals"
#
# [tool.leaderboard.variants]
# "pairs, 2 rounds a column, 1 MB" = { pace = 2, megabytes = 1.0 }
# ///
"""A synthetic table by AIM, as smartnoise-synth has it, then scikit-learn's gradient boosting on that table.

Numbers are cut into 16 equal bins of their public bounds, a regression's labels, too, and predicted by the middles of
bins. AIM is called on coded columns with their public sizes: the package's own reading of a table takes categories and
the number of rows from the records, uncharged. Its sensitivities are those of a record added or removed.
`pace` sets how many rounds it plans for, per column, and with that its time; below 1 its first marginals alone would
take more than the budget (by reading its code). `megabytes` bounds its model. It promises by zCDP, converted to
(epsilon, delta) by OpenDP. Its noise is OpenDP's, which takes no seed, so a seed fixes its choices only in part.
"""

import contextlib
import io
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Integers, Predict, Promise, Task, cells, codes

BINS: Final = 16
DEGREE: Final = 2
MOST_CELLS: Final = 10_000
MOST_ROWS: Final = 200_000
MOST_CATEGORIES: Final = 255
"""What scikit-learn's boosting takes as categories; a column with more is read as numbers."""

LABEL: Final = "label"


def _label_codes(task: Task) -> tuple[Integers, int]:
    """Labels as codes, shape (n,), and how many codes there are."""
    if task.kind != "regression":
        return np.asarray(task.labels, dtype=np.int64), task.classes
    lower, upper = task.label_bounds
    unit = (np.clip(np.asarray(task.labels, dtype=np.float64), lower, upper) - lower) / (upper - lower)
    return np.minimum((unit * BINS).astype(np.int64), BINS - 1), BINS


def _synthesised(task: Task, promise: Promise, pace: int, megabytes: float) -> Integers:
    """The synthetic table, shape (columns + 1, rows), the label last."""
    import pandas as pd
    from mbi import Dataset, Domain  # type: ignore[import-not-found]  # it is in this adapter's environment
    from snsynth.aim import AIMSynthesizer
    from snsynth.utils import cdp_rho

    labels, classes = _label_codes(task)
    table = np.vstack([codes(task.columns, task.train, BINS), labels])
    names = [f"col{number}" for number in range(len(task.columns))] + [LABEL]
    data = Dataset(pd.DataFrame(table.T, columns=names), Domain(names, [*cells(task.columns, BINS), classes]))
    aim = AIMSynthesizer(
        epsilon=promise.epsilon, delta=promise.delta, max_model_size=megabytes, rounds=pace * len(names)
    )
    aim.rho = cdp_rho(promise.epsilon, promise.delta)
    np.random.seed(promise.seed)  # noqa: NPY002  # the package draws from numpy's global generator
    with contextlib.redirect_stdout(io.StringIO()):
        aim.AIM(data, aim.get_workload(data, degree=DEGREE, max_cells=MOST_CELLS))
    # The model's total is estimated from noisy marginals.
    rows = int(np.clip(round(float(aim.synthesizer.total)), 1, MOST_ROWS))
    return np.asarray(aim.synthesizer.synthetic_data(rows=rows).df[names], dtype=np.int64).T


def fit(task: Task, promise: Promise, pace: int = 2, megabytes: float = 1.0) -> Predict:
    """pace: planned rounds per column, at least 1.  megabytes: most of the model. Raises ValueError for pace < 1."""
    if pace < 1:
        raise ValueError(f"pace must be at least 1, not {pace}: less would take more than the budget")
    table = _synthesised(task, promise, pace, megabytes)
    sizes = cells(task.columns, BINS)
    named = [not column.numeric and size <= MOST_CATEGORIES for column, size in zip(task.columns, sizes, strict=True)]
    if task.kind == "regression":
        return _regressor(task, table, named, promise.seed)
    return _classifier(task, table, named, promise.seed)


def _regressor(task: Task, table: Integers, named: list[bool], seed: int | None) -> Predict:
    from sklearn.ensemble import HistGradientBoostingRegressor

    lower, upper = task.label_bounds
    middles = lower + (upper - lower) * (table[-1] + 0.5) / BINS
    model = HistGradientBoostingRegressor(categorical_features=named, random_state=seed).fit(table[:-1].T, middles)

    def predict(records: Columns) -> npt.NDArray[Any]:
        return np.asarray(np.clip(model.predict(codes(task.columns, records, BINS).T), lower, upper))

    return predict


def _classifier(task: Task, table: Integers, named: list[bool], seed: int | None) -> Predict:
    from sklearn.ensemble import HistGradientBoostingClassifier

    present = np.unique(table[-1])
    # A single class is nothing to learn from.
    model = None
    if present.size > 1:
        model = HistGradientBoostingClassifier(categorical_features=named, random_state=seed)
        model.fit(table[:-1].T, table[-1])

    def predict(records: Columns) -> Floats:
        X = codes(task.columns, records, BINS).T
        found = np.zeros((len(X), task.classes))
        found[:, present] = 1.0 if model is None else model.predict_proba(X)
        return found

    return predict
