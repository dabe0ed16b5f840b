"""Lazy Bregman re-weighting (LB-NxM), with its slickness certificate.

Hypotheses are ±1 or real, in [−1, 1]. A loss 1 − ½|h(x) − y| is ½(1 + y·h(x)), so in both cases only the sum of the
margins y·h(x) counts; for ±1 it is a whole number, and as few distinct weights as hypotheses come of it. Real
predictions are rounded, record by record, to multiples of 1/1024, which are predictions in [−1, 1] just as well.
"""

import functools
from typing import TypeVar

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, fraction, positive, up
from boosting.booster import Hypothesis, Labelled
from boosting.measures import WholeArray
from boosting.projection import capped_scaling
from boosting.reweighted_sample import Reweighted, ratio_zeta, start, step
from mechanisms import Slickness
from mechanisms.core import Rows

S = TypeVar("S", bound=Labelled)


def _density(value: float) -> float:
    if fraction(value) < 2.0**-30:
        raise ValueError(f"density: expected at least 2^-30, got {value!r}")
    return float(value)


@attrs.frozen
class LazyBregman:
    """μ_{t+1} ∝ exp(−λ·margin), always scaled and capped to density exactly κ.

    density: κ in [2^-30, 1].  learning_rate: λ > 0, in the scale of 001's Algorithm 1 (003's λ is twice that).
    Sources: 001, Algorithm 1; 003, Algorithm 4. The projection is never skipped, see [001-projection].
    """

    density: float = attrs.field(converter=_density)
    learning_rate: float = attrs.field(converter=positive)

    @property
    def name(self) -> str:
        """How certificates name it."""
        return f"LazyBregman(density={self.density!r}, learning_rate={self.learning_rate!r})"

    def global_zeta(self, n: int) -> float:
        """ζ = 1/(κn), in any round. [L0]"""
        return min(1.0, up(1.0 / (self.density * count(n))))

    def slickness(self, n: int, number: int) -> Slickness:
        """ζ_t = min(1/(κn), r/(r + n − 1)), r = exp(2λ(t − 1)), t = `number`. [001-per-round-zeta]

        Nothing in the proof asks for ±1: two records' margins after t − 1 hypotheses in [−1, 1] differ by 2(t − 1).
        """
        return _certificate(self, n, number)

    def weights(self, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
        """exp(−λ·margin), scaled and capped to density exactly κ, and κn. margins, counts: see `MarginWeighting`."""
        mass = self.density * float(np.sum(counts))
        return capped_scaling(-self.learning_rate * margins, counts, self.density), mass

    def start(self, sample: S | Rows[S]) -> Reweighted[S]:
        """The uniform measure of density κ."""
        return start(sample, self)

    def step(self, state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
        """See `step`."""
        return step(state, hypothesis)


@functools.lru_cache(maxsize=64)  # a round asks for its certificate when it is planned, checked and charged
def _certificate(booster: LazyBregman, n: int, number: int) -> Slickness:
    zeta = min(booster.global_zeta(n), ratio_zeta(n, number, booster.learning_rate, 2.0))
    return Slickness(zeta, n, ReplaceOne(), booster.name, ("L0", "001-per-round-zeta"))
