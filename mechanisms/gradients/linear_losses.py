"""Regularised losses of linear scores, the logistic one and log-cosh for regression, and their certified minimiser.

The objective is Σᵢ φᵢ(w·xᵢ) + (λ/2)‖w‖² + b·w, sums and not means; CMS11's Λ is λ/n, its b is ours. φᵢ(z) is
ln(1 + exp(−yᵢz)), or the log-cosh loss ln(2 cosh((z − oᵢ)/2)): Huber's, but smooth, and of slope ½ at most.
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Final, Literal, Protocol, TypeAlias

import attrs
import numpy as np
from scipy.special import expit

from accountant.arrays import FloatArray
from accountant.costs import positive

ROUND_OFF: Final = 2.0**-53
"""The unit round-off of double precision."""

SAFETY: Final = 1.01
"""On first-order rounding bounds, for their higher orders and for their own evaluation."""

RECORDS_PER_SUM: Final = 1024
"""Records summed one after another; these sums are then added up: rounding grows with n / RECORDS_PER_SUM, not n."""

COLUMNS: Final = 32
"""Products of a score summed one after another where features are many, as with RECORDS_PER_SUM."""

MOST_STEPS: Final = 500
"""Newton steps; a dozen is usual."""


class NotMinimised(ArithmeticError):
    """The certified gradient did not come below the tolerance. Its being raised is not covered by the guarantee."""


@attrs.frozen
class Reach:
    """Public bounds on every record's features: ‖x‖₁ <= l1 and ‖x‖₂ <= l2. Both positive."""

    l1: float = attrs.field(converter=positive)
    l2: float = attrs.field(converter=positive)

    def within(self, other: "Reach") -> bool:
        """Whether both bounds are at most those of another one."""
        return self.l1 <= other.l1 and self.l2 <= other.l2


LossName: TypeAlias = Literal["logistic", "log-cosh"]

SLOPES: Final[Mapping[LossName, float]] = {"logistic": 1.0, "log-cosh": 0.5}
"""The largest |φ′| of each loss."""


class Losses(Protocol):
    """One convex loss φᵢ of the score per record, with |φᵢ‴| <= φᵢ″ <= 1/4 and |φᵢ′| <= SLOPES[name]."""

    @property
    def name(self) -> LossName:
        """Which loss all of them are."""

    def residuals(self, scores: FloatArray) -> FloatArray:
        """−φᵢ′ at the scores, to a few units in the last place of 1, shape (n,)."""

    def curvatures(self, scores: FloatArray) -> FloatArray:
        """φᵢ″ at the scores, likewise."""


@attrs.frozen(eq=False)
class LogisticLosses:
    """ln(1 + exp(−yz)).  signed: labels −1 and +1 as floats, shape (n,)."""

    name: ClassVar[LossName] = "logistic"
    signed: FloatArray

    def residuals(self, scores: FloatArray) -> FloatArray:
        """See `Losses`: sy, s = 1/(1 + exp(yz))."""
        return np.asarray(self.signed * expit(-self.signed * scores), dtype=np.float64)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        """See `Losses`: s(1 − s)."""
        s = expit(-self.signed * scores)
        return np.asarray(s * (1.0 - s), dtype=np.float64)


@attrs.frozen(eq=False)
class LogCoshLosses:
    """ln(2 cosh((z − o)/2)): ln(1 + exp(z − o)) − (z − o)/2.  offsets: o, shape (n,), finite, of any size."""

    name: ClassVar[LossName] = "log-cosh"
    offsets: FloatArray

    def residuals(self, scores: FloatArray) -> FloatArray:
        """See `Losses`: ½ − s, s = 1/(1 + exp(o − z))."""
        return np.asarray(-0.5 * np.tanh(0.5 * (scores - self.offsets)), dtype=np.float64)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        """See `Losses`: s(1 − s)."""
        z = scores - self.offsets
        return np.asarray(expit(z) * expit(-z), dtype=np.float64)


class LinearSample(Protocol):
    """n vectors of dimension d, each with its loss, as the objective needs them."""

    @property
    def n(self) -> int:
        """The number of records."""

    @property
    def d(self) -> int:
        """The dimension."""

    @property
    def reach(self) -> Reach:
        """Bounds that hold for whatever the records are."""

    @property
    def losses(self) -> Losses:
        """The records' losses."""

    @property
    def score_rounding(self) -> float:
        """e such that rounding puts no score off by more than e·l1·max|w|."""

    @property
    def sum_rounding(self) -> float:
        """e such that rounding puts `feature_sum` off by at most e·l2·Σ|r|, in ℓ2."""

    def scores(self, weights: FloatArray) -> FloatArray:
        """w·xᵢ, shape (n,)."""

    def feature_sum(self, residuals: FloatArray) -> FloatArray:
        """Σ rᵢxᵢ, shape (d,)."""

    def gram(self, curvatures: FloatArray) -> FloatArray:
        """Σ hᵢxᵢxᵢᵀ, shape (d, d). Steers the steps only: its rounding is nobody's concern."""


