"""Every rule of composition that a ledger may name, and which one a budget asks for."""

from collections.abc import Mapping

from accountant.composition.advanced import AdvancedComposition, TextbookComposition
from accountant.composition.gaussian_sum import GDPComposition
from accountant.composition.own_rules import rule_from_record
from accountant.composition.rules import BasicComposition, Composition, NoBound, ZCDPComposition
from accountant.costs import GDP, ZCDP, Budget


def composition_from_record(record: Mapping[str, str | float]) -> Composition:
    """The rule that `describe` wrote down, ours or one that is registered.

    Raises RuleNotInstalled, a ValueError, where that is not installed, or in another version, and ValueError else.
    """
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
            return rule_from_record(record)


def own_rule(budget: Budget) -> Composition:
    """The rule that adds up in the measure of the budget: ρ, μ, or else ε."""
    match budget:
        case ZCDP():
            return ZCDPComposition()
        case GDP():
            return GDPComposition()
        case _:
            return BasicComposition()
