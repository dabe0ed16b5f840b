"""Learners of halfspaces through the origin, ours and others: from points of the unit ball to a direction."""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Final, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.svm import LinearSVC

from accountant import ApproxDP, BasicComposition, Ledger, ReplaceOne
from accountant.arrays import FloatArray, SignArray
from boosting.theory import MarginData
from learners import HalfspaceBoostClassifier
from mechanisms import GaussianNoise, SeededNoise
from mechanisms.gradients import LinearRecords, Reach, calibrated

Learner: TypeAlias = Callable[[FloatArray, SignArray, float, float, int], FloatArray]
"""(points, labels, epsilon, delta, seed) to a direction, shape (d,)."""

MOST_WEIGHTS: Final = 1000
"""Dimensions up to which our logistic regression is run: its Newton steps solve for a d × d matrix."""


def boosted(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """Boosted centred means with their defaults."""
    model = HalfspaceBoostClassifier(epsilon, delta, random_state=seed).fit(points, labels)
    return np.asarray(model.coef_[0])


def one_mean(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """The same with one round: the mean of all records with noise. What boosting adds is the difference."""
    model = HalfspaceBoostClassifier(epsilon, delta, rounds=1, density=1.0, random_state=seed).fit(points, labels)
    return np.asarray(model.coef_[0])


def regression(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """Our DP logistic regression on points rather than cells: Gaussian objective perturbation, default strength."""
    n, d = points.shape
    ledger = Ledger(ApproxDP(epsilon, delta), composition=BasicComposition(), adjacency=ReplaceOne())
    records = LinearRecords(points, labels.astype(np.float64), Reach(float(np.sqrt(d)) * (1.0 + 1e-9), 1.0))
    ceiling = ledger.composition.ceiling(ApproxDP(epsilon, delta))
    mechanism = calibrated(
        GaussianNoise,
        lambda cost: ledger.composition.amount(cost).within(ceiling),
        reach=records.reach,
        d=d,
        n=n,
        delta=delta,
        noise=SeededNoise(seed),
    )
    return ledger.release(mechanism, ledger.protect(records))


def of_diffprivlib(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """diffprivlib's objective perturbation, ε alone, C = 1; see `benchmarks.peers.peers` for what it promises."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(epsilon=epsilon, data_norm=1.0, fit_intercept=False, max_iter=1000, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(points, labels)
    return np.asarray(model.coef_[0], dtype=np.float64)


def perceptron(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """scikit-learn's, without privacy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(fit_intercept=False, random_state=seed).fit(points, labels)
    return np.asarray(model.coef_[0])


def support_vectors(points: FloatArray, labels: SignArray, epsilon: float, delta: float, seed: int) -> FloatArray:
    """scikit-learn's linear support vector machine, C = 1, without privacy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(fit_intercept=False, dual="auto", random_state=seed).fit(points, labels)
    return np.asarray(model.coef_[0])


DIFFPRIVLIB: Final = find_spec("diffprivlib") is not None
"""Whether it is installed."""

LEFT_OUT: Final = "" if DIFFPRIVLIB else ", no diffprivlib"
"""For titles of tables that it would be in."""

LEARNERS: Final[dict[str, Learner]] = {
    "boosted means (ours)": boosted,
    "one noisy mean (ours)": one_mean,
    "logistic regression (ours)": regression,
    **({"logistic regression (diffprivlib)": of_diffprivlib} if DIFFPRIVLIB else {}),
    "perceptron, no privacy": perceptron,
    "support vectors, no privacy": support_vectors,
}


def error(direction: FloatArray, fresh: MarginData) -> float:
    """The share of new records on the wrong side; labels there are never flipped."""
    return float(np.mean(fresh.labels * (fresh.points @ direction) <= 0.0))
