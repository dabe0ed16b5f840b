"""The experiments of 001 beside ours."""

from benchmarks.boosted_trees.adult import (
    encoded,
    load,
)

__all__ = [
    "encoded",
    "load",
]
