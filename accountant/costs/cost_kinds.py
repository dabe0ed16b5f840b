"""What one release costs. A cost has a kind and a partial order within its kind; it is not a float.

Conversions are methods with names. Those that do not exist (a ρ to a pure ε, say) are not attributes,
so mypy rejects the call; at run time the call raises `NoConversion`, which says why.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, Self, TypeAlias

import attrs

from accountant.costs import curves, gaussian, subsampling
from accountant.costs.adjacency import AddRemoveOne, Adjacency
from accountant.costs.converters import count, non_negative, positive, probability, probability_below_one
from accountant.costs.rounding import exact, finite_up, float_down, float_up
from accountant.explained import Explained


class NoConversion(Explained, AttributeError):
    """Asked for a conversion between kinds of cost that no theorem gives."""


@attrs.frozen
class _Kind:
    """What all kinds share: a name for the ledger, and a clear refusal of missing conversions."""

    kind: ClassVar[str]

    if not TYPE_CHECKING:  # mypy must go on seeing that these attributes do not exist

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith(("to_", "split")):
                raise NoConversion(f"{type(self).__name__} has no {name}(): no theorem turns it into that")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def as_dict(self) -> dict[str, float | str]:
        """The cost as it stands in the ledger: its kind and its numbers."""
        return {"kind": self.kind, **attrs.asdict(self)}


def _part(whole: float, parts: int) -> float:
    """The largest float p with parts·p <= whole, exactly."""
    return float_down(exact(whole) / count(parts))


@attrs.frozen
class _OneEpsilon(_Kind):
    """Kinds whose only parameter is an ε, which orders them."""

    epsilon: float = attrs.field(converter=non_negative)

    def __le__(self, other: Self) -> bool:
        return self.epsilon <= other.epsilon if type(other) is type(self) else NotImplemented


@attrs.frozen
class PureDP(_OneEpsilon):
    """ε-differential privacy: the privacy loss stays within [-ε, ε].

    epsilon: in nats, 0 <= ε < ∞.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "pure-dp"

    def to_approx(self, *, delta: float = 0.0) -> "ApproxDP":
        """The same ε at any δ."""
        return ApproxDP(self.epsilon, delta)

    def to_zcdp(self) -> "ZCDP":
        """ρ = ε·tanh(ε/2). Proof: [L3], the pure-DP row."""
        return ZCDP(curves.pure_rho(self.epsilon))

    def split(self, parts: int) -> "PureDP":
        """One of `parts` equal shares; together they never exceed the whole."""
        return PureDP(_part(self.epsilon, parts))


@attrs.frozen
class ApproxDP(_Kind):
    """(ε, δ)-differential privacy.

    epsilon: in nats, 0 <= ε < ∞.  delta: 0 <= δ < 1.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "approx-dp"
    epsilon: float = attrs.field(converter=non_negative)
    delta: float = attrs.field(converter=probability_below_one)

    def __le__(self, other: Self) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def split(self, parts: int) -> "ApproxDP":
        """One of `parts` equal shares under basic composition; they never exceed the whole."""
        return ApproxDP(_part(self.epsilon, parts), _part(self.delta, parts))


@attrs.frozen
class ZCDP(_Kind):
    """ρ-zero-concentrated differential privacy: Rényi divergence at most ρ·α at every order α > 1.

    rho: 0 <= ρ < ∞.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "zcdp"
    rho: float = attrs.field(converter=non_negative)

    def __le__(self, other: Self) -> bool:
        return self.rho <= other.rho if type(other) is type(self) else NotImplemented

    def to_approx(self, *, delta: float) -> "ApproxDP":
        """(ε, δ) by the tight conversion (claims, section 0; Canonne, Kamath & Steinke 2020, Prop. 12).

        delta: in (0, 1). Raises ValueError for δ = 0: no ρ > 0 gives pure differential privacy.
        """
        return ApproxDP(curves.zcdp_epsilon(self.rho, delta), delta)

    def to_approx_bun_steinke(self, *, delta: float) -> "ApproxDP":
        """(ε, δ) by ε = ρ + 2√(ρ ln(1/δ)) (Bun & Steinke 2016): looser, kept for comparison. [003-Lem15]"""
        return ApproxDP(curves.bun_steinke_epsilon(self.rho, delta), delta)

    def split(self, parts: int) -> "ZCDP":
        """One of `parts` equal shares; together they never exceed the whole."""
        return ZCDP(_part(self.rho, parts))


