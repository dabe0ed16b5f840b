"""Records as codes, in blocks: what boosted 1-Rules and trees learn from, wherever the records are."""

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from learners.blocks import TableBlock
from learners.encoding.encoder import EncodedSample, Layout, check_encoded
from learners.tables import CodedLabels, Schema, narrow_codes, refuse_other_number
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


@attrs.frozen(eq=False)
class CodeReader:
    """What becomes of a block of a table. coded: of labels.  reader: who asks, for messages.

    not_in_sql: why what is done with the codes has no form in SQL, "" where it has.
    """

    layout: Layout
    coded: CodedLabels
    reader: str
    not_in_sql: str = ""

    def __call__(self, part: TableBlock) -> EncodedSample:
        """Its records. Raises as `encoded_rows` says."""
        codes = narrow_codes(part.table, self.layout.schema, reader=self.reader)
        labels = self.coded(part.labels)
        refuse_other_number(codes.shape[1], labels.size)
        return EncodedSample(self.layout, codes, labels)


def encoded_rows(
    rows: Rows[TableBlock], schema: Schema, classes: Sequence[object], reader: str, not_in_sql: str = ""
) -> EncodedRows:
    """The records of a table in blocks, encoded once and kept where they are.

    classes: two.  reader: who asks, for messages.  not_in_sql: see `CodeReader`.
    Raises as `learners.tables.readers.encode` and `coded_labels` do.
    """
    read = CodeReader(Layout(schema), CodedLabels(tuple(classes)), reader, not_in_sql)
    return EncodedRows(read.layout, rows.map(read).kept())


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
