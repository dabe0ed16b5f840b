"""Cells of an additive model put together where noise does not tell them apart, so that a card has few lines.

Free: it follows from the model, which was released. What a line is off by then is said on the card.
"""

import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive import AdditiveModel, Term
from learners.tables import Column, Numeric

USUAL_LINES: Final = 12
"""Of a column or a pair, where nobody asks for more."""


@attrs.frozen(eq=False)
class Merged:
    """model: the same with cells put together.  off: how far an effect moved at most, per term, in nats."""

    model: AdditiveModel
    off: tuple[float, ...]


def merged(model: AdditiveModel, lines: int | None = None) -> Merged:
    """Cells that do not differ beyond their noise share a value, and there are at most so many values to a column.

    lines: at least 2, and one more for what is missing; None takes USUAL_LINES, and of a column of numbers no more than
    the schema's `bins`.  A pair keeps its largest combinations; the others count as 0.  Raises ValueError.
    """
    if lines is not None and lines < 2:
        raise ValueError(f"lines: expected at least 2, got {lines}")
    terms, off = [], []
    for term in model.terms:
        columns = [model.schema.columns[number] for number in term.columns]
        most = USUAL_LINES if lines is None else lines
        few = _single(columns[0], term, lines) if len(columns) == 1 else _pair(columns, term, most)
        terms.append(few)
        off.append(float(np.max(np.abs(_by_code(few) - _by_code(term)))))
    return Merged(attrs.evolve(model, terms=terms), tuple(off))


def _by_code(term: Term) -> FloatArray:
    return np.asarray(term.values[np.ix_(*term.maps)])


def _single(column: Column, term: Term, lines: int | None) -> Term:
    unsure, most = _unsure(term), USUAL_LINES if lines is None else lines
    flat = term.values.reshape(term.values.shape[0], -1)
    if not isinstance(column, Numeric):
        order = np.argsort(-flat[:, int(np.argmax(np.ptp(flat, axis=0)))], kind="stable")
        found = np.empty_like(flat)
        found[order] = _averaged(flat[order], unsure[order], most)
        return attrs.evolve(term, values=found.reshape(term.values.shape))
    ordered = flat.shape[0] - column.own_cell  # what is missing has no neighbour
    most = min(most, max(2, column.bins)) if lines is None else most
    found = np.concatenate([_averaged(flat[:ordered], unsure[:ordered], most), flat[ordered:]])
    return attrs.evolve(term, values=found.reshape(term.values.shape))


def _averaged(values: FloatArray, unsure: FloatArray, most: int) -> FloatArray:
    """Means over runs of neighbours, at most so many. values: shape (cells, heads).  unsure: deviations, alike."""
    runs = neighbours(values, unsure, most)
    counts = np.bincount(runs)
    means = np.stack([np.bincount(runs, head) / counts for head in values.T], axis=-1)
    return np.asarray(means[runs])


def neighbours(values: FloatArray, unsure: FloatArray, most: int) -> IntArray:
    """The run of each cell, shape (cells,), rising from 0.

    From single cells up, the two neighbours whose union moves the means least are put together (Ward), as long as there
    are more than `most` runs or their means differ by no more than what noise makes of such a difference.
    """
    means, sizes = values.copy(), np.ones(values.shape[0])
    variances, starts = unsure**2, np.arange(values.shape[0])
    while starts.size > 1:
        gaps = means[1:] - means[:-1]
        allowed = variances[1:] + variances[:-1]
        same = np.all(gaps**2 <= allowed, axis=1)
        cost = np.sum(gaps**2, axis=1) * sizes[1:] * sizes[:-1] / (sizes[1:] + sizes[:-1])
        if starts.size <= most:
            if not np.any(same):
                break
            cost = np.where(same, cost, np.inf)
        left = int(np.argmin(cost))
        total = sizes[left] + sizes[left + 1]
        for array in (means, variances):  # neighbours are known together, so that noise does not average out
            array[left] = (sizes[left] * array[left] + sizes[left + 1] * array[left + 1]) / total
        sizes[left] = total
        means, variances = np.delete(means, left + 1, axis=0), np.delete(variances, left + 1, axis=0)
        sizes, starts = np.delete(sizes, left + 1), np.delete(starts, left + 1)
    return np.repeat(np.arange(starts.size), np.diff(np.append(starts, values.shape[0])))


def _pair(columns: Sequence[Column], term: Term, lines: int) -> Term:
    """Blocks of cells of numbers, and of those that noise does not hide the largest; the others count as 0."""
    heads = term.values[..., np.newaxis] if term.values.ndim == 2 else term.values
    sizes = _block_shape(columns, heads.shape[:2], lines)
    rows, across = heads.reshape(heads.shape[0], -1), heads.swapaxes(0, 1).reshape(heads.shape[1], -1)
    runs = [_axis_runs(*each) for each in zip(columns, (rows, across), sizes, strict=True)]
    block = np.ravel_multi_index(np.meshgrid(*runs, indexing="ij"), [run[-1] + 1 for run in runs]).ravel()
    counts = np.bincount(block)
    flat = np.stack([np.bincount(block, head) / counts for head in heads.reshape(block.size, -1).T], axis=-1)
    unsure = np.bincount(block, _unsure(term).reshape(block.size, -1).max(axis=-1)) / counts
    largest = np.max(np.abs(flat), axis=1)
    hidden = largest <= unsure
    hidden[np.argsort(-largest, kind="stable")[lines:]] = True
    flat[hidden] = 0.0
    shape = (*(int(run[-1]) + 1 for run in runs), *term.values.shape[2:])
    maps = tuple(run[cells] for run, cells in zip(runs, term.maps, strict=True))
    known = None if term.deviations is None else np.broadcast_to(unsure[:, np.newaxis], flat.shape).reshape(shape)
    return Term(term.columns, maps, flat.reshape(shape), known)


def _block_shape(columns: Sequence[Column], shape: Sequence[int], lines: int) -> tuple[int, int]:
    """Into how many parts each column is cut: numbers as few as it takes, categories stay as they are."""
    free = [isinstance(column, Numeric) for column in columns]
    if all(free):
        first = max(2, math.isqrt(lines))
        return first, max(2, lines // first)
    fixed = next((size for size, numeric in zip(shape, free, strict=True) if not numeric), 1)
    sizes = [max(2, lines // fixed) if numeric else size for size, numeric in zip(shape, free, strict=True)]
    return sizes[0], sizes[1]


def _axis_runs(column: Column, values: FloatArray, most: int) -> IntArray:
    """The run of each cell along one column of a pair. values: shape (cells, others)."""
    if not isinstance(column, Numeric):
        return np.arange(values.shape[0])
    ordered = values.shape[0] - column.own_cell
    runs = neighbours(values[:ordered], np.zeros((ordered, values.shape[1])), most)
    return np.append(runs, runs[-1] + 1) if column.own_cell else runs


def _unsure(term: Term) -> FloatArray:
    """Deviations of the values, shape (cells, heads) of a column; 0 where the model was saved without."""
    found = np.zeros_like(term.values) if term.deviations is None else term.deviations
    return found.reshape(found.shape[0], -1) if len(term.columns) == 1 else found
