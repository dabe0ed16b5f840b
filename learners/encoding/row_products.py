"""Products of rows with public weights: a row's has the same bits alone, in any batch, at any place. [records-alone]

BLAS gives rows that are left over at a block's end to another routine, which rounds otherwise: whether a record's
score is above 0 would then depend on how many records are beside it. Here products and sums are taken number by
number, which IEEE 754 fixes, and columns are added in an order that their number alone decides.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from learners.encoding.row_chunks import each_part, pieces

ROOM: Final = 2**17
"""Numbers, one MiB, that are multiplied and added at a time: with what they are made of, they stay in a cache."""

TINY, HUGE = 2.0**-600, 2.0**600
"""Of two numbers that are multiplied by TINY, the product, and sums of 2^18 of them, stay below 2^900."""


def folded(columns: FloatArray) -> FloatArray:
    """Sums over the first axis, shape (k,), which overwrite it: the later half is added to the earlier, and again.

    columns: shape (d, k), d >= 1, of any layout. Each sum is of d numbers, in an order that d alone decides, and off by
    at most ⌈log₂ d⌉ roundings of a partial sum. numpy's own sums go by the layout, and BLAS by the number of rows.
    """
    width = len(columns)
    while width > 1:
        half = width // 2
        columns[:half] += columns[width - half : width]
        width -= half
    return np.asarray(columns[0])


def _as_they_are(rows: FloatArray) -> FloatArray:
    return rows


def row_products(
    points: FloatArray, weights: FloatArray, made: Callable[[FloatArray], FloatArray] = _as_they_are
) -> FloatArray:
    """⟨w, xᵢ⟩, shape (n,): a function of xᵢ, bit by bit, whatever rows are beside it. [records-alone]

    points: shape (n, d'), of any layout.  weights: w, shape (d,), finite, d >= 1.
    made: what x becomes, from shape (k, d') to (k, d), one row whatever the others are; called from several threads.
    Where a sum overflows on its way it is found all the same; ±∞ only where it is too large itself.
    """
    found, width = np.empty(len(points)), weights.size

    def fill(part: slice) -> None:
        room = np.empty(0)
        for rows in pieces(part, width, ROOM):
            piece = made(points[rows])
            if room.size < piece.size:
                room = np.empty(piece.size)
            found[rows] = _products(piece, weights, room[: piece.size].reshape(width, -1))

    each_part(len(points), width, fill)
    return found


def _products(rows: FloatArray, weights: FloatArray, room: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = _summed(rows, weights, room)
        lost = np.flatnonzero(~np.isfinite(found))
        if lost.size:  # few or none, so that it may take a while
            small = _summed(rows[lost] * TINY, weights * TINY, np.empty((weights.size, lost.size)))
            found[lost] = small * HUGE * HUGE
    return found


def _summed(rows: FloatArray, weights: FloatArray, room: FloatArray) -> FloatArray:
    """room: shape (d, k), where columns lie one after another: numpy is then at its fastest, however few they are."""
    np.copyto(room, rows.T)
    room *= weights[:, None]
    return folded(room)
