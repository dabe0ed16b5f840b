"""Mechanisms and spends of other libraries, charged to a ledger of ours before their code runs.

Here and not in `accountant`, as what calls somebody else's noise is a mechanism. What each costs is the other library's
word; entries say so. None of these libraries is imported here but OpenDP, and that on demand.
"""

from mechanisms.foreign.budget_accountant import LedgerAccountant
from mechanisms.foreign.declared import FOREIGN_CLAIM, DeclaredMechanism, declared_elsewhere
from mechanisms.foreign.events import plan_of_events, plan_of_opacus
from mechanisms.foreign.opendp_measurements import Measurement, from_opendp
from mechanisms.foreign.smartnoise_queries import PrivateReader, from_smartnoise
from mechanisms.foreign.spend_files import SpendFile, read_spends
from mechanisms.foreign.spends import ForeignSpend, Recorded, record_spends
from mechanisms.foreign.tumult_queries import TumultSession, from_tumult

__all__ = [
    "FOREIGN_CLAIM",
    "DeclaredMechanism",
    "ForeignSpend",
    "LedgerAccountant",
    "Measurement",
    "PrivateReader",
    "Recorded",
    "SpendFile",
    "TumultSession",
    "declared_elsewhere",
    "from_opendp",
    "from_smartnoise",
    "from_tumult",
    "plan_of_events",
    "plan_of_opacus",
    "read_spends",
    "record_spends",
]
