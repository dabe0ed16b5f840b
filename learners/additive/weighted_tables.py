"""Tables with sample weights as records: a record of weight 0 is as if it were not there, so nothing of it is read.

In memory such records are left out. In blocks, whose sizes are known beforehand, they keep their places, with codes and
a label that stand for nothing; every sum, count and score leaves them out.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray, SignArray
from learners.blocks import TableBlock
from learners.encoding import EncodedRows, EncodedSample, Layout
from learners.tables import (
    Table,
    as_numbers,
    column_values,
    each_value,
    label_array,
    narrow_codes,
    refuse_other_number,
    table_column,
)
from mechanisms.core import Rows
from mechanisms.gradients import WEIGHT_ONE

Weights: TypeAlias = npt.NDArray[np.int32]
Parts: TypeAlias = Mapping[str, npt.NDArray[np.generic]]
Coded: TypeAlias = Callable[[object], SignArray]
"""What becomes of labels, shape (n,), each by itself."""


def whole_weights(weights: object, cap: float | None, n: int) -> Weights:
    """Weights in whole 1/WEIGHT_ONE of the cap, rounded down; shape (n,).

    Raises ValueError for another shape, or naming the row of a weight that is not within [0, cap].
    """
    if cap is None:
        raise ValueError("sample_weight needs weight_cap: a public bound of the weights, as it sets the noise")
    given = column_values(weights, "sample_weight")
    values = each_value(given, lambda each, row_of: as_numbers(each, "sample_weight", row_of))
    if values.shape != (n,):
        raise ValueError(f"sample_weight: expected shape ({n},), got {values.shape}")
    outside = np.flatnonzero(~((values >= 0.0) & (values <= cap)))
    if outside.size:
        row = int(outside[0])
        raise ValueError(f"sample_weight, row {row}: {float(values[row])!r} is not within [0, weight_cap={cap!r}]")
    return np.floor(values / cap * WEIGHT_ONE).astype(np.int32)


def heavy_labels(y: object, weights: Weights | None) -> object:
    """The labels of records that are there; `y` itself without weights."""
    return y if weights is None else label_array(y)[np.flatnonzero(weights)]


def weighted_sample(
    table: Table, y: object, weights: Weights | None, layout: Layout, coded: Coded, reader: str
) -> EncodedSample:
    """The records of weight above 0. Raises as `narrow_codes` and `coded` do, and ValueError for unequal numbers."""
    there = None if weights is None else np.flatnonzero(weights)
    with _said(there):
        codes = narrow_codes(
            table, layout.schema, reader=reader, rows=there, of=None if weights is None else weights.size
        )
        labels = coded(heavy_labels(y, weights))
    refuse_other_number(codes.shape[1], labels.size)
    return EncodedSample(layout, codes, labels, None if weights is None else weights[there])


@contextmanager
def _said(there: IntArray | None) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if there is not None:
            error.add_note("Of y, rows of weight 0 are not counted: they are as if they were not there.")
        raise


@attrs.frozen(slots=False, eq=False)
class PlainSample(EncodedSample):
    """Of which nothing else is kept in files: no cells of features, which this learner does not look at."""

    def to_arrays(
        self,
    ) -> "tuple[dict[str, npt.NDArray[np.generic]], Callable[[Mapping[str, npt.NDArray[np.generic]]], EncodedSample]]":
        """See `learners.blocks.files.Keepable`."""
        arrays: dict[str, npt.NDArray[np.generic]] = {"codes": self.codes, "labels": self.labels}
        if self.weights is not None:
            arrays["weights"] = self.weights
        return arrays, partial(_again, self.layout)


def _again(layout: Layout, arrays: Parts) -> EncodedSample:
    weights = cast("Weights | None", arrays.get("weights"))
    return PlainSample(layout, cast("IntArray", arrays["codes"]), cast("SignArray", arrays["labels"]), weights)


@attrs.frozen
class BlockReader:
    """What becomes of a block of a table. weight: the name of the column of weights, if any.  cap: of them."""

    layout: Layout = attrs.field(eq=False)
    coded: Coded
    reader: str
    weight: str | None
    cap: float | None

    def __call__(self, part: TableBlock) -> EncodedSample:
        """Its records; those of weight 0 in their places, with the first codes and the first label."""
        n = int(label_array(part.labels).size)
        weights = None if self.weight is None else self._weights(part.table, n)
        found = weighted_sample(part.table, part.labels, weights, self.layout, self.coded, self.reader)
        codes, labels = found.codes, found.labels
        if weights is not None and found.n < n:
            there = np.flatnonzero(weights)
            codes, labels = np.zeros((codes.shape[0], n), codes.dtype), np.ones(n, labels.dtype)
            codes[:, there], labels[there] = found.codes, found.labels
        return PlainSample(self.layout, codes, labels, weights)

    def _weights(self, table: Table, n: int) -> Weights:
        assert self.weight is not None
        try:
            given = table_column(table, self.weight)
        except KeyError:
            raise ValueError(f"sample_weight: the table has no column {self.weight!r}") from None
        values = each_value(given, lambda each, row_of: as_numbers(each, "sample_weight", row_of))
        return whole_weights(values, self.cap, n)


def block_records(rows: Rows[TableBlock], read: BlockReader) -> EncodedRows:
    """The records of a table in blocks, encoded once and kept where they are. Raises as `weighted_sample` does."""
    return EncodedRows(read.layout, rows.map(read).kept(), read.weight is not None)
