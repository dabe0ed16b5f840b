"""Rado and logistic losses: Lemma 2 exactly, Lemma 4 and eq. 17 on a reference loop, and eq. 17's missing factor."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from boosting.rados.losses import (
    MAX_ENUMERATED,
    all_rados,
    enumerated_logistic_rado_loss,
    leverage,
    log_exponential_bound,
    log_exponential_loss,
    logistic_bound,
    logistic_loss,
    logistic_rado_loss,
)

Leverage = Callable[[float, float, float], float]


def rado_boost(
    rados: FloatArray, rounds: int, shrinkage: float, choose: Callable[[FloatArray], int], step: Leverage = leverage
) -> tuple[FloatArray, list[float]]:
    """000, Algorithm 1, as a loop: θ_T and the r_t; stops where a step would be infinite."""
    theta, weights = np.zeros(rados.shape[1]), np.full(rados.shape[0], 1.0 / rados.shape[0])
    largest, correlations = np.max(np.abs(rados), axis=0), list[float]()
    for _ in range(rounds):
        each = np.where(largest > 0.0, weights @ rados / np.where(largest > 0.0, largest, 1.0), 0.0)
        feature = choose(each)
        r = float(each[feature])
        if largest[feature] == 0.0 or abs(r) > 1.0 - 1e-9:
            break
        theta[feature] += step(r, float(largest[feature]), shrinkage)
        weights = weights * (1.0 - r * rados[:, feature] / largest[feature])
        weights /= weights.sum()  # eq. 11's own factor would multiply the rounding of the sum, see claims.md
        correlations.append(r)
    return theta, correlations


def strongest(correlations: FloatArray) -> int:
    return int(np.argmax(np.abs(correlations)))


@st.composite
def edge_sets(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    m, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    value = st.floats(-3.0, 3.0)
    edges = np.array(draw(st.lists(value, min_size=m * d, max_size=m * d))).reshape(m, d)
    return edges, np.array(draw(st.lists(value, min_size=d, max_size=d)))


@given(edge_sets())
def test_lemma_2_logistic_loss_is_the_loss_over_all_rados(problem: tuple[FloatArray, FloatArray]) -> None:
    edges, theta = problem
    expected = logistic_loss(edges, theta)
    assert abs(enumerated_logistic_rado_loss(edges, theta) - expected) <= 1e-12 * max(1.0, expected)
    assert abs(logistic_rado_loss(all_rados(edges), theta, edges.shape[0]) - expected) <= 1e-12 * max(1.0, expected)


def test_lemma_2_at_the_largest_m() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        edges, theta = rng.normal(0.0, 5.0, (MAX_ENUMERATED, 3)), rng.normal(0.0, 5.0, 3)
        expected = logistic_loss(edges, theta)
        assert enumerated_logistic_rado_loss(edges, theta) == pytest.approx(expected, rel=1e-12)
    assert all_rados(edges).shape == (2**MAX_ENUMERATED, 3)


def test_rados_by_hand() -> None:
    """Edges 1 and 2, θ = ln 2: rados 0, 1, 2, 3, so F_exp = (1 + 1/2 + 1/4 + 1/8)/4 = 15/32.
    F_log = (ln(3/2) + ln(5/4))/2 = ln(15/8)/2 = ln 2 + ln(15/32)/2."""
    edges, theta = np.array([[1.0], [2.0]]), np.array([math.log(2.0)])
    assert all_rados(edges).ravel().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert math.exp(log_exponential_loss(all_rados(edges), theta)) == pytest.approx(15.0 / 32.0, rel=1e-15)
    assert logistic_loss(edges, theta) == pytest.approx(0.5 * math.log(15.0 / 8.0), rel=1e-15)
    assert enumerated_logistic_rado_loss(edges, theta) == pytest.approx(0.5 * math.log(15.0 / 8.0), rel=1e-15)
    # r = 1/2, π_* = 3: ln(3)/(2·3); with κ = 2 half of it.
    assert leverage(0.5, 3.0) == pytest.approx(math.log(3.0) / 6.0)
    assert leverage(-0.5, 3.0, 2.0) == pytest.approx(-math.log(3.0) / 12.0)
    # r = 0.6 and 0.8: √(0.64·0.36) = 0.48; κ = 2 takes its root.
    assert math.exp(log_exponential_bound([0.6, -0.8])) == pytest.approx(0.48)
    assert math.exp(log_exponential_bound([0.6, -0.8], 2.0)) == pytest.approx(math.sqrt(0.48))
    assert logistic_bound([0.6, 0.8], 10, 2.0) == pytest.approx(math.log(2.0) + math.log(0.48) / 20.0)
    assert log_exponential_bound([]) == 0.0


def test_losses_of_large_margins_do_not_overflow() -> None:
    edges, theta = np.array([[1.0], [-1.0]]), np.array([5000.0])
    assert logistic_loss(edges, theta) == pytest.approx(2500.0)
    assert enumerated_logistic_rado_loss(edges, theta) == pytest.approx(2500.0)


def random_rados(rng: np.random.Generator) -> FloatArray:
    kind, n, d = rng.integers(3), int(rng.integers(1, 30)), int(rng.integers(1, 6))
    if kind == 0:
        return rng.normal(0.0, 2.0, (n, d))
    if kind == 1:
        return rng.choice([-1.0, 1.0], (n, d))
    return all_rados(rng.normal(0.0, 1.0, (int(rng.integers(1, 7)), d)))


@pytest.mark.parametrize("shrinkage", [1.0, 1.2, 2.0, 7.5])
def test_lemma_4_and_the_corrected_eq_17(shrinkage: float) -> None:
    """ln F_exp <= Σ ln(1 − r²)/(2κ) on 200 random sets of rados, whatever features are taken."""
    rng, closest = np.random.default_rng(17), math.inf
    for case in range(200):
        rados = random_rados(rng)
        choose = strongest if case % 2 else (lambda each: int(rng.integers(each.size)))
        theta, correlations = rado_boost(rados, int(rng.integers(1, 16)), shrinkage, choose)
        loss, bound = log_exponential_loss(rados, theta), log_exponential_bound(correlations, shrinkage)
        assert loss <= bound + 1e-9
        assert bound <= -sum(r * r for r in correlations) / (2.0 * shrinkage) + 1e-12  # Lemma 4 and eq. 17 as printed
        records = int(rng.integers(1, 50))
        assert logistic_rado_loss(rados, theta, records) <= logistic_bound(correlations, records, shrinkage) + 1e-9
        if bound < -1e-6:
            closest = min(closest, loss / bound)  # both negative: 1 where the bound is attained
    assert closest < {1.0: 1.0 + 1e-9}.get(shrinkage, 2.0)


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
def test_lemma_4_is_attained(r: float) -> None:
    """One feature of ±1: F_exp = √(1 − r²) exactly, so promising 2 % more decrease would be false."""
    rados = np.array([[1.0]] * round(500 * (1 + r)) + [[-1.0]] * round(500 * (1 - r)))
    theta, correlations = rado_boost(rados, 1, 1.0, strongest)
    loss = log_exponential_loss(rados, theta)
    assert loss == pytest.approx(0.5 * math.log1p(-r * r), rel=1e-12)
    assert loss == pytest.approx(log_exponential_bound(correlations), rel=1e-12)
    assert loss > 1.02 * log_exponential_bound(correlations)
    assert loss < -0.5 * r * r  # strictly below the printed bound


def printed_leverage(correlation: float, largest: float, shrinkage: float) -> float:
    """000, section 5.2, before eq. 17: without the 2."""
    return math.log((1.0 + correlation) / (1.0 - correlation)) / (shrinkage * largest)


def exact_printed_loss(r: Fraction) -> Fraction:
    """F_exp at κ = 1 for one feature of ±1: (1 + r)/2·e^{−α} + (1 − r)/2·e^{α}, e^α = (1 + r)/(1 − r)."""
    grown = (1 + r) / (1 - r)
    return (1 + r) / 2 / grown + (1 - r) / 2 * grown


def test_eq_17_as_printed_leaves_the_loss_where_it_was() -> None:
    """κ = 1, one feature of ±1: F_exp = 1 and the loss stays ln 2, where eq. 17 promises ln 2 − r²/(2m)."""
    assert all(exact_printed_loss(Fraction(k, 10)) == 1 for k in range(10))
    rados = np.array([[1.0]] * 3 + [[-1.0]])
    theta, correlations = rado_boost(rados, 1, 1.0, strongest, printed_leverage)
    assert correlations == [0.5]
    assert logistic_rado_loss(rados, theta, 10) == pytest.approx(math.log(2.0), abs=1e-15)
    assert logistic_rado_loss(rados, theta, 10) > math.log(2.0) - 0.25 / 20.0 + 0.01
    ours, _ = rado_boost(rados, 1, 1.0, strongest)
    assert logistic_rado_loss(rados, ours, 10) == pytest.approx(math.log(2.0) + math.log(0.75) / 20.0)


@pytest.mark.parametrize(("shrinkage", "holds"), [(1.0, False), (1.3, False), (1.35, True), (2.0, True), (5.0, True)])
def test_where_eq_17_as_printed_fails(shrinkage: float, holds: bool) -> None:
    """One round on one feature of ±1 gives cosh(L(1 − 2/κ))/cosh L, L = artanh r; it fails for κ < 4/3."""
    r = 0.1
    rados = np.array([[1.0]] * 11 + [[-1.0]] * 9)
    theta, _ = rado_boost(rados, 1, shrinkage, strongest, printed_leverage)
    loss, half = log_exponential_loss(rados, theta), math.atanh(r)
    assert loss == pytest.approx(math.log(math.cosh(half * (1.0 - 2.0 / shrinkage)) / math.cosh(half)), abs=1e-14)
    assert (loss <= -r * r / (2.0 * shrinkage)) is holds
    theta, correlations = rado_boost(rados, 1, shrinkage, strongest)
    assert log_exponential_loss(rados, theta) <= log_exponential_bound(correlations, shrinkage) + 1e-15


REFUSED: Sequence[tuple[Callable[[], object], str]] = [
    (lambda: logistic_loss(np.zeros((2, 3)), np.zeros(2)), "shapes"),
    (lambda: logistic_loss(np.zeros((0, 3)), np.zeros(3)), "k >= 1"),
    (lambda: logistic_loss(np.array([[math.inf]]), np.array([1.0])), "finite"),
    (lambda: log_exponential_loss(np.zeros(3), np.zeros(3)), "shapes"),
    (lambda: logistic_rado_loss(np.zeros((2, 3)), np.zeros(3), 0), "whole number"),
    (lambda: all_rados(np.zeros((15, 1))), "at most 14"),
    (lambda: enumerated_logistic_rado_loss(np.zeros((15, 1)), np.zeros(1)), "at most 14"),
    (lambda: leverage(1.0, 1.0), "strictly between"),
    (lambda: leverage(math.nan, 1.0), "strictly between"),
    (lambda: leverage(0.5, 0.0), "positive"),
    (lambda: leverage(0.5, 1.0, 0.9), "at least 1"),
    (lambda: log_exponential_bound([0.5, -1.0]), "strictly between"),
    (lambda: log_exponential_bound([0.5], math.nan), "positive"),
    (lambda: logistic_bound([0.5], 0), "whole number"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
