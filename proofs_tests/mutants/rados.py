"""Rados that cost too little: pairs that are none, one feature's price for two, and the vectors as published."""

import itertools
import math
from functools import partial

import attrs
import numpy as np

from accountant import ApproxDP, FeatureValue, FeatureValues
from accountant.arrays import FloatArray
from learners.encoding.numeric_features import Coding
from learners.rados.protected_columns import class_moments
from learners.rados.rado_records import RadoTable
from mechanisms import (
    EdgeVectors,
    L2Sensitivity,
    Query,
    RandomRados,
    Vectors,
    column_moments,
    paired_rados,
    rados_over,
)
from mechanisms.core.rows import MemoryRows, Rows
from proofs_tests.harness import Pair, Report, check_mechanism, check_sensitivity
from proofs_tests.mutants.mutant import Lawful, Mutant, both_ways

NUMBER, RECORDS, SEED = 10, 6, 2
FAR: Pair[Rows[Vectors]] = Pair(
    *(EdgeVectors(np.array([[end, 0.0], *([[0.0, 0.0]] * (RECORDS - 1))])).rows for end in (1.0, -1.0))
)


def cheaper(query: Query[Rows[Vectors], FloatArray, L2Sensitivity], factor: float) -> Report:
    claimed = L2Sensitivity(query.sensitivity.value / factor)
    return check_sensitivity(attrs.evolve(query, sensitivity=claimed), [FAR])


def pairs_at(factor: float) -> Report:
    return cheaper(paired_rados(NUMBER, 1.0, RECORDS, 2, SEED), factor)


def unpaired(factor: float) -> Report:
    """All supports drawn, at the price of pairs: some record is in more than half of them."""
    paired = paired_rados(NUMBER, 1.0, RECORDS, 2, SEED)
    drawn = attrs.evolve(paired, evaluate=lambda data: rados_over(data, NUMBER, SEED))
    rows = np.eye(RECORDS)[:, :, None] * np.array([1.0, 0.0])
    pairs: list[Pair[Rows[Vectors]]] = [Pair(EdgeVectors(row).rows, EdgeVectors(-row).rows) for row in rows]
    claimed = L2Sensitivity(paired.sensitivity.value * factor)
    return check_sensitivity(attrs.evolve(drawn, sensitivity=claimed), pairs)


def two_features_at(factor: float) -> Report:
    coding = Coding(None, ("a", "b"), False)
    query = class_moments(coding, 3, FeatureValues((0, 1)))

    def sample(value: float) -> RadoTable:
        features = np.array([[value, value], [0.0, 0.0], [0.0, 0.0]])
        return RadoTable.of(features, np.array([1, -1, 1], dtype=np.int8), coding)

    claimed = L2Sensitivity(query.sensitivity.value / factor)
    return check_sensitivity(attrs.evolve(query, sensitivity=claimed), [Pair(sample(-1.0), sample(1.0))])


def one_hot_at(squared: float, *, made: bool = True) -> Report:
    """A group of three and a number, all changed. made: whether records are made one-hot, or summed as they come."""
    query = column_moments(4, 2, ((0, 1, 2),))
    if not made:
        query = attrs.evolve(query, evaluate=column_moments(4, 2).evaluate)
    ends = [[-1.0, 1.0, -1.0, 1.0], [1.0, -1.0, -1.0, -1.0]] if made else [[-1.0] * 4, [1.0] * 4]
    pair: Pair[Rows[EdgeVectors]] = Pair(*(MemoryRows.of(EdgeVectors(np.array([end, [0.0] * 4])), 2) for end in ends))
    return check_sensitivity(attrs.evolve(query, sensitivity=L2Sensitivity(math.sqrt(squared) + 1e-9)), [pair])


Bits = tuple[tuple[float, float], ...]
"""Records: a public number and a sensitive one of −1 and 1."""


def published(whole: bool) -> Report:
    """One rado of four records at the exact price of its sensitive column: the column alone, or with a public one."""
    records = 4
    outcomes = list(itertools.product(range(2**records), range(-records, records + 1)))

    def law(bits: Bits) -> FloatArray:
        found = dict.fromkeys(outcomes, 0.0)
        for support in itertools.product((0, 1), repeat=records):
            public, sensitive = (
                int(sum(s * b[column] for s, b in zip(support, bits, strict=True))) for column in (0, 1)
            )
            found[public if whole else 0, sensitive] += 2.0**-records
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(list(found.values())))

    price = RandomRados(1, 1, records, 0.3).cost
    pairs = [
        Pair(*(tuple((2.0**place, sign) for place, sign in enumerate((changed, *rest))) for changed in (-1.0, 1.0)))
        for rest in itertools.product((-1.0, 1.0), repeat=records - 1)
    ]
    return check_mechanism(
        Lawful("one rado", ApproxDP(price.epsilon, price.delta), FeatureValue(1), law), both_ways(pairs)
    )


MUTANTS = (
    Mutant("pairs of rados charged for one", "n/2 of them move, by one and the same vector", "000-noised-rados",
           partial(pairs_at, math.sqrt(NUMBER / 2)), partial(pairs_at, 1.0), "sensitivity"),
    Mutant("rados that are no pairs", "a record may be in more than half of random supports", "000-noised-rados",
           partial(unpaired, 1.0), partial(unpaired, math.sqrt(2.0)), "sensitivity"),
    Mutant("two sensitive features charged as one", "both values of a record may change", "000-moments",
           partial(two_features_at, math.sqrt(2.0)), partial(two_features_at, 1.0), "sensitivity"),
    Mutant("a category that changes charged as one column", "two of its columns move", "000-moments",
           partial(one_hot_at, 8.0), partial(one_hot_at, 12.0), "sensitivity"),
    Mutant("one-hot columns, a tenth less", "two of its columns move, by 2 each", "000-moments",
           partial(one_hot_at, 0.81 * 12.0), partial(one_hot_at, 12.0), "sensitivity"),
    Mutant("records taken to be one-hot that are not", "all columns of a group move", "000-moments",
           partial(one_hot_at, 12.0, made=False), partial(one_hot_at, 12.0), "sensitivity"),
    Mutant("DP-FEAT's whole vectors", "other columns show which records were summed", "claims.md §3, 000 Thm 6",
           partial(published, True), partial(published, False), "exact law"),
)  # fmt: skip
