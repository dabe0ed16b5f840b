"""Exact distributions of the selection rules on given scores, as log-probabilities.

Noise is in units of 1/eta. All integrands are positive and evaluated in logarithms, so small probabilities
keep their relative accuracy.
"""

import functools
import itertools
from typing import Final

import numpy as np
from scipy.special import log_softmax, logsumexp

from accountant.arrays import FloatArray
from mechanisms.randomness.float_values import as_floats

PIECE: Final = 4.0
"""The longest interval, in units of 1/eta, that one quadrature rule covers."""

FAR: Final = 44.0
"""Beyond this, in units of 1/eta, a Laplace tail is below the rounding of 1."""

WIDEST: Final = 1e12
"""The largest eta·range of scores for which a distribution is given."""

NODES: Final = 24
"""Most Gauss–Legendre nodes a piece; a short piece needs fewer."""


def finite_scores(scores: FloatArray) -> FloatArray:
    """The scores in double precision, refused where a selection rule would have no distribution. Raises ValueError.

    Small integers are no exception: their differences would wrap, and probabilities would not be those of the scores.
    """
    doubles = as_floats(scores, "scores")
    if doubles.ndim != 1 or doubles.size == 0:
        raise ValueError(f"expected scores of shape (k,) with k >= 1, got shape {doubles.shape}")
    if not np.all(np.isfinite(doubles)):
        raise ValueError("scores must be finite; -inf would make a candidate's absence visible")
    return doubles


def _centred(scores: FloatArray, eta: float) -> FloatArray:
    """eta·(score − max), shape (k,), at most 0. Raises ValueError where double precision is not enough."""
    scores = finite_scores(scores)
    with np.errstate(over="ignore"):
        centred = eta * (scores - np.max(scores))
    if not float(np.min(centred)) >= -WIDEST:
        raise ValueError(f"eta times the range of the scores must be at most {WIDEST:g} for an exact distribution")
    return np.asarray(centred, dtype=np.float64)


def exponential(scores: FloatArray, eta: float) -> FloatArray:
    """eta·score − log Σ exp(eta·score), shape (k,). [L2]"""
    return np.asarray(log_softmax(_centred(scores, eta)), dtype=np.float64)


@functools.lru_cache(maxsize=64)
def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre on [0, 1]: points and log-weights."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return 0.5 * (points + 1.0), np.log(0.5 * weights)


def _except_each(log_factors: FloatArray) -> FloatArray:
    """Σ over the other rows, shape (k, nodes), where a factor may be 0: no difference of infinities."""
    zeros = np.isneginf(log_factors)
    finite = np.where(zeros, 0.0, log_factors)
    total, dead = finite.sum(axis=0), zeros.sum(axis=0)
    return np.where(dead - zeros > 0, -np.inf, total - finite)


def permute_and_flip(scores: FloatArray, eta: float) -> FloatArray:
    """log of w_i ∫₀¹ Π_{j≠i} (1 − u·w_j) du with w = exp(eta·(score − max)), shape (k,). [permute-flip]

    The integrand is a polynomial in u of degree k − 1 and its quadrature is exact; summing the usual recursion
    over subsets instead would cancel. Beyond 2^10 candidates the same rule is applied on dyadic pieces.
    """
    centred = _centred(scores, eta)
    weights = np.exp(centred)
    terms = [_flip_piece(weights, *piece) for piece in _pieces_of_unit(weights)]
    return np.asarray(centred + logsumexp(np.stack(terms), axis=0), dtype=np.float64)


