"""How far counts move: every pair of neighbouring samples of a few records, and the roots in sixty digits."""

import itertools
from collections.abc import Iterator, Sequence

import attrs
import mpmath as mp
import numpy as np
import pytest

from accountant import AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from mechanisms.queries.histograms import (
    Neighbours,
    check_histograms,
    counts_l1,
    counts_l2,
    histogram_query,
    histograms,
)
from proofs_tests.support.mechanisms.just_above import just_above


@attrs.frozen(eq=False)
class Cells:
    """Records in cells of several partitions."""

    partitions: Sequence[IntArray]
    number: int


def _data(records: Sequence[tuple[int, ...]], partitions: int, number: int = 3) -> Cells:
    return Cells(
        [np.array([record[place] for record in records], dtype=np.intp) for place in range(partitions)], number
    )


def _changes(partitions: int, relation: Neighbours) -> Iterator[FloatArray]:
    """The change of all counts, for one record beside two others."""
    kinds = list(itertools.product(range(3), repeat=partitions))
    others = [kinds[0], kinds[-1]]
    for first in kinds:
        before = histograms(_data([*others, first], partitions))
        if isinstance(relation, AddRemoveOne):
            yield histograms(_data(others, partitions)) - before
        else:
            yield from (histograms(_data([*others, second], partitions)) - before for second in kinds)


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne()])
@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_the_bounds_are_attained_and_not_exceeded(relation: Neighbours, partitions: int) -> None:
    changes = list(_changes(partitions, relation))
    assert max(np.abs(change).sum() for change in changes) == counts_l1(relation, partitions).value
    just_above(counts_l2(relation, partitions).value, mp.sqrt(max(int((change**2).sum()) for change in changes)))


def test_one_partition_is_what_is_meant_where_none_is_named() -> None:
    for relation, changed in ((ReplaceOne(), 2), (AddRemoveOne(), 1)):
        assert counts_l1(relation).value == changed
        with mp.workdps(60):
            just_above(counts_l2(relation).value, mp.sqrt(changed))
    for partitions in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number"):
            counts_l1(ReplaceOne(), partitions)  # type: ignore[arg-type]  # the point of the test


def test_counts_are_counts() -> None:
    data = _data([(0, 2), (0, 1), (2, 2)], 2, 4)
    assert histograms(data).tolist() == [[2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 2.0, 0.0]]


def test_a_cell_that_does_not_exist_is_refused() -> None:
    check_histograms(_data([(0, 2), (2, 0)], 2))
    check_histograms(_data([], 2))
    check_histograms(_data([(1, 2), (1, 2)], 2))
    for record in ((0, 3), (3, 0), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="outside the cells"):
            check_histograms(_data([(1, 1), record], 2))


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne()])
def test_the_query_carries_the_bound_and_the_check(relation: Neighbours) -> None:
    query = histogram_query(relation, 5)
    assert query.sensitivity == counts_l2(relation, 5)
    assert query.adjacency == relation
    assert query.claims == ("histograms",)
    assert query.evaluate(_data([(0, 1)], 2)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match="outside the cells"):
        query.check(_data([(0, 3)], 2))
