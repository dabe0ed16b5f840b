"""Min-norm interpolation, ridge regression and Kaczmarz's method against numpy's SVD, hand counts, and memory."""

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from learners.random_features.interpolation import (
    KaczmarzReport,
    NotConverged,
    kaczmarz,
    min_norm,
    ridge,
    single_row_kaczmarz,
)

ORDERS = [np.ascontiguousarray, np.asfortranarray]
Order = Callable[[FloatArray], FloatArray]


def length(vector: FloatArray) -> float:
    return float(np.linalg.norm(vector))


def gaussian(records: int, width: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((records, width)), rng.standard_normal(records)


def solved(
    features: FloatArray, targets: FloatArray, block: int, tolerance: float = 1e-10, most_sweeps: int = 5000
) -> tuple[FloatArray, KaczmarzReport]:
    rng = np.random.default_rng(5)
    return kaczmarz(features, targets, tolerance=tolerance, block=block, most_sweeps=most_sweeps, rng=rng)


@st.composite
def wide(draw: st.DrawFn, spare: int = 0) -> tuple[FloatArray, FloatArray]:
    """Gaussian problems with N >= m + spare."""
    records = draw(st.integers(1, 12))
    return gaussian(records, records + spare + draw(st.integers(0, 20)), draw(st.integers(0, 2**16)))


# --- min_norm ---------------------------------------------------------------------------------------------------------


@given(wide(), st.sampled_from(ORDERS))
def test_both_routes_are_the_pseudo_inverse(problem: tuple[FloatArray, FloatArray], order: Order) -> None:
    features, targets = problem
    expected = np.linalg.pinv(features) @ targets
    for found in (min_norm(order(features), targets), min_norm(order(features), targets, route="pinv")):
        assert found.shape == expected.shape
        assert length(found - expected) <= 1e-8 * length(expected)


@given(wide(), st.integers(0, 2**16))
def test_interpolates_and_no_other_interpolant_is_shorter(problem: tuple[FloatArray, FloatArray], seed: int) -> None:
    features, targets = problem
    found = min_norm(features, targets)
    assert length(features @ found - targets) <= 1e-9 * length(targets)
    _, _, directions = np.linalg.svd(features)
    null = directions[len(features) :]
    other = found + np.random.default_rng(seed).standard_normal(len(null)) @ null
    assert length(found) <= length(other) * (1.0 + 1e-9)


def test_refinement_keeps_the_condition_of_the_features_and_not_its_square() -> None:
    """Condition 1e5 of A, 1e10 of AAᵀ: without the second solve, the error is 1e-7 or so."""
    rng = np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.standard_normal((size, 40)))[0] for size in (40, 90))
    singular = np.logspace(0.0, -5.0, 40)
    inside = rng.standard_normal(40)
    found = min_norm((left * singular) @ right.T, left @ (singular * inside))
    assert length(found - right @ inside) <= 1e-10 * length(inside)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-9, 1e-8, 3e-8, 1e-7])
def test_duplicates_and_near_duplicates_share_the_mean_of_their_targets(order: Order, noise: float) -> None:
    """1e-9 apart, they interpolate with coefficients of 1e8; they are one row twice to √CUTOFF, and so to us."""
    features, targets = gaussian(6, 15)
    twice = np.vstack([features, features[:2] + noise * gaussian(2, 15, 1)[0]])
    merged = np.concatenate([[(targets[0] + 3.0) / 2.0, (targets[1] - 3.0) / 2.0], targets[2:]])
    expected = np.linalg.pinv(features) @ merged
    found = min_norm(order(twice), np.concatenate([targets, [3.0, -3.0]]))
    assert length(found - expected) <= max(1e-10, 100.0 * noise) * length(expected)
    if not noise:
        by_svd = min_norm(order(twice), np.concatenate([targets, [3.0, -3.0]]), route="pinv")
        assert length(by_svd - expected) <= 1e-10 * length(expected)


def test_equal_records_with_equal_targets_are_interpolated() -> None:
    features, targets = (np.repeat(part, 3, axis=0) for part in gaussian(5, 20))
    found = min_norm(features, targets)
    assert length(features @ found - targets) <= 1e-12 * length(targets)


