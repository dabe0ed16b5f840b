"""Bounded measures over a sample, and how far two of them are apart."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, IntArray

WholeArray = npt.NDArray[np.signedinteger[Any]]
"""Whole numbers of any size: small ones are read faster."""


@attrs.frozen(slots=False, eq=False)
class BoundedMeasure:
    """μ: [n] → [0, 1], or its part on some of the records, stored as few distinct values and one index per record.

    values: shape (L,), each in [0, 1].  levels: which of them a record has, shape (k,), integers in 0 … L − 1 of any
    type: small ones for many records.  mass: what the weights are normalised by, κn for a measure of density κ.
    n: the number of records, of which these are all or some.
    """

    values: FloatArray
    levels: WholeArray
    mass: float
    n: int = attrs.Factory(lambda self: int(self.levels.size), takes_self=True)

    @cached_property
    def index(self) -> IntArray:
        """`levels` as integers that may be reckoned with."""
        return np.asarray(self.levels, dtype=np.intp)

    @property
    def density(self) -> float:
        """|μ|/n as it really is in floating point, where these are all records."""
        return float(np.dot(np.bincount(self.levels, minlength=self.values.size), self.values)) / self.n

    @cached_property
    def weights(self) -> FloatArray:
        """μ(i) for each of these records, shape (k,)."""
        return np.asarray(self.values[self.levels])

    @property
    def distribution(self) -> FloatArray:
        """μ̂(i) = μ(i)/mass, shape (k,); over all records it sums to 1 up to rounding."""
        return self.weights / self.mass


def kl_divergence(first: FloatArray, second: FloatArray) -> float:
    """KL(μ₁ ‖ μ₂) = Σ μ₁ ln(μ₁/μ₂) + μ₂ − μ₁ of two bounded measures, in nats. Source: 003, Def. 4.

    first, second: μ₁ and μ₂, shape (n,), each weight in [0, 1].
    """
    positive = first > 0.0
    log_ratio = np.zeros_like(first)
    log_ratio[positive] = np.log(first[positive] / second[positive])
    return float(np.sum(first * log_ratio + second - first))


def statistical_distance(first: FloatArray, second: FloatArray) -> float:
    """Half the ℓ1 distance of two distributions on [n], in [0, 1]. An *index* distance: see `joint_distance`.

    first, second: shape (n,), each sums to 1.
    """
    return 0.5 * float(np.sum(np.abs(first - second)))


def joint_distance(
    points: Sequence[Hashable], first: FloatArray, other_points: Sequence[Hashable], second: FloatArray
) -> float:
    """Total variation distance over labelled points: what ζ means everywhere in this library. [L0]

    points, other_points: one hashable labelled point per record.  first, second: distributions, shape (n,).
    """
    weight: dict[Hashable, float] = {}
    for point, share in zip(points, first.tolist(), strict=True):
        weight[point] = weight.get(point, 0.0) + share
    for point, share in zip(other_points, second.tolist(), strict=True):
        weight[point] = weight.get(point, 0.0) - share
    return 0.5 * sum(abs(difference) for difference in weight.values())
