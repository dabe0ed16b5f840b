"""A sample under a measure that follows from margins: the state of every booster here, and how it goes on."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Final, Generic, Protocol, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant._numbers import count
from accountant.rounding import up
from boosting.measures import BoundedMeasure, FloatArray, WholeArray
from boosting.schema import Hypothesis, Labelled, SignArray
from mechanisms import Slickness
from mechanisms.rows import Block, MemoryRows, Rows, Sums

S = TypeVar("S", bound=Labelled)

MAX_ROUNDS: Final = 4096
"""Rounds for which the rounding head-room of weighted sums is proved; no certificate is issued beyond."""

MARGIN: Final = np.int16
"""Holds margins of MAX_ROUNDS rounds, twice over: eight times less memory to pass over than the usual integers."""

GRID: Final = 2**10
"""Real predictions are rounded to multiples of 1/GRID, so that margins are whole numbers of these, and few."""

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

    def weights(self, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
        """What records of each margin weigh, shape (L,), and what weights are normalised by.

        margins: shape (L,), rising.  counts: how many records have each, shape (L,). All that it knows of the records,
        so it is the same wherever they are.
        """


@attrs.frozen(eq=False)
class Weighting:
    """What records weigh by their margins.

    margins, weights: of each level, shape (L,).  mass: what weights are normalised by.  n: the number of records.
    """

    margins: FloatArray
    weights: FloatArray
    mass: float
    n: int

    def of(self, margins: WholeArray) -> BoundedMeasure:
        """The measure on some of the records. margins: theirs, as `margins_of` gives them."""
        return BoundedMeasure(self.weights, levels(margins, self.margins.size), self.mass, self.n)


@attrs.frozen(slots=False, eq=False)
class Reweighted(Generic[S]):
    """Records with the measure that `producer` puts on them after some hypotheses.

    rows: the records, wherever they are. What there is one of for each, margins and levels, stays there.
    hypotheses: released, in order.
    """

    rows: Rows[S] = attrs.field(repr=False)
    hypotheses: tuple[Hypothesis[S], ...]
    producer: MarginWeighting

    @property
    def n(self) -> int:
        """The number of records."""
        return self.rows.n

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting, for the n that there really are."""
        return self.producer.slickness(self.n, len(self.hypotheses) + 1)

    @cached_property
    def weighting(self) -> Weighting:
        """Weights by margins: a visit to all records, which are counted by margin."""
        hypotheses = self.hypotheses

        def counted(block: Block[S]) -> npt.NDArray[np.int64]:
            margins = margins_of(block, hypotheses)
            size = _levels(margins, len(hypotheses))
            return np.bincount(levels(margins, size), minlength=size).astype(np.int64)

        return weighting_of(self.producer, self.rows.total(counted), len(hypotheses))

    def total(self, work: Callable[[S, BoundedMeasure], Sums]) -> Sums:
        """Σ work(records of a block, the measure on them) over all blocks. work: see `mechanisms.rows.Rows`."""
        weighting, hypotheses = self.weighting, self.hypotheses
        return self.rows.total(lambda block: work(block.data, weighting.of(margins_of(block, hypotheses))))

    # --- where all records are in one block ----------------------------------------------------------------------

    @property
    def _block(self) -> Block[S]:
        if not isinstance(self.rows, MemoryRows) or len(self.rows.blocks) > 1:
            raise ValueError("records in several blocks are not looked at one by one: use total(...)")
        return self.rows.blocks[0]

    @property
    def sample(self) -> S:
        """The records, where they are in one block. Raises ValueError where they are not."""
        return self._block.data

    @property
    def margins(self) -> WholeArray | FloatArray:
        """yᵢ·Σⱼ hⱼ(xᵢ), shape (n,); see `sample`."""
        found = margins_of(self._block, self.hypotheses)
        return found / GRID if found.dtype == _REAL else found

    @cached_property
    def measure(self) -> BoundedMeasure:
        """What weighs the records; see `sample`."""
        return self.weighting.of(margins_of(self._block, self.hypotheses))


def start(sample: S | Rows[S], producer: MarginWeighting) -> Reweighted[S]:
    """Records before any hypothesis."""
    rows = sample if isinstance(sample, Rows) else MemoryRows.of(sample, sample.n)
    return Reweighted(rows, (), producer)


def step(state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
    """The same after one more hypothesis."""
    return Reweighted(state.rows, (*state.hypotheses, hypothesis), state.producer)


_REAL: Final = np.dtype(np.int32)
"""Marks margins that are in units of 1/GRID."""


def margins_of(block: Block[S], hypotheses: tuple[Hypothesis[S], ...]) -> WholeArray:
    """yᵢ·Σⱼ hⱼ(xᵢ) of a block's records, shape (k,); 32-bit integers are in units of 1/GRID.

    They stay with the block, so that a visit adds new hypotheses only; lost, they follow from all of them.
    """
    sample, kind = block.data, MARGIN if len(hypotheses) <= MAX_ROUNDS else np.int64

    def agreed(margins: WholeArray, hypothesis: Hypothesis[S]) -> WholeArray:
        said = in_range(hypothesis.predictions(sample))
        if said.dtype.kind != "f":
            agreement = sample.labels * said
            return np.asarray(margins + (agreement * np.int32(GRID) if margins.dtype == _REAL else agreement))
        whole = margins if margins.dtype == _REAL else (margins * np.int64(GRID)).astype(_REAL)
        return whole + (sample.labels * np.rint(said * GRID)).astype(_REAL)

    return block.fold(f"margins as {kind.__name__}", hypotheses, lambda: np.zeros(block.size, dtype=kind), agreed)


def _levels(margins: WholeArray, hypotheses: int) -> int:
    """How many margins there may be: of one parity, where all hypotheses are ±1."""
    return hypotheses + 1 if margins.dtype != _REAL else 2 * GRID * hypotheses + 1


def levels(margins: WholeArray, size: int) -> WholeArray:
    """Which of the `size` margins that there may be each record has, shape (k,), of the type of `margins`."""
    if margins.dtype == _REAL:
        return margins + margins.dtype.type(size // 2)
    return np.asarray(np.right_shift(margins + margins.dtype.type(size - 1), 1))


def weighting_of(producer: MarginWeighting, counts: WholeArray, hypotheses: int) -> Weighting:
    """What records weigh of which so many, shape (L,), have each of the margins that there may be."""
    size = counts.size
    values = np.arange(-hypotheses, hypotheses + 1, 2, dtype=np.float64)
    if size != values.size:
        values = (np.arange(size) - size // 2) / GRID
    weights, mass = producer.weights(values, counts)
    return Weighting(values, weights, mass, int(np.sum(counts)))


def in_range(predictions: SignArray | FloatArray) -> SignArray | FloatArray:
    """Real predictions, record by record brought into [−1, 1]: beyond it the certificate would be false. NaN is 0."""
    if predictions.dtype.kind != "f":
        return predictions
    return np.clip(np.nan_to_num(np.asarray(predictions, dtype=np.float64), nan=0.0), -1.0, 1.0)
