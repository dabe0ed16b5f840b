"""Exponential weights without a projection: measure producers with a certificate of their own.

It depends on how far weights can be apart, not on how many share them, so it gets worse with every round; `LazyBregman`
has one that does not. Where a few rounds at a small rate are enough, nothing is capped here, and it is the same.
"""

from typing import TypeVar

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import positive
from boosting.booster import Hypothesis, Labelled
from boosting.measures import WholeArray
from boosting.reweighted_sample import Reweighted, ratio_zeta, start, step
from mechanisms import Slickness
from mechanisms.core import Rows

S = TypeVar("S", bound=Labelled)


@attrs.frozen
class ExponentialWeights:
    """μ̂ ∝ exp(−λ·margin): multiplicative weights; or ∝ min(1, exp(−λ·margin)), as MadaBoost weights records.

    learning_rate: λ > 0, the same in all rounds and public; AdaBoost takes it from the data, see `AdaBoost`.
    capped: whether no weight exceeds that of a margin of 0, which halves what λ does to the certificate.
    Sources: 003, section 3.1 (without the projection); Domingo & Watanabe (2000).
    """

    learning_rate: float = attrs.field(converter=positive)
    capped: bool = False

    @property
    def name(self) -> str:
        """How certificates name it."""
        return f"ExponentialWeights(learning_rate={self.learning_rate!r}, capped={self.capped!r})"

    def slickness(self, n: int, number: int) -> Slickness:
        """ζ_t = r/(r + n − 1), r = exp(2λ(t − 1)), capped exp(λ(t − 1)). [001-per-round-zeta] See `ratio_zeta`.

        Margins are within t − 1 of 0, so of two weights one is at most r times the other; capped, it is at most 1 and
        the other at least exp(−λ(t − 1)).
        """
        zeta = ratio_zeta(n, number, self.learning_rate, 1.0 if self.capped else 2.0)
        return Slickness(zeta, n, ReplaceOne(), self.name, ("001-per-round-zeta",))

    def weights(self, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
        """The weights, the largest at 1, and their sum. margins, counts: see `MarginWeighting`."""
        logs = -self.learning_rate * margins
        if self.capped:
            logs = np.minimum(logs, 0.0)
        weights = np.exp(np.minimum(logs - np.max(logs[counts > 0]), 0.0))
        return weights, float(counts @ weights)

    def start(self, sample: S | Rows[S]) -> Reweighted[S]:
        """The uniform measure."""
        return start(sample, self)

    def step(self, state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
        """See `boosting.reweighted_sample.step`."""
        return step(state, hypothesis)
