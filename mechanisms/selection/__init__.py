"""Private selection: a candidate by noisy scores, labels for leaves, hyper-parameters by random stopping."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.selection import utility
from mechanisms.selection.leaf_labels import LeafLabelChoice, LeafLabels
from mechanisms.selection.noisy_choice import (
    ExponentialChoice,
    NoisyMaxChoice,
    PermuteAndFlip,
    PermuteAndFlipChoice,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.selection.private_selection import PrivateSelection, selection_cost
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "ExponentialChoice",
    "LeafLabelChoice",
    "LeafLabels",
    "NegativeBinomialStopping",
    "NoisyMaxChoice",
    "PermuteAndFlip",
    "PermuteAndFlipChoice",
    "PoissonStopping",
    "PrivateSelection",
    "WeightedExponential",
    "WeightedNoisyMax",
    "selection_cost",
    "utility",
]
