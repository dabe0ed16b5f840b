"""Rados in pairs and moments of columns: exact sums, and their largest moves over all neighbours and all supports."""

import itertools
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant import GDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms.core.rows import MemoryRows, Rows
from mechanisms.rados.noised_rados import (
    column_moments,
    even_count,
    exact_moments,
    exact_steps,
    noised_rados,
    paired_rados,
    refuse_other_records,
)
from mechanisms.rados.one_hot import Groups
from mechanisms.rados.public_supports import rados_over
from mechanisms.rados.sampling import STEP, EdgeVectors
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from proofs_tests.support.mechanisms.just_above import just_above, spread

BOUNDS = [1.0, 0.75, 3.0, 4.0, 1e-3, 1e100]


def test_rados_come_in_pairs() -> None:
    assert [even_count(number) for number in (2, 4, 10**6)] == [2, 4, 10**6]
    assert isinstance(even_count(np.int64(4)), int)  # type: ignore[arg-type]  # so come numbers out of arrays
    for wrong in (0, 1, 3, 999_999, 10**6 + 2, -2):
        with pytest.raises(ValueError, match=r"even number|whole number|at most"):
            even_count(wrong)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("records", [1, 2, 3, 4, 5, 1000, 1024, 10**8])
def test_sums_of_what_is_cut_are_exact_and_little_is_cut(bound: float, records: int) -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.uniform(-bound, bound, 500), [bound, -bound, 0.0, bound * 2.0**-60]])
    cut = exact_steps(values, bound, records)
    assert np.all(np.abs(cut) <= np.abs(values))
    assert np.all(cut * values >= 0.0)
    assert float(np.max(np.abs(values - cut))) < bound * records * 2.0**-51
    # The step is a power of two, and records·bound of it fit into 53 bits; of one twice as large, they would into 52.
    parts = [Fraction(value) for value in cut.tolist() if value]
    step = min(Fraction(part.numerator & -part.numerator, part.denominator) for part in parts)
    assert records * Fraction(bound) <= step * 2**53
    assert records * Fraction(bound) * 4 > step * 2**53


def test_sums_of_many_are_the_same_in_any_order() -> None:
    rng = np.random.default_rng(2)
    values = exact_steps(rng.uniform(-3.0, 3.0, 999), 3.0, 999)
    assert float(np.cumsum(values)[-1]) == float(sum(map(Fraction, values.tolist())))


def test_data_of_another_size_are_refused() -> None:
    rows = EdgeVectors(np.ones((3, 2))).rows
    refuse_other_records(3, rows)
    paired_rados(2, 1.0, 3, 2, 0).check(rows)
    column_moments(2, 3).check(_of(np.ones((3, 2))))
    for wrong in (2, 4):
        with pytest.raises(ValueError, match=f"built for {wrong} records"):
            refuse_other_records(wrong, rows)
        with pytest.raises(ValueError, match=f"built for {wrong} records"):
            paired_rados(2, 1.0, wrong, 2, 0).check(rows)
        with pytest.raises(ValueError, match=f"built for {wrong} records"):
            column_moments(2, wrong).check(_of(np.ones((3, 2))))
    for width in (1, 3):
        with pytest.raises(ValueError, match=f"built for {width} features"):
            paired_rados(2, 1.0, 3, width, 0).evaluate(rows)
        with pytest.raises(ValueError, match=f"built for {width} features"):
            column_moments(width, 3).evaluate(_of(np.ones((3, 2))))


def _of(values: FloatArray) -> Rows[EdgeVectors]:
    return MemoryRows.of(EdgeVectors(values), len(values))


def test_sizes_that_are_too_large_are_refused() -> None:
    for records, features in ((10**8 + 1, 2), (0, 2), (2, 2**18 + 1)):
        with pytest.raises(ValueError, match=r"at most|whole number"):
            paired_rados(2, 1.0, records, features, 0)
    with pytest.raises(ValueError, match="at most"):
        column_moments(2**18 + 1, 1).check(_of(np.ones((1, 1))))
    for wrong in (0, 10**8 + 1):
        with pytest.raises(ValueError, match=r"at most|whole number"):
            column_moments(2, wrong)
    with pytest.raises(ValueError, match="whole number"):
        column_moments(0, 2)
    for radius in (0.0, 2.0**501, 2.0**-501, float("nan")):
        with pytest.raises(ValueError, match="expected a"):
            paired_rados(2, radius, 2, 2, 0)


@pytest.mark.parametrize("number", [2, 4, 10, 300])
@pytest.mark.parametrize("radius", [1.0, 5.0, 0.3])
def test_the_bound_on_rados_is_attained_and_not_exceeded(number: int, radius: float) -> None:
    """Whatever the supports: a record is in one rado of each pair."""
    query = paired_rados(number, radius, 3, 2, 7)
    just_above(query.sensitivity.value, 2 * mp.mpf(radius) * mp.sqrt(mp.mpf(number) / 2))
    assert query.adjacency == ReplaceOne()
    assert query.claims == ("000-noised-rados",)
    ends = [np.array(end) * 9.0 for end in ((1.0, 0.0), (-1.0, 0.0), (0.6, 0.8), (-0.6, -0.8), (0.01, 0.0))]
    others = np.array([[0.4, 0.1], [0.2, -0.7]])
    most = 0.0
    for place in range(3):
        found = [query.evaluate(EdgeVectors(np.insert(others, place, end, axis=0)).rows) for end in ends]
        most = max(most, *(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(found, 2)))
    assert (1.0 - 1e-9) * query.sensitivity.value < most <= query.sensitivity.value


