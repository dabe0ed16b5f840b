"""Data sets of the benchmarks, and the figures that the papers print."""

from benchmarks.data import printed, splits
from benchmarks.data.openml import (
    OFFERED,
    explained,
    gathered,
)
from benchmarks.data.printed import (
    EPSILONS,
    HYPERPARAMETERS,
    Setting,
)
from benchmarks.data.rado_domains import (
    BOUNDS,
    SOURCES,
    Domain,
    Source,
    domain,
)
from benchmarks.data.random_feature_domains import (
    COSTS,
    MEDICAL,
    MEDICAL_SCHEMA,
    RED,
    WINE,
    Regression,
    medical,
    min_max,
    red_wine,
    wine,
)
from benchmarks.data.regression_domains import (
    ABALONE,
    FRIEDMAN,
    abalone,
    friedman,
    widened,
    wine_of,
)
from benchmarks.data.splits import (
    FOLDS,
    PAPER,
    TITLES,
    Folds,
    Holdouts,
    Part,
    Plan,
    Split,
    categorical,
    found,
)

__all__ = [
    "ABALONE",
    "BOUNDS",
    "COSTS",
    "EPSILONS",
    "FOLDS",
    "FRIEDMAN",
    "HYPERPARAMETERS",
    "MEDICAL",
    "MEDICAL_SCHEMA",
    "OFFERED",
    "PAPER",
    "RED",
    "SOURCES",
    "TITLES",
    "WINE",
    "Domain",
    "Folds",
    "Holdouts",
    "Part",
    "Plan",
    "Regression",
    "Setting",
    "Source",
    "Split",
    "abalone",
    "categorical",
    "domain",
    "explained",
    "found",
    "friedman",
    "gathered",
    "medical",
    "min_max",
    "printed",
    "red_wine",
    "splits",
    "widened",
    "wine",
    "wine_of",
]
