"""Bounded measures, Bregman projection, the boosting schema and its measure producers.

Imports accountant and mechanisms only. Nothing here knows what a feature is; a booster pays for nothing
itself, its weak learner does, through the ledger.
"""

from boosting import generalisation, guarantees, halfspaces, rado_loss
from boosting.guarantees import MarginCertificate, margin_bound, margin_certificate, rounds_for_margin
from boosting.lazy_bregman import LazyBregman, Reweighted
from boosting.measures import BoundedMeasure, joint_distance, kl_divergence, statistical_distance
from boosting.projection import capped_scaling
from boosting.schema import Hypothesis, NextMeasure, Spender, WeakLearner, boost, boosting_plan, certificates

__all__ = [
    "BoundedMeasure",
    "Hypothesis",
    "LazyBregman",
    "MarginCertificate",
    "NextMeasure",
    "Reweighted",
    "Spender",
    "WeakLearner",
    "boost",
    "boosting_plan",
    "capped_scaling",
    "certificates",
    "generalisation",
    "guarantees",
    "halfspaces",
    "joint_distance",
    "kl_divergence",
    "margin_bound",
    "margin_certificate",
    "rado_loss",
    "rounds_for_margin",
    "statistical_distance",
]
