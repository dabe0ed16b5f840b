"""The centred mean as a weak learner: exact examples, random data, noise in many dimensions, and sample sizes."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from boosting import capped_scaling
from boosting.theory.generalisation import private_error_bound, transfer_budget
from boosting.theory.guarantees import rounds_for_margin
from boosting.theory.halfspaces import (
    averaged_length_bound,
    centred_mean_advantage,
    centred_mean_length,
    fat_shattering_bound,
    halfspace_rate,
    halfspace_sample_size,
    noisy_centred_mean_advantage,
    raw_centred_mean_advantage,
)


def advantage(weights: FloatArray, signed: FloatArray, direction: FloatArray) -> float:
    """½·Σ μ̂·y·h(x) of h(x) = direction·x; signed holds the rows yᵢ·xᵢ."""
    return 0.5 * float(weights @ (signed @ direction))


def test_theorem_26_as_printed_is_false() -> None:
    """x = τe₁ ± √(1 − τ²)e₂, labels +1, uniform: z = τe₁, and h(x) = z·x has advantage τ²/2 = 0.005 < τ/4 = 0.025."""
    tau = 0.1
    signed = np.array([[tau, math.sqrt(1 - tau**2)], [tau, -math.sqrt(1 - tau**2)]])
    weights = np.array([0.5, 0.5])
    z = weights @ signed
    assert z.tolist() == [tau, 0.0]
    assert advantage(weights, signed, z) == pytest.approx(0.005)
    assert advantage(weights, signed, z) < 0.25 * tau
    assert advantage(weights, signed, z / tau) == pytest.approx(0.05)
    # What the functions promise without corruption is exactly what this example has.
    assert raw_centred_mean_advantage(tau, 1.0) == pytest.approx(0.005)
    assert centred_mean_advantage(tau, 1.0) == pytest.approx(0.05)


@given(st.floats(1e-3, 1.0), st.floats(0.01, 1.0))
def test_at_the_papers_corruption_a_quarter_and_an_eighth_remain(tau: float, density: float) -> None:
    """η = κτ/4: |z| >= τ − (1 + τ)τ/4 >= τ/2, with equality at τ = 1."""
    corrupted = 0.25 * density * tau
    assert centred_mean_length(tau, density, corrupted) == pytest.approx(tau - (1.0 + tau) * tau / 4.0)
    assert centred_mean_advantage(tau, density, corrupted) >= tau / 4.0 - 1e-12
    assert raw_centred_mean_advantage(tau, density, corrupted) >= tau**2 / 8.0 - 1e-12
    assert centred_mean_advantage(1.0, density, 0.25 * density) == pytest.approx(0.25)


def test_the_length_is_attained_with_corruption() -> None:
    """100 records, κ = 1/2, 4 corrupted at −u with full weight: |z| = 0.92·τ − 0.08 = τ − (1 + τ)·0.04/0.5."""
    tau, density, n = 0.3, 0.5, 100
    signed = np.array([[-1.0]] * 4 + [[tau]] * 96)
    weights = np.array([2.0 / n] * 4 + [0.92 / 96] * 96)
    assert weights.max() <= 1.0 / (density * n)
    assert float(weights @ signed[:, 0]) == pytest.approx(centred_mean_length(tau, density, 0.04))
    assert centred_mean_length(tau, density, 0.04) == pytest.approx(0.196)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0), st.floats(0.1, 1.0), st.integers(1, 6))
def test_the_centred_mean_is_long_enough(seed: int, tau: float, density: float, dimension: int) -> None:
    """Random records with margin τ, the worst of them corrupted, under weightings that favour those."""
    rng, n = np.random.default_rng(seed), 60
    corrupted = math.floor(0.25 * density * tau * n)
    along = rng.uniform(tau, 1.0, n)
    across = rng.normal(size=(n, dimension))
    across *= (np.sqrt(1.0 - along**2) / np.linalg.norm(across, axis=1))[:, None]
    signed = np.column_stack([along, across])
    signed[:corrupted] *= -1.0
    logs = rng.normal(0.0, 2.0, size=(n,)) + np.where(np.arange(n) < corrupted, 5.0, 0.0)
    weights = capped_scaling(logs, np.ones(n, dtype=np.intp), density) / (density * n)
    z = weights @ signed
    length = float(np.linalg.norm(z))
    assert length >= centred_mean_length(tau, density, corrupted / n) - 1e-9
    assert advantage(weights, signed, z / length) >= centred_mean_advantage(tau, density, corrupted / n) - 1e-9
    assert advantage(weights, signed, z) >= raw_centred_mean_advantage(tau, density, corrupted / n) - 1e-9


def noisy_advantages(length: float, sigma: float, dimension: int, draws: int) -> FloatArray:
    """z·ẑ/(2|ẑ|) for z = length·e₁: exact draws of what the noise does along and across z."""
    rng = np.random.default_rng(dimension)
    along = length + sigma * rng.standard_normal(draws)
    across = sigma * np.sqrt(rng.chisquare(dimension - 1, draws)) if dimension > 1 else np.zeros(draws)
    return np.asarray(0.5 * length * along / np.hypot(along, across))


@pytest.mark.parametrize(
    ("length", "sigma", "dimension"), [(0.5, 0.05, 1), (0.5, 0.1, 2), (0.3, 0.05, 30), (0.2, 0.02, 5000), (1.0, 0.2, 3)]
)
@pytest.mark.parametrize("failure", [0.3, 0.05])
def test_noise_leaves_the_advantage_that_is_promised(
    length: float, sigma: float, dimension: int, failure: float
) -> None:
    """Fails in at most a share ξ of 20,000 draws, but for chance of one in a million."""
    draws = 20_000
    found = noisy_advantages(length, sigma, dimension, draws)
    promised = noisy_centred_mean_advantage(length, sigma, dimension, failure)
    assert np.count_nonzero(found < promised) <= binom.isf(1e-6, draws, failure)
    assert promised > 0.8 * np.quantile(found, failure)  # and is not much less than what there is


def test_noise_costs_more_in_more_dimensions() -> None:
    """σ√d = 2|z|: less than half of |z|/2 is left, where 003, Theorem 27.2 takes off σ·√ln(1/ξ) whatever d is.

    And ẑ·x leaves [−1, 1]: |ẑ| is about 1.1 there, so the paper's hypothesis is not one.
    """
    length, dimension = 0.5, 10_000
    sigma = 0.01
    found = noisy_advantages(length, sigma, dimension, 2_000)
    dimension_free = 0.5 * (length - sigma * math.sqrt(2.0 * math.log(1e6)))
    assert dimension_free > 0.22
    assert found.max() < 0.13
    assert 0.1 < noisy_centred_mean_advantage(length, sigma, dimension, 0.05) < 0.5 * length / math.sqrt(5.0)
    assert length**2 + chi2.isf(0.999, dimension - 1) * sigma**2 > 1.05**2


def test_without_dimensions_across_the_direction_is_right() -> None:
    assert noisy_centred_mean_advantage(0.5, 0.1, 1, 0.01) == 0.25
    # d = 2 at ξ = 0.19, so each tail is 0.1: along 0.5 − 0.1·1.2815516, across 0.1·1.6448536
    along, across = 0.5 - 0.1 * 1.2815515655446004, 0.1 * 1.6448536269514722
    found = noisy_centred_mean_advantage(0.5, 0.1, 2, 0.19)
    assert found == pytest.approx(0.25 * along / math.sqrt(along**2 + across**2), rel=1e-9)


@pytest.mark.parametrize("constant", [1.0, math.sqrt(2.0), 4.0])
def test_lemma_29_as_printed_is_false_in_many_dimensions(constant: float) -> None:
    """|ν| <= τ/8 = cσ√ln(3T/β) is claimed but for β/(3T); with d = 4c²·ln(3T/β) it fails nearly always."""
    tau, beta, kappa = 0.5, 0.1, 0.1
    log_term = math.log(3072.0 * math.log(1.0 / kappa) / (beta * tau**2))
    dimension = math.ceil(4.0 * constant**2 * log_term)
    assert chi2.sf(constant**2 * log_term, dimension) > 0.999


@pytest.mark.parametrize("dimension", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("failure", [0.9, 0.1, 1e-9])
def test_the_average_of_noise_is_as_short_as_promised(dimension: int, failure: float) -> None:
    sigma, rounds = 0.7, 40
    noise = averaged_length_bound(sigma, dimension, rounds, failure) - 1.0
    assert chi2.sf((noise / sigma) ** 2 * rounds, dimension) <= failure


def test_hand_computed_values() -> None:
    # 1 + 0.1·(√100 + √(2 ln(e^8)))/√25 = 1 + 0.1·14/5
    assert averaged_length_bound(0.1, 100, 25, math.exp(-8.0)) == pytest.approx(1.28)
    assert fat_shattering_bound(0.1) == pytest.approx(100.0)
    assert fat_shattering_bound(0.5, length=2.0) == pytest.approx(16.0)  # 003's 4/γ²
    rate = halfspace_rate(0.5, math.exp(-2.0), math.exp(-3.0), 2.0, math.exp(-8.0))
    # √(2·8·(ln 2 + 3 + 2 ln 2))/(2·e^−2·0.25), (2 + ln 2)·2/(e^−4·0.25), 3/(e^−2·0.5)
    assert rate.privacy == pytest.approx(math.sqrt(16.0 * (3.0 + 3.0 * math.log(2.0))) * 2.0 * math.exp(2.0))
    assert rate.accuracy == pytest.approx((2.0 + math.log(2.0)) * 8.0 * math.exp(4.0))
    assert rate.label_noise == pytest.approx(6.0 * math.exp(2.0))


def test_fat_shattering_is_attained_by_orthogonal_vectors() -> None:
    """e₁ … e_k are γ-shattered by |w| <= B exactly for k <= B²/γ²: w = γ·Σ bᵢeᵢ is the shortest, of length γ√k."""
    gamma, length = 0.25, 1.5
    most = math.floor(fat_shattering_bound(gamma, length))
    assert most == 36
    assert gamma * math.sqrt(most) <= length < gamma * math.sqrt(most + 1)


def test_theorem_30s_accuracy_term_is_the_one_that_theorem_1_drops() -> None:
    """At ε = 1, α = 0.01, τ = 0.1 it is 132 times the privacy term, and it stays when ε grows without end."""
    rate = halfspace_rate(0.1, 0.01, 0.05, 1.0, 1e-6)
    assert rate.accuracy == pytest.approx(132.0 * rate.privacy, rel=0.01)
    free = halfspace_rate(0.1, 0.01, 0.05, 1e9, 1e-6)
    assert free.privacy < 1.0 < 1e6 < free.accuracy == rate.accuracy


CASES = [
    (0.5, 0.1, 0.1, 1.0, 1e-6, 0.03, 50),
    (0.2, 0.3, 0.05, 0.002, 1e-9, 0.01, 10),
    (0.9, 1.0, 0.5, 5.0, 0.1, 0.1, 2),
]


@pytest.mark.parametrize(("tau", "error", "failure", "epsilon", "delta", "sigma", "dimension"), CASES)
def test_the_sample_size_adds_up(
    tau: float, error: float, failure: float, epsilon: float, delta: float, sigma: float, dimension: int
) -> None:
    """Each step of 003, Theorem 33 with the corrected constants, at the n that is returned."""
    found, density = halfspace_sample_size(tau, error, failure, epsilon, delta, sigma, dimension), error / 4.0
    n, rounds = found.records, found.rounds
    # Flips: at rate ατ/32 at most ατ/16 of the labels but for β/4; that is η = κτ/4.
    for size in (found.label_noise, n):
        assert binom.sf(math.ceil(error * tau / 16.0 * size) - 1, size, error * tau / 32.0) <= failure / 4.0
    assert found.label_noise == math.ceil(96.0 * math.log(4.0 / failure) / (error * tau))  # 003, Claim 2
    # A bad round: β/2 for all of them.
    length = centred_mean_length(tau, density, error * tau / 16.0)
    each = noisy_centred_mean_advantage(length, sigma, dimension, failure / (2.0 * rounds))
    assert each >= found.advantage - 1e-15
    assert rounds_for_margin(found.advantage, density) <= rounds
    # Privacy: T releases of GDP(2/(κnσ)); one record fewer is not enough.
    budget = transfer_budget(epsilon, delta, error, failure)
    per_record = 2.0 * math.sqrt(rounds) / (density * sigma)
    assert gaussian.delta(per_record / n, budget.epsilon) <= budget.delta
    assert gaussian.delta(per_record / (found.privacy - 1), budget.epsilon) >= budget.delta * (1.0 - 1e-6)
    # New data: κ for the margin and ατ/16 for the flips, then the transfer.
    training = density + error * tau / 16.0
    bound = private_error_bound(training, 0.75 * failure, budget.epsilon, budget.delta, n)
    assert bound.error <= error * (1.0 + 1e-12)
    assert bound.failure <= failure * (1.0 + 1e-12)


def test_more_dimensions_take_more_rounds() -> None:
    """The printed sample size does not depend on d; for a fixed σ the true one does."""
    few, many = (halfspace_sample_size(0.5, 0.1, 0.1, 1.0, 1e-6, 0.03, d) for d in (2, 2000))
    assert many.rounds > 4 * few.rounds
    assert many.privacy > 2 * few.privacy


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: centred_mean_length(0.0, 0.5), r"\(0, 1\]"),
    (lambda: centred_mean_length(0.5, 1.5), r"\(0, 1\]"),
    (lambda: centred_mean_length(0.5, 0.5, -0.1), "non-negative"),
    (lambda: centred_mean_length(0.5, 0.5, math.nan), "non-negative"),
    (lambda: centred_mean_length(0.5, 0.5, 0.2), "leaves no margin"),
    (lambda: noisy_centred_mean_advantage(1.1, 0.1, 5, 0.1), r"\(0, 1\]"),
    (lambda: noisy_centred_mean_advantage(0.5, 0.0, 5, 0.1), "positive"),
    (lambda: noisy_centred_mean_advantage(0.5, 0.1, 0, 0.1), "whole number"),
    (lambda: noisy_centred_mean_advantage(0.5, 0.1, 5, 0.0), r"\(0, 1\)"),
    (lambda: noisy_centred_mean_advantage(0.1, 0.1, 5, 0.1), "too much noise"),
    (lambda: averaged_length_bound(0.1, 5, 0, 0.1), "whole number"),
    (lambda: averaged_length_bound(0.1, 5, 5, 1.0), r"\(0, 1\)"),
    (lambda: fat_shattering_bound(0.0), "positive"),
    (lambda: halfspace_rate(0.5, 0.5, 0.1, 1.0, 0.1), "1/e"),
    (lambda: halfspace_rate(0.5, 0.1, 0.1, 0.0, 0.1), "positive"),
    (lambda: halfspace_sample_size(0.1, 0.1, 0.1, 1.0, 1e-6, 0.1, 5), "too much noise"),
    (lambda: halfspace_sample_size(0.5, 0.0, 0.1, 1.0, 1e-6, 0.01, 5), r"\(0, 1\]"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_proved_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
