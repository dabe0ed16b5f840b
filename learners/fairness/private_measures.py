"""Fairness of a released model on the records it was trained on, paid for, with intervals that say what noise may do.

What is examined must be a function of a record and of what is public or released: predictions of a model whose
training was charged are, those of a model that was not are not. Each function makes one release of Gaussian noise.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from accountant import Ledger
from accountant.arrays import FloatArray
from accountant.costs import count, open_probability, positive
from learners.base import RandomState, public_interval
from learners.fairness.group_measures import PAPER_GRID, Error, numbers, same_length
from learners.fairness.private_groups import (
    ACCOUNT,
    CONFIDENCE,
    NoisyValues,
    ReleaseBudget,
    checked,
    group_codes,
    mean_shares,
    public_names,
    quantile,
    released_shares,
    share_interval,
    whole_shares,
)
from learners.fairness.stored_columns import ColumnLike, Score, StoredColumn, in_memory, stored
from learners.tables import label_values
from mechanisms.queries import (
    MOST_CELLS,
    GroupedCells,
    GroupedShares,
    prefix_counts,
    prefix_decoder,
    prefixes_query,
    prefixes_rows_query,
    shares_query,
)

FARTHEST: Final = 1e150
"""Errors beyond are squared as this, so that losses and their differences are finite."""


@attrs.frozen(eq=False)
class PrivateParity:
    """Statistical parity of clipped predictions, as far as the noise lets it be known.

    estimate: on the grid, and just below its last point; the maximum of noisy differences, so too large on average,
      most where parity is perfect. Read low and high before it.
    low, high: hold the exact distance Δ_SP of these records (not of a population) with `confidence` over the noise,
      whatever lies between grid points. (0, 1) says nothing.
    groups: their names.  counts: noisy numbers of records, shape (groups,).
    points: public, shape (grid,).  shares: noisy P(prediction <= point | group), for the last point P(prediction <
      point | group) and then 1; shape (groups, grid + 1).
    deviation: σ of the noise that was released.  private: whether the noise is not a simulation's.
    """

    estimate: float
    low: float
    high: float
    groups: tuple[object, ...]
    counts: FloatArray
    points: FloatArray
    shares: FloatArray
    deviation: float
    confidence: float
    private: bool


@attrs.frozen
class PrivateGroupRisk:
    """One group's mean clipped loss, and its distance from everybody's; each with an interval.

    group: its name.  n: noisy number of records.  risk, low, high: in the unit of the bound.
    gap: |risk − everybody's|, too large on average where there is none.  gap_low, gap_high: its interval.
    """

    group: object
    n: float
    risk: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float


@attrs.frozen
class PrivateRisks:
    """Mean clipped losses by group.

    rows: one for each public group.  risk, low, high: of all records together.
    deviation: σ of the noise on each sum, losses in units of the width of their range.
    confidence: with which all intervals hold together, over the noise; for these records, not for a population.
    private: whether the noise is not a simulation's.
    """

    rows: tuple[PrivateGroupRisk, ...]
    risk: float
    low: float
    high: float
    deviation: float
    confidence: float
    private: bool


@attrs.frozen
class Estimate:
    """A number, known but for noise.  low, high: an interval of the exact one."""

    value: float
    low: float
    high: float


@attrs.frozen
class PrivateGroupRow:
    """What a table by group says of one group.

    group: its name.  n: noisy number of records.  share: of all records.
    mean_label, mean_prediction: of clipped ones, in units of the label.  above: share of predictions above the
    threshold.
    """

    group: object
    n: float
    share: Estimate
    mean_label: Estimate
    mean_prediction: Estimate
    above: Estimate


@attrs.frozen
class PrivateTable:
    """Means by group.

    rows: one for each public group.
    deviation: σ of the noise on each of six sums for a group, in units of the width of what is summed.
    confidence, private: as in `PrivateRisks`.
    """

    rows: tuple[PrivateGroupRow, ...]
    deviation: float
    confidence: float
    private: bool


# --- statistical parity ----------------------------------------------------------------------------------------


def _deviations(cells: int) -> tuple[FloatArray, FloatArray]:
    """Of the noise on the numbers of records in cells 0 … t and beyond t, in units of σ; shapes (cells,). Public."""
    decoder = prefix_decoder(cells)
    squares = np.cumsum(decoder**2)
    common = np.array([decoder[: t + 1] @ decoder[cells - 1 - t :] for t in range(cells)])
    return np.sqrt(squares), np.sqrt(np.maximum(squares[-1] + squares - 2.0 * common, 0.0))


def _share_bounds(below: FloatArray, deviation: float, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Of shares as in `PrivateParity`, all of them with `confidence`; shapes (groups, grid + 1)."""
    inside, beyond = _deviations(below.shape[1])
    slack = deviation * quantile(confidence, 2 * below.size)
    low, high = share_interval(below, below[:, -1:] - below, slack * inside, slack * beyond)
    low[:, -1] = high[:, -1] = 1.0  # clipped predictions are nowhere above the last point
    # Shares do not fall from one point to the next.
    return np.maximum.accumulate(low, axis=1), np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]