@given(st.integers(1, 5), st.integers(0, 2**16))
def test_where_rank_lacks_the_shortest_least_squares_solution(rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((8, rank)) @ rng.standard_normal((rank, 12))
    targets = rng.standard_normal(8)
    expected = np.linalg.pinv(features, rcond=1e-9) @ targets
    for found in (min_norm(features, targets), min_norm(features, targets, route="pinv")):
        assert length(found - expected) <= 1e-6 * length(expected)


def test_no_features_but_zeros_have_zero_coefficients() -> None:
    assert not np.any(min_norm(np.zeros((3, 4)), np.ones(3)))
    assert not np.any(single_row_kaczmarz(np.zeros((3, 4)), np.ones(3), 3, np.random.default_rng(0)))


def test_bits_do_not_change_from_call_to_call() -> None:
    features, targets = gaussian(50, 80)
    features[1] = features[0]
    assert min_norm(features, targets).tobytes() == min_norm(features, targets).tobytes()
    again, other = gaussian(50, 300), np.random.default_rng(6)
    assert solved(*again, 7)[0].tobytes() == solved(*again, 7)[0].tobytes()
    # and another generator takes the blocks in another order
    assert (
        solved(*again, 7)[0].tobytes()
        != kaczmarz(*again, tolerance=1e-10, block=7, most_sweeps=99, rng=other)[0].tobytes()
    )


def test_strides_and_single_precision_are_copied_and_arguments_stay_as_they_are() -> None:
    features, targets = gaussian(10, 60)
    before = features.copy()
    strided, expected = features[::2, ::3], min_norm(features[::2, ::3].copy(), targets[::2])
    assert np.array_equal(min_norm(strided, targets[::2]), expected)
    single = min_norm(features.astype(np.float32), targets)
    assert length(single - min_norm(features, targets)) <= 1e-5 * length(single)
    solved(features, targets, 3)
    ridge(features, targets, 1.0)
    assert np.array_equal(features, before)


# --- ridge ------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 15), st.integers(1, 15), st.floats(1e-3, 1e3), st.sampled_from(ORDERS))
def test_ridge_solves_the_normal_equations_on_either_side(m: int, n: int, penalty: float, order: Order) -> None:
    features, targets = gaussian(m, n, 16 * m + n)
    found = ridge(order(features), targets, penalty)
    primal = np.asarray(np.linalg.solve(features.T @ features + penalty * np.eye(n), features.T @ targets), np.float64)
    dual = features.T @ np.linalg.solve(features @ features.T + penalty * np.eye(m), targets)
    assert length(found - primal) <= 1e-9 * length(primal)
    assert length(found - dual) <= 1e-9 * length(dual)


def test_ridge_tends_to_the_min_norm_solution() -> None:
    features, targets = gaussian(10, 30)
    assert length(ridge(features, targets, 1e-9) - min_norm(features, targets)) <= 1e-9


# --- kaczmarz ---------------------------------------------------------------------------------------------------------


@given(wide(spare=12), st.sampled_from([1, 2, 5, 12, 100]), st.sampled_from(ORDERS))
def test_kaczmarz_reaches_the_min_norm_solution(
    problem: tuple[FloatArray, FloatArray], block: int, order: Order
) -> None:
    features, targets = problem
    found, report = solved(order(features), targets, block)
    assert report.residual <= 1e-10
    assert report.residual == pytest.approx(length(features @ found - targets) / length(targets), abs=1e-14)
    least = np.linalg.svd(features, compute_uv=False)[-1]
    # both lie in the span of the rows, where |A(c − c*)| >= σ|c − c*|
    assert length(found - min_norm(features, targets)) <= 1.001e-10 * length(targets) / least + 1e-12


@pytest.mark.parametrize("block", [1, 2, 3, 8])
def test_duplicates_within_and_across_blocks_do_no_harm(block: int) -> None:
    features, targets = (np.concatenate([part, part[:3], part[:1]]) for part in gaussian(8, 40))
    features[-1] *= 2.0
    targets[-1] *= 2.0
    found, _ = solved(features, targets, block)
    assert length(found - min_norm(features, targets)) <= 1e-8


@pytest.mark.parametrize("block", [1, 2, 3, 8])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-4])
def test_what_cannot_converge_says_so(block: int, noise: float) -> None:
    """(Near-)duplicates with unlike targets. In one block of Cholesky factors, 1e-4 apart is solved, and rightly so."""
    features, targets = gaussian(8, 40)
    features[7] = features[0] + noise * features[7]
    targets[:] = 1.0
    targets[7] = -1.0
    if block == 8 and noise == 1e-4:
        assert solved(features, targets, block, 1e-6)[1].residual <= 1e-6
        return
    with pytest.raises(NotConverged, match=r"relative residual of 0\.\d+ > 1e-06 after 50 sweeps: .*min_norm or ridge"):
        solved(features, targets, block, 1e-6, 50)


