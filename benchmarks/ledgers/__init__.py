"""What a release, a durable charge and a verification cost, and races for the last of a budget."""

from benchmarks.ledgers.free_mechanism import (
    Nothing,
)
from benchmarks.ledgers.ledger import (
    in_memory,
)

__all__ = [
    "Nothing",
    "in_memory",
]
