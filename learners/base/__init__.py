"""What all private estimators share: charging a ledger, parameters, saved models, calibration and tuning."""

from accountant.renamed_parameters import RenamedParameter
from learners.base.budget import FitBudget
from learners.base.defaults import (
    BoostingSettings,
    halfspace_settings,
    lazy_boost_settings,
)
from learners.base.fit_plan import (
    Dataset,
    FitPlan,
    FitResult,
    Progress,
)
from learners.base.gaussian_budget import (
    LEAST_VARIANCE,
    MOMENTS_SHARE,
    GaussianQuery,
    affordable_mu,
    noisy_spread,
    part_at,
    plan_of,
)
from learners.base.parameters import (
    flag,
    moderate,
    one_of,
    optional,
    public_interval,
    public_seed,
    required_bounds,
    unweighted,
)
from learners.base.private_estimator import (
    Check,
    PrivateEstimator,
    RandomState,
)
from learners.base.score_calibration import (
    BinCounts,
    BinnedRows,
    BinTotals,
    Calibration,
    Calibrator,
    ScoreBins,
    log_odds_edges,
    vote_edges,
)
from learners.base.searches import StratifiedSplitWarning
from learners.base.selection_rules import (
    Selection,
    choosing,
    selection,
)
from learners.base.separate_ledgers import SeparateLedgersWarning
from learners.base.table_classifier import (
    Domain,
    Model,
    NamedColumns,
    PrivateClassifier,
    Rule,
    TablePlan,
    domain_schema,
    named_rule,
)
from learners.base.tuning import (
    RUNS_PER_SETTING,
    RightIn,
    affordable,
)

__all__ = [
    "LEAST_VARIANCE",
    "MOMENTS_SHARE",
    "RUNS_PER_SETTING",
    "BinCounts",
    "BinTotals",
    "BinnedRows",
    "BoostingSettings",
    "Calibration",
    "Calibrator",
    "Check",
    "Dataset",
    "Domain",
    "FitBudget",
    "FitPlan",
    "FitResult",
    "GaussianQuery",
    "Model",
    "NamedColumns",
    "PrivateClassifier",
    "PrivateEstimator",
    "Progress",
    "RandomState",
    "RenamedParameter",
    "RightIn",
    "Rule",
    "ScoreBins",
    "Selection",
    "SeparateLedgersWarning",
    "StratifiedSplitWarning",
    "TablePlan",
    "affordable",
    "affordable_mu",
    "choosing",
    "domain_schema",
    "flag",
    "halfspace_settings",
    "lazy_boost_settings",
    "log_odds_edges",
    "moderate",
    "named_rule",
    "noisy_spread",
    "one_of",
    "optional",
    "part_at",
    "plan_of",
    "public_interval",
    "public_seed",
    "required_bounds",
    "selection",
    "unweighted",
    "vote_edges",
]
