"""Composition: privacy filters for ledgers, theorems for fixed plans, and privacy loss distributions."""

from typing import TYPE_CHECKING

from accountant.composition import adaptive_range, fixed_plans
from accountant.composition.advanced import AdvancedComposition, TextbookComposition
from accountant.composition.calibration import Target, largest_eta
from accountant.composition.dominating_pairs import bounded_range_profile, grid_step
from accountant.composition.gaussian_sum import GDPComposition, least_mu
from accountant.composition.loss_distribution import RELATIVE, ComposedLosses, from_atoms
from accountant.composition.own_rules import OwnRule, RuleNotInstalled
from accountant.composition.plans import ORDERED, QUICK, ROUTE_CLAIMS, ROUTES, Plan, Price, Step, forget_prices
from accountant.composition.rule_names import composition_from_record, own_rule
from accountant.composition.rules import (
    NOTHING,
    Amount,
    BasicComposition,
    Composition,
    NoBound,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    amount_from_record,
    amount_record,
    amount_text,
    distinct_texts,
    parallel,
    readable,
)
from accountant.renamed import old_names

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "NOTHING",
    "ORDERED",
    "QUICK",
    "RELATIVE",
    "ROUTES",
    "ROUTE_CLAIMS",
    "AdvancedComposition",
    "Amount",
    "BasicComposition",
    "ComposedLosses",
    "Composition",
    "GDPComposition",
    "NoBound",
    "OwnRule",
    "Plan",
    "Price",
    "RuleNotInstalled",
    "Step",
    "Target",
    "TextbookComposition",
    "UnsupportedBudget",
    "UnsupportedCost",
    "ZCDPComposition",
    "adaptive_range",
    "amount_from_record",
    "amount_record",
    "amount_text",
    "bounded_range_profile",
    "composition_from_record",
    "distinct_texts",
    "fixed_plans",
    "forget_prices",
    "from_atoms",
    "grid_step",
    "largest_eta",
    "least_mu",
    "own_rule",
    "parallel",
    "readable",
]
