"""What 004's random features err by: noise (Lemma 13, Theorem 12), interpolation (Theorem 11), both (Theorem 10).

f#(x) = Σ_k c_k·exp(i⟨ω_k, x⟩) is the min-norm interpolant of y_j = f(x_j), f^ has noise on c. N features, m records, μ
the distribution of points, ‖f‖_ρ the norm of eq. 6; `failure` is a bound's probability δ of failing, and δ_p (`delta`)
another thing. φ(x) is the row of N exponentials, or of N cosines and N sines: |φ(x)|² = N. Errors are in units of y.

Published formulae carry "printed" in their names, and are here for comparison; do not rely on them.
"""

import math
from typing import Final

import attrs
import numpy as np
from scipy import stats

from accountant.costs import count, fraction, open_probability, positive


def _eta(value: float) -> float:
    number = open_probability(value)
    if not number < 0.5:
        raise ValueError(f"eta: expected a number in (0, 1/2), for 1 − 2η is divided by; got {value!r}")
    return number


@attrs.frozen
class PublishedNoise:
    """Algorithm 1 with its parameters, and what is printed about it. eta: η in (0, 1/2)."""

    number: int = attrs.field(converter=count)
    epsilon: float = attrs.field(converter=positive)
    delta: float = attrs.field(converter=open_probability)
    eta: float = attrs.field(converter=_eta)

    @property
    def radius(self) -> float:
        """R = 1/√(N(1 − 2η)), half of the printed sensitivity. [004-projection]"""
        return 1.0 / math.sqrt(self.number * (1.0 - 2.0 * self.eta))

    @property
    def sigma(self) -> float:
        """√(2 ln(1.25/δ_p))·2R/ε: step 1. [004-Thm7]"""
        return math.sqrt(2.0 * math.log(1.25 / self.delta)) * 2.0 * self.radius / self.epsilon

    def printed_lemma_13(self, failure: float) -> float:
        """For |z|²; the mean is four times its first term. [004-Lem13]"""
        return self._printed_norm2(failure, 1.0 - 2.0 * self.eta)

    def printed_gamma_bound(self, failure: float) -> float:
        """For |z| of noise ∝ exp(−ε|z|/2R), at probability δ/2; √2 for 2. [004-gamma-bound]"""
        root = math.sqrt(self.number) + math.sqrt(2.0 / open_probability(failure))
        return math.sqrt(2.0 / (1.0 - 2.0 * self.eta)) / self.epsilon * root

    def printed_theorem_12(self, records: int, failure: float) -> float:
        """For ‖f# − f^‖ in L²(μ), at probability 5δ. [004-Thm12]"""
        return self._printed_spread(records, failure) * math.sqrt(self.printed_lemma_13(failure))

    def printed_theorem_10(self, norm: float, records: int, failure: float) -> float:
        """For ‖f − f^‖ in L²(μ), at probability 9δ; 1 − η where Theorem 12 has 1 − 2η. norm: ‖f‖_ρ. [004-Thm10]"""
        noise = math.sqrt(self._printed_norm2(failure, 1.0 - self.eta))
        interpolation = printed_theorem_11(norm, self.number, records, self.eta, failure)
        return interpolation + self._printed_spread(records, failure) * noise

    def _printed_norm2(self, failure: float, inner: float) -> float:
        level = -math.log(open_probability(failure))
        second = 8.0 * math.sqrt(2.0 * level) / (math.sqrt(self.number) * inner * self.epsilon)
        return 2.0 * math.log(1.25 / self.delta) / (inner * self.epsilon**2) + second

    def _printed_spread(self, records: int, failure: float) -> float:
        level = -math.log(open_probability(failure))
        spread = math.sqrt((1.0 + 2.0 * self.eta) / count(records)) + math.sqrt(math.sqrt(2.0 * level / records))
        return math.sqrt(self.number) * spread


# --- Noise ------------------------------------------------------------------------------------------------------------


def noise_norm2_quantile(sigma: float, coordinates: int, failure: float) -> float:
    """What |z|² of z ~ N(0, σ²I) exceeds with probability exactly δ: σ²χ². [004-Lem13]

    coordinates: of z; N on N real coefficients, 2N on cosines and sines or on both parts of complex ones.
    """
    return positive(sigma) ** 2 * float(stats.chi2.isf(open_probability(failure), count(coordinates)))


def noise_norm2_bound(sigma: float, coordinates: int, failure: float) -> float:
    """σ²(n + 2√(nl) + 2l), l = ln(1/δ), at least the quantile; 8A(1 + 2√(l/N) + 2l/N) by Algorithm 1. [004-Lem13]

    Laurent & Massart 2000, Lemma 1.
    """
    level = -math.log(open_probability(failure))
    return positive(sigma) ** 2 * (count(coordinates) + 2.0 * math.sqrt(coordinates * level) + 2.0 * level)


