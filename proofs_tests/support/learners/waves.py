"""Small regressions on random features, which tests of them share."""

import numpy as np

from accountant.arrays import FloatArray
from learners import SGD, Bounds, Descent, MinNorm, RandomFeatureRegressor
from learners.random_features.estimators import SolverName

BOX = Bounds(-1.0, 1.0)
GAUSSIAN: tuple[SolverName, ...] = (
    "descent",
    Descent(rounds=7, standardise=False),
    "adassp",
    "min-norm",
    MinNorm(route="kaczmarz"),
    "sgd",
    SGD(rate=0.5, batch=3),
    "ridge",
)
PURE: tuple[SolverName, ...] = ("gamma", "objective")
EPSILON, DELTA = 1.0, 1e-5

Data = tuple[FloatArray, FloatArray]


def regressor(solver: SolverName = "descent", **changes: object) -> RandomFeatureRegressor:
    """With 20 frequencies, in the box, seeded; changes: of its settings."""
    settings: dict[str, object] = {
        "epsilon": EPSILON, "delta": DELTA, "label_bounds": (-1.0, 1.0), "n_components": 20, "schema": BOX,
        "random_state": 0, "solver": solver, **changes,
    }  # fmt: skip
    return RandomFeatureRegressor(**settings)  # type: ignore[arg-type]  # a table of settings


def waves(records: int, seed: int = 0) -> Data:
    """Points of a square, and a product of waves of them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (records, 2))
    return X, 0.8 * np.sin(2.5 * X[:, 0]) * X[:, 1]
