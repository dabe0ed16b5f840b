"""What the ledger accepts: something with a plain, declared cost. Concrete mechanisms live in mechanisms/."""

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar, cast

import attrs
from attrs.validators import deep_iterable, instance_of, optional

from accountant.canonical_json import canonical
from accountant.costs.adjacency import Adjacency
from accountant.costs.cost_kinds import Cost

D_contra = TypeVar("D_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


NO_NORM: Final = "none"
"""The norm of a release of nothing that is protected, as of the columns beside a protected one."""

SECURE: Final = "secure (exact)"
"""The name of the secure noise source in the ledger."""

SEEDED: Final = "seeded (numpy)"
"""The name of the simulated one."""

TRUST: Final = "trust"
"""The parameter in which an entry says whose word its cost is."""

DECLARED_BY: Final = "cost declared by "
"""How an entry begins to say whose word its cost is; `verify`, statements and reports repeat what it says."""


def word_of(who: str, how_sure: str) -> tuple[str, str]:
    """An entry's parameter where its cost is somebody's word. who: library or person.  how_sure: as ", not checked"."""
    return TRUST, f"{DECLARED_BY}{who}{how_sure}"


SOURCES: Final = frozenset({SECURE, SEEDED, "secure (opendp)", "-"})
"""All names that this library gave its noise sources; the last one stands for a plan that has not named any yet."""


def own_sources(names: Iterable[str]) -> list[str]:
    """Those of the noise sources named in the ledger that are not this library's, sorted: nobody here vouches for them.

    names: as `Description.noise` has them; one that draws from several lists them all.
    """
    return sorted({each for name in names for each in name.split(", ")} - SOURCES)


@attrs.frozen(slots=False)
class Description:
    """What an entry says about the mechanism that was paid for.

    mechanism, query: names.  parameters: numbers and short strings, in the mechanism's own words.
    norm, sensitivity: the bound that the cost depends on, above 0 and finite, and in which norm; 0 in the norm "none",
    of a release that does not depend on what is protected.
    zeta: the statistical distance it was promised under, in [0, 1]; None for a plain mechanism.
    Raises TypeError for what it could not be read from, ValueError for another sensitivity or ζ.
    noise: the name of the noise source.  private: False where that source is a simulation.
    claims: ids of the theorems the cost depends on, as in CLAIMS.md.
    """

    mechanism: str = attrs.field(validator=instance_of(str))
    query: str = attrs.field(validator=instance_of(str))
    parameters: tuple[tuple[str, float | int | str], ...]
    norm: str = attrs.field(validator=instance_of(str))
    sensitivity: float = attrs.field(validator=instance_of((int, float)))
    zeta: float | None = attrs.field(validator=optional(instance_of((int, float))))
    noise: str = attrs.field(validator=instance_of(str))
    private: bool = attrs.field(validator=instance_of(bool))
    claims: tuple[str, ...] = attrs.field(validator=deep_iterable(instance_of(str), instance_of(tuple)))

    def __attrs_post_init__(self) -> None:
        if wrong := self.why_unsound():
            raise ValueError(f"{self.mechanism}({self.query}): {wrong}")

    def why_unsound(self) -> str | None:
        """What no bound can be; None if nothing is."""
        bound, nothing = self.sensitivity, self.norm == NO_NORM and self.sensitivity == 0
        if isinstance(bound, bool) or not (nothing or 0.0 < bound <= sys.float_info.max):
            return (
                f"sensitivity: expected a positive finite number, or 0 in the norm {NO_NORM!r} where nothing protected "
                f"is looked at, got {_short(self.sensitivity)} in the norm {self.norm!r}"
            )
        if self.zeta is not None and not 0.0 <= self.zeta <= 1.0:
            return f"zeta: expected a statistical distance in [0, 1], got {_short(self.zeta)}"
        return None

    @cached_property
    def canonical(self) -> str:
        """Canonical JSON, rendered once per mechanism."""
        # Whatever a subclass adds is written too, and so refused: no reader knows it, and leaving it out would hide it.
        names = _PARTS if type(self) is Description else {field.name for field in attrs.fields(type(self))}
        record = {name: getattr(self, name) for name in names if not name.startswith("_")}
        record["parameters"] = dict(self.parameters)
        return canonical(record)

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Description":
        """The inverse of `canonical`. Raises KeyError, TypeError or ValueError where it is not one.

        A sensitivity or ζ that cannot be is read as it stands, for `verify` to say so: what was charged counts.
        """
        if unknown := record.keys() - _PARTS:
            raise ValueError(f"unknown parts of a description: {sorted(unknown)}")
        fields: dict[str, Any] = {name: record[name] for name in _PARTS}  # read back as they were written
        parameters = cast("Mapping[str, float | int | str]", fields["parameters"])
        fields["parameters"] = tuple(parameters.items())
        fields["claims"] = tuple(fields["claims"])
        try:
            return Description(**fields)
        except ValueError:
            return _AsItStands(**fields)


_PARTS: Final = frozenset(field.name for field in attrs.fields(Description))


class _AsItStands(Description):
    """Read from a ledger that somebody wrote, whatever its numbers."""

    def __attrs_post_init__(self) -> None:
        """Nothing is refused."""


def _short(number: float) -> str:
    """A number for a message, also one that no float holds."""
    return f"{number!r}" if isinstance(number, float) or abs(number) < 10**20 else "one beyond any float"


class Spendable(Protocol[D_contra, R_co]):
    """What a ledger can charge for and release: the protocol that every mechanism follows.

    `Ledger.release` calls `check`, charges `cost` under `adjacency` with `description`, and then calls `sample`.
    """

    @property
    def cost(self) -> Cost:
        """The declared cost of one release."""

    @property
    def adjacency(self) -> Adjacency:
        """The relation under which that cost was proved."""

    @property
    def description(self) -> Description:
        """What the ledger's entry says about it."""

    def check(self, data: D_contra) -> None:
        """Raise where the data's public facts (its n, its certificate) do not fit. Runs before the charge."""

    def sample(self, data: D_contra) -> R_co:
        """Draw one output. Runs after the charge."""
