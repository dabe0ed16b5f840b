"""000, Theorem 3 with its constants: enumerated, and 10 % less than either constant is found out."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import binom

from accountant.arrays import FloatArray
from boosting.rados.losses import log_exponential_loss, logistic_loss, logistic_rado_loss
from boosting.theory.rado_bounds import (
    certain_sampling_penalty,
    linear_structural_bound,
    log_sampling_constant,
    sampling_penalty,
    structural_bound,
    structural_penalty,
)


def every_support(m: int) -> FloatArray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=m)))


@st.composite
def problems(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Edges, θ and Σ_r."""
    m, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    value = st.floats(-3.0, 3.0)
    edges = np.array(draw(st.lists(value, min_size=m * d, max_size=m * d))).reshape(m, d)
    theta = np.array(draw(st.lists(value, min_size=d, max_size=d)))
    rows = draw(st.lists(st.integers(0, 2**m - 1), min_size=1, max_size=2**m, unique=True))
    return edges, theta, every_support(m)[rows]


@given(problems(), st.floats(0.01, 5.0))
def test_the_structural_penalty_is_below_its_bounds(
    problem: tuple[FloatArray, FloatArray, FloatArray], room: float
) -> None:
    """[000-Thm3] Q by its definition, over all 2^m rados; then Q <= θ·(∇F + mean) <= eq. 7."""
    edges, theta, supports = problem
    everything = log_exponential_loss(every_support(len(edges)) @ edges, theta)
    penalty = structural_penalty(edges, theta, supports)
    assert penalty == pytest.approx(
        (everything - log_exponential_loss(supports @ edges, theta)) / len(edges), rel=1e-9, abs=1e-12
    )
    linear = linear_structural_bound(edges, theta, supports)
    radius = float(np.linalg.norm(theta)) + room
    assert penalty <= linear + 1e-12
    assert linear <= structural_bound(edges, theta, supports, radius) + 1e-12


@given(problems())
def test_all_supports_cost_nothing(problem: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    edges, theta, _ = problem
    assert structural_penalty(edges, theta, every_support(len(edges))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-2, 1e-4])
def test_10_percent_less_than_7_is_too_little(size: float) -> None:
    """One edge, Σ_r = {∅}, θ against it: Q/(7) → 1 as θ → 0; attained for Q = 0 only, F_log being strictly convex."""
    edge, theta, empty = np.array([[1.0]]), np.array([-size]), np.array([[0.0]])
    penalty, bound = structural_penalty(edge, theta, empty), structural_bound(edge, theta, empty, size)
    assert 0.9 * bound < (1.0 - size) * bound < penalty < bound
    assert linear_structural_bound(edge, theta, empty) == pytest.approx(bound)


def test_the_gradient_is_that_of_the_loss() -> None:
    """Σ_r = {∅} leaves θ·∇F; against central differences."""
    rng = np.random.default_rng(3)
    edges, theta, empty = rng.normal(size=(5, 3)), rng.normal(size=3), np.zeros((1, 5))
    step = 1e-6 * np.eye(3)
    slope = [(logistic_loss(edges, theta + e) - logistic_loss(edges, theta - e)) / 2e-6 for e in step]
    assert linear_structural_bound(edges, theta, empty) == pytest.approx(float(theta @ slope), abs=1e-8)
    found = structural_bound(edges, theta, empty, 7.0)
    assert found == pytest.approx(7.0 * float(np.linalg.norm(slope)), rel=1e-7)


# --- What drawing costs -----------------------------------------------------------------------------------------------


TWO = np.array([[2.0]]), np.array([[0.0], [1.0]])
"""One edge 2: rados 0 and 2, which are ±1 about their mean."""


