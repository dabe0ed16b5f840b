"""Private forests, gradient-boosted trees and bagged trees."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.trees.bagging import DPBaggingClassifier, StudentModel
from learners.trees.complete_trees import CompleteTree
from learners.trees.forest import DPRandomForestClassifier, ForestModel
from learners.trees.gradient_boosting import DPGradientBoostingClassifier
from learners.trees.gradient_trees import BoostedTreesModel

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "BoostedTreesModel",
    "CompleteTree",
    "DPBaggingClassifier",
    "DPGradientBoostingClassifier",
    "DPRandomForestClassifier",
    "ForestModel",
    "StudentModel",
]
