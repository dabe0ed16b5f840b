"""Private forests, gradient-boosted trees and bagged trees."""

from typing import TYPE_CHECKING

from accountant.renamed import names_of_old_module
from learners.trees.bagging import (
    DPBaggingClassifier,
    StudentModel,
)
from learners.trees.forest import (
    DPRandomForestClassifier,
    ForestModel,
)
from learners.trees.gradient_boosting import DPGradientBoostingClassifier
from learners.trees.gradient_trees import BoostedTreesModel

if not TYPE_CHECKING:
    __getattr__ = names_of_old_module(__name__)

__all__ = [
    "BoostedTreesModel",
    "DPBaggingClassifier",
    "DPGradientBoostingClassifier",
    "DPRandomForestClassifier",
    "ForestModel",
    "StudentModel",
]
