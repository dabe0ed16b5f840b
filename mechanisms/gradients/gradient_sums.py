"""Sums of clipped logistic gradients and of curvatures over public cells.

The queries of gradient boosting on a public partition. Scores are integers, probabilities are looked up in tables
of integers, and sums of integers below 2^53 are exact in floating point: what a record adds to a sum depends on the
record and on released scores only, not on the order or the number of the other records, so no rounding enlarges a
sensitivity.
"""

import math
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from accountant import AddRemoveOne
from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, up
from mechanisms.core import L2Sensitivity, Query
from mechanisms.queries import Neighbours

SCORE_UNIT: Final = 2.0**-10
"""Scores are whole multiples of it, in nats."""

MOST_SCORE: Final = 2**14
"""Scores beyond ±16 nats count as ±16."""

ONE: Final = 2**16
"""Probabilities, gradients and curvatures are whole multiples of 1/ONE."""

CLIP: Final = 13 * 2**11
"""Gradients beyond ±13/32 count as that, in 1/ONE: a record on the wrong side pulls no harder than one in the middle.

Noise falls in proportion. The loss stays convex, and its minimiser has the sign and the order of the log-odds.
[clipped-link]
"""

CURVATURE_SCALE: Final = 0.5
"""Curvatures are written in this unit beside the gradients: the larger, the less noise on them and the more on both."""

WEIGHT_ONE: Final = 2**10
"""Sample weights are whole multiples of the cap/WEIGHT_ONE."""

MOST_GRADIENT_RECORDS: Final = 2**26
"""Sums of more records could leave the integers that floating point holds exactly."""

MOST_CELLS: Final = 2**20

ROUNDED: Final = 2.0**-40
"""By how much clipping a vector in floating point may leave its squared length too large."""

TRUNCATED: Final = 16.0 / ONE
"""By how much whole multiples of 1/ONE may raise the squared distance of two multi-class records: 1e-4 of it."""

_LEVELS: Final = np.arange(-MOST_SCORE, MOST_SCORE + 1)
_PROBABILITY: Final = np.rint(expit(_LEVELS * SCORE_UNIT) * ONE)
_CURVATURE: Final = np.floor(_PROBABILITY * (ONE - _PROBABILITY) / ONE)
_GRADIENT: Final = np.clip(np.concatenate([-_PROBABILITY, ONE - _PROBABILITY]), -CLIP, CLIP)
_EXPONENTIAL: Final = np.rint(np.exp(-np.arange(2 * MOST_SCORE + 1) * SCORE_UNIT) * 2.0**24)


class Cells(Protocol):
    """Records in the cells of a public partition."""

    @property
    def cells(self) -> IntArray:
        """The cell of each record, shape (n,), in 0 … number − 1."""

    @property
    def number(self) -> int:
        """How many cells there are; public."""


class ScoredCells(Cells, Protocol):
    """The same with labels, and scores that follow from earlier releases.

    Partition and scores must be functions of a record and of what is public or released.
    """

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """With two classes −1 or +1, else the class 0 … K − 1; shape (n,)."""

    @property
    def scores(self) -> npt.NDArray[np.int32]:
        """In SCORE_UNIT: shape (n,) with two classes, the score of label +1; else shape (n, K)."""

    @property
    def weights(self) -> npt.NDArray[np.int32] | None:
        """In 0 … WEIGHT_ONE, shape (n,); None weighs every record WEIGHT_ONE."""


