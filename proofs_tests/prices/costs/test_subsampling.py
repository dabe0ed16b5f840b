"""The curve of a Gaussian on a Poisson sample, against integration of its two densities in many digits."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mp, mpf

from accountant import GDP, PureDP, SubsampledGaussian
from accountant.costs import curves, gaussian, subsampling
from accountant.costs.subsampling import DIRECTIONS, Direction

CASES = [(0.5, 0.1), (1.0, 0.01), (1.25, 0.001), (3.0, 0.3), (1.0, 0.999), (0.02, 0.5), (6.0, 1e-6)]
LOSSES = (-0.5, -0.01, -1e-4, 0.0, 1e-4, 0.003, 0.05, 0.4, 2.0)


def integrated(mu: float, rate: float, loss: float, direction: Direction) -> mpf:
    """E(P − e^x·Q)⁺ by its definition: quadrature of the densities where the first is larger."""
    with mp.workdps(40):
        shift, q, x = mpf(mu), mpf(rate), mpf(loss)

        def plain(z: mpf) -> mpf:
            return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)

        def mixed(z: mpf) -> mpf:
            return (1 - q) * plain(z) + q * plain(z - shift)

        # Their ratio 1 − q + q·e^{μz − μ²/2} rises in z, and is e^{±x} at one z at most.
        level = (mp.exp(x if direction == "remove" else -x) - 1 + q) / q
        if level <= 0:  # everywhere above, or nowhere
            return 1 - mp.exp(x) if direction == "remove" else mpf(0)
        edge = shift / 2 + mp.log(level) / shift
        first, second = (mixed, plain) if direction == "remove" else (plain, mixed)
        low, high = (max(edge, -40), max(edge, 0) + 48) if direction == "remove" else (min(edge, 0) - 48, min(edge, 48))
        ends = [low + (high - low) * k / 16 for k in range(17)]
        return mp.quad(lambda z: first(z) - mp.exp(x) * second(z), ends)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("mu", "rate"), CASES)
def test_the_profile_is_the_integral_of_the_densities(mu: float, rate: float, direction: Direction) -> None:
    found = subsampling.profile(mu, rate, np.array(LOSSES), direction)
    for loss, delta in zip(LOSSES, found, strict=True):
        true = integrated(mu, rate, loss, direction)
        # Below the level at which the Gaussian's own curve has digits, which no δ that is asked for comes near.
        assert abs(mpf(float(delta)) - true) <= 1e-12 * (1 + 1 / mu) * true + mpf("1e-25"), (loss, delta, true)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize(("mu", "rate"), CASES)
def test_one_release_costs_the_worse_direction_and_no_less(mu: float, rate: float, delta: float) -> None:
    epsilon = SubsampledGaussian(mu, rate).to_approx(delta=delta).epsilon
    worst = max(integrated(mu, rate, epsilon, direction) for direction in DIRECTIONS)
    assert worst <= delta
    if epsilon > 1e-12:
        assert max(integrated(mu, rate, 0.999999 * epsilon, way) for way in DIRECTIONS) > delta
        # nine tenths of the price are refuted by the pair itself, as is the price of nine tenths of μ or of the rate
        assert integrated(mu, rate, 0.9 * epsilon, "remove") > delta
        for less in (SubsampledGaussian(0.9 * mu, rate), SubsampledGaussian(mu, 0.9 * rate)):
            assert integrated(mu, rate, less.to_approx(delta=delta).epsilon, "remove") > delta


@given(st.floats(1e-3, 8.0), st.floats(1e-6, 1.0), st.floats(1e-3, 8.0), st.floats(1e-6, 1.0), st.floats(1e-12, 0.1))
@example(1.0, 1.0 - 2.0**-53, 1.0, 0.5, 0.0625)
def test_more_noise_and_smaller_samples_never_cost_more(
    mu: float, rate: float, other_mu: float, other_rate: float, delta: float
) -> None:
    less = SubsampledGaussian(min(mu, other_mu), min(rate, other_rate))
    more = SubsampledGaussian(max(mu, other_mu), max(rate, other_rate))
    assert less <= more
    cheap, dear = less.to_approx(delta=delta).epsilon, more.to_approx(delta=delta).epsilon
    assert cheap <= dear * (1 + 1e-9) + 2 * curves.ABSOLUTE
    assert dear <= GDP(more.mu).to_approx(delta=delta).epsilon


@given(st.floats(0.0, 50.0), st.floats(0.0, 1.0), st.floats(1e-12, 0.5))
def test_a_sample_of_everybody_is_no_sample_and_one_of_nobody_costs_nothing(
    mu: float, rate: float, delta: float
) -> None:
    assert SubsampledGaussian(mu, 1.0).to_approx(delta=delta) == GDP(mu).to_approx(delta=delta)
    assert SubsampledGaussian(mu, 0.0).to_approx(delta=delta).epsilon == 0.0
    assert SubsampledGaussian(mu, 0.0).reduced == PureDP(0.0) == SubsampledGaussian(0.0, rate).reduced
    assert SubsampledGaussian(mu, 0.0).to_zcdp().rho == 0.0


def test_no_smaller_rho_holds_than_without_the_sampling() -> None:
    """D_α(M‖N) by quadrature: at most α·μ²/2, and near it at large orders."""
    mu, rate = 0.7, 0.05
    rho = SubsampledGaussian(mu, rate).to_zcdp().rho
    assert rho == GDP(mu).to_zcdp().rho

    def divergence(order: int) -> mpf:
        # ∫ M^α N^{1 − α} = Σ (α choose k) (1 − q)^{α − k} q^k e^{k(k − 1)μ²/2}, by the binomial theorem
        with mp.workdps(40):
            total = mp.fsum(
                mp.binomial(order, k)
                * mpf(1 - rate) ** (order - k)
                * mpf(rate) ** k
                * mp.exp(k * (k - 1) * mpf(mu) ** 2 / 2)
                for k in range(order + 1)
            )
            return mp.log(total) / (order - 1)

    assert all(divergence(order) <= order * rho for order in (2, 3, 10, 100))
    assert divergence(400) > 0.95 * 400 * rho


def test_noise_multipliers_round_towards_more_loss() -> None:
    assert SubsampledGaussian.of_noise(2.0, 0.5) == SubsampledGaussian(0.5, 0.5)
    for noise in (0.8, 1.1, 3.0, 1e-3):
        assert mpf(SubsampledGaussian.of_noise(noise, 0.5).mu) * mpf(noise) >= 1
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="positive"):
            SubsampledGaussian.of_noise(wrong, 0.5)
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            SubsampledGaussian(1.0, wrong)


def test_losses_beyond_floats_are_bounded_by_the_gaussian() -> None:
    assert subsampling.epsilon(60.0, 0.5, 1e-6) <= gaussian.epsilon(60.0, 2e-6)
    assert subsampling.span(60.0, 0.5, 1e-12, "remove") == (-math.inf, math.inf)


@pytest.mark.parametrize("mu", [0.1, 10.0, 37.0, 100.0])
@pytest.mark.parametrize("rate", [5e-324, 1e-310, 1e-300, 1e-291, 1e-289, 1e-200])
def test_rates_at_the_end_of_the_floats_give_no_negative_and_no_smaller_epsilon(mu: float, rate: float) -> None:
    """At or above ln(1 + q(e^{ε′} − 1)); below 1e-290 as if there were no sampling."""
    delta = rate * 0.0625
    if delta:
        found = subsampling.epsilon(mu, rate, delta)
        whole = gaussian.epsilon(mu, 0.0625)
        with mp.workdps(400):
            truth = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(whole)))
        assert 0.0 <= found <= whole * (1.0 + 1e-9)
        assert found >= truth * (1 - mp.mpf(10) ** -9)
        assert found == pytest.approx(whole, rel=1e-9) or rate >= subsampling.SMALLEST_RATE
