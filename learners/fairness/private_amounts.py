"""A regression's means and errors by group on the records that it was trained on, paid for."""

import itertools
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from accountant import Ledger
from accountant.costs import open_probability
from learners.base import RandomState, public_interval
from learners.fairness.group_measures import numbers, same_length
from learners.fairness.private_groups import (
    ACCOUNT,
    CONFIDENCE,
    ReleaseBudget,
    checked,
    group_codes,
    mean_shares,
    quantile,
    released_shares,
    whole_shares,
)
from learners.fairness.private_measures import Estimate
from learners.fairness.stored_columns import ColumnLike, Score, StoredColumn, in_memory
from mechanisms.queries import GroupedShares, shares_query

SCORES: Final = 3
"""A record's label, prediction, and how far they are apart."""


@attrs.frozen
class PrivateAmountRow:
    """What a table of amounts says of one group, in units of the label.

    group: its name.  n: noisy number of records.  mean_label, mean_prediction: of clipped ones.
    error: mean of |prediction − label|, both clipped.
    """

    group: object
    n: float
    mean_label: Estimate
    mean_prediction: Estimate
    error: Estimate


@attrs.frozen
class PrivateAmountTable:
    """Means by group, and how far errors are apart.

    rows: one for each public group.  error_gap: largest difference of two groups' errors, too large on average where
    there is none.  deviation: σ of the noise on each of six sums for a group, in units of the width of the bounds.
    confidence: with which all intervals hold together, over the noise; for these records, not for a population.
    private: whether the noise is not a simulation's.
    """

    rows: tuple[PrivateAmountRow, ...]
    error_gap: Estimate
    deviation: float
    confidence: float
    private: bool


def private_regression_table(
    predictions: ColumnLike,
    labels: ColumnLike,
    groups: ColumnLike,
    *,
    public_groups: Sequence[object],
    bounds: tuple[float, float],
    epsilon: float,
    delta: float,
    ledger: Ledger,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateAmountTable:
    """One row for each public group, on protected records, paid for: at most (epsilon, delta).

    predictions, labels, groups: shape (n,), or columns of a table in a database, `PredictedColumn` and `SqlColumn`.
    public_groups: all names that may occur, at least two.
    bounds: public (lower, upper) of labels and of predictions; what is beyond counts as these.
    Everything is one release: three scores and numbers of records, at the noise of three scores alone. [group-risks]
    For held-out or public records see `demographic_table` with error="absolute".
    delta, random_state, and what is raised, all before anything is charged: as for `private_statistical_parity`.
    """
    payer, sure = ReleaseBudget.of(ledger, epsilon, delta, account), checked("confidence", open_probability, confidence)
    low, high = checked("bounds", public_interval, bounds)
    if isinstance(predictions, StoredColumn):
        scores = [Score("label", low, high), Score("prediction", low, high), Score("apart", low, high)]
        found = released_shares(payer, predictions, labels, groups, scores, public_groups, random_state)
    else:
        told = np.clip(numbers(predictions, "predictions"), low, high)
        known = np.clip(numbers(in_memory(labels, "labels"), "labels"), low, high)
        same_length(told.size, "labels", known)
        names = group_codes(groups, told.size, public_groups)
        apart = np.abs(told - known)
        columns = [whole_shares(known, low, high), whole_shares(told, low, high), whole_shares(apart, 0.0, high - low)]
        data = GroupedShares(names, np.stack(columns, axis=1), len(public_groups))
        found = payer.release(shares_query(payer.adjacency, SCORES), data, random_state)

    # A group has three intervals, of two noisy numbers each.
    slack = np.full(len(public_groups), found.deviation * quantile(sure, 2 * SCORES * len(public_groups)))
    counts, *means = mean_shares(found.values, slack)
    starts = np.array([low, low, 0.0])
    by_group = np.stack([starts + (high - low) * part for part in means], axis=-1)  # groups, scores, (value, low, high)
    rows = tuple(
        PrivateAmountRow(name, float(n), *(Estimate(*map(float, mean)) for mean in each))
        for name, n, each in zip(public_groups, counts, by_group, strict=True)
    )
    return PrivateAmountTable(rows, _gap(rows, high - low), found.deviation, sure, found.private)


def _gap(rows: Sequence[PrivateAmountRow], width: float) -> Estimate:
    value = low = high = 0.0
    for a, b in itertools.combinations([row.error for row in rows], 2):
        value = max(value, abs(a.value - b.value))
        low = max(low, a.low - b.high, b.low - a.high)
        high = max(high, a.high - b.low, b.high - a.low)
    return Estimate(value, low, min(high, width))
