"""Sums over unit-length features: exact in any order, within their sensitivities, and no further than must be."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from mechanisms.gradients.feature_queries import (
    clipped_pull,
    cut,
    folded_lengths,
    from_moments,
    in_ball,
    joint_l2,
    joint_moments,
    on_grid,
    places,
    projected_coefficients,
    unit_rows,
)
from proofs_tests.support.learners.unit_rows import Found, Rows, random_rows

SEEDS = st.integers(0, 2**32 - 1)


@given(st.integers(1, 2**32))
def test_sums_of_so_many_products_fit_in_a_double(records: int) -> None:
    """[exact-sums] m·2^2b <= 2^53, and one place more would not."""
    binary = places(records)
    assert records * 4**binary <= 2**53
    assert 2 ** math.ceil(math.log2(records)) * 4 ** (binary + 1) > 2**53


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.integers(1, 400), st.integers(1, 9))
def test_sums_do_not_depend_on_the_order_or_the_blocks(seed: int, records: int, width: int) -> None:
    """[exact-sums] The same bits for records in another order, in other blocks, and in whole numbers of Python."""
    rng = np.random.default_rng(seed)
    rows, weights = random_rows(rng, records, width), cut(rng.uniform(-1.0, 1.0, records), places(records))
    order = rng.permutation(records)
    parts = np.array_split(order, min(records, 3))
    found = weights @ rows
    assert np.array_equal(found, weights[order] @ rows[order])
    assert np.array_equal(found, sum((weights[part] @ rows[part] for part in parts), np.zeros(width)))
    scale = 2 ** places(records)
    whole = [sum(int(w * scale) * int(x * scale) for w, x in zip(weights, column, strict=True)) for column in rows.T]
    assert found.tolist() == [each / scale**2 for each in whole]


def test_without_cutting_the_order_shows() -> None:
    """What exact sums are for: plain doubles give other last bits."""
    rng = np.random.default_rng(0)
    rows, weights, order = rng.uniform(-1, 1, (4000, 8)), rng.uniform(-1, 1, 4000), rng.permutation(4000)
    assert not np.array_equal(weights @ rows, weights[order] @ rows[order])


@settings(deadline=None)
@given(SEEDS, st.floats(1e-300, 1e140), st.integers(1, 10**6))
def test_rows_have_length_at_most_one(seed: int, size: float, records: int) -> None:
    """[exact-sums] In exact arithmetic, whatever their scale was; and each row becomes what it would become alone."""
    rng = np.random.default_rng(seed)
    given_rows = rng.standard_normal((5, 7)) * size
    rows = unit_rows(given_rows.copy(), records)
    scale = 2 ** places(records)
    for row in rows:
        assert sum(int(value * scale) ** 2 for value in row.tolist()) <= scale**2
        assert all(value * scale == int(value * scale) for value in row.tolist())
    assert np.array_equal(rows[3:4], unit_rows(given_rows[3:4].copy(), records))


def test_long_rows_keep_their_direction_and_short_ones_stay() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.25, -0.5]]), 100)
    assert rows[0] == pytest.approx([0.6, 0.8], abs=1e-6)
    assert rows[1].tolist() == [0.25, -0.5]


@settings(deadline=None)
@given(SEEDS, st.integers(1, 30), st.sampled_from([1, 2, 3, 7, 64, 401, 9001]), st.floats(1e-200, 1e140))
def test_a_rows_length_is_what_it_would_be_alone(seed: int, records: int, width: int, size: float) -> None:
    """[exact-rows] Bit by bit, in any order and layout; numpy's own sums along an axis go by the layout."""
    rows = np.random.default_rng(seed).standard_normal((records, width)) * size
    lengths = folded_lengths(rows)
    assert lengths == pytest.approx(np.linalg.norm(rows / size, axis=1) * size, rel=1e-12)
    assert np.array_equal(folded_lengths(rows[::-1])[::-1], lengths)
    assert np.array_equal(folded_lengths(np.asfortranarray(rows)), lengths)
    assert folded_lengths(rows[records // 2 : records // 2 + 1]).tolist() == [lengths[records // 2]]


def test_numpys_sums_over_an_axis_depend_on_the_layout() -> None:
    """What `folded_lengths` is for."""
    rows = np.random.default_rng(0).standard_normal((64, 401))
    turned = np.asfortranarray(rows)
    assert not np.array_equal(np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", turned, turned))


# --- the pull ---------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(SEEDS, st.integers(1, 6), st.floats(1e-3, 1e3))
def test_replacing_a_record_moves_the_pull_by_at_most_two(seed: int, width: int, clip: float) -> None:
    """[004-descent] For any coefficients, and targets of any size."""
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, 12, width), rng.standard_normal(12) * 10.0 ** rng.integers(-3, 9))
    other = data.replaced(4, random_rows(rng, 1, width)[0], float(rng.standard_normal() * 1e6))
    query = clipped_pull(12, rng.standard_normal(width), clip)
    assert np.linalg.norm(query.evaluate(data) - query.evaluate(other)) <= query.sensitivity.value


def test_the_pull_moves_by_two_and_by_nothing_less() -> None:
    """[004-descent] Opposite residuals beyond the clip, the same direction: a bound 10 % smaller would be false."""
    query = clipped_pull(2, np.zeros(2), 0.5)
    data = Rows(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([9.0, 0.0]))
    moved = query.evaluate(data) - query.evaluate(data.replaced(0, np.array([1.0, 0.0]), -9.0))
    assert np.linalg.norm(moved) == pytest.approx(query.sensitivity.value, rel=1e-7)


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.integers(1, 2**32), st.integers(1, 9), st.floats(-300, 300))
def test_scores_of_coefficients_on_a_grid_are_exact(seed: int, records: int, width: int, power: float) -> None:
    """[exact-sums] In any order of the columns, and as fractions."""
    rng = np.random.default_rng(seed)
    coefficients = on_grid(rng.standard_normal(width) * 2.0**power, records)
    rows, order = random_rows(rng, 4, width), rng.permutation(width)
    rows = cut(rows, places(records))
    found = rows @ coefficients
    assert np.array_equal(found, rows[:, order] @ coefficients[order])
    for row, score in zip(rows.tolist(), found.tolist(), strict=True):
        assert sum(Fraction(x) * Fraction(c) for x, c in zip(row, coefficients.tolist(), strict=True)) == score


