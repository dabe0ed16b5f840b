"""Prefixes and shares of groups: their movement over all pairs of neighbours, and ‖w‖ in sixty digits."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray, IntArray
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
    prefixes_l2,
    prefixes_query,
    share_sums,
    shares_query,
    weighted_prefixes,
)
from mechanisms.queries.histograms import Neighbours
from proofs_tests.support.mechanisms.just_above import just_above

RELATIONS = (ReplaceOne(), AddRemoveOne())


def _weights(cells: int) -> list[Fraction]:
    """1, ½, ⅜, …, by Wallis, to the nearest 2^-26."""
    exact = [Fraction(math.comb(2 * place, place), 4**place) for place in range(cells)]
    return [Fraction(round(weight * 2**26), 2**26) for weight in exact]


@pytest.mark.parametrize("cells", [1, 2, 7, 300])
def test_weights_are_those_of_wallis(cells: int) -> None:
    assert [Fraction(weight) for weight in prefix_weights(cells).tolist()] == _weights(cells)
    assert (WEIGHT_UNIT, SHARE_ONE, MOST_GROUP_RECORDS, MOST_CELLS) == (2.0**-26, 2**24, 2**26, 4096)
    decoder = prefix_decoder(cells)
    assert np.convolve(decoder, prefix_weights(cells))[:cells].tolist() == pytest.approx([1.0] * cells, rel=1e-12)


def test_cells_end_at_four_thousand() -> None:
    assert prefix_weights(4096).size == 4096
    for wrong in (4097, 0, -1, 2.0):
        with pytest.raises(ValueError, match=r"cells|whole number"):
            prefix_weights(wrong)  # type: ignore[arg-type]  # the point of the test


def _cells(records: list[tuple[int, int]], groups: int = 2, cells: int = 4) -> GroupedCells:
    table = np.array(records, dtype=np.intp).reshape(-1, 2)
    return GroupedCells(table[:, 0], table[:, 1], groups, cells)


def _prefix_changes(relation: Neighbours) -> Iterator[FloatArray]:
    kinds = list(itertools.product(range(2), range(4)))
    others = [(0, 1), (1, 2)]
    for first in kinds:
        before = weighted_prefixes(_cells([*others, first]))
        if isinstance(relation, AddRemoveOne):
            yield weighted_prefixes(_cells(others)) - before
        else:
            yield from (weighted_prefixes(_cells([*others, second])) - before for second in kinds)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_bound_on_prefixes_is_attained_and_not_exceeded(relation: Neighbours) -> None:
    most = max(sum(Fraction(entry) ** 2 for entry in change.ravel().tolist()) for change in _prefix_changes(relation))
    with mp.workdps(60):
        just_above(prefixes_l2(relation, 4).value, mp.sqrt(mp.mpf(most.numerator) / most.denominator), within=5e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 64, 1000])
def test_the_bound_on_prefixes_is_the_length_of_the_weights(relation: Neighbours, cells: int) -> None:
    squares = sum((weight**2 for weight in _weights(cells)), Fraction(0)) * (
        2 if isinstance(relation, ReplaceOne) else 1
    )
    with mp.workdps(60):
        just_above(
            prefixes_l2(relation, cells).value, mp.sqrt(mp.mpf(squares.numerator) / squares.denominator), within=5e-12
        )


def test_prefixes_are_read_back() -> None:
    data = _cells([(0, 0), (0, 2), (1, 3), (0, 2)])
    assert prefix_counts(weighted_prefixes(data)).tolist() == [
        pytest.approx([1.0, 1.0, 3.0, 3.0], abs=1e-12),
        pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-12),
    ]


def _shares(records: list[tuple[int, tuple[int, ...]]], groups: int = 2) -> GroupedShares:
    scores = len(records[0][1]) if records else 1
    shares = np.array([shares for _, shares in records], dtype=np.intp).reshape(-1, scores)
    return GroupedShares(np.array([group for group, _ in records], dtype=np.intp), shares, groups)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("scores", [1, 2])
def test_the_bound_on_shares_is_attained_and_not_exceeded(relation: Neighbours, scores: int) -> None:
    kinds = list(itertools.product(range(2), itertools.product((0, SHARE_ONE // 3, SHARE_ONE), repeat=scores)))
    others = [kinds[1], kinds[-1]]
    most = 0.0
    for first in kinds:
        before = share_sums(_shares([*others, first]))
        after = [others] if isinstance(relation, AddRemoveOne) else [[*others, second] for second in kinds]
        most = max(most, *(float(((share_sums(_shares(each)) - before) ** 2).sum()) for each in after))
    with mp.workdps(60):
        just_above(shares_query(relation, scores).sensitivity.value, mp.sqrt(mp.mpf(most)))


def test_sums_of_shares_and_of_what_is_left() -> None:
    quarter = SHARE_ONE // 4
    data = _shares([(0, (quarter, SHARE_ONE)), (1, (0, quarter)), (0, (quarter, 0))], 3)
    assert share_sums(data).tolist() == [
        [[0.5, 1.5], [1.0, 1.0]],
        [[0.0, 1.0], [0.25, 0.75]],
        [[0.0, 0.0], [0.0, 0.0]],
    ]


@pytest.mark.parametrize("relation", RELATIONS)
def test_queries_carry_the_bound_and_refuse_what_it_does_not_hold_for(relation: Neighbours) -> None:
    prefixes, shares = prefixes_query(relation, 4), shares_query(relation, 2)
    assert prefixes.sensitivity == prefixes_l2(relation, 4)
    assert (prefixes.adjacency, shares.adjacency) == (relation, relation)
    assert (prefixes.claims, shares.claims) == (("group-prefixes",), ("group-risks",))
    good = _cells([(0, 3), (1, 0)])
    prefixes.check(good)
    assert prefixes.evaluate(good).tolist() == weighted_prefixes(good).tolist()
    prefixes.check(_cells([]))
    for record in ((2, 0), (-1, 0), (0, 4), (0, -1)):
        with pytest.raises(ValueError, match="a record is outside"):
            prefixes.check(_cells([(0, 0), record]))
    with pytest.raises(ValueError, match="expected 4 cells"):
        prefixes.check(_cells([(0, 0)], cells=5))
    fine = _shares([(0, (0, SHARE_ONE)), (1, (3, 4))])
    shares.check(fine)
    assert shares.evaluate(fine).tolist() == share_sums(fine).tolist()
    for group, share in ((2, 0), (-1, 0), (0, -1), (0, SHARE_ONE + 1)):
        with pytest.raises(ValueError, match="a record is outside"):
            shares.check(_shares([(0, (0, 0)), (group, (0, share))]))
    with pytest.raises(ValueError, match="expected at most"):
        shares.check(_shares([(0, (0, 0, 0))]))


def test_arrays_of_other_shapes_are_refused() -> None:
    prefixes, shares = prefixes_query(ReplaceOne(), 4), shares_query(ReplaceOne(), 2)
    one, two, table = np.zeros(1, np.intp), np.zeros(2, np.intp), np.zeros((2, 2), np.intp)
    for groups, cells in ((two, one), (one, two)):
        with pytest.raises(ValueError, match="one group for each"):
            prefixes.check(GroupedCells(groups, cells, 2, 4))
    for groups in (one, np.zeros(3, np.intp)):
        with pytest.raises(ValueError, match="one group for each"):
            shares.check(GroupedShares(groups, table, 2))
    others: tuple[tuple[IntArray, IntArray], ...] = ((table, two), (two, table), (np.array(0), two), (two, np.array(0)))
    for groups, cells in others:
        with pytest.raises(ValueError, match="expected at most"):
            prefixes.check(GroupedCells(groups, cells, 2, 4))
    for wrong in (two, np.zeros((2, 1), np.intp), np.zeros((2, 2, 1), np.intp), np.array(0)):
        with pytest.raises(ValueError, match="expected at most"):
            shares.check(GroupedShares(two, wrong, 2))


def test_more_records_than_sums_can_hold_are_refused() -> None:
    many = np.broadcast_to(np.zeros(1, np.int8), (2**26 + 1,))
    with pytest.raises(ValueError, match="expected at most"):
        prefixes_query(ReplaceOne(), 4).check(GroupedCells(many, many, 2, 4))  # type: ignore[arg-type]  # small integers
    with pytest.raises(ValueError, match="expected at most"):
        shares_query(ReplaceOne(), 1).check(GroupedShares(many, many[:, None], 2))  # type: ignore[arg-type]  # the same
    prefixes_query(ReplaceOne(), 4).check(GroupedCells(many[1:], many[1:], 2, 4))  # type: ignore[arg-type]  # the same
