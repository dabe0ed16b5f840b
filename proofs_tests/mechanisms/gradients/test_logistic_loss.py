"""The logistic loss: its certificate against 60 digits, its minimiser from anywhere, and what its records refuse."""

import math

import mpmath
import numpy as np
import pytest

from accountant.arrays import FloatArray
from mechanisms import LaplaceNoise, SeededNoise
from mechanisms.gradients.linear_losses import (
    LinearRecords,
    LinearSample,
    Reach,
    certified_norm,
    gradient_error,
    minimiser,
    noise_that_gives,
)
from mechanisms.gradients.objective_perturbation import ObjectivePerturbation, default_tolerance
from proofs_tests.support.learners.linear import UNIT_BALL, in_ball, records


def bent(sample: LinearSample, weights: FloatArray) -> float:
    """Σ φ″, as `minimiser` computes it."""
    return float(np.sum(sample.losses.curvatures(sample.scores(weights))))


def true_gradient(sample: LinearRecords, regularization: float, weights: FloatArray, b: FloatArray) -> FloatArray:
    """In 60 digits."""
    with mpmath.workdps(60):
        exact = [regularization * mpmath.mpf(w) + mpmath.mpf(e) for w, e in zip(weights, b, strict=True)]
        for x, y in zip(sample.features.tolist(), sample.signed.tolist(), strict=True):
            score = mpmath.fsum(mpmath.mpf(v) * mpmath.mpf(w) for v, w in zip(x, weights, strict=True))
            s = 1 / (1 + mpmath.exp(y * score))
            exact = [e - s * y * mpmath.mpf(v) for e, v in zip(exact, x, strict=True)]
        return np.array([float(e) for e in exact])


@pytest.mark.parametrize("size", [0.0, 1.0, 1e3])
@pytest.mark.parametrize("regularization", [1e-3, 1.0, 1e3])
def test_the_certificate_is_above_the_true_gradient(size: float, regularization: float) -> None:
    """[approximate-minimum] In 60 digits, at the minimiser and away from it; and the minimiser is where it says."""
    sample = records()
    b = size * np.random.default_rng(1).normal(size=3)
    tolerance = 1e-11 * (sample.n + size)
    weights = minimiser(sample, regularization, b, tolerance)
    assert np.linalg.norm(true_gradient(sample, regularization, weights, b)) <= tolerance
    for point in (weights, weights + 1e-9, 3.0 * weights + 1.0):
        computed = regularization * point + b - noise_that_gives(sample, 0.0, point)
        error = gradient_error(sample, regularization, point, b, bent(sample, point))
        true = true_gradient(sample, regularization, point, b)
        assert np.linalg.norm(computed - true) <= error
        assert np.linalg.norm(true) <= certified_norm(computed, error)


def test_the_certificate_sees_what_cancels_in_a_score() -> None:
    """Weights of 10^6 and scores around 1: rounding moves the gradient by thousands of units in the last place."""
    rng = np.random.default_rng(0)
    base = 0.5 * rng.random(60)
    sample = LinearRecords(np.stack([base, base + 1e-6 * rng.normal(size=60)], axis=1), np.ones(60), Reach(1.1, 1.0))
    point, b = np.array([1e6, -1e6]), np.zeros(2)
    computed, true = -noise_that_gives(sample, 1e-9, point), true_gradient(sample, 1e-9, point, b)
    off = np.linalg.norm(computed - true)
    assert 1e-12 < off <= gradient_error(sample, 1e-9, point, b, bent(sample, point))


def test_many_records_are_minimised_to_the_default_tolerance() -> None:
    """Rounding of sums is certified by block; one bound for sums of all n outgrows the tolerance from 70,000 on."""
    rng = np.random.default_rng(0)
    features = in_ball(rng.normal(size=(200_000, 3)), 1)
    sample = LinearRecords(features, np.where(features[:, 0] > 0.0, 1.0, -1.0), UNIT_BALL)
    residuals = rng.normal(size=sample.n)
    exact = [math.fsum(column) for column in (residuals[:, None] * features).T]
    off = float(np.linalg.norm(sample.feature_sum(residuals) - exact))
    assert off <= sample.sum_rounding * float(np.sum(np.abs(residuals)))
    randomizer = LaplaceNoise(4.0)
    minimiser(
        sample, 8.0, randomizer.draw(np.zeros(3), SeededNoise(0)), default_tolerance(randomizer, UNIT_BALL, 3, sample.n)
    )


def test_two_minimisers_to_one_tolerance_are_within_the_declared_displacement_of_each_other() -> None:
    sample, b = records(), np.array([3.0, -2.0, 1.0])
    loose = ObjectivePerturbation(LaplaceNoise(4.0), 2.0, UNIT_BALL, 3, 1e-2)
    fine, rough = (minimiser(sample, 2.0, b, tolerance) for tolerance in (1e-10, 1e-2))
    assert 0.0 < np.linalg.norm(fine - rough) <= loose.displacement
    assert loose.displacement == pytest.approx(1e-2 / 2.0, rel=1e-6)


@pytest.mark.parametrize(
    ("features", "signed", "message"),
    [
        (np.ones((2, 2)), np.ones(2), "outside"),
        (np.full((1, 3), 0.5), np.ones(1), "outside"),
        (np.zeros((2, 2)), np.array([1.0, 0.0]), "labels must be"),
        (np.zeros((2, 2)), np.ones(3), "expected"),
        (np.array([[np.nan, 0.0]]), np.ones(1), "outside"),
    ],
)
def test_records_outside_their_bounds_are_refused(features: FloatArray, signed: FloatArray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearRecords(features, signed, UNIT_BALL)
