"""Paper 003, appendices D and E: regret of lazily projected multiplicative weights, lemma by lemma."""

import math

import numpy as np
import pytest

from accountant.arrays import FloatArray
from boosting import LazyBregman
from boosting.measures import kl_divergence
from boosting.projection import capped_scaling


def projected(losses: FloatArray, rate: float, density: float) -> FloatArray:
    """μ after losses Σℓ, shape (n,): exp(−λΣℓ), scaled and capped to density exactly κ."""
    return np.asarray(capped_scaling(-rate * losses, np.ones(losses.size, dtype=np.intp), density))


def played(losses: FloatArray, rate: float, density: float) -> FloatArray:
    """μ̂₁ … μ̂_{T+1}, shape (T + 1, n), for losses of shape (T, n)."""
    before = np.vstack([np.zeros((1, losses.shape[1])), np.cumsum(losses, axis=0)])
    return np.asarray(np.array([projected(row, rate, density) for row in before]) / (density * losses.shape[1]))


def penalty(measure: FloatArray, rate: float, density: float) -> float:
    """KL(μ ‖ μ₁)/(λκn)."""
    return kl_divergence(measure, np.full(measure.size, density)) / (rate * density * measure.size)


def excess(losses: FloatArray, rate: float, density: float) -> float:
    """Regret per round and λ against the comparator that makes the lemma tightest: the last iterate itself."""
    measures = played(losses, rate, density)
    rounds, n = losses.shape
    suffered = float(np.sum(measures[:-1] * losses))
    best = float(np.sum(measures[-1] * losses)) + penalty(measures[-1] * density * n, rate, density)
    return float((suffered - best) / rounds / rate)


def cases(number: int, seed: int) -> list[tuple[FloatArray, float, float]]:
    """Losses in [0, 1], mostly 0 or 1, with a rate and a density."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        shape = int(rng.integers(1, 8)), int(rng.integers(2, 14))
        losses = rng.integers(0, 2, shape).astype(float) if rng.random() < 0.7 else rng.random(shape)
        found.append((losses, float(rng.choice([0.01, 0.2, 0.9])), float(rng.uniform(0.1, 1.0))))
    return found


HALVES = np.repeat([[0.0, 1.0]], 10, axis=1)
"""One round, half the records right."""


def test_the_regret_term_is_lambda_over_eight() -> None:
    """[003-Lem34] Never above λ/8, an eighth of what is printed; 10 % less would fail: half right, small λ."""
    found = [excess(*case) for case in cases(1200, 0)]
    assert max(found) <= 1 / 8
    for density in (0.05, 0.25, 0.5):
        assert excess(HALVES, 0.01, density) == pytest.approx(1 / 8, rel=1e-3)
    assert 0.9 / 8 < 0.1201 < excess(HALVES, 1.0, 0.25) < 1 / 8
    # 20 adversarial rounds that undo each other leave it there, too.
    alternating = np.vstack([HALVES, 1.0 - HALVES] * 10)
    assert excess(alternating, 0.01, 0.25) == pytest.approx(1 / 8, rel=1e-3)


def test_a_denser_comparator_is_a_worse_one() -> None:
    """[003-Lem34] Γ is "density >= κ": scaled down to κ it plays the same and its KL only falls, so it holds there."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        density = float(rng.uniform(0.1, 0.6))
        measure = np.minimum(1.0, rng.random(20) * 1.8)
        if measure.mean() >= density:
            scaled = measure * density / measure.mean()
            assert penalty(scaled, 0.3, density) <= penalty(measure, 0.3, density)


