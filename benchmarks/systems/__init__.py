"""The learners that benchmarks compare: ours, and baselines without privacy."""

from benchmarks.systems.baselines import (
    best_rules,
)
from benchmarks.systems.halfspace_learners import (
    DIFFPRIVLIB,
    LEARNERS,
    LEFT_OUT,
    MOST_WEIGHTS,
    Learner,
    boosted,
    error,
    regression,
)
from benchmarks.systems.registry import (
    BOOSTED_RULES,
    OURS,
    RECOMMENDED,
    SYSTEMS,
    paper_setting,
    recommended,
)
from benchmarks.systems.systems import (
    QUALITIES,
    Results,
    Scorer,
    System,
    Tables,
    average,
    grids,
    measure,
    ours,
    quality,
)

__all__ = [
    "BOOSTED_RULES",
    "DIFFPRIVLIB",
    "LEARNERS",
    "LEFT_OUT",
    "MOST_WEIGHTS",
    "OURS",
    "QUALITIES",
    "RECOMMENDED",
    "SYSTEMS",
    "Learner",
    "Results",
    "Scorer",
    "System",
    "Tables",
    "average",
    "best_rules",
    "boosted",
    "error",
    "grids",
    "measure",
    "ours",
    "paper_setting",
    "quality",
    "recommended",
    "regression",
]
