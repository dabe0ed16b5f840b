"""From privacy to new data: hand-computed values, exact tails, and the printed statements that are false."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from accountant import ZCDP
from accountant.costs import gaussian
from boosting.theory.generalisation import (
    ErrorBound,
    label_noise_sample_size,
    private_error_bound,
    sufficient_rho,
    transfer_budget,
    transfer_sample_size,
)


def test_hand_computed_values() -> None:
    # ln(4·0.04/1e-4)/0.04² = ln(1600)/0.0016 = 7.377758908…/0.0016 = 4611.099…
    assert transfer_sample_size(0.04, 1e-4) == 4612
    # ln(4000)/1e-4 = 8.294049640…e4
    assert transfer_sample_size(0.01, 1e-5) == 82_941
    # 0.1 + 18·0.01 and 0.05 + 1e-5/0.01
    bound = private_error_bound(0.1, 0.05, 0.01, 1e-5, 82_941)
    assert bound.error == pytest.approx(0.28)
    assert bound.failure == pytest.approx(0.051)
    assert private_error_bound(0.5, 1.0, 0.3, 0.07, 100) == ErrorBound(1.0, 1.0)  # 5.9 says no more than 1
    # α/36 = 0.0025 < ε, and 0.0025·0.1/4 = 6.25e-5 < δ; with ε = 0.001 it is ε that counts
    budget = transfer_budget(1.0, 1e-3, 0.09, 0.1)
    assert budget.epsilon == pytest.approx(0.0025)
    assert budget.delta == pytest.approx(6.25e-5)
    budget = transfer_budget(0.001, 1e-9, 0.09, 0.1)
    assert (budget.epsilon, budget.delta) == (0.001, 1e-9)
    # 1/(9·ln(1e6)) = 1/124.3398…; at ε = 100, δ = 1/e the condition ρ <= ln(1/δ) = 1 binds
    assert sufficient_rho(1.0, 1e-6) == pytest.approx(1.0 / (54.0 * math.log(10.0)))
    assert sufficient_rho(100.0, math.exp(-1.0)) == pytest.approx(1.0)
    # 003, Claim 2 at α = τ = 0.2, β = 0.1: 96·ln(40)/0.04 = 8853.3…; and Theorem 30's 24·ln(30)/(κτ), κ = 0.05
    assert label_noise_sample_size(0.2 * 0.2 / 32.0, 0.1 / 4.0) == math.ceil(96.0 * math.log(40.0) / 0.04) == 8854
    assert label_noise_sample_size(0.05 * 0.2 / 8.0, 0.1 / 3.0) == math.ceil(24.0 * math.log(30.0) / 0.01)


def test_theorem_23_as_printed_is_false() -> None:
    """κ = 1, one round, the weak learner that always returns +1 (0-DP), labels −1 with probability 0.1.

    Its training error is at most α = 0.0999 with probability 1 − β = 0.4956; its error on new data is 0.1 > α for
    sure. Printed: at most α with probability at least 1 − β − δ/ε = 0.493. Corrected: at most α + 18ε.
    """
    n, rate, alpha, epsilon, delta = 10_000, 0.1, 0.0999, 0.04, 1e-4
    met = float(binom.cdf(round(alpha * n), n, rate))
    assert met == pytest.approx(0.4956, abs=1e-3)
    assert n >= transfer_sample_size(epsilon, delta)
    assert met - delta / epsilon > 0.49
    assert rate > alpha
    assert private_error_bound(alpha, 1.0 - met, epsilon, delta, n).error >= rate


@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 0.01), (0.03, 1e-3), (0.025, 0.006)])
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_the_transfer_holds_for_a_query_that_ignores_the_sample(epsilon: float, delta: float, rate: float) -> None:
    n = transfer_sample_size(epsilon, delta)
    low, high = n * (rate - 18.0 * epsilon), n * (rate + 18.0 * epsilon)
    assert binom.cdf(math.floor(low), n, rate) + binom.sf(math.ceil(high) - 1, n, rate) <= delta / epsilon


def test_the_transfer_needs_queries_into_the_unit_interval() -> None:
    """003, Theorem 19 prints q: X → ℝ. q = 1000·x for a fair coin x moves 18ε = 0.72 away, nearly always."""
    epsilon, delta = 0.04, 1e-4
    n = transfer_sample_size(epsilon, delta)
    reach = 18.0 * epsilon / 1000.0 * n
    inside = binom.cdf(math.ceil(n / 2 + reach) - 1, n, 0.5) - binom.cdf(math.floor(n / 2 - reach), n, 0.5)
    assert 1.0 - inside > 0.9 > delta / epsilon


def test_theorem_28_as_printed_says_nothing() -> None:
    """ln(4/δ) stands outside the 1/n, so the bound is at least √ln 4 = 1.177 for every n and δ < 1.

    The theorem that it cites has it inside: `margin_error_bound`, see test_sample_sizes.py.
    """
    assert all(math.sqrt(math.log(4.0 / delta)) > 1.177 for delta in (1e-9, 0.05, 0.5, 0.999999))


@given(st.floats(1e-6, 3.0), st.floats(1e-9, 0.9), st.floats(0.01, 1.0), st.floats(0.001, 0.999))
def test_the_transfer_budget_meets_what_it_is_for(epsilon: float, delta: float, error: float, failure: float) -> None:
    budget = transfer_budget(epsilon, delta, error, failure)
    assert budget.epsilon <= epsilon
    assert budget.delta <= delta
    assert transfer_sample_size(budget.epsilon, budget.delta) >= 1
    least = transfer_sample_size(budget.epsilon, budget.delta)
    bound = private_error_bound(0.5 * error, 0.75 * failure, budget.epsilon, budget.delta, least)
    assert bound.error <= error * (1.0 + 1e-12)
    assert bound.failure <= failure * (1.0 + 1e-12)


def test_theorem_33s_delta_is_too_large_for_a_small_epsilon() -> None:
    """Printed: ε_T < φ and δ_T < φβ/4. With ε_T = φ/2 and δ_T near φβ/4 the failures add up to 5β/4."""
    phi, beta = 0.002, 0.1
    epsilon_t, delta_t = 0.5 * phi, 0.25 * phi * beta * (1.0 - 1e-9)
    assert beta / 4.0 + beta / 2.0 + delta_t / epsilon_t == pytest.approx(1.25 * beta)
    assert transfer_budget(epsilon_t, 0.5, 1.0, beta).delta / epsilon_t <= 0.25 * beta


@given(st.floats(1e-3, 200.0), st.floats(1e-12, 0.99))
def test_sufficient_rho_is_sufficient(epsilon: float, delta: float) -> None:
    rho = ZCDP(sufficient_rho(epsilon, delta))
    assert rho.to_approx_bun_steinke(delta=delta).epsilon <= epsilon * (1.0 + 1e-12)
    assert rho.to_approx(delta=delta).epsilon <= epsilon * (1.0 + 1e-12)


def test_claim_1_is_reversed_and_short_of_a_condition() -> None:
    """Gaussians, exactly. ε = 0.1 < 3√(ρ ln(1/δ)) with ρ = 1, δ = 1e-6: the true δ at 0.1 is 0.49.

    And ε = 30.1 > 3√(ρ ln(1/δ)) = 30 with ρ = 100, δ = 1/e: the true δ there is above 1 − 1e-6.
    """
    assert 3.0 * math.sqrt(math.log(1e6)) > 0.1
    assert gaussian.delta(math.sqrt(2.0), 0.1) > 0.48
    assert gaussian.delta(math.sqrt(200.0), 30.1) > 1.0 - 1e-6 > math.exp(-1.0)
    assert sufficient_rho(30.1, math.exp(-1.0)) <= 1.0


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.2, 0.4])
@pytest.mark.parametrize("failure", [0.2, 0.01, 1e-6])
def test_flipped_labels_stay_below_twice_their_rate(rate: float, failure: float) -> None:
    n = label_noise_sample_size(rate, failure)
    for size in (n, n + 1, 2 * n):
        assert binom.sf(math.ceil(2.0 * rate * size) - 1, size, rate) <= failure


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: transfer_sample_size(0.34, 1e-3), "1/3"),
    (lambda: transfer_sample_size(math.nan, 1e-3), "1/3"),
    (lambda: transfer_sample_size(0.1, 0.025), "epsilon/4"),
    (lambda: transfer_sample_size(0.1, 0.0), "epsilon/4"),
    (lambda: transfer_sample_size(1e-9, 1e-12), "records"),
    (lambda: private_error_bound(0.1, 0.0, 0.04, 1e-4, 4611), "at least 4612"),
    (lambda: private_error_bound(1.1, 0.0, 0.04, 1e-4, 5000), "training error"),
    (lambda: private_error_bound(0.1, math.nan, 0.04, 1e-4, 5000), "training error"),
    (lambda: transfer_budget(0.0, 0.1, 0.1, 0.1), "positive"),
    (lambda: transfer_budget(1.0, 1.0, 0.1, 0.1), r"\(0, 1\)"),
    (lambda: transfer_budget(1.0, 0.1, 0.0, 0.1), r"\(0, 1\]"),
    (lambda: transfer_budget(1.0, 0.1, 0.1, 1.0), r"\(0, 1\)"),
    (lambda: sufficient_rho(-1.0, 0.1), "positive"),
    (lambda: sufficient_rho(1.0, 0.0), r"\(0, 1\)"),
    (lambda: label_noise_sample_size(0.5, 0.1), "noise rate"),
    (lambda: label_noise_sample_size(math.nan, 0.1), "noise rate"),
    (lambda: label_noise_sample_size(0.1, 0.0), r"\(0, 1\)"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_proved_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
