"""Schemas, encoders, weak learners and scikit-learn estimators.

Imports accountant, mechanisms and boosting only. A learner spends through a ledger or not at all; what it
keeps after `fit` is a release or public.

Rooms are imported when something in them is asked for: reading a table or a schema takes no scikit-learn along, which
takes longer to import than a small file to be refused.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from learners.additive import AdditiveModel, Curve, PrivateBoostClassifier
    from learners.base import PrivateClassifier, SeparateLedgersWarning, StratifiedSplitWarning
    from learners.blocks import CsvTable, MappedTable, ParquetTable, predict_in_blocks
    from learners.databases import (
        DatabaseFailed,
        PredictedColumn,
        SqlColumn,
        SqlTable,
        predict_in_database,
        write_predictions,
    )
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
        Date,
        Integer,
        Label,
        NumberLabel,
        Numeric,
        Ordered,
        OutsideSchema,
        Schema,
        SchemaError,
        read_csv,
        schema_from_dtypes,
    )
    from learners.trees import DPBaggingClassifier, DPGradientBoostingClassifier, DPRandomForestClassifier
    from learners.votes import (
        CodeHypothesis,
        LazyBoostClassifier,
        OneRule,
        PrivateOneRule,
        RobustLearner,
        Vote,
        VoteModel,
        WeightedPartition,
    )
else:

    def __getattr__(name: str) -> object:
        if name in ROOMS:
            return _room(name)
        if name in __all__:
            return next(getattr(room, name) for room in map(_room, ROOMS) if name in room.__all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*__all__, *ROOMS, *(name for name in globals() if name.startswith("__"))})


ROOMS: Final = (
    "kinds",
    "tables",
    "encoding",
    "blocks",
    "base",
    "additive",
    "regression",
    "votes",
    "trees",
    "linear",
    "halfspaces",
    "random_features",
    "rados",
    "fairness",
    "inspection",
    "exports",
    "databases",
)
"""In the order in which a name is looked for: what others need first."""


def _room(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def load_rooms() -> None:
    """Import all rooms, for whoever asks a base class for everything that is derived from it."""
    for name in ROOMS:
        _room(name)


__all__ = [
    "SGD",
    "AdaSSP",
    "AdditiveModel",
    "Boolean",
    "Bounds",
    "Categorical",
    "CodeHypothesis",
    "CsvTable",
    "Curve",
    "DPBaggingClassifier",
    "DPGradientBoostingClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "DatabaseFailed",
    "Date",
    "Descent",
    "EncodedSample",
    "HalfspaceBoostClassifier",
    "Integer",
    "Label",
    "Layout",
    "LazyBoostClassifier",
    "LogisticModel",
    "MappedTable",
    "MarginHistogram",
    "MinNorm",
    "NumberLabel",
    "Numeric",
    "Objective",
    "OneRule",
    "Ordered",
    "OutsideSchema",
    "ParquetTable",
    "PredictedColumn",
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
    "RobustLearner",
    "Schema",
    "SchemaError",
    "Scorecard",
    "SeparateLedgersWarning",
    "Sparsity",
    "SqlColumn",
    "SqlTable",
    "StratifiedSplitWarning",
    "Vote",
    "VoteModel",
    "WeightedPartition",
    "advantages",
    "class_table",
    "demographic_table",
    "excess_risk",
    "excess_risk_gaps",
    "margin_histogram",
    "predict_in_blocks",
    "predict_in_database",
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
    "write_predictions",
]