@given(SEEDS, st.integers(1, 2**32), st.integers(1, 9))
def test_the_grid_is_as_fine_as_a_double_allows(seed: int, records: int, width: int) -> None:
    """[exact-sums] Partial sums are at most 2^53 multiples; twice as fine they could be more, 2^-30 apart."""
    coefficients = np.random.default_rng(seed).standard_normal(width)
    found, length = on_grid(coefficients, records), float(np.linalg.norm(coefficients))
    step = 2.0 ** (math.frexp(length * (1.0 + 2.0**-30))[1] + places(records) - 53)
    assert np.all(found / step == np.rint(found / step))
    assert length <= 2.0**53 * step * 2.0 ** -places(records) <= 2.0 * length * (1.0 + 2.0**-29)
    assert np.all(np.abs(found) <= np.abs(coefficients))
    assert np.all(np.abs(found - coefficients) < 2.0 ** (places(records) - 52) * length * (1.0 + 2.0**-29))


def test_coefficients_of_nothing_stay_nothing() -> None:
    assert on_grid(np.zeros(3), 10).tolist() == [0.0, 0.0, 0.0]
    assert on_grid(np.array([1e-300]), 10).tolist() == [0.0]


# --- joint moments ----------------------------------------------------------------------------------------------------


def joint_change(first: FloatArray, second: FloatArray, labels: tuple[float, float], weight: float) -> float:
    gram = np.outer(first, first) - np.outer(second, second)
    pull = weight * (labels[0] * first - labels[1] * second)
    return math.hypot(float(np.linalg.norm(gram)), float(np.linalg.norm(pull)))


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0, 1.3, math.sqrt(2.0), 2.0, 5.0])
def test_joint_moments_reach_their_bound_and_never_pass_it(weight: float) -> None:
    """[004-joint-moments] On a grid of lengths, angles and labels; the best of it is within a hundredth."""
    best = 0.0
    angles = np.linspace(0.0, math.pi, 181)
    for a, b in itertools.product((0.3, 0.8, 1.0), repeat=2):
        for one, two in itertools.product((-1.0, 0.0, 1.0), repeat=2):
            for angle in angles:
                second = b * np.array([math.cos(angle), math.sin(angle)])
                best = max(best, joint_change(np.array([a, 0.0]), second, (one, two), weight))
    assert best <= joint_l2(weight) * (1.0 + 1e-12)
    assert best >= 0.99 * joint_l2(weight)


