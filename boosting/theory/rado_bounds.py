"""How far the loss over a few rados may be below the logistic loss over the examples: 000, Theorem 3, with constants.

F_log(θ) <= F^r_log(θ, U) + Q + penalty, for n rados U drawn from Σ_r independently and uniformly: Q is what choosing
Σ_r costs, the penalty what drawing costs, all in nats.

edges: yᵢ·xᵢ, shape (m, d), finite.  theta: shape (d,).  supports: Σ_r, shape (k, m) with k >= 1, 0 or 1, one row per
rado that may be drawn; a row that stands twice counts twice.  radius: r, a public bound for |θ|, fixed before U is
drawn.  Every function raises ValueError outside these, and where |θ| > r.

These bounds explain, they certify next to nothing: q is exponential in r times the length of the longest rado, which
grows with m. So the penalty is infinite for any affordable n, unless r is about 1/m, or Σ_r is small and θ along its
longest rado. Nothing here is private.
"""

import math
from typing import Final

import attrs
import numpy as np
from scipy.special import expit

from accountant.arrays import FloatArray
from accountant.costs import count, open_probability, positive
from boosting.rados import log_exponential_loss, logistic_loss, logistic_rado_loss

_ROUNDING: Final = 1.0 + 2.0**-40
"""A θ that was scaled to the length r may be this much longer."""


@attrs.frozen(eq=False)
class _Problem:
    """The arguments that all share, checked, and the rados of Σ_r, shape (k, d)."""

    edges: FloatArray
    theta: FloatArray
    rados: FloatArray

    @staticmethod
    def of(edges: FloatArray, theta: FloatArray, supports: FloatArray) -> "_Problem":
        vectors, rows, classifier = (np.asarray(value, dtype=np.float64) for value in (edges, supports, theta))
        if vectors.ndim != 2 or not vectors.shape[0] or not np.all(np.isfinite(vectors)):
            raise ValueError(f"edges: expected finite vectors of shape (m, d) with m >= 1, got shape {vectors.shape}")
        if classifier.shape != vectors.shape[1:] or not np.all(np.isfinite(classifier)):
            raise ValueError(f"theta: expected a finite vector of shape {vectors.shape[1:]}, got {classifier.shape}")
        if rows.ndim != 2 or not rows.shape[0] or rows.shape[1] != vectors.shape[0]:
            raise ValueError(f"supports: expected shape (k, {vectors.shape[0]}) with k >= 1, got {rows.shape}")
        if not np.all((rows == 0.0) | (rows == 1.0)):
            raise ValueError("supports: expected 0 and 1 only; a signature's support has 1 where its sign is the label")
        return _Problem(vectors, classifier, np.asarray(rows @ vectors))

    @property
    def records(self) -> int:
        return int(self.edges.shape[0])

    @property
    def mean_rado(self) -> FloatArray:
        """Over m, shape (d,)."""
        return np.asarray(self.rados.mean(axis=0) / self.records)

    @property
    def gradient(self) -> FloatArray:
        """∇F_log over examples, which by Lemma 2 is the gradient over all rados."""
        return np.asarray(-expit(-(self.edges @ self.theta)) @ self.edges / self.records)

    def radius(self, value: float) -> float:
        """The radius, if θ is inside."""
        length = float(np.linalg.norm(self.theta))
        if not length <= positive(value) * _ROUNDING:
            raise ValueError(f"radius: theta has length {length!r}, more than {value!r}; take a larger ball beforehand")
        return float(value)


def structural_penalty(edges: FloatArray, theta: FloatArray, supports: FloatArray) -> float:
    """Q = F_log(θ) − F^r_log(θ, Σ_r) = −(1/m)·ln(F_exp(Σ_r)/F_exp(Σ_m)), exactly; 0 for all 2^m supports. [000-Thm3]

    Negative where the rados of Σ_r are harder than the average one. The loss over Σ_m is that over examples (Lemma 2).
    """
    problem = _Problem.of(edges, theta, supports)
    return logistic_loss(edges, theta) - logistic_rado_loss(problem.rados, theta, problem.records)


