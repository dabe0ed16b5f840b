"""Sums of unit vectors: exact in any order, each term a record's own, and their largest moves."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.gradients import feature_queries
from mechanisms.gradients.feature_queries import (
    clipped_pull,
    cut,
    folded_lengths,
    from_moments,
    in_ball,
    joint_l2,
    joint_moments,
    moment_sums,
    on_grid,
    places,
    projected_coefficients,
    sizes_check,
    unit_rows,
)
from proofs_tests.support.learners.unit_rows import Found, Rows, random_rows
from proofs_tests.support.mechanisms.just_above import just_above


def _exact(values: FloatArray) -> list[Fraction]:
    return [Fraction(value) for value in values.ravel().tolist()]


def test_units_are_what_the_claims_say() -> None:
    assert (feature_queries.MANTISSA, feature_queries.SLACK) == (53, 1.0 + 2.0**-30)
    assert math.sqrt(2.0) == feature_queries.LARGEST_WEIGHT


@pytest.mark.parametrize("records", [1, 2, 3, 4, 5, 8, 9, 1000, 2**20, 2**20 + 1, 2**31, 2**32])
def test_places_are_as_many_as_sums_are_exact_for(records: int) -> None:
    binary = places(records)
    assert records * 4**binary <= 2**53 < records * 4 ** (binary + 1) * 2
    assert isinstance(binary, int)
    assert records <= 2 ** (53 - 2 * binary)


def test_no_records_have_no_places() -> None:
    for wrong in (0, -1, 2.0):
        with pytest.raises(ValueError, match="whole number"):
            places(wrong)  # type: ignore[arg-type]  # the point of the test


def test_values_are_cut_towards_zero() -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, 200)
    found = cut(values.copy(), 7)
    assert found.tolist() == [math.trunc(value * 128) / 128 for value in values.tolist()]
    assert cut(values, 7) is values


@pytest.mark.parametrize("width", [1, 2, 3, 7, 8, 9, 16, 17, 31, 40, 100])
def test_lengths_are_the_same_wherever_a_row_is(width: int) -> None:
    rows = np.random.default_rng(1).standard_normal((6, width)) * np.logspace(-3, 3, 6)[:, None]
    found = folded_lengths(rows)
    assert found.tolist() == pytest.approx([math.hypot(*row) for row in rows.tolist()], rel=1e-13)
    wide = np.asfortranarray(np.hstack([rows, rows]))
    for other in (np.asfortranarray(rows), rows[::-1].copy()[::-1], wide[:, :width], rows.repeat(2, axis=1)[:, ::2]):
        assert folded_lengths(other).tolist() == found.tolist()
    for place in range(6):
        assert folded_lengths(rows[place : place + 1]).tolist() == [found[place]]
    many = np.tile(rows, (50, 1))
    assert folded_lengths(many).tolist() == np.tile(found, 50).tolist()


def test_a_length_that_overflows_is_infinite() -> None:
    assert folded_lengths(np.array([[1e200, 1.0], [3.0, 4.0]])).tolist() == [math.inf, 5.0]


@pytest.mark.parametrize("records", [1, 100, 2**20])
def test_rows_come_into_the_unit_ball_alone(records: int) -> None:
    raw = np.random.default_rng(2).standard_normal((40, 5)) * np.logspace(-3, 3, 40)[:, None]
    rows = unit_rows(raw.copy(), records)
    step = Fraction(1, 2 ** places(records))
    for given, row in zip(raw.tolist(), rows, strict=True):
        exact = _exact(row)
        assert sum(value**2 for value in exact) <= 1
        assert all((value / step).denominator == 1 for value in exact)
        length = max(1.0, math.hypot(*given))
        assert row.tolist() == pytest.approx([value / length for value in given], abs=float(step) + 2e-9)
        assert unit_rows(np.array([given]), records)[0].tolist() == row.tolist()


def test_a_row_whose_length_is_rounded_down_comes_into_the_ball_as_well() -> None:
    """1 + 2^-52 is its square, and 1 the nearest float to its length."""
    row = unit_rows(np.array([[1.0, 2.0**-26]]), 1)
    assert sum(value**2 for value in _exact(row)) <= 1


def test_rows_are_divided_by_the_least_length_where_it_is_more() -> None:
    raw = np.array([[3.0, 4.0], [0.0, 1.0], [30.0, 40.0]])
    assert unit_rows(raw.copy(), 1, 10.0) == pytest.approx(np.array([[0.3, 0.4], [0.0, 0.1], [0.6, 0.8]]), abs=1e-7)


def test_rows_that_are_not_finite_become_nothing() -> None:
    raw = np.array([[math.nan, 1.0], [0.6, 0.8], [math.inf, 0.0], [1e200, 1e200], [-math.inf, math.nan]])
    rows = unit_rows(raw, 100)
    assert rows[[0, 2, 3, 4]].tolist() == [[0.0, 0.0]] * 4
    assert rows[1] == pytest.approx(np.array([0.6, 0.8]), abs=1e-6)


@pytest.mark.parametrize("records", [1, 100, 2**20])
@pytest.mark.parametrize("size", [1e-200, 1e-3, 1.0, 1.9, 700.0])
def test_products_with_coefficients_on_the_grid_are_exact(records: int, size: float) -> None:
    rng = np.random.default_rng(3)
    given = rng.standard_normal(6) * size
    found = on_grid(given, records)
    exact, length = _exact(found), math.hypot(*given.tolist())
    step = Fraction(2) ** (math.ceil(math.log2(length)) + places(records) - 53)
    assert all((value / step).denominator == 1 for value in exact)
    assert any((value / step).numerator % 2 for value in exact)
    assert np.all(np.abs(found) <= np.abs(given))
    assert float(np.max(np.abs(found - given))) < 2.0 ** (places(records) - 52) * length
    rows = random_rows(rng, 20, 6) if records == 1 else unit_rows(rng.standard_normal((20, 6)), records)
    for row in unit_rows(rows, records):
        dot = sum(a * b for a, b in zip(_exact(row), exact, strict=True))
        partial = list(itertools.accumulate(a * b for a, b in zip(row.tolist(), found.tolist(), strict=True)))
        assert Fraction(partial[-1]) == dot == Fraction(float(row[::-1] @ found[::-1]))


def test_steps_of_coefficients_are_chosen_with_room_for_rounding() -> None:
    """With ten places a length near 1, on either side, takes the steps of what lies above 1, 2^-42."""
    for near in (1.0 + 2.0**-31, 1.0 - 2.0**-31):
        assert on_grid(np.array([near + 2.0**-43]), 2**32).tolist() == [near]
    assert on_grid(np.array([-0.75, -0.5]), 2**32).tolist() == [-0.75, -0.5]
    assert on_grid(np.array([2.0**-900 * 0.75]), 10).tolist() == [0.0]


def test_coefficients_too_small_for_a_grid_are_nothing() -> None:
    assert on_grid(np.array([1e-280, -1e-290]), 10).tolist() == [0.0, 0.0]
    assert on_grid(np.zeros(2), 10).tolist() == [0.0, 0.0]
    assert on_grid(np.empty(0), 10).shape == (0,)
    assert on_grid(np.array([2.0**-900, 0.0]), 10).tolist() == [2.0**-900, 0.0]
    assert on_grid(np.array([1e300, 1e300]), 10) == pytest.approx(np.array([1e300, 1e300]), rel=1e-9)


E = np.eye(2)
DATA = Rows(np.array([[0.0, 1.0], [0.6, 0.8]]), np.array([0.4, -0.2]))


def test_data_of_another_size_are_refused() -> None:
    query = joint_moments(2, 2, 1.0)
    for check in (sizes_check(2, 2), query.check, clipped_pull(2, np.zeros(2), 1.0).check):
        check(DATA)
        with pytest.raises(ValueError, match="this was built for 2 records of 2 features, the data has 3 of 2"):
            check(Rows(np.zeros((3, 2)), np.zeros(3)))
        with pytest.raises(ValueError, match="the data has 2 of 3"):
            check(Rows(np.zeros((2, 3)), np.zeros(2)))
    for records, width in ((2**32 + 1, 2), (2, 2**18 + 1)):
        with pytest.raises(ValueError, match="at most"):
            sizes_check(records, width)


@pytest.mark.parametrize("clip", [0.5, 2.0])
def test_a_pull_is_attained_and_not_exceeded(clip: float) -> None:
    coefficients = np.array([0.25, -0.125])
    query = clipped_pull(2, coefficients, clip)
    wanted = sum(
        max(-1.0, min(1.0, (float(y) - float(row @ coefficients)) / clip)) * row
        for row, y in zip(DATA.rows, DATA.targets, strict=True)
    )
    assert query.evaluate(DATA) == pytest.approx(wanted, abs=1e-6)
    assert query.sensitivity.value == 2.0
    assert query.claims == ("004-descent", "exact-sums")
    assert query.adjacency == ReplaceOne()
    one, other = (query.evaluate(DATA.replaced(1, E[0], sign * 9.0)) for sign in (1.0, -1.0))
    assert 2.0 - 1e-6 < float(np.linalg.norm(one - other)) <= 2.0
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="expected a"):
            clipped_pull(2, coefficients, wrong)


def test_terms_of_a_pull_are_on_a_grid() -> None:
    """Residuals have so few places that products with features add up exactly."""
    rng = np.random.default_rng(4)
    rows = Rows(random_rows(rng, 200, 3), rng.uniform(-1.0, 1.0, 200))
    query = clipped_pull(200, np.array([0.3, 0.1, -0.2]), 0.7)
    step = Fraction(1, 4 ** places(200))
    assert all((value / step).denominator == 1 for value in _exact(query.evaluate(rows)))
    order = rng.permutation(200)
    assert query.evaluate(Rows(rows.rows[order], rows.targets[order])).tolist() == query.evaluate(rows).tolist()


@pytest.mark.parametrize("weight", [0.01, 0.3, 1.0, 1.4, math.sqrt(2.0), 1.5, 3.0, 40.0])
def test_joint_moments_move_by_the_most_over_all_angles(weight: float) -> None:
    square = mp.mpf(weight) ** 2
    peak = min(mp.mpf(1), square / 2)
    angles = [mp.mpf(place) / 500 for place in range(501)] + [peak]
    most = max(2 - 2 * q**2 + 2 * square * (1 + q) for q in angles)
    assert joint_l2(weight) == pytest.approx(float(mp.sqrt(most)), rel=1e-15)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="expected a"):
            joint_l2(wrong)


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("records", [2, 10**8])
def test_the_bound_on_joint_moments_has_a_share_for_rounding(weight: float, records: int) -> None:
    query = joint_moments(records, 2, weight)
    peak = min(mp.mpf(1), mp.mpf(weight) ** 2 / 2)
    truth = mp.sqrt(2 - 2 * peak**2 + 2 * mp.mpf(weight) ** 2 * (1 + peak))
    just_above(query.sensitivity.value, truth + mp.mpf(2) ** -50 * records * (1 + mp.mpf(weight)))
    assert query.claims == ("004-joint-moments", "exact-sums")
    assert query.adjacency == ReplaceOne()
    for wrong in (0.0, -1.0):
        with pytest.raises(ValueError, match="expected a"):
            joint_moments(records, 2, wrong)


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0])
def test_no_neighbours_move_joint_moments_further(weight: float) -> None:
    query = joint_moments(2, 2, weight)
    found = []
    for angle, length, label in itertools.product(np.linspace(0.0, math.pi, 37), (0.5, 1.0), (-5.0, -1.0, 0.3, 1.0)):
        found.append(query.evaluate(DATA.replaced(1, length * np.array([math.cos(angle), math.sin(angle)]), label)))
    most = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(found, 2))
    assert 0.99 * query.sensitivity.value < most <= query.sensitivity.value


def test_moments_are_sums_of_products_and_are_read_back() -> None:
    rng = np.random.default_rng(5)
    rows = Rows(random_rows(rng, 30, 4), rng.uniform(-1.5, 1.5, 30))
    gram, pull = rows.rows.T @ rows.rows, np.clip(rows.targets, -1.0, 1.0) @ rows.rows
    moments = joint_moments(30, 4, 0.7).evaluate(rows)
    assert moments.shape == (14,)
    # The vector is as long as the matrix and the weighted pull are.
    assert float(moments @ moments) == pytest.approx(float(np.sum(gram**2) + 0.49 * pull @ pull), rel=1e-6)
    back = from_moments(moments, 4, 0.7)
    assert back[0] == pytest.approx(gram, abs=1e-6)
    assert back[1] == pytest.approx(pull, abs=1e-5)
    sums = moment_sums(places(30), 0.5)(rows.rows, rows.targets)
    wanted = np.clip(rows.targets / 0.5, -1.0, 1.0) @ rows.rows
    assert sums[:-1].tolist() == gram.tolist()
    assert sums[-1] == pytest.approx(wanted, abs=1e-5)
    step = Fraction(1, 4 ** places(30))
    assert all((value / step).denominator == 1 for value in _exact(sums))


@pytest.mark.parametrize("radius", [1.0, 0.3, 1e-150, 1e150])
def test_vectors_come_into_the_ball(radius: float) -> None:
    rng = np.random.default_rng(6)
    for _ in range(60):
        given = rng.standard_normal(4) * radius * rng.uniform(0.1, 4.0)
        found = in_ball(given, radius)
        assert sum(value**2 for value in _exact(found)) <= Fraction(radius) ** 2
        length = float(np.linalg.norm(given / radius))
        assert found / radius == pytest.approx(given / radius / max(1.0, length), rel=3e-9)
        if length < 0.999:
            assert found.tolist() == given.tolist()
    long = in_ball(np.array([1e300, -1e300]), radius)
    assert long / radius == pytest.approx(np.array([math.sqrt(0.5), -math.sqrt(0.5)]), rel=3e-9)


def test_vectors_that_are_not_finite_or_nothing_become_nothing() -> None:
    for given in ([math.nan, 1.0], [math.inf, 0.0], [0.0, 0.0], [-math.inf, math.inf]):
        assert in_ball(np.array(given), 1.0).tolist() == [0.0, 0.0]
    assert in_ball(np.empty(0), 1.0).shape == (0,)
    assert in_ball(np.array([5e-324, 0.0]), 1.0).tolist() == [5e-324, 0.0]


def test_projected_coefficients_move_by_the_diameter() -> None:
    query = projected_coefficients(2.5, 2)
    assert query.sensitivity.value == 5.0
    assert query.claims == ("004-projection",)
    assert query.adjacency == ReplaceOne()
    one, other = (query.evaluate(Found(sign * np.array([30.0, 40.0]))) for sign in (1.0, -1.0))
    assert 4.99 < float(np.linalg.norm(one - other)) <= 5.0
    query.check(Found(np.zeros(2)))
    with pytest.raises(ValueError, match="built for 2 coefficients, the data has 3"):
        query.check(Found(np.zeros(3)))
    with pytest.raises(ValueError, match="built for 2 coefficients, the data has 1"):
        query.check(Found(np.zeros(1)))
    projected_coefficients(1.0, 2**18)
    for radius, width in ((0.0, 2), (2.0**501, 2), (2.0**-501, 2), (1.0, 2**18 + 1), (1.0, 0)):
        with pytest.raises(ValueError, match=r"expected a|at most|whole number"):
            projected_coefficients(radius, width)
