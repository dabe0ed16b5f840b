"""Mechanisms that release rados: one Boolean column of them, or edge vectors with Gaussian noise to build them from.

The paper's DP-FEAT returns whole rado vectors. Only the protected column's distribution is close between neighbours;
the other columns let one read which records a rado sums, and then the protected bit. So whole vectors are refused,
and what a ledger may pay for is the column alone. [000-DP-FEAT]
"""

import abc
import functools
from functools import cached_property
from typing import Final, Never

import attrs
import numpy as np

from accountant import ApproxDP, Description, FeatureValue, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import open_probability, positive, up
from accountant.explained import Explained
from mechanisms.additive import GaussianNoise
from mechanisms.core import L2Sensitivity, Mechanism, PlainMechanism, Query, Rows, one_block
from mechanisms.queries import refuse_sizes
from mechanisms.rados.column_distribution import (
    RadoColumnLaw,
    beta_at,
    largest_low,
    rados_count,
    records_count,
    truncation_beta,
    whole_number,
    window_advice,
)
from mechanisms.rados.sampling import EdgeVectors, Vectors, pieces, sample_truncated_rados
from mechanisms.randomness import NoiseSource, SecureNoise

IN_BALL: Final = 1.0 - 2.0**-32
"""Lengths of up to 2^18 coordinates are computed to within 2^-34; this keeps shortened rows inside the ball."""


class NotPrivate(Explained, ValueError):
    """Asked to release something for which no (ε, δ) with δ < 1/2 is true."""


@functools.lru_cache(maxsize=1024)
def _epsilon(records: int, low: int, number: int, delta: float) -> float:
    """Kept, as a learner builds the same mechanism again for every fit; the distribution is not, for its size."""
    return RadoColumnLaw(records, low).epsilon(delta, number)


class RadoColumn(Mechanism[EdgeVectors, FloatArray]):
    """What both column mechanisms share: n rados are drawn, one Boolean column of them is released.

    number: n, in 1 … MAX_RADOS.  feature: the protected column j.  records: m, public.
    delta: the δ of all n rados together, in (0, 1); ε follows.  noise: where the supports come from.
    """

    number: int
    feature: int
    records: int
    delta: float
    noise: NoiseSource

    @property
    @abc.abstractmethod
    def law(self) -> RadoColumnLaw:
        """The distribution of the column, but for its offset."""

    @property
    @abc.abstractmethod
    def _own_parameters(self) -> tuple[tuple[str, float | int | str], ...]:
        """What the ledger's entry says besides."""

    @cached_property
    def cost(self) -> ApproxDP:
        """(ε, δ) of all n rados together, exactly composed. Raises ValueError where δ is below what must leak."""
        certain = self.law.certain(self.number)
        if not certain < self.delta:
            raise ValueError(
                f"delta={self.delta!r} is too small: number={self.number} rados of {self.records} records tell "
                f"neighbours apart for sure with probability {certain:.6g}; raise delta, release fewer rados, or "
                + self._remedy()
            )
        return ApproxDP(_epsilon(self.records, self.law.low, self.number, self.delta), self.delta)

    def _remedy(self) -> str:
        low = largest_low(self.records, self.number, self.delta)
        if low < 0:
            return "use more records"
        return window_advice(self.records, low) if low else "do not truncate (RandomRados)"

    @property
    def adjacency(self) -> FeatureValue:
        """One bit of the protected column is flipped; all else is public to the adversary."""
        return FeatureValue(self.feature)

    @property
    def scope(self) -> str:
        """What the cost covers, in words; it goes into the ledger."""
        return f"column {self.feature} of the rados only; the joint rado vector is not private"

    @cached_property
    def description(self) -> Description:
        """What the ledger's entry says about it."""
        return Description(
            mechanism=type(self).__name__,
            query=f"column {self.feature} of the rados",
            parameters=(
                ("number", self.number),
                ("feature", self.feature),
                ("records", self.records),
                *self._own_parameters,
                ("scope", self.scope),
            ),
            norm="shift",
            sensitivity=1.0,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("000-rado-column", *(("000-DP-FEAT",) if self.law.low else ())),
        )

    def check(self, data: EdgeVectors) -> None:
        """Raise ValueError for another m, IndexError for a missing column, NotBoolean for one that is not ±1."""
        if data.records != self.records:
            raise ValueError(f"records: this was built for {self.records} records, the data has {data.records}")
        data.boolean_column(self.feature)

    def sample(self, data: EdgeVectors) -> FloatArray:
        """The column of n rados, shape (number,), whole numbers in −m … m."""
        column = EdgeVectors(data.boolean_column(self.feature)[:, None])
        return sample_truncated_rados(column, self.number, 0, self.law, self.noise)[:, 0]

    @classmethod
    def whole_vectors(cls) -> Never:
        """Always raises NotPrivate: see `joint_rados`."""
        joint_rados()


