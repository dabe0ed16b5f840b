"""Estimates by group whose sensitivity forgets that a replaced record may change its group, or is a tenth too small."""

import itertools
import math
from functools import partial

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import L2Sensitivity, Query
from mechanisms.queries.group_queries import SHARE_ONE, GroupedCells, GroupedShares, prefixes_query, shares_query
from proofs_tests.harness import Pair, Report, check_sensitivity, neighbours
from proofs_tests.mutants.mutant import Mutant

CELLS = 3
Placed = tuple[tuple[int, ...], ...]
"""Records: a group, and a cell or shares in halves."""

RECORDS = list(itertools.product((0, 1), range(CELLS)))
PAIRS: list[Pair[Placed]] = list(neighbours(ReplaceOne(), RECORDS, 2))
SCORES = 3
SCORED: list[Pair[Placed]] = list(neighbours(ReplaceOne(), list(itertools.product((0, 1), *[range(3)] * SCORES)), 1))


def grouped(records: Placed) -> GroupedCells:
    table = np.array(records, dtype=np.intp)
    return GroupedCells(table[:, 0], table[:, 1], 2, CELLS)


def shared(records: Placed) -> GroupedShares:
    table = np.array(records, dtype=np.intp)
    return GroupedShares(table[:, 0], table[:, 1:] * (SHARE_ONE // 2), 2)


def prefixes_at(factor: float) -> Report:
    query = prefixes_query(ReplaceOne(), CELLS)
    claimed = attrs.evolve(query, sensitivity=L2Sensitivity(query.sensitivity.value / factor))
    return check_sensitivity(claimed, [pair.map(grouped) for pair in PAIRS])


def shares_at(factor: float, scores: int = 1) -> Report:
    query = shares_query(ReplaceOne(), scores)
    claimed = attrs.evolve(query, sensitivity=L2Sensitivity(query.sensitivity.value / factor))
    return check_sensitivity(claimed, [pair.map(shared) for pair in (PAIRS if scores == 1 else SCORED)])


def sums_and_counts(claimed: float) -> Report:
    """(Σ s, number) of each group, without centring."""

    def evaluate(data: GroupedShares) -> FloatArray:
        counts = np.bincount(data.groups, minlength=2)
        return np.stack([np.bincount(data.groups, weights=data.shares[:, 0] / SHARE_ONE, minlength=2), counts], axis=-1)

    query: Query[GroupedShares, FloatArray, L2Sensitivity]
    query = Query("sums and counts", evaluate, L2Sensitivity(claimed), ReplaceOne())
    return check_sensitivity(query, [pair.map(shared) for pair in PAIRS])


MUTANTS = (
    Mutant("group prefixes, a tenth less", "cell 0 of two groups moves by √2‖w‖", "group-prefixes",
           partial(prefixes_at, 1.0 / 0.9), partial(prefixes_at, 1.0), "sensitivity"),
    Mutant("group prefixes in one group only", "a replaced record may change its group", "group-prefixes",
           partial(prefixes_at, math.sqrt(2.0)), None, "sensitivity"),
    Mutant("group shares, a tenth less", "loss 0 against the bound", "group-risks",
           partial(shares_at, 1.0 / 0.9), partial(shares_at, 1.0), "sensitivity"),
    Mutant("three scores by group, a tenth less", "all scores 0 against all 1", "group-risks",
           partial(shares_at, 1.0 / 0.9, SCORES), partial(shares_at, 1.0, SCORES), "sensitivity"),
    Mutant("sums and numbers at the price of centred ones", "both groups' numbers move beside both sums",
           "group-risks", partial(sums_and_counts, math.sqrt(2.0)), partial(sums_and_counts, 2.0), "sensitivity"),
)  # fmt: skip
