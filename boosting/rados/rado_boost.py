"""RadoBoost, and AdaBoost on the same features: linear classifiers by one coordinate a round.

Both learn from vectors whose coordinates should be positive along the classifier: rados there, edge vectors yᵢ·xᵢ here.
A round asks a weak feature index oracle for a coordinate, given how each correlates with the current weights. Nothing
here looks at an example, charges or is private: rados cost what releasing them cost, see
`mechanisms.rados.edge_vectors`. Source: 000, Algorithm 1 and section 5.2; Schapire & Singer (1999).
"""

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, fraction
from boosting.rados.losses import leverage

MOST_CORRELATED: Final = 1.0 - 2.0**-40
"""A coordinate that agrees with every vector would move θ by infinity; it is taken to correlate this much."""

LEAST_SIZE: Final = 2.0**-900
"""A coordinate no larger anywhere counts as 0: θ would move by more than a float can say."""

Oracle: TypeAlias = Callable[[FloatArray], int]
"""From the correlations r in [−1, 1] of the usable coordinates, shape (k,), to the number of one of them."""


def strong(correlations: FloatArray) -> int:
    """The coordinate of largest |r|; the first of equals. 000, section 3."""
    return int(np.argmax(np.abs(correlations)))


def median(correlations: FloatArray) -> int:
    """The coordinate of median |r|, the upper one of an even number: the prudential oracle of 000, section 6."""
    return int(np.argsort(np.abs(correlations), kind="stable")[correlations.size // 2])


@attrs.frozen
class CappedOracle:
    """The coordinate of largest |r| <= most; of the smallest |r| where all are above. 000, section 5.2.

    most: λ_p in (0, 1].
    """

    most: float = attrs.field(converter=fraction)

    def __call__(self, correlations: FloatArray) -> int:
        """See `Oracle`."""
        sizes = np.abs(correlations)
        if float(np.min(sizes)) > self.most:
            return int(np.argmin(sizes))
        return int(np.argmax(np.where(sizes <= self.most, sizes, -1.0)))


@attrs.frozen(eq=False)
class CoordinateRun:
    """What happened, round by round.

    features: ι(t), shape (T,).  steps: α_t, what was added to θ there.  correlations: r_t in (−1, 1).
    log_losses: ln F_exp of θ₀ … θ_T on the vectors learnt from, shape (T + 1,); see `boosting.rados.losses`.
    dimension: d.
    """

    features: IntArray
    steps: FloatArray
    correlations: FloatArray
    log_losses: FloatArray
    dimension: int

    def theta(self, rounds: int | None = None) -> FloatArray:
        """θ after so many rounds, shape (d,); None takes all."""
        number = self.steps.size if rounds is None else rounds
        theta = np.zeros(self.dimension)
        np.add.at(theta, self.features[:number], self.steps[:number])
        return theta

    @property
    def best_round(self) -> int:
        """The number of rounds after which the loss was least, 0 for none of them; the first of equals."""
        return int(np.argmin(self.log_losses))


def rado_boost(
    rados: FloatArray, rounds: int, oracle: Oracle = strong, shrinkage: float = 1.0, least: float = 0.0
) -> CoordinateRun:
    """RadoBoost: weights fall where a coordinate is right, linearly, and are renormalised. 000, Algorithm 1. [000-Lem4]

    rados: shape (n, d), finite, n >= 1.  rounds: T >= 1.  shrinkage: κ >= 1, with the factor that makes 000, eq. 17
    true. [000-eq17]  least: the run ends where every |r| is at most this, in [0, 1).
    Raises ValueError outside, and where no coordinate of any rado is other than 0.
    """
    return _run(rados, rounds, oracle, shrinkage, least, _linear)


def ada_boost(
    edges: FloatArray, rounds: int, oracle: Oracle = strong, shrinkage: float = 1.0, least: float = 0.0
) -> CoordinateRun:
    """AdaBoost with the same oracle: weights ∝ exp(−θ·yx). Schapire & Singer (1999), the contender of 000.

    edges: yᵢ·xᵢ, shape (m, d). The rest, and what is refused, as for `rado_boost`.
    """
    return _run(edges, rounds, oracle, shrinkage, least, _exponential)


def _log_mean_exp(products: FloatArray) -> float:
    """ln of the mean of exp(−p), shape (n,) to a number. scipy's general one takes longer than a round."""
    least = float(np.min(products))
    return math.log(float(np.mean(np.exp(least - products)))) - least


Update: TypeAlias = Callable[[FloatArray, FloatArray, float, float], FloatArray]
"""Weights before, the coordinate over its largest size, r and what its product with θ grew by per unit; to weights."""


def _linear(weights: FloatArray, column: FloatArray, correlation: float, step: float) -> FloatArray:
    return np.asarray(weights * (1.0 - correlation * column))


def _exponential(weights: FloatArray, column: FloatArray, correlation: float, step: float) -> FloatArray:
    return np.asarray(weights * np.exp(-step * column))


def _run(
    vectors: FloatArray, rounds: int, oracle: Oracle, shrinkage: float, least: float, update: Update
) -> CoordinateRun:
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.shape[0] or not np.all(np.isfinite(matrix)):
        raise ValueError(f"expected finite vectors of shape (n, d) with n >= 1, got shape {matrix.shape}")
    if not 0.0 <= least < 1.0:
        raise ValueError(f"least: expected a number in [0, 1), got {least!r}")
    largest = np.max(np.abs(matrix), axis=0)
    usable = np.flatnonzero(largest >= LEAST_SIZE)
    if not usable.size:
        raise ValueError("expected a coordinate that is not 0 everywhere: there is nothing to learn from")
    # Row by row one coordinate of all vectors: a round reads all of it once, and one row again.
    columns = np.ascontiguousarray((matrix[:, usable] / largest[usable]).T)
    weights, products = np.full(matrix.shape[0], 1.0 / matrix.shape[0]), np.zeros(matrix.shape[0])
    chosen, steps, found, losses = [], [], [], [0.0]
    for _ in range(count(rounds)):
        correlations = np.clip(columns @ weights, -MOST_CORRELATED, MOST_CORRELATED)
        if float(np.max(np.abs(correlations))) <= least:
            break
        place = oracle(correlations)
        correlation, column = float(correlations[place]), columns[place]
        moved = leverage(correlation, 1.0, shrinkage)
        weights = update(weights, column, correlation, moved)
        weights /= np.sum(weights)
        products += moved * column
        chosen.append(int(usable[place]))
        steps.append(moved / float(largest[usable[place]]))
        found.append(correlation)
        losses.append(_log_mean_exp(products))
    return CoordinateRun(
        np.array(chosen, dtype=np.intp), np.array(steps), np.array(found), np.array(losses), matrix.shape[1]
    )
