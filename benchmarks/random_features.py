"""Random features: the experiments of 004 beside ours at a true ε, what its noise costs, fairness, and speed."""

from benchmarks import (
    random_feature_acceptance,
    random_feature_costs,
    random_feature_fairness,
    random_feature_memory,
    random_feature_real,
    random_feature_speed,
    random_feature_synthetic,
)
from benchmarks.report import Grid, Report, Reports


def run(folder: str | None, quick: bool) -> Reports:
    """All tables; what is asked of the recommended solver first."""
    parts: list[Report | Grid] = [
        *random_feature_acceptance.tables(folder, quick),
        *random_feature_costs.tables(folder, quick),
        *random_feature_real.tables(folder, quick),
        *random_feature_synthetic.tables(quick),
        *random_feature_fairness.tables(folder, quick),
        *random_feature_speed.tables(folder, quick),
        *random_feature_memory.tables(quick),
    ]
    return Reports("Random features", tuple(parts))
