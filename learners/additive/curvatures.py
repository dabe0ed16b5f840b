"""The curvature of bins as far as noise lets it be known: each release is weighed against what earlier ones said.

One release of one bin may be nothing but noise, and a Newton step over noise is a step too far. But the curvature of
all records is the same number whatever column cuts them, so every round tells of it; and a column's cells keep much
the same share of it from round to round. Everything here is post-processing of releases.
"""

from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray

UNSURE: Final = 1.0
"""Deviation of a cell's share before its column had a round, in units of the share, where histograms told it."""

MOST_UNSURE: Final = 2.0
"""The same, at most, whatever came since."""

SURPRISING: Final = 3.0
"""Deviations of its noise, by which a release must differ from what was expected to be believed whatever was."""

SHARES_DRIFT: Final = 0.5
"""By how much a share is taken to have changed between two rounds of its column, in units of the share."""

TOTAL_DRIFT: Final = 0.05
"""The same of the curvature of all records, between two rounds of any column."""

LEAST: Final = 0.05
"""How much of what was expected of a bin it is taken to have at least."""

LEAST_SHARE: Final = 1e-6
"""No cell is taken to have less, over the number of cells: the model would then not know what a record there does."""


@attrs.define(eq=False)
class Total:
    """The curvature of all records, one number per head: those of each class's score, or the only one of two classes.

    mean: as last known, shape (heads,).  variance: of that; infinite before the first round.
    """

    mean: FloatArray = attrs.Factory(lambda: np.zeros(1))
    variance: float = np.inf

    def observe(self, seen: FloatArray, variance: float) -> None:
        """Take in a round. seen: the sum of what was released of all bins, shape (heads,).  variance: of its noise."""
        if np.isinf(self.variance):
            self.mean, self.variance = seen, variance
            return
        before = self.variance + (TOTAL_DRIFT * float(np.mean(np.maximum(self.mean, 0.0)))) ** 2
        gain = before / (before + variance)
        self.mean = self.mean + gain * (seen - self.mean)
        self.variance = before * (1.0 - gain)

    def known(self) -> FloatArray:
        """What it is taken for, shape (heads,), positive: never less than its own noise."""
        return np.maximum(self.mean, np.sqrt(self.variance))


@attrs.define(eq=False)
class Shares:
    """What part of the total each cell of a view has.

    mean: shape (cells, heads).  unsure: its deviation, in units of it.  told: whether a histogram told shares at first.
    """

    mean: FloatArray
    unsure: FloatArray
    told: bool

    @staticmethod
    def start(mass: FloatArray, heads: int, *, told: bool) -> "Shares":
        """Before any round. mass: the records' share of each cell, shape (cells,), positive."""
        mean = np.repeat(mass[:, np.newaxis], heads, axis=1)
        return Shares(mean, np.full(mean.shape, UNSURE) if told else np.maximum(UNSURE, spread_evenly(mean)), told)

    def most_unsure(self, share: FloatArray) -> FloatArray:
        """What `unsure` is at most, of the same shape. share: of cells, or of bins."""
        return np.maximum(MOST_UNSURE, 0.0 if self.told else spread_evenly(share))

    def learn(self, part: IntArray, seen: FloatArray, total: FloatArray, variance: float) -> FloatArray:
        """The curvature of each bin, shape (bins, heads), positive.

        part: the bin of each cell, shape (cells,).  seen: as released, shape (bins, heads).  total: shape (heads,).
        variance: of the noise of `seen`.
        """
        share = binned(part, self.mean, len(seen))
        unsure = np.minimum(binned(part, self.mean * self.unsure, len(seen)) / share, self.most_unsure(share))
        expected = share * total
        spread = (unsure * expected) ** 2
        surprise = 1.0 - SURPRISING**2 * variance / np.maximum((seen - expected) ** 2, 1e-300)
        gain = np.maximum(spread / (spread + variance), surprise)
        found = np.maximum(expected + gain * (seen - expected), LEAST * expected)
        ratio = found / expected
        mean = self.mean * ratio[part]
        self.mean = np.maximum(mean / mean.sum(axis=0), LEAST_SHARE / len(mean))
        left = (1.0 - gain) * (unsure / ratio) ** 2
        self.unsure = np.minimum(np.sqrt(left[part] + SHARES_DRIFT**2), self.most_unsure(self.mean))
        return found


def spread_evenly(share: FloatArray) -> FloatArray:
    """Deviation in units of a share of this mean of which nothing is known, where one cell may have nearly all.

    That of the beta distribution whose parameters add up to 1.
    """
    return np.sqrt(0.5 * np.maximum(1.0 / share - 1.0, 0.0))


def binned(part: IntArray, cells: FloatArray, bins: int) -> FloatArray:
    """Sums over the cells of each bin: shape (bins, heads). cells: shape (cells, heads)."""
    return np.stack([np.bincount(part, head, bins) for head in cells.T], axis=1)
