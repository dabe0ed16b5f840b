"""Angles and waves: exact products, rows that depend on themselves alone, and how far from the real ones they are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from accountant.arrays import FloatArray
from learners.random_features.angles import WAVE_ERROR, angle_places, cosines, sines, turn_frequencies, turns_of

SEEDS = st.integers(0, 2**32 - 1)
NUMBERS = st.floats(-(2.0**60), 2.0**60)


@given(st.integers(1, 2**18))
def test_so_many_products_fit_in_a_double(inputs: int) -> None:
    """[exact-angles] d·2^(r + s) <= 2^53, and one place more would not."""
    points, frequencies = angle_places(inputs)
    assert 0 <= points - frequencies <= 1
    assert inputs * 2 ** (points + frequencies) <= 2**53
    assert 2 ** math.ceil(math.log2(inputs)) * 2 ** (points + frequencies + 1) > 2**53


def in_whole_numbers(points: FloatArray, frequencies: FloatArray) -> list[list[float]]:
    """What `turns_of` is to give, by fractions, with the same rounding of points."""
    places = angle_places(points.shape[1])[0]
    found = []
    for point in points.tolist():
        exponent = max(math.frexp(max(map(abs, point)))[1], -900)
        step = Fraction(2) ** (exponent - places)
        cut = [round(Fraction(x) / step) * step for x in point]
        sums = [sum(x * Fraction(f) for x, f in zip(cut, column, strict=True)) for column in frequencies.T.tolist()]
        found.append([float(each - round(each)) for each in sums])
    return found


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(1, 9), st.data())
def test_angles_are_those_of_whole_numbers(seed: int, inputs: int, data: st.DataObject) -> None:
    """[exact-angles] Bit by bit, for points of any size: no product and no sum is rounded."""
    frequencies = turn_frequencies(np.random.default_rng(seed).standard_cauchy((inputs, 5)))
    points = data.draw(arrays.arrays(np.float64, (3, inputs), elements=NUMBERS))
    assert turns_of(points, frequencies).tolist() == in_whole_numbers(points, frequencies)


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(1, 40), st.integers(1, 70), st.sampled_from([1e-300, 1e-9, 1.0, 1e9, 1e18]))
def test_a_row_is_what_it_would_be_alone(seed: int, inputs: int, records: int, size: float) -> None:
    """[exact-angles] Bit by bit: in any block, in another order, beside far points, in arrays of another layout."""
    rng = np.random.default_rng(seed)
    frequencies = turn_frequencies(rng.standard_normal((inputs, 13)))
    points = rng.standard_normal((records, inputs)) * size
    points[rng.integers(records)] *= 1e-5
    turns, order = turns_of(points, frequencies), rng.permutation(records)
    assert np.array_equal(turns_of(points[order], frequencies), turns[order])
    assert np.array_equal(turns_of(np.asfortranarray(points), frequencies), turns)
    for row in range(min(records, 5)):
        alone = turns_of(points[row : row + 1], frequencies)
        assert np.array_equal(alone, turns[row : row + 1])
        assert np.array_equal(cosines(alone), cosines(turns)[row : row + 1])
        assert np.array_equal(sines(alone), sines(turns)[row : row + 1])


def bound(points: FloatArray, frequencies: FloatArray) -> FloatArray:
    """What the docstring says of angles, in turns, shape (n, N). frequencies: ω, as drawn."""
    r, s = angle_places(points.shape[1])
    rounded = np.abs(turn_frequencies(frequencies)).sum(axis=0)
    largest = np.abs(frequencies).max(axis=0) / (2.0 * math.pi)
    of_points = 2.0**-r * np.abs(points).max(axis=1)[:, None] * rounded
    return np.asarray(of_points + 2.0**-s * np.abs(points).sum(axis=1)[:, None] * largest)


def off(points: FloatArray, frequencies: FloatArray) -> FloatArray:
    """How far turns are from those of the points and frequencies as they are."""
    exact = points.astype(np.longdouble) @ (frequencies / (2.0 * math.pi)).astype(np.longdouble)
    found = np.abs(turns_of(points, turn_frequencies(frequencies)) - exact)
    return np.asarray(np.abs(found - np.rint(found)), dtype=np.float64)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 200), st.sampled_from([1e-3, 1.0, 30.0]))
def test_angles_are_near_the_real_ones(seed: int, inputs: int, size: float) -> None:
    """[exact-angles] Within the bound of `turns_of`."""
    rng = np.random.default_rng(seed)
    points, frequencies = rng.uniform(-size, size, (4, inputs)), rng.standard_normal((inputs, 6))
    assert np.all(off(points, frequencies) <= bound(points, frequencies) * (1.0 + 1e-9) + 1e-15)


def test_the_bound_of_angles_is_reached() -> None:
    """[exact-angles] One input, half a step above a power of two, in points and in frequencies: 10 % less is false."""
    r, s = angle_places(1)
    points, frequencies = np.array([[0.5 + 2.0 ** -(r + 1)]]), np.array([[2.0 * math.pi * (0.5 + 2.0 ** -(s + 1))]])
    assert off(points, frequencies)[0, 0] == pytest.approx(bound(points, frequencies)[0, 0], rel=0.01)


def test_usual_kernels_are_off_by_less_than_a_tenth_of_a_millionth() -> None:
    """Ten inputs in [−1, 1], the usual scale: single angles are off by 2e-7, kernels by less."""
    rng = np.random.default_rng(0)
    points, frequencies = rng.uniform(-1.0, 1.0, (300, 10)), rng.standard_normal((10, 200)) * 0.6 * math.sqrt(0.3)
    assert 2.0 * math.pi * np.max(off(points, frequencies)) < 3e-7
    turns, angles = turns_of(points, turn_frequencies(frequencies)), points @ frequencies
    found = cosines(turns) @ cosines(turns).T + sines(turns) @ sines(turns).T
    kernel = np.cos(angles) @ np.cos(angles).T + np.sin(angles) @ np.sin(angles).T
    assert np.max(np.abs(found - kernel)) / 200 < 1e-7


def test_waves_are_sine_and_cosine() -> None:
    """Within WAVE_ERROR of them and hardly less, never beyond 1, and exact where they are 0."""
    turns = np.linspace(-0.5, 0.5, 200_001)
    for found, true in ((cosines(turns), np.cos), (sines(turns), np.sin)):
        error = np.max(np.abs(found - true(2.0 * math.pi * turns)))
        assert 0.9 * WAVE_ERROR < error <= WAVE_ERROR
        assert np.max(np.abs(found)) <= 1.0
    assert cosines(np.array([0.25, -0.25])).tolist() == [0.0, 0.0]
    assert sines(np.array([0.0, 0.5, -0.5])).tolist() == [0.0, 0.0, 0.0]


def test_waves_do_not_depend_on_how_an_array_lies() -> None:
    """[exact-angles] Nor on a neighbour: each is elementwise arithmetic."""
    turns = np.random.default_rng(0).uniform(-0.5, 0.5, (64, 3))
    for wave in (cosines, sines):
        assert np.array_equal(wave(turns.T).T, wave(turns))
        assert np.array_equal(wave(turns[:, 1]), wave(turns)[:, 1])
