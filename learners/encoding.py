"""Tables turned into codes, and the weighted label sums that every 1-Rule round needs.

Features are never materialised. A column is a code per row; several columns with few cells are packed into one joint
code, so that one `bincount` serves them all. Sums of weights are in whole numbers, hence independent of the order of
rows.
"""

from functools import cached_property

import attrs
import numpy as np
import numpy.typing as npt

from boosting.measures import BoundedMeasure, FloatArray
from boosting.schema import SignArray
from learners.packing import NARROW, WIDE, Feature, Packing, memberships
from learners.schema import CodeArray, IntArray, Schema
from learners.weighted_sums import CellIndex, as_shares, cell_sums
from mechanisms.gradients import WEIGHT_ONE


@attrs.frozen(slots=False, eq=False)
class Layout:
    """Where each feature of a schema lives among the packed codes. Public: follows from the schema alone."""

    schema: Schema

    @property
    def d(self) -> int:
        """The number of Boolean features."""
        return len(self._features)

    @cached_property
    def _features(self) -> list[Feature]:
        """Per feature, its column and which of the column's codes it contains."""
        return [
            (number, members) for number, column in enumerate(self.schema.columns) for members in memberships(column)
        ]

    def feature(self, number: int) -> tuple[int, npt.NDArray[np.bool_]]:
        """A feature's column and the Boolean table over that column's codes."""
        return self._features[number]

    @cached_property
    def narrow(self) -> Packing:
        """For tables with a row per weight or leaf."""
        return Packing(self.schema.columns, self._features, NARROW)

    @cached_property
    def wide(self) -> Packing:
        """For tables with one number per cell."""
        return Packing(self.schema.columns, self._features, WIDE)


@attrs.frozen(slots=False, eq=False)
class EncodedSample:
    """Records as codes, with labels.

    codes: shape (columns, n), of any integer type; small ones are passed over faster.
    labels: shape (n,), each −1 or +1; the class 0 … K − 1 where there are more than two.
    weights: shape (n,), in whole 1/2^10 of the public cap, see `mechanisms.gradients`; None weighs all alike.
    """

    layout: Layout
    codes: CodeArray
    labels: SignArray
    weights: npt.NDArray[np.int32] | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    @cached_property
    def packed(self) -> IntArray:
        """Joint codes of narrow groups, shape (groups, n)."""
        return self.layout.narrow.pack(self.codes)

    @cached_property
    def labelled(self) -> CellIndex:
        """The cells of wide groups that each record is in, by label; see `Packing.labelled`."""
        return self.layout.wide.labelled(self.codes, self.labels > 0)

    @cached_property
    def by_label(self) -> CellIndex:
        """Cell 0 for records whose label is −1, cell 1 for the others."""
        return CellIndex((self.labels[:, None] > 0).astype(np.int32), 2)

    def label_sums(self, measure: BoundedMeasure) -> FloatArray:
        """Σ μ̂(i)·yᵢ over each feature's records, then over all, shape (d + 1,).

        Weights are rounded as `weighted_sums` says; up to that it is exact, so no order of the records shows.
        """
        packing = self.layout.wide
        sums = cell_sums(measure, self.labelled).reshape(-1, 2, packing.stride)
        return as_shares(packing.whole @ (sums[:, 1] - sums[:, 0]).ravel(), self.n)


def literal_signs(layout: Layout, codes: CodeArray, feature: int, sign: int = 1) -> SignArray:
    """`sign` where a record has the feature, else −`sign`; shape (n,)."""
    column, members = layout.feature(feature)
    return np.asarray(np.where(members, np.int8(sign), np.int8(-sign))[codes[column]], dtype=np.int8)


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
