"""Queries for gradient-based learning: clipped gradient sums, split gains, losses, objective perturbation."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.gradients.compiled_sums import FAST_SWITCH, compiles
from mechanisms.gradients.feature_fits import LARGEST_RATE, LEAST_PENALTY, one_pass_sgd, ridge_coefficients, ridge_l2
from mechanisms.gradients.feature_queries import (
    MANTISSA,
    SLACK,
    Summand,
    UnitRows,
    clipped_pull,
    cut,
    from_moments,
    joint_moments,
    projected_coefficients,
    unit_rows,
)
from mechanisms.gradients.gradient_sums import (
    CLIP,
    CURVATURE_SCALE,
    MOST_CELLS,
    MOST_GRADIENT_RECORDS,
    MOST_UNWEIGHTED_RECORDS,
    ONE,
    SCORE_UNIT,
    WEIGHT_ONE,
    gradient_query,
    most_records,
)
from mechanisms.gradients.linear_losses import (
    RECORDS_PER_SUM,
    ROUND_OFF,
    LinearRecords,
    LinearSample,
    LogisticLosses,
    Reach,
    ResidualRecords,
)
from mechanisms.gradients.objective_perturbation import ObjectivePerturbation, TooLittleRegularization, calibrated
from mechanisms.gradients.residual_moments import (
    FEATURE_ONE,
    MOST_RESIDUAL_RECORDS,
    RESIDUAL_ONE,
    CellFeatures,
    Residuals,
    residual_query,
    residual_sensitivity,
    whole_features,
)
from mechanisms.gradients.scored_records import LookUp, Move, ScoredCells, ScoredRows
from mechanisms.gradients.tree_gradients import (
    GAIN_ROUNDING,
    GRADIENT_UNIT,
    LARGEST,
    MOST_TREE_RECORDS,
    LevelChoice,
    gain_range,
    gains,
    leaf_values,
    leaf_values_l1,
    leaf_values_l2,
)

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "CLIP",
    "CURVATURE_SCALE",
    "FAST_SWITCH",
    "FEATURE_ONE",
    "GAIN_ROUNDING",
    "GRADIENT_UNIT",
    "LARGEST",
    "LARGEST_RATE",
    "LEAST_PENALTY",
    "MANTISSA",
    "MOST_CELLS",
    "MOST_GRADIENT_RECORDS",
    "MOST_RESIDUAL_RECORDS",
    "MOST_TREE_RECORDS",
    "MOST_UNWEIGHTED_RECORDS",
    "ONE",
    "RECORDS_PER_SUM",
    "RESIDUAL_ONE",
    "ROUND_OFF",
    "SCORE_UNIT",
    "SLACK",
    "WEIGHT_ONE",
    "CellFeatures",
    "LevelChoice",
    "LinearRecords",
    "LinearSample",
    "LogisticLosses",
    "LookUp",
    "Move",
    "ObjectivePerturbation",
    "Reach",
    "ResidualRecords",
    "Residuals",
    "ScoredCells",
    "ScoredRows",
    "Summand",
    "TooLittleRegularization",
    "UnitRows",
    "calibrated",
    "clipped_pull",
    "compiles",
    "cut",
    "from_moments",
    "gain_range",
    "gains",
    "gradient_query",
    "joint_moments",
    "leaf_values",
    "leaf_values_l1",
    "leaf_values_l2",
    "most_records",
    "one_pass_sgd",
    "projected_coefficients",
    "residual_query",
    "residual_sensitivity",
    "ridge_coefficients",
    "ridge_l2",
    "unit_rows",
    "whole_features",
]
