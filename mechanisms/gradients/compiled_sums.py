"""The pass of `gradient_sums` compiled, where the extra `fast` is installed: the same integers in a third of the time.

numpy's pass is the reference, and what is used without numba, for few records, or where EXCHEQUER_FAST=0 is in the
environment.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from accountant.arrays import ExactArray, FloatArray
from mechanisms.gradients.scored_records import LookUp, MovingScores, ScoredCells

FAST_SWITCH: Final = "EXCHEQUER_FAST"
"""In the environment, "0" turns compiled passes off."""

FEWEST: Final = 2**17
"""Records for which loading the compiler's output pays within a fit."""

Kernel = Callable[..., None]

_NONE: Final = np.zeros(0, dtype=np.int32)


def compiles() -> bool:
    """Whether passes over many records are compiled here."""
    return os.environ.get(FAST_SWITCH, "") != "0" and _numba() is not None


@cache
def _numba() -> Any:
    try:
        return import_module("numba")
    except ImportError:  # also where numba does not know this numpy
        return None


@cache
def _compiled(kernel: Kernel) -> Kernel:
    """Exact: without fastmath, so that floating point is IEEE's, and without threads."""
    try:
        made: Kernel = _numba().njit(kernel, nogil=True, cache=True, error_model="numpy")
    except RuntimeError:  # no folder to keep the result in
        made = _numba().njit(kernel, nogil=True, error_model="numpy")
    return made


def compiled_binary(data: ScoredCells, terms: npt.NDArray[np.int64], fewest: int = FEWEST) -> ExactArray | None:
    """`gradient_sums.binary_whole`; None where it is not to be compiled.

    terms: by label and score, the gradient in the lower half and the curvature in the upper; shape (2·L,).
    """
    if not isinstance(data, MovingScores) or data.labels.size < fewest or not compiles():
        return None
    moved = data.move is not None
    sums = np.zeros((data.number, 2), dtype=np.int64)
    change = data.part if data.move is None else data.move
    weights = _NONE if data.weights is None else data.weights
    kept = (data.labels, weights, data.kept, moved)
    _compiled(binary_pass)(*kept, *_place(data, change), *_place(data, data.part), terms, sums.reshape(-1))
    data.move = None
    return sums


def compiled_softmax(
    data: ScoredCells, exponential: FloatArray, longest: float, unit: int, fewest: int = FEWEST
) -> ExactArray | None:
    """`gradient_sums.softmax_whole`; None where it is not to be compiled.

    exponential: by how far a score is below the largest.  longest: ‖y − p‖ is clipped there.  unit: 1 in the unit of p.
    """
    if not isinstance(data, MovingScores) or data.labels.size < fewest or not compiles():
        return None
    moved = data.move is not None
    sums = np.zeros((data.number, data.kept.shape[1], 2), dtype=np.int64)
    change = LookUp(data.part.columns, np.zeros((1, 1), np.int32), data.part.places) if data.move is None else data.move
    weights = _NONE if data.weights is None else data.weights
    kept, powers = (data.labels, weights, data.kept, moved), exponential.astype(np.int64)
    _compiled(softmax_pass)(
        *kept, *_place(data, change), *_place(data, data.part), powers, longest, float(unit), sums
    )  # fmt: skip
    data.move = None
    return sums


def _place(data: MovingScores, look_up: LookUp) -> tuple[npt.NDArray[Any], ...]:
    """Codes of the one or two columns, what they add up to, and the table. Of one column the second has no codes."""
    codes = data.records.codes
    if not look_up.places:
        first = codes[look_up.columns[0]]
        return first, first[:0], _NONE, _NONE, look_up.table
    first, second = (codes[column] for column in look_up.columns)
    return first, second, *look_up.places, look_up.table


# --- compiled: loops over records, in the few words that numba knows. Indices are unsigned, so that it does not ask
# whether they count from the end ------------------------------------------------------------------------------------


