"""Attacks on rados: exact against naive enumeration, and samples that cannot be told apart."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from boosting.theory.rado_attacks import (
    MAX_MET,
    alternative_sample,
    another_solution,
    hausdorff_distance,
    read_support,
    reconstruct_edges,
    subsumed,
)

seeds = st.integers(0, 2**32 - 1)


def every_support(m: int) -> FloatArray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=m)))


def of_rank(rng: np.random.Generator, n: int, m: int) -> tuple[FloatArray, int]:
    supports = rng.integers(0, 2, (n, m)).astype(np.float64)
    return supports, int(np.linalg.matrix_rank(supports))


# --- Lemma 9 ----------------------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 12), st.integers(1, 5), st.integers(0, 20))
def test_lemma_9_edges_come_back_where_they_can(seed: int, m: int, d: int, more: int) -> None:
    """[000-Lem9] Within 1e-9 where the supports have rank m; otherwise refused, and others fit as well."""
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=(m, d))
    supports, rank = of_rank(rng, max(1, m - 3 + more), m)
    if rank == m:
        assert np.max(np.abs(reconstruct_edges(supports @ edges, supports) - edges)) <= 1e-9
        with pytest.raises(ValueError, match=f"rank {m} is m"):
            another_solution(edges, supports, 1.0)
        return
    with pytest.raises(ValueError, match=f"n={len(supports)} rados have rank {rank}, below m={m}.*{m - rank} rados"):
        reconstruct_edges(supports @ edges, supports)
    other = another_solution(edges, supports, 2.5)
    assert float(np.linalg.norm(other - edges)) == pytest.approx(2.5)
    assert np.max(np.abs(supports @ (other - edges))) <= 1e-12


def test_lemma_9_as_printed_is_what_least_squares_finds() -> None:
    """ΠUᵀGᵀ(GUUᵀGᵀ)⁻¹, in rows; errors of the rados are averaged, not copied."""
    rng = np.random.default_rng(9)
    edges, (supports, rank) = rng.normal(size=(6, 3)), of_rank(rng, 200, 6)
    assert rank == 6
    rados = supports @ edges + 0.1 * rng.normal(size=(200, 3))
    printed = np.linalg.inv(supports.T @ supports) @ supports.T @ rados
    assert reconstruct_edges(rados, supports) == pytest.approx(printed, abs=1e-12)
    assert 0.0 < np.max(np.abs(printed - edges)) < 0.1


# --- Lemma 10 ---------------------------------------------------------------------------------------------------------


def points_in_ball(rng: np.random.Generator, m: int, d: int, radius: float) -> FloatArray:
    points = rng.normal(size=(m, d))
    return np.asarray(points * radius * rng.random((m, 1)) ** (1.0 / d) / np.linalg.norm(points, axis=1, keepdims=True))


@given(seeds, st.integers(1, 20), st.integers(1, 4), st.sampled_from([1e-3, 1.0, 50.0]))
def test_lemma_10_an_unused_edge_makes_another_sample_far_away(seed: int, m: int, d: int, radius: float) -> None:
    """[000-Lem10] The same rados bit for bit, inside the ball, farther than R·m^(−1/d)."""
    rng = np.random.default_rng(seed)
    edges, (supports, _) = points_in_ball(rng, m, d, radius), of_rank(rng, 5, m)
    other, held = alternative_sample(edges, supports, radius)
    assert other.shape == (m + 1, d)
    assert np.array_equal(other[:-1], edges)
    assert not held[:, -1].any()
    assert np.array_equal(held[:, :-1], supports)
    assert float(np.max(np.linalg.norm(other, axis=1))) <= radius
    assert hausdorff_distance(edges, other) >= radius * m ** (-1.0 / d)


@pytest.mark.parametrize(("m", "d", "far"), [(2, 1, 0.5), (3, 1, 0.6), (4, 2, 0.7), (12, 2, 0.4)])
def test_the_unused_edge_is_as_far_as_a_grid_finds(m: int, d: int, far: float) -> None:
    rng = np.random.default_rng(m)
    axis = np.linspace(-1.0, 1.0, 401)
    grid = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    grid = grid[np.linalg.norm(grid, axis=1) <= 1.0]
    edges = points_in_ball(rng, m, d, 1.0)
    best = max(float(np.min(np.linalg.norm(edges - point, axis=1))) for point in grid)
    found = hausdorff_distance(edges, alternative_sample(edges, np.zeros((1, m)), 1.0)[0])
    assert best > far
    assert found >= best - 1e-9


def test_few_edges_on_a_line_leave_half_of_it() -> None:
    """R·m^(−1/d) is attained: edges ±1/2 in [−1, 1] leave nothing farther than 1/2, so 10 % more would be false."""
    other, _ = alternative_sample(np.array([[-0.5], [0.5]]), np.zeros((1, 2)), 1.0)
    assert hausdorff_distance(other, np.array([[-0.5], [0.5]])) == pytest.approx(0.5)


def test_what_is_proved_reaches_lemma_10_for_m_up_to_d_to_the_d() -> None:
    """R·m^(−1/d) >= R·log d/(√d·log m) for 2^d <= m <= d^d, and R/2 >= R/(2√d) below; not for d = 100, m = d^4d."""
    for d in range(2, 300):
        for log_m in np.linspace(d * math.log(2.0), d * math.log(d), 50):
            assert math.exp(-log_m / d) >= math.log(d) / (math.sqrt(d) * log_m)
    assert math.exp(-4.0 * math.log(100)) < math.log(100) / (math.sqrt(100) * 400 * math.log(100))


@given(seeds, st.integers(1, 6), st.integers(1, 3), st.data())
def test_lemma_10_flipped_edges_make_another_sample_with_every_rado(
    seed: int, m: int, d: int, data: st.DataObject
) -> None:
    """[000-Lem10-twins] For whole numbers exactly, for all 2^m rados at once; there are others that the twin adds."""
    rng = np.random.default_rng(seed)
    edges, supports = rng.integers(-5, 6, (m, d)).astype(np.float64), every_support(m)
    flipped = data.draw(st.lists(st.integers(0, m - 1), min_size=1, max_size=m, unique=True))
    other, held = alternative_sample(edges, supports, 100.0, np.array(flipped))
    assert np.array_equal(held @ other, supports @ edges)
    assert np.array_equal(other[flipped], -edges[flipped])
    assert np.array_equal(other[-1], edges[flipped].sum(axis=0))
    ours = {tuple(rado) for rado in supports @ edges}
    theirs = {tuple(rado) for rado in every_support(m + 1) @ other}
    assert ours <= theirs
    assert (ours == theirs) or np.any(other[-1])


def test_flipping_edges_that_cancel_moves_all_of_them() -> None:
    """By hand: (0, 1), (±0.8, −0.6) become (0, −1), (∓0.8, 0.6) and their old sum (0, −0.2); all moved by √0.8."""
    edges = np.array([[0.0, 1.0], [0.8, -0.6], [-0.8, -0.6]])
    other, held = alternative_sample(edges, np.eye(3), 1.0, np.array([0, 1, 2]))
    assert held @ other == pytest.approx(edges)
    assert hausdorff_distance(edges, other) == pytest.approx(math.sqrt(0.8))


def test_hausdorff_distance_by_hand() -> None:
    one, other = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [4.0, 4.0]])
    assert hausdorff_distance(one, other) == hausdorff_distance(other, one) == 5.0
    assert hausdorff_distance(one, one[::-1]) == 0.0
    assert hausdorff_distance(one, one[:1]) == 1.0


# --- Reading supports, and Lemma 12 -----------------------------------------------------------------------------------


def naive_fits(rado: FloatArray, edges: FloatArray, tolerance: float) -> set[tuple[float, ...]]:
    supports = every_support(len(edges))
    near = np.linalg.norm(supports @ edges - rado, axis=1) <= tolerance
    return {tuple(row) for row in supports[near]}


@given(seeds, st.integers(1, 10), st.integers(1, 5), st.sampled_from([0.0, 0.25, 1.0, 2.0, 100.0]))
def test_all_supports_that_fit_are_read_and_no_other(seed: int, m: int, d: int, tolerance: float) -> None:
    """Whole numbers, where many fit and distances of exactly the tolerance occur; all 2^m at tolerance 100."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(-3, 4, (m, d)).astype(np.float64)
    rado = rng.integers(-4, 5, d).astype(np.float64)
    found = read_support(rado, edges, tolerance)
    assert found.shape[1] == m
    assert len({tuple(row) for row in found}) == len(found)
    assert {tuple(row) for row in found} == naive_fits(rado, edges, tolerance)


