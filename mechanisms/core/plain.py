"""Mechanisms on data that nobody re-weighted: a query with a fixed sensitivity, and a randomizer."""

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar, cast, get_args

import attrs
from attrs.validators import instance_of, is_callable

from accountant import Adjacency, ApproxDP, Cost, Description, Plan, Price
from accountant.arrays import FloatArray
from accountant.composition import ROUTE_CLAIMS
from accountant.costs import CLAIM_OF_KIND
from accountant.ledger import refuse_unprovable
from accountant.renamed_parameters import renamed_parameters
from mechanisms.core.mechanism import FiniteMechanism, Mechanism, R_co
from mechanisms.core.randomizers import R, Randomizer, S, V, finite, price_of, refuse_old_override
from mechanisms.core.sensitivity import RangeSensitivity
from mechanisms.randomness import NoiseSource, SecureNoise

D = TypeVar("D")


def _anything(data: object) -> None:
    """The check of a query that takes all data of its type."""


@attrs.frozen
class Query(Generic[D, V, S]):
    """A function of protected data with its proven sensitivity.

    evaluate: data to value; deterministic.  sensitivity: in the norm of its type, for every pair of neighbours.
    adjacency: the relation it was proved for.  claims: ids in CLAIMS.md.
    check: raises where the data's public facts (its shape, its n) do not fit; runs before the charge.
    """

    name: str
    evaluate: Callable[[D], V] = attrs.field(validator=is_callable())
    sensitivity: S
    adjacency: Adjacency = attrs.field(validator=instance_of(get_args(Adjacency)))
    claims: tuple[str, ...] = ()
    check: Callable[[D], None] = _anything


@renamed_parameters(kernel="randomizer")
@attrs.frozen(slots=False)
class PlainMechanism(Mechanism[D, R], Generic[D, V, S, R]):
    """`randomizer` applied to `query`. Its cost is the randomizer's, for the query's sensitivity.

    query: what is computed from the protected data, with its sensitivity.  randomizer: noise with its price.
    noise: where randomness comes from; the operating system where none is given.
    Raises TypeError where the sensitivity is in another norm than the randomizer is priced for.
    """

    query: Query[D, V, S]
    randomizer: Randomizer[V, S, R]
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    def __init_subclass__(cls, **named: object) -> None:
        super().__init_subclass__(**named)
        refuse_old_override(cls)

    def __attrs_post_init__(self) -> None:
        _ = self.cost  # refused here, if at all, and not in the middle of a fit

    @cached_property
    def cost(self) -> Cost:
        return price_of(self.randomizer, self.query.sensitivity, self.query.name)

    @property
    def adjacency(self) -> Adjacency:
        return self.query.adjacency

    @cached_property
    def description(self) -> Description:
        query, randomizer = self.query, self.randomizer
        return Description(
            mechanism=randomizer.name,
            query=query.name,
            parameters=randomizer.parameters,
            norm=query.sensitivity.norm,
            sensitivity=query.sensitivity.value,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=(*randomizer.claims, *query.claims),
        )

    def check(self, data: D) -> None:
        self.query.check(data)

    def sample(self, data: D) -> R:
        return self.randomizer.draw(self.query.evaluate(data), self.noise)


class PlainSelection(PlainMechanism[D, FloatArray, RangeSensitivity, int], FiniteMechanism[D]):
    """A plain mechanism with finitely many outcomes of known distribution.

    query: scores with their sensitivity.  randomizer: a `FiniteRandomizer`.  noise: as for `PlainMechanism`.
    """

    def log_probabilities(self, data: D) -> FloatArray:
        return finite(self.randomizer).log_probabilities(self.query.evaluate(data))


@attrs.frozen(slots=False)
class _AtDelta(Mechanism[D, R_co]):
    """Another mechanism, declared at its best (ε, δ)."""

    inner: Mechanism[D, R_co]
    price: Price

    @property
    def cost(self) -> ApproxDP:
        return self.price.best

    @property
    def adjacency(self) -> Adjacency:
        return self.inner.adjacency

    @cached_property
    def description(self) -> Description:
        """The inner one's, with what its ε was derived from and by which theorem."""
        inner, route = self.inner.description, self.price.route
        return attrs.evolve(
            inner,
            parameters=(*inner.parameters, ("priced from", repr(self.inner.cost)), ("route", route)),
            claims=(*inner.claims, *self._of_kind, ROUTE_CLAIMS[route]),
        )

    @property
    def _of_kind(self) -> tuple[str, ...]:
        """What an entry would say of the inner cost by itself; the entry of this one names another kind."""
        kind = self.inner.cost.kind
        return (CLAIM_OF_KIND[kind],) if kind in CLAIM_OF_KIND else ()

    def check(self, data: D) -> None:
        self.inner.check(data)

    def sample(self, data: D) -> R_co:
        return self.inner.sample(data)


class _FiniteAtDelta(_AtDelta[D, int], FiniteMechanism[D]):
    """The same for a mechanism whose distribution is known."""

    def log_probabilities(self, data: D) -> FloatArray:
        assert isinstance(self.inner, FiniteMechanism)
        return self.inner.log_probabilities(data)


def at_delta(mechanism: Mechanism[D, R_co], delta: float) -> Mechanism[D, R_co]:
    """The same mechanism with its cost declared as (ε, δ), for ledgers that add those up.

    delta: in (0, 1). ε is what `Plan.of(mechanism.cost).price(delta)` gives: for a Gaussian the exact curve.
    Raises AdjacencyMismatch where its cost cannot hold under its adjacency.
    """
    refuse_unprovable(mechanism.cost, mechanism.adjacency)
    price = Plan.of(mechanism.cost).price(delta)
    if isinstance(mechanism, FiniteMechanism):
        return cast("Mechanism[D, R_co]", _FiniteAtDelta(mechanism, price))
    return _AtDelta(mechanism, price)
