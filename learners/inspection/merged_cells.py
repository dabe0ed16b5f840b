"""Cells of an additive model put together where noise does not tell them apart, so that a card has few lines.

Free: it follows from the model, which was released. What a line is off by then is said on the card.
"""

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
        if len(term.columns) == 2:
            values = _pair(term, USUAL_LINES if lines is None else lines)
        else:
            values = _single(model.schema.columns[term.columns[0]], term, lines)
        terms.append(attrs.evolve(term, values=values))
        off.append(float(np.max(np.abs(values - term.values))))
    return Merged(attrs.evolve(model, terms=terms), tuple(off))


def _single(column: Column, term: Term, lines: int | None) -> FloatArray:
    unsure, most = _unsure(term), USUAL_LINES if lines is None else lines
    flat = term.values.reshape(term.values.shape[0], -1)
    if not isinstance(column, Numeric):
        order = np.argsort(-flat[:, int(np.argmax(np.ptp(flat, axis=0)))], kind="stable")
        found = np.empty_like(flat)
        found[order] = _averaged(flat[order], unsure[order], most)
        return found.reshape(term.values.shape)
    ordered = flat.shape[0] - column.own_cell  # what is missing has no neighbour
    most = min(most, max(2, column.bins)) if lines is None else most
    found = np.concatenate([_averaged(flat[:ordered], unsure[:ordered], most), flat[ordered:]])
    return found.reshape(term.values.shape)


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


def _pair(term: Term, lines: int) -> FloatArray:
    cells = term.values.shape[0] * term.values.shape[1]
    flat = term.values.reshape(cells, -1).copy()
    size = np.max(np.abs(flat), axis=1)
    hidden = np.all(np.abs(flat) <= _unsure(term).reshape(cells, -1), axis=1)
    hidden[np.argsort(-size, kind="stable")[lines:]] = True
    flat[hidden] = 0.0
    return flat.reshape(term.values.shape)


def _unsure(term: Term) -> FloatArray:
    """Deviations of the values, shape (cells, heads) of a column; 0 where the model was saved without."""
    found = np.zeros_like(term.values) if term.deviations is None else term.deviations
    return found.reshape(found.shape[0], -1) if len(term.columns) == 1 else found
