"""What paper 004 says of fairness, and what the private estimates depend on."""

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ReplaceOne
from learners.fairness.group_measures import gap_by_traces, statistical_parity
from mechanisms.queries.group_queries import (
    GroupedCells,
    prefix_counts,
    prefix_decoder,
    prefix_weights,
    prefixes_query,
    weighted_prefixes,
)
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import check_sensitivity, neighbours


@pytest.mark.parametrize("seed", range(3))
def test_equation_9_is_exact_and_its_trace_is_twice_the_printed_one(seed: int) -> None:
    """[004-eq9], [004-eq9-trace] Noise of two signs has the Gaussian's first two moments, and can be enumerated."""
    rng, sigma = np.random.default_rng(seed), 0.7
    table, labels, groups = rng.normal(size=(12, 4)), rng.normal(size=12), np.repeat([0, 1], [5, 7])
    table[groups == 1] *= 3.0
    optimum = np.linalg.lstsq(table, labels, rcond=None)[0]

    def risk(coefficients: npt.NDArray[np.floating], rows: npt.NDArray[np.bool_]) -> float:
        return float(np.mean((table[rows] @ coefficients - labels[rows]) ** 2))

    noise = sigma * np.array(list(itertools.product((-1.0, 1.0), repeat=4)))
    for coefficients in (optimum, rng.normal(size=4)):  # no need for a minimiser
        for found, rows in zip(gap_by_traces(sigma, table, groups), (groups == 0, groups == 1), strict=True):
            excess = [
                np.mean([risk(coefficients + z, part) for z in noise]) - risk(coefficients, part)
                for part in (rows, groups >= 0)
            ]
            assert found.excess == pytest.approx(excess[0], rel=1e-9)
            assert found.gap == pytest.approx(abs(excess[0] - excess[1]), rel=1e-9)
            # Second differences give the Hessian's trace, of a quadratic exactly.
            shifted = [risk(optimum + e, rows) + risk(optimum - e, rows) for e in np.eye(4)]
            trace = sum(shifted) - 8.0 * risk(optimum, rows)
            printed = float(np.mean(np.sum(table[rows] ** 2, axis=1)))
            assert trace == pytest.approx(2.0 * printed)
            assert 0.5 * sigma**2 * trace == pytest.approx(found.excess)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(-30, 30)), min_size=1, max_size=40),
    st.integers(2, 12),
)
def test_the_grid_is_a_lower_bound_that_can_miss_everything(records: list[tuple[int, int]], points: int) -> None:
    """[004-grid-parity] And the upper bound holds, from the same grid."""
    padded = [*records, *((group, value) for group in (0, 1) for value in (-31, 31))]
    padded = [record for record in padded if record[0] < 2]
    groups, outputs = (np.array(part) for part in zip(*padded, strict=True))
    exact = statistical_parity(outputs, groups)
    brute = max(abs(np.mean(outputs[groups == 0] <= t) - np.mean(outputs[groups == 1] <= t)) for t in outputs)
    assert exact == pytest.approx(brute, abs=1e-12)
    assert statistical_parity(outputs, groups, grid=points) <= exact
    grid = np.linspace(-31, 31, points)
    shares = np.array([[np.mean(outputs[groups == group] <= t) for t in grid] for group in (0, 1)])
    upper = max(float(np.max(shares[a, 1:] - shares[b, :-1])) for a, b in ((0, 1), (1, 0)))
    assert exact <= max(upper, float(np.max(np.abs(shares[0] - shares[1])))) + 1e-12
    # Everybody but one outlier lies between the first two points of 500.
    masses = np.array([0.0, *[0.5] * 100, *[0.6] * 100, 1000.0])
    sides = np.repeat(["a", "b"], 101)
    assert statistical_parity(masses, sides) > 0.99
    assert statistical_parity(masses, sides, grid=500) < 0.01


def grouped(records: tuple[tuple[int, int], ...], groups: int, cells: int) -> GroupedCells:
    table = np.array(records, dtype=np.intp).reshape(-1, 2)
    return GroupedCells(table[:, 0], table[:, 1], groups, cells)


@pytest.mark.parametrize("adjacency", [ReplaceOne(), AddRemoveOne()])
@pytest.mark.parametrize(("groups", "cells", "n"), [(2, 2, 2), (2, 5, 2), (3, 3, 3)])
def test_prefixes_move_by_just_what_they_say(adjacency: Neighbours, groups: int, cells: int, n: int) -> None:
    """[group-prefixes] Every pair of small samples; attained, so anything less is caught. And decoded exactly."""
    records = list(itertools.product(range(groups), range(cells)))
    query = prefixes_query(adjacency, cells)
    pairs = [pair.map(lambda rows: grouped(rows, groups, cells)) for pair in neighbours(adjacency, records, n)]
    assert check_sensitivity(query, pairs).ratio == pytest.approx(1.0, abs=1e-9)
    for data, _ in pairs[:50]:
        counts = [[np.sum((data.groups == g) & (data.cells <= t)) for t in range(cells)] for g in range(groups)]
        np.testing.assert_allclose(prefix_counts(weighted_prefixes(data)), counts, atol=1e-9)


