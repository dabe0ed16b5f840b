"""Halfspaces learnt by boosting noisy means of centred points: `HalfspaceBoostClassifier`."""

from learners.halfspaces.halfspace_boost import HalfspaceBoostClassifier
from learners.halfspaces.halfspace_model import HalfspaceModel

__all__ = [
    "HalfspaceBoostClassifier",
    "HalfspaceModel",
]
