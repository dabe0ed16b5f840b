"""Records as codes, in blocks: what boosted 1-Rules and trees learn from, wherever the records are."""

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from learners.blocks import TableBlock
from learners.encoding.encoder import EncodedSample, Layout, check_encoded
from learners.tables import Schema, coded_labels, narrow_codes, refuse_other_number
from mechanisms.core import Block, MemoryRows, Rows, SealedRepr


@attrs.frozen(eq=False, repr=False)
class EncodedRows(SealedRepr):
    """Records as codes.

    layout: public, the same for all blocks.  rows: the blocks.  weighted: whether records have weights, in all of them.
    """

    layout: Layout
    rows: Rows[EncodedSample]
    weighted: bool = False

    @property
    def n(self) -> int:
        """The number of records."""
        return self.rows.n

    @staticmethod
    def of(sample: EncodedSample) -> "EncodedRows":
        """A sample in memory, in one block."""
        return EncodedRows(sample.layout, MemoryRows.of(sample, sample.n), sample.weights is not None)


def encoded_rows(rows: Rows[TableBlock], schema: Schema, classes: Sequence[object], reader: str) -> EncodedRows:
    """The records of a table in blocks, encoded once and kept where they are.

    classes: two.  reader: who asks, for messages.
    Raises as `learners.tables.readers.encode` and `coded_labels` do.
    """
    layout, names = Layout(schema), tuple(classes)

    def encoded(part: TableBlock) -> EncodedSample:
        codes = narrow_codes(part.table, schema, reader=reader)
        labels = coded_labels(part.labels, names)
        refuse_other_number(codes.shape[1], labels.size)
        return EncodedSample(layout, codes, labels)

    return EncodedRows(layout, rows.map(encoded).kept())


def check_rows(sample: EncodedRows, classes: int) -> None:
    """`check_encoded` of all blocks; a visit. Raises ValueError also where a block says another layout."""
    sample.rows.total(RowCheck(sample.layout, sample.weighted, classes))


@attrs.frozen(eq=False)
class RowCheck:
    """`check_encoded` of a block, which must have this layout, and weights or none; its sum is 0."""

    layout: Layout
    weighted: bool
    classes: int

    def __call__(self, block: Block[EncodedSample]) -> npt.NDArray[np.int64]:
        """Raises ValueError."""
        if block.data.layout.schema != self.layout.schema:
            raise ValueError("the blocks are encoded by different schemas")
        block.refuse_other_size(block.data.n)
        if (block.data.weights is not None) != self.weighted:
            raise ValueError("either all blocks have weights, or none")
        check_encoded(block.data, self.classes)
        return np.zeros(1, dtype=np.int64)
