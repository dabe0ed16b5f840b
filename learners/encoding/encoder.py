"""Tables turned into codes, and the weighted label sums that every 1-Rule round needs.

Features are never materialised. A column is a code per row; several columns with few cells are packed into one joint
code, so that one `bincount` serves them all. Sums of weights are in whole numbers, hence independent of the order of
rows.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, ExactArray, IntArray, SignArray
from boosting.measures import BoundedMeasure
from learners.encoding.packing import NARROW, WIDE, Feature, Packing, memberships
from learners.encoding.weighted_sums import CellIndex, cell_sums
from learners.tables import Schema
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


Parts: TypeAlias = Mapping[str, npt.NDArray[np.generic]]

Path: TypeAlias = tuple[tuple[int, bool], ...]
"""Features, and whether records have them."""


@attrs.frozen(slots=False, eq=False)
class EncodedSample:
    """Records as codes, with labels.

    codes: shape (columns, n), of any integer type; small ones are read faster.
    labels: shape (n,), each −1 or +1; the class 0 … K − 1 where there are more than two.
    weights: shape (n,), in whole 1/2^10 of the public cap, see `mechanisms.gradients.gradient_sums`; None weighs all
    alike.
    """

    layout: Layout
    codes: CodeArray = attrs.field(repr=False)
    labels: SignArray = attrs.field(repr=False)
    weights: npt.NDArray[np.int32] | None = attrs.field(default=None, repr=False)

    def __reduce__(self) -> "tuple[type[EncodedSample], tuple[object, ...]]":
        """Without what follows from it, which is several times as large."""
        return type(self), (self.layout, self.codes, self.labels, self.weights)

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

    def weighted(self) -> "EncodedSample":
        """Without the records of weight 0, which must be as if they were not there: nothing may count them."""
        if self.weights is None or np.all(self.weights):
            return self
        there = np.flatnonzero(self.weights)
        return EncodedSample(self.layout, self.codes[:, there], self.labels[there], self.weights[there])

    def to_arrays(self) -> "tuple[dict[str, npt.NDArray[np.generic]], Callable[[Parts], EncodedSample]]":
        """What a file keeps of it, see `learners.blocks.files.Keepable`: with its cells, which take longest to make."""
        layout, cells, weighted = self.layout, self.labelled.cells, self.weights is not None

        def again(arrays: Parts) -> EncodedSample:
            weights = cast("npt.NDArray[np.int32]", arrays["weights"]) if weighted else None
            labels = cast("SignArray", arrays["labels"])
            twin = EncodedSample(layout, cast("CodeArray", arrays["codes"]), labels, weights)
            twin.__dict__["labelled"] = CellIndex(cast("npt.NDArray[np.int32]", arrays["places"]), cells)
            return twin

        arrays: dict[str, npt.NDArray[np.generic]] = {
            "codes": self.codes,
            "labels": self.labels,
            "places": self.labelled.places,
        }
        return arrays if self.weights is None else {**arrays, "weights": self.weights}, again

    def label_sums(self, measure: BoundedMeasure) -> ExactArray:
        """Σ μ(i)·yᵢ over each feature's records, then over all, shape (d + 1,), in whole units of `weighted_sums`.

        Weights are rounded as that says; up to this it is exact, so neither blocks nor an order of the records show.
        """
        packing = self.layout.wide
        sums = cell_sums(measure, self.labelled).reshape(-1, 2, packing.stride)
        return np.asarray(packing.whole @ (sums[:, 1] - sums[:, 0]).ravel(), dtype=np.int64)

    def held(self, measure: BoundedMeasure, within: "Path" = ()) -> ExactArray:
        """Σ μ(i) over each feature's records, then over all, by label, shape (d + 1, 2), −1 first; in the same units.

        within: only records that have these features, or lack them, count.
        """
        packing = self.layout.wide
        sums = cell_sums(measure, self.labelled, self.among(within)).reshape(-1, 2, packing.stride)
        cells = sums.transpose(0, 2, 1).reshape(-1, 2)
        return np.asarray(packing.whole @ cells, dtype=np.int64)

    def among(self, within: "Path") -> IntArray | None:
        """Numbers of the records that have features, or lack them, as `within` says; None for all."""
        rows = None
        for feature, wanted in within:
            having = with_feature(self.layout, self.codes, feature, rows)
            here = having if wanted else ~having
            rows = np.flatnonzero(here) if rows is None else rows[here]
        return rows


@attrs.frozen
class LabelSums:
    """`EncodedSample.label_sums` of some of the records."""

    def __call__(self, sample: EncodedSample, measure: BoundedMeasure) -> ExactArray:
        """Shape (d + 1,)."""
        return sample.label_sums(measure)


@attrs.frozen
class HeldWeights:
    """`EncodedSample.held` of some of the records."""

    within: Path = ()

    def __call__(self, sample: EncodedSample, measure: BoundedMeasure) -> ExactArray:
        """Shape (d + 1, 2)."""
        return sample.held(measure, self.within)


def joined_samples(parts: Iterable[EncodedSample]) -> EncodedSample:
    """Samples of one layout as one, their codes in the narrowest type that holds them; a single one as it is.

    Raises ValueError where there is none.
    """
    first, codes, labels = None, list[CodeArray](), list[SignArray]()
    for part in parts:
        first = part if first is None else first
        kind = np.min_scalar_type(max(column.cells for column in part.layout.schema.columns) - 1)
        codes.append(part.codes.astype(kind))
        labels.append(part.labels)
    if first is None:
        raise ValueError("expected at least one sample")
    if len(codes) == 1:
        return first
    return EncodedSample(first.layout, np.concatenate(codes, axis=1), np.concatenate(labels))


def literal_signs(layout: Layout, codes: CodeArray, feature: int, sign: int = 1) -> SignArray:
    """`sign` where a record has the feature, else −`sign`; shape (n,)."""
    column, members = layout.feature(feature)
    return np.asarray(np.where(members, np.int8(sign), np.int8(-sign))[codes[column]], dtype=np.int8)


def with_feature(
    layout: Layout, codes: CodeArray, feature: int, rows: IntArray | None = None
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which of these records have a Boolean feature, shape of `rows`, (n,) for None. codes: shape (columns, n)."""
    column, members = layout.feature(feature)
    return np.asarray(members[codes[column] if rows is None else codes[column][rows]])


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
