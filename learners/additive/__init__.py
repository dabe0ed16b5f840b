"""Additive models boosted on public partitions with Gaussian noise: `PrivateBoostClassifier` is recommended."""

from learners.additive.additive_model import (
    AdditiveModel,
    Curve,
    Term,
)
from learners.additive.boost_regressor import PrivateBoostRegressor
from learners.additive.private_boost import (
    PrivateBoostClassifier,
    Promise,
)
from learners.additive.regression_model import RegressionModel

__all__ = [
    "AdditiveModel",
    "Curve",
    "PrivateBoostClassifier",
    "PrivateBoostRegressor",
    "Promise",
    "RegressionModel",
    "Term",
]