@attrs.frozen
class LaplaceDP(_OneEpsilon):
    """No easier to tell apart than Laplace noise of scale 1 around 0 from the same around ε. [laplace-dp]

    What additive Laplace noise of scale b costs for a vector that moves by at most ε·b in ℓ1, and every mechanism whose
    values lie on paths along which its log-probabilities change at rate 1 at most: ℓ2-Laplace noise, noisy max,
    permute-and-flip. It is ε-DP, and less: releases of ε₁ and ε₂ are together LaplaceDP(ε₁ + ε₂) and better.
    epsilon: in nats, 0 <= ε < ∞.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "laplace-dp"

    def to_pure(self) -> PureDP:
        """Its largest loss, which half of all outcomes have. [laplace-dp]"""
        return PureDP(self.epsilon)

    def to_approx(self, *, delta: float = 0.0) -> ApproxDP:
        """The exact curve ε + 2 ln(1 − δ), at least 0. [laplace-dp]"""
        return ApproxDP(curves.laplace_epsilon(self.epsilon, delta), delta)

    def to_zcdp(self) -> ZCDP:
        """ρ = ε + e^{−ε} − 1, its Kullback–Leibler divergence, which no order exceeds. [laplace-dp]"""
        return ZCDP(curves.laplace_rho(self.epsilon))

    def split(self, parts: int) -> "LaplaceDP":
        """One of `parts` equal shares; together they never exceed the whole."""
        return LaplaceDP(_part(self.epsilon, parts))


@attrs.frozen
class BoundedRange(_OneEpsilon):
    """ε-bounded range: over all outcomes, the privacy loss lies in an interval of width ε.

    The exponential mechanism has it [L2]; Laplace noisy max and permute-and-flip do not.
    epsilon: the width in nats, 0 <= ε < ∞.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "bounded-range"

    def to_pure(self) -> PureDP:
        """ε-bounded range is ε-DP: an interval of width ε that contains 0 lies in [-ε, ε]. [L2]"""
        return PureDP(self.epsilon)

    def to_approx(self, *, delta: float = 0.0) -> ApproxDP:
        """The exact privacy profile of the class at δ. Proof: [L4]."""
        return ApproxDP(curves.bounded_range_epsilon(self.epsilon, delta), delta)

    def to_zcdp(self) -> ZCDP:
        """ρ = u - 1 - ln u with u = ε/(1 - e^{-ε}), just below ε²/8. Proof: [L3]."""
        return ZCDP(curves.bounded_range_rho(self.epsilon))


