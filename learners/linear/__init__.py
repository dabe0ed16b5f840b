"""Logistic regression by objective perturbation: `DPLogisticRegression`."""

from learners.linear.logistic import DPLogisticRegression, LogisticModel

__all__ = [
    "DPLogisticRegression",
    "LogisticModel",
]
