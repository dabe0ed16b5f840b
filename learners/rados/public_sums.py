"""Sums of records that nobody protects, or of columns that are public: the same whatever the blocks, as all others are.

What is released with noise is cut by public bounds, see `mechanisms.exact_steps`. Here the data themselves may say how
large they are: a size is a power of two, and the largest of a column is found by counts, which add up in any order.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from boosting.measures import WholeArray
from learners.base import LEAST_VARIANCE
from learners.encoding import Scaling
from learners.rados.rado_records import RadoTable
from mechanisms import NoiseSource, Vectors, drawn_seed, exact_steps, pieces, support_sums
from mechanisms.core import Block, Rows

DIGIT: Final = 46
LOWEST: Final = -1074
"""Sizes of doubles are 2^LOWEST and more, fewer than DIGIT² of them; they are found by two visits, digit by digit."""


def plain_rados(
    table: RadoTable, places: Sequence[int], number: int, standardise: bool, noise: NoiseSource
) -> tuple[FloatArray, Scaling]:
    """Random rados of these features, in rising order, shape (number, places), and what they were scaled by.

    standardise: by the means and deviations that the records have. The supports are those of a seed from `noise`.
    No privacy claim.
    """
    coding = table.coding
    varying = [place for place in places if place in coding.variable]  # the constant is the last of all
    scaling, bounded = Scaling.none(len(places)), coding.schema is not None
    if standardise and varying:
        scaling = spread(table.points(varying), bounded).within(len(places), range(len(varying)))
    edges = table.edges(scaling, None if len(places) == coding.features else places)
    within = np.frexp((1.0 + np.abs(scaling.centre)) / scaling.scale)[1] if bounded else sizes(edges)
    sums = support_sums(edges, number, drawn_seed(noise), partial(_cut, within, edges.n))[:-1]
    with np.errstate(over="ignore"):  # whoever takes rados refuses those that are not finite
        return np.ldexp(sums, within), scaling


def spread(data: Rows[Vectors], bounded: bool = False) -> Scaling:
    """By the means and deviations of these columns; constant ones keep their scale. bounded: they lie in [−1, 1]."""
    size = np.zeros((), dtype=np.int32) if bounded else sizes(data)
    mean = _mean(data, size, None)
    deviation = 2.0 * np.sqrt(_mean(data, size, mean))
    centre, scale = np.ldexp(mean, size), np.ldexp(deviation, size)
    return Scaling(centre, np.where(scale > LEAST_VARIANCE**0.5, scale, 1.0))


def sizes(data: Rows[Vectors]) -> WholeArray:
    """For each column the least e such that all of it is below 2^e in size, shape (d,); LOWEST for nothing but 0."""
    high = _largest(data.total(partial(_digits, None)))
    low = _largest(data.total(partial(_digits, high)))
    return np.asarray(high * DIGIT + low + LOWEST, dtype=np.int32)  # which `ldexp` takes everywhere


def _largest(counts: WholeArray) -> WholeArray:
    """The last column where a row is not 0, shape (d,)."""
    return np.asarray(counts.shape[1] - 1 - np.argmax(counts[:, ::-1] > 0, axis=1), dtype=np.int64)


def _digits(high: WholeArray | None, block: Block[Vectors]) -> npt.NDArray[np.int64]:
    """A one, for each column, where the block's size has this first digit or, after `high`, this second: (d, DIGIT)."""
    found = block.remember("size", None, lambda: _block_sizes(block.data) - LOWEST)
    digits, counted = found // DIGIT, np.ones(found.size, dtype=bool)
    if high is not None:
        digits, counted = found % DIGIT, digits == high
    counts = np.zeros((found.size, DIGIT), dtype=np.int64)
    counts[np.flatnonzero(counted), digits[counted]] = 1
    return counts


def _block_sizes(data: Vectors) -> WholeArray:
    peaks = np.zeros(data.features)
    for _, rows in pieces(data):
        np.maximum(peaks, np.max(np.abs(rows), axis=0), out=peaks)
    return np.where(peaks > 0.0, np.frexp(peaks)[1], LOWEST).astype(np.int64)


def _mean(data: Rows[Vectors], size: WholeArray, centre: FloatArray | None) -> FloatArray:
    """The mean of z = x/2^size or, with a centre, of a quarter of (z − centre)²: shape (d,), to the last digits."""
    parts = data.total(partial(_parts, size, centre, data.n))
    return np.asarray((parts[0] + parts[1]) / data.n)


def _parts(size: WholeArray, centre: FloatArray | None, records: int, block: Block[Vectors]) -> FloatArray:
    """Σz in two parts, each an exact sum: of what `exact_steps` leaves, and of what it cuts off. shape (2, d)."""
    total = np.zeros((2, block.data.features))
    for _, rows in pieces(block.data):
        z = np.ldexp(rows, -size)
        if centre is not None:
            z = np.minimum(0.25 * (z - centre) ** 2, 1.0)
        coarse = exact_steps(z, 1.0, records)
        total += [coarse.sum(axis=0), exact_steps(z - coarse, records * 2.0**-52, records).sum(axis=0)]
    return total


def _cut(size: WholeArray, records: int, rows: FloatArray) -> FloatArray:
    return exact_steps(np.ldexp(rows, -size), 1.0, records)