def test_joint_moments_cost_less_than_two_releases() -> None:
    """At w = 1 by √6/√4.5, 1.15 in noise."""
    assert joint_l2(1.0) == pytest.approx(math.sqrt(4.5))
    assert math.sqrt(2.0 + 4.0) / joint_l2(1.0) == pytest.approx(1.1547, abs=1e-4)


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.integers(1, 5), st.floats(0.05, 4.0))
def test_the_released_moments_move_within_their_sensitivity(seed: int, width: int, weight: float) -> None:
    """[004-joint-moments] Through the query, scaling by √2 included."""
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, 9, width), rng.uniform(-1.0, 1.0, 9))
    direction = random_rows(rng, 1, width)[0]
    query = joint_moments(9, width, weight)
    moved = query.evaluate(data) - query.evaluate(data.replaced(2, direction, float(rng.choice([-1.0, 1.0]))))
    assert np.linalg.norm(moved) <= query.sensitivity.value


@given(SEEDS, st.integers(1, 6))
def test_moments_are_read_back(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    data = Rows(random_rows(rng, 20, width), rng.uniform(-1.0, 1.0, 20))
    gram, pull = from_moments(joint_moments(20, width, 0.7).evaluate(data), width, 0.7)
    assert np.allclose(gram, data.rows.T @ data.rows, atol=1e-9)
    assert np.allclose(pull, data.targets @ data.rows, atol=1e-4)


# --- a ball -----------------------------------------------------------------------------------------------------------


@given(SEEDS, st.sampled_from([1e-200, 1e-3, 1.0, 1e100, 1e300]), st.floats(1e-6, 1e6))
def test_any_two_vectors_are_within_a_diameter(seed: int, size: float, radius: float) -> None:
    """[004-projection] Of whatever size, and for what is not even finite."""
    rng = np.random.default_rng(seed)
    query = projected_coefficients(radius, 4)
    one = query.evaluate(Found(rng.standard_normal(4) * size))
    for other in (np.full(4, math.nan), np.array([math.inf, 0.0, 0.0, 0.0]), -rng.standard_normal(4) * size):
        assert np.linalg.norm(one - query.evaluate(Found(other))) <= query.sensitivity.value


@pytest.mark.parametrize("radius", [2.0**-500, 1e-140, 1e140, 2.0**500])
def test_a_ball_of_any_radius_holds_what_is_moved_into_it(radius: float) -> None:
    """[004-projection] Where squares vanish, and where they overflow."""
    for size in (1e-300, 1e-150, 1.0, 1e150, 1e300):
        found = in_ball(np.full(100, size), radius)
        assert np.linalg.norm(found / radius) <= 1.0
    for wrong in (1e-200, 1e200):
        with pytest.raises(ValueError, match="radius"):
            projected_coefficients(wrong, 3)


def test_rows_that_are_not_finite_become_zero() -> None:
    """So that a sum comes out, and whether it does tells nothing."""
    rows = unit_rows(np.array([[np.inf, 1.0], [np.nan, 0.0], [1e200, 1e200], [0.5, 0.5]]), 4)
    assert rows.tolist() == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.5, 0.5]]


def test_the_diameter_is_reached() -> None:
    """[004-projection] To 1e-8: a bound 10 % smaller would be false."""
    query = projected_coefficients(2.0, 3)
    moved = query.evaluate(Found(np.array([9.0, 0.0, 0.0]))) - query.evaluate(Found(np.array([-9.0, 0.0, 0.0])))
    assert np.linalg.norm(moved) == pytest.approx(query.sensitivity.value, rel=1e-8)


def test_points_inside_stay() -> None:
    assert in_ball(np.array([0.3, 0.4]), 1.0).tolist() == [0.3, 0.4]


def test_other_sizes_are_refused_before_the_charge() -> None:
    data = Rows(np.zeros((3, 2)), np.zeros(3))
    for query in (clipped_pull(4, np.zeros(2), 1.0), clipped_pull(3, np.zeros(5), 1.0), joint_moments(3, 1, 1.0)):
        with pytest.raises(ValueError, match="built for"):
            query.check(data)
    with pytest.raises(ValueError, match="at most"):
        projected_coefficients(1.0, 2**18 + 1)
    with pytest.raises(ValueError, match="built for 3"):
        projected_coefficients(1.0, 3).check(Found(np.zeros(4)))
