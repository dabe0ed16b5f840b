# /// script
# requires-python = ">=3.11"
# dependencies = ["opendp==0.16.0", "numpy==2.4.6"]
#
# [tool.leaderboard]
# name = "naive Bayes on histograms (OpenDP)"
# tasks = ["binary", "multi-class"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "a learner built from its package's measurements"
# reads = "nothing"
# ///
"""Naive Bayes on one histogram per column and label, released by one measurement of OpenDP.

What one builds from a library of measurements: records are a matrix of codes with labels as its last row; for each
column a transformation gives (code, label), OpenDP counts them, adds Gaussian noise, composes all columns under
ρ-zCDP and converts to (ε, δ) by its own rule. Its map of the whole is held against (ε, δ) before anything is
released: at a symmetric distance of 1, or of 2 where a record is replaced. Everything after that is arithmetic.
"""

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Predict, Promise, Task, cells, codes

BINS: Final = 16
"""Of equal width within the public bounds of a number."""

LEAST: Final = 0.5
"""Noisy counts below it are taken as it."""


def fit(task: Task, promise: Promise) -> Predict:
    """Release, then log-likelihoods by column, code and class. Raises ValueError where its map exceeds the promise."""
    import opendp.prelude as dp

    # "honest-but-curious" is for the choice of a column, whose stability we vouch for.
    dp.enable_features("contrib", "honest-but-curious")
    distance = 1 if promise.neighbours == "add-remove-one" else 2
    sizes = cells(task.columns, BINS)
    scale = smallest_scale(len(sizes), distance, promise)
    histograms = [histogram(place, size, task.classes, scale) for place, size in enumerate(sizes)]
    measurement = together(histograms, promise.delta)
    promised = measurement.map(distance)
    if not (promised[0] <= promise.epsilon * (1.0 + 1e-9) and promised[1] <= promise.delta):
        raise ValueError(f"it promises {promised}, above {(promise.epsilon, promise.delta)}")
    table = np.vstack([codes(task.columns, task.train, BINS), task.labels[None, :]])
    counts = [np.maximum(np.reshape(found, (-1, task.classes)), LEAST) for found in measurement(table)]
    return _predictor(task, counts)


def _predictor(task: Task, counts: list[npt.NDArray[Any]]) -> Predict:
    """From noisy counts by column, each of shape (codes, classes)."""
    classes = np.mean([count.sum(axis=0) for count in counts], axis=0)
    start = np.log(classes / classes.sum())
    likely = [np.log(count / count.sum(axis=0)) for count in counts]

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = codes(task.columns, records, BINS)
        scores = start + sum(each[column] for each, column in zip(likely, found, strict=True))
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    return predict


def histogram(place: int, size: int, classes: int, scale: float) -> Any:
    """A measurement of the matrix: noisy counts of (code, label) of one column, code by code."""
    import opendp.prelude as dp

    records = dp.user_domain("codes and labels, a column per record", _whole)
    pairs, metric = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.symmetric_distance()

    def pair(table: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        return np.asarray(table[place] * classes + table[-1], dtype=np.int32)

    chosen = dp.t.make_user_transformation(records, metric, pairs, metric, pair, lambda distance: distance)
    counts = dp.t.then_count_by_categories(
        list(range(classes * size)), null_category=False, MO=dp.L2Distance[dp.i32], TOA=dp.i32
    )
    return chosen >> counts >> dp.m.then_gaussian(scale)


def _whole(table: object) -> bool:
    return isinstance(table, np.ndarray) and table.ndim == 2


def together(measurements: list[Any], delta: float) -> Any:
    """All of them as one measurement, whose map gives (ε, δ) at this δ."""
    import opendp.prelude as dp

    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.c.make_composition(measurements)), delta)


def smallest_scale(columns: int, distance: int, promise: Promise) -> float:
    """The smallest noise at which so many histograms keep to the promise, by OpenDP's map and search."""
    import opendp.prelude as dp

    counts = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.l2_distance(T=dp.i32)

    def keeps(scale: float) -> bool:
        each = dp.m.make_gaussian(*counts, scale=scale)
        return bool(together([each] * columns, promise.delta).map(distance)[0] <= promise.epsilon)

    return float(dp.binary_search(keeps, bounds=(0.01 * math.sqrt(columns), 1e7)))
