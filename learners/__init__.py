"""Schemas, encoders, weak learners and scikit-learn estimators.

Imports accountant, mechanisms and boosting only. A learner spends through a ledger or not at all; what it
keeps after `fit` is a release or public.
"""

from learners.additive import AdditiveModel, Curve, PrivateBoostClassifier
from learners.base import PrivateClassifier, SeparateLedgersWarning, StratifiedSplitWarning
from learners.blocks import MappedTable, ParquetTable, predict_in_blocks
from learners.encoding import EncodedSample, Layout
from learners.fairness import (
    class_table,
    demographic_table,
    excess_risk,
    excess_risk_gaps,
    private_class_table,
    private_demographic_table,
    private_group_risks,
    private_regression_table,
    private_statistical_parity,
    statistical_parity,
)
from learners.halfspaces import HalfspaceBoostClassifier
from learners.inspection import (
    MarginHistogram,
    Scorecard,
    Sparsity,
    advantages,
    margin_histogram,
    private_margin_histogram,
    scorecard,
)
from learners.linear import DPLogisticRegression, LogisticModel
from learners.rados import RadoBoostClassifier, RadoRelease, Rados
from learners.random_features import (
    SGD,
    AdaSSP,
    Descent,
    MinNorm,
    Objective,
    Published,
    RandomFeatureClassifier,
    RandomFeatureMap,
    RandomFeatureRegressor,
    Ridge,
)
from learners.regression import PrivateBoostRegressor, RegressionModel
from learners.tables import (
    Boolean,
    Bounds,
    Categorical,
    Label,
    Numeric,
    OutsideSchema,
    Schema,
    SchemaError,
    read_csv,
    schema_from_dtypes,
)
from learners.trees import DPBaggingClassifier, DPGradientBoostingClassifier, DPRandomForestClassifier
from learners.votes import LazyBoostClassifier, OneRule, PrivateOneRule, Vote, VoteModel

__all__ = [
    "SGD",
    "AdaSSP",
    "AdditiveModel",
    "Boolean",
    "Bounds",
    "Categorical",
    "Curve",
    "DPBaggingClassifier",
    "DPGradientBoostingClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "Descent",
    "EncodedSample",
    "HalfspaceBoostClassifier",
    "Label",
    "Layout",
    "LazyBoostClassifier",
    "LogisticModel",
    "MappedTable",
    "MarginHistogram",
    "MinNorm",
    "Numeric",
    "Objective",
    "OneRule",
    "OutsideSchema",
    "ParquetTable",
    "PrivateBoostClassifier",
    "PrivateBoostRegressor",
    "PrivateClassifier",
    "PrivateOneRule",
    "Published",
    "RadoBoostClassifier",
    "RadoRelease",
    "Rados",
    "RandomFeatureClassifier",
    "RandomFeatureMap",
    "RandomFeatureRegressor",
    "RegressionModel",
    "Ridge",
    "Schema",
    "SchemaError",
    "Scorecard",
    "SeparateLedgersWarning",
    "Sparsity",
    "StratifiedSplitWarning",
    "Vote",
    "VoteModel",
    "advantages",
    "class_table",
    "demographic_table",
    "excess_risk",
    "excess_risk_gaps",
    "margin_histogram",
    "predict_in_blocks",
    "private_class_table",
    "private_demographic_table",
    "private_group_risks",
    "private_margin_histogram",
    "private_regression_table",
    "private_statistical_parity",
    "read_csv",
    "schema_from_dtypes",
    "scorecard",
    "statistical_parity",
]
