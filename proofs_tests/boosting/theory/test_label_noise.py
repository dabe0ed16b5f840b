"""Flipped labels: exact tails, what one label moves, and the corruption beyond which the weak learner has nothing."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from accountant.arrays import SignArray
from boosting import capped_scaling
from boosting.theory.halfspaces import centred_mean_advantage, tolerated_noise_rate
from boosting.theory.label_noise import (
    advantage_left,
    flipped,
    largest_corruption,
    tolerated_corruption,
    too_many_flips,
)
from boosting.theory.margin_samples import margin_data

SHARES = st.floats(1e-3, 1.0)


def signs(seed: int, n: int) -> SignArray:
    return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), n)


# --- flips ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.floats(0.0, 0.499))
def test_flips_are_repeatable_and_leave_the_labels_alone(seed: int, n: int, rate: float) -> None:
    labels = signs(seed, n)
    before = labels.copy()
    once, again = (flipped(labels, rate, np.random.default_rng(seed)) for _ in range(2))
    assert once.dtype == np.int8
    assert np.array_equal(once, again)
    assert set(once.tolist()) <= {-1, 1}
    assert np.array_equal(labels, before)
    assert np.array_equal(flipped(labels, 0.0, np.random.default_rng(seed)), labels)


@given(st.integers(0, 2**32 - 1), st.integers(1, 100), st.floats(0.0, 0.499), st.integers(0, 99))
def test_neighbours_stay_neighbours(seed: int, n: int, rate: float, place: int) -> None:
    """003, section 3.4: for the same flips a change of one label changes that one flipped label and no other."""
    labels, place = signs(seed, n), place % n
    other = labels.copy()
    other[place] *= -1
    ours, theirs = (flipped(each, rate, np.random.default_rng(seed)) for each in (labels, other))
    assert np.flatnonzero(ours != theirs).tolist() == [place]


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.4])
def test_flips_have_their_rate_and_are_independent(rate: float) -> None:
    """All of n and both of two neighbours, each within a two-sided tail of 1e-6."""
    n = 100_000
    flips = flipped(np.ones(n, dtype=np.int8), rate, np.random.default_rng(7)) < 0
    both = flips[::2] & flips[1::2]
    for found, size, chance in ((flips, n, rate), (both, n // 2, rate**2)):
        assert binom.ppf(5e-7, size, chance) <= np.count_nonzero(found) <= binom.isf(5e-7, size, chance)


# --- tails ------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 25), st.floats(1e-6, 0.499) | st.just(0.0), st.floats(0.0, 1.0))
def test_the_tail_is_the_binomials(n: int, noise_rate: float, share: float) -> None:
    """Summed in fractions over every number of flips that is more than share·n, that product taken exactly."""
    rate = Fraction(noise_rate)
    more = [k for k in range(n + 1) if k > Fraction(share) * n]
    exact = float(sum((math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in more), Fraction(0)))
    assert too_many_flips(n, noise_rate, share).exact == pytest.approx(exact, rel=1e-9, abs=1e-300)


@given(st.integers(1, 10**6), st.floats(0.0, 0.499), st.floats(0.0, 1.0))
def test_chernoffs_bound_is_above(n: int, rate: float, share: float) -> None:
    """Also where exactly share·n flips count as too many, as in the paper."""
    tail = too_many_flips(n, rate, share)
    assert 0.0 <= tail.exact <= tail.bound * (1.0 + 1e-9) + 1e-300
    assert tail.bound <= 1.0
    if share >= rate:
        at_least = float(binom.sf(math.ceil(Fraction(share) * n) - 1, n, rate))
        assert at_least <= tail.bound * (1.0 + 1e-9) + 1e-300


@given(SHARES, SHARES, st.floats(1e-6, 0.999))
def test_claim_2_is_the_bound_at_twice_the_rate(error: float, margin: float, failure: float) -> None:
    """n = 96·ln(4/β)/(ατ) and η = ατ/32 make Chernoff's bound β/4; the exact tail is below."""
    n = math.ceil(96.0 * math.log(4.0 / failure) / (error * margin))
    tail = too_many_flips(n, tolerated_noise_rate(error, margin), error * margin / 16.0)
    assert tail.exact <= tail.bound <= failure / 4.0 * (1.0 + 1e-12)
    assert tail.bound >= 0.9 * failure / 4.0 or n < 10_000  # rounding n up does the rest


def test_hand_computed_values() -> None:
    # More than 1 of 3 at rate 1/4: 3·(1/16)·(3/4) + 1/64 = 10/64
    assert too_many_flips(3, 0.25, 0.5).exact == pytest.approx(10 / 64)
    # exp(−100·(0.5 − 0.1)/3), and between the rate and twice the rate exp(−100·0.05²/(3·0.1))
    assert too_many_flips(100, 0.1, 0.5).bound == pytest.approx(math.exp(-40.0 / 3.0))
    assert too_many_flips(100, 0.1, 0.15).bound == pytest.approx(math.exp(-0.25 / 0.3))
    assert too_many_flips(100, 0.1, 0.05).bound == 1.0
    assert too_many_flips(10, 0.4, 1.0).exact == 0.0  # no more than all can be flipped
    assert tolerated_noise_rate(0.1, 0.2) == pytest.approx(0.000625)
    assert tolerated_corruption(0.2, 0.025) == pytest.approx(0.00125)
    # 0.5·0.25/1.25, and halfway there half of 0.125
    assert largest_corruption(0.25, 0.5) == pytest.approx(0.1)
    assert advantage_left(0.25, 0.5, 0.05) == pytest.approx(0.0625)