def _pieces_of_unit(weights: FloatArray) -> list[tuple[float, float, int]]:
    """Intervals of [0, 1] with their numbers of nodes."""
    if weights.size <= 2**10:
        return [(0.0, 1.0, (weights.size + 1) // 2 + 1)]
    halvings = int(np.ceil(np.log2(np.sum(weights) + 2.0))) + 2
    edges = [0.0, *(2.0**-power for power in range(halvings, -1, -1))]
    return [(low, high, 4 * NODES) for low, high in itertools.pairwise(edges)]


def _flip_piece(weights: FloatArray, low: float, high: float, nodes: int) -> FloatArray:
    points, log_weights = _rule(nodes)
    u = low + (high - low) * points
    factors = np.log1p(-u[None, :] * weights[:, None])
    return np.asarray(logsumexp(_except_each(factors) + log_weights + np.log(high - low), axis=1), dtype=np.float64)


def noisy_max(scores: FloatArray, eta: float) -> FloatArray:
    """log of ∫ f(x − s_i) Π_{j≠i} F(x − s_j) dx for Laplace noise, s = eta·score, shape (k,). [noisy-max]

    Between neighbouring scores the integrand is analytic; pieces there are at most PIECE long. Above the largest
    score it is a polynomial in exp(−x), and below the smallest a multiple of exp(k·x), integrated in closed form; so
    is it, to double precision, where it is FAR from every score below.
    """
    centred = _centred(scores, eta)
    terms = [_upper_tail(centred), _lower_tail(centred), *_between(centred)]
    found = logsumexp(np.stack(terms), axis=0)
    return np.asarray(found - logsumexp(found), dtype=np.float64)


def _log_cdf(x: FloatArray) -> FloatArray:
    """log F of the standard Laplace distribution."""
    return np.where(x < 0.0, x - np.log(2.0), np.log1p(-0.5 * np.exp(-np.maximum(x, 0.0))))


def _upper_tail(centred: FloatArray) -> FloatArray:
    """x > 0 = the largest: with u = exp(−x), ½ e^{s_i} ∫₀¹ Π_{j≠i} (1 − ½ u e^{s_j}) du."""
    weights = 0.5 * np.exp(centred)
    points, log_weights = _rule(min((centred.size + 1) // 2 + 1, 512))
    factors = np.log1p(-points[None, :] * weights[:, None])
    others = factors.sum(axis=0) - factors
    return np.asarray(centred - np.log(2.0) + logsumexp(others + log_weights, axis=1), dtype=np.float64)


def _lower_tail(centred: FloatArray) -> FloatArray:
    """x < the smallest m: Π of ½ e^{x − s_j} over all j, integrated: e^{k·m − Σs} / (k·2^k) for every i."""
    k, lowest = centred.size, float(np.min(centred))
    return np.full(k, k * lowest - float(np.sum(centred)) - k * np.log(2.0) - np.log(k))


def _between(centred: FloatArray) -> list[FloatArray]:
    edges = np.unique(centred)
    pieces: list[FloatArray] = []
    for low, high in itertools.pairwise(edges.tolist()):
        near = min(high, low + FAR)
        pieces.append(_by_quadrature(centred, low, near))
        if near < high:
            pieces.append(_in_closed_form(centred, near, high))
    return pieces


def _by_quadrature(centred: FloatArray, low: float, high: float) -> FloatArray:
    parts = max(1, int(np.ceil((high - low) / PIECE)))
    length = (high - low) / parts
    points, log_weights = _rule(min(NODES, 4 + int(np.ceil(6.0 * length))))
    x = low + length * (np.arange(parts)[:, None] + points[None, :]).ravel()
    shifted = x[None, :] - centred[:, None]
    factors = _log_cdf(shifted)
    density = -np.abs(shifted) - np.log(2.0)
    weights = np.tile(log_weights, parts) + np.log(length)
    return np.asarray(logsumexp(density + factors.sum(axis=0) - factors + weights, axis=1))


def _in_closed_form(centred: FloatArray, low: float, high: float) -> FloatArray:
    """∫ of exp(rate·x + level) where F of every score below is 1: candidates below fall, the others rise."""
    above = centred >= high
    count = int(above.sum())
    common = -float(np.sum(centred[above])) - count * np.log(2.0)
    rate = np.where(above, float(count), count - 1.0)
    level = np.where(above, common, common + centred - np.log(2.0))
    # From the upper end, where the exponential is largest; a rate of 0 leaves the length.
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(rate > 0.0, np.log(-np.expm1(-rate * (high - low)) / rate), np.log(high - low))
    return np.asarray(level + rate * high + length)
