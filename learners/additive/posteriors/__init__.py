"""What is known of an effect: Gaussian posteriors over cells without an order, in order, and of pairs."""

from learners.additive.posteriors.deviations import deviations
from learners.additive.posteriors.effects import Effect, NominalEffect
from learners.additive.posteriors.grid_effect import GridEffect
from learners.additive.posteriors.missing_cell import with_own_bin, with_own_share
from learners.additive.posteriors.ordered_effects import OrderedEffect

__all__ = [
    "Effect",
    "GridEffect",
    "NominalEffect",
    "OrderedEffect",
    "deviations",
    "with_own_bin",
    "with_own_share",
]
