"""Blocks of a table as records of a regression."""

import attrs

from accountant.arrays import FloatArray
from learners.blocks import TableBlock
from learners.encoding import Layout
from learners.regression.regression_records import RegressionSample
from learners.tables import bounded_labels, narrow_codes, refuse_other_number


@attrs.frozen
class NumberLabels:
    """`bounded_labels` within these bounds."""

    bounds: tuple[float, float]

    def __call__(self, y: object) -> FloatArray:
        """Shape (n,). Raises ValueError."""
        return bounded_labels(y, self.bounds)


@attrs.frozen
class RegressionReader:
    """What becomes of a block of a table. reader: who reads it, for messages."""

    layout: Layout = attrs.field(eq=False)
    coded: NumberLabels
    reader: str

    def __call__(self, part: TableBlock) -> RegressionSample:
        """Its records. Raises OutsideSchema, ValueError."""
        codes = narrow_codes(part.table, self.layout.schema, reader=self.reader)
        labels = self.coded(part.labels)
        refuse_other_number(codes.shape[1], labels.size)
        return RegressionSample(self.layout.schema, codes, labels)