def test_bounds_on_rados_are_rounded_up() -> None:
    for number, radius in itertools.product((2, 6, 10, 22, 26), spread(0.1, 9.0, 40)):
        truth = 2 * mp.mpf(radius) * mp.sqrt(mp.mpf(number) / 2)
        just_above(paired_rados(number, radius, 3, 2, 7).sensitivity.value, truth)


def test_rados_are_sums_over_supports_and_what_is_left() -> None:
    rng = np.random.default_rng(3)
    edges = EdgeVectors(rng.uniform(-0.5, 0.5, (9, 3)))
    rados = paired_rados(6, 2.0, 9, 3, 5).evaluate(edges.rows)
    assert rados.shape == (6, 3)
    assert rados[:3] == pytest.approx(rados_over(edges.rows, 3, 5), abs=1e-12)
    assert rados[:3] + rados[3:] == pytest.approx(np.tile(edges.edges.sum(axis=0), (3, 1)), abs=1e-12)
    other = paired_rados(6, 2.0, 9, 3, 6).evaluate(edges.rows)
    assert not np.array_equal(rados, other)


def test_single_precision_is_summed_in_double() -> None:
    small = EdgeVectors(np.full((3, 1), 0.1, dtype=np.float32))
    rados = paired_rados(2, 1.0, 3, 1, 0).evaluate(small.rows)
    assert rados.dtype == np.float64
    assert float(rados.sum()) == pytest.approx(3.0 * float(np.float32(0.1)), rel=1e-12)


def test_noised_rados_cost_what_their_noise_hides() -> None:
    mechanism = noised_rados(8, 1.5, 3, 2, 1, 4.0, SeededNoise(0))
    assert isinstance(mechanism.cost, GDP)
    just_above(mechanism.cost.mu, mp.mpf(6) / 4 + mp.mpf(2) ** -40)
    assert mechanism.noise.name == SeededNoise(0).name
    assert isinstance(noised_rados(8, 1.5, 3, 2, 1, 4.0).noise, SecureNoise)
    assert mechanism.query.name == paired_rados(8, 1.5, 3, 2, 1).name


SETTINGS: list[tuple[int, Groups]] = [(1, ()), (2, ()), (3, ((0, 2),)), (4, ((0, 1, 3),))]


def _grid(features: int) -> Iterator[FloatArray]:
    for values in itertools.product((-3.0, -1.0, 0.0, 0.7, 1.0), repeat=features):
        yield np.array(values)


@pytest.mark.parametrize(("features", "groups"), SETTINGS)
def test_the_bound_on_moments_is_attained_and_not_exceeded(features: int, groups: Groups) -> None:
    query = column_moments(features, 3, groups)
    others = np.full((2, features), 0.3)
    points = np.unique([query.evaluate(_of(np.vstack([others, end]))).ravel() for end in _grid(features)], axis=0)
    lengths = np.sum(points**2, axis=1)
    most = float(np.sqrt(np.max(lengths[:, None] + lengths[None, :] - 2.0 * points @ points.T)))
    assert most <= query.sensitivity.value * (1.0 + 1e-12)
    inside = sum(map(len, groups))
    just_above(query.sensitivity.value, mp.sqrt(4 * (features - inside) + 8 * len(groups)))
    assert most > query.sensitivity.value * (1.0 - 1e-9)
    assert query.adjacency == ReplaceOne()


def test_moments_are_sums_and_sums_of_squares() -> None:
    rng = np.random.default_rng(4)
    values = rng.uniform(-1.5, 1.5, (STEP + 7, 2))
    clipped = np.clip(values, -1.0, 1.0)
    wanted = np.stack([clipped.sum(axis=0), (clipped**2).sum(axis=0)])
    records = len(values)
    found = exact_moments(values, records)
    assert found == pytest.approx(wanted, rel=1e-9)
    # In any order, and in single precision, it is the very same.
    assert exact_moments(values[::-1], records).tolist() == found.tolist()
    parts = MemoryRows.parts([EdgeVectors(values[:100]), EdgeVectors(values[100:])], [100, records - 100])
    assert column_moments(2, records).evaluate(parts).tolist() == found.tolist()
    single = values.astype(np.float32)
    assert exact_moments(single, records).tolist() == exact_moments(single.astype(np.float64), records).tolist()
    hot = exact_moments(np.array([[0.2, 5.0, -4.0], [0.3, 0.1, 0.1]]), 2, ((1, 2),))
    assert hot == pytest.approx(np.array([[0.5, 2.0, -2.0], [0.13, 2.0, 2.0]]), abs=1e-9)


def test_squares_are_cut_so_that_their_sum_is_exact() -> None:
    records = 10**6
    values = np.random.default_rng(5).uniform(-1.0, 1.0, (500, 1))
    squares = [exact_moments(value[None], records)[1, 0] for value in values]
    step = Fraction(2) ** (20 - 53)
    assert all((Fraction(float(square)) / step).denominator == 1 for square in squares)
    assert any((Fraction(float(square)) / step).numerator % 2 for square in squares)
    sums = [exact_moments(value[None], records)[0, 0] for value in values]
    assert all((Fraction(float(each)) / step).denominator == 1 for each in sums)
    assert any((Fraction(float(each)) / step).numerator % 2 for each in sums)


def test_groups_are_checked_and_told() -> None:
    assert "3 of them one-hot in 1 group" in column_moments(4, 2, [[0, 1, 3]]).name
    for wrong in ([[0]], [[0, 1], [1, 2]], [[0, 4]]):
        with pytest.raises(ValueError, match="one_hot"):
            column_moments(4, 2, wrong)
