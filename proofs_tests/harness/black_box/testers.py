"""Where to look for a loss: scores of outputs, learnt from a part of the draws, whose half-lines are tested on others.

Beside those of `proofs_tests.harness.statistical`: a classifier of vectors, and the low-order bits of floats.
"""

import functools
import itertools
from typing import Final

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from accountant.arrays import FloatArray
from proofs_tests.harness.statistical import AXES, Named, Score

SCALES: Final = (1.0, 100.0, 2.0**12, 2.0**30)
"""Fractions of outputs times these are looked at: digits behind the point, and bits behind it."""

WIDEST: Final = 64
"""Outputs of more numbers are too many for a classifier of some thousand draws."""

FEW: Final = 8
"""Differences are looked at of outputs of at most so many numbers."""

LARGEST: Final = 1e37
"""Trees compare in single precision."""

LEAST: Final = 30
"""Draws on each data set that a classifier learns from, at least."""


def classifier(first: FloatArray, second: FloatArray) -> list[Score]:
    """The log-odds of a decision tree that tells the two apart; none for single numbers.

    It splits by numbers and, of outputs of at most 8, by their differences, in which noise that was used twice cancels.
    first, second: finite outputs, shape (k, d) each.
    """
    if not 2 <= first.shape[1] <= WIDEST or len(first) < LEAST:
        return []
    tree = DecisionTreeClassifier(max_leaf_nodes=32, min_samples_leaf=max(5, len(first) // 50), random_state=0)
    tree.fit(_and_differences(np.vstack([first, second])), np.repeat([1, 0], [len(first), len(second)]))
    return [Named("log-odds by a decision tree", functools.partial(_log_odds, tree))]


def _log_odds(tree: DecisionTreeClassifier, rows: FloatArray) -> FloatArray:
    chances = tree.predict_proba(_and_differences(rows))
    return np.asarray(np.log(chances[:, 1] + 1e-9) - np.log(chances[:, 0] + 1e-9), dtype=np.float64)


def _and_differences(rows: FloatArray) -> FloatArray:
    if rows.shape[1] > FEW:
        return rows
    pairs = itertools.combinations(range(rows.shape[1]), 2)
    with np.errstate(over="ignore"):
        apart = [np.clip(rows[:, one] - rows[:, other], -LARGEST, LARGEST) for one, other in pairs]
    return np.column_stack([np.clip(rows, -LARGEST, LARGEST), *apart])


def low_bits(first: FloatArray, second: FloatArray) -> list[Score]:
    """What the last bits and digits of floats say, coordinate by coordinate, after Mironov 2012.

    Noise that is added in floating point leaves a value's own bits visible below its own size; so does a value that
    was rounded when its noise was, and its noise alone. Shapes as for `classifier`.
    """
    if first.shape[1] > AXES:
        return []
    return [score for column in range(first.shape[1]) for score in _of_column(column)]


def _of_column(column: int) -> list[Score]:
    return [
        Named(f"log2 of the lowest bit of number {column}", functools.partial(_lowest_bit, column)),
        *(
            Named(f"fraction of number {column} times {scale:g}", functools.partial(_fraction, column, scale))
            for scale in SCALES
        ),
    ]


def _lowest_bit(column: int, rows: FloatArray) -> FloatArray:
    """log2 of the lowest bit that is set in each number; of 0 below all others."""
    mantissas, exponents = np.frexp(rows[:, column])
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1)) + exponents - 53
    return np.where(whole > 0, lowest, -2000.0)


def _fraction(column: int, scale: float, rows: FloatArray) -> FloatArray:
    """What is behind the point of each number times the scale, in [0, 1)."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = rows[:, column] * scale
        return np.nan_to_num(scaled - np.floor(scaled), nan=0.0)