def binary_terms(scores: npt.NDArray[np.int32], labels: npt.NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
    """ONE·(y − p), clipped at ±CLIP, and ONE·p(1 − p) for each record; integers, p = 1/(1 + e^-score). Shapes (n,)."""
    level = np.clip(scores, -MOST_SCORE, MOST_SCORE).astype(np.intp) + MOST_SCORE
    return _GRADIENT.take(level + (labels > 0) * _LEVELS.size), _CURVATURE.take(level)


def softmax_terms(scores: npt.NDArray[np.int32], labels: npt.NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
    """The same for every class, p = softmax of the scores rounded down, ‖y − p‖₂ clipped at √2·CLIP. Shapes (n, K)."""
    below = np.clip(scores.max(axis=1, keepdims=True) - scores, 0, 2 * MOST_SCORE)
    shares = _EXPONENTIAL[below]
    # A quotient of integers below 2^40 and 2^31 is no closer to a whole number than 2^-31, so floor is exact.
    probability = np.floor(shares * ONE / shares.sum(axis=1, keepdims=True))
    curvature = np.floor(probability * (ONE - probability) / ONE)
    gradient = -probability
    gradient[np.arange(labels.size), labels] += ONE
    length = np.sqrt(np.sum(gradient**2, axis=1, keepdims=True))
    return np.trunc(gradient * np.minimum(1.0, math.sqrt(2.0) * CLIP / np.maximum(length, 1.0))), curvature


def _sums(data: ScoredCells, terms: FloatArray) -> FloatArray:
    """Per cell, in units of 1; shape (cells,)."""
    if data.weights is None:
        return np.bincount(data.cells, weights=terms, minlength=data.number) / ONE
    return np.bincount(data.cells, weights=terms * data.weights, minlength=data.number) / (ONE * WEIGHT_ONE)


def binary_sums(data: ScoredCells) -> FloatArray:
    """Σ w·clip(y − p) and CURVATURE_SCALE·Σ w·p(1 − p) per cell, y in {0, 1}, w in [0, 1]; shape (cells, 2)."""
    gradient, curvature = binary_terms(data.scores, data.labels)
    return np.stack([_sums(data, gradient), CURVATURE_SCALE * _sums(data, curvature)], axis=-1)


def softmax_sums(data: ScoredCells) -> FloatArray:
    """The same per cell and class; shape (cells, K, 2)."""
    gradient, curvature = softmax_terms(data.scores, data.labels)
    classes = range(gradient.shape[1])
    first = np.stack([_sums(data, gradient[:, k]) for k in classes], axis=-1)
    second = np.stack([_sums(data, curvature[:, k]) for k in classes], axis=-1)
    return np.stack([first, CURVATURE_SCALE * second], axis=-1)


def check_cells(data: Cells) -> None:
    """Raise ValueError for more records or cells than the sums are exact for, or a cell that does not exist."""
    if data.cells.size > MOST_GRADIENT_RECORDS or data.number > MOST_CELLS:
        raise ValueError(f"expected at most {MOST_GRADIENT_RECORDS} records in at most {MOST_CELLS} cells")
    if data.cells.size and not 0 <= int(data.cells.min()) <= int(data.cells.max()) < data.number:
        raise ValueError(f"a record is outside the cells 0 … {data.number - 1}")


def check_scored(data: ScoredCells) -> None:
    """`check_cells`, and ValueError for labels, scores or weights outside what `ScoredCells` says."""
    check_cells(data)
    n, wide = data.cells.size, data.scores.ndim == 2
    known = (data.labels >= 0) & (data.labels < data.scores.shape[1]) if wide else np.abs(data.labels) == 1
    if data.labels.shape != (n,) or data.scores.shape[0] != n or not np.all(known):
        among = f"0 to {data.scores.shape[1] - 1}" if wide else "-1 and 1"
        raise ValueError(f"expected {n} scores and {n} labels among {among}")
    weights = data.weights
    if weights is not None and (weights.shape != (n,) or np.any((weights < 0) | (weights > WEIGHT_ONE))):
        raise ValueError(f"expected {n} weights from 0 to {WEIGHT_ONE}")


def gradient_sensitivity(adjacency: Neighbours, classes: int) -> L2Sensitivity:
    """ℓ2 of all cells' gradients and curvatures together, weights in [0, 1], c = CURVATURE_SCALE. [clipped-gradients]

    Two classes, C = CLIP: √(C² + c²/16) under add-remove-one, √(4C² + c²/16) under replace-one; more: √(2C² + 4c²/27),
    and √(8C² + c²/8), up to TRUNCATED. All four are attained. A record is in one cell and adds (g, c·h); q being the
    probability of the wrong class, |g| <= min(q, C) and h <= q(1 − q), so g² + c²h² is largest at q = ½, as C <= ½.
    Replacing a record in its cell can turn the gradient round, which moves it by at most 2C, and the curvature by at
    most ¼; two cells are a move of √2 times the first bound, which is less. With more classes ‖g‖ <= √2·C, and Σ h² <=
    4/27, as x(1 − x)² <= 4/27. Where a gradient turns round, only the two labels' curvatures are left to move, by ¼
    each: with more of the others' the gradients are not quite opposite, and that costs more than it brings.
    """
    clip, bend, replaced = (CLIP / ONE) ** 2, CURVATURE_SCALE**2, adjacency != AddRemoveOne()
    if classes == 2:
        return L2Sensitivity(up(math.sqrt((4.0 if replaced else 1.0) * clip + bend / 16.0)))
    long = 2.0 * clip + ROUNDED
    return L2Sensitivity(up(math.sqrt(4.0 * long + bend / 8.0 + TRUNCATED if replaced else long + 4.0 * bend / 27.0)))


def gradient_query(adjacency: Neighbours, classes: int) -> Query[ScoredCells, FloatArray, L2Sensitivity]:
    """`binary_sums`, or `softmax_sums` for more than two classes, for Gaussian noise.

    Raises ValueError for fewer than two classes.
    """
    if count(classes) < 2:
        raise ValueError(f"expected at least two classes, got {classes}")
    name, sums = ("logistic-gradients", binary_sums) if classes == 2 else ("softmax-gradients", softmax_sums)
    sensitivity = gradient_sensitivity(adjacency, classes)
    return Query(name, sums, sensitivity, adjacency, ("clipped-gradients",), check_scored)
