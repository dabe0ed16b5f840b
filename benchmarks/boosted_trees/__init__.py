"""The experiments of paper 001 (private boosted trees), and our learners on the same data."""

from benchmarks.boosted_trees.adult import (
    encoded,
    load,
)

__all__ = [
    "encoded",
    "load",
]
