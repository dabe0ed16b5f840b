"""Columns of protected records that stay where they are: what is released of them is summed there."""

import abc
from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from mechanisms.core import SealedRepr
from mechanisms.queries import HistogramRows, PrefixRows, ShareRows


@attrs.frozen
class Score:
    """What is averaged of a record, in units of the width of its public bounds.

    of: the clipped "label" or "prediction"; "apart", how far these two are apart; "above", 1 where the prediction is
    above `high`, which for this one is a threshold, else 0; or a loss, clipped: "absolute", "squared", or "classes", 1
    where they differ.
    """

    of: Literal["label", "prediction", "apart", "above", "absolute", "squared", "classes"]
    low: float
    high: float


class StoredColumn(SealedRepr, abc.ABC):
    """A column of the records of one table, such as one in a database; for predictions, what is called asks of all.

    All columns of a release must be of the same table. Methods look at all records, and raise for what the same
    function refuses in memory; nothing is charged by then.
    """

    def __array__(self, *arguments: object, **named: object) -> npt.NDArray[np.generic]:
        """Raises TypeError: most functions take values, which this has not."""
        raise TypeError(
            "a column of a table in a database, and this function takes values in memory; fairness tables that are "
            "released privately take both"
        )

    @abc.abstractmethod
    def confusions(
        self, labels: "StoredColumn", groups: "StoredColumn", classes: Sequence[object], public_groups: Sequence[object]
    ) -> HistogramRows:
        """One partition by group, label and prediction, in this order; this column holds the predictions."""

    @abc.abstractmethod
    def prefixes(self, groups: "StoredColumn", points: FloatArray, public_groups: Sequence[object]) -> PrefixRows:
        """By group and by how many of the points, rising, are below this column's number, clipped between the first and
        the last; one more where it is the last or beyond."""

    @abc.abstractmethod
    def shares(
        self,
        labels: "StoredColumn",
        groups: "StoredColumn",
        scores: Sequence[Score],
        public_groups: Sequence[object],
    ) -> ShareRows:
        """By group the shares of these scores; this column holds the predictions."""


ColumnLike: TypeAlias = npt.ArrayLike | StoredColumn
"""Values of shape (n,), or a column that stays where it is."""


def stored(values: ColumnLike, what: str) -> StoredColumn:
    """The column. Raises TypeError for values in memory, beside predictions that are not."""
    if not isinstance(values, StoredColumn):
        raise TypeError(
            f"{what}: expected a column of the same table as the predictions, got a {type(values).__name__}; with "
            "predictions in memory all columns are"
        )
    return values


def in_memory(values: ColumnLike, what: str) -> npt.ArrayLike:
    """The values. Raises TypeError for a column that is not in memory, beside predictions that are."""
    if isinstance(values, StoredColumn):
        raise TypeError(f"{what}: a column of a table in a database, and the predictions are in memory")
    return values
