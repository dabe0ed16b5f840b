"""Additive models of numbers, learnt by gradients with Gaussian noise: `PrivateBoostRegressor` is recommended."""

from learners.regression.block_reader import NumberLabels, RegressionReader
from learners.regression.boost_regressor import (
    Interactions,
    PrivateBoostRegressor,
)
from learners.regression.label_scale import SCALES, SIDE, edges, fine_edges
from learners.regression.record_views import (
    After,
    ColumnCodes,
    Everywhere,
    LabelDistance,
    LabelPull,
    Pull,
    ResidualDistance,
    ScorePull,
)
from learners.regression.regression_losses import (
    MOST_LOG_RATE,
    MOST_TARGET,
    RATES,
    TARGET_ONE,
    Loss,
    LossName,
)
from learners.regression.regression_model import (
    RegressionModel,
    ResidualHistogram,
)
from learners.regression.smooth_basis import Basis

__all__ = [
    "MOST_LOG_RATE",
    "MOST_TARGET",
    "RATES",
    "SCALES",
    "SIDE",
    "TARGET_ONE",
    "After",
    "Basis",
    "ColumnCodes",
    "Everywhere",
    "Interactions",
    "LabelDistance",
    "LabelPull",
    "Loss",
    "LossName",
    "NumberLabels",
    "PrivateBoostRegressor",
    "Pull",
    "RegressionModel",
    "RegressionReader",
    "ResidualDistance",
    "ResidualHistogram",
    "ScorePull",
    "edges",
    "fine_edges",
]
