"""Mechanisms on Rademacher observations (rados): edge vectors, supports, the distribution of a column."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.rados.column_distribution import (
    MAX_RADOS,
    EmptyWindow,
    RadoColumnLaw,
    beta_at,
    rados_count,
    theorem6_printed,
)
from mechanisms.rados.edge_vectors import (
    NotPrivate,
    RadoTailTruncation,
    RandomRados,
    clipped,
    edge_vectors,
    noised_edges,
)
from mechanisms.rados.noised_rados import column_moments, exact_moments, exact_steps, noised_rados, paired_rados
from mechanisms.rados.one_hot import moments_l2, one_hot_text
from mechanisms.rados.public_supports import drawn_seed, rados_over, sample_rados, support_sizes, support_sums
from mechanisms.rados.sampling import (
    STEP,
    EdgeVectors,
    NotBoolean,
    Vectors,
    pieces,
    sample_fixed_support_rados,
    sample_truncated_rados,
)

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "MAX_RADOS",
    "STEP",
    "EdgeVectors",
    "EmptyWindow",
    "NotBoolean",
    "NotPrivate",
    "RadoColumnLaw",
    "RadoTailTruncation",
    "RandomRados",
    "Vectors",
    "beta_at",
    "clipped",
    "column_moments",
    "drawn_seed",
    "edge_vectors",
    "exact_moments",
    "exact_steps",
    "moments_l2",
    "noised_edges",
    "noised_rados",
    "one_hot_text",
    "paired_rados",
    "pieces",
    "rados_count",
    "rados_over",
    "sample_fixed_support_rados",
    "sample_rados",
    "sample_truncated_rados",
    "support_sizes",
    "support_sums",
    "theorem6_printed",
]