def test_the_constant_by_hand() -> None:
    """P = s = 1, r = ln 2, so B = 2; θ = 0, so G = 1; η = e⁻², so the root is 1: q = 2·(1/2 + 3/4) = 5/2."""
    arguments = (TWO[0], np.zeros(1), TWO[1])
    assert math.exp(log_sampling_constant(*arguments, math.log(2.0), math.exp(-2.0))) == pytest.approx(2.5)
    assert sampling_penalty(*arguments, 25, math.log(2.0), math.exp(-2.0)) == pytest.approx(math.log(2.0))
    assert sampling_penalty(*arguments, 6, math.log(2.0), math.exp(-2.0)) == math.inf
    # θ = r: G = cosh(ln 2) = 5/4. Rados 1 of 5: P = 0.8·2, s² = 0.8·0.2·4.
    assert math.exp(
        log_sampling_constant(TWO[0], np.array([math.log(2.0)]), TWO[1], math.log(2.0), math.exp(-2.0))
    ) == (pytest.approx(2.0))
    lopsided = np.array([[0.0]] * 4 + [[1.0]])
    b = math.exp(1.6)
    expected = b * (0.5 * (1.0 - 1.0 / b) + (1.0 - b**-2) * 1.0)
    assert math.exp(log_sampling_constant(TWO[0], np.zeros(1), lopsided, 1.0, math.exp(-2.0))) == pytest.approx(
        expected
    )


def log_failure(radius: float, number: int, failure: float, factor: float) -> float:
    """ln of the probability, over all draws of n of the two rados, that some θ of the ball contradicts q·factor."""
    drawn = np.arange(number + 1)
    contradicted = np.zeros(number + 1, dtype=np.bool_)
    for theta in np.linspace(-radius, radius, 9):
        arguments = (TWO[0], np.array([theta]), TWO[1])
        q = math.exp(log_sampling_constant(*arguments, radius, failure))
        over_all = 0.5 + 0.5 * math.exp(-2.0 * theta)
        short = (0.5 - drawn / number) * math.expm1(-2.0 * theta) / over_all  # 1 − F_exp(U)/F_exp(Σ_r)
        contradicted |= short > factor * q / math.sqrt(number)
    return float(logsumexp(np.append(binom.logpmf(drawn[contradicted], number, 0.5), -np.inf)))


@pytest.mark.parametrize("number", [1, 2, 10, 1000, 10_000])
@pytest.mark.parametrize("failure", [0.9999, 0.5, 0.05, 1e-9, 1e-100])
@pytest.mark.parametrize("radius", [1e-3, 0.3, 2.0])
def test_the_penalty_holds_for_all_of_the_ball_exactly(radius: float, number: int, failure: float) -> None:
    """[000-Thm3] All draws of two rados, by their binomial law."""
    assert log_failure(radius, number, failure, 1.0) <= math.log(failure)


@pytest.mark.parametrize(("number", "failure"), [(1, 0.9999), (10_000, 1e-100)])
def test_10_percent_less_than_q_is_too_little(number: int, failure: float) -> None:
    """Both as r → 0: the first part of q is attained at n = 1 and η → 1, the second in the far tail."""
    assert log_failure(1e-3, number, failure, 0.9) > math.log(failure)


def test_at_5_percent_q_has_room() -> None:
    """For two rados and many draws 1.96 of 1 + √(2 ln 20) = 3.45 would do: 0.6 of q holds, half of it does not."""
    assert log_failure(1e-3, 10_000, 0.05, 0.6) <= math.log(0.05) < log_failure(1e-3, 10_000, 0.05, 0.5)


def circle(radius: float) -> FloatArray:
    angles = np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False)
    return np.vstack([np.zeros((1, 2)), radius * np.column_stack([np.cos(angles), np.sin(angles)])])


@pytest.mark.parametrize("case", range(12))
def test_inequality_5_over_all_draws(case: int) -> None:
    """Four supports of three edges in the plane, all 4^n draws, θ at the worst of 25: (5) fails with at most η; and
    the mean of the worst shortfall is at most its own part of the bound, which η → 1 leaves of q."""
    rng = np.random.default_rng(case)
    n, radius = case % 5 + 1, (0.02, 0.2, 1.0)[case % 3]
    edges = rng.normal(size=(3, 2))
    supports = every_support(3)[rng.choice(8, 4, replace=False)]
    rados, draws = supports @ edges, np.array(list(itertools.product(range(4), repeat=n)))
    centred = rados - rados.mean(axis=0)
    worst = np.full(len(draws), -np.inf)
    for failure in (0.05, 0.5, 0.95):
        contradicted = np.zeros(len(draws), dtype=np.bool_)
        for theta in circle(radius):
            over = logsumexp(-(rados @ theta)[draws], axis=1) - math.log(n)
            right = math.log(2.0) + over / 3 + structural_penalty(edges, theta, supports)
            right = right + sampling_penalty(edges, theta, supports, n, radius, failure)
            contradicted |= logistic_loss(edges, theta) > right + 1e-12
            losses = np.exp(-(centred @ theta))
            worst = np.maximum(worst, losses.mean() - losses[draws].mean(axis=1))
        assert contradicted.mean() <= failure
    mean_part = math.exp(log_sampling_constant(edges, np.zeros(2), supports, radius, 1.0 - 1e-15)) / math.sqrt(n)
    assert worst.mean() <= mean_part


