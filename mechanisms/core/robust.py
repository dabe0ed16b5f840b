"""Costs that hold only while two distributions stay close, and the certificate that says they do.

A `RobustMechanism` is not a mechanism: it has no plain cost, so neither mypy nor the ledger lets it be
released. `robust.under(slickness)` turns it into one.
"""

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import attrs

from accountant import Adjacency, Cost, Description
from accountant.arrays import FloatArray
from accountant.costs import count, fraction
from accountant.explained import Explained
from accountant.renamed_parameters import renamed_parameters
from mechanisms.core.mechanism import FiniteMechanism, Mechanism
from mechanisms.core.randomizers import R, Randomizer, S, V, finite, price_of, refuse_old_override
from mechanisms.core.sensitivity import RangeSensitivity
from mechanisms.randomness import NoiseSource, SecureNoise


class SlicknessTooWeak(Explained, ValueError):
    """The certificate promises a distance larger than the one the mechanism's cost was computed for."""


class CertificateMismatch(Explained, ValueError):
    """The data was weighted by something else than what the certificate is about."""


@attrs.frozen
class Slickness:
    """A measure producer's certificate: neighbouring samples get distributions within `zeta`.

    zeta: total variation distance, in (0, 1], *jointly over labelled points* (never over indices).
    n: the number of records it is for.  adjacency: the relation it was proved for.
    producer: which measure producer, with its parameters, and in which round.  claims: ids in CLAIMS.md.
    """

    zeta: float = attrs.field(converter=fraction)
    n: int = attrs.field(converter=count)
    adjacency: Adjacency
    producer: str
    claims: tuple[str, ...]


class Certified(Protocol):
    """Weighted data that carries the certificate of whoever weighted it."""

    @property
    def slickness(self) -> Slickness:
        """The certificate of this very weighting."""


W = TypeVar("W", bound=Certified)
W_contra = TypeVar("W_contra", bound=Certified, contravariant=True)


@attrs.frozen
class RobustQuery(Generic[W_contra, V, S]):
    """A function of weighted data with its proven sensitivity, as a function of ζ.

    evaluate: weighted data to value; deterministic.
    sensitivity: ζ in (0, 1] to the bound, in the norm of its type, for every ζ-close pair of neighbours.
    adjacency: the relation it was proved for.  claims: ids in CLAIMS.md.
    """

    name: str
    evaluate: Callable[[W_contra], V]
    sensitivity: Callable[[float], S]
    adjacency: Adjacency
    claims: tuple[str, ...]


@attrs.frozen
class RobustCost:
    """(cost, ζ): the cost holds for every pair of neighbours whose distributions are within ζ."""

    cost: Cost
    zeta: float = attrs.field(converter=fraction)


def _given(noise: NoiseSource | None) -> NoiseSource:
    return SecureNoise() if noise is None else noise


