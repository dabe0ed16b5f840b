"""The Gaussian release above bounded-range ones: its sum in sixty digits, and adversaries that are enumerated."""

import math

import mpmath as mp
import pytest

from accountant.composition import adaptive_range
from accountant.composition.ranges_as_gaussian import (
    NEARLY_ALL,
    ONE_BY_ONE,
    STEP_UP,
    WIDEST,
    _nearly_all,
    epsilon,
    square,
)
from accountant.costs import gaussian
from accountant.costs.rounding import SLACK, finite_up
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

PLANS: tuple[list[tuple[float, int]], ...] = (
    [(0.3, 1)], [(0.3, 2)], [(0.1, 5)], [(0.1, 31)], [(0.1, 32)], [(4.8, 3)], [(1e-6, 20)],
    [(0.5, 3), (0.1, 4)], [(0.1, 4), (0.5, 3)], [(1.0, 2), (0.2, 30), (2.0, 1), (0.01, 7)], [(0.01, 7), (2.0, 3)],
)  # fmt: skip


def _exactly(widths: list[tuple[float, int]]) -> mp.mpf:
    """By the definition, release by release, the last one first."""
    s = mp.mpf(0)
    for width, rounds in reversed(widths):
        part = mp.mpf(width) ** 2 / 4
        for _ in range(rounds):
            s = max(s, 2 * part)
            s = s * s / (s - part)
    return s


@pytest.mark.parametrize("widths", PLANS)
def test_the_sum_is_that_of_its_definition(widths: list[tuple[float, int]]) -> None:
    found = square(widths)
    assert found is not None
    steps = sum(rounds for _, rounds in widths)
    just_above(found, _exactly(widths), within=2e-12 + steps * 2.0**-46)


def test_each_step_is_moved_up_by_what_is_said() -> None:
    """2^-47 a step, which over thousands of them is more than the slack of a²; rounding takes a part of it."""
    assert STEP_UP == 1.0 + 2.0**-47
    widths = [(0.3, 1), (0.2, 1)] * 2000
    moved = mp.mpf(0)
    for width, _ in reversed(widths):
        part = mp.mpf(width) ** 2 / 4 * (1 + mp.mpf(2) ** -40)
        moved = max(moved, 2 * part)
        moved = moved * moved / (moved - part) * (1 + mp.mpf(2) ** -47)
    found, real = square(widths), _exactly(widths)
    assert found is not None
    assert 0.9 * (moved - real) <= found - real <= 1.1 * (moved - real)


@pytest.mark.parametrize("rounds", [33, 34, 40, 100, 2000])
@pytest.mark.parametrize("width", [0.01, 0.7])
def test_many_rounds_stay_above_their_own_sum_and_near_it(rounds: int, width: float) -> None:
    """The harmonic sum replaces terms 1/(m − 1 + j) by at most those of the slowest growth."""
    for before in ([], [(2.0 * width, 3)]):
        for after in ([], [(0.7 * width, 40)], [(4.0 * width, 2)]):
            widths = [*before, (width, rounds), *after]
            found = square(widths)
            assert found is not None
            just_above(found, _exactly(widths), within=8e-4)


def _harmonic(rounds: int, start: mp.mpf) -> mp.mpf:
    """s after the rounds that are not taken one by one, by the integral bound on the harmonic sum, in parts."""
    share = 1 / (start - 1)
    return start + rounds + share + mp.log1p((rounds - 1) * share)


@pytest.mark.parametrize("rounds", [33, 34, 60, 1000, 10**6, 2**53])
def test_the_harmonic_sum_is_its_formula(rounds: int) -> None:
    assert ONE_BY_ONE == 32
    found = square([(0.2, rounds)])
    assert found is not None
    part = mp.mpf(0.2) ** 2 / 4
    started = _exactly([(0.2, ONE_BY_ONE)]) / part
    just_above(found, part * _harmonic(rounds - ONE_BY_ONE, started), within=6e-12)


def test_widths_at_the_ends() -> None:
    assert (WIDEST, NEARLY_ALL) == (4.8, 1.006)
    assert square([]) == square([(0.0, 7)]) == square([(0.3, 0)]) == 0.0
    assert square([(0.3, 2), (0.0, 9), (0.1, 0)]) == square([(0.3, 2)])
    assert square([(WIDEST, 1)]) is not None
    assert square([(math.nextafter(WIDEST, 5.0), 1), (0.1, 3)]) is None
    assert square([(0.1, 3), (4.81, 1)]) is None
    assert square([(1e-300, 5)]) == square([(adaptive_range.NARROWEST, 5)])
    least = square([(1e-300, 1)])
    assert least is not None
    assert least > 0.0
    for wrong in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            epsilon([(0.1, 2)], wrong, 1.0)


def _lost(width: float, rounds: int, share: float, target: float) -> mp.mpf:
    """δ at the target of the two-candidate mechanism with loss t or t − w, t = share·w, repeated."""
    w = mp.mpf(width)
    t = w * mp.mpf(share)
    p = mp.expm1(w - t) / (mp.exp(w - t) - mp.exp(-t))
    total = mp.mpf(0)
    for truths in range(rounds + 1):
        loss = truths * t - (rounds - truths) * (w - t)
        if loss > target:
            chance = mp.binomial(rounds, truths) * p**truths * (1 - p) ** (rounds - truths)
            total += chance * -mp.expm1(target - loss)
    return total


