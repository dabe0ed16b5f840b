"""Additive models boosted on public partitions with Gaussian noise: `PrivateBoostClassifier` is recommended."""

from learners.additive.additive_model import (
    AdditiveModel,
    Curve,
    Term,
    trimmed,
)
from learners.additive.grids import (
    GRID,
    PUBLIC,
    cell_shares,
    has_own,
    is_ordered,
)
from learners.additive.posteriors import with_own_bin
from learners.additive.private_boost import (
    RELATIONS,
    PrivateBoostClassifier,
    Promise,
)
from learners.additive.scored_records import Partitioned, ScoreBinning
from learners.additive.views import (
    check_pairs,
    pair_columns,
)
from learners.additive.weighted_tables import BlockReader, whole_weights

__all__ = [
    "GRID",
    "PUBLIC",
    "RELATIONS",
    "AdditiveModel",
    "BlockReader",
    "Curve",
    "Partitioned",
    "PrivateBoostClassifier",
    "Promise",
    "ScoreBinning",
    "Term",
    "cell_shares",
    "check_pairs",
    "has_own",
    "is_ordered",
    "pair_columns",
    "trimmed",
    "whole_weights",
    "with_own_bin",
]
