"""Columns that code one category: what is made one-hot, and how far moments of such columns move."""

import itertools
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest

from accountant.arrays import FloatArray
from mechanisms.rados.one_hot import groups_in_words, made_one_hot, moments_l2, one_hot_groups
from proofs_tests.support.mechanisms.just_above import just_above

SETTINGS = [(1, ()), (3, ()), (3, ((0, 2),)), (5, ((1, 3, 4),)), (5, ((0, 1), (2, 3, 4)))]


def _records(features: int, groups: tuple[tuple[int, ...], ...]) -> Iterator[FloatArray]:
    for values in itertools.product((-1.0, 0.0, 0.5, 1.0), repeat=features):
        yield made_one_hot(np.array([values]), groups)[0]


@pytest.mark.parametrize(("features", "groups"), SETTINGS)
def test_the_bound_is_attained_and_not_exceeded(features: int, groups: tuple[tuple[int, ...], ...]) -> None:
    points = np.unique([np.concatenate([row, row * row]) for row in _records(features, groups)], axis=0)
    lengths = np.sum(points**2, axis=1)
    most = float(np.max(lengths[:, None] + lengths[None, :] - 2.0 * points @ points.T))
    just_above(moments_l2(features, groups), mp.sqrt(mp.mpf(most)))


def test_the_bound_counts_columns_and_groups() -> None:
    just_above(moments_l2(100, ((0, 1, 2), tuple(range(10, 50)))), mp.sqrt(4 * 57 + 16))
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="whole number"):
            moments_l2(wrong, ())


def test_each_record_becomes_one_hot_where_it_is_largest() -> None:
    rows = np.array([[0.5, 3.0, -2.0, 2.0], [0.1, 1.0, 1.0, 1.0], [0.2, -9.0, -8.0, -9.0], [7.0, -1.0, -1.0, 1.0]])
    made = made_one_hot(rows.copy(), ((1, 2, 3),))
    assert made.tolist() == [[0.5, 1, -1, -1], [0.1, 1, -1, -1], [0.2, -1, 1, -1], [7.0, -1, -1, 1]]
    assert made_one_hot(rows.copy(), ()).tolist() == rows.tolist()
    two = made_one_hot(rows.copy(), ((3, 0), (2, 1)))
    assert two.tolist() == [[-1, 1, -1, 1], [-1, -1, 1, 1], [1, -1, 1, -1], [1, -1, 1, -1]]
    assert made_one_hot(rows, ((1, 2, 3),)) is rows
    assert made_one_hot(np.zeros((0, 4)), ((1, 2, 3),)).shape == (0, 4)


def test_groups_are_of_different_columns_that_exist() -> None:
    assert one_hot_groups([[0, 1], [4, 3, 2]], 5) == ((0, 1), (4, 3, 2))
    assert one_hot_groups([], 5) == ()
    small: tuple[list[list[int]], ...] = ([[0]], [[0, 1], [2]], [[]])
    for wrong in small:
        with pytest.raises(ValueError, match="at least two columns"):
            one_hot_groups(wrong, 5)
    for overlapping in ([[0, 1], [1, 2]], [[0, 0]], [[0, 5]], [[-1, 0]]):
        with pytest.raises(ValueError, match="each in one group"):
            one_hot_groups(overlapping, 5)
    with pytest.raises(ValueError, match=r"0 … 4, each"):
        one_hot_groups([[0, 5]], 5)


def test_books_tell_the_groups() -> None:
    assert groups_in_words(()) == ""
    assert groups_in_words(((0, 1), (2, 3, 4))) == ", 5 of them one-hot in 2 groups"
    assert groups_in_words(((1, 0),)) == ", 2 of them one-hot in 1 group"
