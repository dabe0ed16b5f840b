"""A column of numbers whose missing values have a cell of their own: its effect follows nothing but its own records.

Neighbours on a grid are alike; a number that is missing has no neighbours. So the cell, the last of its view, is a
nominal one beside the ordered others, in every round a bin of its own.
"""

from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from learners.additive.effects import Effect, NominalEffect, OrderedEffect

LEAST_SHARE: Final = 1e-6
"""Of the records, that a cell is taken to have where the release of its count says less."""


@attrs.define(eq=False)
class EffectWithMissing:
    """See `Effect`. mean: of all cells.  bins: of the ordered.  own: of the last.  mass: share per ordered cell."""

    mean: FloatArray
    bins: OrderedEffect
    own: NominalEffect
    mass: FloatArray

    @staticmethod
    def start(bins: OrderedEffect, mass: FloatArray, prior: float) -> "EffectWithMissing":
        """Before any release. mass: of all cells, the own one last.  prior: variance, in nats squared."""
        return EffectWithMissing(np.append(bins.mean, 0.0), bins, NominalEffect.start(1, prior), mass[:-1])

    def drift(self, variance: float) -> None:
        """See `Effect`."""
        self.bins.drift(variance)
        self.own.drift(variance)

    def update(self, part: IntArray, step: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Effect`."""
        moved, unsure = self.bins.update(part[:-1], step[:-1], variance[:-1])
        own_moved, own_unsure = self.own.update(part[-1:], step[-1:], variance[-1:])
        self.mean = np.append(self.bins.mean, self.own.mean)
        return np.append(moved, own_moved), np.append(unsure, own_unsure)

    def spread(self, part: IntArray, weight: FloatArray) -> float:
        """See `Effect`: within the bins, and between them and the own cell."""
        own = float(weight[-1])
        bins = weight[:-1] / weight[:-1].sum()
        held = np.bincount(part[:-1], self.mass)
        middle = float(bins @ (np.bincount(part[:-1], self.mass * self.bins.mean) / held))
        apart = (float(self.own.mean[0]) - middle) ** 2
        within = (1.0 - own) * self.bins.spread(part[:-1], bins)
        return within + own * ((1.0 - own) * apart - float(self.own.variance[0]))


def with_own_bin(part: IntArray) -> IntArray:
    """The bins of ordered cells, then one for the cell of missing values."""
    return np.append(part, part[-1] + 1)


def with_own_share(shares: FloatArray, own: float) -> FloatArray:
    """Shares of the ordered cells, summing to 1, then that of the missing values; again summing to 1.

    own: as released, so that it may be anything.
    """
    known = float(np.clip(own, LEAST_SHARE, 1.0 - LEAST_SHARE))
    return np.append((1.0 - known) * shares, known)


def effect_with_missing(mass: FloatArray, prior: float) -> Effect:
    """Before any release. mass: of all cells, the own one last."""
    bins = OrderedEffect.start(mass[:-1] / mass[:-1].sum(), prior)
    return EffectWithMissing.start(bins, mass, prior)
