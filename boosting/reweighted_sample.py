"""A sample under a measure that follows from margins: the state of every booster here, and how it goes on."""

import math
import uuid
from collections.abc import Callable
from functools import cached_property
from typing import Final, Generic, Protocol, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, SignArray
from accountant.costs import count, up
from boosting.booster import Hypothesis, Labelled
from boosting.measures import BoundedMeasure, WholeArray
from mechanisms import Slickness
from mechanisms.core import Block, MemoryRows, Rows, Sums

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
    """A measure producer whose weight of a record is a function of its margin, times one factor for all records."""

    def slickness(self, n: int, number: int) -> Slickness:
        """The certificate of round `number` (1-based) on n records."""

    def weights(self, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
        """What records of each margin weigh, shape (L,), and what weights are normalised by.

        margins: shape (L,), rising.  counts: how many records have each, shape (L,). All that it knows of the records,
        so it is the same wherever they are.
        """


@attrs.frozen(eq=False, repr=False)
class Margins:
    """Margins of some records after so many hypotheses.

    values: shape (k,), in units of 1/grid.  grid: 1 where all hypotheses are ±1, so that margins have one parity.
    """

    values: WholeArray
    grid: int
    hypotheses: int

    @property
    def size(self) -> int:
        """How many margins there may be."""
        return self.hypotheses + 1 if self.grid == 1 else 2 * self.grid * self.hypotheses + 1

    @property
    def levels(self) -> WholeArray:
        """Which of these each record has, shape (k,), of the type of the values."""
        values, kind = self.values, self.values.dtype.type
        if self.grid != 1:
            return values + kind(self.grid * self.hypotheses)
        return np.asarray(np.right_shift(values + kind(self.hypotheses), 1))


@attrs.frozen(eq=False, repr=False)
class Weighting:
    """What records weigh by their margins.

    margins, weights: of each level, shape (L,).  mass: what weights are normalised by.  n: the number of records.
    """

    margins: FloatArray
    weights: FloatArray
    mass: float
    n: int

    def of(self, margins: Margins) -> BoundedMeasure:
        """The measure on some of the records. margins: theirs."""
        return BoundedMeasure(self.weights, margins.levels, self.mass, self.n)


@attrs.frozen
class BoostingStep(Generic[S]):
    """A hypothesis as a booster took it, told apart by `token` alone: also where a copy of it came to a worker."""

    hypothesis: "Hypothesis[S]" = attrs.field(eq=False)
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)


@attrs.frozen(eq=False)
class CountedMargins(Generic[S]):
    """How many of a block's records have each margin that there may be after these steps, shape (L,)."""

    steps: tuple["BoostingStep[S]", ...]

    def __call__(self, block: Block[S]) -> npt.NDArray[np.int64]:
        """See above."""
        margins = margins_of(block, self.steps)
        return np.bincount(margins.levels, minlength=margins.size).astype(np.int64)


@attrs.frozen(eq=False)
class WeighedVisit(Generic[S, Sums]):
    """What `work` makes of a block's records and of the measure on them, which follows from weights by margins."""

    work: Callable[[S, BoundedMeasure], Sums]
    weighting: Weighting
    steps: tuple["BoostingStep[S]", ...]

    def __call__(self, block: Block[S]) -> Sums:
        """See above."""
        return self.work(block.data, self.weighting.of(margins_of(block, self.steps)))


