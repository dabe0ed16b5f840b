"""A column of numbers whose missing values have a cell of their own, the last of its view.

Neighbours on a grid are alike; a number that is missing has no neighbours. So in every round the cell is a bin of its
own, and what is learnt of it says of the others no more than their common level.
"""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray, IntArray

APART: Final = 1.0
"""Prior variance of its effect about the column's common level: as much as the other cells' have on average."""

LEAST_SHARE: Final = 1e-6
"""Of the records, that it is taken to have where the release of its count says less."""


def with_own_bin(part: IntArray) -> IntArray:
    """The bins of ordered cells, then one for the cell of missing values."""
    return np.append(part, part[-1] + 1)


def with_own_share(shares: FloatArray, own: float) -> FloatArray:
    """Shares of the ordered cells, summing to 1, then that of the missing values; again summing to 1.

    own: as released, so that it may be anything.
    """
    known = float(np.clip(own, LEAST_SHARE, 1.0 - LEAST_SHARE))
    return np.append((1.0 - known) * shares, known)
