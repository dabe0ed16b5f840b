"""Queries over weighted records, histograms and public groups, with their proven sensitivities."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.queries.group_queries import (
    MOST_CELLS,
    SHARE_ONE,
    GroupedCells,
    GroupedShares,
    prefix_counts,
    prefix_decoder,
    prefixes_query,
    shares_query,
)
from mechanisms.queries.histograms import (
    BlockCounts,
    HistogramRows,
    Histograms,
    Neighbours,
    Partitions,
    check_histograms,
    counts_l1,
    counts_l2,
    histogram_query,
    histogram_rows_query,
    histograms,
)
from mechanisms.queries.weighted_queries import (
    ENTROPY_IMPROVEMENT,
    ERROR_IMPROVEMENT,
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    LEAF_GAPS_L2,
    LEAF_LABEL_WEIGHTS,
    LEAF_LABEL_WEIGHTS_L2,
    MOST_COORDINATES,
    WeightedCells,
    WeightedLeaves,
    centred_mean,
    public_radius,
    refuse_sizes,
    unit_ball_mean,
)

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "ENTROPY_IMPROVEMENT",
    "ERROR_IMPROVEMENT",
    "GINI_IMPROVEMENT",
    "LEAF_GAPS",
    "LEAF_GAPS_L2",
    "LEAF_LABEL_WEIGHTS",
    "LEAF_LABEL_WEIGHTS_L2",
    "MOST_CELLS",
    "MOST_COORDINATES",
    "SHARE_ONE",
    "BlockCounts",
    "GroupedCells",
    "GroupedShares",
    "HistogramRows",
    "Histograms",
    "Neighbours",
    "Partitions",
    "WeightedCells",
    "WeightedLeaves",
    "centred_mean",
    "check_histograms",
    "counts_l1",
    "counts_l2",
    "histogram_query",
    "histogram_rows_query",
    "histograms",
    "prefix_counts",
    "prefix_decoder",
    "prefixes_query",
    "public_radius",
    "refuse_sizes",
    "shares_query",
    "unit_ball_mean",
]
