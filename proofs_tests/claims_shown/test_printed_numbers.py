"""Numbers of the claims that no other test recomputes."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from accountant import BoundedRange, PureDP
from accountant.arrays import FloatArray
from boosting.projection import capped_scaling
from mechanisms import NoisyMaxChoice
from mechanisms.rados.column_distribution import EmptyWindow, RadoColumnLaw, beta_at


def test_the_joint_distance_is_the_larger_weight() -> None:
    """[L0] Random pairs, weights over e^20: |TV − max| < 1e-9, and the index distance is |μ(i) − μ′(i)|/(κn)."""
    rng = np.random.default_rng(0)
    for _ in range(3000):
        n, density = int(rng.integers(2, 15)), float(rng.uniform(0.1, 1.0))
        logs = rng.normal(0.0, rng.choice([0.5, 3.0, 10.0]), n)
        others = np.append(rng.normal(0.0, 10.0), logs[1:])
        one, other = (
            capped_scaling(each, np.ones(n, dtype=np.intp), density) / (density * n) for each in (logs, others)
        )
        rest = float(np.sum(np.abs(one[1:] - other[1:])))
        assert abs(0.5 * (one[0] + other[0] + rest) - max(one[0], other[0])) < 1e-9
        assert abs(0.5 * (abs(one[0] - other[0]) + rest) - abs(one[0] - other[0])) < 1e-9
    # It says something only if κn > 1: otherwise one record can carry everything.
    assert capped_scaling(np.array([9.0, 0.0, 0.0]), np.ones(3, dtype=np.intp), 0.3)[0] > 0.8


def randomized_response(order: FloatArray, epsilon: float) -> FloatArray:
    """D_α/α of one randomized response."""
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    moments = np.logaddexp(
        order * math.log(p) + (1 - order) * math.log(q), order * math.log(q) + (1 - order) * math.log(p)
    )
    return np.asarray(moments / (order - 1) / order)


@pytest.mark.parametrize(("epsilon", "rho"), [(1.0, 0.46212), (2.0, 1.5232)])
def test_pure_dp_has_rho_epsilon_tanh(epsilon: float, rho: float) -> None:
    """[L3] ε·tanh(ε/2), the supremum over α in (1, 317], at α → 1."""
    assert epsilon * math.tanh(epsilon / 2) == pytest.approx(rho, rel=2e-5)
    assert PureDP(epsilon).to_zcdp().rho == pytest.approx(rho, rel=2e-5)
    found = randomized_response(np.geomspace(1.0001, 317.0, 400), epsilon)
    assert rho * 0.999 < np.max(found) <= rho * (1 + 2e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_profile_of_bounded_range_at_zero(epsilon: float) -> None:
    """[L4] tanh(ε/4) at x = 0, and the density e^{x/2} on [−ε, ε] has exactly that profile."""
    closed = (math.exp(epsilon / 2) - 1) ** 2 / math.expm1(epsilon)
    assert closed == pytest.approx(math.tanh(epsilon / 4))
    assert BoundedRange(epsilon).to_approx(delta=math.tanh(epsilon / 4) * 1.0001).epsilon < 1e-3 * epsilon
    grid = (np.arange(200_000) + 0.5) / 100_000 * epsilon - epsilon
    law = np.exp(grid / 2)
    law /= law.sum()
    for loss in (0.0, 0.3 * epsilon, 0.9 * epsilon):
        profile = (math.exp(epsilon / 2) - math.exp(loss / 2)) ** 2 / math.expm1(epsilon)
        assert np.sum(law * np.maximum(0.0, 1 - np.exp(loss - grid))) == pytest.approx(profile, rel=1e-4)


def remark_16(k: int, epsilon: FloatArray, delta: FloatArray) -> FloatArray:
    """True δ of k-fold randomized response at the claimed ε̃, over δ; shape (epsilons, deltas)."""
    heads = np.arange(k + 1)
    choose = gammaln(k + 1) - gammaln(heads + 1) - gammaln(k - heads + 1)
    e = epsilon[:, None]
    logs = choose - heads * np.log1p(np.exp(-e)) - (k - heads) * np.log1p(np.exp(e))
    losses, claimed = (2 * heads - k) * e, k * e**2 + e * np.sqrt(k * np.log(1 / delta))
    excess = -np.expm1(np.minimum(0.0, claimed[:, :, None] - losses[:, None, :]))
    return np.asarray(np.sum(np.exp(logs)[:, None, :] * excess, axis=2) / delta)


@pytest.mark.parametrize(
    ("k", "epsilon", "delta", "claimed", "true"),
    [
        (24, 0.02, 1e-8, 0.430122, 2.118283e-8),
        (100, 0.01, 1e-8, 0.439193, 9.5657e-8),
        (64, 0.01, 1e-10, 0.390282, 42e-10),
        (20, 0.036, 2.3e-8, 0.701105, 2.550264e-8),
    ],
)
def test_remark_16_in_numbers(k: int, epsilon: float, delta: float, claimed: float, true: float) -> None:
    """[001-Remark16] Exact δ of randomized response at the ε̃ of the remark."""
    assert k * epsilon**2 + epsilon * math.sqrt(k * math.log(1 / delta)) == pytest.approx(claimed, abs=1e-6)
    found = float(remark_16(k, np.array([epsilon]), np.array([delta]))[0, 0]) * delta
    assert found == pytest.approx(true, rel=3e-3 if k == 64 else 2e-6)


def test_remark_16_needs_twenty_rounds_to_fail() -> None:
    """[001-Remark16] On a grid of ε and δ: best ratio .862 at k = 19, above 1 at k = 20."""
    epsilon, delta = np.geomspace(1e-3, 3.0, 60), np.geomspace(1e-12, 0.3, 80)
    best = [float(remark_16(k, epsilon, delta).max()) for k in range(1, 21)]
    assert max(best[:18]) < 0.7 < best[18] < 1.0 < best[19]
    fine = remark_16(19, np.linspace(0.03, 0.05, 81), np.geomspace(1e-8, 1e-6, 200))
    assert fine.max() == pytest.approx(0.862, abs=5e-4)


@pytest.mark.parametrize(
    ("values", "moved", "width"),
    [([-0.11, -0.27, 0.26], [1], 1.13), ([0.28, 0.49, 0.13, 0.28, -0.26, 0.34], [2, 5], 1.17)],
)
def test_noisy_max_of_more_than_two_is_wider_than_its_range(
    values: list[float], moved: list[int], width: float
) -> None:
    """[noisy-max] 1.13·ηR at three candidates and 1.17·ηR at six."""
    kernel, shift = NoisyMaxChoice(1.0), np.zeros(len(values))
    shift[moved] = 0.3
    losses = kernel.log_probabilities(np.array(values) + shift) - kernel.log_probabilities(np.array(values))
    assert np.ptp(losses) / 0.3 == pytest.approx(width, abs=5e-3)


def test_the_window_of_a_thousand_records_is_empty_below_004() -> None:
    """[000-DP-FEAT] m = 1000: 2·ln(1 + 2/m) = .003996."""
    assert 2 * math.log1p(2 / 1000) == pytest.approx(0.003996, abs=5e-7)
    with pytest.raises(EmptyWindow):
        RadoColumnLaw.truncated(1000, beta_at(0.003995))
    assert RadoColumnLaw.truncated(1000, beta_at(0.003997)).acceptance > 0.0


@pytest.mark.parametrize("m", [10**4, 10**6])
def test_delta_is_o_of_1_over_m_only_above_sixteen_log_m(m: int) -> None:
    """[000-DP-FEAT] ε = m^−½: δ ≈ √(2/(πm)) up to e^{−1/32}; ε = 8/m: of order √(2/(πm))/P(window), that is, of 1.

    ε² = 16 ln(m)/m: m·δ tends to √(2/π), which is not o(1).
    """

    def delta(epsilon: float) -> float:
        return RadoColumnLaw.truncated(m, beta_at(epsilon)).boundary

    assert delta(m**-0.5) > 50 / m
    # The window of ε = m^−½ is ±√m/8, and the law is conditioned on it: its mass is about .197.
    assert delta(m**-0.5) * math.sqrt(math.pi * m / 2) == pytest.approx(math.exp(-1 / 32) / 0.197, rel=0.1)
    assert delta(40 / m) > 0.05
    assert m * delta(math.sqrt(16 * math.log(m) / m)) == pytest.approx(math.sqrt(2 / math.pi), rel=0.2)


def test_impurity_without_the_four_moves_by_at_most_zeta() -> None:
    """[001-Lem14] |w·q(1 − q) − w′·q′(1 − q′)| <= ζ: the reading without the 4 holds and is met."""
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(5000):
        one, other = (rng.dirichlet(np.full(3, rng.choice([0.05, 0.5, 2.0]))) for _ in range(2))
        share = float(rng.uniform(0.0, 1.0))
        other = share * one + (1 - share) * other
        moved = abs(one[0] * one[1] / (one[0] + one[1] + 1e-300) - other[0] * other[1] / (other[0] + other[1] + 1e-300))
        zeta = 0.5 * float(np.sum(np.abs(one - other)))
        assert moved <= zeta + 1e-12
        worst = max(worst, moved / zeta if zeta > 1e-9 else 0.0)
    assert worst > 0.9