@renamed_parameters(kernel="randomizer")
@attrs.frozen(slots=False)
class RobustMechanism(Generic[W, V, S, R]):
    """`randomizer` applied to `query`, with a cost promised up to a distance. Not a `Mechanism`.

    query: with its sensitivity as a function of ζ, in the norm of the randomizer.
    zeta: the distance up to which the cost is promised, in (0, 1].
    noise: where randomness comes from; the operating system where none is given.
    """

    query: RobustQuery[W, V, S]
    randomizer: Randomizer[V, S, R]
    zeta: float = attrs.field(converter=fraction)
    noise: NoiseSource = attrs.field(default=None, converter=_given)

    def __init_subclass__(cls, **named: object) -> None:
        super().__init_subclass__(**named)
        refuse_old_override(cls)

    @property
    def adjacency(self) -> Adjacency:
        """The relation the cost was proved for."""
        return self.query.adjacency

    @cached_property
    def sensitivity(self) -> S:
        """Δ at the promised ζ."""
        return self.query.sensitivity(self.zeta)

    @cached_property
    def robust_cost(self) -> RobustCost:
        """The cost, and the ζ up to which it holds. Raises TypeError for a sensitivity in another norm."""
        return RobustCost(price_of(self.randomizer, self.sensitivity, self.query.name), self.zeta)

    def under(self, slickness: Slickness) -> "CertifiedMechanism[W, V, S, R]":
        """The plain mechanism that this is on data weighted under that certificate.

        Raises SlicknessTooWeak where the certificate's ζ exceeds the promise, CertificateMismatch where it
        was proved for another adjacency.
        """
        return CertifiedMechanism(self, slickness)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """The randomizer's numbers, which were the mechanism's once; to be removed after version 0.2."""
            if name not in ("eta", "scale", "sigma", "candidates"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            warnings.warn(f"{name} is the randomizer's now: mechanism.randomizer.{name}", FutureWarning, stacklevel=2)
            return getattr(self.randomizer, name)


@attrs.frozen(slots=False)
class CertifiedMechanism(Mechanism[W, R], Generic[W, V, S, R]):
    """A robust mechanism on data weighted under a certificate: it has a plain cost.

    robust: the mechanism.  slickness: the certificate.
    Raises SlicknessTooWeak where the certificate promises a larger distance than the cost holds for.
    """

    robust: RobustMechanism[W, V, S, R]
    slickness: Slickness

    def __attrs_post_init__(self) -> None:
        # Here rather than in `under` alone, so that no other way of making one skips it.
        accept(self.slickness, self.robust.robust_cost, self.robust.adjacency)

    @property
    def cost(self) -> Cost:
        return self.robust.robust_cost.cost

    @property
    def adjacency(self) -> Adjacency:
        return self.robust.adjacency

    @cached_property
    def description(self) -> Description:
        robust, randomizer = self.robust, self.robust.randomizer
        general = type(robust) in (RobustMechanism, RobustSelection)
        name = randomizer.robust_name or f"Robust{randomizer.name}" if general else type(robust).__name__
        return Description(
            mechanism=name,
            query=robust.query.name,
            parameters=(*randomizer.parameters, ("certificate", self.slickness.producer)),
            norm=robust.sensitivity.norm,
            sensitivity=robust.sensitivity.value,
            zeta=robust.zeta,
            noise=robust.noise.name,
            private=robust.noise.private,
            claims=(*randomizer.claims, *robust.query.claims, *self.slickness.claims),
        )

    def check(self, data: W) -> None:
        check_certificate(data, self.slickness)

    def sample(self, data: W) -> R:
        return self.robust.randomizer.draw(self.robust.query.evaluate(data), self.robust.noise)


class RobustSelection(RobustMechanism[W, FloatArray, RangeSensitivity, int]):
    """A robust mechanism with finitely many outcomes of known distribution.

    query: scores with their sensitivity.  randomizer: a `FiniteRandomizer`.  zeta, noise: as for `RobustMechanism`.
    """

    def under(self, slickness: Slickness) -> "CertifiedSelection[W]":
        return CertifiedSelection(self, slickness)


class CertifiedSelection(CertifiedMechanism[W, FloatArray, RangeSensitivity, int], FiniteMechanism[W]):
    """A robust selection on data weighted under a certificate: see `CertifiedMechanism`."""

    def log_probabilities(self, data: W) -> FloatArray:
        return finite(self.robust.randomizer).log_probabilities(self.robust.query.evaluate(data))


def accept(slickness: Slickness, promised: RobustCost, adjacency: Adjacency) -> None:
    """What every `under` checks first."""
    if slickness.adjacency != adjacency:
        raise CertificateMismatch(f"the certificate is for {slickness.adjacency}, the mechanism for {adjacency}")
    if not slickness.zeta <= promised.zeta:
        raise SlicknessTooWeak(
            f"the certificate promises ζ <= {slickness.zeta!r}, but this cost holds only up to ζ = "
            f"{promised.zeta!r}: build the mechanism with zeta=slickness.zeta"
        )


def check_certificate(data: Certified, slickness: Slickness) -> None:
    """Raise CertificateMismatch unless the data was weighted under this very certificate."""
    actual = data.slickness
    if actual.n != slickness.n:
        raise CertificateMismatch(f"the certificate is for n = {slickness.n}, the data has n = {actual.n}")
    if actual != slickness:
        raise CertificateMismatch(f"the certificate is of {slickness.producer}, the data's of {actual.producer}")
