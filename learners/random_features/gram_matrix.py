"""How near the Gram matrix of random Fourier features is to the identity, or to its kernel: 004, Theorem 8, proved.

m points x_j and N frequencies ω_k, i.i.d. with distribution ρ, give A of shape (m, N), A_jk = exp(i⟨ω_k, x_j⟩). AA*/N
has mean K, K_jl = k(x_j − x_l) with K_jj = 1. Cosines and sines side by side have Re(AA*)/N, whose eigenvalues are
within those of AA*/N, so all bounds cover them. For random cosines, which are not of unit modulus, and for orthogonal
frequencies, which are not independent, nothing is claimed.

Everything here is a function of points: publish none of it, and let no noise depend on it, without a charge.
"""

import math
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import chi2

from accountant.arrays import FloatArray
from accountant.costs import count, fraction, non_negative, open_probability, positive

FeatureArray = npt.NDArray[np.float64] | npt.NDArray[np.complex128]

GAUSSIAN_C1: Final = 21.0
"""For Theorem 8 with Gaussian points; see `Theorem8`."""

UNIVERSAL_C2: Final = 2.0
"""For Theorem 8; see `Theorem8`."""


@attrs.frozen
class Spectrum:
    """Between what the eigenvalues of a Gram or kernel matrix are, at least 0."""

    least: float = attrs.field(converter=non_negative)
    largest: float = attrs.field(converter=positive)

    def __attrs_post_init__(self) -> None:
        if self.least > self.largest:
            raise ValueError(f"least: {self.least!r} exceeds the largest eigenvalue, {self.largest!r}")

    @property
    def deviation(self) -> float:
        """‖· − I‖₂, or a bound for it."""
        return max(self.largest - 1.0, 1.0 - self.least)


def gram_spectrum(table: FeatureArray, norm2: float) -> Spectrum:
    """Of AA*/norm2, measured. table: A, shape (m, columns), finite, m >= 1.

    norm2: what |row|² is, or is on average: N for N complex exponentials and for N cosines with N sines beside them,
    N/2 for N random cosines cos(⟨ω, x⟩ + b), N for those times √2, 1 for any of them scaled to unit rows.
    """
    rows = np.asarray(table)
    if rows.ndim != 2 or not rows.shape[0] or not rows.shape[1] or not np.all(np.isfinite(rows)):
        raise ValueError(f"table: expected finite features of shape (m, columns), got shape {rows.shape}")
    found = np.linalg.eigvalsh(rows @ rows.conj().T / positive(norm2))
    return Spectrum(max(0.0, float(found[0])), float(found[-1]))


def gaussian_kernel(points: FloatArray, sigma: float) -> FloatArray:
    """K, shape (m, m), of frequencies N(0, σ²I): exp(−σ²|x_j − x_l|²/2). points: shape (m, d), finite."""
    rows = np.asarray(points, dtype=np.float64)
    if rows.ndim != 2 or not rows.shape[0] or not np.all(np.isfinite(rows)):
        raise ValueError(f"points: expected finite points of shape (m, d) with m >= 1, got shape {rows.shape}")
    lengths = np.sum(rows**2, axis=1)
    squared = np.maximum(lengths[:, None] + lengths - 2.0 * rows @ rows.T, 0.0)
    np.fill_diagonal(squared, 0.0)
    return np.asarray(np.exp(-0.5 * positive(sigma) ** 2 * squared))


