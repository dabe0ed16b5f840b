"""What noise leaves unsure of effects, for people who read them: the deviations of their posteriors, in few digits."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from learners.additive.posteriors.effects import Effect

DIGITS: Final = 2
"""Significant ones, so that saved models stay small."""


def deviations(effects: Sequence[Effect]) -> FloatArray:
    """Of each cell of a view and each class, in nats, shape (cells, classes). effects: one a class."""
    return np.stack([_rounded(np.sqrt(np.maximum(effect.variances(), 0.0))) for effect in effects], axis=-1)


def _rounded(values: FloatArray) -> FloatArray:
    return np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
