"""What the ledger accepts: something with a plain, declared cost. Concrete mechanisms live in mechanisms/."""

import json
from functools import cached_property
from typing import Protocol, TypeVar

import attrs

from accountant.adjacency import Adjacency
from accountant.costs import Cost

D_contra = TypeVar("D_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


@attrs.frozen(slots=False)
class Description:
    """What an entry says about the mechanism that was paid for.

    mechanism, query: names.  parameters: numbers and short strings, in the mechanism's own words.
    norm, sensitivity: the bound that the cost rests on, and in which norm.
    zeta: the statistical distance it was promised under, None for a plain mechanism.
    noise: the name of the noise source.  private: False where that source is a simulation.
    claims: ids of the theorems the cost rests on, as in CLAIMS.md.
    """

    mechanism: str
    query: str
    parameters: tuple[tuple[str, float | int | str], ...]
    norm: str
    sensitivity: float
    zeta: float | None
    noise: str
    private: bool
    claims: tuple[str, ...]

    @cached_property
    def canonical(self) -> str:
        """Canonical JSON, rendered once per mechanism."""
        record = {name: value for name, value in attrs.asdict(self).items() if not name.startswith("_")}
        record["parameters"] = dict(self.parameters)
        return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Spendable(Protocol[D_contra, R_co]):
    """A mechanism as the ledger sees it."""

    @property
    def cost(self) -> Cost:
        """The declared cost of one release."""

    @property
    def adjacency(self) -> Adjacency:
        """The relation under which that cost was proved."""

    @property
    def description(self) -> Description:
        """What the books say about it."""

    def check(self, data: D_contra) -> None:
        """Raise where the data's public facts (its n, its certificate) do not fit. Runs before the charge."""

    def sample(self, data: D_contra) -> R_co:
        """Draw one output. Runs after the charge."""