def sampled_gram(records: int, number: int, dimension: int, gamma: float, sigma: float, seed: int) -> Spectrum:
    """Of AA*/N for one draw of Assumption 1: points N(0, γ²/d·I) and frequencies N(0, σ²I)."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0.0, positive(gamma) / math.sqrt(count(dimension)), (count(records), dimension))
    frequencies = rng.normal(0.0, positive(sigma), (count(number), dimension))
    return gram_spectrum(np.exp(1j * (points @ frequencies.T)), number)


# --- Theorem 8 as printed ---------------------------------------------------------------------------------------------


@attrs.frozen
class Theorem8:
    """Which of the three conditions hold, under which it says ‖AA*/N − I‖₂ <= 2η but for probability 3δ. [004-Thm8]

    C1 and C2 are not named there. For points N(0, γ²/d·I), C1 = `GAUSSIAN_C1` and C2 = `UNIVERSAL_C2` do, but for
    probability 2δ. Proof, m >= 2: |x_j − x_l|² = 2γ²χ²_d/d falls below γ² with probability at most e^{−cd},
    c = (ln 2 − 1/2)/2 > 2/21; over all pairs (m²/2)(δ/m)² <= δ. Else all |k| <= (η/2m)², so ‖K − I‖ <= η²/4m <= η/8 by
    `separated_spectrum`. Binary relative entropy D(p‖q) >= (p − q)²/(2 max(p, q)) is at least
    (15η/8)²/(2m(1 + 2η)) >= .58·η²/m between K's eigenvalues and 1 ± 2η, both over m, so that each tail of `gram_bound`
    has at most m(δ/2m)^1.16 <= δ/2.
    """

    dimension: bool
    bandwidth: bool
    features: bool

    @property
    def holds(self) -> bool:
        """All three."""
        return self.dimension and self.bandwidth and self.features


def theorem_8(
    records: int,
    number: int,
    dimension: int,
    strength: float,
    eta: float,
    failure: float,
    c1: float = GAUSSIAN_C1,
    c2: float = UNIVERSAL_C2,
) -> Theorem8:
    """The conditions on m, N, d and γ²σ² (`strength`), for η and δ (`failure`) in (0, 1)."""
    return Theorem8(
        count(dimension) >= positive(c1) * math.log(count(records) / open_probability(failure)),
        positive(strength) >= 4.0 * math.log(2.0 * records / open_probability(eta)),
        count(number) >= theorem_8_features(records, eta, failure, c2),
    )


def theorem_8_features(records: int, eta: float, failure: float, c2: float = UNIVERSAL_C2) -> int:
    """The smallest N of the third condition: C2·η⁻²·m·ln(2m/δ), rounded up. [004-Thm8]"""
    level = math.log(2.0 * count(records) / open_probability(failure))
    return math.ceil(positive(c2) * open_probability(eta) ** -2 * records * level)


# --- Ours, with every constant named ----------------------------------------------------------------------------------


def _divergence(p: float, q: float) -> float:
    """D(p‖q) of two coins, in nats."""
    if not 0.0 < q < 1.0:
        return float(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q))
    # by what p is off: the two relative entropies nearly cancel where coins are nearly alike
    return q * _excess((p - q) / q) + (1.0 - q) * _excess((q - p) / (1.0 - q))


def _excess(off: float) -> float:
    """(1 + u)·ln(1 + u) − u, at u >= −1."""
    if abs(off) < 1e-3:
        return off * off * (0.5 - off * (1.0 / 6.0 - off * (1.0 / 12.0 - off * (0.05 - off / 30.0))))
    return (1.0 + off) * math.log1p(off) - off if off > -1.0 else 1.0


def _edge(q: float, level: float, end: float) -> float:
    """The p between q and `end` (0 or 1) with D(p‖q) = level; `end`, if no p has that much."""
    if q == end or _divergence(end, q) <= level:
        return end
    return float(brentq(lambda p: _divergence(p, q) - level, min(q, end), max(q, end), xtol=1e-300, rtol=1e-13))


def operator_bound(largest: float, number: int, failure: float) -> float:
    """What λ_max of a mean of N random rank-one projections exceeds with probability at most δ. [004-gram-explicit]

    largest: τ in (0, 1], at least λ_max of their common mean T, a positive operator of trace 1.  Result in [τ, 1].
    It is u with D(u‖τ) = ln(1/(τδ))/N. Proof: for P_k = e_k⊗e_k i.i.d. and θ > 0, E exp(θP) = I + (e^θ − 1)T, so by
    Lieb (Tropp 2012) E tr(exp(θ·ΣP_k) − I) <= Σ_i g(τ_i), g(x) = (1 + (e^θ − 1)x)^N − 1. g is convex, g(0) = 0, and the
    eigenvalues τ_i <= τ of T sum to 1, so Σ g(τ_i) <= g(τ)/τ. Markov: P(λ_max >= uN) <= g(τ)/(τ(e^{θuN} − 1)) <=
    (1/τ)(1 + (e^θ − 1)τ)^N e^{−θuN}, of which the least over θ is exp(−N·D(u‖τ))/τ. For operators of infinite rank
    compress to finitely many dimensions: the first step becomes E exp(θX) <= I + (e^θ − 1)EX.
    """
    tau, level = fraction(largest), -math.log(open_probability(failure))
    return _edge(tau, (level - math.log(tau)) / count(number), 1.0)


def gram_bound(kernel: Spectrum, records: int, number: int, failure: float) -> Spectrum:
    """Of AA*/N, but for probability δ over the frequencies, whatever their distribution ρ. [004-gram-explicit]

    kernel: of K, bounded.  Proof: the columns a_k of A have |a_k|² = m, so a_k a_k*/m are projections with mean K/m;
    `operator_bound` at δ/2. Below, tr (I − (1 − e^{−θ})K/m)^N <= m(1 − (1 − e^{−θ})q)^N with q = λ_min(K)/m likewise
    gives P(λ_min <= pm) <= m·exp(−N·D(p‖q)) for p < q. Tight: x_j = j, ω uniform on 2πk/m, has K = I and AA*/N with the
    eigenvalues m·Mult(N)/N: of the union over m binomial tails only Chernoff's polynomial factor is lost.
    """
    low, high = _shares(kernel, records)
    level = math.log(2.0 * records / open_probability(failure)) / count(number)
    return Spectrum(records * _edge(low, level, 0.0), records * operator_bound(high, number, failure / 2.0))


def features_needed(kernel: Spectrum, records: int, deviation: float, failure: float) -> int:
    """The least N for which `gram_bound` is within I ± deviation. Raises ValueError if K is not. [004-gram-explicit]"""
    low, high = _shares(kernel, records)
    if not kernel.deviation < positive(deviation):
        raise ValueError(f"deviation: the kernel itself is {kernel.deviation!r} from I, and no N reaches {deviation!r}")
    half = open_probability(failure) / 2.0
    upper, lower = (1.0 + deviation) / records, (1.0 - deviation) / records
    needed = [1.0]
    if upper < 1.0:
        needed.append(math.log(1.0 / (high * half)) / _divergence(upper, high))
    if lower > 0.0:
        needed.append(math.log(records / half) / _divergence(lower, low))
    return math.ceil(max(needed))


def _shares(kernel: Spectrum, records: int) -> tuple[float, float]:
    """Its two ends over m: K has trace m, so its mean eigenvalue is 1."""
    if not (kernel.least <= 1.0 + 1e-9 and kernel.largest >= 1.0 - 1e-9):
        raise ValueError(f"kernel: a kernel matrix with k(0) = 1 has an eigenvalue on either side of 1, got {kernel}")
    return min(1.0, kernel.least) / count(records), min(1.0, max(1.0, kernel.largest) / records)


def separated_spectrum(records: int, distance: float, sigma: float) -> Spectrum:
    """Of the Gaussian kernel matrix K of m points at least `distance` r from each other. [004-gram-explicit]

    1 ± (m − 1)·exp(−σ²r²/2) by Gershgorin, within [0, m]. Both ends are attained for two points, and the upper one for
    the corners of a regular simplex. r = 0 (a record that stands twice) leaves [0, m].
    """
    others = count(records) - 1
    off = others * math.exp(-0.5 * (positive(sigma) * non_negative(distance)) ** 2)
    return Spectrum(max(0.0, 1.0 - off), min(float(records), 1.0 + off))


def gaussian_distance(records: int, dimension: int, gamma: float, failure: float) -> float:
    """A distance that all pairs of m >= 2 points N(0, γ²/d·I) keep, but for probability δ. [004-gram-explicit]

    |x_j − x_l|² is 2γ²χ²_d/d; δ over the number of pairs.
    """
    pairs = count(records) * (records - 1) // 2
    if not pairs:
        raise ValueError("records: one point has no distance; ask for 2 or more")
    quantile = float(chi2.ppf(open_probability(failure) / pairs, count(dimension)))
    return positive(gamma) * math.sqrt(2.0 * quantile / dimension)


def gaussian_operator_norm(dimension: int, gamma: float, sigma: float) -> float:
    """τ: the largest eigenvalue of the Gaussian kernel in L²(N(0, γ²/d·I)), in (0, 1). [004-zero]

    (2/(1 + √(1 + 4σ²γ²/d)))^d: a product of d one-dimensional kernels, whose largest eigenvalue is known in closed form
    (its eigenfunction is a Gaussian). All f of 004's eq. 6 have ‖f‖_{L²(μ)} <= √τ·‖f‖_ρ.
    """
    per_axis = (positive(sigma) * positive(gamma)) ** 2 / count(dimension)
    return math.exp(dimension * math.log(2.0 / (1.0 + math.sqrt(1.0 + 4.0 * per_axis))))
