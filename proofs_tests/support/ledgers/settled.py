"""What most tests ask of a ledger's books at the end."""

from accountant import Ledger


def settled(ledger: Ledger) -> bool:
    """Whether the ledger is sound, and every charge was released."""
    found = ledger.verify()
    return found.sound and not any("never released" in note for note in found.notes)
