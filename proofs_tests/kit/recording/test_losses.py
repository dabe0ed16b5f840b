"""Exact losses of single releases, and of several, against quadrature and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import integrate, stats

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP, Unbounded, UnsupportedCost
from accountant.costs import gaussian
from accountant.costs.curves import laplace_epsilon
from proofs_tests.harness.recording.calls import Call, Law
from proofs_tests.harness.recording.losses import (
    Certain,
    Loss,
    Mapped,
    Shifted,
    against,
    bounded_cells,
    density,
    noised,
)

LAWS: dict[Law, object] = {
    "laplace": stats.laplace,
    "gaussian": stats.norm,
    "gumbel": stats.gumbel_r,
    "exponential": stats.expon,
}


@pytest.mark.parametrize("law", LAWS)
def test_densities_are_those_of_scipy(law: Law) -> None:
    points = np.linspace(-3.0, 5.0, 33)
    expected = LAWS[law].logpdf(points, 0.7, 1.3)  # type: ignore[attr-defined]  # a law of scipy
    np.testing.assert_allclose(density(law, points, 0.7, 1.3), expected, rtol=1e-12)


def test_whole_numbers_and_bounded_noise_have_chances_that_sum_to_1() -> None:
    whole = density("discrete laplace", np.arange(-400.0, 401.0), 3.0, 2.5)
    assert math.fsum(np.exp(whole)) == pytest.approx(1.0, rel=1e-12)
    assert density("discrete laplace", np.array([0.5]), 3.0, 2.5)[0] == -math.inf
    total, _ = integrate.quad(
        lambda x: math.exp(density("bounded laplace", np.array(x), 0.2, 0.6, (0.0, 1.0))), 0.0, 1.0, points=[0.2]
    )
    assert total == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(ValueError, match="no density"):
        density("noisy max", np.zeros(1), 0.0, 1.0)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.05, 3.0))
@example(0.0, 0.9999999999999999, 2.0)
def test_cells_of_bounded_noise_lose_what_its_ends_lose(value: float, other: float, scale: float) -> None:
    span = (0.0, 1.0)
    calls = [
        Call(1, "", "release", "bounded laplace", "", np.array(each), np.array(scale), span=span)
        for each in (value, other)
    ]
    before, after = (bounded_cells(call, (calls[0], calls[1])) for call in calls)
    found = float(np.max(np.abs(before - after)))
    ends = np.array([0.0, 1.0, value, other])
    seen = density("bounded laplace", ends, value, scale, span) - density("bounded laplace", ends, other, scale, span)
    exact = float(np.max(np.abs(seen)))
    assert exact - 5e-5 / scale <= found <= exact + 1e-10


@pytest.mark.parametrize(
    ("losses", "claimed", "expected"),
    [
        ([Shifted("laplace", 0.4), Shifted("laplace", 0.3)], PureDP(1.0), 0.7),
        ([Shifted("gaussian", 0.3), Shifted("gaussian", 0.4)], GDP(1.0), 0.5),
        ([Shifted("gaussian", 0.3), Shifted("gaussian", 0.4)], ZCDP(1.0), 0.125),
        ([Shifted("gaussian", 0.5)], ApproxDP(1.0, 1e-5), gaussian.epsilon(0.5, 1e-5)),
        ([Shifted("laplace", 0.8)], ApproxDP(1.0, 0.01), laplace_epsilon(0.8, 0.01)),
        ([Shifted("laplace", 0.8)], LaplaceDP(1.0), 0.8),
        ([Shifted("laplace", 0.8)], BoundedRange(1.0), 1.6),
        ([Mapped(PureDP(0.3)), Shifted("laplace", 0.8)], PureDP(1.0), 1.1),
        ([Certain()], PureDP(1.0), math.inf),
        ([Shifted("gaussian", 0.1)], PureDP(1.0), math.inf),
        ([], GDP(1.0), 0.0),
    ],
)
def test_what_releases_lose_together(losses: list[Loss], claimed: Cost, expected: float) -> None:
    assert against(losses, claimed)[2] == pytest.approx(expected, rel=1e-6)


@given(st.lists(st.floats(0.05, 1.0), min_size=1, max_size=4), st.sampled_from([1e-6, 1e-3, 0.1]))
def test_cells_lose_no_more_than_the_truth_and_hardly_less(moves: list[float], delta: float) -> None:
    """A choice of one outcome beside Gaussian releases forces cells, where the truth has a closed form."""
    losses: list[Loss] = [*(Shifted("gaussian", move) for move in moves), Mapped(PureDP(1e-12))]
    exact = gaussian.epsilon(math.hypot(*moves), delta)
    found = against(losses, ApproxDP(1.0, delta))[2]
    assert exact * 0.97 - 1e-3 <= found <= exact + 1e-9


def test_noise_of_another_scale_is_told_apart_by_its_tails() -> None:
    assert against([noised("laplace", 0.0, 1.0, 1.1)], PureDP(1.0))[2] == math.inf
    found = against([noised("gaussian", 0.0, 1.0, 1.5)], ApproxDP(1.0, 1e-3))[2]

    def above(epsilon: float, one: float, other: float) -> float:
        def excess(x: float) -> float:
            return max(0.0, float(stats.norm.pdf(x, scale=one) - math.exp(epsilon) * stats.norm.pdf(x, scale=other)))

        return float(integrate.quad(excess, -15.0, 15.0, limit=400)[0])

    assert max(above(found, 1.0, 1.5), above(found, 1.5, 1.0)) == pytest.approx(1e-3, rel=0.02)


@pytest.mark.parametrize(("change", "scale"), [(1.0, 0.0), (math.nan, 1.0), (math.inf, 1.0)])
def test_what_has_no_noise_is_told_apart(change: float, scale: float) -> None:
    assert noised("laplace", change, scale, scale) == Certain()


def test_a_part_of_a_step_between_whole_numbers_is_told_apart() -> None:
    assert noised("discrete laplace", 0.5, 1.0, 1.0) == Certain()
    assert against([noised("discrete laplace", 3.0, 2.0, 2.0)], PureDP(1.0))[2] == pytest.approx(1.5)


def test_a_claim_of_nothing_is_refused() -> None:
    with pytest.raises(UnsupportedCost, match="claims nothing"):
        against([], Unbounded())
