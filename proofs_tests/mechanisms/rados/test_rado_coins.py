"""Rados over supports of a public seed: the same whatever the blocks, of fair coins, and summed exactly."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from accountant.arrays import FloatArray
from mechanisms import (
    EdgeVectors,
    SeededNoise,
    Vectors,
    column_moments,
    drawn_seed,
    exact_steps,
    noised_edges,
    paired_rados,
)
from mechanisms.core.rows import Block, MemoryRows, one_block
from mechanisms.rados.edge_vectors import clipped
from mechanisms.rados.public_supports import GROUP, HEAP, _Coins, rados_over, sample_rados, support_sums
from mechanisms.rados.sampling import STEP, pieces

EDGES = np.random.default_rng(0).standard_normal((9000, 3)) * np.exp(np.arange(9000) % 7 - 3.0)[:, None]
PLACES = st.sampled_from([0, 1, 5, GROUP - 1, GROUP, GROUP + 1, STEP - 1, STEP, STEP + 1, 2 * STEP, 8999])


def blocks(edges: FloatArray, cuts: list[int]) -> MemoryRows[Vectors]:
    """Cut before these records."""
    parts = np.split(edges, sorted({cut for cut in cuts if 0 < cut < len(edges)}))
    return MemoryRows.parts([EdgeVectors(part) for part in parts], [len(part) for part in parts])


def coins(number: int, records: int, seed: int) -> FloatArray:
    """Supports, shape (number, records): the rados of unit vectors."""
    return rados_over(EdgeVectors(np.eye(records)).rows, number, seed)


# --- addresses --------------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(PLACES, st.integers(1, 8999)), max_size=5), st.sampled_from([2, 10]), st.integers(0, 99))
def test_pairs_of_rados_are_the_same_whatever_the_blocks(cuts: list[int], number: int, seed: int) -> None:
    """[exact-rows] Bit by bit, and in whatever order the blocks come."""
    query, rows = paired_rados(number, 3.0, 9000, 3, seed), blocks(EDGES, cuts)
    whole = query.evaluate(blocks(EDGES, []))
    assert np.array_equal(query.evaluate(rows), whole)
    assert np.array_equal(query.evaluate(MemoryRows(rows.blocks[::-1])), whole)
    assert not np.any(np.signbit(whole[whole == 0.0]))


@given(st.data())
def test_a_coin_belongs_to_a_rado_and_a_record(data: st.DataObject) -> None:
    """Whatever block it is drawn for, of one record too."""
    start, size = data.draw(st.integers(0, 500)), data.draw(st.integers(1, 200))
    number = data.draw(st.sampled_from([1, 3, HEAP]))
    whole = _Coins(7, 0, number, 0).drawn(0, 700)
    assert np.array_equal(_Coins(7, 0, number, start).drawn(start, size), whole[:, start : start + size])
    assert not np.array_equal(_Coins(8, 0, number, start).drawn(start, 200), whole[:, start : start + 200])


def test_more_rados_than_are_multiplied_at_once_have_coins_of_their_own() -> None:
    """Heaps of HEAP: the first does not depend on how many there are, and no two are alike."""
    many = coins(2 * HEAP + 6, 70, 3)
    assert np.array_equal(many[:HEAP], coins(HEAP, 70, 3))
    assert len({row.tobytes() for row in many}) == len(many)
    parts = blocks(np.eye(70), [40])
    assert np.array_equal(rados_over(parts, 2 * HEAP + 6, 3), many)


def test_pieces_end_where_they_would_in_one_block() -> None:
    assert STEP % GROUP == 0
    for first in (0, 1, STEP - 1, STEP, 3 * STEP + 5):
        read = list(pieces(EdgeVectors(EDGES), first))
        assert sum(len(rows) for _, rows in read) == 9000
        assert all((first + start) % STEP == 0 for start, _ in read[1:])


# --- law --------------------------------------------------------------------------------------------------------------

DRAWS = 20_000


@pytest.mark.parametrize("first", [0, GROUP - 2, STEP - 3])
def test_supports_are_uniform_across_words_and_pieces(first: int) -> None:
    """Statistical: 20,000 supports of five records: all 32. Any of them 10 % too often gives p < 1e-3."""
    edges = EdgeVectors(2.0 ** np.arange(5)[:, None])
    found = rados_over(MemoryRows((Block[Vectors](edges, first, 5),)), DRAWS, 11)[:, 0]
    assert stats.chisquare(np.bincount(found.astype(int), minlength=32)).pvalue > 1e-3


def test_coins_of_all_pairs_of_records_and_of_rados_are_independent() -> None:
    """Statistical: 300 rados of 300 records. Each pair of rows, and of columns, is alike in half of the places.

    Five words of every rado, so also between words: at most 7 of 44,850 standard deviations, p > 1e-7 in all.
    """
    found = 2.0 * coins(300, 300, 5) - 1.0
    for products in (found @ found.T, found.T @ found):
        alike = products[np.triu_indices(300, 1)] / math.sqrt(300)
        assert np.max(np.abs(alike)) < 7.0
        assert abs(np.mean(alike)) < 6.0 / math.sqrt(alike.size)
        assert 0.95 < np.var(alike) < 1.05
    assert abs(float(np.mean(found))) < 6.0 / 300


def test_a_seed_is_drawn_from_a_noise_source_and_says_everything() -> None:
    edges = EdgeVectors(EDGES[:100])
    seed = drawn_seed(SeededNoise(4))
    assert np.array_equal(sample_rados(edges, 9, SeededNoise(4)), rados_over(edges.rows, 9, seed))
    assert 0 <= seed < 2**32
    assert len({drawn_seed(SeededNoise(each)) for each in range(50)}) == 50


def test_pairs_share_out_every_record() -> None:
    edges = EdgeVectors(2.0 ** np.arange(20)[:, None])
    *first, whole = support_sums(edges.rows, 30, 0)[:, 0].astype(int).tolist()
    assert whole == 2**20 - 1
    assert len({*first, *(whole - each for each in first)}) == 60


# --- exactness --------------------------------------------------------------------------------------------------------


@given(st.integers(0, 99), st.lists(st.integers(1, 39), max_size=4), st.sampled_from([1e-3, 1.0, 7.0, 1e150]))
def test_sums_over_supports_are_exact(seed: int, cuts: list[int], radius: float) -> None:
    """Against fractions of what is summed. [exact-sums]"""
    edges = EDGES[40 * seed : 40 * seed + 40] * radius
    cut = exact_steps(clipped(edges, radius), radius, 40)
    supports = coins(4, 40, seed)
    found = paired_rados(8, radius, 40, 3, seed).evaluate(blocks(edges, cuts))
    for rado, support in zip(found.tolist(), np.concatenate([supports, 1.0 - supports]).tolist(), strict=True):
        exact = [sum(Fraction(row) for row, inside in zip(column, support, strict=True) if inside) for column in cut.T]
        assert [Fraction(value) for value in rado] == exact


ODD: dict[str, Callable[[FloatArray], FloatArray]] = {
    "as they are": lambda rows: rows,
    "huge": lambda rows: rows * 1e300,
    "tiny": lambda rows: rows * 1e-300,
    "with zeros": lambda rows: np.where(rows > 0.0, rows, 0.0),
}


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 50, 129, 1000])
@pytest.mark.parametrize("kind", ODD)
def test_a_row_is_shortened_as_it_would_be_alone(width: int, kind: str) -> None:
    """[exact-rows] Bit by bit, whatever the number of its neighbours, and wherever it lies in memory."""
    rows = ODD[kind](np.random.default_rng(width).standard_normal((67, width)) * 3.0)
    together = clipped(rows, 2.0)
    for place in range(0, 67, 3):
        assert np.array_equal(clipped(rows[place : place + 1].copy(), 2.0)[0], together[place])
        assert np.array_equal(clipped(rows[place:], 2.0)[0], together[place])
    shifted = np.empty(rows.size + 1)[1:].reshape(rows.shape)
    shifted[:] = rows
    assert np.array_equal(clipped(shifted, 2.0), together)


@given(st.lists(st.one_of(PLACES, st.integers(1, 8999)), max_size=5))
def test_moments_are_the_same_whatever_the_blocks(cuts: list[int]) -> None:
    query, rows = column_moments(3, 9000), blocks(EDGES, cuts)
    columns = MemoryRows.parts([EdgeVectors(block.data.piece(0, block.size)) for block in rows.blocks],
                               [block.size for block in rows.blocks])  # fmt: skip
    assert np.array_equal(query.evaluate(columns), query.evaluate(MemoryRows.of(EdgeVectors(EDGES), 9000)))


@pytest.mark.parametrize("number", [2, 10, 1000])
def test_the_declared_sensitivity_is_attained_over_blocks_too(number: int) -> None:
    """[000-noised-rados] To 2^-30, so a tenth less would be refuted; whoever knows the supports cannot get more."""
    query, edges = paired_rados(number, 2.0, 70, 3, 1), np.zeros((70, 3))
    edges[66, 1] = 9.0
    far = query.evaluate(blocks(edges, [3, 65])) - query.evaluate(blocks(-edges, [20]))
    assert np.linalg.norm(far) == pytest.approx(2.0 * 2.0 * math.sqrt(number / 2), rel=2.0**-30)
    assert query.sensitivity.value == pytest.approx(4.0 * math.sqrt(number / 2), rel=1e-11)


def test_edges_are_noised_in_one_place_only() -> None:
    mechanism = noised_edges(1.0, 10.0)
    mechanism.check(blocks(EDGES, []))
    with pytest.raises(ValueError, match="edges: their noise is drawn for each record, in one place"):
        mechanism.check(blocks(EDGES, [5]))
    assert one_block(blocks(EDGES, [5])) is None