def joint_rados() -> Never:
    """Always raises NotPrivate: releasing rados with all their columns protects nothing. [000-DP-FEAT]

    With other columns in general position a rado shows which records it sums; the changed record is one of them
    with probability 1/2, and then the protected column gives its bit away: δ >= 1/2 at every ε.
    """
    raise NotPrivate(
        "whole rado vectors are not differentially private at any epsilon (delta >= 1/2): their other columns show "
        "which records were summed. Release one column (RandomRados, RadoTailTruncation), or build the rados from "
        "noised edge vectors (noised_edges), where they are free"
    )


@attrs.frozen(slots=False)
class RandomRados(RadoColumn):
    """One Boolean column of n plain random rados.

    number: n, in 1 … MAX_RADOS.  feature: the column j.  records: m.  delta: of all n together, in (0, 1).
    Cost: ApproxDP(ε, delta), ε exact for n rados: about a Gaussian's with μ = 2·√(n/m). Proof: [000-rado-column].

    | edge | what happens |
    | --- | --- |
    | delta 0 | ValueError: the sums −m … m have ends that a neighbour cannot reach |
    | delta below 1 − (1 − 2^−m)^n | ValueError: no ε is enough |
    | one record | the rado is 0 or the edge itself: delta must exceed 1/2 |
    | data with another m | ValueError before the charge |
    | no such column | IndexError before the charge |
    | a column value other than ±1 | NotBoolean before the charge |
    | the other columns | never looked at |
    | whole vectors | NotPrivate |
    """

    number: int = attrs.field(converter=rados_count)
    feature: int = attrs.field(converter=whole_number)
    records: int = attrs.field(converter=records_count)
    delta: float = attrs.field(converter=open_probability)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    def __attrs_post_init__(self) -> None:
        _ = self.cost  # refuses at birth what has no cost

    @cached_property
    def law(self) -> RadoColumnLaw:
        return RadoColumnLaw(self.records)

    @property
    def _own_parameters(self) -> tuple[tuple[str, float | int | str], ...]:
        return ()


