"""The registries of claims that are installed: which results the costs in a ledger may depend on.

A registry is an entry point of the group `exchequer.claims`: a function that returns a mapping from ids to claims, each
with an id, a verdict, a statement and a source. Ours stands in CLAIMS.md; a package that brings mechanisms of its own
brings its own.
"""

from collections.abc import Mapping
from importlib import metadata
from typing import Final, Protocol, cast

from accountant.audit.report import ClaimText

GROUP: Final = "exchequer.claims"


class Registered(Protocol):
    """A claim, as a registry has it."""

    @property
    def id(self) -> str:
        """As the entries of a ledger cite it."""

    @property
    def verdict(self) -> str:
        """What became of it."""

    @property
    def statement(self) -> str:
        """What it says."""

    @property
    def source(self) -> str:
        """Where it stands."""


def known_claims() -> dict[str, ClaimText] | None:
    """Every registered claim by its id; None where no registry is installed, so that nobody can say what is known.

    Raises ValueError naming a registry that cannot be read.
    """
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name)
    known: dict[str, ClaimText] = {}
    for point in points:
        try:
            claims = cast("Mapping[str, Registered]", point.load()())
            known |= {name: _text(name, claim) for name, claim in claims.items()}
        except Exception as error:  # it is somebody else's code, and may raise anything
            raise ValueError(
                f"the registry of claims {point.name!r} ({point.value}) cannot be read: {error}"
            ) from error
    return known if points else None


def _text(name: str, claim: Registered) -> ClaimText:
    if name != claim.id:
        raise ValueError(f"the claim {claim.id!r} is listed as {name!r}")
    return ClaimText(claim.id, claim.verdict, claim.statement, claim.source)
