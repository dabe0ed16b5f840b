"""Additive models of numbers, learnt by gradients with Gaussian noise: `PrivateBoostRegressor` is recommended."""

from learners.regression.boost_regressor import (
    Interactions,
    PrivateBoostRegressor,
)
from learners.regression.regression_losses import (
    LossName,
)
from learners.regression.regression_model import (
    RegressionModel,
    ResidualHistogram,
)

__all__ = [
    "Interactions",
    "LossName",
    "PrivateBoostRegressor",
    "RegressionModel",
    "ResidualHistogram",
]
