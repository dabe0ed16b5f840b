"""Other libraries on the same tasks, each in an environment and a process of its own."""

from benchmarks.peers.peer_costs import (
    measured,
)
from benchmarks.peers.peer_data import (
    Few,
    arrays,
    norm,
)
from benchmarks.peers.peer_environments import (
    OURS,
    environment,
    folder,
    one_at_a_time,
    present,
    python_with,
)
from benchmarks.peers.peer_processes import (
    Worker,
)
from benchmarks.peers.peer_systems import (
    PEERS,
    Entrant,
    Promise,
)

__all__ = [
    "OURS",
    "PEERS",
    "Entrant",
    "Few",
    "Promise",
    "Worker",
    "arrays",
    "environment",
    "folder",
    "measured",
    "norm",
    "one_at_a_time",
    "present",
    "python_with",
]