@given(problems(), st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_no_draw_exceeds_the_certain_penalty(
    problem: tuple[FloatArray, FloatArray, FloatArray], seed: int, number: int
) -> None:
    edges, theta, supports = problem
    rados, m = supports @ edges, len(edges)
    penalty = certain_sampling_penalty(edges, theta, supports)
    drawn = rados[np.random.default_rng(seed).integers(0, len(rados), number)]
    over_all = logistic_rado_loss(rados, theta, m)
    assert over_all - logistic_rado_loss(drawn, theta, m) <= penalty + 1e-12
    easiest = rados[[int(np.argmax(rados @ theta))]]
    assert over_all - logistic_rado_loss(easiest, theta, m) == pytest.approx(penalty, abs=1e-12)
    length = float(np.max(np.linalg.norm(rados, axis=1)))
    assert -1e-12 <= penalty <= 2.0 * float(np.linalg.norm(theta)) * length / m + 1e-12


def test_one_rado_needs_no_drawing() -> None:
    arguments = (np.array([[1.0], [3.0]]), np.array([0.5]), np.array([[0.0, 1.0]]))
    assert log_sampling_constant(*arguments, 1.0, 0.05) == -math.inf
    assert sampling_penalty(*arguments, 1, 1.0, 0.05) == 0.0


def test_it_is_vacuous_where_one_would_learn_and_does_not_overflow() -> None:
    """14 unit edges of one direction, |θ| <= 1: 400 000 draws are too few, and 2^14 rados are all there are."""
    edges, supports = np.ones((14, 1)), every_support(14)
    assert sampling_penalty(edges, np.zeros(1), supports, 400_000, 1.0, 0.05) == math.inf
    assert certain_sampling_penalty(edges, np.zeros(1), supports) == 0.0
    assert log_sampling_constant(1e4 * edges, np.zeros(1), supports, 1.0, 0.05) == pytest.approx(7e4, rel=1e-4)
    # Along the longest rado G is B/2^m, so that q stops growing; ln F_exp is left without overflow there.
    along = math.exp(log_sampling_constant(1e4 * edges, np.ones(1), supports, 1.0, 0.05))
    assert along == pytest.approx(2.0**14 * (1.0 / math.sqrt(14) + math.sqrt(-0.5 * math.log(0.05))), rel=1e-9)


ONE, ROWS = np.ones((2, 1)), np.array([[0.0, 1.0], [1.0, 1.0]])
REFUSED: Sequence[tuple[Callable[[], object], str]] = [
    (lambda: structural_penalty(np.zeros(2), np.zeros(1), ROWS), "edges"),
    (lambda: structural_penalty(np.array([[math.nan]] * 2), np.zeros(1), ROWS), "edges"),
    (lambda: structural_penalty(ONE, np.zeros(2), ROWS), "theta"),
    (lambda: linear_structural_bound(ONE, np.array([math.inf]), ROWS), "theta"),
    (lambda: certain_sampling_penalty(ONE, np.zeros(1), ROWS[:, :1]), "supports"),
    (lambda: structural_penalty(ONE, np.zeros(1), ROWS[:0]), "supports"),
    (lambda: structural_penalty(ONE, np.zeros(1), 2.0 * ROWS - 1.0), "0 and 1"),
    (lambda: structural_bound(ONE, np.array([2.0]), ROWS, 1.0), "radius"),
    (lambda: structural_bound(ONE, np.zeros(1), ROWS, 0.0), "positive"),
    (lambda: sampling_penalty(ONE, np.array([2.0]), ROWS, 5, 1.0, 0.05), "larger ball"),
    (lambda: sampling_penalty(ONE, np.zeros(1), ROWS, 0, 1.0, 0.05), "whole number"),
    (lambda: sampling_penalty(ONE, np.zeros(1), ROWS, 5, 1.0, 0.0), r"\(0, 1\)"),
    (lambda: log_sampling_constant(ONE, np.zeros(1), ROWS, 1.0, 1.0), r"\(0, 1\)"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
