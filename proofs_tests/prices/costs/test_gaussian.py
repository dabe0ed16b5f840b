"""The Gaussian curve and its inverses against its definition in eighty digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from accountant.costs.curves import ABSOLUTE
from accountant.costs.gaussian import (
    LARGE,
    SMALL,
    classical_sigma,
    delta,
    epsilon,
    mu,
    profile,
)
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above

MUS = (1e-5, 1e-3, 0.05, 0.31, 1.0, 2.7, 11.0, 90.0)
SHARES = (-6.0, -2.0, -0.5, 0.0, 0.5, 1.0, 3.0, 8.0)
"""Of μ, beyond the mean loss: where δ is looked at."""


def _loss(mean_and_width: float, share: float) -> float:
    return 0.5 * mean_and_width**2 + share * mean_and_width


@pytest.mark.parametrize("found", MUS)
def test_the_profile_is_the_curve_to_ten_digits(found: float) -> None:
    losses = np.array([_loss(found, share) for share in SHARES])
    for loss, value in zip(losses.tolist(), profile(found, losses).tolist(), strict=True):
        assert value == pytest.approx(float(gaussian_delta(found, loss)), rel=3e-9 if found < 1e-3 else 4e-11, abs=0.0)


def test_two_methods_meet_at_the_borders() -> None:
    assert (SMALL, LARGE) == (1e-6, 1e4)
    losses = np.array([0.0, 1e-6, 3e-6])
    assert profile(SMALL, losses) == pytest.approx(profile(SMALL * (1 - 1e-9), losses), rel=3e-6)
    middle = np.array([0.5 * LARGE**2 + share * LARGE for share in (-3.0, 0.0, 1.0, 4.0)])
    assert profile(LARGE, middle) == pytest.approx(profile(LARGE * (1 + 1e-9), middle), rel=1e-3)


@pytest.mark.parametrize("found", [1e-12, 1e-9, 3.3e-7, 0.99e-6])
@pytest.mark.parametrize("share", [-30.0, -2.0, -0.3, 0.0, 0.3, 1.0, 3.0, 8.0])
def test_a_tangent_is_just_above_for_a_small_mu(found: float, share: float) -> None:
    loss = found * share
    value = float(profile(found, np.array([loss]))[0])
    rounded = value * (1.0 + 1e-15) if share < -20.0 else value  # far left of 0 nothing is added but 1 − e^loss
    just_above(rounded, gaussian_delta(found, loss), within=3e-6 if share < 4.0 else 3e-5)


def test_left_of_a_tangent_delta_is_one_less_e_to_the_loss() -> None:
    for loss in (-0.7, -3.0, -40.0):
        assert profile(1e-7, np.array([loss]))[0] == pytest.approx(-math.expm1(loss), rel=1e-12)
    far = profile(1e-7, np.array([-1e-7 * 39.0, 1e-7 * 39.0, 1e-7 * 50.0, 1.0]))
    assert np.all(far[1:] >= 0.0)
    assert np.all(far[1:] < 1e-300)
    assert far[0] == pytest.approx(39e-7, rel=1e-5)


@pytest.mark.parametrize("found", [1.5e4, 1e6, 1e8])
@pytest.mark.parametrize("share", [-3.0, 0.0, 1.0, 4.0])
def test_beyond_large_the_value_stays_above(found: float, share: float) -> None:
    loss = _loss(found, share)
    value = float(profile(found, np.array([loss]))[0])
    with mp.workdps(60):
        argument = mp.mpf(found) / 2 - mp.mpf(loss) / mp.mpf(found)
        just_above(value, mp.ncdf(argument), within=1e-7 * found / 1e6 + 1e-9)
    assert value >= gaussian_delta(found, loss)


@pytest.mark.parametrize("share", [-2.0, -0.4, 0.3, 1.0, 2.5])
def test_the_head_room_beyond_large_is_what_is_said(share: float) -> None:
    """2^-50 of both terms, where rounding needs 2^-53 of one of them."""
    found = 1e11
    loss = _loss(found, share)
    with mp.workdps(60):
        half, ratio = mp.mpf(found) / 2, mp.mpf(loss) / mp.mpf(found)
        room = (half + abs(ratio)) * mp.mpf(2) ** -50
        argument = half - ratio
        value = mp.mpf(float(profile(found, np.array([loss]))[0]))
        lower, upper = mp.ncdf(argument + room * mp.mpf(0.8)), mp.ncdf(argument + room * mp.mpf(1.2))
        assert lower <= value <= upper


def test_the_head_room_of_a_tangent_is_what_is_said() -> None:
    """1e-10, where cancellation at eight deviations needs some 1e-14."""
    for share in (0.0, 0.4, 2.0, 8.0):
        loss = 1e-13 * share
        value = float(profile(1e-13, np.array([loss]))[0])
        just_above(value, gaussian_delta(1e-13, loss) * (1 + mp.mpf(0.9e-10)), within=0.3e-10)


def test_infinite_ratios_are_no_warning() -> None:
    assert profile(1e-306, np.array([700.0]))[0] == 0.0
    assert profile(1e5, np.array([1e300]))[0] == 0.0
    assert profile(0.5, np.array([1.7e308]))[0] == 0.0


@pytest.mark.parametrize("found", [1e-9, *MUS, 3e4])
def test_delta_is_never_below_the_curve_and_hardly_above(found: float) -> None:
    for share in (0.0, 0.3, 1.0, 2.2, 4.0, 7.0, 20.0):
        loss = max(0.0, _loss(found, share)) if found > 1e-3 else found * share
        within = 4e-3 if found < SMALL else 1e-3 if found > LARGE else 3e-12 * (1.0 + 2.0 / found)
        just_above(delta(found, loss), gaussian_delta(found, loss), within, absolute=1e-300)


@pytest.mark.parametrize("found", [1e-4, 1e-3, 0.31, 1.0, 11.0])
def test_the_head_room_on_delta_is_what_is_said(found: float) -> None:
    """4e-13·(1 + 1/μ), of which the two Mills ratios' rounding takes a hundredth."""
    room = 4e-13 * (1.0 + 1.0 / found)
    for share in (0.0, 1.0, 4.0):
        loss = _loss(found, share)
        just_above(delta(found, loss), gaussian_delta(found, loss) * (1 + mp.mpf(0.9 * room)), within=0.2 * room)


