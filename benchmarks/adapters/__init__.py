"""Systems of the leaderboard, a file each: ours, other people's, and ceilings without privacy.

`benchmarks.leaderboard.adapters` says what such a file is, and `protocol` what it is given. This is imported in the
environment of every system, which has numpy and the standard library.
"""

from benchmarks.adapters import protocol

__all__ = ["protocol"]
