"""Private selection: a candidate by noisy scores, labels for leaves, hyper-parameters by random stopping."""

from typing import TYPE_CHECKING

from accountant.renamed import names_of_old_module
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
    __getattr__ = names_of_old_module(__name__)

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
