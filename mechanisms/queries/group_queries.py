"""What is asked about public groups of records: how a score is distributed in each, and means of scores in each.

Sums are of whole multiples of a power of two below 2^53, so they are exact and no rounding enlarges a sensitivity.
"""

import math
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, up
from accountant.slow_imports import lfilter
from mechanisms.core import L2Sensitivity, Query
from mechanisms.queries.histograms import Neighbours, counts_l2

MOST_GROUP_RECORDS: Final = 2**26
"""Sums over more records could leave the integers that floating point holds exactly."""

MOST_CELLS: Final = 4096

WEIGHT_UNIT: Final = 2.0**-26
"""Weights of prefixes are whole multiples of it."""

SHARE_ONE: Final = 2**24
"""Shares are whole multiples of 1/SHARE_ONE."""


@attrs.frozen(eq=False)
class GroupedCells:
    """Records by public group and public cell of a score.

    groups, cells: shape (n,), in 0 … group_number − 1 and 0 … cell_number − 1; functions of a record and of what is
    public or released.
    """

    groups: IntArray
    cells: IntArray
    group_number: int
    cell_number: int


@attrs.frozen(eq=False)
class GroupedShares:
    """Records by public group, each with k shares: losses in units of their bound, for example.

    groups: shape (n,), in 0 … group_number − 1.  shares: whole numbers in 0 … SHARE_ONE, in 1/SHARE_ONE; shape (n, k).
    """

    groups: IntArray
    shares: IntArray
    group_number: int


def _check(what: str, values: IntArray, number: int, each: tuple[int, ...] = ()) -> None:
    """each: the shape of what one record has."""
    if not values.ndim or values.shape[1:] != each or len(values) > MOST_GROUP_RECORDS:
        wanted = f"(n{''.join(f', {size}' for size in each) or ','})"
        raise ValueError(
            f"{what}: expected at most {MOST_GROUP_RECORDS} records in shape {wanted}, got shape {values.shape}"
        )
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < number:
        raise ValueError(f"{what}: a record is outside 0 … {number - 1}")


def _check_lengths(first: IntArray, second: IntArray) -> None:
    if len(first) != len(second):
        raise ValueError(f"expected one group for each of {len(second)} records, got {len(first)} groups")


def prefix_weights(cells: int) -> FloatArray:
    """w, shape (cells,), whose convolution with itself is 1, 1, …, to the nearest WEIGHT_UNIT: 1, ½, ⅜, 5/16, …

    Raises ValueError for more than MOST_CELLS cells.
    """
    if count(cells) > MOST_CELLS:
        raise ValueError(f"expected at most {MOST_CELLS} cells, got {cells}")
    steps = np.arange(1.0, cells)
    weights = np.concatenate([np.ones(1), np.cumprod((2.0 * steps - 1.0) / (2.0 * steps))])
    return np.asarray(np.rint(weights / WEIGHT_UNIT) * WEIGHT_UNIT, dtype=np.float64)


def prefix_decoder(cells: int) -> FloatArray:
    """v, shape (cells,), whose convolution with `prefix_weights` is 1, 1, …: within 2e-8 of the weights themselves."""
    return np.asarray(lfilter([1.0], prefix_weights(cells), np.ones(cells)), dtype=np.float64)


def weighted_prefixes(data: GroupedCells) -> FloatArray:
    """Σ over cells i <= t of w(t − i)·count(i), for each group; shape (groups, cells)."""
    weights, number = prefix_weights(data.cell_number), data.group_number * data.cell_number
    counts = np.bincount(data.groups * data.cell_number + data.cells, minlength=number).astype(np.float64)
    rows = counts.reshape(data.group_number, data.cell_number)
    return np.stack([np.convolve(row, weights)[: data.cell_number] for row in rows])


def prefix_counts(released: FloatArray) -> FloatArray:
    """From noisy `weighted_prefixes` to noisy numbers of records in cells 0 … t, shape (groups, cells); unbiased.

    Noise of deviation σ becomes noise of deviation σ·√Σ v(j)², j <= t. [group-prefixes]
    """
    cells = released.shape[1]
    decoder = prefix_decoder(cells)
    return np.stack([np.convolve(row, decoder)[:cells] for row in released])


def prefixes_l2(adjacency: Neighbours, cells: int) -> L2Sensitivity:
    """ℓ2 of all groups' `weighted_prefixes` together: √2·‖w‖ under replace-one, ‖w‖ under add-remove-one.

    A record in cell i of a group adds w from place i on: a vector of length at most ‖w‖, which it has in cell 0, with
    no negative entry. Two such vectors, in whatever groups, differ by at most the root of the sum of their squares,
    and by just that in two groups. ‖w‖² <= 1.07 + ln(cells)/π. [group-prefixes]
    """
    length = math.sqrt(math.fsum((prefix_weights(cells) ** 2).tolist()))
    return L2Sensitivity(up(up(length) * counts_l2(adjacency).value))


def prefixes_query(adjacency: Neighbours, cells: int) -> Query[GroupedCells, FloatArray, L2Sensitivity]:
    """`weighted_prefixes` of a public number of cells, for Gaussian noise."""

    def check(data: GroupedCells) -> None:
        if data.cell_number != cells:
            raise ValueError(f"expected {cells} cells, got {data.cell_number}")
        _check("groups", data.groups, data.group_number)
        _check("cells", data.cells, data.cell_number)
        _check_lengths(data.groups, data.cells)

    name, claims = f"group-prefixes({cells})", ("group-prefixes",)
    return Query(name, weighted_prefixes, prefixes_l2(adjacency, cells), adjacency, claims, check)


def share_sums(data: GroupedShares) -> FloatArray:
    """Σ share and Σ (1 − share) of each group, shape (groups, k, 2); the two are together its number of records."""

    def summed(values: IntArray) -> FloatArray:
        sums = np.bincount(data.groups, weights=values.astype(np.float64), minlength=data.group_number)
        return np.asarray(sums, dtype=np.float64)

    pairs = [np.stack([summed(column), summed(SHARE_ONE - column)], axis=-1) for column in data.shares.T]
    return np.stack(pairs, axis=1) / SHARE_ONE


def shares_query(adjacency: Neighbours, scores: int) -> Query[GroupedShares, FloatArray, L2Sensitivity]:
    """`share_sums` of k scores, all groups together: ℓ2 √(2k) under replace-one, √k under add-remove-one.

    A record adds (s, 1 − s) to its group for each score, with no negative entry and of length at most 1: at most √k in
    all. Replaced into another group it moves both groups by that, √(2k) together; in its own group by (s' − s)·(1, −1)
    for each score, also at most √(2k). All scores 0 against all 1 attain each of them.
    A pair turned by 45° is √2·(s − ½, ½), and k times ½ is ½√k once, so this is the same as noise on (s_1 − ½, …,
    s_k − ½, ½√k): it lies in a ball of radius √(k/2), where two groups are √k apart, and two records of one group are,
    too. Sums of scores alone, at that noise, would move by √k: numbers of records come free. [group-risks]
    """

    def check(data: GroupedShares) -> None:
        _check("groups", data.groups, data.group_number)
        _check("shares", data.shares, SHARE_ONE + 1, (scores,))
        _check_lengths(data.groups, data.shares)

    name, claims = f"group-shares({scores})", ("group-risks",)
    return Query(name, share_sums, counts_l2(adjacency, scores), adjacency, claims, check)
