"""Composition theorems for fixed plans against their formulas in sixty digits, and against enumeration."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant.composition.fixed_plans import (
    drv,
    drv_tight,
    kov_heterogeneous,
    kov_homogeneous,
    randomized_response_delta,
)
from accountant.costs.cost_kinds import ApproxDP
from accountant.costs.rounding import BeyondFloats
from proofs_tests.support.mechanisms.closed_forms import binomial_delta
from proofs_tests.support.mechanisms.just_above import just_above, spread

Theorem = Callable[[float, float, int, float], ApproxDP]
ROUNDS = ((1, 0.3), (2, 1.7), (7, 0.11), (30, 0.5), (400, 0.013), (3, 5.0))
DELTAS = (0.0, 1e-12, 3.3e-7, 1e-4)


def _drift(theorem: Theorem, epsilon: mp.mpf) -> mp.mpf:
    return mp.expm1(epsilon) if theorem is drv else mp.tanh(epsilon / 2)


@pytest.mark.parametrize("theorem", [drv, drv_tight])
@pytest.mark.parametrize(("rounds", "epsilon"), ROUNDS)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("delta_prime", [1e-9, 3e-5, 0.2])
def test_advanced_composition_is_its_formula(
    theorem: Theorem, rounds: int, epsilon: float, delta: float, delta_prime: float
) -> None:
    found = theorem(epsilon, delta, rounds, delta_prime)
    with mp.workdps(60):
        each = mp.mpf(epsilon)
        spread = mp.sqrt(2 * rounds * mp.log(1 / mp.mpf(delta_prime))) * each
        just_above(found.epsilon, spread + rounds * each * _drift(theorem, each))
        just_above(found.delta, rounds * mp.mpf(delta) + mp.mpf(delta_prime))


@pytest.mark.parametrize("theorem", [drv, drv_tight])
def test_advanced_composition_at_the_ends(theorem: Theorem) -> None:
    assert 0.0 <= theorem(0.0, 0.0, 5, 1e-5).epsilon < 1e-300
    assert theorem(1.0, 0.0, 2**53, 1e-5).epsilon < math.inf
    with pytest.raises(BeyondFloats, match="rounds"):
        theorem(1.0, 0.0, 2**53 + 1, 1e-5)
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="whole number"):
            theorem(1.0, 0.0, wrong, 1e-5)  # type: ignore[arg-type]  # the point of the test
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            theorem(wrong, 0.0, 2, 1e-5)
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            theorem(1.0, wrong, 2, 1e-5)
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            theorem(1.0, 0.0, 2, wrong)
    with pytest.raises(ValueError, match="promise nothing"):
        theorem(1.0, 0.25, 3, 0.25)
    assert theorem(1.0, 0.25, 2, 0.25).delta == pytest.approx(0.75, rel=1e-11)
    with pytest.raises(ValueError, match="promise nothing"):
        theorem(1.0, 0.5, 1, 0.5)


def test_a_growth_beyond_floats_is_refused_and_not_computed() -> None:
    assert drv(701.0, 0.0, 1, 1e-5).epsilon > 1e300
    for epsilon in (709.0, 710.0, 1e5):
        with pytest.raises(BeyondFloats, match="loss beyond any float"):
            drv(epsilon, 0.0, 1, 1e-5)


@pytest.mark.parametrize(("rounds", "epsilon"), [(1, 0.3), (2, 1.7), (7, 0.11), (30, 0.5), (101, 0.05), (3, 9.0)])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.55, 0.9, 0.999])
def test_the_delta_of_randomized_response_is_that_of_all_its_outcomes(
    rounds: int, epsilon: float, share: float
) -> None:
    target = share * rounds * epsilon
    truth = binomial_delta(epsilon, rounds, target)
    just_above(randomized_response_delta(epsilon, rounds, target), truth, within=1.1e-9)


def _many(epsilon: float, rounds: int, target: float) -> mp.mpf:
    """The same sum for many rounds: from the first outcome beyond the target, until nothing is added."""
    with mp.workdps(40):
        truth = 1 / (1 + mp.exp(-mp.mpf(epsilon)))
        truths = math.floor((rounds + target / epsilon) / 2) + 1
        chance = mp.exp(
            mp.loggamma(rounds + 1) - mp.loggamma(truths + 1) - mp.loggamma(rounds - truths + 1)
            + truths * mp.log(truth) + (rounds - truths) * mp.log(1 - truth)
        )  # fmt: skip
        odds, total = truth / (1 - truth), mp.mpf(0)
        while chance > total * mp.mpf(10) ** -20:
            total += chance * -mp.expm1(mp.mpf(target) - (2 * truths - rounds) * mp.mpf(epsilon))
            chance *= odds * (rounds - truths) / (truths + 1)
            truths += 1
        return total


@pytest.mark.parametrize(("rounds", "epsilon", "target"), [(7, 0.2, 0.5), (1000, 0.02, 1.1), (2 * 10**5, 2e-3, 2.1)])
def test_the_head_room_on_delta_is_what_is_said(rounds: int, epsilon: float, target: float) -> None:
    """Of double precision's errors, which grow with ln k!, a part of it: on record is the whole."""
    room = 1e-9 + 1e-15 * rounds * math.log(rounds + 1.0)
    truth = _many(epsilon, rounds, target)
    assert 0.8 * room < (randomized_response_delta(epsilon, rounds, target) - truth) / truth < 1.2 * room


