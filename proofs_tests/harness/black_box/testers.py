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

SCALES: Final = (*(10.0**k for k in range(13)), *(2.0**k for k in range(1, 41)))
"""Fractions of outputs times these are looked at: digits behind the point, and bits behind it."""

FRACTIONS: Final = tuple((centred, scale) for centred in (False, True) for scale in SCALES)
"""Whether the distance to the nearest whole is meant, and the scale."""

BEST: Final = 4
"""Of these, so many are tested of each number: those in which the draws differ most."""

CHOOSING: Final = 500
"""Draws on each data set that say which."""

BINS: Final = 64
"""Of the histograms that are compared."""

DIGITS: Final = 15
"""Floats hold at least so many decimal digits."""

WIDEST: Final = 64
"""Outputs of more numbers are too many for a classifier of some thousand draws."""

FEW: Final = 8
"""Differences are looked at of outputs of at most so many numbers."""

LARGEST: Final = 1e30
"""Trees compare in single precision, and sum what they compare."""

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
        return np.clip(rows, -LARGEST, LARGEST)
    pairs = itertools.combinations(range(rows.shape[1]), 2)
    with np.errstate(over="ignore"):
        apart = [np.clip(rows[:, one] - rows[:, other], -LARGEST, LARGEST) for one, other in pairs]
    return np.column_stack([np.clip(rows, -LARGEST, LARGEST), *apart])


def low_bits(first: FloatArray, second: FloatArray) -> list[Score]:
    """What the last bits and digits of floats say, coordinate by coordinate, after Mironov 2012.

    Noise that is added in floating point leaves a value's own bits visible below its own size; so does a value that
    was rounded when its noise was, and its noise alone. Of many numbers, the finest of each output is looked at.
    Shapes as for `classifier`.
    """
    if first.shape[1] > AXES:
        return [
            Named("log2 of the lowest bit of any number", lambda rows: np.min(_lowest_bit(rows), axis=1)),
            Named("decimals of the number that has most", lambda rows: np.max(_decimals(rows), axis=1)),
        ]
    return [score for column in range(first.shape[1]) for score in _of_column(column, first, second)]


def _of_column(column: int, first: FloatArray, second: FloatArray) -> list[Score]:
    scores: list[Score] = [
        Named(f"log2 of the lowest bit of number {column}", lambda rows: _lowest_bit(rows[:, column])),
        Named(f"decimals of number {column}", lambda rows: _decimals(rows[:, column])),
    ]
    best = np.argsort(-_telling(first[:CHOOSING, column], second[:CHOOSING, column]), kind="stable")[:BEST]
    return scores + [
        Named(
            f"{'distance to the nearest whole' if centred else 'fraction'} of number {column} times {scale:g}",
            functools.partial(_fraction_of, column, centred, scale),
        )
        for centred, scale in (FRACTIONS[place] for place in best)
    ]


def _telling(first: FloatArray, second: FloatArray) -> FloatArray:
    """How far apart two samples' fractions are in each form of `FRACTIONS`: half the distance of their histograms."""
    counts = [_histograms(np.array([_fraction(side, *how) for how in FRACTIONS])) for side in (first, second)]
    found: FloatArray = 0.5 * np.abs(counts[0] / first.size - counts[1] / second.size).sum(axis=1)
    return found


def _histograms(fractions: FloatArray) -> FloatArray:
    """Of each row, numbers in [0, 1] as rounding leaves them: shape (k, BINS)."""
    places = np.minimum(fractions * BINS, BINS - 1).astype(np.intp) + BINS * np.arange(len(fractions))[:, None]
    return np.bincount(places.ravel(), minlength=BINS * len(fractions)).reshape(-1, BINS).astype(np.float64)


def _lowest_bit(numbers: FloatArray) -> FloatArray:
    """log2 of the lowest bit that is set in each number; of 0 below all others."""
    mantissas, exponents = np.frexp(numbers)
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1)) + exponents - 53
    return np.asarray(np.where(whole > 0, lowest, -2000.0))


def _decimals(numbers: FloatArray) -> FloatArray:
    """How many decimals write each number exactly; one more than `DIGITS` where none do."""
    found = np.full(numbers.shape, DIGITS + 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(DIGITS, -1, -1):
            found[np.round(numbers, digits) == numbers] = digits
    return found


def _fraction_of(column: int, centred: bool, scale: float, rows: FloatArray) -> FloatArray:
    return _fraction(rows[:, column], centred, scale)


def _fraction(numbers: FloatArray, centred: bool, scale: float) -> FloatArray:
    """What is behind the point of each number times the scale, in [0, 1); centred, the distance to the nearest whole.

    Where whole numbers lie on a grid, rounding puts them on either side of it: only the distance sees them together.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * scale
        apart = np.abs(scaled - np.rint(scaled)) if centred else scaled - np.floor(scaled)
        return np.nan_to_num(apart, nan=0.0)
