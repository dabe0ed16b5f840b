"""Linear models on random features: maps, private solvers, and bounds on their errors."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.random_features.baselines import (
    SGD,
    Objective,
    Ridge,
)
from learners.random_features.descent import (
    AdaSSP,
    Descent,
)
from learners.random_features.error_bounds import (
    PublishedNoise,
)
from learners.random_features.estimators import (
    RandomFeatureClassifier,
    RandomFeatureRegressor,
    SolverName,
)
from learners.random_features.feature_maps import (
    FeatureMap,
    FrequencyDistribution,
    RandomFeatureMap,
)
from learners.random_features.feature_rows import (
    KEPT,
)
from learners.random_features.interpolation import (
    ROWS_PER_STEP,
    KaczmarzReport,
    NotConverged,
    kaczmarz,
    min_norm,
    ridge,
    single_row_kaczmarz,
)
from learners.random_features.solvers import (
    CONCENTRATED,
    SPREAD,
    UNSCALED,
    MinNorm,
    Published,
    gamma_plan,
    gaussian_plan,
)

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "CONCENTRATED",
    "KEPT",
    "ROWS_PER_STEP",
    "SGD",
    "SPREAD",
    "UNSCALED",
    "AdaSSP",
    "Descent",
    "FeatureMap",
    "FrequencyDistribution",
    "KaczmarzReport",
    "MinNorm",
    "NotConverged",
    "Objective",
    "Published",
    "PublishedNoise",
    "RandomFeatureClassifier",
    "RandomFeatureMap",
    "RandomFeatureRegressor",
    "Ridge",
    "SolverName",
    "gamma_plan",
    "gaussian_plan",
    "kaczmarz",
    "min_norm",
    "ridge",
    "single_row_kaczmarz",
]
