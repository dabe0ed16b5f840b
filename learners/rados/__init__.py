"""Releasing rados of a table, and the linear classifier that learns from rados alone."""

from learners.rados.public_sums import (
    spread,
)
from learners.rados.rado_boost import (
    OracleName,
    RadoBoostClassifier,
)
from learners.rados.rado_releases import (
    Protection,
    RadoRelease,
    Rados,
)

__all__ = [
    "OracleName",
    "Protection",
    "RadoBoostClassifier",
    "RadoRelease",
    "Rados",
    "spread",
]
