"""Who spent what on which data, and what changed between two readings of a ledger."""

from accountant.audit.breakdowns.breakdown import (
    BY,
    NOT_SAID,
    SAID,
    Breakdown,
    ChargeFacts,
    Group,
    Question,
    asked_charges,
    breakdown,
)
from accountant.audit.breakdowns.charge_table import ChargeRow, ChargeTable
from accountant.audit.breakdowns.difference import Difference, Relation, difference

__all__ = [
    "BY",
    "NOT_SAID",
    "SAID",
    "Breakdown",
    "ChargeFacts",
    "ChargeRow",
    "ChargeTable",
    "Difference",
    "Group",
    "Question",
    "Relation",
    "asked_charges",
    "breakdown",
    "difference",
]