# --- what is left -----------------------------------------------------------------------------------------------------


@given(SHARES, SHARES)
def test_the_run_tolerates_the_flips_that_it_says(error: float, margin: float) -> None:
    """At κ = α/4, twice ατ/32 is κτ/4, which leaves τ/4 and is at least a quarter of what leaves nothing."""
    density = 0.25 * error
    twice = 2.0 * tolerated_noise_rate(error, margin)
    assert twice == pytest.approx(tolerated_corruption(margin, density))
    assert advantage_left(margin, density, twice) >= 0.25 * margin - 1e-15
    assert largest_corruption(margin, density) == pytest.approx(4.0 / (1.0 + margin) * twice)


@given(SHARES, SHARES, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_advantage_falls_in_a_line_to_the_largest_corruption(
    margin: float, density: float, part: float, corrupted: float
) -> None:
    most = largest_corruption(margin, density)
    assert advantage_left(margin, density, part * most) == pytest.approx(0.5 * margin * (1.0 - part), abs=1e-12)
    if corrupted >= most * (1.0 + 1e-12):
        assert advantage_left(margin, density, corrupted) == 0.0
    elif corrupted < most * (1.0 - 1e-12):
        assert advantage_left(margin, density, corrupted) == centred_mean_advantage(margin, density, corrupted) > 0.0


@pytest.mark.parametrize("corrupted", [0, 2, 5, 10, 20])
def test_no_more_can_be_promised(corrupted: int) -> None:
    """100 records on the axis, κ = 1/2, τ = 1/4, some flipped at −u with all the weight that they may have.

    z is τ − (1 + τ)·η/κ, so at 10 flips it is 0, and beyond them the hypothesis points the wrong way.
    """
    tau, density, n = 0.25, 0.5, 100
    signed = np.array([-1.0] * corrupted + [tau] * (n - corrupted))
    heavy = 1.0 / (density * n)
    rest = (1.0 - corrupted * heavy) / (n - corrupted)
    z = float(np.array([heavy] * corrupted + [rest] * (n - corrupted)) @ signed)
    assert max(0.0, 0.5 * z) == pytest.approx(advantage_left(tau, density, corrupted / n), abs=1e-15)
    assert (z > 1e-12) is (corrupted / n < largest_corruption(tau, density))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["sphere", "tight", "mixed", "plane"]),
    st.floats(0.05, 1.0),
    st.floats(0.1, 1.0),
    st.floats(0.0, 0.2),
    st.integers(2, 6),
)
def test_flipped_data_leave_what_is_promised(
    seed: int, shape: str, margin: float, density: float, rate: float, dimension: int
) -> None:
    """Random data with flips, under a κ-smooth weighting that favours the flipped records."""
    generator = np.random.default_rng(seed)
    data = margin_data(shape, 60, dimension, margin, generator)
    noisy = flipped(data.labels, rate, generator)
    wrong = noisy != data.labels
    logs = generator.normal(0.0, 2.0, 60) + 5.0 * wrong
    weights = capped_scaling(logs, np.ones(60, dtype=np.intp), density) / (density * 60)
    z = (weights * noisy) @ data.points
    assert 0.5 * np.linalg.norm(z) >= advantage_left(margin, density, float(wrong.mean())) - 1e-9


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: flipped(signs(0, 3), 0.5, np.random.default_rng(0)), "noise rate"),
    (lambda: flipped(signs(0, 3), math.nan, np.random.default_rng(0)), "noise rate"),
    (lambda: flipped(np.zeros(3, dtype=np.int8), 0.1, np.random.default_rng(0)), "labels"),
    (lambda: flipped(np.ones((3, 1), dtype=np.int8), 0.1, np.random.default_rng(0)), "labels"),
    (lambda: tolerated_noise_rate(0.0, 0.5), r"\(0, 1\]"),
    (lambda: tolerated_corruption(0.5, 1.5), r"\(0, 1\]"),
    (lambda: too_many_flips(0, 0.1, 0.5), "whole number"),
    (lambda: too_many_flips(10, -0.1, 0.5), "noise rate"),
    (lambda: too_many_flips(10, 0.1, 1.5), "share"),
    (lambda: too_many_flips(10, 0.1, math.nan), "non-negative"),
    (lambda: largest_corruption(math.nan, 0.5), r"\(0, 1\]"),
    (lambda: advantage_left(0.5, 0.5, 1.5), "corrupted"),
    (lambda: advantage_left(0.5, 0.0, 0.5), r"\(0, 1\]"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_their_ranges_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
