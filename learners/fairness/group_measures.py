"""How differently a model treats groups: excess risk, statistical parity, and tables by group. Paper: 004, Section 2.3.

Nothing here is a release. On training records, or any that a ledger guards, what these functions return is a function
of protected data that nobody paid for; give them records that were held out, or pay: see
`learners.fairness.private_measures`.
"""

import itertools
import math
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from scipy import stats

from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, non_negative
from learners.tables import (
    DictionaryColumn,
    Table,
    Values,
    column_values,
    input_names,
    is_missing,
    refuse_masked,
    table_column,
)

PAPER_GRID: Final = 500
"""Points of the paper's grid."""

LEAST_RECORDS: Final = 2
"""A group with fewer records has no distribution, and its mean is one record."""

Error: TypeAlias = Literal["squared", "absolute", "classes"]
"""(prediction − label)², |prediction − label|, or 1 where they differ."""


@attrs.frozen
class GroupGap:
    """One group's excess risk beside everybody's.

    group: its name.  n: records.  excess: R_a, in squared units of the label.  signed: R_a − R, positive where the
    group is worse off.  gap: ξ_a = |R − R_a|.
    """

    group: object
    n: int
    excess: float
    signed: float

    @property
    def gap(self) -> float:
        """ξ_a of Definition 4."""
        return abs(self.signed)


@attrs.frozen
class GroupRow:
    """What a table by group says of one group.

    group: its name.  n: records.  mean_label, mean_prediction: in units of the label.  error: mean of (prediction −
    label)² or of |prediction − label|, or the share of wrong classes.  above: share of predictions above the threshold.
    """

    group: object
    n: int
    mean_label: float
    mean_prediction: float
    error: float
    above: float


# --- reading what is given -------------------------------------------------------------------------------------


def numbers(values: npt.ArrayLike, what: str, *, dimensions: tuple[int, ...] = (1,)) -> FloatArray:
    """Finite real numbers, of as many dimensions as allowed and not empty. Raises ValueError naming `what`."""
    refuse_masked(values, what)
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{what}: expected real numbers, got {array.dtype}")
    if array.ndim not in dimensions:
        raise ValueError(f"{what}: expected {' or '.join(map(str, dimensions))} dimension(s), got shape {array.shape}")
    if not array.size:
        raise ValueError(f"{what}: expected at least one record, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{what}: NaN or infinity; leave such records out")
    return array.astype(np.float64)


def same_length(n: int, what: str, values: Values) -> None:
    """Raise ValueError where there are not n of `what`."""
    if values.shape[-1] != n:
        raise ValueError(f"{what}: expected one for each of {n} records, got {values.shape[-1]}")


def group_values(groups: npt.ArrayLike, n: int) -> Values:
    """The group of each record, shape (n,): text, whole numbers or truth values, none missing. Raises ValueError."""
    found = column_values(groups, "groups")
    values = found.boxed() if isinstance(found, DictionaryColumn) else found
    same_length(n, "groups", values)
    listed = values.tolist() if values.dtype.kind in "Of" else []
    absent = [row for row, value in enumerate(listed) if is_missing(value)]
    if absent:
        raise ValueError(
            f"groups: row {absent[0]} is missing; leave such records out or give them a group of their own"
        )
    if values.dtype.kind in "fc" or any(isinstance(value, float | complex | np.inexact) for value in listed):
        raise ValueError(
            f"groups: expected text or whole numbers, got {values.dtype}; cut measurements into bins first"
        )
    return values


def column_of(table: Table, name: str) -> Values:
    """A column of a DataFrame or a mapping, for use as groups; shape (n,). Raises ValueError where there is none."""
    names = input_names(table)
    if names is None or name not in names:
        raise ValueError(f"table: no column {name!r}; it has {names or 'no named columns'}")
    found = table_column(table, name)
    return found.boxed() if isinstance(found, DictionaryColumn) else found


def members_of(values: Values, *, least: int = 2) -> dict[object, IntArray]:
    """Rows of each group, by name in rising order. Raises ValueError for fewer than `least`, or one too small.

    values: as `group_values` gives them.
    """
    try:
        names = sorted(set(values.tolist()))
    except TypeError as error:
        raise ValueError(f"groups: mixes kinds of names ({error})") from None
    if len(names) < least:
        raise ValueError(f"groups: expected at least {least} different ones, got {names!r}")
    found = {name: np.flatnonzero(values == name) for name in names}
    for name, rows in found.items():
        if rows.size < LEAST_RECORDS:
            raise ValueError(f"groups: {name!r} has {rows.size} record; merge it with another group or leave it out")
    return found


# --- excess risk -----------------------------------------------------------------------------------------------


