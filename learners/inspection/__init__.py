"""Fitted models for people to read: scorecards, plots and margins."""

from learners.inspection import plots
from learners.inspection.card_sections import CardSection, Scorecard, escaped
from learners.inspection.margins import (
    MarginHistogram,
    advantages,
    binned_margins,
    margin_histogram,
    private_margin_histogram,
)
from learners.inspection.point_tables import Linear, tolerated
from learners.inspection.scorecards import Sparsity, scorecard

__all__ = [
    "CardSection",
    "Linear",
    "MarginHistogram",
    "Scorecard",
    "Sparsity",
    "advantages",
    "binned_margins",
    "escaped",
    "margin_histogram",
    "plots",
    "private_margin_histogram",
    "scorecard",
    "tolerated",
]
