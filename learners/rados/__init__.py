"""Releasing rados of a table, and the linear classifier that learns from rados alone."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.rados.public_sums import spread
from learners.rados.rado_classifier import OracleName, RadoBoostClassifier
from learners.rados.rado_releases import Protection, RadoRelease, Rados

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "OracleName",
    "Protection",
    "RadoBoostClassifier",
    "RadoRelease",
    "Rados",
    "spread",
]
