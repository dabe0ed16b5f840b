"""A function of another library with the cost that is declared there: charged like any mechanism, and named as such."""

from collections.abc import Callable
from functools import cached_property
from typing import Final, Generic, TypeVar, get_args

import attrs
from attrs.validators import instance_of, is_callable

from accountant import Adjacency, Cost, Description
from accountant.costs import OWN_KINDS, word_of
from accountant.ledger import refuse_unprovable
from mechanisms.core import Mechanism

D = TypeVar("D")
R = TypeVar("R")

FOREIGN_CLAIM: Final = "declared-elsewhere"
"""What the cost of every foreign mechanism depends on: that the other library's word is true."""


TRUSTED: Final = ": trusted, not proved here"


def _nothing(data: object) -> None:
    """The check where there is nothing that could be checked before the charge."""


@attrs.frozen(slots=False)
class DeclaredMechanism(Mechanism[D, R], Generic[D, R]):
    """A function of another library, at the cost that was declared of it. Trusted, not proved. [declared-elsewhere]

    run: from the protected data to what is released; runs after the charge.
    cost: of one call.  adjacency: the relation it was declared for.
    library: its name and version.  name: of the mechanism, in its library's words.
    norm, distance: what neighbours' distance is measured in there, and how far apart they are; above 0.
    parameters: what else the entry says.  check_data: raises where data does not fit; runs before the charge.
    Raises AdjacencyMismatch for a cost that cannot hold under that relation.
    """

    run: Callable[[D], R] = attrs.field(validator=is_callable())
    _cost: Cost = attrs.field(validator=instance_of(tuple(OWN_KINDS)))
    _adjacency: Adjacency = attrs.field(validator=instance_of(get_args(Adjacency)))
    library: str = attrs.field(validator=instance_of(str))
    name: str = attrs.field(validator=instance_of(str))
    norm: str = attrs.field(default="records", validator=instance_of(str))
    distance: float = 1.0
    parameters: tuple[tuple[str, float | int | str], ...] = ()
    check_data: Callable[[D], None] = attrs.field(default=_nothing, validator=is_callable())

    def __attrs_post_init__(self) -> None:
        refuse_unprovable(self._cost, self._adjacency)

    @property
    def cost(self) -> Cost:
        return self._cost

    @property
    def adjacency(self) -> Adjacency:
        return self._adjacency

    @cached_property
    def description(self) -> Description:
        """Its noise is that of the library, which an audit names as no source of ours."""
        return Description(
            mechanism=f"{self.name} of {self.library}",
            query="declared elsewhere",
            parameters=(*self.parameters, word_of(self.library, TRUSTED)),
            norm=self.norm,
            sensitivity=self.distance,
            zeta=None,
            noise=self.library,
            private=True,
            claims=(FOREIGN_CLAIM,),
        )

    def check(self, data: D) -> None:
        self.check_data(data)

    def sample(self, data: D) -> R:
        return self.run(data)


def trust(library: str) -> str:
    """What an entry says of a cost that this library only repeats."""
    return word_of(library, TRUSTED)[1]


def declared_elsewhere(
    run: Callable[[D], R],
    *,
    cost: Cost,
    adjacency: Adjacency,
    library: str,
    name: str,
) -> DeclaredMechanism[D, R]:
    """A call of another library at the cost that it declares, for `Ledger.release`, which charges before the call.

    run: from the protected data to what is released.  library: its name and version, as "SmartNoise SQL 1.0.6".
    name: of what it runs, as "DP-SGD".  Raises TypeError for what is no cost or no adjacency of ours.
    A run of many steps costs what its plan does: cost=plan_of_opacus(history).price(delta).best. [declared-elsewhere]
    """
    return DeclaredMechanism(run, cost, adjacency, library, name)
