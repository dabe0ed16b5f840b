"""The exponential loss over rados, the logistic loss over examples, and what boosting rados promises.

An edge vector is yᵢ·xᵢ, a rado is a sum of some edge vectors. edges: shape (m, d), finite.  rados: shape (n, d).
theta: a linear classifier, shape (d,).  Losses are in nats; the exponential one is kept as its logarithm, since
rados are sums of many edges. r_t is the normalised correlation of 000, eq. 9, in (−1, 1); shrinkage is 000's κ
of section 5.2, at least 1. Nothing here is a mechanism, and nothing that it returns is private.
"""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
from scipy.special import logsumexp

from accountant.arrays import FloatArray
from accountant.costs import count, positive

MAX_ENUMERATED: Final = 14
"""Most records whose 2^m rados are enumerated."""


def _checked(vectors: FloatArray, theta: FloatArray) -> FloatArray:
    matrix, classifier = np.asarray(vectors, dtype=np.float64), np.asarray(theta, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.shape[0] or classifier.shape != matrix.shape[1:]:
        raise ValueError(f"expected shapes (k, d) and (d,) with k >= 1, got {matrix.shape} and {classifier.shape}")
    products = np.asarray(matrix @ classifier)
    if not np.all(np.isfinite(products)):
        raise ValueError("expected finite vectors and a finite classifier")
    return products


def shrinkage_factor(value: float) -> float:
    """κ, at least 1. Raises ValueError."""
    if not positive(value) >= 1.0:
        raise ValueError(f"expected a shrinkage of at least 1, got {value!r}")
    return float(value)


def _correlation(value: float) -> float:
    if not -1.0 < value < 1.0:
        raise ValueError(f"expected a correlation strictly between -1 and 1, got {value!r}")
    return float(value)


def _subset_sums(rows: FloatArray) -> FloatArray:
    """Sums of all subsets of the rows; row number b in binary says which subset."""
    if rows.shape[0] > MAX_ENUMERATED:
        raise ValueError(f"expected at most {MAX_ENUMERATED} records to enumerate, got {rows.shape[0]}")
    sums: FloatArray = np.zeros((1, *rows.shape[1:]))
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums


def logistic_loss(edges: FloatArray, theta: FloatArray) -> float:
    """F_log = (1/m)·Σᵢ ln(1 + exp(−θ·yᵢxᵢ)) over examples. 000, eq. 1. Raises ValueError for other shapes."""
    return float(np.mean(np.logaddexp(0.0, -_checked(edges, theta))))


def log_exponential_loss(rados: FloatArray, theta: FloatArray) -> float:
    """ln F_exp, F_exp = (1/n)·Σ_j exp(−θ·π_j) over rados. 000, eq. 2. Raises ValueError for other shapes."""
    products = _checked(rados, theta)
    return float(logsumexp(-products)) - math.log(products.size)


def logistic_rado_loss(rados: FloatArray, theta: FloatArray, records: int) -> float:
    """ln 2 + (1/m)·ln F_exp, with m = `records`: 000, eq. 4. Over all rados it is the logistic loss. [000-Lem2]"""
    return math.log(2.0) + log_exponential_loss(rados, theta) / count(records)


def all_rados(edges: FloatArray) -> FloatArray:
    """All 2^m rados of m <= MAX_ENUMERATED edge vectors, shape (2^m, d). Raises ValueError for more."""
    return _subset_sums(np.asarray(edges, dtype=np.float64))


def enumerated_logistic_rado_loss(edges: FloatArray, theta: FloatArray) -> float:
    """`logistic_rado_loss` over all 2^m rados, without building them: equals `logistic_loss`. [000-Lem2]

    edges: at most MAX_ENUMERATED rows. Raises ValueError for more. Source: 000, Lemma 2.
    """
    products = _checked(edges, theta)
    sums = _subset_sums(products)
    return math.log(2.0) + (float(logsumexp(-sums)) - math.log(sums.size)) / products.size


def leverage(correlation: float, largest: float, shrinkage: float = 1.0) -> float:
    """α = ln((1 + r)/(1 − r))/(2κ·π_*): how far RadoBoost moves one coordinate of θ. [000-eq17]

    correlation: r.  largest: π_* = max_j |π_j| of that coordinate, positive.  shrinkage: κ >= 1; 1 is 000, eq. 10.
    000, section 5.2 prints it without the 2, and then the loss need not fall. Raises ValueError outside.
    """
    return math.atanh(_correlation(correlation)) / (shrinkage_factor(shrinkage) * positive(largest))


def log_exponential_bound(correlations: Iterable[float], shrinkage: float = 1.0) -> float:
    """ln F_exp <= Σ_t ln(1 − r_t²)/(2κ) after RadoBoost with these r_t. [000-Lem4] [000-eq17]

    Holds on the rados that it was run on, whichever they are. At κ = 1 it tightens 000, Lemma 4 (Σ −r_t²/2).
    Raises ValueError for |r_t| = 1, where a step is infinite.
    """
    total = math.fsum(math.log1p(-(_correlation(r) ** 2)) for r in correlations)
    return total / (2.0 * shrinkage_factor(shrinkage)) + 0.0


def logistic_bound(correlations: Iterable[float], records: int, shrinkage: float = 1.0) -> float:
    """ln 2 + Σ_t ln(1 − r_t²)/(2κm), which is at most ln 2 − Σ_t r_t²/(2κm) of 000, eq. 17. [000-eq17]

    Bounds the logistic rado loss; with all 2^m rados that is the logistic loss of the examples. records: m.
    """
    return math.log(2.0) + log_exponential_bound(correlations, shrinkage) / count(records)