def gamma_norm_quantile(scale: float, coordinates: int, failure: float) -> float:
    """What |z| of noise ∝ exp(−|z|/b) in n dimensions exceeds with probability exactly δ: b·Gamma(n). [004-gamma-bound]

    scale: b = Δ/ε.
    """
    return positive(scale) * float(stats.gamma.isf(open_probability(failure), count(coordinates)))


def gamma_norm_bound(scale: float, coordinates: int, failure: float) -> float:
    """b(n + √(2nl) + l), l = ln(1/δ), at least the quantile. [004-gamma-bound]

    ln E exp(θ(X − n)) = −n·ln(1 − θ) − nθ <= nθ²/(2(1 − θ)) for X ~ Gamma(n); θ = s/(1 + s) with s = √(2l/n).
    """
    level = -math.log(open_probability(failure))
    return positive(scale) * (count(coordinates) + math.sqrt(2.0 * coordinates * level) + level)


@attrs.frozen
class NoiseError:
    """|f# − f^|²: its mean, its quantile at any one point, and a bound for its mean over μ."""

    mean: float
    at_a_point: float
    over_points: float


def noise_error(sigma: float, number: int, failure: float, share: float = 1.0) -> NoiseError:
    """What noise N(0, σ²) on each coefficient of N cosines and N sines adds, for any σ, μ and points. [004-Thm12]

    share: s in (0, 1], at least λ_max(E_μ φφ*)/N.  f# − f^ at a point is N(0, Nσ²): the mean is Nσ², the quantile
    Nσ²χ²_1, exactly. Over μ it is z·Σz with tr Σ = N and rank at most 2N, so by Székely & Bakirov (2003) no quantile is
    above the largest of those of Nσ²χ²_r/r, r <= 2N, which r equal eigenvalues attain: r = 1, μ in one point, for
    δ <= .21. And by Laurent & Massart, |Σ|_F² <= tr Σ·‖Σ‖, but for δ it is at most Nσ²(1 + 2√(sl) + 2sl), l = ln(1/δ).
    Complex features with real noise have the same mean, split between two parts: over_points holds for them, and
    at_a_point is only an upper bound, for δ <= .21. Noise on both parts of c doubles the mean.
    """
    level, mean = -math.log(open_probability(failure)), count(number) * positive(sigma) ** 2
    ranks = np.arange(1, 2 * number + 1)
    attained = float(np.max(stats.chi2.isf(failure, ranks) / ranks))
    spread = fraction(share) * level
    over = min(attained, 1.0 + 2.0 * math.sqrt(spread) + 2.0 * spread)
    return NoiseError(mean, mean * float(stats.chi2.isf(failure, 1)), mean * over)


# --- Interpolation ----------------------------------------------------------------------------------------------------

_APPROXIMATION: Final = (5.0 + math.sqrt(22.0)) / 3.0
"""1 + 2/3 + √(4/9 + 2)."""


def printed_theorem_11(norm: float, number: int, records: int, eta: float, failure: float) -> float:
    """For ‖f − f#‖ in L²(μ), at probability 8δ, given Theorem 8. norm: ‖f‖_ρ. [004-Thm11]

    It follows from `interpolation_error` wherever that is less at failure 5δ, not from its own proof: (14) holds for
    each x and is integrated, and summed over records, as if it held for all; the last line of (17) has 2(2l/m)^(1/4)√L
    where (16) gives at least 4(2l/m)^(1/4)√L; and the events add up to 10δ.
    """
    level, two = -math.log(open_probability(failure)), math.log(2.0 / open_probability(failure))
    first = 14.0 * two / math.sqrt(count(number))
    second = (
        28.0 * math.sqrt(math.sqrt(2.0 * count(records) * level)) * two / math.sqrt(number * (1.0 - 2.0 * _eta(eta)))
    )
    return positive(norm) * (first + second + math.sqrt(math.sqrt(32.0 * level / records) * two))


