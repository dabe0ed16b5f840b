"""A sample under a measure that follows from margins: the state of every booster here, and how it goes on."""

import math
from functools import cached_property
from typing import Final, Generic, Protocol, TypeVar

import attrs
import numpy as np

from accountant._numbers import count
from accountant.rounding import up
from boosting.measures import BoundedMeasure, FloatArray, WholeArray
from boosting.schema import Hypothesis, Labelled, SignArray
from mechanisms import Slickness

S = TypeVar("S", bound=Labelled)

MAX_ROUNDS: Final = 4096
"""Rounds for which the rounding head-room of weighted sums is proved; no certificate is issued beyond."""

MARGIN: Final = np.int16
"""Holds margins of MAX_ROUNDS rounds, twice over: eight times less memory to pass over than the usual integers."""

MAX_EXPONENT: Final = 4096.0
"""The largest λ·t, for the same reason: beyond it exp(−λ·margin) keeps too few digits."""


def ratio_zeta(n: int, number: int, learning_rate: float, spread: float) -> float:
    """r/(r + n − 1), r = exp(spread·λ(t − 1)): ζ in round t where no weight is more than r times another.

    n: records.  number: t.  learning_rate: λ.  spread: how far the margins that count are apart, per round, in [0, 2].
    Each weight follows from its own record, up to one common factor, so if one is replaced the others move together,
    and the joint distance is the larger share of the replaced record: at most one against n − 1 that are each at least
    a share 1/r of it. [001-per-round-zeta] Raises ValueError beyond MAX_ROUNDS and MAX_EXPONENT.
    """
    if count(number) > MAX_ROUNDS:
        raise ValueError(f"rounds: no certificate beyond round {MAX_ROUNDS}, got {number}")
    if learning_rate * (number - 1) > MAX_EXPONENT:
        raise ValueError(f"learning_rate: {learning_rate} times {number - 1} rounds exceeds {MAX_EXPONENT}")
    shrink = math.exp(-spread * learning_rate * (number - 1))
    return min(1.0, up(1.0 / (1.0 + (count(n) - 1) * shrink)))


class MarginWeighting(Protocol):
    """A measure producer that weights a record by its margin alone, but for one number that all records have."""

    def slickness(self, n: int, number: int) -> Slickness:
        """The certificate of round `number` (1-based) on n records."""

    def weigh(self, margins: WholeArray | FloatArray, hypotheses: int) -> BoundedMeasure:
        """The measure for these margins after so many hypotheses. margins: as `Reweighted` has them."""


@attrs.frozen(slots=False, eq=False)
class Reweighted(Generic[S]):
    """A sample with the measure that `producer` puts on it after `hypotheses` many rounds.

    margins: yᵢ·Σⱼ hⱼ(xᵢ), shape (n,); integers of the parity of `hypotheses` while all of these are ±1.
    """

    sample: S = attrs.field(repr=False)
    margins: WholeArray | FloatArray = attrs.field(repr=False)
    hypotheses: int
    producer: MarginWeighting

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting, for the n that the sample really has."""
        return self.producer.slickness(self.sample.n, self.hypotheses + 1)

    @cached_property
    def measure(self) -> BoundedMeasure:
        """What weights the records."""
        return self.producer.weigh(self.margins, self.hypotheses)


def start(sample: S, producer: MarginWeighting) -> Reweighted[S]:
    """The sample before any hypothesis."""
    return Reweighted(sample, np.zeros(sample.n, dtype=MARGIN), 0, producer)


def step(state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
    """The sample after one more hypothesis. Margins are carried along; they follow from the hypotheses."""
    agreement = state.sample.labels * in_range(hypothesis.predictions(state.sample))
    margins = state.margins.astype(np.int64) if state.hypotheses == MAX_ROUNDS else state.margins
    return Reweighted(state.sample, margins + agreement, state.hypotheses + 1, state.producer)


def levels(margins: WholeArray | FloatArray, hypotheses: int) -> tuple[FloatArray, WholeArray]:
    """The distinct margins that there may be, shape (L,), and which of them each record has, shape (n,)."""
    if margins.dtype.kind == "f":
        return np.asarray(margins, dtype=np.float64), np.arange(margins.size)
    values = np.arange(-hypotheses, hypotheses + 1, 2, dtype=np.float64)
    return values, np.right_shift(margins + margins.dtype.type(hypotheses), 1)


def in_range(predictions: SignArray | FloatArray) -> SignArray | FloatArray:
    """Real predictions, record by record brought into [−1, 1]: beyond it the certificate would be false. NaN is 0."""
    if predictions.dtype.kind != "f":
        return predictions
    return np.clip(np.nan_to_num(np.asarray(predictions, dtype=np.float64), nan=0.0), -1.0, 1.0)