@attrs.frozen(slots=False)
class RadoTailTruncation(RadoColumn):
    """DP-FEAT: one Boolean column of n random rados, each drawn again until it lies in the window of eq. 16.

    number, feature, records, delta: as for `RandomRados`.  beta: the truncation, in (0, 1/2); see `at_epsilon`.
    Cost: ApproxDP(ε, delta), ε exact for n rados, in place of the printed (n·ε, n·δ). Proof: [000-DP-FEAT].
    Truncation never lowers ε: `RandomRados` costs less at the same delta, and draws less.

    | edge | what happens |
    | --- | --- |
    | an empty window | EmptyWindow, with the β and ε that have one |
    | a window of one value | ValueError: it tells neighbours apart for sure |
    | delta below what the window's ends reveal    | ValueError, with the β and ε that would do |
    | beta 0 | ValueError: that is RandomRados |
    | beta 1/2 | ValueError |
    | data with another m | ValueError before the charge |
    | no such column | IndexError before the charge |
    | a column value other than ±1 | NotBoolean before the charge |
    | the other columns | never looked at |
    | whole vectors | NotPrivate |
    """

    number: int = attrs.field(converter=rados_count)
    feature: int = attrs.field(converter=whole_number)
    records: int = attrs.field(converter=records_count)
    beta: float = attrs.field(converter=truncation_beta)
    delta: float = attrs.field(converter=open_probability)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    def __attrs_post_init__(self) -> None:
        _ = self.cost  # refuses at birth what has no cost, and empty windows

    @classmethod
    def at_epsilon(
        cls, epsilon: float, *, number: int, feature: int, records: int, delta: float, noise: NoiseSource | None = None
    ) -> "RadoTailTruncation":
        """With the window that 000, Algorithm 2 uses for ε: β = 1/(1 + e^{ε/2}). `cost` says what it really costs."""
        return cls(number, feature, records, beta_at(epsilon), delta, SecureNoise() if noise is None else noise)

    @cached_property
    def law(self) -> RadoColumnLaw:
        return RadoColumnLaw.truncated(self.records, self.beta)

    @property
    def _own_parameters(self) -> tuple[tuple[str, float | int | str], ...]:
        return (("beta", self.beta),)


def clipped(edges: FloatArray, radius: float) -> FloatArray:
    """Rows shortened to Euclidean length `radius`, less 2^-32 of it, where they are longer; without overflow.

    Never longer than `radius`, also in exact arithmetic, up to 2^18 features. Returns the shape of edges. A row comes
    out the same, bit by bit, whatever rows are beside it, where rows lie one after another in memory. [exact-rows]
    """
    radius *= IN_BALL
    peaks = np.max(np.abs(edges), axis=1, keepdims=True)
    units = edges / np.where(peaks > 0.0, peaks, 1.0)
    lengths = np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1.0)
    return np.where(peaks <= radius / lengths, edges, units * (radius / lengths))


def edge_vectors(radius: float) -> Query[Rows[Vectors], FloatArray, L2Sensitivity]:
    """The edge vectors themselves, shape (m, d), clipped to a public radius. 000, section 5.2. [000-edges]

    radius: R, in the features' unit, positive, and public: never taken from the data.
    Sensitivity: 2R in ℓ2 when one record is replaced, its label included. Raises ValueError for another radius.
    As many numbers come out as go in, so records must be in one place; others are refused before the charge.
    """
    ball = positive(radius)

    def shortened(data: Rows[Vectors]) -> FloatArray:
        return np.concatenate([clipped(np.asarray(edges, dtype=np.float64), ball) for _, edges in pieces(_one(data))])

    return Query(
        f"edge vectors clipped to length {ball!r}",
        shortened,
        L2Sensitivity(up(2.0 * ball)),
        ReplaceOne(),
        ("000-edges",),
        lambda data: refuse_sizes(data.n, _one(data).features),
    )


def _one(data: Rows[Vectors]) -> Vectors:
    found = one_block(data)
    if found is None:
        raise ValueError("edges: their noise is drawn for each record, in one place, and these records are in blocks")
    return found


def noised_edges(
    radius: float, sigma: float, noise: NoiseSource | None = None
) -> PlainMechanism[Rows[Vectors], FloatArray, L2Sensitivity, FloatArray]:
    """Edge vectors + N(0, sigma²): GDP(2·radius/sigma), under replace-one. [000-edges]

    Rados built from what it releases are post-processing, whatever their number: see `sample_fixed_support_rados`.

    | edge | what happens |
    | --- | --- |
    | a row longer than radius | shortened to it |
    | a row of zeros | stays |
    | radius 0, infinite or NaN | ValueError |
    | sigma 0 or infinite | ValueError |
    | records in several blocks | ValueError before the charge |
    """
    return PlainMechanism(edge_vectors(radius), GaussianNoise(sigma), SecureNoise() if noise is None else noise)
