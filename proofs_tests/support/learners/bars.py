"""A weak learner as a user would write it, with nothing but what `learners.votes.weak_learners` offers."""

import itertools
from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from accountant import Protected
from accountant.arrays import CodeArray, SignArray
from boosting import Spender
from learners.encoding.encoder import Layout
from learners.votes.weak_learners import CodeHypothesis, RobustLearner, Weighted, WeightedPartition
from mechanisms import LEAF_GAPS, LeafLabels, NoiseSource, Slickness


@attrs.frozen
class Bars(CodeHypothesis):
    """A label for each value of one column."""

    column: int
    labels: tuple[int, ...]

    def on_codes(self, layout: Layout, codes: CodeArray) -> SignArray:
        return np.asarray(np.array(self.labels, dtype=np.int8)[codes[self.column]])


@attrs.frozen
class PrivateBars(RobustLearner[Bars]):
    """Takes the columns in turn, and labels all values of one by their weighted majorities, in one release."""

    layout: Layout
    eta: float
    noise: NoiseSource
    turn: Iterator[int] = attrs.field(init=False, factory=itertools.count)

    def releases(self, zeta: float) -> Sequence[LeafLabels[WeightedPartition]]:
        return [LeafLabels(LEAF_GAPS, self.eta, zeta, self.noise)]

    def learn(self, spender: Spender, data: Protected[Weighted], slickness: Slickness) -> Bars:
        number, columns = next(self.turn), self.layout.schema.columns
        column, cells = number % len(columns), columns[number % len(columns)].cells
        view = data.map(lambda weighted: WeightedPartition(weighted, lambda sample: sample.codes[column], cells))
        (labels,) = (spender.release(robust.under(slickness), view) for robust in self.releases(slickness.zeta))
        return Bars(column, tuple(labels.tolist()))