def test_the_delta_of_randomized_response_at_the_ends() -> None:
    assert randomized_response_delta(0.5, 3, 1.5) == randomized_response_delta(0.5, 3, 7.0) == 0.0
    assert randomized_response_delta(0.0, 3, 0.0) == 0.0
    assert randomized_response_delta(50.0, 9, 0.0) == 1.0
    assert randomized_response_delta(0.25, 4000, 1.0) == 1.0
    for rounds in (10**5, 3 * 10**5):
        found = randomized_response_delta(1e-3, rounds, 0.7)
        mu = 1e-3 * math.sqrt(rounds)
        normal = mp.ncdf(mu / 2 - 0.7 / mu) - mp.exp(0.7) * mp.ncdf(-mu / 2 - 0.7 / mu)
        assert found == pytest.approx(float(normal), rel=2e-3)


KOV = [(1, 0.3), (2, 1.7), (7, 0.11), (30, 0.5), (101, 0.05), (9, 1.0)]


@pytest.mark.parametrize(("rounds", "epsilon"), KOV)
@pytest.mark.parametrize("delta", [0.0, 3.3e-7, 1e-3])
@pytest.mark.parametrize("slack", [1e-12, 1e-5, 0.01])
def test_optimal_composition_holds_and_a_little_less_does_not(
    rounds: int, epsilon: float, delta: float, slack: float
) -> None:
    found = kov_homogeneous(epsilon, delta, rounds, slack)
    with mp.workdps(60):
        just_above(found.delta, 1 - (1 - mp.mpf(delta)) ** rounds * (1 - mp.mpf(slack)))
    assert binomial_delta(epsilon, rounds, found.epsilon) <= slack
    lower = found.epsilon * (1.0 - 1e-7) - 1e-9
    assert lower < 0.0 or binomial_delta(epsilon, rounds, lower) > slack


@pytest.mark.parametrize(("rounds", "epsilon"), KOV)
def test_optimal_composition_without_slack_is_basic(rounds: int, epsilon: float) -> None:
    for slack in (0.0, 0.9e-290):
        found = kov_homogeneous(epsilon, 0.0, rounds, slack)
        just_above(found.epsilon, rounds * Fraction(epsilon))
    found = kov_homogeneous(epsilon, 1e-4, rounds, 0.0)
    just_above(found.epsilon, rounds * Fraction(epsilon))
    with mp.workdps(60):
        just_above(found.delta, 1 - (1 - mp.mpf(1e-4)) ** rounds)
    assert kov_homogeneous(epsilon, 0.0, rounds, 0.0).delta == 0.0


def test_basic_composition_is_rounded_up() -> None:
    for rounds in (3, 7, 11):
        for epsilon in spread(0.1, 0.9, 7):
            just_above(kov_homogeneous(epsilon, 0.0, rounds, 0.0).epsilon, rounds * Fraction(epsilon))


def test_a_slack_below_all_chances_in_floats_is_none() -> None:
    """2^-1200 is no float: the sum over outcomes would be 0 where the truth is not."""
    for slack in (0.0, 1e-300):
        just_above(kov_homogeneous(0.01, 0.0, 1200, slack).epsilon, 1200 * Fraction(0.01))


