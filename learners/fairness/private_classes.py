"""A classifier's confusions by group on the records that it was trained on, paid for, for classes of any number.

One histogram of group, label and prediction is released; shares, recalls, errors and gaps follow from it for free.
"""

import itertools
from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np

from accountant import Ledger
from accountant.arrays import CodeArray, FloatArray
from accountant.costs import open_probability
from learners.base import RandomState
from learners.fairness.class_measures import class_codes
from learners.fairness.group_measures import same_length
from learners.fairness.private_groups import (
    ACCOUNT,
    CONFIDENCE,
    NoisyValues,
    ReleaseBudget,
    checked,
    group_codes,
    public_names,
    quantile,
    share_interval,
)
from learners.fairness.private_measures import Estimate
from learners.fairness.stored_columns import ColumnLike, StoredColumn, in_memory, stored
from learners.tables import distinct_classes
from mechanisms.queries import MOST_CELLS, histogram_query, histogram_rows_query


@attrs.frozen
class PrivateGroupClassRow:
    """What a table of classes says of one group; fields as in `GroupClassRow`, known but for noise.

    n: noisy number of records.
    """

    group: object
    n: float
    labels: tuple[Estimate, ...]
    predictions: tuple[Estimate, ...]
    recalls: tuple[Estimate, ...]
    error: Estimate


@attrs.frozen
class PrivateClassTable:
    """A row for each public group, and gaps as in `ClassTable`; estimates of gaps are too large where there is none.

    A class that a group has no record of has no recall, and its odds may be anything: from 0 to 1.
    deviation: σ of the noise on each number of records.
    confidence: with which all intervals hold together, over the noise; for these records, not for a population.
    private: whether the noise is not a simulation's.
    """

    classes: tuple[object, ...]
    rows: tuple[PrivateGroupClassRow, ...]
    parity: Estimate
    odds: Estimate
    error_gap: Estimate
    deviation: float
    confidence: float
    private: bool


@attrs.frozen(eq=False)
class ConfusedRecords:
    """Records by group, label and prediction: the one cell of each, shape (n,), and how many cells there are."""

    cells: CodeArray
    number: int

    @property
    def partitions(self) -> tuple[CodeArray]:
        """One."""
        return (self.cells,)


def private_class_table(
    predictions: ColumnLike,
    labels: ColumnLike,
    groups: ColumnLike,
    *,
    classes: Sequence[object],
    public_groups: Sequence[object],
    epsilon: float,
    delta: float,
    ledger: Ledger,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateClassTable:
    """Confusions by group on protected records, paid for: at most (epsilon, delta), under the ledger's relation.

    predictions, labels, groups: shape (n,), or columns of a table in a database, `PredictedColumn` and `SqlColumn`.
    classes: public, in order: text, numbers or truth values, at least two.
    public_groups: all names that may occur, at least two. Groups times classes squared must be at most 4096.
    What is released is one histogram, which a record moves in one cell or two. [histograms]
    delta: in (0, 1).  random_state: as for learners.
    Raises BudgetExceeded where the ledger cannot pay; ValueError for a class or a group that is not public, a missing
    value or unequal lengths; TypeError for a ledger of another adjacency. All before anything is charged.
    """
    payer, sure = ReleaseBudget.of(ledger, epsilon, delta, account), checked("confidence", open_probability, confidence)
    names, public = distinct_classes(classes), public_names(public_groups)
    size, number = len(names), len(public) * len(names) ** 2
    if isinstance(predictions, StoredColumn):
        _refuse_many(number)
        rows = predictions.confusions(stored(labels, "labels"), stored(groups, "groups"), names, public)
        found = payer.release(histogram_rows_query(payer.adjacency, 1), rows, random_state)
    else:
        truth = class_codes(in_memory(labels, "labels"), names, "labels")
        told = class_codes(predictions, names, "predictions")
        same_length(truth.size, "predictions", told)
        _refuse_many(number)
        data = ConfusedRecords((group_codes(groups, truth.size, public) * size + truth) * size + told, number)
        found = payer.release(histogram_query(payer.adjacency, 1), data, random_state)
    return _Noisy(found, tuple(public_groups), names, sure).table()


def _refuse_many(cells: int) -> None:
    if cells > MOST_CELLS:
        raise ValueError(f"classes: {cells} cells of group, label and prediction are more than {MOST_CELLS}")


@attrs.frozen(slots=False, eq=False)
class _Noisy:
    """Post-processing of the histogram."""

    released: NoisyValues
    groups: tuple[object, ...]
    classes: tuple[object, ...]
    confidence: float

    @cached_property
    def counts(self) -> FloatArray:
        """Shape (groups, labels, predictions)."""
        size = len(self.classes)
        return self.released.values.reshape(len(self.groups), size, size)

    @cached_property
    def slack(self) -> float:
        """How far one number is off; √m times as far a sum of m of them. Two sums for every share below."""
        size = len(self.classes)
        shares = len(self.groups) * (2 * size + size**2 + 1)
        return self.released.deviation * quantile(self.confidence, 2 * shares)

    def share(self, part: FloatArray, rest: FloatArray) -> Estimate:
        """Of some cells among those and the rest; part, rest: their noisy numbers."""
        inside, beyond = float(part.sum()), float(rest.sum())
        slacks = (self.slack * float(np.sqrt(each.size)) for each in (part, rest))
        low, high = share_interval(np.array(inside), np.array(beyond), *slacks)
        whole = max(inside, 0.0) + max(beyond, 0.0)
        value = max(inside, 0.0) / whole if whole > 0.0 else 0.5
        return Estimate(float(np.clip(value, low, high)), float(low), float(high))

    def table(self) -> PrivateClassTable:
        """Shares, recalls and errors of all groups, with their intervals."""
        size = range(len(self.classes))
        rows, odds = [], []
        for name, counts in zip(self.groups, self.counts, strict=True):
            labels = tuple(self.share(counts[k], np.delete(counts, k, axis=0)) for k in size)
            predictions = tuple(self.share(counts[:, k], np.delete(counts, k, axis=1)) for k in size)
            odds.append([[self.share(counts[k, j], np.delete(counts[k], j)) for j in size] for k in size])
            right = np.eye(len(self.classes), dtype=np.bool_)
            error = self.share(counts[~right], counts[right])
            recalls = tuple(odds[-1][k][k] for k in size)
            rows.append(PrivateGroupClassRow(name, float(counts.sum()), labels, predictions, recalls, error))
        parity = _largest([_apart(a.predictions, b.predictions) for a, b in itertools.combinations(rows, 2)])
        among = [_apart(a[k], b[k]) for a, b in itertools.combinations(odds, 2) for k in size]
        gaps = [_apart((a.error,), (b.error,), scale=1.0) for a, b in itertools.combinations(rows, 2)]
        said = (self.released.deviation, self.confidence, self.released.private)
        return PrivateClassTable(self.classes, tuple(rows), parity, _largest(among), _largest(gaps), *said)


def _apart(first: Sequence[Estimate], second: Sequence[Estimate], scale: float = 0.5) -> Estimate:
    """scale·Σ |p − q|, at most 1."""
    value = low = high = 0.0
    for p, q in zip(first, second, strict=True):
        value += abs(p.value - q.value)
        low += max(p.low - q.high, q.low - p.high, 0.0)
        high += max(p.high - q.low, q.high - p.low)
    return Estimate(*(min(1.0, scale * each) for each in (value, low, high)))


def _largest(gaps: Sequence[Estimate]) -> Estimate:
    """The largest of several, each end by itself."""
    return Estimate(*(max(part) for part in zip(*map(attrs.astuple, gaps), strict=True)))
