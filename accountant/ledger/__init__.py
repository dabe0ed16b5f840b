"""The ledger: the only place where protected data is opened, and only after the charge is written."""

from typing import TYPE_CHECKING

from accountant.ledger.account_names import unknown_label
from accountant.ledger.charge_recorder import noted
from accountant.ledger.durability import durable
from accountant.ledger.ledger import Ledger
from accountant.ledger.promises import refuse_unprovable
from accountant.ledger.protected_data import Protected, Sealed
from accountant.ledger.reservation import Reservation
from accountant.renamed import old_names

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "Ledger",
    "Protected",
    "Reservation",
    "Sealed",
    "durable",
    "noted",
    "refuse_unprovable",
    "unknown_label",
]