@given(seeds, st.integers(1, 24), st.integers(1, 40))
def test_the_support_of_a_rado_is_readable(seed: int, m: int, d: int) -> None:
    """Edges in general position: one answer, the right one."""
    rng = np.random.default_rng(seed)
    edges, support = rng.normal(size=(m, d)), rng.integers(0, 2, m).astype(np.float64)
    assert np.array_equal(read_support(support @ edges, edges, 1e-10), support[None, :])


def test_the_support_is_readable_at_the_largest_m() -> None:
    rng = np.random.default_rng(0)
    edges, support = rng.normal(size=(MAX_MET, 3)), rng.integers(0, 2, MAX_MET).astype(np.float64)
    assert np.array_equal(read_support(support @ edges, edges, 1e-9), support[None, :])
    assert not read_support(support @ edges + 1e-3, edges, 1e-9).size


def naive_subsumed(rados: FloatArray, candidates: FloatArray, records: int, radius: float) -> bool:
    supports = every_support(records)
    return any(
        bool(
            np.all(np.min(np.linalg.norm((supports @ candidates[list(chosen)])[:, None] - rados, axis=2), 0) <= radius)
        )
        for chosen in itertools.combinations(range(len(candidates)), records)
    )


@pytest.mark.parametrize("radius", [0.0, 1.0, 1.5])
def test_subsumption_is_what_enumeration_finds(radius: float) -> None:
    """[000-Lem12] 200 small instances of whole numbers: the same answer, and one that can be checked; both occur."""
    rng, yes = np.random.default_rng(12), 0
    for _ in range(200):
        s, d, n = int(rng.integers(1, 8)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
        records = int(rng.integers(1, s + 1))
        candidates = rng.integers(-6, 7, (s, d)).astype(np.float64)
        sums = rng.integers(0, 2, (n, s)) * (rng.random(s) < 0.7) @ candidates + rng.integers(0, 2, d)
        found = subsumed(sums, candidates, records, radius)
        assert (found is not None) == naive_subsumed(sums, candidates, records, radius)
        if found is not None:
            yes += 1
            chosen, supports = found
            assert chosen.shape == (records,)
            assert np.all(np.diff(chosen) > 0)
            assert supports.shape == (n, records)
            assert np.max(np.linalg.norm(supports @ candidates[chosen] - sums, axis=1)) <= radius
    assert 20 < yes < 180


def test_a_database_finds_the_records_behind_rados() -> None:
    """12 of 30 candidates, 6 rados: exactly the records that were summed; 11 would be too few."""
    rng = np.random.default_rng(1)
    candidates, behind = rng.normal(size=(30, 4)), np.sort(rng.choice(30, 12, replace=False))
    supports = rng.integers(0, 2, (6, 12)).astype(np.float64)
    supports[0] = 1.0 - supports[1]  # so that every record is in some rado
    rados = supports @ candidates[behind]
    found = subsumed(rados, candidates, 12, 1e-9)
    assert found is not None
    assert np.array_equal(found[0], behind)
    assert np.array_equal(found[1], supports)
    assert subsumed(rados, candidates, 11, 1e-9) is None


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(1, 300))
def test_subset_sum_is_a_case_of_subsumption(numbers: list[int], total: int) -> None:
    """[000-Lem12] d = n = 1, all candidates allowed, radius below 1/2: NP-hard by this reduction, which is ours."""
    reachable = {0}
    for number in numbers:
        reachable |= {number + other for other in reachable}
    found = subsumed(np.array([[total]]), np.array(numbers)[:, None], len(numbers), 0.25)
    assert (found is not None) == (total in reachable)


