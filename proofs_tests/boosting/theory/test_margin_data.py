"""Made-up halfspaces: every margin, norm, label and direction is what the shape says."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstest

from accountant.arrays import FloatArray
from boosting.theory.margin_samples import MINORITY, SHAPES, MarginData, margin_data

SEEDS = st.integers(0, 2**32 - 1)
NAMES = st.sampled_from(sorted(SHAPES))
MARGINS = st.floats(1e-9, 1.0)


def margins(data: MarginData) -> FloatArray:
    return np.asarray(data.labels * (data.points @ data.direction))


@given(SEEDS, NAMES, st.integers(1, 40), st.integers(1, 30), MARGINS)
def test_the_laws_of_every_shape(seed: int, shape: str, n: int, dimension: int, margin: float) -> None:
    data = margin_data(shape, n, dimension, margin, np.random.default_rng(seed))
    assert data.points.shape == (n, dimension)
    assert data.labels.shape == (n,)
    assert (data.points.dtype.name, data.labels.dtype.name) == ("float64", "int8")
    assert set(data.labels.tolist()) <= {-1, 1}
    assert np.linalg.norm(data.direction) == pytest.approx(1.0, abs=1e-14)
    norms = np.linalg.norm(data.points, axis=1)
    assert norms.max() <= 1.0  # strictly: a learner that refuses |x| > 1 takes them
    found = margins(data)
    assert found.min() >= margin - 1e-11
    assert found.max() <= 1.0
    if shape in ("tight", "plane"):
        assert found == pytest.approx(margin, abs=1e-11)
    if shape == "sphere" or (shape != "mixed" and dimension > 1):
        assert norms == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("margin", [1e-3, 0.5, 1.0])
def test_ten_thousand_dimensions(shape: str, margin: float) -> None:
    """Where a uniform point of the sphere has a margin of 0.5 with probability below 1e-600."""
    data = margin_data(shape, 20, 10_000, margin, np.random.default_rng(5))
    assert margins(data).min() >= margin - 1e-11
    assert np.linalg.norm(data.points, axis=1).max() <= 1.0
    assert sum(float(x) ** 2 for x in data.points[0]) <= 1.0  # in another order of summation, too


@given(SEEDS, NAMES, MARGINS)
def test_one_dimension(seed: int, shape: str, margin: float) -> None:
    data = margin_data(shape, 30, 1, margin, np.random.default_rng(seed))
    assert abs(float(data.direction[0])) == 1.0
    size = np.abs(data.points[:, 0])
    if shape == "sphere":
        assert size == pytest.approx(1.0, abs=1e-11)
    elif shape != "mixed":
        assert size == pytest.approx(margin, abs=1e-11)
    assert np.array_equal(np.sign(data.points[:, 0] * data.direction[0]), data.labels)


@given(SEEDS, NAMES, st.integers(1, 8), st.floats(1e-150, 1e150))
def test_a_given_direction_is_used(seed: int, shape: str, dimension: int, length: float) -> None:
    unit = np.random.default_rng(seed + 1).standard_normal(dimension)
    unit /= np.linalg.norm(unit)
    data = margin_data(shape, 10, dimension, 0.2, np.random.default_rng(seed), direction=length * unit)
    assert data.direction == pytest.approx(unit, abs=1e-12)
    assert margins(data).min() >= 0.2 - 1e-11


@pytest.mark.parametrize("axis", [0, 3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_direction_along_an_axis(axis: int, sign: float) -> None:
    """The reflection that turns the points would cancel to nothing here if it took the other sign."""
    direction = np.zeros(4)
    direction[axis] = sign
    data = margin_data("mixed", 50, 4, 0.3, np.random.default_rng(2), direction)
    assert np.array_equal(data.direction, direction)
    assert (sign * data.labels * data.points[:, axis]).min() >= 0.3 - 1e-11


@given(SEEDS, NAMES)
def test_the_generator_decides_everything(seed: int, shape: str) -> None:
    one, same, other = (margin_data(shape, 20, 3, 0.1, np.random.default_rng(s)) for s in (seed, seed, seed + 1))
    for ours, theirs in ((one.points, same.points), (one.labels, same.labels), (one.direction, same.direction)):
        assert np.array_equal(ours, theirs)
    assert not np.array_equal(one.points, other.points)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_labels_are_fair_and_margins_the_same_on_both_sides(shape: str) -> None:
    n = 20_000
    data = margin_data(shape, n, 5, 0.2, np.random.default_rng(11))
    positive = data.labels > 0
    assert binom.ppf(5e-7, n, 0.5) <= np.count_nonzero(positive) <= binom.isf(5e-7, n, 0.5)
    found = margins(data)
    assert abs(found[positive].mean() - found[~positive].mean()) < 0.02


def test_the_shapes_are_distributed_as_they_say() -> None:
    """Kolmogorov and Smirnov at 1e-6: d = 3, where a coordinate of a uniform point of the sphere is uniform."""
    margin, n = 0.2, 20_000
    drawn = {shape: margin_data(shape, n, 3, margin, np.random.default_rng(3)) for shape in SHAPES}
    for shape in ("sphere", "mixed"):
        assert kstest((margins(drawn[shape]) - margin) / (1.0 - margin), "uniform").pvalue > 1e-6
    mixed = drawn["mixed"]
    across = np.linalg.norm(mixed.points - np.outer(mixed.points @ mixed.direction, mixed.direction), axis=1)
    # uniform in a disc of radius √(1 − m²): the square of the radius is uniform
    assert kstest(across**2 / (1.0 - margins(mixed) ** 2), "uniform").pvalue > 1e-6
    assert np.linalg.norm(drawn["tight"].points.mean(axis=0)) < 0.05


def test_the_plane_has_the_four_points_of_theorem_26s_counterexample() -> None:
    data = margin_data("plane", 1000, 7, 0.1, np.random.default_rng(1))
    assert np.unique(data.points.round(9), axis=0).shape == (4, 7)
    z = data.labels @ data.points / 1000
    across = z - (z @ data.direction) * data.direction
    assert z @ data.direction == pytest.approx(0.1)
    assert 0.5 * (0.1**2 + float(across @ across)) < 0.25 * 0.1  # z·x has less than τ/4, as uniform weights show


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: margin_data("cube", 5, 2, 0.1, np.random.default_rng(0)), "expected one of sphere"),
    (lambda: margin_data("sphere", 0, 2, 0.1, np.random.default_rng(0)), "whole number"),
    (lambda: margin_data("sphere", 5, 0, 0.1, np.random.default_rng(0)), "whole number"),
    (lambda: margin_data("sphere", 5, 2, 0.0, np.random.default_rng(0)), r"\(0, 1\]"),
    (lambda: margin_data("sphere", 5, 2, math.nan, np.random.default_rng(0)), r"\(0, 1\]"),
    (lambda: margin_data("sphere", 5, 2, 0.1, np.random.default_rng(0), np.ones(3)), "direction"),
    (lambda: margin_data("sphere", 5, 2, 0.1, np.random.default_rng(0), np.zeros(2)), "direction"),
    (lambda: margin_data("sphere", 5, 2, 0.1, np.random.default_rng(0), np.array([1.0, math.inf])), "direction"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_their_ranges_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("dimension", [2, 5, 60])
def test_the_mean_is_wrong_on_a_minority_and_the_direction_on_nobody(dimension: int) -> None:
    data = margin_data("minority", 5000, dimension, 0.1, np.random.default_rng(3))
    signed = data.labels[:, None] * data.points
    assert signed @ data.direction == pytest.approx(np.full(5000, 0.1), abs=1e-9)
    wrong = float(np.mean(signed @ signed.mean(axis=0) <= 0.0))
    assert abs(wrong - MINORITY) < 5.0 * math.sqrt(0.2 * 0.8 / 5000)  # five deviations: once in two million