def test_the_last_sweep_counts() -> None:
    """Orthogonal rows are solved by one sweep, which only the second would notice."""
    _, report = solved(np.eye(6, 9), np.ones(6), 2, 1e-6, 1)
    assert (report.sweeps, report.residual) == (1, 0.0)


def test_zero_targets_have_zero_coefficients_without_a_sweep() -> None:
    found, report = solved(gaussian(4, 9)[0], np.zeros(4), 2)
    assert (report.sweeps, report.residual, bool(np.any(found))) == (0, 0.0, False)


def test_flops_by_hand() -> None:
    """Rows of 2 and 1, N = 4. Gram matrices 2·3·4 + 1·2·4 = 32; factors 2·3·5/6 + 1 = 6, as n³/3 + n²/2 + n/6; a sweep
    4·3·4 for the products and 2·4 + 2·1 for the triangles; 2·3·4 for the one look."""
    assert solved(np.eye(3, 4), np.ones(3), 2, 1e-6, 1)[1].flops == 32 + 6 + 58 + 24


def test_flops_of_an_eigendecomposition_by_hand() -> None:
    """One block, twice the same row: 2·3·4; 9·8; rank 1, so 4·2 beside the products 4·2·4; one look."""
    assert solved(np.ones((2, 4)), np.ones(2), 2, 1e-6, 1)[1].flops == 24 + 72 + 40 + 16