def binary_pass(
    labels: npt.NDArray[np.int8],
    weights: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    moved: bool,
    move_code: npt.NDArray[Any],
    move_too: npt.NDArray[Any],
    move_one: npt.NDArray[np.int32],
    move_other: npt.NDArray[np.int32],
    change: npt.NDArray[np.int32],
    cut_code: npt.NDArray[Any],
    cut_too: npt.NDArray[Any],
    cut_one: npt.NDArray[np.int32],
    cut_other: npt.NDArray[np.int32],
    part: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    sums: ExactArray,
) -> None:
    """See `gradient_sums.binary_whole`. sums: shape (2·cells,)."""
    levels, most = np.uint32(terms.size // 2), np.int32(terms.size // 4)
    for i in range(labels.size):
        score = scores[i]
        if moved:
            place = np.uint32(move_code[i])
            if move_too.size:
                place = np.uint32(move_one[place] + move_other[np.uint32(move_too[i])])
            score = np.int32(score + change[place])
            scores[i] = score
        cell = np.uint32(cut_code[i])
        if cut_too.size:
            cell = np.uint32(cut_one[cell] + cut_other[np.uint32(cut_too[i])])
        slot = np.uint32(2 * part[cell])
        level = np.uint32(min(max(score, -most), most) + most) + levels * np.uint32(labels[i] > 0)
        gradient, curvature = np.int64(np.int32(terms[level])), (terms[level] + np.int64(2**31)) >> 32
        weight = np.int64(1)
        if weights.size:
            weight = np.int64(weights[i])
        sums[slot] += weight * gradient
        sums[slot + np.uint32(1)] += weight * curvature


def softmax_pass(
    labels: npt.NDArray[np.int8],
    weights: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    moved: bool,
    move_code: npt.NDArray[Any],
    move_too: npt.NDArray[Any],
    move_one: npt.NDArray[np.int32],
    move_other: npt.NDArray[np.int32],
    change: npt.NDArray[np.int32],
    cut_code: npt.NDArray[Any],
    cut_too: npt.NDArray[Any],
    cut_one: npt.NDArray[np.int32],
    cut_other: npt.NDArray[np.int32],
    part: npt.NDArray[np.int32],
    exponential: npt.NDArray[np.int64],
    longest: float,
    unit: float,
    sums: ExactArray,
) -> None:
    """See `gradient_sums.softmax_whole`: quotients and lengths are of integers below 2^53, rounded as there."""
    classes, farthest = scores.shape[1], np.int64(exponential.size - 1)
    share = np.empty(classes, dtype=np.float64)
    for i in range(labels.size):
        if moved:
            place = np.uint32(move_code[i])
            if move_too.size:
                place = np.uint32(move_one[place] + move_other[np.uint32(move_too[i])])
            for k in range(classes):
                scores[i, k] += change[place, k]
        cell = np.uint32(cut_code[i])
        if cut_too.size:
            cell = np.uint32(cut_one[cell] + cut_other[np.uint32(cut_too[i])])
        slot = np.uint32(part[cell])
        top = np.int64(scores[i, 0])
        for k in range(1, classes):
            top = max(top, np.int64(scores[i, k]))
        total = 0.0
        for k in range(classes):
            share[k] = float(exponential[np.uint32(min(top - scores[i, k], farthest))])
            total += share[k]
        squares = 0.0
        for k in range(classes):
            share[k] = np.floor(share[k] * unit / total)
            gradient = (unit if k == labels[i] else 0.0) - share[k]
            squares += gradient * gradient
        factor = min(1.0, longest / max(np.sqrt(squares), 1.0))
        weight = np.int64(1)
        if weights.size:
            weight = np.int64(weights[i])
        for k in range(classes):
            gradient = (unit if k == labels[i] else 0.0) - share[k]
            sums[slot, k, 0] += weight * np.int64(gradient * factor)
            sums[slot, k, 1] += weight * np.int64(share[k] * (unit - share[k]) / unit)
