"""Halfspaces by boosting of centred means."""

from learners.halfspaces.halfspace_boost import (
    HalfspaceBoostClassifier,
)

__all__ = [
    "HalfspaceBoostClassifier",
]
