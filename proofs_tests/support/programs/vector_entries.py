"""Entries of test vectors: the same whenever they are written."""

from typing import Final

from accountant import Cost, Description, Entry, Ledger, Plan
from accountant.costs import SECURE
from proofs_tests.support.ledgers.forgeries import rechained, records_of

NOISE: Final = Description("Noise", "count", (("scale", 2.0),), "l1", 1.0, None, SECURE, True, ())


def entries_of(ledger: Ledger) -> list[Entry]:
    """With times and an id that are the same whenever they are written."""
    records = records_of(list(ledger.entries))
    records[0]["id"] = "0" * 32
    return rechained([{**record, "time": 1_700_000_000_000_000_000 + at} for at, record in enumerate(records)])


def spend(ledger: Ledger, cost: Cost, rounds: int = 1) -> None:
    """Charge and release some rounds."""
    with ledger.reserve(Plan.of(cost, rounds), adjacency=ledger.adjacency, mechanism=NOISE) as charge:
        charge.note_drawn_elsewhere(NOISE, rounds)
