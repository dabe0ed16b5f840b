"""The bounds on right guesses against all programs there are for few canaries: nothing is taken to be symmetric.

A program is the chance of each way to guess (for each canary up, down or nothing) given each of the coins; what it
promises holds between all coins that differ in one. A linear program finds the most that it guesses right.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.special import ndtr

from proofs_tests.harness.one_run.tails import Counts, approximate_tail, gaussian_needed, possible, pure_tail

ALL = [Counts(m, k, c) for m in (2, 3) for k in range(1, m + 1) for c in range(1, k + 1)] + [Counts(4, 2, 2)]


def most(counts: Counts, promises: Sequence[tuple[float, float]]) -> float:
    """The largest P[W >= c] of any program that keeps all of these (ε, δ)."""
    coins = list(itertools.product((-1, 1), repeat=counts.canaries))
    ways = [
        said
        for said in itertools.product((-1, 0, 1), repeat=counts.canaries)
        if np.count_nonzero(said) == counts.guesses
    ]
    chances, place = len(coins) * len(ways), {each: number for number, each in enumerate(coins)}
    entries, most_allowed, size, row = list[tuple[int, int, float]](), list[float](), chances, 0
    for here, turned in itertools.product(range(len(coins)), range(counts.canaries)):
        there = place[tuple(-coin if at == turned else coin for at, coin in enumerate(coins[here]))]
        for epsilon, delta in promises:
            total = row
            most_allowed, row = [*most_allowed, delta], row + 1
            for said in range(len(ways)):  # what is above e^ε times the other, a variable each, adds up to δ at most
                entries += [(total, size, 1.0), (row, size, -1.0), (row, here * len(ways) + said, 1.0)]
                entries += [(row, there * len(ways) + said, -math.exp(epsilon))]
                most_allowed, row, size = [*most_allowed, 0.0], row + 1, size + 1
    rows, columns, values = zip(*entries, strict=True)
    ones = coo_array(
        (np.ones(chances), (np.repeat(np.arange(len(coins)), len(ways)), np.arange(chances))), (len(coins), size)
    )
    right = [sum(a == b for a, b in zip(one, said, strict=True)) >= counts.correct for one in coins for said in ways]
    aim = np.concatenate([np.array(right) / -len(coins), np.zeros(size - chances)])
    bounds = coo_array((values, (rows, columns)), (row, size))
    sparse: dict[str, Any] = {"A_ub": bounds.tocsr(), "A_eq": ones.tocsr()}  # scipy's stubs know of arrays alone
    found = linprog(aim, b_ub=most_allowed, b_eq=np.ones(len(coins)), **sparse)
    return -float(found.fun or 0.0)


@pytest.mark.parametrize("counts", ALL, ids=str)
def test_pure_and_approximate_bounds_are_what_the_worst_program_reaches(counts: Counts) -> None:
    assert pure_tail(counts, 1.0) == pytest.approx(most(counts, [(1.0, 0.0)]), rel=1e-6)
    for epsilon, delta in ((1.0, 0.02), (0.5, 0.05)):
        found = most(counts, [(epsilon, delta)])
        assert found <= approximate_tail(counts, epsilon, delta) * (1.0 + 1e-6)
        assert approximate_tail(counts, epsilon, 0.9 * delta) < found
        assert approximate_tail(counts, 0.9 * epsilon, delta) < found


@pytest.mark.parametrize("counts", [counts for counts in ALL if counts.canaries < 4], ids=str)
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_no_program_of_a_gaussian_curve_guesses_more_than_the_recursion_allows(counts: Counts, mu: float) -> None:
    """Of the points of the curve; where all guesses must be right it allows a hundredth more, and 0.9μ would not do."""
    curve = [
        (e, float(ndtr(0.5 * mu - e / mu) - math.exp(e) * ndtr(-0.5 * mu - e / mu))) for e in np.linspace(0, 3 * mu, 13)
    ]
    found = most(counts, curve)
    assert possible(counts, gaussian_needed(mu), 0.995 * found)
    if counts.correct == counts.guesses:
        assert not possible(counts, gaussian_needed(mu), 1.02 * found)
        assert not possible(counts, gaussian_needed(0.9 * mu), found)


def allowed(counts: Counts, mu: float) -> float:
    """The largest P[W >= c] where a canary drawn at random is guessed wrong, and W >= i − 1, as often as it must be for
    how often it is guessed right and W >= i, for every i up to c. By a linear program: tangents of the curve."""
    m, k, numbers = counts.canaries, counts.guesses, np.arange(counts.guesses + 1)
    rows, least = list[np.ndarray](), list[float]()
    for i in range(1, counts.correct + 1):
        right, wrong = (numbers >= i) * numbers / m, (numbers >= i - 1) * (k - numbers) / m
        for at in np.linspace(-6.0, 3.0, 400):
            slope = math.exp(mu * at - 0.5 * mu**2)
            rows, least = [*rows, slope * right - wrong], [*least, slope * float(ndtr(at)) - float(ndtr(at - mu))]
    aim = -1.0 * (numbers >= counts.correct)
    found = linprog(aim, A_ub=np.array(rows), b_ub=least, A_eq=np.ones((1, k + 1)), b_eq=[1.0])
    return -float(found.fun or 0.0)


@pytest.mark.parametrize("mu", [0.3, 1.0])
@pytest.mark.parametrize("counts", [Counts(3, 3, 2), Counts(10, 10, 8), Counts(20, 10, 9), Counts(40, 12, 10)], ids=str)
def test_the_recursion_is_the_least_total_of_probability(counts: Counts, mu: float) -> None:
    """Both ways: it neither refutes what its inequalities allow, nor allows what they exclude."""
    found = allowed(counts, mu)
    assert possible(counts, gaussian_needed(mu), 0.999 * min(found, 1.0))
    assert found == pytest.approx(1.0) or not possible(counts, gaussian_needed(mu), 1.005 * found)
