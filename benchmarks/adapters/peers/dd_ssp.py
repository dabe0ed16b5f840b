# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "dpmm==0.1.9", "numpy==1.26.4", "pandas==2.1.0", "scikit-learn==1.5.0", "scipy==1.17.1", "opendp==0.12.1",
#     "networkx==2.8.8", "threadpoolctl==3.8.0",
# ]
#
# [tool.leaderboard]
# name = "DD-SSP over AIM of 2 rounds a column and 1 MB"
# tasks = ["binary", "regression"]
# neighbours = ["add-remove-one"]
# heavy = true
# released = "a reimplementation from the paper, over dpmm's AIM"
# reads = "nothing; its noise is in floating point, whose last bits are not proved to be safe"
# ///
"""DD-SSP (Ferrando and Sheldon 2025, arXiv 2405.15002): X'X and X'y from marginals that AIM releases.

AIM's workload is all pairs of columns. The marginals of its model, with the middles of bins for numbers within [-1, 1],
give X'X and X'y exactly; what follows uses no data. A regression is least squares. For labels y of -1 and 1 the
logarithm of the logistic function at s = y x'theta is replaced by its Chebyshev approximation a + b s + c s^2 on
[-6, 6]; the log-likelihood is then quadratic, and greatest at -b / 2c times the coefficients of least squares.
The authors' code uses the coefficients of Chebyshev's polynomials in s / 6 as if they were those of powers of s, which
makes its log-odds a third of these and leaves their order; here they are converted. It has no intercept, which tables
of numbers alone need: here is one. AIM's settings are those of `_dpmm_models`, which take less time than the authors'
16 rounds a column, 1,000 steps and 200 MB, and no codes are joined.
AIM's Gaussian noise is OpenDP's, which takes no seed, so a seed fixes its choices, not its noise.
"""

import itertools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.peers._dpmm_models import fitted, middles, names
from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, logistic, two_columns, unit_features

HALF_WIDTH: Final = 6.0
"""Of the interval of the approximation, as in the authors' code."""

RIDGE: Final = 1e-6
"""Times the number of records by the model, so that categories which it does not have at all get no coefficient."""


def fit(task: Task, promise: Promise) -> Predict:
    """One core. Raises ValueError for a table that is too large."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    with threadpool_limits(1):
        gram = _gram(task, fitted(task, promise, "AIM", compress=False).generator.model)
    XX, Xy = gram[:-1, :-1], gram[:-1, -1]
    theta = np.linalg.solve(XX + RIDGE * XX[0, 0] * np.eye(len(XX)), Xy)
    lower, upper = task.label_bounds

    def predict(records: Columns) -> npt.NDArray[Any]:
        scores = _features(task, records) @ theta
        if task.kind == "binary":
            return two_columns(logistic(logistic_scale() * scores))
        return np.asarray(lower + 0.5 * (upper - lower) * (1.0 + np.clip(scores, -1.0, 1.0)))

    return predict


def logistic_scale() -> float:
    """What coefficients of least squares are multiplied by, -b / 2c of the approximation."""
    from numpy.polynomial import Chebyshev, Polynomial

    window = [-HALF_WIDTH, HALF_WIDTH]
    nearest = Chebyshev.interpolate(lambda s: -np.logaddexp(0.0, -s), 2, domain=window)
    _, b, c = map(float, nearest.convert(kind=Polynomial, domain=[-1, 1]).coef)
    return -b / (2.0 * c)


def _gram(task: Task, model: Any) -> Floats:
    """(X y)'(X y) by the model, whose first column is the intercept."""
    columns, maps = names(task), _maps(task)
    ends = np.cumsum([1, *(each.shape[1] for each in maps)])
    places = [slice(start, end) for start, end in itertools.pairwise(ends)]
    found = np.zeros((ends[-1], ends[-1]))
    found[0, 0] = model.total
    for (a, name), place in zip(enumerate(columns), places, strict=True):
        counts = model.project((name,)).datavector()
        found[0, place] = found[place, 0] = counts @ maps[a]
        found[place, place] = maps[a].T @ (counts[:, None] * maps[a])
    for a, b in itertools.combinations(range(len(columns)), 2):
        pairs = model.project((columns[a], columns[b])).datavector(flatten=False)
        block = maps[a].T @ pairs @ maps[b]
        found[places[a], places[b]], found[places[b], places[a]] = block, block.T
    return found


def _maps(task: Task) -> list[Floats]:
    """From a column's codes to its features, shape (codes, features), the label last."""
    found = [middles()[:, None] if column.numeric else np.eye(len(column.categories))[:, 1:] for column in task.columns]
    return [*found, middles()[:, None] if task.kind == "regression" else np.array([[-1.0], [1.0]])]


def _features(task: Task, records: Columns) -> Floats:
    """An intercept, numbers within [-1, 1] as they are, a feature for each category but the first: shape (n, d)."""
    found = [np.ones((len(records[task.columns[0].name]), 1))]
    for column in task.columns:
        unit = unit_features([column], records)
        found.append(2.0 * unit - 1.0 if column.numeric else unit[:, 1:])
    return np.hstack(found)
