"""Bounded measures, Bregman projection, the boosting schema and its measure producers.

Imports accountant and mechanisms only. Nothing here knows what a feature is; a booster pays for nothing
itself, its weak learner does, through the ledger.
"""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from boosting.adaboost import AdaBoost, NoCertificate
from boosting.booster import Hypothesis, NextMeasure, WeakLearner, boost, boosting_plan, certificates
from boosting.exponential_weights import ExponentialWeights
from boosting.lazy_bregman import LazyBregman
from boosting.measures import BoundedMeasure, joint_distance, kl_divergence, statistical_distance
from boosting.projection import capped_scaling
from boosting.rados import losses as rado_losses
from boosting.reweighted_sample import BoostingStep, CountedMargins, MarginWeighting, Reweighted, WeighedVisit
from boosting.theory import (
    MarginCertificate,
    Replay,
    games,
    generalisation,
    guarantees,
    halfspaces,
    label_noise,
    margin_bound,
    margin_samples,
    replay,
    rounds_for_margin,
    sample_sizes,
)
from mechanisms.core import Spender

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "AdaBoost",
    "BoostingStep",
    "BoundedMeasure",
    "CountedMargins",
    "ExponentialWeights",
    "Hypothesis",
    "LazyBregman",
    "MarginCertificate",
    "MarginWeighting",
    "NextMeasure",
    "NoCertificate",
    "Replay",
    "Reweighted",
    "Spender",
    "WeakLearner",
    "WeighedVisit",
    "boost",
    "boosting_plan",
    "capped_scaling",
    "certificates",
    "games",
    "generalisation",
    "guarantees",
    "halfspaces",
    "joint_distance",
    "kl_divergence",
    "label_noise",
    "margin_bound",
    "margin_samples",
    "rado_losses",
    "replay",
    "rounds_for_margin",
    "sample_sizes",
    "statistical_distance",
]
