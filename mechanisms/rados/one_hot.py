"""Columns of a table that code one category together: exactly one of them is 1, the others are −1, in every record.

A record that changes its category moves two of them and no more, whatever their number: to charge for each would be
√(k/2) times too much noise. Which columns these are is public, from the schema. That every record is such a one is
not left to whoever coded it: each is made one, by itself, before it is summed.
"""

import math
from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import count, up

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers of columns; those of a group code one category."""

OF_A_COLUMN: Final = 4.0
"""By how much a column within [−1, 1] moves Σz and Σz² together, squared; at −1 and 1. [000-moments]"""

OF_A_GROUP: Final = 8.0
"""The same for a group: two of its columns move by 2, and no square moves. [000-moments]"""


def one_hot_groups(groups: Iterable[Iterable[int]], features: int) -> Groups:
    """Groups of 0 … features − 1. Raises ValueError for a group of fewer than two, or a column that is in two."""
    found = tuple(tuple(int(column) for column in group) for group in groups)
    inside = [column for group in found for column in group]
    if any(len(group) < 2 for group in found):
        raise ValueError("one_hot: a group has at least two columns; one alone is a column like others")
    if len(set(inside)) != len(inside) or not all(0 <= column < features for column in inside):
        raise ValueError(f"one_hot: expected different columns of 0 … {features - 1}, each in one group, got {found}")
    return found


def made_one_hot(rows: FloatArray, groups: Groups) -> FloatArray:
    """In each group the first largest value becomes 1 and the others −1; in place, a record by itself. [exact-rows]

    rows: shape (k, d), finite. Of rows that are one-hot already nothing changes.
    """
    for group in groups:
        columns = np.array(group)
        largest = columns[np.argmax(rows[:, columns], axis=1)]
        rows[:, columns] = -1.0
        rows[np.arange(len(rows)), largest] = 1.0
    return rows


def moments_l2(features: int, groups: Groups) -> float:
    """ℓ2 of how far Σz and Σz² of columns within [−1, 1] move together: √(4·others + 8·groups). [000-moments]

    features: d, those of the groups included.  groups: as `one_hot_groups` gives them.
    """
    others = count(features) - sum(map(len, groups))
    return up(math.sqrt(OF_A_COLUMN * others + OF_A_GROUP * len(groups)))


def one_hot_text(groups: Groups) -> str:
    """For the name of a query, which goes into the ledger."""
    number = "1 group" if len(groups) == 1 else f"{len(groups)} groups"
    return f", {sum(map(len, groups))} of them one-hot in {number}" if groups else ""