def structural_bound(edges: FloatArray, theta: FloatArray, supports: FloatArray, radius: float) -> float:
    """r·(|∇F_log(θ)| + π̄_r), at least Q; π̄_r is the length of the mean rado of Σ_r over m. 000, eq. 7. [000-Thm3]

    Not attained but for Q = 0; Q over it comes as near to 1 as one likes, for one edge and Σ_r = {∅}, θ → 0 against it.
    """
    problem = _Problem.of(edges, theta, supports)
    return problem.radius(radius) * float(np.linalg.norm(problem.gradient) + np.linalg.norm(problem.mean_rado))


def linear_structural_bound(edges: FloatArray, theta: FloatArray, supports: FloatArray) -> float:
    """θ·(∇F_log(θ) + mean rado of Σ_r/m): at least Q, and at most `structural_bound`. [000-Thm3]

    Log-sum-exp is convex, so F_log(θ) <= ln 2 + θ·∇F_log(θ), and F^r_log(θ, Σ_r) >= ln 2 − θ·mean/m.
    """
    problem = _Problem.of(edges, theta, supports)
    return float(problem.theta @ (problem.gradient + problem.mean_rado))


def log_sampling_constant(
    edges: FloatArray, theta: FloatArray, supports: FloatArray, radius: float, failure: float
) -> float:
    """ln q with q = (B/G)·((s/P)·(1 − 1/B) + (1 − B⁻²)·√(ln(1/η)/2)); −∞ where all rados of Σ_r are one. [000-Thm3]

    failure: η in (0, 1).  P and s are the largest and the quadratic mean distance of rados of Σ_r from their mean c,
    B = exp(r·P), and G >= 1 is the mean of exp(−θ·(π − c)) over Σ_r. √n must exceed q for a finite penalty.
    """
    problem = _Problem.of(edges, theta, supports)
    log_b, log_g, spread = _sizes(problem, problem.radius(radius))
    if log_b == 0.0:
        return -math.inf
    tail = math.sqrt(-0.5 * math.log(open_probability(failure)))
    return log_b - log_g + math.log(-spread * math.expm1(-log_b) - math.expm1(-2.0 * log_b) * tail)


def _sizes(problem: _Problem, radius: float) -> tuple[float, float, float]:
    """ln B, ln G and s/P."""
    centred = problem.rados - problem.rados.mean(axis=0)
    largest = float(np.max(np.linalg.norm(centred, axis=1)))
    spread = float(np.sqrt(np.mean(np.sum((centred / largest) ** 2, axis=1)))) if largest else 0.0
    return radius * largest, max(0.0, log_exponential_loss(centred, problem.theta)), spread


def sampling_penalty(
    edges: FloatArray, theta: FloatArray, supports: FloatArray, number: int, radius: float, failure: float
) -> float:
    """−(1/m)·ln(1 − q/√n), and +∞ for q >= √n: 000, eq. 5 and 6, with q of `log_sampling_constant`. [000-Thm3]

    number: n >= 1.  failure: η in (0, 1).  But for probability η, ln(F_exp(θ, Σ_r)/F_exp(θ, U))/m is at most this for
    all θ of the ball at once. Proof: the sides shift alike when the rados are centred. Then f_θ(π) = exp(−θ·π) is
    Σ_k (−1)^k⟨θ^⊗k, π^⊗k⟩/k!, and a mean of n tensors is off by √(E|π|^2k/n) <= s·P^(k−1)/√n on average, so
    E sup_θ |F(Σ_r) − F(U)| <= (s/P)·(B − 1)/√n. One rado moves the supremum by (B − 1/B)/n at most: McDiarmid.
    Neither d nor a Lipschitz constant enters; by contraction (s/P)·(1 − 1/B) would be 2r·s.
    """
    log_q = log_sampling_constant(edges, theta, supports, radius, failure)
    exponent = log_q - 0.5 * math.log(count(number))
    return -math.log1p(-math.exp(exponent)) / len(edges) if exponent < 0.0 else math.inf


def certain_sampling_penalty(edges: FloatArray, theta: FloatArray, supports: FloatArray) -> float:
    """(1/m)·(ln F_exp(θ, Σ_r) + max θ·π over Σ_r): what no draw of any size exceeds. [000-Thm3]

    Attained where all draws are the rado of largest θ·π. At most 2r·P/m, so often the better of the two.
    """
    problem = _Problem.of(edges, theta, supports)
    largest = float(np.max(problem.rados @ problem.theta))
    return (log_exponential_loss(problem.rados, problem.theta) + largest) / problem.records
