"""Fairness measures by group: for public data, and private ones for the training records."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.fairness.class_measures import ClassTable, class_table
from learners.fairness.group_measures import (
    PAPER_GRID,
    GroupRow,
    demographic_table,
    excess_risk,
    excess_risk_gaps,
    gap_by_traces,
    statistical_parity,
)
from learners.fairness.private_amounts import PrivateAmountTable, private_regression_table
from learners.fairness.private_classes import PrivateClassTable, private_class_table
from learners.fairness.private_measures import (
    FARTHEST,
    private_demographic_table,
    private_group_risks,
    private_statistical_parity,
)
from learners.fairness.stored_columns import Score, StoredColumn

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "FARTHEST",
    "PAPER_GRID",
    "ClassTable",
    "GroupRow",
    "PrivateAmountTable",
    "PrivateClassTable",
    "Score",
    "StoredColumn",
    "class_table",
    "demographic_table",
    "excess_risk",
    "excess_risk_gaps",
    "gap_by_traces",
    "private_class_table",
    "private_demographic_table",
    "private_group_risks",
    "private_regression_table",
    "private_statistical_parity",
    "statistical_parity",
]
