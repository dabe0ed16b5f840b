"""Noise on whole rados: how far one record moves them, exactly; and moments of columns."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from accountant import GDP, ApproxDP, BasicComposition, Ledger, Plan, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import EdgeVectors, column_moments, exact_steps, noised_rados, paired_rados
from mechanisms.core.rows import MemoryRows
from mechanisms.rados.edge_vectors import clipped
from mechanisms.rados.noised_rados import even_count

FINITE = st.floats(-1e200, 1e200)
UNIT = st.floats(-1.0, 1.0)


def table(values: st.SearchStrategy[float], records: int, features: int) -> st.SearchStrategy[FloatArray]:
    rows = st.lists(values, min_size=features, max_size=features)
    return st.lists(rows, min_size=records, max_size=records).map(np.array)


def columns(values: FloatArray) -> MemoryRows[EdgeVectors]:
    return MemoryRows.of(EdgeVectors(values), len(values))


def replaced(edges: FloatArray, row: list[float]) -> FloatArray:
    other = edges.copy()
    other[0] = row
    return other


@given(table(FINITE, 5, 2), st.lists(FINITE, min_size=2, max_size=2), st.sampled_from([2, 4, 10]), st.integers(0, 99))
def test_one_record_moves_pairs_of_rados_by_no_more_than_declared(
    edges: FloatArray, row: list[float], number: int, seed: int
) -> None:
    """[000-noised-rados] With no allowance for rounding: sums are exact."""
    query = paired_rados(number, 3.0, 5, 2, seed)
    before, after = (query.evaluate(EdgeVectors(each).rows) for each in (edges, replaced(edges, row)))
    moved = float(np.linalg.norm(after - before))
    target(moved)
    assert moved <= query.sensitivity.value


@pytest.mark.parametrize("number", [2, 10, 1000])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_declared_sensitivity_of_pairs_is_attained_whatever_the_supports(number: int, seed: int) -> None:
    """To 2^-31: a tenth less would be refuted by any seed. Without pairs all n could hold the record."""
    query = paired_rados(number, 2.0, 7, 3, seed)
    edges = np.zeros((7, 3))
    edges[0, 1] = 9.0
    far = query.evaluate(EdgeVectors(edges).rows) - query.evaluate(EdgeVectors(-edges).rows)
    assert np.linalg.norm(far) == pytest.approx(2.0 * 2.0 * math.sqrt(number / 2), rel=2.0**-30)
    assert query.sensitivity.value == pytest.approx(4.0 * math.sqrt(number / 2), rel=1e-11)


@given(table(FINITE, 40, 2), st.integers(1, 40), st.sampled_from([1e-3, 1.0, 7.0, 1e150]))
def test_steps_add_up_exactly_in_any_order(values: FloatArray, records: int, bound: float) -> None:
    inside = np.clip(values, -bound, bound)[:records]
    cut = exact_steps(inside, bound, records)
    assert np.all(np.abs(cut) <= np.abs(inside))
    assert np.all(np.abs(cut - inside) <= bound * records * 2.0**-51)
    for column in cut.T:
        exact = math.fsum(column)
        assert float(np.sum(column)) == exact
        assert float(np.sum(column[::-1])) == exact
        assert float(np.ones(len(column)) @ column) == exact


@given(table(st.floats(-5.0, 5.0), 30, 2), st.integers(0, 9), st.randoms(use_true_random=False))
def test_queries_are_exact_sums_whatever_the_order_of_records(
    values: FloatArray, seed: int, shuffling: random.Random
) -> None:
    """No share for rounding is in their sensitivities, so there must be none in what they evaluate to."""
    inside = np.clip(values, -1.0, 1.0)
    query = column_moments(2, 30)
    order = shuffling.sample(range(30), 30)
    found = query.evaluate(columns(inside))
    assert np.array_equal(query.evaluate(columns(inside[order])), found)
    kept = exact_steps(inside, 1.0, 30)
    for column in range(2):
        assert Fraction(float(found[0, column])) == sum(map(Fraction, kept[:, column].tolist()))
    pairs = paired_rados(6, 4.0, 30, 2, seed).evaluate(EdgeVectors(values).rows)
    cut = exact_steps(clipped(values, 4.0), 4.0, 30)
    total = [sum(map(Fraction, column)) for column in cut.T.tolist()]
    for first, second in zip(pairs[:3].tolist(), pairs[3:].tolist(), strict=True):
        assert [Fraction(a) + Fraction(b) for a, b in zip(first, second, strict=True)] == total


def test_a_release_of_noised_rados_is_paid_for_and_noisy() -> None:
    ledger = Ledger(ApproxDP(2.0, 1e-6), composition=BasicComposition(), adjacency=ReplaceOne())
    edges = EdgeVectors(np.random.default_rng(0).normal(size=(200, 3)))
    mechanism = noised_rados(100, 2.0, 200, 3, 5, 80.0)
    assert isinstance(mechanism.cost, GDP)
    assert mechanism.cost.mu == pytest.approx(4.0 * math.sqrt(50) / 80.0, rel=1e-9)
    with ledger.reserve(Plan.of(mechanism.cost), adjacency=ReplaceOne(), delta=1e-6) as charge:
        released = charge.release(mechanism, ledger.protect(edges.rows))
    plain = paired_rados(100, 2.0, 200, 3, 5).evaluate(edges.rows)
    assert released.shape == (100, 3)
    assert 70.0 < float(np.std(released - plain)) < 90.0
    with pytest.raises(ValueError, match="built for 200 records"):
        mechanism.check(EdgeVectors(np.zeros((199, 3))).rows)
    with pytest.raises(ValueError, match="built for 1 features, the data has 2"):
        column_moments(1, 5).evaluate(columns(np.zeros((5, 2))))
    with pytest.raises(ValueError, match="built for 3 features, the data has 2"):
        mechanism.sample(EdgeVectors(np.zeros((200, 2))).rows)
    with pytest.raises(ValueError, match="2\\^18 coordinates"):
        noised_rados(100, 2.0, 200, 2**18 + 1, 5, 80.0)


def test_numbers_that_do_not_pair_are_refused() -> None:
    assert even_count(4) == 4
    for bad in (0, 3, 10**7):
        with pytest.raises(ValueError, match="expected"):
            even_count(bad)
    with pytest.raises(ValueError, match="even number"):
        noised_rados(3, 1.0, 10, 1, 0, 1.0)
    for radius in (0.0, math.inf, math.nan, -1.0):
        with pytest.raises(ValueError, match="expected"):
            paired_rados(2, radius, 10, 1, 0)


def test_supports_follow_from_the_public_seed_alone() -> None:
    rng = np.random.default_rng(0)
    some, other = EdgeVectors(rng.normal(size=(50, 2))), EdgeVectors(np.ones((50, 2)))
    first, again = (paired_rados(10, 9.0, 50, 2, 1).evaluate(some.rows) for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, paired_rados(10, 9.0, 50, 2, 2).evaluate(some.rows))
    sizes = paired_rados(10, 9.0, 50, 2, 1).evaluate(other.rows)[:, 0]
    signed = paired_rados(10, 9.0, 50, 2, 1).evaluate(EdgeVectors(-other.edges).rows)[:, 0]
    assert np.array_equal(sizes, -signed)
    assert 10 < sizes.min() < sizes.max() < 40


# --- moments ----------------------------------------------------------------------------------------------------------


@given(table(UNIT, 6, 2), st.lists(UNIT, min_size=2, max_size=2))
def test_one_record_moves_moments_by_no_more_than_declared(values: FloatArray, row: list[float]) -> None:
    """[000-moments]"""
    query = column_moments(2, 6)
    before, after = (query.evaluate(columns(each)) for each in (values, replaced(values, row)))
    moved = float(np.linalg.norm(after - before))
    target(moved)
    assert moved <= query.sensitivity.value


def test_the_sensitivity_of_moments_is_attained_and_by_opposite_ends_only() -> None:
    query = column_moments(3, 4)
    edges = np.zeros((4, 3))
    edges[0] = 1.0
    moved = query.evaluate(columns(edges)) - query.evaluate(columns(replaced(edges, [-1.0] * 3)))
    assert np.linalg.norm(moved) == pytest.approx(query.sensitivity.value, rel=1e-11)
    a, b = np.meshgrid(np.linspace(-1, 1, 401), np.linspace(-1, 1, 401))
    both = (a - b) ** 2 + (a**2 - b**2) ** 2
    assert float(np.max(both)) == 4.0
    assert float(np.max(both[np.abs(a - b) < 1.99])) < 4.0
    beyond = query.evaluate(columns(np.full((4, 3), 50.0)))
    assert np.array_equal(beyond, np.full((2, 3), 4.0))


def test_moments_are_what_they_say() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    found = column_moments(3, 500).evaluate(columns(values))
    assert found[0] == pytest.approx(values.sum(axis=0), abs=1e-10)
    assert found[1] == pytest.approx((values**2).sum(axis=0), abs=1e-10)
