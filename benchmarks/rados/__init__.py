"""The experiments of paper 000 (Rademacher observations), and our learner on the same data."""

from benchmarks.rados import rado_speed

__all__ = [
    "rado_speed",
]
