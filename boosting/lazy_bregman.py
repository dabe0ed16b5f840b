"""Lazy Bregman re-weighting (LB-NxM), with its slickness certificate.

Hypotheses are ±1 or real, in [−1, 1]. A loss 1 − ½|h(x) − y| is ½(1 + y·h(x)), so in both cases only the sum of the
margins y·h(x) counts; for ±1 it is a whole number, and as few distinct weights as hypotheses come of it.
"""

import math
from functools import cached_property
from typing import Final, Generic, TypeVar

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant._numbers import count, fraction, positive
from accountant.rounding import up
from boosting.measures import BoundedMeasure, FloatArray, IntArray
from boosting.projection import capped_scaling, capped_weights
from boosting.schema import Hypothesis, Labelled, SignArray
from mechanisms import Slickness

S = TypeVar("S", bound=Labelled)

MAX_ROUNDS: Final = 4096
"""Rounds for which the rounding head-room of weighted sums is proved; no certificate is issued beyond."""

MAX_EXPONENT: Final = 4096.0
"""The largest λ·t, for the same reason: beyond it exp(−λ·margin) keeps too few digits."""


def _density(value: float) -> float:
    if fraction(value) < 2.0**-30:
        raise ValueError(f"density: expected at least 2^-30, got {value!r}")
    return float(value)


@attrs.frozen(slots=False, eq=False)
class Reweighted(Generic[S]):
    """A sample with the measure that `LazyBregman` puts on it after `hypotheses` many rounds.

    margins: yᵢ·Σⱼ hⱼ(xᵢ), shape (n,); integers of the parity of `hypotheses` while all of these are ±1.
    """

    sample: S
    margins: IntArray | FloatArray
    hypotheses: int
    producer: "LazyBregman"

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting, for the n that the sample really has."""
        return self.producer.slickness(self.sample.n, self.hypotheses + 1)

    @cached_property
    def measure(self) -> BoundedMeasure:
        """exp(−λ·margin), scaled and capped to density exactly κ; for ±1 at most hypotheses + 1 distinct values."""
        mass = self.producer.density * self.sample.n
        if self.margins.dtype.kind == "f":
            logs = np.asarray(-self.producer.learning_rate * self.margins, dtype=np.float64)
            weights, _ = capped_weights(logs, self.producer.density)
            return BoundedMeasure(weights, np.arange(self.sample.n), mass)
        levels = np.arange(-self.hypotheses, self.hypotheses + 1, 2, dtype=np.float64)
        index = (np.asarray(self.margins, dtype=np.intp) + self.hypotheses) >> 1
        counts = np.bincount(index, minlength=levels.size)
        values = capped_scaling(-self.producer.learning_rate * levels, counts, self.producer.density)
        return BoundedMeasure(values, index, mass)


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
        if count(number) > MAX_ROUNDS:
            raise ValueError(f"rounds: no certificate beyond round {MAX_ROUNDS}, got {number}")
        if self.learning_rate * (number - 1) > MAX_EXPONENT:
            raise ValueError(f"learning_rate: {self.learning_rate} times {number - 1} rounds exceeds {MAX_EXPONENT}")
        shrink = math.exp(-2.0 * self.learning_rate * (number - 1))
        per_round = up(1.0 / (1.0 + (count(n) - 1) * shrink))
        zeta = min(self.global_zeta(n), per_round)
        return Slickness(zeta, n, ReplaceOne(), self.name, ("L0", "001-per-round-zeta"))

    def start(self, sample: S) -> Reweighted[S]:
        """The uniform measure of density κ."""
        return Reweighted(sample, np.zeros(sample.n, dtype=np.intp), 0, self)

    def step(self, state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
        """The measure after one more hypothesis. Margins are carried along; they follow from the hypotheses."""
        agreement = state.sample.labels * in_range(hypothesis.predictions(state.sample))
        return Reweighted(state.sample, state.margins + agreement, state.hypotheses + 1, self)


def in_range(predictions: SignArray | FloatArray) -> SignArray | FloatArray:
    """Real predictions, record by record brought into [−1, 1]: beyond it the certificate would be false. NaN is 0."""
    if predictions.dtype.kind != "f":
        return predictions
    return np.clip(np.nan_to_num(np.asarray(predictions, dtype=np.float64), nan=0.0), -1.0, 1.0)