def test_delta_at_the_ends() -> None:
    assert delta(0.0, 0.0) == delta(0.0, 3.0) == 0.0
    assert delta(100.0, 0.0) == 1.0
    assert delta(0.01, 700.0) == 2.0**-1000
    assert delta(1.0, 0.0) == pytest.approx(0.3829249225480261, rel=1e-11)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            delta(wrong, 1.0)
        with pytest.raises(ValueError, match="non-negative"):
            delta(1.0, wrong)


@pytest.mark.parametrize("found", [1e-4, 0.02, 0.4, 1.0, 3.3, 20.0, 200.0])
@pytest.mark.parametrize("at", [1e-280, 1e-30, 1e-9, 1e-5, 0.03, 0.5, 0.9])
def test_epsilon_is_above_the_root_and_a_little_less_is_refuted(found: float, at: float) -> None:
    value = epsilon(found, at)
    assert gaussian_delta(found, value) <= at
    lower = value * (1.0 - 1e-9) - 1e-10
    assert lower < 0.0 or gaussian_delta(found, lower) > at


def _root(found: float, at: float, start: float) -> mp.mpf:
    """Where the curve comes down to δ: by halves, in fifty digits."""
    with mp.workdps(50):
        low, high = mp.mpf(start) * mp.mpf("0.9"), mp.mpf(start) * mp.mpf("1.1")
        for _ in range(120):
            middle = (low + high) / 2
            if gaussian_delta(found, middle) > at:
                low = middle
            else:
                high = middle
        return high


@pytest.mark.parametrize(("found", "at"), [(2e-6, 1e-280), (0.3, 1e-9), (1.0, 0.01), (20.0, 1e-5)])
def test_epsilon_has_its_head_room_on_top_of_the_root(found: float, at: float) -> None:
    value = epsilon(found, at)
    root = _root(found, at, value)
    with mp.workdps(50):
        just_above(value, root * (1 + mp.mpf(2) ** -40) + mp.mpf(ABSOLUTE), within=3e-12, absolute=4e-14)


def test_epsilon_at_the_ends() -> None:
    assert epsilon(0.0, 1e-6) == 0.0
    assert epsilon(1.0, 0.3829249225490) == 0.0
    assert epsilon(1.0, 0.3829249225470) > 0.0
    assert epsilon(1e-9, 1e-6) == 0.0
    assert 0.0 < epsilon(1e-5, 1e-9) < 1e-4
    for wrong in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match="number in \\(0, 1\\)"):
            epsilon(1.0, wrong)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            epsilon(wrong, 0.1)


@pytest.mark.parametrize("loss", [0.0, 1e-6, 0.01, 0.5, 1.0, 8.0, 300.0])
@pytest.mark.parametrize("at", [1e-30, 1e-9, 1e-5, 0.03, 0.5, 0.9])
def test_mu_is_just_below_the_root(loss: float, at: float) -> None:
    found = mu(loss, at)
    assert gaussian_delta(found, loss) <= at
    assert gaussian_delta(found * (1.0 + 1e-10 + 1e-12 / max(found, SMALL)), loss) > at


def test_mu_refuses_what_is_no_budget() -> None:
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="number in \\(0, 1\\)"):
            mu(1.0, wrong)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="non-negative"):
            mu(wrong, 0.1)


@pytest.mark.parametrize("loss", [1e-3, 0.1, 0.7, math.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("at", [1e-9, 1e-5, 0.3])
@pytest.mark.parametrize("moves", [1e-3, 1.0, 7.7])
def test_the_classical_sigma_is_its_formula(loss: float, at: float, moves: float) -> None:
    with mp.workdps(60):
        truth = mp.sqrt(2 * mp.log(mp.mpf(5) / 4 / mp.mpf(at))) * mp.mpf(moves) / mp.mpf(loss)
        just_above(classical_sigma(loss, at, moves), truth)


def test_the_classical_sigma_is_proved_below_one_only() -> None:
    for wrong in (0.0, 1.0, 8.0, math.nan):
        with pytest.raises(ValueError, match="0 < epsilon < 1"):
            classical_sigma(wrong, 1e-5, 1.0)
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="number in \\(0, 1\\)"):
            classical_sigma(0.5, wrong, 1.0)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="positive"):
            classical_sigma(0.5, 1e-5, wrong)
