"""Boosted depth-1 trees from the library's queries: a weak learner small enough to be enumerated whole."""

from collections.abc import Sequence

import attrs
import numpy as np

from accountant import Cost, Protected
from accountant.arrays import FloatArray, SignArray
from boosting import Reweighted, Spender
from learners import EncodedSample
from learners.encoding.encoder import literal_signs
from mechanisms import GINI_IMPROVEMENT, LEAF_GAPS, LeafLabels, NoiseSource, Slickness, WeightedExponential


@attrs.frozen
class Stump:
    """One split and a label per side: h(x) = labels[x has the feature]."""

    feature: int
    labels: tuple[int, int]

    def predictions(self, sample: EncodedSample) -> SignArray:
        """h(x_i), shape (n,)."""
        has = literal_signs(sample.layout, sample.codes, self.feature) > 0
        return np.where(has, self.labels[1], self.labels[0]).astype(np.int8)


@attrs.frozen(eq=False)
class Cells:
    """A weighted sample as the tree queries see it: one leaf cut by every feature, or the two leaves of one split."""

    data: Reweighted[EncodedSample]
    split: int | None = None

    @property
    def slickness(self) -> Slickness:
        return self.data.slickness

    def _weights(self, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[float]:
        """Label weights among some records, −1 first: integer counts of each distinct weight, then weighted."""
        sample, measure = self.data.sample, self.data.measure
        counts = [
            np.bincount(measure.index[inside & (sample.labels == label)], minlength=measure.values.size)
            for label in (-1, 1)
        ]
        return [float(np.dot(count, measure.values)) / measure.mass for count in counts]

    def _has(self, feature: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.asarray(literal_signs(self.data.sample.layout, self.data.sample.codes, feature) > 0)

    @property
    def leaf(self) -> FloatArray:
        if self.split is None:
            return np.array([self._weights(np.ones(self.data.sample.n, dtype=np.bool_))])
        has = self._has(self.split)
        return np.array([self._weights(~has), self._weights(has)])

    @property
    def inside(self) -> FloatArray:
        return np.array([[self._weights(self._has(feature)) for feature in range(self.data.sample.layout.d)]])


@attrs.frozen
class PrivateStump:
    """A split by Gini improvement, then both labels as one release."""

    eta_split: float
    eta_labels: float
    noise: NoiseSource

    def _split(self, zeta: float) -> WeightedExponential[Cells]:
        return WeightedExponential(GINI_IMPROVEMENT, self.eta_split, zeta, self.noise)

    def _labels(self, zeta: float) -> LeafLabels[Cells]:
        return LeafLabels(LEAF_GAPS, self.eta_labels, zeta, self.noise)

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """Two releases a round."""
        return tuple(robust.robust_cost.cost for robust in (self._split(slickness.zeta), self._labels(slickness.zeta)))

    def learn(self, spender: Spender, data: Protected[Reweighted[EncodedSample]], slickness: Slickness) -> Stump:
        """See `boosting.WeakLearner`."""
        feature = spender.release(self._split(slickness.zeta).under(slickness), data.map(Cells))
        cut = data.map(lambda weighted: Cells(weighted, feature))
        no, yes = spender.release(self._labels(slickness.zeta).under(slickness), cut).tolist()
        return Stump(feature, (no, yes))