def interpolation_error(
    norm: float, number: int, records: int, least: float, failure: float, share: float = 1.0
) -> float:
    """‖f − f#‖ in L²(μ) is at most this, but for probability δ, where `least` and `share` hold. [004-Thm11]

    norm: F = ‖f‖_ρ.  least: at most λ_min(AA*/N), > 0; share: s, at least λ_max(Σ)/N, Σ = E_μ φφ*: both may be
    measured, be assumed, or come from `random_feature_gram` at the price of its δ; s = 1 is always right.  Labels are
    f(x_j), points i.i.d. of μ.  For cosines and sines too, if f is real.
    F·(b/√N + √min(s·w, b²/N + e·w)), w = a + b²·m/(N·least), L = ln(8/δ), b = 3.23√L, a < 2.8, e: `_generalisation`.

    Proof. α of eq. 6, cut at T = F√(N/L), gives f* = Σ c*_k·e_k, c*_k = α_T(ω_k)/N, e_k = exp(i⟨ω_k, ·⟩), |e_k| = 1.
    (1) In the Hilbert space L²(μ), f* has mean within E|α|·1{|α| > T} <= F²/T of f, and its N terms are at most T long,
    with variance F², so that centred they are at most 2T: by Pinelis (1994) but for 2exp(−L) = δ/4, with h = 2TL/(3N),
    ‖f − f*‖ <= F²/T + h + √(h² + 2F²L/N) = F·b/√N. No point is singled out, so nothing is left to integrate. (2) The
    same in C^m: g_j = f*(x_j) − f(x_j) has |g| <= √m·F·b/√N. (3) Scalar Bernstein for |α_T|² <= T²: |c*|² <= a·F²/N.
    (4) v = c* − c# = (I − A†A)c* + A†g, orthogonal parts: |v|² <= |c*|² + |g|²/(N·least) <= w·F²/N. (5) ‖f* − f#‖² =
    v*Σv <= sN|v|². (6) Av = g, so also v*Σv <= |g|²/m + λ_max(Σ − A*A/m)·|v|², and that eigenvalue is at most N·e but
    for δ/4. No fresh points and no McDiarmid; (1) to (3) do not know `least` or s, so these may depend on the draw.
    """
    least, share = positive(least), fraction(share)
    length, ratio = math.log(8.0 / open_probability(failure)), math.log(4.0 / failure)
    b, x = _APPROXIMATION * math.sqrt(length), ratio / length
    a = 1.0 + x / 3.0 + math.sqrt(x**2 / 9.0 + 2.0 * x)
    w = a + b**2 * count(records) / (count(number) * least)
    excess = _generalisation(share, number, records, failure / 4.0)
    second = min(share * w, b**2 / number + excess * w)
    return positive(norm) * (b / math.sqrt(number) + math.sqrt(second))


def _generalisation(share: float, number: int, records: int, failure: float) -> float:
    """e: λ_max(Σ − A*A/m)/N is at most this but for probability δ over the points, given the frequencies. [004-Thm11]

    Matrix Bernstein (Tropp 2012, Theorem 6.1), one-sided, in 2N dimensions: φφ*/N are projections p with mean Q = Σ/N,
    λ_max(Q − p) <= s, and E(Q − p)² = Q − Q² has norm at most s(1 − s), or 1/4 where s > 1/2.
    """
    level = math.log(2.0 * number / failure)
    linear = share * level / (3.0 * records)
    variance = share * (1.0 - share) if share < 0.5 else 0.25
    return linear + math.sqrt(linear**2 + 2.0 * variance * level / records)


def mean_interpolation_error(norm: float, number: int, records: int, least: float, share: float = 1.0) -> float:
    """√E‖f − f#‖²·1{λ_min(AA*/N) >= least, λ_max(Σ)/N <= share} in L²(μ) is at most this; see above. [004-Thm11]

    F·(1/√N + √(s(1 + m/(N·least)))), with least and share fixed beforehand: uncut, E‖f − f*‖² = (F² − ‖f‖²)/N exactly,
    E|c*|² = F²/N and E|g|² <= mF²/N; Minkowski. By Markov the error exceeds it 1/√δ times with probability at most δ.
    """
    ratio = count(records) / (count(number) * positive(least))
    return positive(norm) * (1.0 / math.sqrt(number) + math.sqrt(fraction(share) * (1.0 + ratio)))


# --- Both -------------------------------------------------------------------------------------------------------------


@attrs.frozen
class PrivateError:
    """Root mean squares: of interpolation and of noise over μ, bounded; and of predicting 0, over the m records."""

    interpolation: float
    noise: float
    zero: float

    @property
    def total(self) -> float:
        """Bounds ‖f − f^‖ in L²(μ)."""
        return self.interpolation + self.noise


def private_error(
    sigma: float, norm: float, number: int, records: int, least: float, failure: float, share: float = 1.0
) -> PrivateError:
    """Theorem 10, corrected, at failure δ: half of it for each part. Where no projection was needed. [004-Thm10]

    Arguments are those of `noise_error` and `interpolation_error`.  zero: 1/√m, for labels with |y|₂ <= 1, which 004
    supposes; over μ it is at most √τ·norm, τ of `gaussian_operator_norm`. [004-zero]
    """
    interpolation = interpolation_error(norm, number, records, least, failure / 2.0, share)
    noise = math.sqrt(noise_error(sigma, number, failure / 2.0, share).over_points)
    return PrivateError(interpolation, noise, 1.0 / math.sqrt(records))
