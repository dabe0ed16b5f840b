"""Tables turned into codes, and the weighted label sums that every 1-Rule round needs.

Features are never materialised. A column is a code per row; several columns with few cells are packed into
one joint code, so that one `bincount` over (weight level, label, joint code) serves them all. The counts are
integers, hence independent of the order of rows; only the last, tiny product is in floating point.
"""

from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from boosting.measures import BoundedMeasure, FloatArray
from boosting.schema import SignArray
from learners.schema import Column, IntArray, Schema
from mechanisms.gradients import WEIGHT_ONE

PACK_CELLS = 128
"""Joint codes share a table of at most this many cells, so that levels × cells stays in the cache."""


@attrs.frozen(slots=False, eq=False)
class Layout:
    """Where each feature of a schema lives among the packed codes. Public: follows from the schema alone."""

    schema: Schema

    @property
    def d(self) -> int:
        """The number of Boolean features."""
        return len(self._features)

    @cached_property
    def _features(self) -> list[tuple[int, npt.NDArray[np.bool_]]]:
        """Per feature, its column and which of the column's codes it contains."""
        return [
            (number, members) for number, column in enumerate(self.schema.columns) for members in _memberships(column)
        ]

    def feature(self, number: int) -> tuple[int, npt.NDArray[np.bool_]]:
        """A feature's column and the Boolean table over that column's codes."""
        return self._features[number]

    @cached_property
    def groups(self) -> list[list[int]]:
        """Columns packed together, first fit by falling number of cells."""
        cells = [column.cells for column in self.schema.columns]
        groups: list[list[int]] = []
        sizes: list[int] = []
        for number in sorted(range(len(cells)), key=lambda c: -cells[c]):
            home = next((g for g, size in enumerate(sizes) if size * cells[number] <= PACK_CELLS), None)
            if home is None:
                groups.append([number])
                sizes.append(cells[number])
            else:
                groups[home].append(number)
                sizes[home] *= cells[number]
        return groups

    @cached_property
    def stride(self) -> int:
        """Cells of the widest group."""
        return max(self._group_cells(group) for group in self.groups)

    def _group_cells(self, group: Sequence[int]) -> int:
        return int(np.prod([self.schema.columns[column].cells for column in group]))

    def pack(self, codes: Sequence[IntArray]) -> IntArray:
        """Joint codes, shape (groups, n), from the columns' codes."""
        packed = []
        for group in self.groups:
            joint = np.zeros_like(codes[group[0]])
            for column in group:
                joint = joint * self.schema.columns[column].cells + codes[column]
            packed.append(joint)
        return np.ascontiguousarray(packed, dtype=np.intp)

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Packed cells of each feature, shape (d + 1, groups·stride); the last row is "all records"."""
        cells: dict[int, IntArray] = {}
        for place, group in enumerate(self.groups):
            shape = [self.schema.columns[column].cells for column in group]
            code_of = dict(zip(group, np.indices(shape).reshape(len(shape), -1), strict=True))
            for number, (column, members) in enumerate(self._features):
                if column in code_of:
                    cells[number] = np.flatnonzero(members[code_of[column]]) + place * self.stride
        rows = [cells[number] for number in range(self.d)]
        rows.append(np.arange(self._group_cells(self.groups[0])))
        pointers = np.cumsum([0, *(row.size for row in rows)])
        columns = np.concatenate(rows)
        shape_of = (self.d + 1, len(self.groups) * self.stride)
        return sparse.csr_array((np.ones(columns.size), columns, pointers), shape=shape_of)


def _memberships(column: Column) -> list[npt.NDArray[np.bool_]]:
    codes = np.arange(column.cells)
    if column.cumulative:
        return [codes > cut for cut in range(column.cells - 1)]
    return [codes == cell for cell in range(column.cells)]


@attrs.frozen(slots=False, eq=False)
class EncodedSample:
    """Records as codes, with labels.

    codes: shape (columns, n).  labels: shape (n,), each −1 or +1; the class 0 … K − 1 where there are more than two.
    weights: shape (n,), in whole 1/2^10 of the public cap, see `mechanisms.gradients`; None weighs all alike.
    """

    layout: Layout
    codes: IntArray
    labels: SignArray
    weights: npt.NDArray[np.int32] | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    @cached_property
    def packed(self) -> IntArray:
        """Joint codes, shape (groups, n)."""
        return self.layout.pack(list(self.codes))

    @cached_property
    def _positive(self) -> IntArray:
        return (self.labels > 0).astype(np.intp)

    def label_sums(self, measure: BoundedMeasure) -> FloatArray:
        """Σ μ(i)·yᵢ over each feature's records, then over all, shape (d + 1,)."""
        stride = self.layout.stride
        slot = (2 * measure.index + self._positive) * stride
        signed = np.repeat(measure.values, 2) * np.tile([-1.0, 1.0], measure.values.size)
        cells = [
            signed @ np.bincount(slot + codes, minlength=signed.size * stride).reshape(-1, stride)
            for codes in self.packed
        ]
        return np.asarray(self.layout.incidence @ np.concatenate(cells), dtype=np.float64)


def literal_signs(layout: Layout, codes: IntArray, feature: int) -> SignArray:
    """+1 where a record has the feature, else −1; shape (n,)."""
    column, members = layout.feature(feature)
    table = np.where(members, 1, -1).astype(np.int8)
    return np.asarray(table[codes[column]], dtype=np.int8)


def check_encoded(sample: EncodedSample, classes: int) -> None:
    """Raise ValueError where codes, labels or weights are not what their sample says: before anything is charged."""
    columns, weights = sample.layout.schema.columns, sample.weights
    whole = [sample.codes, sample.labels, *([] if weights is None else [weights])]
    if not all(isinstance(array, np.ndarray) and array.dtype.kind in "iu" for array in whole):
        raise ValueError("expected codes, labels and weights as arrays of whole numbers")
    if sample.labels.shape != (sample.n,) or sample.codes.shape != (len(columns), sample.n) or not sample.n:
        raise ValueError(
            f"expected codes of shape ({len(columns)}, n) and labels of shape (n,), n >= 1, got shapes "
            f"{sample.codes.shape} and {sample.labels.shape}"
        )
    for column, codes in zip(columns, sample.codes, strict=True):
        if codes.min() < 0 or codes.max() >= column.cells:
            raise ValueError(f"column {column.name!r}: a code is outside 0 to {column.cells - 1}")
    known = np.abs(sample.labels) == 1 if classes == 2 else (sample.labels >= 0) & (sample.labels < classes)
    if not np.all(known):
        raise ValueError(f"a label is not among {'-1 and 1' if classes == 2 else f'0 to {classes - 1}'}")
    if weights is not None and (weights.shape != (sample.n,) or weights.min() < 0 or weights.max() > WEIGHT_ONE):
        raise ValueError(f"expected {sample.n} weights from 0 to {WEIGHT_ONE}, got shape {weights.shape}")