@attrs.frozen
class GDP(_Kind):
    """μ-Gaussian differential privacy: no easier to tell apart than N(0, 1) from N(μ, 1).

    Exactly what Gaussian noise of standard deviation σ costs, at μ = Δ₂/σ [gdp].
    mu: 0 <= μ < ∞.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "gdp"
    mu: float = attrs.field(converter=non_negative)

    def __le__(self, other: Self) -> bool:
        return self.mu <= other.mu if type(other) is type(self) else NotImplemented

    def to_approx(self, *, delta: float) -> ApproxDP:
        """(ε, δ) on the exact Gaussian curve (Balle & Wang 2018). Raises ValueError unless 0 < δ < 1."""
        return ApproxDP(gaussian.epsilon(self.mu, delta), delta)

    def to_zcdp(self) -> ZCDP:
        """ρ = μ²/2. [gdp]"""
        return ZCDP(finite_up(0.5 * self.mu * self.mu) if self.mu else 0.0)

    def split(self, parts: int) -> "GDP":
        """One of `parts` equal shares, μ/√parts; together they never exceed the whole. [gdp-filter]"""
        share = self.mu / math.sqrt(count(parts))
        while share and parts * exact(share) ** 2 > exact(self.mu) ** 2:
            share = math.nextafter(share, 0.0)
        return GDP(share)


@attrs.frozen
class SubsampledGaussian(_Kind):
    """μ-Gaussian differential privacy on a Poisson sample: every record is in it by itself, with the same chance.

    What a step of DP-SGD costs, under add-remove-one only: a ledger refuses it under any other adjacency. Releases of
    fixed costs are far cheaper together than one by one, so reserve a `Plan` at a δ. [subsampled-gaussian]
    mu: 0 <= μ < ∞, of the mechanism on the sample: the reciprocal of the noise multiplier; see `of_noise`.
    sampling_rate: in [0, 1], the chance of each record. At 1 it is GDP(mu), at 0 nothing.
    Raises ValueError or TypeError for any other number, NaN and bool included.
    """

    kind: ClassVar[str] = "subsampled-gaussian"
    mu: float = attrs.field(converter=non_negative)
    sampling_rate: float = attrs.field(converter=probability)

    @staticmethod
    def of_noise(noise_multiplier: float, sampling_rate: float) -> "SubsampledGaussian":
        """Of Gaussian noise of `noise_multiplier` > 0 times the largest norm of a record's part; μ is rounded up."""
        return SubsampledGaussian(float_up(1 / exact(positive(noise_multiplier))), sampling_rate)

    @property
    def reduced(self) -> "SubsampledGaussian | GDP | PureDP":
        """GDP(mu) at rate 1, PureDP(0) where nothing can be lost, itself else."""
        if not (self.mu and self.sampling_rate):
            return PureDP(0.0)
        return GDP(self.mu) if self.sampling_rate == 1.0 else self

    def __le__(self, other: Self) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.mu <= other.mu and self.sampling_rate <= other.sampling_rate

    def to_approx(self, *, delta: float) -> ApproxDP:
        """(ε, δ) of one release on its exact curve. Raises ValueError unless 0 < δ < 1. [subsampled-gaussian]"""
        return ApproxDP(subsampling.epsilon(self.mu, self.sampling_rate, delta), delta)

    def to_gdp(self) -> "GDP":
        """GDP(mu), as if there were no sampling: the smallest μ that holds for any rate above 0, as ρ is too.
        [subsampled-gaussian]"""
        return GDP(self.mu if self.sampling_rate else 0.0)

    def to_zcdp(self) -> ZCDP:
        """ρ = μ²/2, as if there were no sampling: no smaller ρ holds at large orders. [subsampled-gaussian]"""
        return self.to_gdp().to_zcdp()


@attrs.frozen
class Unbounded(_Kind):
    """Nothing is promised: what is released may tell two neighbours apart for sure.

    The true cost of a release whose sensitivity has no bound, say. No finite budget pays for it, and it converts to
    nothing; as a budget it promises nothing, and `NoBound` is the rule that keeps it.
    """

    kind: ClassVar[str] = "unbounded"

    def __le__(self, other: Self) -> bool:
        return True if type(other) is type(self) else NotImplemented


Cost: TypeAlias = PureDP | ApproxDP | ZCDP | LaplaceDP | BoundedRange | GDP | SubsampledGaussian | Unbounded
"""Any kind of plain cost."""

Budget: TypeAlias = PureDP | ApproxDP | ZCDP | GDP | Unbounded
"""What a ledger can be opened with."""

KINDS: dict[str, type[Cost]] = {
    cls.kind: cls for cls in (PureDP, ApproxDP, ZCDP, LaplaceDP, BoundedRange, GDP, SubsampledGaussian, Unbounded)
}

OWN_KINDS: Final = frozenset(KINDS.values())
"""Of these, but not of subclasses by others, equal costs are the same cost."""


CLAIM_OF_KIND: Final[Mapping[str, str]] = {SubsampledGaussian.kind: "subsampled-gaussian"}
"""The claim that every charge of a kind depends on, whoever declared it; by the kind's name in the ledger."""


def why_not_under(cost: Cost, adjacency: Adjacency) -> str | None:
    """Why a cost of this kind cannot have been proved under an adjacency; None where it can. [subsampled-gaussian]"""
    if isinstance(cost, SubsampledGaussian) and not isinstance(adjacency, AddRemoveOne):
        return f"{cost!r} is proved under {AddRemoveOne.name} only, and not under {adjacency.name}"
    return None


def cost_from_dict(record: Mapping[str, float | str]) -> Cost:
    """The inverse of `as_dict`. Raises ValueError for an unknown kind."""
    numbers = {name: float(value) for name, value in record.items() if name != "kind"}
    if record.get("kind") not in KINDS:
        raise ValueError(
            f"unknown kind of cost {record.get('kind')!r}; known: {sorted(KINDS)}; a newer version may know more"
        )
    return KINDS[str(record["kind"])](**numbers)
