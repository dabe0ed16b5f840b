"""Schemas, encoders, weak learners and scikit-learn estimators.

Imports accountant, mechanisms and boosting only. A learner spends through a ledger or not at all; what it
keeps after `fit` is a release or public.
"""

from learners.additive_model import AdditiveModel, Curve
from learners.bagging import DPBaggingClassifier
from learners.encoding import EncodedSample, Layout
from learners.estimator import PrivateClassifier
from learners.fairness import demographic_table, excess_risk, excess_risk_gaps, statistical_parity
from learners.forest import DPRandomForestClassifier
from learners.gradient_boosting import DPGradientBoostingClassifier
from learners.halfspace_boost import HalfspaceBoostClassifier
from learners.lazy_boost import LazyBoostClassifier
from learners.logistic import DPLogisticRegression, LogisticModel
from learners.mapped_table import MappedTable
from learners.margins import MarginHistogram, advantages, margin_histogram, private_margin_histogram
from learners.one_rule import OneRule, PrivateOneRule
from learners.parquet_table import ParquetTable
from learners.private_boost import PrivateBoostClassifier
from learners.private_fairness import private_demographic_table, private_group_risks, private_statistical_parity
from learners.rado_boost import RadoBoostClassifier
from learners.rados import RadoRelease, Rados
from learners.random_feature_baselines import SGD, Objective, Ridge
from learners.random_feature_descent import AdaSSP, Descent
from learners.random_feature_maps import RandomFeatureMap
from learners.random_feature_solvers import MinNorm, Published
from learners.random_features import RandomFeatureClassifier, RandomFeatureRegressor
from learners.schema import Boolean, Bounds, Categorical, Label, Numeric, OutsideSchema, Schema, SchemaError
from learners.scorecards import Scorecard, Sparsity, scorecard
from learners.separate_fits import SeparateLedgersWarning
from learners.tables import read_csv, schema_from_dtypes
from learners.votes import Vote, VoteModel

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
    "PrivateClassifier",
    "PrivateOneRule",
    "Published",
    "RadoBoostClassifier",
    "RadoRelease",
    "Rados",
    "RandomFeatureClassifier",
    "RandomFeatureMap",
    "RandomFeatureRegressor",
    "Ridge",
    "Schema",
    "SchemaError",
    "Scorecard",
    "SeparateLedgersWarning",
    "Sparsity",
    "Vote",
    "VoteModel",
    "advantages",
    "demographic_table",
    "excess_risk",
    "excess_risk_gaps",
    "margin_histogram",
    "private_demographic_table",
    "private_group_risks",
    "private_margin_histogram",
    "private_statistical_parity",
    "read_csv",
    "schema_from_dtypes",
    "scorecard",
    "statistical_parity",
]
