"""What noise leaves unsure of effects, for people who read them: the deviations of their posteriors, in few digits."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from learners.additive.effects import Effect, NominalEffect, OrderedEffect
from learners.additive.grid_effect import GridEffect

DIGITS: Final = 2
"""Significant ones, so that saved models stay small."""


def deviations(effects: Sequence[Effect]) -> FloatArray:
    """Of each cell of a view and each class, in nats, shape (cells, classes). effects: one a class.

    A level that all cells share moves no effect: it is left out where cells are known together.
    """
    return np.stack([_rounded(np.sqrt(np.maximum(_variances(effect), 0.0))) for effect in effects], axis=-1)


def _variances(effect: Effect) -> FloatArray:
    if isinstance(effect, NominalEffect):
        return effect.variance
    assert isinstance(effect, OrderedEffect | GridEffect)
    covariance = effect.covariance
    return np.asarray(np.diag(covariance) - 2.0 * covariance.mean(axis=0) + covariance.mean())


def _rounded(values: FloatArray) -> FloatArray:
    return np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
