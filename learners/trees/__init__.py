"""Private forests, gradient-boosted trees and bagged trees."""

from learners.trees.bagging import (
    DPBaggingClassifier,
    StudentModel,
)
from learners.trees.forest import (
    DPRandomForestClassifier,
    ForestModel,
)
from learners.trees.gradient_boosting import (
    DPGradientBoostingClassifier,
)
from learners.trees.gradient_trees import (
    BoostedTreesModel,
)

__all__ = [
    "BoostedTreesModel",
    "DPBaggingClassifier",
    "DPGradientBoostingClassifier",
    "DPRandomForestClassifier",
    "ForestModel",
    "StudentModel",
]
