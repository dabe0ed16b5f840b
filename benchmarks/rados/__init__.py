"""The experiments of 000 beside ours."""

from benchmarks.rados import rado_speed

__all__ = [
    "rado_speed",
]