@pytest.mark.parametrize(("width", "rounds"), [(0.05, 2), (0.3, 10), (1.5, 4), (0.1, 120), (4.7, 2), (6.0, 5)])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_no_repeated_mechanism_loses_more_and_a_tenth_less_would_be_lost(
    width: float, rounds: int, delta: float
) -> None:
    found = epsilon([(width, rounds)], delta, width * rounds)
    assert found is not None
    shares = [0.5 + place / 40.0 for place in range(-10, 11, 2)]
    assert max(_lost(width, rounds, share, found) for share in shares) <= delta
    if rounds >= 10:
        assert max(_lost(width, rounds, share, 0.9 * found - 1e-9) for share in shares) > delta


def test_the_gaussian_release_is_priced_on_its_exact_curve() -> None:
    """Where it is nearly all, it is what is charged: ε of √s at δ, with s from above."""
    for rounds, delta in ((3000, 1e-6), (10**5, 1e-3), (10**6, 1e-12)):
        width = 1e-3
        found = epsilon([(width, rounds)], delta, 1e9)
        total = square([(width, rounds)])
        assert found is not None
        assert total is not None
        mu = math.sqrt(total)
        assert found == gaussian.epsilon(finite_up(mu), delta)
        assert gaussian_delta(mu, found) <= delta
        assert gaussian_delta(mu * (1 - 1e-11), found * (1 - 1e-9)) > delta * (1 - 1e-6)


@pytest.mark.parametrize("widths", [[(0.2, 10)], [(0.3, 3), (0.1, 20)], [(4.0, 2)], [(0.05, 100)]])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_the_smaller_of_two_bounds_is_taken(widths: list[tuple[float, int]], delta: float) -> None:
    above = sum(width * rounds for width, rounds in widths)
    finer, total = adaptive_range.epsilon(widths, delta, above), square(widths)
    assert finer is not None
    assert total is not None
    coarser = gaussian.epsilon(math.sqrt(total), delta)
    assert epsilon(widths, delta, above) == pytest.approx(min(finer, coarser), rel=1e-11)


def test_one_wide_release_beside_many_narrow_ones_is_not_priced_on_the_grid() -> None:
    """Which is as coarse as the wide one allows: 1.8 times the Gaussian release."""
    widths = [(1.0, 1), (0.02, 2000)]
    finer, total = adaptive_range.epsilon(widths, 1e-6, 1e4), square(widths)
    assert finer is not None
    assert total is not None
    assert epsilon(widths, 1e-6, 1e4) == gaussian.epsilon(finite_up(math.sqrt(total)), 1e-6) < 0.6 * finer


def test_either_bound_may_be_missing() -> None:
    wide, long = [(6.0, 3)], [(1.0, 10_000)]
    assert epsilon(wide, 1e-6, 18.0) == adaptive_range.epsilon(wide, 1e-6, 18.0)
    assert adaptive_range.epsilon(long, 1e-6, 1e4) is None
    total = square(long)
    assert total is not None
    assert epsilon(long, 1e-6, 1e4) == pytest.approx(gaussian.epsilon(math.sqrt(total), 1e-6), rel=1e-11)
    assert epsilon([(6.0, 10_000)], 1e-6, 6e4) is None


@pytest.mark.parametrize(
    ("widths", "total", "nearly"),
    [
        ([(0.25, 64)], NEARLY_ALL, True),
        ([(0.25, 64)], math.nextafter(NEARLY_ALL, 2.0), False),
        ([(0.25, 32), (0.125, 128)], NEARLY_ALL, True),
        ([(0.25, 32), (0.125, 128)], 1.0061, False),
        ([(adaptive_range.MODERATE, 16)], NEARLY_ALL, True),
        ([(math.nextafter(adaptive_range.MODERATE, 1.0), 16)], 1.0, False),
        ([(0.25, 64), (0.75, 1)], 1.0, False),
    ],
)
def test_where_no_grid_is_asked(widths: list[tuple[float, int]], total: float, nearly: bool) -> None:
    """s against Σa², and the widest of the releases against MODERATE, both to the last digit."""
    assert _nearly_all(widths, total) is nearly


def test_squares_of_widths_and_harmonic_sums_are_moved_up() -> None:
    """By SLACK each, beside the 2^-47 of a step."""
    one, many = square([(0.3, 1)]), square([(0.2, ONE_BY_ONE + 1)])
    assert one is not None
    assert many is not None
    assert one >= _exactly([(0.3, 1)]) * (1 + 0.95 * SLACK + 2.0**-47)
    assert many >= _exactly([(0.2, ONE_BY_ONE + 1)]) * (1 + 1.95 * SLACK)


def test_a_wide_release_is_priced_on_the_grid_however_many_rounds_there_are() -> None:
    """Beyond MODERATE a range costs less than Gaussian noise of its variance."""
    for widths in ([(0.7, 600)], [(2.0, 1), (0.1, 500)]):
        found, finer, total = epsilon(widths, 1e-6, 1e3), adaptive_range.epsilon(widths, 1e-6, 1e3), square(widths)
        assert finer is not None
        assert total is not None
        assert found == min(finer, gaussian.epsilon(finite_up(math.sqrt(total)), 1e-6))
