"""A sample of which only the agreements y·h(x) matter: every hypothesis is a row of a table."""

import attrs
import numpy as np

from accountant.arrays import FloatArray, SignArray


@attrs.frozen(eq=False)
class Agreements:
    """table: y·h(x), ±1 or in [−1, 1], shape (hypotheses, n). All labels are +1."""

    table: SignArray | FloatArray

    @property
    def n(self) -> int:
        return int(self.table.shape[1])

    @property
    def labels(self) -> SignArray:
        return np.ones(self.n, dtype=np.int8)


@attrs.frozen
class Row:
    """The hypothesis of that row."""

    number: int

    def predictions(self, sample: Agreements) -> SignArray | FloatArray:
        return np.asarray(sample.table[self.number])
