"""Columns with few cells put together to joint codes, so that one pass over the records serves several of them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from accountant.arrays import CodeArray, IntArray
from learners.encoding.weighted_sums import CellIndex
from learners.tables import Column, Numeric

NARROW: Final = 128
"""Cells of a joint code where each has a table row per weight or leaf, so that these tables stay in the cache."""

WIDE: Final = 1024
"""Cells where each has one number: fewer passes over the records, and tables that are still small beside them."""

Feature = tuple[int, npt.NDArray[np.bool_]]
"""A column, and which of its codes are inside."""


def memberships(column: Column) -> list[npt.NDArray[np.bool_]]:
    """Which codes each of the column's Boolean features contains."""
    codes = np.arange(column.cells)
    if not column.cumulative:
        return [codes == cell for cell in range(column.cells)]
    if not (isinstance(column, Numeric) and column.own_cell):
        return [codes > cut for cut in range(column.cells - 1)]
    own = codes == column.bin_number  # no number, so above no threshold
    return [*((codes > cut) & ~own for cut in range(column.bin_number - 1)), own]


@attrs.frozen(slots=False, eq=False)
class Packing:
    """Where columns live among joint codes of at most `most` cells each. Public: follows from the schema alone."""

    columns: tuple[Column, ...]
    features: Sequence[Feature] = attrs.field(repr=False)
    most: int

    @cached_property
    def groups(self) -> list[list[int]]:
        """Columns packed together, first fit by falling number of cells."""
        cells = [column.cells for column in self.columns]
        groups: list[list[int]] = []
        sizes: list[int] = []
        for number in sorted(range(len(cells)), key=lambda c: -cells[c]):
            home = next((g for g, size in enumerate(sizes) if size * cells[number] <= self.most), None)
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
        return max(self._cells(group) for group in self.groups)

    def _cells(self, group: Sequence[int]) -> int:
        return int(np.prod([self.columns[column].cells for column in group]))

    def pack(self, codes: CodeArray) -> IntArray:
        """Joint codes, shape (groups, n), from the columns' codes, which may be of any integer type.

        They are reckoned with, so they are wide integers: small ones would wrap.
        """
        kind = np.dtype(np.intp)
        return np.stack([self._joint(codes, group, kind) for group in self.groups], dtype=np.intp)

    def _joint(self, codes: CodeArray, group: Sequence[int], kind: np.dtype[Any]) -> CodeArray:
        joint: CodeArray = codes[group[0]].astype(kind)
        for column in group[1:]:
            joint *= kind.type(self.columns[column].cells)
            joint += codes[column].astype(kind, copy=False)
        return joint

    def labelled(self, codes: CodeArray, positive: npt.NDArray[np.bool_]) -> CellIndex:
        """The cells of each group: those of records without `positive`, shape (n,), then those of the others.

        Cell (group, label, joint code) is number (2·group + label)·stride + code.
        """
        kind = np.dtype(np.int32)
        places = np.empty((codes.shape[1], len(self.groups)), dtype=kind)
        upper = positive * kind.type(self.stride)
        for number, group in enumerate(self.groups):
            joint = self._joint(codes, group, kind)
            joint += upper
            joint += kind.type(2 * number * self.stride)
            places[:, number] = joint
        return CellIndex(places, 2 * len(self.groups) * self.stride)

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Packed cells of each feature, shape (d + 1, groups·stride), of ones; the last row is "all records"."""
        cells: dict[int, IntArray] = {}
        for place, group in enumerate(self.groups):
            shape = [self.columns[column].cells for column in group]
            code_of = dict(zip(group, np.indices(shape).reshape(len(shape), -1), strict=True))
            for number, (column, members) in enumerate(self.features):
                if column in code_of:
                    cells[number] = np.flatnonzero(members[code_of[column]]) + place * self.stride
        rows = [cells[number] for number in range(len(self.features))]
        rows.append(np.arange(self._cells(self.groups[0])))
        pointers = np.cumsum([0, *(row.size for row in rows)])
        columns = np.concatenate(rows)
        shape_of = (len(rows), len(self.groups) * self.stride)
        return sparse.csr_array((np.ones(columns.size), columns, pointers), shape=shape_of)

    @cached_property
    def whole(self) -> sparse.csr_array:
        """The same in whole numbers, for sums that must stay exact."""
        return self.incidence.astype(np.int64)
