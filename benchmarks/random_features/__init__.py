"""The experiments of 004 beside ours."""

from benchmarks.random_features import random_feature_speed

__all__ = [
    "random_feature_speed",
]
