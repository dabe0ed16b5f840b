"""Costs, adjacency, rules of composition, the ledger, its entries and its statement.

Imports nothing of ours. No mechanism, no noise and no learner may live here: only what it takes to say
what something costs, to add it up exactly, and to refuse.
"""

from accountant.adjacency import AddRemoveOne, Adjacency, FeatureValue, FeatureValues, ReplaceOne
from accountant.advanced_rule import AdvancedComposition, TextbookComposition
from accountant.audit import Verification, verify
from accountant.composition import (
    Amount,
    BasicComposition,
    Composition,
    NoBound,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    parallel,
)
from accountant.costs import GDP, ZCDP, ApproxDP, BoundedRange, Budget, Cost, LaplaceDP, NoConversion, PureDP, Unbounded
from accountant.gaussian_rule import GDPComposition
from accountant.ledger import Ledger
from accountant.plans import Plan, Price, Step
from accountant.protected import Protected, Sealed
from accountant.refusals import (
    AdjacencyMismatch,
    BudgetExceeded,
    LedgerBroken,
    LedgerCopyRefused,
    LedgerMismatch,
    LedgerUnavailable,
    NotSpendable,
    ReservationClosed,
    SubBudgetRefused,
    UnknownLabel,
)
from accountant.reservation import Reservation
from accountant.rounding import BeyondFloats
from accountant.spendable import Description, Spendable
from accountant.statement import Statement
from accountant.trail import Entry, EntryStore, MemoryStore

__all__ = [
    "GDP",
    "ZCDP",
    "AddRemoveOne",
    "Adjacency",
    "AdjacencyMismatch",
    "AdvancedComposition",
    "Amount",
    "ApproxDP",
    "BasicComposition",
    "BeyondFloats",
    "BoundedRange",
    "Budget",
    "BudgetExceeded",
    "Composition",
    "Cost",
    "Description",
    "Entry",
    "EntryStore",
    "FeatureValue",
    "FeatureValues",
    "GDPComposition",
    "LaplaceDP",
    "Ledger",
    "LedgerBroken",
    "LedgerCopyRefused",
    "LedgerMismatch",
    "LedgerUnavailable",
    "MemoryStore",
    "NoBound",
    "NoConversion",
    "NotSpendable",
    "Plan",
    "Price",
    "Protected",
    "PureDP",
    "ReplaceOne",
    "Reservation",
    "ReservationClosed",
    "Sealed",
    "Spendable",
    "Statement",
    "Step",
    "SubBudgetRefused",
    "TextbookComposition",
    "Unbounded",
    "UnknownLabel",
    "UnsupportedBudget",
    "UnsupportedCost",
    "Verification",
    "ZCDPComposition",
    "parallel",
    "verify",
]
