"""Regularised logistic loss on labelled vectors, and its minimiser to a certified gradient.

The objective is Σᵢ ln(1 + exp(−yᵢ w·xᵢ)) + (λ/2)‖w‖² + b·w, sums and not means; CMS11's Λ is λ/n, its b is ours.
"""

import math
from typing import Final, Protocol

import attrs
import numpy as np
from scipy.special import expit

from accountant._numbers import positive
from mechanisms.core import FloatArray

UNIT: Final = 2.0**-53
"""The unit round-off of double precision."""

SAFETY: Final = 1.01
"""On first-order rounding bounds, for their higher orders and for their own evaluation."""

BLOCK: Final = 1024
"""Records summed one after another; blocks are then added up, so that rounding grows with n/BLOCK, not with n."""

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


class LinearSample(Protocol):
    """n labelled vectors of dimension d, as the loss needs them; `signed` are the labels −1 and +1 as floats."""

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
    def signed(self) -> FloatArray:
        """Labels, shape (n,)."""

    @property
    def score_rounding(self) -> float:
        """e such that rounding puts no score off by more than e·l1·max|w|."""

    @property
    def sum_rounding(self) -> float:
        """e such that rounding puts `pulled` off by at most e·l2·Σ|r|, in ℓ2."""

    def scores(self, weights: FloatArray) -> FloatArray:
        """w·xᵢ, shape (n,)."""

    def pulled(self, residuals: FloatArray) -> FloatArray:
        """Σ rᵢxᵢ, shape (d,)."""

    def gram(self, curvatures: FloatArray) -> FloatArray:
        """Σ hᵢxᵢxᵢᵀ, shape (d, d). Steers the steps only: its rounding is nobody's concern."""


@attrs.frozen(slots=False, eq=False)
class LinearRecords:
    """Vectors as a dense matrix.

    features: shape (n, d).  signed: labels −1 and +1, shape (n,).  reach: public bounds, checked here.
    Raises ValueError for a record outside them, a label that is neither, or shapes that do not fit.
    """

    features: FloatArray
    signed: FloatArray
    reach: Reach

    def __attrs_post_init__(self) -> None:
        if self.features.ndim != 2 or self.signed.shape != self.features.shape[:1]:
            raise ValueError(f"expected (n, d) and (n,), got {self.features.shape} and {self.signed.shape}")
        if not np.all(np.abs(self.signed) == 1.0):
            raise ValueError("labels must be -1 or +1")
        # Unit vectors in floating point are seldom of length 1; what is forgiven is less than costs are rounded up by.
        one, two = np.abs(self.features).sum(axis=1), np.sqrt((self.features**2).sum(axis=1))
        slack = 1.0 + 2.0**-42
        if not (np.all(one <= self.reach.l1 * slack) and np.all(two <= self.reach.l2 * slack)):
            raise ValueError(f"a record lies outside {self.reach}; scale or clip every record on its own first")

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
        return 2.0 * (self.d + 2) * UNIT

    @property
    def sum_rounding(self) -> float:
        """Sums of products over a block in any order, then over blocks: over all n it would outgrow the tolerance."""
        return 2.0 * (min(self.n, BLOCK) + self.n / BLOCK + 4) * UNIT

    def scores(self, weights: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        return np.asarray(self.features @ weights, dtype=np.float64)

    def pulled(self, residuals: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        total = np.zeros(self.d)
        for start in range(0, self.n, BLOCK):
            rows = slice(start, start + BLOCK)
            total += residuals[rows] @ self.features[rows]
        return total

    def gram(self, curvatures: FloatArray) -> FloatArray:
        """See `LinearSample`."""
        return np.asarray((self.features * curvatures[:, None]).T @ self.features, dtype=np.float64)


def missed(sample: LinearSample, weights: FloatArray) -> FloatArray:
    """s = 1/(1 + exp(y w·x)), shape (n,): the size of each record's gradient; its curvature is s(1 − s)."""
    return np.asarray(expit(-sample.signed * sample.scores(weights)), dtype=np.float64)


def noise_that_gives(sample: LinearSample, regularization: float, weights: FloatArray) -> FloatArray:
    """The b of which `weights` is the exact minimiser: Σ sᵢyᵢxᵢ − λw."""
    return sample.pulled(sample.signed * missed(sample, weights)) - regularization * weights


def curvature(sample: LinearSample, regularization: float, weights: FloatArray) -> FloatArray:
    """The Hessian of the objective, shape (d, d); it does not depend on b."""
    s = missed(sample, weights)
    return sample.gram(s * (1.0 - s)) + regularization * np.eye(sample.d)


def gradient_error(
    sample: LinearSample, regularization: float, weights: FloatArray, noise: FloatArray, bent: float
) -> float:
    """An upper bound on what rounding may have done to a computed gradient of the objective, in ℓ2.

    bent: Σ s(1 − s), as computed. An error of e in a score moves s by at most e·exp(e)·s(1 − s), as |φ‴| <= φ″.
    """
    reach, largest = sample.reach, float(np.max(np.abs(weights), initial=0.0))
    score_error = sample.score_rounding * reach.l1 * largest
    slopes = min(0.25 * sample.n, math.exp(min(score_error, 1.0)) * (bent + 16.0 * UNIT * sample.n))
    # Beyond 1 the bound on slopes is the trivial one; `expit` itself is good to a few units.
    missed_error = score_error * (slopes if score_error <= 1.0 else 0.25 * sample.n) + 16.0 * UNIT * sample.n
    sums = reach.l2 * (missed_error + sample.n * sample.sum_rounding)
    parts = sample.n * reach.l2 + regularization * np.linalg.norm(weights) + np.linalg.norm(noise)
    return SAFETY * (sums + 4.0 * UNIT * float(parts))


def certified_norm(gradient: FloatArray, error: float) -> float:
    """An upper bound on the ℓ2 norm of the true gradient, given the computed one and its error."""
    return float(np.linalg.norm(gradient)) * (1.0 + 2.0 * (gradient.size + 2) * UNIT) + error


def minimiser(sample: LinearSample, regularization: float, noise: FloatArray, tolerance: float) -> FloatArray:
    """Weights, shape (d,), where the objective's gradient has a certified ℓ2 norm of at most `tolerance`.

    regularization: λ > 0.  noise: b, shape (d,).  Starts at 0 and is deterministic; Newton steps, see `_share`.
    Raises NotMinimised, which takes a b of thousands of times its scale, or a tolerance that rounding does not allow.
    """

    weights = np.zeros(sample.d)
    for _ in range(MOST_STEPS):
        s = missed(sample, weights)
        gradient = regularization * weights + noise - sample.pulled(sample.signed * s)
        bent = s * (1.0 - s)
        error = gradient_error(sample, regularization, weights, noise, float(np.sum(bent)))
        if certified_norm(gradient, error) <= tolerance:
            return weights
        hessian = sample.gram(bent) + regularization * np.eye(sample.d)
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
