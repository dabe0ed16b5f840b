"""Queries about public groups: exact sums, their sensitivities, and what is refused."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ReplaceOne
from mechanisms import GaussianNoise, L2Sensitivity, PlainMechanism, SeededNoise
from mechanisms.queries.group_queries import (
    MOST_CELLS,
    MOST_GROUP_RECORDS,
    SHARE_ONE,
    WEIGHT_UNIT,
    GroupedCells,
    GroupedShares,
    prefix_counts,
    prefix_decoder,
    prefix_weights,
    prefixes_query,
    share_sums,
    shares_query,
    weighted_prefixes,
)
from mechanisms.queries.histograms import Neighbours
from proofs_tests.harness import ClaimViolated, Pair, check_mechanism, check_sensitivity, neighbours

BOTH = [ReplaceOne(), AddRemoveOne()]
Shared = tuple[tuple[int, ...], ...]


def shared(records: Shared, scores: int = 1) -> GroupedShares:
    """Records: a group, and shares in quarters."""
    table = np.array(records, dtype=np.intp).reshape(-1, 1 + scores)
    return GroupedShares(table[:, 0], table[:, 1:] * (SHARE_ONE // 4), 3)


def share_pairs(adjacency: Neighbours, scores: int) -> list[Pair[GroupedShares]]:
    """All of two records with one score of five values, in three groups; of one with more, of three values, in two."""
    groups, values, n = (3, range(5), 2) if scores == 1 else (2, range(0, 5, 2), 1)
    records = list(itertools.product(range(groups), *[values] * scores))
    return [pair.map(lambda rows: shared(rows, scores)) for pair in neighbours(adjacency, records, n)]


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("scores", [1, 2, 3])
def test_shares_move_by_just_what_they_say(adjacency: Neighbours, scores: int) -> None:
    """[group-risks] Every pair of small samples; attained, and a tenth less is caught."""
    query, pairs = shares_query(adjacency, scores), share_pairs(adjacency, scores)
    assert query.sensitivity.value == pytest.approx(math.sqrt(scores * (2 if adjacency == ReplaceOne() else 1)))
    assert check_sensitivity(query, pairs).ratio == pytest.approx(1.0, abs=1e-9)
    less = attrs.evolve(query, sensitivity=L2Sensitivity(0.9 * query.sensitivity.value))
    with pytest.raises(ClaimViolated):
        check_sensitivity(less, pairs)


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_shares_of_any_sample_move_by_no_more_and_add_up_exactly(scores: int, groups: int, seed: int) -> None:
    """[group-risks] One record of fifty replaced, anywhere, or left out."""
    rng = np.random.default_rng(seed)
    data = GroupedShares(rng.integers(0, groups, 50), rng.integers(0, SHARE_ONE + 1, (50, scores)), groups)
    after = attrs.evolve(data, groups=data.groups.copy(), shares=data.shares.copy())
    after.groups[0], after.shares[0] = rng.integers(groups), rng.integers(0, SHARE_ONE + 1, scores)
    check_sensitivity(shares_query(ReplaceOne(), scores), [Pair(data, after)])
    fewer = attrs.evolve(data, groups=data.groups[1:], shares=data.shares[1:])
    check_sensitivity(shares_query(AddRemoveOne(), scores), [Pair(data, fewer), Pair(fewer, data)])
    sums, counts = share_sums(data), np.bincount(data.groups, minlength=groups)
    assert sums.shape == (groups, scores, 2)
    assert np.array_equal(sums.sum(axis=2), np.repeat(counts[:, np.newaxis], scores, axis=1))
    for group in range(groups):
        assert np.array_equal(sums[group, :, 0] * SHARE_ONE, data.shares[data.groups == group].sum(axis=0))


def test_sums_stay_among_the_integers_that_floating_point_holds() -> None:
    """However many records are allowed; both sums in units of what they are whole multiples of."""
    assert MOST_GROUP_RECORDS * SHARE_ONE <= 2**53
    assert MOST_GROUP_RECORDS / WEIGHT_UNIT <= 2**53
    assert prefix_weights(MOST_CELLS).max() == 1.0


def test_replacing_costs_more_than_adding() -> None:
    query = attrs.evolve(shares_query(AddRemoveOne(), 1), adjacency=ReplaceOne())
    with pytest.raises(ClaimViolated):
        check_sensitivity(query, share_pairs(ReplaceOne(), 1))


@given(st.integers(1, 300), st.integers(1, 3), st.integers(0, 10**6))
def test_prefixes_of_any_sample_move_by_no_more(cells: int, groups: int, seed: int) -> None:
    """[group-prefixes] One record of fifty replaced, anywhere."""
    rng = np.random.default_rng(seed)
    data = GroupedCells(rng.integers(0, groups, 50), rng.integers(0, cells, 50), groups, cells)
    after = attrs.evolve(data, groups=data.groups.copy(), cells=data.cells.copy())
    after.groups[0], after.cells[0] = rng.integers(groups), rng.integers(cells)
    check_sensitivity(prefixes_query(ReplaceOne(), cells), [Pair(data, after)])
    # Sums are exact: whole multiples of the unit, whatever the order of records.
    values = weighted_prefixes(data)
    assert np.array_equal(values / WEIGHT_UNIT, np.rint(values / WEIGHT_UNIT))
    order = rng.permutation(50)
    shuffled = attrs.evolve(data, groups=data.groups[order], cells=data.cells[order])
    assert np.array_equal(values, weighted_prefixes(shuffled))


@pytest.mark.parametrize("cells", [1, 2, 500, MOST_CELLS])
def test_the_weights_are_a_square_root_of_ones(cells: int) -> None:
    weights, decoder = prefix_weights(cells), prefix_decoder(cells)
    assert weights[:4].tolist() == [1.0, 0.5, 0.375, 0.3125][:cells]
    assert np.all(weights > 0.0)
    np.testing.assert_allclose(np.convolve(weights, decoder)[:cells], 1.0, atol=1e-12)
    np.testing.assert_allclose(weights, decoder, rtol=0.0, atol=2e-8)


@pytest.mark.parametrize("kind", ["prefixes", "shares"])
def test_releases_lose_no_more_than_they_cost_and_half_the_noise_is_found_out(kind: str) -> None:
    cells = Pair(*(GroupedCells(np.array([group, 1]), np.array([0, 2]), 2, 4) for group in (0, 1)))
    if kind == "prefixes":
        query = prefixes_query(ReplaceOne(), 4)
        sigma = query.sensitivity.value
        check_mechanism(PlainMechanism(query, GaussianNoise(sigma), SeededNoise(0)), [cells], samples=5000)
        half = attrs.evolve(query, sensitivity=L2Sensitivity(sigma / 2))
        with pytest.raises(ClaimViolated):
            check_mechanism(PlainMechanism(half, GaussianNoise(sigma), SeededNoise(0)), [cells], samples=5000)
        return
    shares = Pair(shared(((0, 0), (1, 2))), shared(((0, 4), (1, 2))))
    asked = shares_query(ReplaceOne(), 1)
    sigma = asked.sensitivity.value
    check_mechanism(PlainMechanism(asked, GaussianNoise(sigma), SeededNoise(0)), [shares], samples=5000)
    less = attrs.evolve(asked, sensitivity=L2Sensitivity(sigma / 2))
    with pytest.raises(ClaimViolated):
        check_mechanism(PlainMechanism(less, GaussianNoise(sigma), SeededNoise(0)), [shares], samples=5000)


def test_decoding_has_the_variance_that_it_states() -> None:
    """20,000 draws: a variance 5 % off would be 5 deviations off."""
    noise = np.random.default_rng(0).normal(size=(20_000, 16))
    found = np.var(prefix_counts(noise), axis=0)
    np.testing.assert_allclose(found, np.cumsum(prefix_decoder(16) ** 2), rtol=0.05)


GOOD = GroupedCells(np.array([0, 1]), np.array([0, 3]), 2, 4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cells": np.array([0, 4])}, "cells: a record is outside"),
        ({"cells": np.array([0, -1])}, "cells: a record is outside"),
        ({"groups": np.array([2, 0])}, "groups: a record is outside"),
        ({"groups": np.array([0])}, "one group for each of 2 records"),
        ({"groups": np.zeros((2, 1), dtype=np.intp)}, r"shape \(n,\)"),
        ({"cell_number": 5}, "expected 4 cells, got 5"),
    ],
)
def test_cells_outside_the_proof_are_refused(change: dict[str, object], said: str) -> None:
    query = prefixes_query(ReplaceOne(), 4)
    query.check(GOOD)
    with pytest.raises(ValueError, match=said):
        query.check(attrs.evolve(GOOD, **change))  # type: ignore[arg-type]  # each change is a wrong field


def test_shares_outside_the_proof_are_refused() -> None:
    query = shares_query(ReplaceOne(), 2)
    good = GroupedShares(np.array([0, 1]), np.array([[0, 1], [SHARE_ONE, 3]]), 2)
    query.check(good)
    for shares in (np.array([[0, SHARE_ONE + 1], [0, 0]]), np.array([[0, 0], [-1, 0]])):
        with pytest.raises(ValueError, match="shares: a record is outside"):
            query.check(attrs.evolve(good, shares=shares))
    # More scores than were paid for, or an odd shape.
    for shares in (np.zeros((2, 3), dtype=np.intp), np.zeros(2, dtype=np.intp)):
        with pytest.raises(ValueError, match=r"shares: expected at most .* records in shape \(n, 2\), got shape \(2"):
            query.check(attrs.evolve(good, shares=shares))
    with pytest.raises(ValueError, match="groups: a record is outside"):
        query.check(attrs.evolve(good, groups=np.array([0, 2])))
    with pytest.raises(ValueError, match="expected one group for each of 2 records, got 1 groups"):
        query.check(attrs.evolve(good, groups=np.array([0])))
    with pytest.raises(ValueError, match="at most 4096 cells"):
        prefix_weights(MOST_CELLS + 1)
