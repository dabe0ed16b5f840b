"""The registry of ledgers: which ledgers exist over which data set, and what they come to together.

Importing it imports SQLAlchemy, as ledgers in databases do.
"""

from accountant.registry.ledger_registry import REGISTRY, Registry, is_registry
from accountant.registry.membership import Membership, location_of
from accountant.registry.quick_reading import QuickReading, quick_reading, read_quickly
from accountant.registry.registration import Registration
from accountant.registry.together import LedgerOver, Together, over, together, under

__all__ = [
    "REGISTRY",
    "LedgerOver",
    "Membership",
    "QuickReading",
    "Registration",
    "Registry",
    "Together",
    "is_registry",
    "location_of",
    "over",
    "quick_reading",
    "read_quickly",
    "together",
    "under",
]