@pytest.mark.parametrize("cells", [2, 4, 64, 500])
def test_prefixes_have_less_noise_than_other_ways(cells: int) -> None:
    """[group-prefixes] Largest variance of a prefix at μ = 1 and replace-one, all groups together."""
    ours = 2.0 * float(np.sum(prefix_weights(cells) ** 2) * np.sum(prefix_decoder(cells) ** 2))
    assert ours < 2.0 * cells  # noisy counts summed; or noise on all sums, which move by √cells in each of two groups
    levels = math.ceil(math.log2(cells)) + 1
    width = 1 << (levels - 1)
    tree = np.concatenate([np.kron(np.eye(width >> level), np.ones(1 << level)) for level in range(levels)])
    prefixes = np.tril(np.ones((width, width)))[:cells]
    least_squares = np.sum(prefixes * np.linalg.solve(tree.T @ tree, prefixes.T).T, axis=1)
    binary_tree = 2.0 * levels * float(np.max(least_squares))
    assert cells == 2 or ours < binary_tree
    bound = 2.0 * (1.07 + math.log(cells) / math.pi) ** 2
    assert 0.93 * bound < ours < bound
    if cells == 500:
        assert [ours, binary_tree] == pytest.approx([18.5, 33.6], abs=0.05)


def moves(weight: float, scores: int) -> tuple[float, float]:
    """How far (s_1 − ½, …, s_k − ½, weight) moves, exactly: when a record is replaced, and when one comes or goes.

    Lengths are convex, so they are largest at scores that are all 0 or 1.
    """
    ends = [np.array([*(s - 0.5 for s in corner), weight]) for corner in itertools.product((0.0, 1.0), repeat=scores)]
    apart = [(float(np.linalg.norm(np.concatenate([a, b]))), float(np.linalg.norm(a - b))) for a in ends for b in ends]
    return max(map(max, apart)), max(float(np.linalg.norm(a)) for a in ends)


def variance(moved: float, weight: float, mean: float) -> float:
    """Of N·(mean share), N large, at μ = 1: of Σ(s − ½) less (mean − ½)/weight times Σ weight."""
    return moved**2 * (1.0 + (mean - 0.5) ** 2 / weight**2)


WEIGHTS = np.linspace(0.02, 2.0, 200)


@pytest.mark.parametrize("scores", [1, 2, 3])
def test_counts_beside_sums_of_losses_come_free(scores: int) -> None:
    """[group-risks] Where a record is replaced no other weight, nor (s, 1), does better for any mean."""
    half = 0.5 * math.sqrt(scores)
    assert moves(half, scores)[0] == pytest.approx(math.sqrt(scores))  # as do the sums alone
    others = [(weight, moves(float(weight), scores)[0]) for weight in WEIGHTS]
    for mean in np.linspace(0.0, 1.0, 21):
        best = variance(moves(half, scores)[0], half, float(mean))
        assert best == pytest.approx(scores + 4.0 * (mean - 0.5) ** 2)
        assert all(variance(moved, weight, float(mean)) >= best * (1.0 - 1e-12) for weight, moved in others)
        if scores == 1:
            # (s, 1) moves by 2 where a record changes groups; the mean then has the variance 4(1 + mean²).
            assert 4.0 * (1.0 + mean**2) > 1.9 * best
            # (s, 1 − s) at √2: Var of (1 − m)·x − m·y.
            assert 2.0 * ((1.0 - mean) ** 2 + mean**2) == pytest.approx(best)


@pytest.mark.parametrize("scores", [1, 2, 3])
def test_where_records_come_or_go_another_weight_has_less_noise(scores: int) -> None:
    """[group-risks] By how much depends on a mean that nobody knows."""
    half = 0.5 * math.sqrt(scores)
    others = [(weight, moves(float(weight), scores)[1]) for weight in WEIGHTS]
    assert moves(half, scores)[1] == pytest.approx(math.sqrt(scores / 2))
    for distance in (0.05, 0.1, 0.3, 0.5):
        ours = variance(moves(half, scores)[1], half, 0.5 + distance)
        assert ours == pytest.approx(scores / 2 + 2.0 * distance**2)
        weight = math.sqrt(math.sqrt(scores) * distance / 2)
        best = variance(moves(weight, scores)[1], weight, 0.5 + distance)
        assert best == pytest.approx((half + distance) ** 2)
        assert best <= ours * (1.0 + 1e-12)
        assert (moves(weight, scores)[1] / weight) ** 2 >= 2.0 - 1e-12  # of the number of records; ours has 2
        assert all(variance(moved, each, 0.5 + distance) >= best * (1.0 - 1e-12) for each, moved in others)
        if scores == 1 and distance == 0.1:
            assert (round(weight, 2), round(best, 2), round(ours, 2)) == (0.22, 0.36, 0.52)
        if scores == 1 and distance == 0.5:
            assert best == pytest.approx(ours)


@pytest.mark.parametrize("scores", [1, 2, 3])
def test_pairs_are_the_centred_scores_and_one_count(scores: int) -> None:
    """[group-risks] A rotation of the pairs, √2 apart, with nothing in the other directions: equal information."""
    pair = np.array([[1.0, -1.0], [1.0, 1.0]]) / math.sqrt(2.0)
    turned = np.kron(np.eye(scores), pair)
    for corner in itertools.product((0.0, 0.3, 1.0), repeat=scores):
        released = turned @ np.ravel([(s, 1.0 - s) for s in corner])
        np.testing.assert_allclose(released[::2], math.sqrt(2.0) * (np.array(corner) - 0.5), atol=1e-12)
        # The same number in each pair: along (1, …, 1)/√k it is √2·½√k, and nothing beside that.
        np.testing.assert_allclose(released[1::2], math.sqrt(0.5), atol=1e-12)
        assert np.sum(released[1::2]) / math.sqrt(scores) == pytest.approx(math.sqrt(2.0) * 0.5 * math.sqrt(scores))
