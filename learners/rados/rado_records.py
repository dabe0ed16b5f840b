"""Labelled records to build rados from, wherever they are."""

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, SignArray
from learners.blocks import TableBlock
from learners.encoding import Coding, Scaling
from learners.tables import refuse_other_number, signs
from mechanisms import EdgeVectors, Vectors
from mechanisms.core import Block, MemoryRows, Rows, SealedRepr, one_block


@attrs.frozen(eq=False)
class RadoSample:
    """Some of the records, coded.

    features: shape (k, d), finite.  labels: shape (k,), −1 and +1. Raises ValueError for anything else.
    """

    features: FloatArray = attrs.field(repr=False)
    labels: SignArray = attrs.field(repr=False)

    def __attrs_post_init__(self) -> None:
        if self.features.shape[:1] != self.labels.shape or self.features.ndim != 2:
            raise ValueError(f"expected features of each record, got {self.features.shape} for {self.labels.shape}")
        if not np.all(np.isfinite(self.features)) or not np.all(np.abs(self.labels) == 1):
            raise ValueError("expected finite features and labels of -1 and +1")

    @property
    def records(self) -> int:
        """How many there are here."""
        return int(self.labels.size)

    def columns(self, count: int) -> EdgeVectors:
        """The first features as they are, without labels, and not copied."""
        return EdgeVectors.given(self.features[:, :count])

    def edges(self, scaling: Scaling, places: Sequence[int] | None = None) -> "ScaledEdges":
        """yᵢ·xᵢ, x after scaling; of some of the features, in this order."""
        return ScaledEdges(self, scaling, None if places is None else tuple(places))

    def points(self, places: Sequence[int]) -> "ScaledEdges":
        """Some of the features as they are, without labels."""
        return ScaledEdges(self, Scaling.none(len(places)), tuple(places), signed=False)


@attrs.frozen(eq=False)
class ScaledEdges:
    """Edge vectors that are made a piece at a time, see `mechanisms.Vectors`.

    scaling: of these features.  places: which, None for all.  signed: by the labels.
    """

    sample: RadoSample = attrs.field(repr=False)
    scaling: Scaling = attrs.field(repr=False)
    places: tuple[int, ...] | None = None
    signed: bool = True

    @property
    def records(self) -> int:
        """How many there are here."""
        return self.sample.records

    @property
    def features(self) -> int:
        """d, public."""
        return int(self.scaling.centre.size)

    def piece(self, start: int, stop: int) -> FloatArray:
        """See `mechanisms.Vectors`: rows one after another in memory, made for whoever asks."""
        values = self.sample.features[start:stop]
        if self.places is not None:
            values = values[:, self.places]
        edges = np.ascontiguousarray(self.scaling.apply(values))
        if self.signed:
            edges *= self.sample.labels[start:stop, None]
        return edges

    def all(self) -> EdgeVectors:
        """All of them at once, in memory."""
        return EdgeVectors.given(self.piece(0, self.records))


@attrs.frozen(eq=False, repr=False)
class RadoTable(SealedRepr):
    """Records to build rados from. All but the records is public.

    rows: them, in blocks.  coding: of their table, of d features.  classes: of their labels.
    names: of the columns of the table that they come from, None where it had none.
    """

    rows: Rows[RadoSample]
    coding: Coding
    classes: tuple[object, ...] = (0, 1)
    names: tuple[str, ...] | None = None

    @staticmethod
    def of(features: FloatArray, labels: SignArray, coding: Coding) -> "RadoTable":
        """Of records in memory, in one block."""
        return RadoTable(MemoryRows.of(RadoSample(features, labels), labels.size), coding)

    def __attrs_post_init__(self) -> None:
        sample = one_block(self.rows)  # elsewhere that would be a visit; sums of another width are refused
        if sample is not None:
            _refuse_other_width(sample, self.coding.features)

    @property
    def records(self) -> int:
        """m, public."""
        return self.rows.n

    @property
    def named(self) -> bool:
        """Whether the table that they come from named its columns."""
        return self.names is not None

    def edges(self, scaling: Scaling, places: Sequence[int] | None = None) -> Rows[Vectors]:
        """yᵢ·xᵢ, x after scaling; of some of the features, in this order."""
        return self.rows.map(lambda sample: sample.edges(scaling, places))

    def points(self, places: Sequence[int]) -> Rows[Vectors]:
        """Some of the features as they are, without labels."""
        return self.rows.map(lambda sample: sample.points(places))

    def labels(self) -> int:
        """Σ yᵢ; a visit, and as private as they are."""
        return int(self.rows.total(_labels)[0])

    def sample(self) -> RadoSample | None:
        """All records, where they are in one place; see `one_block`."""
        return one_block(self.rows)


def _labels(block: Block[RadoSample]) -> npt.NDArray[np.int64]:
    return np.sum(block.data.labels, dtype=np.int64).reshape(1)


def check_blocks(table: RadoTable) -> RadoTable:
    """The table. Raises ValueError where a block is not of its features, or not of the size that it says; a visit."""
    width = table.coding.features

    def checked(block: Block[RadoSample]) -> npt.NDArray[np.int64]:
        _refuse_other_width(block.data, width)
        block.refuse_other_size(block.data.records)
        return np.zeros(1, dtype=np.int64)

    table.rows.total(checked)
    return table


def _refuse_other_width(sample: RadoSample, width: int) -> None:
    if sample.features.shape[1] != width:
        raise ValueError(f"expected {width} features of each record, got shape {sample.features.shape}")


@attrs.frozen
class RadoReader:
    """What becomes of a block of a table. coding: public.  classes: of labels.  reader: who asks, for messages."""

    coding: Coding = attrs.field(eq=False)
    classes: tuple[object, ...]
    reader: str

    not_in_sql: ClassVar[str] = (
        "whether a rado sums a record is a coin drawn for the record's number, by a generator of 128-bit products; a "
        "table in a database has no order by which records have numbers, and SQL no such products"
    )

    def __call__(self, part: TableBlock) -> RadoSample:
        """Raises as `coded_rows` says."""
        features, labels = self.coding.encode(part.table, self.reader), signs(part.labels, self.classes)
        refuse_other_number(len(features), labels.size)
        return RadoSample(features, labels)


def coded_rows(
    rows: Rows[TableBlock], coding: Coding, classes: tuple[object, ...], names: Sequence[str] | None, reader: str
) -> RadoTable:
    """Records as they came, coded once, checked, and kept where they are.

    names: of their table's columns.  reader: who asks, for messages. Raises as `Coding.encode` and `signs` do, and
    ValueError where there are not as many labels as records.
    """
    read = RadoReader(coding, classes, reader)
    return RadoTable(rows.map(read).kept(), coding, classes, None if names is None else tuple(names))
