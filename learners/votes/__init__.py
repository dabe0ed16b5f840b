"""Majority votes of 1-Rules or of private trees, boosted by lazy Bregman re-weighting."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.votes.binary_trees import Tree
from learners.votes.lazy_boost import LazyBoostClassifier
from learners.votes.majority_vote import Vote, VoteBinning, VoteModel
from learners.votes.one_rules import CONSTANT, OneRule, PrivateOneRule, one_rule_scores, one_rules
from learners.votes.weak_learners import CodeHypothesis, RobustLearner, RoundLearner, WeightedPartition

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "CONSTANT",
    "CodeHypothesis",
    "LazyBoostClassifier",
    "OneRule",
    "PrivateOneRule",
    "RobustLearner",
    "RoundLearner",
    "Tree",
    "Vote",
    "VoteBinning",
    "VoteModel",
    "WeightedPartition",
    "one_rule_scores",
    "one_rules",
]
