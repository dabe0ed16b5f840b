"""How good predictions are: the same numbers for every system."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from accountant.arrays import FloatArray
from benchmarks.adapters.protocol import Kind

LEAST: Final = 1e-6
"""Probabilities below it count as it in the log-loss, which would else be infinite."""

BINS: Final = 10

HIGHER: Final = ("auc", "accuracy", "r2")
"""Of these, more is better; of all others, less."""

MAIN: Final[Mapping[Kind, str]] = {"binary": "auc", "multi-class": "auc", "regression": "r2"}
"""What systems are ranked by."""


class BadPredictions(ValueError):
    """What a system predicts is not what was asked for; the message says in which way."""


def scored(kind: Kind, classes: int, predictions: FloatArray, labels: npt.NDArray[Any]) -> dict[str, float]:
    """By the name of a score. predictions, labels: as `benchmarks.adapters.protocol` has them, all finite.

    Of a binary task, predictions may be scores of shape (n,), above 0 where the second class is predicted: then there
    is no log-loss and no calibration. Raises BadPredictions.
    """
    n = labels.size
    if not np.all(np.isfinite(predictions)):
        raise BadPredictions(f"{int(np.sum(~np.isfinite(predictions)))} predictions are not finite")
    if kind == "regression":
        _shape(predictions, (n,))
        errors = float(np.mean((labels - predictions) ** 2))
        return {"r2": 1.0 - errors / float(np.var(labels)), "rmse": float(np.sqrt(errors))}
    if kind == "binary" and predictions.ndim == 1:
        _shape(predictions, (n,))
        right = float(np.mean((predictions > 0.0) == (labels > 0)))
        return {"auc": float(roc_auc_score(labels, predictions)), "accuracy": right}
    _shape(predictions, (n, classes))
    if np.min(predictions) < -1e-9 or np.max(np.abs(predictions.sum(axis=1) - 1.0)) > 1e-6:
        raise BadPredictions("probabilities must be at least 0 and add up to 1 in each row")
    own = np.clip(predictions[np.arange(n), labels], LEAST, 1.0)
    return {
        "auc": _area(predictions, labels, classes),
        "accuracy": float(np.mean(np.argmax(predictions, axis=1) == labels)),
        "log_loss": float(-np.mean(np.log(own))),
        "calibration": _calibration(predictions, labels),
    }


def _shape(predictions: FloatArray, shape: tuple[int, ...]) -> None:
    if predictions.shape != shape:
        raise BadPredictions(f"predictions of shape {predictions.shape}, expected {shape}")


def _area(predictions: FloatArray, labels: npt.NDArray[Any], classes: int) -> float:
    """Under the curve; of several classes, the mean over each against the rest, of those that occur."""
    if classes == 2:
        return float(roc_auc_score(labels, predictions[:, 1]))
    occur = [label for label in range(classes) if 0 < int(np.sum(labels == label)) < labels.size]
    return float(np.mean([roc_auc_score(labels == label, predictions[:, label]) for label in occur]))


def _calibration(predictions: FloatArray, labels: npt.NDArray[Any]) -> float:
    """Expected gap between the probability of the predicted class and how often it is right, in ten equal bins."""
    chosen = np.argmax(predictions, axis=1)
    sure, right = predictions[np.arange(labels.size), chosen], (chosen == labels).astype(np.float64)
    places = np.minimum((np.clip(sure, 0.0, 1.0) * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(places, weights=right - sure, minlength=BINS)
    return float(np.sum(np.abs(gaps)) / labels.size)
