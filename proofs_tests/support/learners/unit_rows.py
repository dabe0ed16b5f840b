"""Small data sets of unit-length features, one record of which can be replaced."""

from collections.abc import Iterator

import attrs
import numpy as np

from accountant.arrays import FloatArray
from mechanisms.core.rows import added
from mechanisms.gradients.feature_queries import Summand, unit_rows


def random_rows(rng: np.random.Generator, records: int, width: int) -> FloatArray:
    """Rows of length about 1, some shorter, cut for so many records."""
    return unit_rows(rng.standard_normal((records, width)) * rng.uniform(0.1, 3.0, (records, 1)), records)


@attrs.frozen
class Rows:
    """Feature vectors and targets, as the queries take them; two blocks where there are two records."""

    rows: FloatArray
    targets: FloatArray

    @property
    def records(self) -> int:
        """m."""
        return int(self.targets.size)

    @property
    def width(self) -> int:
        """D."""
        return int(self.rows.shape[1])

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """See `UnitRows`."""
        middle = self.records // 2
        for part in (slice(0, middle), slice(middle, None)):
            if self.targets[part].size:
                yield self.rows[part], self.targets[part]

    def sums(self, summand: Summand) -> FloatArray:
        """See `UnitRows`."""
        return added(summand(rows, targets) for rows, targets in self.blocks())

    def replaced(self, index: int, row: FloatArray, target: float) -> "Rows":
        """A neighbour."""
        rows, targets = self.rows.copy(), self.targets.copy()
        rows[index], targets[index] = unit_rows(row[None, :].copy(), self.records)[0], target
        return Rows(rows, targets)


@attrs.frozen
class Found:
    """Coefficients that somebody found."""

    values: FloatArray

    @property
    def width(self) -> int:
        """D."""
        return int(self.values.size)

    def coefficients(self) -> FloatArray:
        """Shape (D,)."""
        return self.values
