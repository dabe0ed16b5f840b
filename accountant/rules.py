"""Every rule of composition that books may name."""

from collections.abc import Mapping

from accountant.composition import (
    AdvancedComposition,
    BasicComposition,
    Composition,
    NoBound,
    TextbookComposition,
    ZCDPComposition,
)
from accountant.gaussian_rule import GDPComposition


def composition_from_record(record: Mapping[str, str | float]) -> Composition:
    """The rule that `describe` wrote down. Raises ValueError for an unknown name."""
    match record:
        case {"name": "no-bound"}:
            return NoBound()
        case {"name": "basic"}:
            return BasicComposition()
        case {"name": "zcdp"}:
            return ZCDPComposition()
        case {"name": "gdp"}:
            return GDPComposition()
        case {"name": "advanced-tight", "delta_prime": delta_prime}:
            return AdvancedComposition(float(delta_prime))
        case {"name": "advanced", "delta_prime": delta_prime}:
            return TextbookComposition(float(delta_prime))
        case _:
            raise ValueError(f"unknown rule of composition {record!r}; a newer version of this library may know it")
