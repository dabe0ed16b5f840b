"""Private selection: a candidate by noisy scores, labels for leaves, hyper-parameters by random stopping."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.selection import utility
from mechanisms.selection.leaf_labels import LeafLabelKernel, LeafLabels
from mechanisms.selection.noisy_choice import (
    ExponentialKernel,
    NoisyMaxKernel,
    PermuteAndFlip,
    PermuteAndFlipKernel,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.selection.private_selection import PrivateSelection, selection_cost
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "ExponentialKernel",
    "LeafLabelKernel",
    "LeafLabels",
    "NegativeBinomialStopping",
    "NoisyMaxKernel",
    "PermuteAndFlip",
    "PermuteAndFlipKernel",
    "PoissonStopping",
    "PrivateSelection",
    "WeightedExponential",
    "WeightedNoisyMax",
    "selection_cost",
    "utility",
]
