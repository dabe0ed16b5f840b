"""Additive models boosted on public partitions with Gaussian noise: `PrivateBoostClassifier` is recommended."""

from learners.additive.additive_model import (
    AdditiveModel,
    Curve,
    Term,
)
from learners.additive.private_boost import (
    RELATIONS,
    PrivateBoostClassifier,
    Promise,
    whole_weights,
)
from learners.additive.views import (
    GRID,
    check_pairs,
    is_ordered,
    pair_columns,
)

__all__ = [
    "GRID",
    "RELATIONS",
    "AdditiveModel",
    "Curve",
    "PrivateBoostClassifier",
    "Promise",
    "Term",
    "check_pairs",
    "is_ordered",
    "pair_columns",
    "whole_weights",
]
