"""Logistic regression by objective perturbation."""

from learners.linear.logistic import (
    DPLogisticRegression,
    LogisticModel,
)

__all__ = [
    "DPLogisticRegression",
    "LogisticModel",
]
