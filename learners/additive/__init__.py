"""Additive models boosted on public partitions with Gaussian noise: `PrivateBoostClassifier` is recommended."""

from learners.additive.additive_model import (
    AdditiveModel,
    Curve,
    Term,
)
from learners.additive.private_boost import (
    PrivateBoostClassifier,
    Promise,
)

__all__ = [
    "AdditiveModel",
    "Curve",
    "PrivateBoostClassifier",
    "Promise",
    "Term",
]
