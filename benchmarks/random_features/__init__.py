"""The experiments of paper 004 (private random features), and our solvers on the same data."""

from benchmarks.random_features import random_feature_speed

__all__ = [
    "random_feature_speed",
]
