"""A query does not go into a mechanism that wants another norm."""

from mechanisms import RobustGaussian, RobustLaplace, WeightedExponential
from mechanisms.selection.leaf_labels import LeafLabels
from mechanisms.queries.weighted_queries import (
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    LEAF_GAPS_L2,
    LEAF_LABEL_WEIGHTS,
    centred_mean,
)

RobustGaussian(LEAF_LABEL_WEIGHTS, 1.0, 0.1)  # E: arg-type
RobustLaplace(GINI_IMPROVEMENT, 1.0, 0.1)  # E: arg-type
RobustLaplace(centred_mean(1.0), 1.0, 0.1)  # E: arg-type
WeightedExponential(LEAF_GAPS, 1.0, 0.1)  # E: arg-type
LeafLabels(LEAF_GAPS_L2, 1.0, 0.1)  # E: arg-type

LeafLabels(LEAF_GAPS, 1.0, 0.1)
WeightedExponential(GINI_IMPROVEMENT, 1.0, 0.1)
