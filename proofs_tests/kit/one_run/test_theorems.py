"""What right guesses prove, against the worst program there is: its distribution of right guesses by linear programs.

A program may be made symmetric at no cost: draw a permutation of the canaries and signs in public, run it on canaries
so permuted and turned over, and undo it. Guesses are then right or wrong in a random order, so that the program
is known by the chances p_j of j right guesses alone. It keeps (ε, δ) if and only if

    Σ_j (j·p_j − e^ε(k−j+1)·p_{j−1})⁺/m + Σ_j ((k−j)·p_j − e^ε(j+1)·p_{j+1})⁺/m <= δ,

as turning one coin over makes a right guess wrong and moves j by one. So a linear program finds the worst one exactly.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linprog
from scipy.special import ndtr, ndtri

from accountant import GDP, ZCDP, ApproxDP, PureDP, UnsupportedCost
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from proofs_tests.harness.one_run.bounds import family_of, lower_bound, refutes, smallest_factor, usual_guesses
from proofs_tests.harness.one_run.tails import (
    Counts,
    Needed,
    approximate_tail,
    gaussian_needed,
    possible,
    pure_tail,
)

CASES = [Counts(5, 5, 4), Counts(5, 5, 5), Counts(10, 10, 8), Counts(20, 10, 9), Counts(30, 30, 24), Counts(60, 12, 11)]


def worst(counts: Counts, promises: Sequence[tuple[float, float]]) -> float:
    """The largest P[W >= c] of any program that keeps all of these (ε, δ)."""
    return float(np.sum(worst_counts(counts, promises)[counts.correct :]))


def worst_counts(counts: Counts, promises: Sequence[tuple[float, float]]) -> FloatArray:
    """The p_j of the program that attains it, shape (k + 1,)."""
    m, k = counts.canaries, counts.guesses
    size = k + 1 + 2 * k * len(promises)
    rows, most, place = list[FloatArray](), list[float](), k + 1
    for epsilon, delta in promises:
        total, odds = np.zeros(size), math.exp(epsilon)
        for j in range(1, k + 1):
            for more, less, here, there in ((j, j - 1, j, k - j + 1), (j - 1, j, k - j + 1, j)):
                row = np.zeros(size)
                row[more], row[less], row[place] = here / m, -odds * there / m, -1.0
                total[place] = 1.0
                rows, most, place = [*rows, row], [*most, 0.0], place + 1
        rows, most = [*rows, total], [*most, delta]
    aim, ones = np.zeros(size), np.zeros((1, size))
    aim[counts.correct : k + 1], ones[0, : k + 1] = -1.0, 1.0
    found = linprog(aim, A_ub=np.array(rows), b_ub=most, A_eq=ones, b_eq=[1.0])
    return np.asarray(found.x)[: k + 1]


def largest(counts: Counts, needed: Needed) -> float:
    """The largest chance that `possible` allows."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if possible(counts, needed, middle) else (low, middle)
    return high


def chords(mu: float) -> list[tuple[float, float]]:
    """(ε, δ)s that together promise a little more than μ-GDP: lines through neighbouring points of its curve."""
    points = np.concatenate([[0.0], ndtr(np.linspace(-4.0 - mu, -0.5 * mu, 25))])
    other = ndtr(ndtri(points) + mu)
    slopes = np.diff(other) / np.diff(points)
    return [(math.log(s), max(0.0, float(y - s * x))) for s, x, y in zip(slopes, points, other, strict=False)]


@pytest.mark.parametrize("counts", CASES, ids=str)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_guesses_about_a_pure_program_are_at_most_binomial(counts: Counts, epsilon: float) -> None:
    found = worst(counts, [(epsilon, 0.0)])
    assert pure_tail(counts, epsilon) == pytest.approx(found, rel=1e-6)
    assert pure_tail(counts, 0.9 * epsilon) < 0.99 * found  # a constant that is 10 % off would show


@pytest.mark.parametrize("counts", CASES, ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.05), (1.0, 0.01), (2.0, 1e-3)])
def test_guesses_about_an_approximately_private_program(counts: Counts, epsilon: float, delta: float) -> None:
    """The bound is what the worst program attains; a tenth less of either number would show."""
    found = worst(counts, [(epsilon, delta)])
    assert approximate_tail(counts, epsilon, delta) == pytest.approx(found, rel=1e-6)
    assert approximate_tail(counts, 0.9 * epsilon, delta) < 0.995 * found
    assert approximate_tail(counts, epsilon, 0.9 * delta) < found * (1.0 - 1e-5)