@attrs.frozen(slots=False, eq=False)
class _Dense:
    """Vectors as a dense matrix, shape (n, d)."""

    features: FloatArray

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.features.shape[0])

    @property
    def d(self) -> int:
        """The dimension."""
        return int(self.features.shape[1])

    @property
    def score_rounding(self) -> float:
        """Sums of d products in any order."""
        return 2.0 * (self.d + 2) * ROUND_OFF

    @property
    def sum_rounding(self) -> float:
        """Sums of products over a block in any order, then over blocks: over all n it would outgrow the tolerance."""
        return 2.0 * (min(self.n, RECORDS_PER_SUM) + self.n / RECORDS_PER_SUM + 4) * ROUND_OFF

    def scores(self, weights: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        return np.asarray(self.features @ weights, dtype=np.float64)

    def feature_sum(self, residuals: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        total = np.zeros(self.d)
        for start in range(0, self.n, RECORDS_PER_SUM):
            rows = slice(start, start + RECORDS_PER_SUM)
            total += residuals[rows] @ self.features[rows]
        return total

    def gram(self, curvatures: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        return np.asarray((self.features * curvatures[:, None]).T @ self.features, dtype=np.float64)

    def _within(self, values: FloatArray, reach: Reach) -> None:
        """Raise ValueError for values that are not one per record, or a record outside the bounds."""
        if self.features.ndim != 2 or values.shape != self.features.shape[:1]:
            raise ValueError(f"expected (n, d) and (n,), got {self.features.shape} and {values.shape}")
        # Unit vectors in floating point are seldom of length 1; what is forgiven is less than costs are rounded up by.
        one, two = np.abs(self.features).sum(axis=1), np.sqrt((self.features**2).sum(axis=1))
        slack = 1.0 + 2.0**-42
        if not (np.all(one <= reach.l1 * slack) and np.all(two <= reach.l2 * slack)):
            raise ValueError(f"a record lies outside {reach}; scale or clip every record on its own first")


@attrs.frozen(slots=False, eq=False)
class LinearRecords(_Dense):
    """Labelled vectors as a dense matrix, for the logistic loss.

    features: shape (n, d).  signed: labels −1 and +1, shape (n,).  reach: public bounds, checked here.
    Raises ValueError for a record outside them, a label that is neither, or shapes that do not fit.
    """

    signed: FloatArray
    reach: Reach

    def __attrs_post_init__(self) -> None:
        self._within(self.signed, self.reach)
        if not np.all(np.abs(self.signed) == 1.0):
            raise ValueError("labels must be -1 or +1")

    @property
    def losses(self) -> LogisticLosses:
        """See `LinearSample`."""
        return LogisticLosses(self.signed)


@attrs.frozen(slots=False, eq=False)
class ResidualRecords(_Dense):
    """Vectors and what their scores should be, as a dense matrix, for the log-cosh loss of the difference.

    features: shape (n, d).  offsets: labels in units of the residual where the loss turns from a square to a line,
    shape (n,), finite; nothing needs a bound on them, as no slope exceeds ½.  reach: public bounds, checked here.
    Raises ValueError for a record outside them, an offset of NaN or ±inf, or shapes that do not fit.
    """

    offsets: FloatArray
    reach: Reach

    def __attrs_post_init__(self) -> None:
        self._within(self.offsets, self.reach)
        if not np.all(np.isfinite(self.offsets)):
            raise ValueError("offsets must be finite; set or drop labels of NaN or ±inf, record by record")

    @property
    def losses(self) -> LogCoshLosses:
        """See `LinearSample`."""
        return LogCoshLosses(self.offsets)

    @property
    def score_rounding(self) -> float:
        """Sums of products over some columns in any order, then over these: random features are many."""
        return 2.0 * (min(self.d, COLUMNS) + self.d / COLUMNS + 4) * ROUND_OFF

    def scores(self, weights: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        total = np.zeros(self.n)
        for start in range(0, self.d, COLUMNS):
            columns = slice(start, start + COLUMNS)
            total += self.features[:, columns] @ weights[columns]
        return total


def noise_that_gives(sample: LinearSample, regularization: float, weights: FloatArray) -> FloatArray:
    """The b of which `weights` is the exact minimiser: −Σ φᵢ′xᵢ − λw."""
    return sample.feature_sum(sample.losses.residuals(sample.scores(weights))) - regularization * weights


def curvature(sample: LinearSample, regularization: float, weights: FloatArray) -> FloatArray:
    """The Hessian of the objective, shape (d, d); it does not depend on b."""
    return sample.gram(sample.losses.curvatures(sample.scores(weights))) + regularization * np.eye(sample.d)


def gradient_error(
    sample: LinearSample, regularization: float, weights: FloatArray, noise: FloatArray, curvature_sum: float
) -> float:
    """An upper bound on what rounding may have done to a computed gradient of the objective, in ℓ2.

    curvature_sum: Σ φ″, as computed. An error of e in a score moves φ′ by at most e·exp(e)·φ″, as |φ‴| <= φ″.
    Subtracting an offset, whatever its size, moves it by at most ROUND_OFF/4 more, as that moves z by ROUND_OFF·|z|,
    and |z|φ″(z) is below 0.23.
    """
    reach, largest = sample.reach, float(np.max(np.abs(weights), initial=0.0))
    score_error = sample.score_rounding * reach.l1 * largest
    slopes = min(0.25 * sample.n, math.exp(min(score_error, 1.0)) * (curvature_sum + 16.0 * ROUND_OFF * sample.n))
    # Beyond 1 the bound on slopes is the trivial one; `expit` and `tanh` themselves are good to a few units.
    residual_error = score_error * (slopes if score_error <= 1.0 else 0.25 * sample.n) + 16.0 * ROUND_OFF * sample.n
    sums = reach.l2 * (residual_error + sample.n * sample.sum_rounding)
    parts = sample.n * reach.l2 + regularization * np.linalg.norm(weights) + np.linalg.norm(noise)
    return SAFETY * (sums + 4.0 * ROUND_OFF * float(parts))


def certified_norm(gradient: FloatArray, error: float) -> float:
    """An upper bound on the ℓ2 norm of the true gradient, given the computed one and its error."""
    return float(np.linalg.norm(gradient)) * (1.0 + 2.0 * (gradient.size + 2) * ROUND_OFF) + error


def minimiser(sample: LinearSample, regularization: float, noise: FloatArray, tolerance: float) -> FloatArray:
    """Weights, shape (d,), where the objective's gradient has a certified ℓ2 norm of at most `tolerance`.

    regularization: λ > 0.  noise: b, shape (d,).  Starts at 0 and is deterministic; Newton steps, see `_share`.
    Raises NotMinimised, which takes a b of thousands of times its scale, or a tolerance that rounding does not allow.
    """

    weights = np.zeros(sample.d)
    for _ in range(MOST_STEPS):
        scores = sample.scores(weights)
        gradient = regularization * weights + noise - sample.feature_sum(sample.losses.residuals(scores))
        curvatures = sample.losses.curvatures(scores)
        error = gradient_error(sample, regularization, weights, noise, float(np.sum(curvatures)))
        if certified_norm(gradient, error) <= tolerance:
            return weights
        hessian = sample.gram(curvatures) + regularization * np.eye(sample.d)
        step = np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        weights = weights - _share(sample, regularization, noise, weights, step) * step
    raise NotMinimised(
        f"no gradient below {tolerance:g} in {MOST_STEPS} Newton steps: raise the tolerance or the regularization. "
        "What was charged stays charged; do not pass this message on, it is no release"
    )


def _share(
    sample: LinearSample, regularization: float, noise: FloatArray, weights: FloatArray, step: FloatArray
) -> float:
    """How much of a Newton step to take, so that the objective falls from anywhere.

    ln(1 + r)/r, r the largest change of a score, always descends, as the loss has |φ‴| <= φ″ (Sun & Tran-Dinh 2019),
    and becomes 1 as r falls. Where r is large and the loss nearly straight that would be slow, so 1, 1/2, 1/4, …
    are tried first: along a line on which the objective still falls at the end, it fell all the way.
    """
    moved = float(np.max(np.abs(sample.scores(step)), initial=0.0))
    damped = math.log1p(moved) / moved if moved > 0.0 else 1.0
    share = 1.0
    while moved > 1.0 and share > damped:
        end = weights - share * step
        if float((noise - noise_that_gives(sample, regularization, end)) @ step) >= 0.0:
            return share
        share *= 0.5
    return damped
