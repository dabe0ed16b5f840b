"""Boosting over Rademacher observations: RadoBoost, its losses, and label smoothing."""

from boosting.rados import losses
from boosting.rados.losses import log_exponential_loss, logistic_loss, logistic_rado_loss, shrinkage_factor
from boosting.rados.rado_boost import CappedOracle, CoordinateRun, Oracle, ada_boost, median, rado_boost, strong
from boosting.rados.smoothing import enough_smoothing, smoothed

__all__ = [
    "CappedOracle",
    "CoordinateRun",
    "Oracle",
    "ada_boost",
    "enough_smoothing",
    "log_exponential_loss",
    "logistic_loss",
    "logistic_rado_loss",
    "losses",
    "median",
    "rado_boost",
    "shrinkage_factor",
    "smoothed",
    "strong",
]