def _distance_bounds(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Of Δ_SP, from bounds of all shares. [004-grid-parity]

    Between two points one share is at most that at the right one, and another at least that at the left one.
    """
    pairs = list(itertools.permutations(range(len(low)), 2))
    least = max(float(np.max(low[a] - high[b])) for a, b in pairs)
    # Nothing lies between the last two, which are just below the last point and at it.
    before = np.concatenate([low[:, :1], low[:, :-2]], axis=1)
    most = max(float(np.max(high[a, :-1] - before[b])) for a, b in pairs)
    least = max(least, 0.0)
    return least, min(max(most, least), 1.0)


def _monotone_shares(below: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    fitted = np.stack([isotonic_regression(row, y_min=0.0) for row in below])
    return np.asarray(np.clip(fitted / np.maximum(fitted[:, -1:], 1.0), low, high))


def private_statistical_parity(
    predictions: ColumnLike,
    groups: ColumnLike,
    *,
    public_groups: Sequence[object],
    bounds: tuple[float, float],
    epsilon: float,
    delta: float,
    ledger: Ledger,
    grid: int = PAPER_GRID,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateParity:
    """Δ_SP of Definition 5 on protected records, paid for: at most (epsilon, delta), under the ledger's relation.

    predictions, groups: shape (n,), or columns of a table in a database, `PredictedColumn` and `SqlColumn`.
    public_groups: all names that may occur, at least two.
    bounds: public (lower, upper); predictions beyond count as these.  grid: public, 2 … 4095 equally spaced points.
    delta: in (0, 1); noise is Gaussian, on sums of weighted prefixes of the counts. At 500 points a number of records
    below a point then has noise variance 18.5 (in units of the ledger's 1/μ²) where summing noisy counts, or noise on
    the sums themselves, has 1000, and the best reading of a binary tree 33.6. [group-prefixes]
    ledger: pays.  confidence: of intervals, in (0, 1).  account: what the charge is called.
    random_state: as for learners.
    Raises BudgetExceeded where the ledger cannot pay; ValueError for a group that is not public, bounds that are
    missing, NaN or unequal lengths; TypeError for a ledger of another adjacency. All before anything is charged.
    """
    payer, sure = ReleaseBudget.of(ledger, epsilon, delta, account), checked("confidence", open_probability, confidence)
    low, high = checked("bounds", public_interval, bounds)
    if not 2 <= checked("grid", count, grid) < MOST_CELLS:
        raise ValueError(f"grid: expected 2 to {MOST_CELLS - 1} points, got {grid}")
    points = np.linspace(low, high, grid)
    # Predictions at the last point, as of classes or where many were clipped, get a cell of their own.
    if isinstance(predictions, StoredColumn):
        rows = predictions.prefixes(stored(groups, "groups"), points, public_names(public_groups))
        found = payer.release(prefixes_rows_query(payer.adjacency, grid + 1), rows, random_state)
    else:
        outputs = np.clip(numbers(predictions, "predictions"), low, high)
        names = group_codes(groups, outputs.size, public_groups)
        cells = np.searchsorted(points, outputs, side="left") + (outputs >= high)
        data = GroupedCells(names, cells, len(public_groups), grid + 1)
        found = payer.release(prefixes_query(payer.adjacency, grid + 1), data, random_state)
    below = prefix_counts(found.values)
    bounded = _share_bounds(below, found.deviation, sure)
    shares = _monotone_shares(below, *bounded)
    least, most = _distance_bounds(*bounded)
    apart = max(float(np.max(np.abs(a - b))) for a, b in itertools.combinations(shares, 2))
    estimate, named = min(max(apart, least), most), tuple(public_groups)
    return PrivateParity(
        estimate, least, most, named, below[:, -1], points, shares, found.deviation, sure, found.private
    )


# --- risks -----------------------------------------------------------------------------------------------------


def _losses(predictions: npt.ArrayLike, labels: npt.ArrayLike, loss: Error, what: str) -> FloatArray:
    """Each of its own record alone, shape (n,); classes may be text."""
    if loss == "classes":
        told, truth = (np.array(label_values(each).tolist(), dtype=object) for each in (predictions, labels))
        same_length(truth.size, what, told)
        return np.asarray(told != truth, dtype=np.float64)
    outputs, known = numbers(predictions, what), numbers(labels, "labels")
    same_length(known.size, what, outputs)
    with np.errstate(over="ignore"):  # an error that is too large to square is beyond every bound
        errors = np.minimum(np.abs(outputs - known), FARTHEST)
    return np.asarray(errors if loss == "absolute" else errors**2)


def _risks(
    released: NoisyValues, names: Sequence[object], least: float, width: float, confidence: float
) -> PrivateRisks:
    """Post-processing: risks are least + width·share."""
    deviation, groups = released.deviation, len(names)
    sums = np.concatenate([released.values, released.values.sum(axis=0, keepdims=True)])  # everybody last
    slack = deviation * quantile(confidence, 2 * (groups + 1)) * np.sqrt([*[1.0] * groups, float(groups)])
    counts, *shares = mean_shares(sums, slack)
    risk, low, high = (least + width * part[:, 0] for part in shares)
    gap_low = np.maximum(np.maximum(low[:-1] - high[-1], low[-1] - high[:-1]), 0.0)
    gap_high = np.maximum(high[:-1] - low[-1], high[-1] - low[:-1])
    columns = (counts[:-1], risk[:-1], low[:-1], high[:-1], np.abs(risk[:-1] - risk[-1]), gap_low, gap_high)
    rows = tuple(
        PrivateGroupRisk(name, *map(float, row)) for name, row in zip(names, np.stack(columns, axis=1), strict=True)
    )
    return PrivateRisks(rows, float(risk[-1]), float(low[-1]), float(high[-1]), deviation, confidence, released.private)


def private_group_risks(
    predictions: ColumnLike,
    labels: ColumnLike,
    groups: ColumnLike,
    *,
    public_groups: Sequence[object],
    bound: float,
    epsilon: float,
    delta: float,
    ledger: Ledger,
    loss: Error = "squared",
    reference: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateRisks:
    """Mean loss by group on protected records and the gaps of Definition 4, paid for: at most (epsilon, delta).

    predictions, labels, groups: shape (n,), or columns of a table in a database, `PredictedColumn` and `SqlColumn`.
    public_groups: all names that may occur, at least two.
    bound: public, > 0; losses beyond count as this, and with a reference those below −bound as that.
    loss: "squared" or "absolute", or "classes" for 1 where they differ: classes may be text.
    reference: None for plain risks; for excess risks the predictions, shape (n,), of another model that is public or
    *released*. Those of the non-private optimum would not do: every one of them depends on every record, and nothing
    here would pay for that.
    Sums of losses and numbers of records are released together, at the noise of the sums alone. [group-risks]
    delta, random_state, and what is raised, all before anything is charged: as for `private_statistical_parity`.
    """
    payer, sure = ReleaseBudget.of(ledger, epsilon, delta, account), checked("confidence", open_probability, confidence)
    most = checked("bound", positive, bound)
    if most >= FARTHEST:
        raise ValueError(f"bound: expected less than {FARTHEST}, got {bound!r}")
    if loss not in ("squared", "absolute", "classes"):
        raise ValueError(f"loss: expected 'squared', 'absolute' or 'classes', got {loss!r}")
    if isinstance(predictions, StoredColumn):
        if reference is not None:
            raise TypeError("reference: the predictions are a column of a database, where no reference is read")
        found = released_shares(
            payer, predictions, labels, groups, [Score(loss, 0.0, most)], public_groups, random_state
        )
        return _risks(found, public_groups, 0.0, most, sure)
    labels = in_memory(labels, "labels")
    losses, least = _losses(predictions, labels, loss, "predictions"), 0.0
    if reference is not None:
        losses, least = losses - _losses(reference, labels, loss, "reference"), -most
    names = group_codes(groups, losses.size, public_groups)
    shares = whole_shares(losses, least, most)[:, np.newaxis]
    data = GroupedShares(names, shares, len(public_groups))
    found = payer.release(shares_query(payer.adjacency, 1), data, random_state)
    return _risks(found, public_groups, least, most - least, sure)


# --- tables ----------------------------------------------------------------------------------------------------

SCORES: Final = 3
"""A record's label, prediction, and whether that is above the threshold."""


def _table(
    released: NoisyValues, names: Sequence[object], least: float, width: float, confidence: float
) -> PrivateTable:
    """Post-processing. A group has four intervals, of two noisy numbers each."""
    slack, groups = released.deviation * quantile(confidence, 8 * len(names)), len(names)
    counts, *means = mean_shares(released.values, np.full(groups, slack))
    off = slack * math.sqrt(2.0 / SCORES)  # of numbers of records, each of three pairs
    total = float(counts.sum())
    low, high = share_interval(counts, total - counts, off, off * math.sqrt(groups - 1))
    shares = np.clip(counts / max(total, 1.0), low, high)
    units, starts = np.array([width, width, 1.0]), np.array([least, least, 0.0])
    columns = np.stack([starts + units * part for part in means], axis=-1)  # groups, scores, (value, low, high)
    rows = tuple(
        PrivateGroupRow(name, float(n), Estimate(*map(float, share)), *(Estimate(*map(float, mean)) for mean in scores))
        for name, n, share, scores in zip(names, counts, zip(shares, low, high, strict=True), columns, strict=True)
    )
    return PrivateTable(rows, released.deviation, confidence, released.private)


def private_demographic_table(
    predictions: ColumnLike,
    labels: ColumnLike,
    groups: ColumnLike,
    *,
    public_groups: Sequence[object],
    bounds: tuple[float, float],
    threshold: float,
    epsilon: float,
    delta: float,
    ledger: Ledger,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateTable:
    """One row for each public group, on protected records, paid for: at most (epsilon, delta).

    predictions, labels, groups: shape (n,), or columns of a table in a database, `PredictedColumn` and `SqlColumn`.
    public_groups: all names that may occur, at least two.
    bounds: public (lower, upper) of labels and of predictions; what is beyond counts as these.
    threshold: public; predictions above it, clipped or not, count as above.
    Everything is one release: three scores and numbers of records, at the noise of three scores alone. [group-risks]
    delta, random_state, and what is raised, all before anything is charged: as for `private_statistical_parity`.
    """
    payer, sure = ReleaseBudget.of(ledger, epsilon, delta, account), checked("confidence", open_probability, confidence)
    low, high = checked("bounds", public_interval, bounds)
    if not math.isfinite(threshold):
        raise ValueError(f"threshold: expected a finite number, got {threshold!r}")
    if isinstance(predictions, StoredColumn):
        scores = [Score("label", low, high), Score("prediction", low, high), Score("above", low, threshold)]
        found = released_shares(payer, predictions, labels, groups, scores, public_groups, random_state)
        return _table(found, public_groups, low, high - low, sure)
    outputs, known = numbers(predictions, "predictions"), numbers(in_memory(labels, "labels"), "labels")
    same_length(outputs.size, "labels", known)
    names = group_codes(groups, outputs.size, public_groups)
    above = np.asarray(outputs > threshold, dtype=np.float64)
    columns = [whole_shares(known, low, high), whole_shares(outputs, low, high), whole_shares(above, 0.0, 1.0)]
    data = GroupedShares(names, np.stack(columns, axis=1), len(public_groups))
    found = payer.release(shares_query(payer.adjacency, SCORES), data, random_state)
    return _table(found, public_groups, low, high - low, sure)