def test_be_the_leader_holds_and_is_attained() -> None:
    """[003-Lem41] Σ M(μ̂_{t+1}) <= Σ M(μ̂) + KL/(λκn); 2 % less on the right would fail."""
    for losses, rate, density in cases(600, 2):
        measures, n = played(losses, rate, density), losses.shape[1]
        led = float(np.sum(measures[1:] * losses))
        for comparator in (measures[-1], measures[0], measures[len(measures) // 2]):
            right = float(np.sum(comparator * losses)) + penalty(comparator * density * n, rate, density)
            assert led <= right + 1e-9
    # One round, half right, small λ: the leader plays .4988, the bound is .5.
    measures = played(HALVES, 0.01, 0.4)
    right = float(np.sum(measures[1] * HALVES)) + penalty(measures[1] * 0.4 * 20, 0.01, 0.4)
    assert 0.99 * right < np.sum(measures[1] * HALVES) < right


def modulus(measure: FloatArray) -> float:
    """Smallest yᵀ∇²R y/‖y‖₁²: 1/|μ|, at y = μ."""
    return float(np.sum(measure**2 / measure) / np.sum(measure) ** 2)


def test_strong_convexity_stops_at_density_kappa() -> None:
    """[003-Lem42] 1/(κn)-strongly convex up to density κ, reached at κ; above it the modulus 1/|μ| is smaller."""
    rng, n, density = np.random.default_rng(3), 12, 0.3
    for _ in range(300):
        measure = rng.random(n)
        measure *= density * rng.uniform(0.1, 1.0) / measure.mean()
        step = rng.normal(size=n)
        assert np.sum(step**2 / measure) >= np.sum(np.abs(step)) ** 2 / (density * n) * (1 - 1e-12)
    assert modulus(np.full(n, density)) == pytest.approx(1 / (density * n))
    assert modulus(np.full(n, 2 * density)) == pytest.approx(0.5 / (density * n))


def test_one_round_gains_at_most_a_quarter_lambda() -> None:
    """[003-Lem43] M(μ̂_T) − M(μ̂_{T+1}) <= λ/4, not λ: centred losses. Half right reaches it; 10 % less would fail."""
    for losses, rate, density in cases(800, 4):
        measures = played(losses, rate, density)
        gains = np.sum((measures[:-1] - measures[1:]) * losses, axis=1)
        assert np.all(gains <= rate / 4 + 1e-12)
    measures = played(HALVES, 0.01, 0.4)
    assert float(np.sum((measures[0] - measures[1]) * HALVES)) == pytest.approx(0.01 / 4, rel=1e-3)


def test_pythia_overshoots() -> None:
    """[003-Alg8] κn = 2.5: B has 3 records, so KL(U(B) ‖ μ₁) = 3.659 > κn·ln(1/κ) = 3.466; one in part mends it."""
    n, density = 10, 0.25
    whole, fractional = np.repeat([1.0, 0.0], [3, 7]), np.array([1.0, 1.0, 0.5, *[0.0] * 7])
    printed = density * n * math.log(1 / density)
    assert printed == pytest.approx(3.466, abs=5e-4)
    start = np.full(n, density)
    assert kl_divergence(whole, start) == pytest.approx(3.659, abs=5e-4)
    assert kl_divergence(fractional, start) <= printed
    # Mistakes alone may be more than κn records; all of them go into B.
    assert kl_divergence(np.ones(n), start) > 1.8 * printed


def test_003s_measure_is_001s_at_half_the_rate() -> None:
    """[003-Alg4] For ±1 hypotheses exp(−2λ(1 + yh)/2) = e^{−λ}·exp(−λyh): LB-NxM(2λ) is LazyBregman(λ)."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        agreement = rng.choice([-1, 1], (6, 15))
        rate, density = float(rng.uniform(0.01, 0.5)), float(rng.uniform(0.1, 1.0))
        theirs = projected(np.sum((1 + agreement) / 2, axis=0), 2 * rate, density)
        margins = agreement.sum(axis=0)
        values, counts = np.unique(margins, return_counts=True)
        ours = capped_scaling(-LazyBregman(density, rate).learning_rate * values, counts.astype(np.intp), density)
        assert theirs == pytest.approx(ours[np.searchsorted(values, margins)], rel=1e-9)
