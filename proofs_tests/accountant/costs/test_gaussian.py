"""The Gaussian privacy curve: against mpmath, against dp-accounting, and its inverses on the safe side."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from hypothesis import given
from hypothesis import strategies as st

from accountant import GDP, ZCDP, ApproxDP, Plan
from accountant.costs import gaussian
from accountant.costs.curves import zcdp_epsilon

mus = st.floats(1e-3, 30.0)


@given(st.floats(-200.0, -3.0), st.floats(0.0, 30.0))
def test_tiny_shifts_are_never_free(log_mu: float, z: float) -> None:
    """μ down to 1e-200, at ε = z·μ: where a difference of Mills ratios would be 0, the tangent is above δ."""
    mu = 10.0**log_mu
    exact = exact_delta(mu, z * mu)
    assert exact <= gaussian.delta(mu, z * mu)
    if exact > 1e-250:
        assert gaussian.delta(mu, z * mu) <= exact * (1 + 1e-5 * (1 + z) ** 2)


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60 + 2 * max(0, round(-math.log10(mu)))):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@given(mus, st.floats(0.0, 60.0))
def test_delta_is_the_closed_form_rounded_up(mu: float, epsilon: float) -> None:
    exact = float(exact_delta(mu, epsilon))
    found = gaussian.delta(mu, epsilon)
    assert exact <= found <= exact * (1.0 + 1e-12 + 1e-12 / mu) + 1e-290


@given(mus, st.floats(-40.0, 40.0))
def test_the_profile_keeps_its_digits_on_both_sides(mu: float, loss: float) -> None:
    found = float(gaussian.profile(mu, np.array([loss]))[0])
    assert found == pytest.approx(float(exact_delta(mu, loss)), rel=1e-9 * (1.0 + 1.0 / mu), abs=1e-15)


@given(st.floats(-40.0, -6.1), st.floats(-20.0, 20.0))
def test_the_profile_of_a_tiny_shift_is_above_it_wherever_it_is_read(log_mu: float, z: float) -> None:
    """Loss distributions and tuning read the profile itself; at μ = 1e-16 it once was 0."""
    mu = 10.0**log_mu
    found, exact = float(gaussian.profile(mu, np.array([z * mu]))[0]), exact_delta(mu, z * mu)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-5 * (1 + z**2)) + mu * 1e-8


@pytest.mark.parametrize("mu", [1e-7, 1e-13, 1e-16, 1e-30])
def test_the_convolution_of_tiny_shifts_is_never_below_their_exact_price(mu: float) -> None:
    price = Plan.of(GDP(mu), 10).price(1e-2 * mu)
    assert price.routes.get("pld", math.inf) >= price.routes["gdp"] * (1 - 1e-6)


@given(mus, st.floats(1e-15, 0.5))
def test_epsilon_inverts_delta_and_never_flatters(mu: float, delta: float) -> None:
    epsilon = gaussian.epsilon(mu, delta)
    assert float(exact_delta(mu, epsilon)) <= delta
    if epsilon > 1e-6:
        assert float(exact_delta(mu, epsilon * (1 - 1e-6))) > delta


@given(st.floats(1e-3, 50.0), st.floats(1e-15, 0.5))
def test_calibration_never_ends_above_its_target_and_a_tenth_more_would(epsilon: float, delta: float) -> None:
    mu = gaussian.mu(epsilon, delta)
    assert float(exact_delta(mu, epsilon)) <= delta
    assert float(exact_delta(mu * 1.0001, epsilon)) > delta
    assert GDP(mu * 1.1).to_approx(delta=delta).epsilon > epsilon


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_agrees_with_dp_accounting(sigma: float, epsilon: float) -> None:
    theirs = GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon)
    assert gaussian.delta(1.0 / sigma, epsilon) == pytest.approx(theirs, rel=1e-9, abs=1e-15)
    assert gaussian.delta(1.0 / sigma, epsilon) >= theirs * (1 - 1e-12) - 1e-16


def test_the_numbers_of_the_claims() -> None:
    """μ = 0.5 at δ = 1e-6: ε 2.254 on the exact curve, 2.419 through ρ; and the classical formula's true δ."""
    assert GDP(0.5).to_approx(delta=1e-6).epsilon == pytest.approx(2.254, abs=5e-4)
    assert zcdp_epsilon(GDP(0.5).to_zcdp().rho, 1e-6) == pytest.approx(2.419, abs=5e-4)
    for epsilon, delta, true in ((8.0, 1e-3, 1.31e-3), (10.0, 1e-5, 2.27e-5)):
        sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        assert gaussian.delta(1.0 / sigma, epsilon) == pytest.approx(true, rel=5e-3)


def test_the_classical_formula_is_kept_to_the_range_it_was_proved_for() -> None:
    """[classical-gaussian]"""
    for delta in (1e-3, 1e-6):
        for epsilon in (0.01, 0.5, 0.999):
            sigma = gaussian.classical_sigma(epsilon, delta, 2.0)
            assert gaussian.delta(2.0 / sigma, epsilon) <= delta
            assert sigma == pytest.approx(math.sqrt(2.0 * math.log(1.25 / delta)) * 2.0 / epsilon, rel=1e-11)
    for bad in (1.0, 8.0, 0.0, math.nan, -1.0):
        with pytest.raises(ValueError, match=r"0 < epsilon < 1 only.*gaussian\.mu"):
            gaussian.classical_sigma(bad, 1e-5, 1.0)


def test_edges() -> None:
    assert GDP(0.0).to_approx(delta=1e-6) == ApproxDP(0.0, 1e-6)
    assert GDP(0.0).to_zcdp() == ZCDP(0.0)
    assert gaussian.epsilon(1e-9, 0.1) == 0.0
    assert gaussian.delta(1e-300, 1.0) <= 1e-290
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            gaussian.epsilon(1.0, bad)
    for wrong in (math.nan, math.inf, -1.0):
        with pytest.raises(ValueError, match="non-negative"):
            GDP(wrong)
    assert GDP(0.1) <= GDP(0.2)
