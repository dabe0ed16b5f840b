"""Theorems on boosting and rados as functions with explicit constants, and code that checks them."""

from boosting.theory import games, generalisation, guarantees, halfspaces, label_noise, margin_samples, sample_sizes
from boosting.theory.guarantees import MarginCertificate, best_learning_rate, margin_bound, rounds_for_margin
from boosting.theory.halfspaces import centred_mean_length, flips_planned_for, noisy_centred_mean_advantage
from boosting.theory.label_noise import advantage_left, flipped
from boosting.theory.margin_samples import MarginData, margin_data
from boosting.theory.rado_attacks import another_solution, read_support, reconstruct_edges, subsumed
from boosting.theory.reruns import Replay, replay
from boosting.theory.sample_sizes import HalfspaceTask, Route, SampleSize, best_sigma, by_margins, by_privacy

__all__ = [
    "HalfspaceTask",
    "MarginCertificate",
    "MarginData",
    "Replay",
    "Route",
    "SampleSize",
    "advantage_left",
    "another_solution",
    "best_learning_rate",
    "best_sigma",
    "by_margins",
    "by_privacy",
    "centred_mean_length",
    "flipped",
    "flips_planned_for",
    "games",
    "generalisation",
    "guarantees",
    "halfspaces",
    "label_noise",
    "margin_bound",
    "margin_data",
    "margin_samples",
    "noisy_centred_mean_advantage",
    "read_support",
    "reconstruct_edges",
    "replay",
    "rounds_for_margin",
    "sample_sizes",
    "subsumed",
]
