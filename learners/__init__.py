"""Schemas, encoders, weak learners and scikit-learn estimators.

Imports accountant, mechanisms and boosting only. A learner spends through a ledger or not at all; what it
keeps after `fit` is a release or public.
"""

from learners.encoding import EncodedSample, Layout
from learners.lazy_boost import LazyBoostClassifier
from learners.one_rule import OneRule, PrivateOneRule
from learners.schema import Boolean, Categorical, Label, Numeric, OutsideSchema, Schema, SchemaError
from learners.tables import read_csv
from learners.votes import Vote, VoteModel

__all__ = [
    "Boolean",
    "Categorical",
    "EncodedSample",
    "Label",
    "Layout",
    "LazyBoostClassifier",
    "Numeric",
    "OneRule",
    "OutsideSchema",
    "PrivateOneRule",
    "Schema",
    "SchemaError",
    "Vote",
    "VoteModel",
    "read_csv",
]