def test_twice_the_records_and_features_ask_four_times_the_operations_of_a_sweep() -> None:
    """And no more: 4mN + O(m·block). The Gram matrix of them all would ask eight times."""
    small, large = (solved(*gaussian(m, 8 * m), 16, 1e-6)[1] for m in (64, 128))
    looks = [2 * m * 8 * m for m in (64, 128)]
    setups = [m // 16 * (16 * 17 * 8 * m + 16 * 17 * 33 // 6) for m in (64, 128)]
    each = [(report.flops - setup) / report.sweeps for report, setup in zip((small, large), setups, strict=True)]
    assert setups[1] <= 4 * setups[0]
    for per_sweep, look, m in zip(each, looks, (64, 128), strict=True):
        assert per_sweep <= 4 * m * 8 * m + 2 * m * 16 + look  # a look at each sweep at most
    plain = [
        per_sweep - look / report.sweeps for per_sweep, look, report in zip(each, looks, (small, large), strict=True)
    ]
    assert plain[1] / plain[0] == pytest.approx(4.0, rel=0.02)


# --- the published single rows ----------------------------------------------------------------------------------------


def test_one_step_projects_onto_one_row() -> None:
    features, targets = gaussian(5, 9)
    for seed in range(20):
        found = single_row_kaczmarz(features, targets, 1, np.random.default_rng(seed))
        steps = (targets / np.sum(features**2, axis=1))[:, None] * features
        assert min(length(found - step) for step in steps) <= 1e-14


@pytest.mark.parametrize("order", ORDERS)
def test_many_single_rows_reach_the_min_norm_solution_and_m_do_not(order: Order) -> None:
    features, targets = gaussian(20, 200)
    expected, rng = min_norm(features, targets), np.random.default_rng(2)
    assert length(single_row_kaczmarz(order(features), targets, 2000, rng) - expected) <= 1e-10
    assert length(single_row_kaczmarz(order(features), targets, 20, rng) - expected) >= 0.1 * length(expected)


def test_rows_are_drawn_by_their_squared_length() -> None:
    """Orthogonal rows of squared lengths 1, 3 and 0: 3/4 of 4,000 first steps are the second. Uniform draws, or draws
    by length (.634), are 17 deviations off; a right sampler fails once in 15,000 seeds, and this seed is fixed."""
    features, rng = np.diag([1.0, math.sqrt(3.0), 0.0]), np.random.default_rng(0)
    drawn = [single_row_kaczmarz(features, np.ones(3), 1, rng)[1] > 0.0 for _ in range(4000)]
    assert abs(np.mean(drawn) - 0.75) <= 4.0 * math.sqrt(0.75 * 0.25 / 4000)


# --- memory and bad input ---------------------------------------------------------------------------------------------


def extra(work: Callable[[], object]) -> int:
    """Peak number of doubles beyond what there was."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] // 8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("order", ORDERS)
def test_no_copy_of_the_features(order: Order) -> None:
    """m² for the Gram matrix, and some vectors of m and N; A has ten times as many. Blocks of k take m·k in all."""
    m, n = 400, 4000
    features, targets = gaussian(m, n)
    features, vectors = order(features), 6 * (m + n) + 5000
    assert extra(lambda: min_norm(features, targets)) <= m * m + vectors
    assert extra(lambda: ridge(features, targets, 1.0)) <= m * m + vectors
    assert extra(lambda: solved(features, targets, 32, 1e-6)) <= m * 32 + vectors
    assert extra(lambda: single_row_kaczmarz(features, targets, m, np.random.default_rng(0))) <= vectors
    features[1] = features[0]
    assert extra(lambda: min_norm(features, targets)) <= 4 * m * m + vectors


def every(features: FloatArray, targets: FloatArray) -> list[Callable[[], object]]:
    """All functions, on one problem."""
    return [
        lambda: min_norm(features, targets),
        lambda: min_norm(features, targets, route="pinv"),
        lambda: ridge(features, targets, 1.0),
        lambda: solved(features, targets, 2),
        lambda: single_row_kaczmarz(features, targets, 3, np.random.default_rng(0)),
    ]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nothing_but_finite_numbers(bad: float) -> None:
    features, targets = gaussian(4, 7)
    spoilt = features.copy()
    spoilt[2, 3] = bad
    for work in every(spoilt, targets):
        with pytest.raises(ValueError, match=r"features: .* NaN and infinities"):
            work()
    for work in every(features, np.array([0.0, bad, 1.0, 1.0])):
        with pytest.raises(ValueError, match=r"targets: .* NaN and infinities"):
            work()


def test_squares_that_leave_the_range_of_floats_are_refused() -> None:
    features, targets = gaussian(4, 7)
    for scale, reason in ((1e200, "squares are finite"), (1e-200, "squares vanish")):
        for work in (every(scale * features, targets)[index] for index in (0, 2, 3, 4)):
            with pytest.raises(ValueError, match=f"features: .*{reason}"):
                work()
        for work in every(features, scale * targets):
            with pytest.raises(ValueError, match=f"targets: .*{reason}"):
                work()


def test_shapes_and_complex_numbers_are_refused() -> None:
    features, targets = gaussian(4, 7)
    for shape in ((28,), (2, 2, 7), (0, 7), (4, 0)):
        for work in every(np.zeros(shape), targets):
            with pytest.raises(ValueError, match="features: expected shape"):
                work()
    for work in every(features, targets[:3]):
        with pytest.raises(ValueError, match=r"targets: expected shape \(4,\), one for each row, got \(3,\)"):
            work()
    for work in every(1j * features, targets):  # type: ignore[arg-type]  # on purpose
        with pytest.raises(TypeError, match="cosines and sines"):
            work()


def test_fewer_features_than_records_do_not_interpolate() -> None:
    works = every(*gaussian(5, 4))
    for work in works[:2] + works[3:]:
        with pytest.raises(
            ValueError, match="as many features as records: N = 4, m = 5; take more features or solver="
        ):
            work()


def test_parameters_are_checked() -> None:
    features, targets = gaussian(4, 7)
    with pytest.raises(ValueError, match="route: expected 'gram' or 'pinv'"):
        min_norm(features, targets, route="svd")  # type: ignore[arg-type]  # on purpose
    for penalty in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="expected a positive"):
            ridge(features, targets, penalty)
    for tolerance in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"in \(0, 1\)"):
            solved(features, targets, 2, tolerance)
    for block, most_sweeps in ((0, 5), (2, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            solved(features, targets, block, 0.1, most_sweeps)
    with pytest.raises(ValueError, match="at least 1"):
        single_row_kaczmarz(features, targets, 0, np.random.default_rng(0))