def test_optimal_composition_at_the_ends() -> None:
    assert kov_homogeneous(0.0, 0.0, 9, 0.0) == kov_homogeneous(0.0, 0.0, 9, 0.0) == ApproxDP(0.0, 0.0)
    assert kov_homogeneous(0.0, 0.0, 9, 1e-5).epsilon == 0.0
    assert kov_homogeneous(0.0, 1e-3, 9, 0.0).epsilon == 0.0
    # One round of ε-randomized response is told apart with probability tanh(ε/2), at ε = 0.
    assert kov_homogeneous(0.5, 0.0, 1, math.tanh(0.25) * (1.0 + 2e-9)).epsilon == 0.0
    assert kov_homogeneous(0.5, 0.0, 1, math.tanh(0.25) * (1.0 - 1e-9)).epsilon > 0.0
    for rounds in (0, -1, True):
        with pytest.raises(ValueError, match="whole number"):
            kov_homogeneous(0.5, 0.0, rounds, 1e-5)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            kov_homogeneous(wrong, 0.0, 2, 1e-5)
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            kov_homogeneous(0.5, wrong, 2, 1e-5)
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            kov_homogeneous(0.5, 1e-5, 2, wrong)


MIXED = (
    [0.1] * 40,
    [0.5, 0.01, 0.3, 0.3, 0.02] * 20,
    [3.0, 0.1],
    [1.3],
    [0.004] * 500,
    [0.09 * 0.99**place for place in range(300)],
)


@pytest.mark.parametrize("epsilons", MIXED)
@pytest.mark.parametrize("slack", [1e-9, 1e-3, 0.2, 0.9])
def test_closed_forms_for_unequal_costs_are_the_least_of_three(epsilons: list[float], slack: float) -> None:
    found = kov_heterogeneous(epsilons, [], slack)
    with mp.workdps(60):
        each = [mp.mpf(epsilon) for epsilon in epsilons]
        squares = mp.fsum(epsilon**2 for epsilon in each)
        drift = mp.fsum(epsilon * (mp.exp(epsilon) - 1) / (mp.exp(epsilon) + 1) for epsilon in each)
        forms = (
            mp.fsum(each),
            drift + mp.sqrt(2 * squares * mp.log(mp.e + mp.sqrt(squares) / mp.mpf(slack))),
            drift + mp.sqrt(2 * squares * mp.log(1 / mp.mpf(slack))),
        )
        just_above(found.epsilon, min(forms))
        just_above(found.delta, slack)


def test_each_of_the_three_closed_forms_is_the_least_somewhere() -> None:
    basic = kov_heterogeneous([1.0, 2.0], [], 1e-9)
    assert basic.epsilon == pytest.approx(3.0, rel=1e-11)
    few, many = [0.02] * 100, [0.02] * 100_000
    squares = [float(np.sum(np.square(each))) for each in (few, many)]
    for epsilons, square in zip((few, many), squares, strict=True):
        drift = sum(epsilon * math.tanh(0.5 * epsilon) for epsilon in epsilons)
        second = drift + math.sqrt(2.0 * square * math.log(math.e + math.sqrt(square) / 0.01))
        third = drift + math.sqrt(-2.0 * square * math.log(0.01))
        assert kov_heterogeneous(epsilons, [], 0.01).epsilon == pytest.approx(min(second, third), rel=1e-11)
    assert second > third
    assert squares[0] < 1.0


@pytest.mark.parametrize("deltas", [[1e-5], [1e-6, 1e-3, 0.0, 0.2], [1e-9] * 500])
@pytest.mark.parametrize("slack", [1e-7, 0.01])
def test_the_deltas_of_unequal_costs_add_up_with_the_slack(deltas: list[float], slack: float) -> None:
    found = kov_heterogeneous([0.1] * len(deltas), deltas, slack)
    with mp.workdps(60):
        kept = mp.fprod(1 - mp.mpf(delta) for delta in deltas) * (1 - mp.mpf(slack))
        just_above(found.delta, 1 - kept)


def test_unequal_costs_at_the_ends() -> None:
    assert kov_heterogeneous([1e200, 1e200], [], 1e-5).epsilon == pytest.approx(2e200, rel=1e-11)
    for wrong in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            kov_heterogeneous([0.1], [], wrong)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            kov_heterogeneous([0.1, wrong], [], 1e-5)
    for wrong in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\)"):
            kov_heterogeneous([0.1, 0.1], [0.0, wrong], 1e-5)
