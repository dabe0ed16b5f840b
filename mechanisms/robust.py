"""Costs that hold only while two distributions stay close, and the certificate that says they do.

A `RobustMechanism` is not a mechanism: it has no plain cost, so neither mypy nor the ledger lets it be
released. `robust.under(slickness)` turns it into one.
"""

import abc
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import attrs

from accountant import Adjacency, Cost
from accountant._numbers import count, fraction
from mechanisms.core import Mechanism
from mechanisms.sensitivity import (
    L1Sensitivity,
    L2Sensitivity,
    LInfSensitivity,
    RangeSensitivity,
)


class SlicknessTooWeak(ValueError):
    """The certificate promises a distance larger than the one the mechanism's cost was computed for."""


class CertificateMismatch(ValueError):
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


W_contra = TypeVar("W_contra", bound=Certified, contravariant=True)
W = TypeVar("W", bound=Certified)
R_co = TypeVar("R_co", covariant=True)
V = TypeVar("V")
S = TypeVar("S", RangeSensitivity, LInfSensitivity, L2Sensitivity, L1Sensitivity)


@attrs.frozen
class RobustQuery(Generic[W, V, S]):
    """A function of weighted data with its proven sensitivity, as a function of ζ.

    evaluate: weighted data to value; deterministic.
    sensitivity: ζ in (0, 1] to the bound, in the norm of its type, for every ζ-close pair of neighbours.
    adjacency: the relation it was proved for.  claims: ids in CLAIMS.md.
    """

    name: str
    evaluate: Callable[[W], V]
    sensitivity: Callable[[float], S]
    adjacency: Adjacency
    claims: tuple[str, ...]


@attrs.frozen
class RobustCost:
    """(cost, ζ): the cost holds for every pair of neighbours whose distributions are within ζ."""

    cost: Cost
    zeta: float = attrs.field(converter=fraction)


class RobustMechanism(abc.ABC, Generic[W_contra, R_co]):
    """Query and noise, with a cost promised up to a distance. Not a `Mechanism`."""

    @property
    @abc.abstractmethod
    def robust_cost(self) -> RobustCost:
        """The cost, and the ζ up to which it holds."""

    @property
    @abc.abstractmethod
    def adjacency(self) -> Adjacency:
        """The relation the cost was proved for."""

    @abc.abstractmethod
    def under(self, slickness: Slickness) -> Mechanism[W_contra, R_co]:
        """The plain mechanism that this is on data weighted under that certificate.

        Raises SlicknessTooWeak where the certificate's ζ exceeds the promise, CertificateMismatch where it
        was proved for another adjacency.
        """


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
