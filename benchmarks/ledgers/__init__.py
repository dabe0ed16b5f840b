"""What a release, a durable charge and a verification cost in time, and what concurrent writers do."""

from benchmarks.ledgers.free_mechanism import (
    Nothing,
)
from benchmarks.ledgers.ledger import (
    in_memory,
)
from benchmarks.ledgers.postgres import (
    NoServer,
    Server,
)

__all__ = [
    "NoServer",
    "Nothing",
    "Server",
    "in_memory",
]
