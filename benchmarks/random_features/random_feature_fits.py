"""What the tables of 004 share: its noise, its fits without privacy, errors, and how they are averaged.

Features have length 1: those of 004, Algorithm 1 over √N, those of its code, √(2/N)·cos, over √2. Errors are mean
squared ones. Where noise is added to coefficients and nothing is cut afterwards, its share of the error is σ²·mean|φ|²
on average, exactly [004-eq9]; tables add that instead of drawing.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from accountant.arrays import FloatArray, IntArray
from benchmarks.runner import Cell, Measured
from learners import Published, RandomFeatureMap, RandomFeatureRegressor
from learners.random_features import FeatureMap, min_norm
from learners.tables import Values

DELTA: Final = 1e-5
"""δ of every experiment of 004."""

PRINTED_SCALE: Final = math.sqrt(40.0)
"""Deviation of frequencies as printed, σ² = 40."""

CODE_SCALE: Final = 40.0
"""The same in the authors' code, which takes scale = 2·γ, γ = 20, for the deviation."""

NEVER: Final = "none"
"""Where no ε is true."""

Errors = dict[str, list[float]]
"""One for each repetition, by contender."""


def code_sigma(number: int, epsilon: float) -> float:
    """The code's σ, for N features of length 1 and labels as they are."""
    return Published(code=True).sigma(number, epsilon, DELTA)[0]


def printed_sigma(number: int, epsilon: float) -> float:
    """The printed σ, for features of length 1 and labels over their norm."""
    return Published().sigma(number, epsilon, DELTA)[0]


def mapped(feature_map: FeatureMap, number: int, inputs: int, scale: float, seed: int) -> RandomFeatureMap:
    """Gaussian frequencies."""
    return RandomFeatureMap("gaussian", feature_map, inputs, number, scale, seed)


def grouped(points: FloatArray) -> tuple[IntArray, IntArray]:
    """A record of each of the k different points, shape (k,), and which of them every record has, shape (m,)."""
    _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
    return first, np.ravel(group)


def distinct(rows: FloatArray, targets: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows of different points, with the mean of their targets: what min-norm least squares interpolates.

    rows: shape (m, D).  points: shape (m, d), which the rows are features of.
    """
    first, group = grouped(points)
    return rows[first], np.bincount(group, targets) / np.bincount(group)


def interpolated(rows: FloatArray, targets: FloatArray, points: FloatArray) -> FloatArray:
    """Min-norm coefficients, shape (D,): equal points share the mean of their targets. As many features as records."""
    return min_norm(*distinct(rows, targets, points))


def mse(predictions: FloatArray, labels: FloatArray) -> float:
    """Mean squared error."""
    return float(np.mean((predictions - labels) ** 2))


def noise_share(rows: FloatArray, sigma: float) -> float:
    """What N(0, σ²) on every coefficient adds to the error, on average."""
    return sigma**2 * float(np.mean(np.sum(rows**2, axis=1)))


def fitted_error(
    model: RandomFeatureRegressor,
    train: tuple[Mapping[str, Values] | FloatArray, FloatArray],
    test: tuple[Mapping[str, Values] | FloatArray, FloatArray],
) -> float:
    """The test error of a model that is fitted here. train, test: inputs and labels."""
    return mse(model.fit(*train).predict(test[0]), test[1])


def averaged(values: Sequence[float], printed: float | None = None, *, unit: str = "") -> Measured:
    """Mean and deviation of errors, which may be of any size; printed: what 004 has for it."""
    return Measured.mean(values, printed, unit=unit, form=".3g")


def row(name: str, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Of a table."""
    return (name, *cells)


def count(number: int, what: str) -> str:
    """In words, for titles."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def best(errors: Errors, names: Sequence[str]) -> str:
    """The name of least mean error: a choice in hindsight that nobody pays for, in favour of whom it is made for."""
    return min(names, key=lambda name: statistics.fmean(errors[name]))
