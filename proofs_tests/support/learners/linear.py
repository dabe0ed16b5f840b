"""Labelled vectors for linear mechanisms: in the unit ball, at random, or counted far beyond memory."""

from functools import cached_property

import attrs
import numpy as np

from accountant.arrays import FloatArray
from mechanisms.gradients.linear_losses import LinearRecords, LogisticLosses, Reach

UNIT_BALL = Reach(1.0, 1.0)


@attrs.frozen(slots=False, eq=False)
class Counted:
    """Records yᵢxᵢ that stand in the sample `counts` times each: samples far larger than memory."""

    vectors: FloatArray
    counts: FloatArray
    reach: Reach = UNIT_BALL
    score_rounding = sum_rounding = 1e-12

    @property
    def n(self) -> int:
        return int(self.vectors.shape[0])

    @property
    def d(self) -> int:
        return int(self.vectors.shape[1])

    @cached_property
    def losses(self) -> LogisticLosses:
        return LogisticLosses(np.ones(self.n))

    def scores(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.vectors @ weights, dtype=np.float64)

    def feature_sum(self, residuals: FloatArray) -> FloatArray:
        return np.asarray(self.vectors.T @ (self.counts * residuals), dtype=np.float64)

    def gram(self, curvatures: FloatArray) -> FloatArray:
        return np.asarray((self.vectors * (self.counts * curvatures)[:, None]).T @ self.vectors, dtype=np.float64)


def in_ball(raw: FloatArray, norm: int) -> FloatArray:
    """Rows inside the unit ball of ℓ1, or of ℓ2; the boundary is where most of them end."""
    return np.asarray(raw / np.maximum(1.0, np.linalg.norm(raw, ord=norm, axis=-1, keepdims=True)))


def records(n: int = 60, d: int = 3, seed: int = 0) -> LinearRecords:
    rng = np.random.default_rng(seed)
    features = in_ball(rng.normal(size=(n, d)), 1)
    signed = np.where(features[:, 0] + 0.3 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return LinearRecords(features, signed, UNIT_BALL)
