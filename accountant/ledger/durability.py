"""Which ledgers keep what they were charged when the process that charged them has ended."""

from accountant.entries import MemoryStore
from accountant.ledger.ledger import Ledger


def durable(ledger: object) -> bool:
    """Whether this is a ledger that outlives its process, or the URL of one: what it was charged stays charged."""
    if isinstance(ledger, Ledger):
        return not isinstance(ledger._writer.store, MemoryStore)
    return isinstance(ledger, str) and "://" in ledger
