"""What is asked about public groups of records: how a score is distributed in each, and means of scores in each.

Sums are of whole multiples of a power of two below 2^53, so they are exact and no rounding enlarges a sensitivity.
"""

import math
from typing import Final

import attrs
import numpy as np

from accountant.arrays import ExactArray, FloatArray, IntArray
from accountant.costs import count, up
from accountant.slow_imports import lfilter
from mechanisms.core import Block, L2Sensitivity, Query, Rows, SealedRepr
from mechanisms.queries.histograms import HistogramRows, Neighbours, counts_l2, histograms_of_rows

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
    number = data.group_number * data.cell_number
    counts = np.bincount(data.groups * data.cell_number + data.cells, minlength=number).astype(np.float64)
    return _prefixes(counts.reshape(data.group_number, data.cell_number))


def _prefixes(counts: FloatArray) -> FloatArray:
    """counts: shape (groups, cells)."""
    cells = counts.shape[1]
    weights = prefix_weights(cells)
    return np.stack([np.convolve(row, weights)[:cells] for row in counts])


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


@attrs.frozen(eq=False, repr=False)
class PrefixRows(SealedRepr):
    """`GroupedCells` of records in blocks, wherever they are. counted: one partition, whose cells are those of the
    first group, then those of the second, and so on."""

    counted: HistogramRows
    group_number: int
    cell_number: int


def prefixes_rows_query(adjacency: Neighbours, cells: int) -> Query[PrefixRows, FloatArray, L2Sensitivity]:
    """`prefixes_query` of records in blocks."""
    plain = prefixes_query(adjacency, cells)

    def evaluate(data: PrefixRows) -> FloatArray:
        return _prefixes(histograms_of_rows(data.counted).reshape(data.group_number, data.cell_number))

    def check(data: PrefixRows) -> None:
        if data.cell_number != cells or data.counted.number != data.group_number * cells:
            raise ValueError(f"expected {cells} cells for each group, got {data.counted.number} in all")
        _refuse_many(data.counted.rows.n)

    return Query(plain.name, evaluate, plain.sensitivity, adjacency, plain.claims, check)


def _refuse_many(n: int) -> None:
    if n > MOST_GROUP_RECORDS:
        raise ValueError(f"groups: expected at most {MOST_GROUP_RECORDS} records, got {n}")


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


@attrs.frozen
class ShareTotals:
    """Of a block its records by group and Σ of their shares, in whole numbers: shape (group_number, 1 + scores)."""

    group_number: int
    scores: int

    def __call__(self, block: Block[GroupedShares]) -> ExactArray:
        """Raises ValueError for another number of shares, or of groups, than it was said."""
        groups, shares = block.data.groups, block.data.shares
        _check("groups", groups, self.group_number)
        _check("shares", shares, SHARE_ONE + 1, (self.scores,))
        _check_lengths(groups, shares)
        found = np.zeros((self.group_number, 1 + self.scores), dtype=np.int64)
        np.add.at(found, groups, np.concatenate([np.ones((len(shares), 1), dtype=np.int64), shares], axis=1))
        return found


@attrs.frozen(eq=False, repr=False)
class ShareRows(SealedRepr):
    """`GroupedShares` of records in blocks, wherever they are."""

    rows: Rows[GroupedShares]
    totals: ShareTotals


def shares_rows_query(adjacency: Neighbours, scores: int) -> Query[ShareRows, FloatArray, L2Sensitivity]:
    """`shares_query` of records in blocks."""
    plain = shares_query(adjacency, scores)

    def evaluate(data: ShareRows) -> FloatArray:
        found = data.rows.total(data.totals)
        counts, sums = found[:, :1], found[:, 1:]
        return np.stack([sums, SHARE_ONE * counts - sums], axis=-1).astype(np.float64) / SHARE_ONE

    def check(data: ShareRows) -> None:
        if data.totals.scores != scores:
            raise ValueError(f"expected {scores} shares, got {data.totals.scores}")
        _refuse_many(data.rows.n)

    return Query(plain.name, evaluate, plain.sensitivity, adjacency, plain.claims, check)