@attrs.frozen(slots=False, eq=False)
class Reweighted(Generic[S]):
    """Records with the measure that `producer` puts on them after some hypotheses.

    rows: the records, wherever they are. Margins and levels, one for each record, stay with them.
    steps: one for each hypothesis, in order.
    """

    rows: Rows[S] = attrs.field(repr=False)
    steps: tuple["BoostingStep[S]", ...]
    producer: MarginWeighting

    @property
    def hypotheses(self) -> tuple[Hypothesis[S], ...]:
        """Released, in order."""
        return tuple(step.hypothesis for step in self.steps)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.rows.n

    @property
    def slickness(self) -> Slickness:
        """The certificate of this weighting, for the n that there really are."""
        return self.producer.slickness(self.n, len(self.steps) + 1)

    @cached_property
    def weighting(self) -> Weighting:
        """Weights by margins: a visit to all records, which are counted by margin; none before the first hypothesis."""
        steps = self.steps
        if not steps:
            return weighting_of(self.producer, np.array([self.n]), 0)
        return weighting_of(self.producer, self.rows.total(CountedMargins(steps)), len(steps))

    def total(self, work: Callable[[S, BoundedMeasure], Sums]) -> Sums:
        """Σ work(records of a block, the measure on them) over all blocks. work: see `mechanisms.core.rows.Rows`."""
        return self.rows.total(WeighedVisit(work, self.weighting, self.steps))

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
        found = margins_of(self._block, self.steps)
        return found.values if found.grid == 1 else found.values / found.grid

    @cached_property
    def measure(self) -> BoundedMeasure:
        """What weighs the records; see `sample`."""
        return self.weighting.of(margins_of(self._block, self.steps))


def start(sample: S | Rows[S], producer: MarginWeighting) -> Reweighted[S]:
    """Records before any hypothesis."""
    rows = sample if isinstance(sample, Rows) else MemoryRows.of(sample, sample.n)
    return Reweighted(rows, (), producer)


def step(state: Reweighted[S], hypothesis: Hypothesis[S]) -> Reweighted[S]:
    """The same after one more hypothesis."""
    return Reweighted(state.rows, (*state.steps, BoostingStep(hypothesis)), state.producer)


def margins_of(block: Block[S], steps: "tuple[BoostingStep[S], ...]") -> Margins:
    """yᵢ·Σⱼ hⱼ(xᵢ) of a block's records.

    They stay with the block, so that a visit adds new hypotheses only; lost, they follow from all of them.
    """
    sample, kind = block.data, MARGIN if len(steps) <= MAX_ROUNDS else np.int64

    def extended(margins: Margins, step: BoostingStep[S]) -> Margins:
        said, labels = in_range(step.hypothesis.predictions(sample)), sample.labels.astype(np.int8, copy=False)
        values, number = margins.values, margins.hypotheses + 1
        if said.dtype.kind == "f" and margins.grid == 1:
            values = values.astype(np.int32) * np.int32(GRID)
        if said.dtype.kind == "f":
            return Margins(values + labels * np.rint(said * GRID).astype(np.int32), GRID, number)
        agreement = labels * said.astype(np.int8, copy=False)
        if margins.grid > 1:
            return Margins(values + agreement * np.int32(margins.grid), margins.grid, number)
        return Margins(np.asarray(values + agreement), 1, number)

    def empty() -> Margins:
        return Margins(np.zeros(block.size, dtype=kind), 1, 0)

    return block.fold(f"margins as {kind.__name__}", steps, empty, extended)


def weighting_of(producer: MarginWeighting, counts: WholeArray, hypotheses: int) -> Weighting:
    """What records weigh of which so many, shape (L,), have each of the margins that there may be."""
    size = counts.size
    values = np.arange(-hypotheses, hypotheses + 1, 2, dtype=np.float64)
    if size != values.size:
        values = (np.arange(size) - size // 2) / GRID
    weights, mass = producer.weights(values, counts)
    return Weighting(values, weights, mass, int(np.sum(counts)))


def in_range(predictions: SignArray | FloatArray) -> SignArray | FloatArray:
    """Predictions, record by record brought into [−1, 1]: beyond it the certificate would be false. NaN is 0.

    Whole numbers of one byte are taken to be −1 and +1; of others the sign counts, and 0 as −1.
    """
    if predictions.dtype == np.int8:
        return cast("SignArray", predictions)
    if predictions.dtype.kind != "f":
        return np.where(predictions > 0, np.int8(1), np.int8(-1))
    return np.clip(np.nan_to_num(np.asarray(predictions, dtype=np.float64), nan=0.0), -1.0, 1.0)
