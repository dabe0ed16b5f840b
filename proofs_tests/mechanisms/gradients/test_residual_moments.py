"""Clipped residuals times features of cells: exact sums, sensitivities over every pair of neighbours, refusals."""

import itertools

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from mechanisms.gradients.gradient_sums import WEIGHT_ONE
from mechanisms.gradients.residual_moments import (
    FEATURE_ONE,
    MOST_RESIDUAL_RECORDS,
    RESIDUAL_ONE,
    CellFeatures,
    check_residuals,
    residual_moments,
    residual_query,
    residual_sensitivity,
    whole_features,
)
from mechanisms.queries.histograms import Neighbours

BOTH: list[Neighbours] = [AddRemoveOne(), ReplaceOne()]


@attrs.frozen(eq=False)
class Sample:
    """Records as the query sees them."""

    residuals: IntArray
    features: list[CellFeatures]
    weights: npt.NDArray[np.int32] | None = None

    def rows(self, rows: IntArray | slice) -> "Sample":
        """Some of the records."""
        weights = None if self.weights is None else self.weights[rows]
        return Sample(
            self.residuals[rows], [CellFeatures(each.cells[rows], each.table) for each in self.features], weights
        )


def tables(seed: int, views: int = 2, cells: int = 3, functions: int = 2) -> list[IntArray]:
    """Features of several partitions, of length 1 together at most, and nearly that in some cells."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(views):
        values = rng.normal(size=(cells, functions))
        longest = np.sqrt(np.max(np.sum(values**2, axis=1)) * views)
        found.append(whole_features(values / longest))
    return found


def sample(n: int, seed: int, *, weighted: bool = False) -> Sample:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, WEIGHT_ONE + 1, n).astype(np.int32) if weighted else None
    features = [CellFeatures(rng.integers(0, len(table), n), table) for table in tables(seed)]
    return Sample(rng.integers(-3 * RESIDUAL_ONE, 3 * RESIDUAL_ONE, n), features, weights)


@given(st.integers(1, 300), st.integers(0, 9), st.booleans())
def test_sums_are_exact_additive_and_blind_to_order(n: int, seed: int, weighted: bool) -> None:
    data = sample(n, seed, weighted=weighted)
    order = np.random.default_rng(seed).permutation(n)
    whole = residual_moments(data)
    assert np.array_equal(whole, residual_moments(data.rows(order)))
    parts = residual_moments(data.rows(slice(0, n // 3))) + residual_moments(data.rows(slice(n // 3, n)))
    assert np.array_equal(whole, parts)


def test_a_record_adds_its_clipped_residual_times_its_features() -> None:
    table = whole_features(np.array([[0.6, -0.8], [0.25, 0.5]]))
    for residual, share in ((-999, -1.0), (-RESIDUAL_ONE // 2, -0.5), (0, 0.0), (RESIDUAL_ONE, 1.0), (10**6, 1.0)):
        for cell in (0, 1):
            one = Sample(np.array([residual]), [CellFeatures(np.array([cell]), table)])
            assert np.allclose(residual_moments(one), share * table[cell] / FEATURE_ONE)


def every_vector(seed: int) -> FloatArray:
    """What one record can add, over all cells, all residuals and some weights; shape (records, k)."""
    own, found = tables(seed), []
    for cells in itertools.product(*(range(len(table)) for table in own)):
        for residual in range(-RESIDUAL_ONE - 1, RESIDUAL_ONE + 2, 3):
            for weight in (0, 1, WEIGHT_ONE // 2, WEIGHT_ONE):
                features = [CellFeatures(np.array([cell]), table) for cell, table in zip(cells, own, strict=True)]
                found.append(residual_moments(Sample(np.array([residual]), features, np.array([weight], np.int32))))
    return np.array(found)


@pytest.mark.parametrize("seed", range(3))
def test_no_record_moves_the_sums_by_more_than_the_bound(seed: int) -> None:
    vectors = np.unique(every_vector(seed), axis=0)
    assert np.max(np.linalg.norm(vectors, axis=1)) <= residual_sensitivity(AddRemoveOne()).value
    longest = vectors[np.argsort(np.linalg.norm(vectors, axis=1))[-200:]]
    moves = np.linalg.norm(longest[:, np.newaxis] - longest, axis=2)
    assert np.max(moves) <= residual_sensitivity(ReplaceOne()).value


def test_the_bounds_are_attained_so_a_tenth_less_would_be_exceeded() -> None:
    unit = np.array([[FEATURE_ONE]])
    up, down = (Sample(np.array([sign * RESIDUAL_ONE]), [CellFeatures(np.array([0]), unit)]) for sign in (1, -1))
    check_residuals(up)
    added = float(np.linalg.norm(residual_moments(up)))
    replaced = float(np.linalg.norm(residual_moments(up) - residual_moments(down)))
    assert added == residual_sensitivity(AddRemoveOne()).value > 0.9 * added
    assert replaced == residual_sensitivity(ReplaceOne()).value > 0.9 * replaced


def test_whole_features_are_never_longer() -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 4))
    assert np.all(np.abs(whole_features(values)) <= np.abs(values * FEATURE_ONE))


@pytest.mark.parametrize("adjacency", BOTH)
def test_what_the_bound_does_not_hold_for_is_refused(adjacency: Neighbours) -> None:
    check = residual_query(adjacency).check
    data = sample(5, 0, weighted=True)
    check(data)
    longer = [CellFeatures(each.cells, 2 * each.table) for each in data.features]
    with pytest.raises(ValueError, match="of length at most 1"):
        check(attrs.evolve(data, features=longer))
    a_bit = CellFeatures(np.zeros(5, dtype=np.intp), np.array([[FEATURE_ONE + 1]]))
    with pytest.raises(ValueError, match="of length at most 1"):
        check(attrs.evolve(data, features=[a_bit]))
    for cells in (np.full(5, 3), np.full(5, -1), np.zeros(4, dtype=np.intp)):
        with pytest.raises(ValueError, match="cells from 0 to 2"):
            check(attrs.evolve(data, features=[attrs.evolve(data.features[0], cells=cells)]))
    for weights in (np.full(5, -1), np.full(5, WEIGHT_ONE + 1), np.zeros(4)):
        with pytest.raises(ValueError, match="weights from 0 to"):
            check(attrs.evolve(data, weights=weights.astype(np.int32)))


def test_the_most_records_leave_sums_that_floating_point_holds_exactly() -> None:
    assert MOST_RESIDUAL_RECORDS * RESIDUAL_ONE * FEATURE_ONE * WEIGHT_ONE <= 2**53
    many = Sample(np.zeros(MOST_RESIDUAL_RECORDS + 1, dtype=np.int8).astype(np.int64), [])
    with pytest.raises(ValueError, match="at most 8388608 records"):
        check_residuals(many)
