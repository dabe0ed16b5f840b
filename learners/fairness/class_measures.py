"""How differently a classifier treats groups, for classes of any number and name: confusions, and gaps between them.

Nothing here is a release; `learners.fairness.private_classes` pays for the same on protected records.
"""

import itertools
from collections.abc import Sequence
from typing import cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, IntArray
from learners.fairness.group_measures import group_values, members_of, same_length
from learners.tables import coded_labels, distinct_classes, label_values


@attrs.frozen
class GroupClassRow:
    """What a table of classes says of one group.

    group: its name.  n: records.  labels, predictions: share of each class, in the order of the classes.
    recalls: of each class's records the share that is predicted so; nan where the group has none.
    error: share of records that are predicted wrong.
    """

    group: object
    n: int
    labels: tuple[float, ...]
    predictions: tuple[float, ...]
    recalls: tuple[float, ...]
    error: float


@attrs.frozen
class ClassTable:
    """A row for each group, in rising order, and the largest gaps between two of them, each in [0, 1].

    parity: total variation distance of the predictions: how much likelier some set of classes is in one group. For two
    classes the difference of their shares.  odds: the same among records of one class, at most over the classes that
    both groups have (equalised odds).  error_gap: difference of the errors.
    """

    classes: tuple[object, ...]
    rows: tuple[GroupClassRow, ...]
    parity: float
    odds: float
    error_gap: float


def class_codes(values: npt.ArrayLike, classes: Sequence[object], what: str) -> IntArray:
    """The place of each value among the classes, shape (n,). Raises ValueError naming `what`."""
    try:
        codes = coded_labels(values, classes)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    return np.asarray(codes > 0 if len(classes) == 2 else codes).astype(np.intp)


def class_table(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    classes: Sequence[object] | None = None,
) -> ClassTable:
    """Confusions by group, and how far groups are apart. Not a release.

    predictions, labels, groups: shape (n,); classes may be text, numbers or truth values.
    classes: in order; None takes those that occur, in rising order.
    Raises ValueError for other shapes, missing values, a class that is not among them, or a group of a single record.
    """
    known = label_values(labels)
    if classes is None:
        found = {*known.tolist(), *label_values(predictions).tolist()}
        classes = sorted(cast("set[str]", found)) if len({type(each) for each in found}) == 1 else _mixed(found)
    names = distinct_classes(classes)
    truth, told = class_codes(labels, names, "labels"), class_codes(predictions, names, "predictions")
    same_length(truth.size, "predictions", told)
    members = members_of(group_values(groups, truth.size), least=1)
    counts = np.stack([_confusion(truth[rows], told[rows], len(names)) for rows in members.values()])
    return _table(names, list(members), counts)


def _mixed(found: set[object]) -> tuple[object, ...]:
    try:
        return tuple(sorted(cast("set[str]", found)))
    except TypeError as error:
        raise ValueError(f"labels: mixes kinds of classes; name them in order as classes=... ({error})") from None


def _confusion(truth: IntArray, told: IntArray, number: int) -> FloatArray:
    """Records by label and prediction, shape (number, number)."""
    return np.bincount(truth * number + told, minlength=number**2).reshape(number, number).astype(np.float64)


def _table(classes: tuple[object, ...], groups: Sequence[object], counts: FloatArray) -> ClassTable:
    """counts: shape (groups, labels, predictions)."""
    rows = []
    for name, confusion in zip(groups, counts, strict=True):
        n, each = float(confusion.sum()), confusion.sum(axis=1)
        with np.errstate(invalid="ignore"):
            recalls = np.diag(confusion) / each
        parts = (each / n, confusion.sum(axis=0) / n, recalls)
        labels, predicted, right = (tuple(part.tolist()) for part in parts)
        rows.append(GroupClassRow(name, int(n), labels, predicted, right, 1.0 - float(np.trace(confusion)) / n))
    errors = [row.error for row in rows]
    odds = max(_most_apart(counts[:, label]) for label in range(len(classes)))
    return ClassTable(classes, tuple(rows), _most_apart(counts.sum(axis=1)), odds, max(errors) - min(errors))


def _most_apart(counts: FloatArray) -> float:
    """Largest total variation distance of two rows, among those that hold records; 0 for fewer than two."""
    there = counts[counts.sum(axis=1) > 0.0]
    shares = there / there.sum(axis=1, keepdims=True)
    return max((0.5 * float(np.abs(a - b).sum()) for a, b in itertools.combinations(shares, 2)), default=0.0)