TWO = np.array([[1.0], [2.0]])
REFUSED: Sequence[tuple[Callable[[], object], str]] = [
    (lambda: reconstruct_edges(np.ones((1, 1)), np.eye(2)), "one per support, 2"),
    (lambda: reconstruct_edges(np.ones((2, 1)), np.array([[0.0, 1.0], [1.0, -1.0]])), "0 and 1"),
    (lambda: reconstruct_edges(np.array([[math.nan], [1.0]]), np.eye(2)), "finite"),
    (lambda: another_solution(TWO, np.ones((1, 2)), 0.0), "positive"),
    (lambda: another_solution(TWO, np.ones((1, 3)), 1.0), "supports"),
    (lambda: hausdorff_distance(TWO, np.ones((2, 2))), "other"),
    (lambda: hausdorff_distance(TWO[:0], TWO), "one"),
    (lambda: alternative_sample(TWO, np.eye(2), 1.5), "length 2.0, beyond"),
    (lambda: alternative_sample(TWO, np.eye(2), 2.5, np.array([0, 1])), "edges that cancel"),
    (lambda: alternative_sample(TWO, np.eye(2), 2.5, np.array([2])), "some of the 2 edges"),
    (lambda: alternative_sample(TWO, np.eye(2), 2.5, np.array([], dtype=np.intp)), "some of the 2 edges"),
    (lambda: read_support(np.ones(1), np.ones((MAX_MET + 1, 1)), 0.0), "at most 40"),
    (lambda: read_support(np.ones(2), TWO, 0.0), "rado"),
    (lambda: read_support(np.ones(1), TWO, -1.0), "non-negative"),
    (lambda: read_support(np.ones(1), np.ones((30, 1)), 100.0), "1073741824 pairs"),
    (lambda: subsumed(TWO, TWO, 3, 0.0), "at most the 2"),
    (lambda: subsumed(TWO, TWO, 0, 0.0), "whole number"),
    (lambda: subsumed(TWO, TWO, 1, math.inf), "non-negative"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_outside_the_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e200, 1e300])
def test_supports_are_read_off_numbers_of_any_size(size: float) -> None:
    """Six equal edges, and a rado of three of them: twenty supports, whatever the unit."""
    assert len(read_support(np.array([3.0 * size]), np.full((6, 1), size), 0.0)) == 20
    assert len(read_support(np.array([3.0 * size]), np.full((6, 1), size), 1e308)) == 64


def test_one_rado_is_read_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"expected one, of shape \(d,\)"):
        read_support(np.ones((2, 3)), np.eye(3), 0.0)