def _excess(private: npt.ArrayLike, optimum: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
    """Per record, averaged over the mechanism; shape (n,)."""
    known = numbers(labels, "labels")
    ours = numbers(private, "predictions_of_private", dimensions=(1, 2))
    best = numbers(optimum, "predictions_of_optimum")
    same_length(known.size, "predictions_of_private", ours)
    same_length(known.size, "predictions_of_optimum", best)
    return np.asarray(np.mean((np.atleast_2d(ours) - known) ** 2, axis=0) - (best - known) ** 2)


def excess_risk(
    predictions_of_private: npt.ArrayLike, predictions_of_optimum: npt.ArrayLike, labels: npt.ArrayLike
) -> float:
    """Mean squared error of the private model less that of the optimum: Definition 3 ("excessive risk").

    predictions_of_private: shape (n,), or (repetitions, n) to average over the mechanism's noise.
    predictions_of_optimum, labels: shape (n,). Negative where the "optimum" is none on these records. Not a release.
    Raises ValueError for other shapes, no record, NaN or infinity.
    """
    return float(np.mean(_excess(predictions_of_private, predictions_of_optimum, labels)))


def excess_risk_gaps(
    predictions_of_private: npt.ArrayLike,
    predictions_of_optimum: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
) -> tuple[GroupGap, ...]:
    """Excess risk by group: Definition 4; groups in rising order. Arguments as for `excess_risk`. Not a release.

    groups: shape (n,), text or whole numbers. Raises ValueError also for one group only, or one of a single record.
    """
    return _gaps(_excess(predictions_of_private, predictions_of_optimum, labels), groups)


def _gaps(values: FloatArray, groups: npt.ArrayLike) -> tuple[GroupGap, ...]:
    overall = float(np.mean(values))
    means = {
        name: (rows.size, float(np.mean(values[rows])))
        for name, rows in members_of(group_values(groups, values.size)).items()
    }
    return tuple(GroupGap(name, n, mean, mean - overall) for name, (n, mean) in means.items())


def gap_by_traces(sigma: float, features: npt.ArrayLike, groups: npt.ArrayLike) -> tuple[GroupGap, ...]:
    """Expected excess risk of N(0, sigma²) on every coefficient of a linear model, by group: sigma²·mean‖φ(x)‖².

    features: φ(x), shape (n, N), real or complex.  groups: shape (n,). Equation 9, and no approximation: for squared
    loss and any coefficients c, |⟨c + z, φ⟩ − y|² has mean |⟨c, φ⟩ − y|² + sigma²‖φ‖², as z has mean 0 and does not
    depend on the record. The Hessian of the paper's loss has trace 2·mean‖φ‖², not mean‖φ‖². [004-eq9], [004-fairness]
    Excess over the risk of c itself; where c was shortened first, the optimum's is smaller still. Not a release.
    """
    table = np.asarray(features)
    if table.ndim != 2:
        raise ValueError(f"features: expected shape (n, features), got {table.shape}")
    parts = [numbers(part, "features", dimensions=(2,)) for part in (table.real, table.imag)]
    return _gaps(non_negative(sigma) ** 2 * np.sum(parts[0] ** 2 + parts[1] ** 2, axis=1), groups)


# --- statistical parity ----------------------------------------------------------------------------------------


def _distance(first: FloatArray, second: FloatArray, points: FloatArray | None) -> float:
    if points is None:
        # The p-value is not used; its exact computation is slow, and may warn.
        return float(stats.ks_2samp(first, second, method="asymp").statistic)
    shares = [np.searchsorted(np.sort(sample), points, side="right") / sample.size for sample in (first, second)]
    return float(np.max(np.abs(shares[0] - shares[1])))


def statistical_parity(predictions: npt.ArrayLike, groups: npt.ArrayLike, *, grid: int | None = None) -> float:
    """Δ_SP of Definition 5: the largest Kolmogorov–Smirnov distance between two groups' predictions, in [0, 1].

    predictions, groups: shape (n,).  grid: None for the supremum over all reals; a number of points for the paper's
    estimate, which compares P(output <= t) at that many equally spaced t from the smallest to the largest output. That
    is never more, and misses what happens between two points: it can be 0 where the distance is 1. [004-grid-parity]
    One far outlier does that, as it stretches the grid. Not a release.
    Raises ValueError for other shapes, NaN or infinity, one group only, or a group of a single record.
    """
    outputs = numbers(predictions, "predictions")
    members = members_of(group_values(groups, outputs.size))
    points = None if grid is None else np.linspace(outputs.min(), outputs.max(), count(grid))
    pairs = itertools.combinations(members.values(), 2)
    return max(_distance(outputs[first], outputs[second], points) for first, second in pairs)


# --- tables ----------------------------------------------------------------------------------------------------


def _losses(outputs: FloatArray, known: FloatArray, error: Error) -> FloatArray:
    match error:
        case "squared":
            return np.asarray((outputs - known) ** 2)
        case "absolute":
            return np.asarray(np.abs(outputs - known))
        case "classes":
            return np.asarray(outputs != known, dtype=np.float64)
    raise ValueError(f"error: expected 'squared', 'absolute' or 'classes', got {error!r}")


def demographic_table(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    threshold: float,
    error: Error = "squared",
) -> tuple[GroupRow, ...]:
    """One row for each group, in rising order. Not a release.

    predictions, labels: numbers, shape (n,).  groups: shape (n,); `column_of` takes them from a table.
    threshold: predictions above it count as above, in units of the label.  error: "squared" or "absolute", or "classes"
    for the share of predictions that are not the label; for classes that are no numbers see `class_table`.
    Raises ValueError for other shapes, NaN or infinity, or a group of a single record.
    """
    outputs, known = numbers(predictions, "predictions"), numbers(labels, "labels")
    same_length(outputs.size, "labels", known)
    losses = _losses(outputs, known, error)
    if not math.isfinite(threshold):
        raise ValueError(f"threshold: expected a finite number, got {threshold!r}")
    parts = (known, outputs, losses, (outputs > threshold).astype(np.float64))
    return tuple(
        GroupRow(name, rows.size, *(float(np.mean(part[rows])) for part in parts))
        for name, rows in members_of(group_values(groups, outputs.size), least=1).items()
    )
