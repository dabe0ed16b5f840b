"""Halfspaces learnt by boosting noisy means of centred points: `HalfspaceBoostClassifier`."""

from learners.halfspaces.halfspace_boost import HalfspaceBoostClassifier

__all__ = [
    "HalfspaceBoostClassifier",
]
