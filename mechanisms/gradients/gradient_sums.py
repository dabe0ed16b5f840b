"""Sums of clipped logistic gradients and of curvatures over public cells.

The queries of gradient boosting on a public partition. Scores are integers, probabilities are looked up in tables
of integers, and sums of integers below 2^53 are exact in floating point: what a record adds to a sum depends on the
record and on released scores only, not on the order or the number of the other records, so no rounding enlarges a
sensitivity.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from accountant import AddRemoveOne
from accountant.arrays import ExactArray, FloatArray
from accountant.costs import count, up
from mechanisms.core import L2Sensitivity, Query
from mechanisms.gradients.compiled_sums import compiled_binary, compiled_softmax
from mechanisms.gradients.scored_records import Cells, ScoredCells, ScoredRows, chunks
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

LONGEST: Final = math.sqrt(2.0) * CLIP
"""Of a multi-class gradient, in 1/ONE."""

CURVATURE_SCALE: Final = 0.5
"""Curvatures are written in this unit beside the gradients: the larger, the less noise on them and the more on both."""

WEIGHT_ONE: Final = 2**10
"""Sample weights are whole multiples of the cap/WEIGHT_ONE."""

MOST_GRADIENT_RECORDS: Final = 2**27
"""Sums of more records could leave the integers that floating point holds exactly: no term is beyond ONE·WEIGHT_ONE."""

MOST_UNWEIGHTED_RECORDS: Final = 2**37
"""The same where records have no weights: no term is beyond ONE."""

MOST_CELLS: Final = 2**20

ROUNDED: Final = 2.0**-40
"""By how much clipping a vector in floating point may leave its squared length too large."""

TRUNCATED: Final = 16.0 / ONE
"""By how much whole multiples of 1/ONE may raise the squared distance of two multi-class records: 1e-4 of it."""

_LEVELS: Final = np.arange(-MOST_SCORE, MOST_SCORE + 1)
_PROBABILITY: Final = np.rint(expit(_LEVELS * SCORE_UNIT) * ONE)
_CURVATURE: Final = np.floor(_PROBABILITY * (ONE - _PROBABILITY) / ONE)
_GRADIENT: Final = np.clip(np.concatenate([-_PROBABILITY, ONE - _PROBABILITY]), -CLIP, CLIP)
_TERMS: Final = (_GRADIENT + 2.0**32 * np.tile(_CURVATURE, 2)).astype(np.int64)
_EXPONENTIAL: Final = np.rint(np.exp(-np.arange(2 * MOST_SCORE + 1) * SCORE_UNIT) * 2.0**24)


def binary_table() -> tuple[ExactArray, ExactArray]:
    """Gradients by label and score, then curvatures by score, whole numbers: scores from −MOST_SCORE to MOST_SCORE, and
    for gradients all those again for label +1. Shapes (2L,) and (L,)."""
    return _GRADIENT.astype(np.int64), _CURVATURE.astype(np.int64)


def exponential_table() -> ExactArray:
    """2^24·e^(−distance) for distances from the largest score, from 0 to 2·MOST_SCORE; whole numbers."""
    return np.asarray(_EXPONENTIAL, dtype=np.int64)


def binary_terms(scores: npt.NDArray[np.int32], labels: npt.NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
    """ONE·(y − p), clipped at ±CLIP, and ONE·p(1 − p) for each record; integers, p = 1/(1 + e^-score). Shapes (n,)."""
    level = np.clip(scores, -MOST_SCORE, MOST_SCORE).astype(np.intp) + MOST_SCORE
    return _GRADIENT.take(level + (labels > 0) * _LEVELS.size), _CURVATURE.take(level)


def softmax_terms(scores: npt.NDArray[np.int32], labels: npt.NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
    """The same for every class, p = softmax of the scores rounded down, ‖y − p‖₂ clipped at √2·CLIP. Shapes (n, K)."""
    # Class by class: what is done to all records at once is faster than what is done to the few classes of each.
    wide = np.ascontiguousarray(scores.T)
    shares = _EXPONENTIAL.take(np.clip(wide.max(axis=0) - wide, 0, 2 * MOST_SCORE))
    # A quotient of integers below 2^40 and 2^31 is no closer to a whole number than 2^-31, so floor is exact.
    probability = np.floor(shares * ONE / shares.sum(axis=0))
    curvature = np.floor(probability * (ONE - probability) / ONE)
    gradient = -probability
    gradient[labels, np.arange(labels.size)] += ONE
    length = np.sqrt(np.sum(gradient**2, axis=0))
    clipped = np.trunc(gradient * np.minimum(1.0, LONGEST / np.maximum(length, 1.0)))
    return np.asarray(clipped.T), np.asarray(curvature.T)


def _summed(data: ScoredCells, terms: FloatArray) -> ExactArray:
    """Σ w·terms per cell, exact as long as CHUNK records are below 2^53; shape (cells,)."""
    weighted = terms if data.weights is None else terms * data.weights
    return np.bincount(data.cells, weights=weighted, minlength=data.number).astype(np.int64)


def binary_whole(data: ScoredCells) -> ExactArray:
    """ONE·Σ w·clip(y − p) and ONE·Σ w·p(1 − p) per cell, w in whole numbers, 1 for all where there are none; shape
    (cells, 2)."""
    found = compiled_binary(data, _TERMS)
    if found is None:
        found = np.zeros((data.number, 2), dtype=np.int64)
        for part in chunks(data):
            for place, terms in enumerate(binary_terms(part.scores, part.labels)):
                found[:, place] += _summed(part, terms)
    return found


def softmax_whole(data: ScoredCells) -> ExactArray:
    """The same per cell and class; shape (cells, K, 2)."""
    found = compiled_softmax(data, _EXPONENTIAL, LONGEST, ONE)
    if found is None:
        found = np.zeros((data.number, data.scores.shape[1], 2), dtype=np.int64)
        for part in chunks(data):
            for place, terms in enumerate(softmax_terms(part.scores, part.labels)):
                for head in range(found.shape[1]):
                    found[:, head, place] += _summed(part, terms[:, head])
    return found


def _released(data: ScoredCells | ScoredRows, whole: Callable[[ScoredCells], ExactArray]) -> FloatArray:
    """Sums in units of 1 and of CURVATURE_SCALE; exact, as these are powers of two."""
    if isinstance(data, ScoredRows):
        sums, weighted = data.total(whole), data.weighted
    else:
        sums, weighted = whole(data), data.weights is not None
    return np.asarray(sums * np.array([1.0, CURVATURE_SCALE]) / (ONE * (WEIGHT_ONE if weighted else 1)))


def binary_sums(data: ScoredCells | ScoredRows) -> FloatArray:
    """Σ w·clip(y − p) and CURVATURE_SCALE·Σ w·p(1 − p) per cell, y in {0, 1}, w in [0, 1]; shape (cells, 2)."""
    return _released(data, binary_whole)


def softmax_sums(data: ScoredCells | ScoredRows) -> FloatArray:
    """The same per cell and class; shape (cells, K, 2)."""
    return _released(data, softmax_whole)


def most_records(*, weighted: bool) -> int:
    """Of as many records every sum is exact: 64-bit integers hold it, and floating point does."""
    return MOST_GRADIENT_RECORDS if weighted else MOST_UNWEIGHTED_RECORDS


def _check_size(records: int, cells: int, *, weighted: bool) -> None:
    most = most_records(weighted=weighted)
    if records > most or cells > MOST_CELLS:
        raise ValueError(f"expected at most {most} records in at most {MOST_CELLS} cells")


def check_cells(data: Cells, *, weighted: bool = True) -> None:
    """Raise ValueError for more records or cells than the sums are exact for, or a cell that does not exist."""
    _check_size(data.cells.size, data.number, weighted=weighted)
    if data.cells.size and not 0 <= int(data.cells.min()) <= int(data.cells.max()) < data.number:
        raise ValueError(f"a record is outside the cells 0 … {data.number - 1}")


def check_scored(data: ScoredCells | ScoredRows) -> None:
    """`check_cells`, and ValueError for labels, scores or weights outside what `ScoredCells` says.

    Of records that stay where they are codes, labels and weights were checked when they were encoded; here, the cells
    of all codes.
    """
    if isinstance(data, ScoredRows):
        _check_size(data.n, data.number, weighted=data.weighted)
        if not 0 <= int(data.part.table.min()) <= int(data.part.table.max()) < data.number:
            raise ValueError(f"a record is outside the cells 0 … {data.number - 1}")
        return
    check_cells(data, weighted=data.weights is not None)
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


def gradient_query(adjacency: Neighbours, classes: int) -> Query[ScoredCells | ScoredRows, FloatArray, L2Sensitivity]:
    """`binary_sums`, or `softmax_sums` for more than two classes, for Gaussian noise.

    Raises ValueError for fewer than two classes.
    """
    if count(classes) < 2:
        raise ValueError(f"expected at least two classes, got {classes}")
    name, sums = ("logistic-gradients", binary_sums) if classes == 2 else ("softmax-gradients", softmax_sums)
    sensitivity = gradient_sensitivity(adjacency, classes)
    return Query(name, sums, sensitivity, adjacency, ("clipped-gradients",), check_scored)
