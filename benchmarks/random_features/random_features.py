"""Random features: the experiments of 004 beside ours at a true ε, what its noise costs, speed, and memory."""

from benchmarks.random_features import (
    boosted_regression,
    random_feature_acceptance,
    random_feature_costs,
    random_feature_memory,
    random_feature_real,
    random_feature_speed,
    random_feature_synthetic,
)
from benchmarks.runner import Part, Setting

MODULES = (
    random_feature_acceptance,
    boosted_regression,
    random_feature_costs,
    random_feature_real,
    random_feature_synthetic,
    random_feature_speed,
    random_feature_memory,
)


def parts(setting: Setting) -> list[Part]:
    """What is asked of the recommended solver first."""
    return [part for module in MODULES for part in module.parts(setting)]
