"""Fairness measures by group: for public data, and private ones for the training records."""

from learners.fairness.group_measures import (
    PAPER_GRID,
    GroupRow,
    demographic_table,
    excess_risk,
    excess_risk_gaps,
    gap_by_traces,
    statistical_parity,
)
from learners.fairness.private_measures import (
    private_demographic_table,
    private_group_risks,
    private_statistical_parity,
)

__all__ = [
    "PAPER_GRID",
    "GroupRow",
    "demographic_table",
    "excess_risk",
    "excess_risk_gaps",
    "gap_by_traces",
    "private_demographic_table",
    "private_group_risks",
    "private_statistical_parity",
    "statistical_parity",
]
