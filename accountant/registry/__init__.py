"""The registry of ledgers: which ledgers exist over which data set, and what they come to together.

Importing it imports SQLAlchemy, as ledgers in databases do.
"""

from accountant.registry.ledger_registry import REGISTRY, KnownHead, Registry, is_registry
from accountant.registry.membership import Membership, location_of
from accountant.registry.quick_reading import QuickReading, quick_reading, read_quickly
from accountant.registry.registration import Registration
from accountant.registry.together import LOST, LedgerOver, Together, has, over, together, under

__all__ = [
    "LOST",
    "REGISTRY",
    "KnownHead",
    "LedgerOver",
    "Membership",
    "QuickReading",
    "Registration",
    "Registry",
    "Together",
    "has",
    "is_registry",
    "location_of",
    "over",
    "quick_reading",
    "read_quickly",
    "together",
    "under",
]