def printed_tail(counts: Counts, epsilon: float, delta: float) -> float:
    """Theorem 5.2 of Steinke, Nasr & Jagielski 2023."""
    law = stats.binom(counts.guesses, 1.0 / (1.0 + math.exp(-epsilon)))
    between = np.cumsum(law.pmf(np.arange(counts.correct - 1, -1, -1))) / np.arange(1, counts.correct + 1)
    return float(law.sf(counts.correct - 1) + 2.0 * counts.canaries * delta * np.max(between))


@given(
    canaries=st.integers(2, 3000),
    guessed=st.floats(0.0, 1.0),
    right=st.floats(0.0, 1.0),
    epsilon=st.floats(0.01, 4.0),
    delta=st.floats(1e-8, 0.1),
)
def test_the_printed_bound_is_not_below_ours_where_something_can_be_refuted(
    canaries: int, guessed: float, right: float, epsilon: float, delta: float
) -> None:
    guesses = 1 + round(guessed * (canaries - 1))
    counts = Counts(canaries, guesses, max(1, round(right * guesses)))
    ours = approximate_tail(counts, epsilon, delta)
    assert ours > 0.85 or ours <= printed_tail(counts, epsilon, delta) * (1.0 + 1e-9)


def test_the_worst_program_by_enumeration_and_where_the_printed_bound_is_below_it() -> None:
    """Three coins, all guessed: its whole table of chances keeps (ε, δ), for each coin that is turned over."""
    counts, epsilon, delta = Counts(3, 3, 1), 0.5, 0.03
    each = worst_counts(counts, [(epsilon, delta)]) / [math.comb(3, j) for j in range(4)]
    coins = list(itertools.product((0, 1), repeat=3))
    right = np.array([[sum(a == b for a, b in zip(one, said, strict=True)) for said in coins] for one in coins])
    chances = each[right]
    assert np.allclose(chances.sum(axis=1), 1.0)
    for here, there in itertools.permutations(range(8), 2):
        if sum(a != b for a, b in zip(coins[here], coins[there], strict=True)) == 1:
            over = np.maximum(chances[here] - math.exp(epsilon) * chances[there], 0.0)
            assert float(over.sum()) <= delta + 1e-9
    reached = float(chances[0][right[0] >= 1].sum())
    assert reached == pytest.approx(approximate_tail(counts, epsilon, delta))
    assert printed_tail(counts, epsilon, delta) < 0.995 * reached


def test_the_number_that_the_paper_prints() -> None:
    """Appendix D: 75 of 100 guesses right, m = 1000, δ = 1e-4, 95 %: ε >= 0.673. Ours is a little larger."""
    counts = Counts(1000, 100, 75)
    assert printed_tail(counts, 0.6725, 1e-4) < 0.05 < printed_tail(counts, 0.6735, 1e-4)
    assert 0.673 < lower_bound(counts, lambda epsilon: ApproxDP(epsilon, 1e-4), 0.05) < 0.75


def test_a_curve_that_is_off_by_a_tenth_would_show() -> None:
    """Where all guesses are right the recursion is exact, so that nothing smaller holds."""
    counts = Counts(5, 5, 5)
    found = worst(counts, chords(1.0))
    assert largest(counts, gaussian_needed(0.9)) < found < largest(counts, gaussian_needed(1.0)) * 1.0001


@pytest.mark.parametrize("counts", CASES, ids=str)
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_guesses_about_a_gaussian_program(counts: Counts, mu: float) -> None:
    """The worst of those that keep a little more than μ-GDP is below the bound, and close to it."""
    found = worst(counts, chords(mu))
    bound = largest(counts, gaussian_needed(mu))
    assert found * (1.0 - 1e-7) <= bound <= 1.6 * found
    assert bound >= float(np.sum(_gaussian_counts(counts, mu)[counts.correct :]))


def _gaussian_counts(counts: Counts, mu: float) -> np.ndarray:
    """Right guesses by the signs of the first k of m independent N(±μ/2, 1)."""
    k, right = counts.guesses, float(ndtr(0.5 * mu))
    return np.array([math.comb(k, j) * right**j * (1.0 - right) ** (k - j) for j in range(k + 1)])


def test_randomized_response_attains_the_bound_by_enumeration() -> None:
    """All coins and outputs of four independent responses."""
    epsilon, chance = 1.2, 0.0
    truth = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    for coins in itertools.product((0, 1), repeat=4):
        for said in itertools.product((0, 1), repeat=4):
            right = sum(one == other for one, other in zip(coins, said, strict=True))
            chance += (right >= 3) * truth**right * (1.0 - truth) ** (4 - right) / 16.0
    assert pure_tail(Counts(4, 4, 3), epsilon) == pytest.approx(chance)


def test_a_bound_is_too_large_as_seldom_as_it_says_exactly() -> None:
    """Over all counts of randomized response; bounds that are a tenth larger would be too large far more often."""
    epsilon, guesses, chance = 1.0, 500, 0.05
    counts = [Counts(guesses, guesses, correct) for correct in range(guesses + 1)]
    mass = np.diff([1.0, *(pure_tail(each, epsilon) for each in counts[1:]), 0.0]) * -1.0
    bounds = np.array([lower_bound(each, PureDP, chance) for each in counts])
    assert 0.5 * chance < float(mass[bounds > epsilon].sum()) <= chance
    assert float(mass[1.1 * bounds > epsilon].sum()) > 2.0 * chance


@pytest.mark.parametrize("cost", [PureDP(0.7), ApproxDP(0.7, 1e-4), GDP(0.7)], ids=repr)
def test_what_is_refuted_grows_with_right_guesses_and_bounds_are_at_its_edge(cost: PureDP | ApproxDP | GDP) -> None:
    family = family_of(cost)
    bounds = [lower_bound(Counts(400, 100, correct), family, 0.05) for correct in range(50, 101, 10)]
    assert bounds == sorted(bounds)
    assert bounds[0] == 0.0 < bounds[2]
    counts = Counts(400, 100, 80)
    assert refutes(counts, family(bounds[3]), 0.05)
    assert not refutes(counts, family(bounds[3] * 1.001), 0.05)


def test_how_many_to_guess_is_even_and_follows_from_public_numbers() -> None:
    assert usual_guesses(1000, PureDP(1.0), 0.95) == 1000  # nothing is gained by holding back
    for cost in (ApproxDP(4.0, 1e-5), GDP(0.9)):
        guesses = usual_guesses(1000, cost, 0.95)
        assert guesses % 2 == 0
        assert 20 <= guesses <= 500


@pytest.mark.parametrize("claimed", [GDP(0.27), GDP(0.92), ApproxDP(2.0, 1e-10), PureDP(1.0)], ids=repr)
@pytest.mark.parametrize("confidence", [0.95, 0.9995, 1.0 - 5e-7])
def test_as_many_are_guessed_as_can_refute_the_claim(claimed: PureDP | ApproxDP | GDP, confidence: float) -> None:
    """At high confidence what proves most of a tight claim were so few that all of them right refuted nothing."""
    guesses = usual_guesses(1024, claimed, confidence)
    assert refutes(Counts(1024, guesses, guesses), claimed, 1.0 - confidence)
    factor = smallest_factor(1024, guesses, claimed, 1.0 - confidence)
    assert factor is not None
    assert factor < 10.0


@pytest.mark.parametrize("claimed", [GDP(0.9), ApproxDP(2.0, 1e-5), PureDP(1.0)], ids=repr)
def test_a_loss_of_the_stated_factor_is_refuted_as_often_as_stated(claimed: PureDP | ApproxDP | GDP) -> None:
    """Simulated, 400 runs: fewer than 330 come with a chance of 1e-5 where it is .9."""
    m, guesses, rng = 1000, usual_guesses(1000, claimed, 0.95), np.random.default_rng(5)
    factor = smallest_factor(m, guesses, claimed, 0.05)
    assert factor is not None
    assert 1.0 < factor < 4.0
    mu = gaussian.mu(factor * claimed.epsilon, 1e-5) if isinstance(claimed, ApproxDP) else None
    mu = factor * claimed.mu if isinstance(claimed, GDP) else mu
    correct = []
    for _ in range(400):
        scores = 0.5 * mu + rng.standard_normal(m) if mu else np.sign(rng.random(m) - 1.0 / (1.0 + math.e**factor))
        correct.append(int(np.sum(scores[np.argsort(-np.abs(scores), kind="stable")[:guesses]] > 0.0)))
    least = min(c for c in range(guesses + 1) if refutes(Counts(m, guesses, c), claimed, 0.05))
    assert sum(c >= least for c in correct) >= 330
    assert smallest_factor(4, 2, claimed, 0.05) is None


def test_counts_and_kinds_that_make_no_sense() -> None:
    for canaries, guesses, correct in ((10, 11, 5), (10, 5, 6), (10, 5, -1)):
        with pytest.raises(ValueError, match="correct <= guesses <= canaries"):
            Counts(canaries, guesses, correct)
    with pytest.raises(UnsupportedCost, match="expected PureDP"):
        family_of(ZCDP(1.0))
