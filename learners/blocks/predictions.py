"""Predictions on tables larger than memory, one block after another; free of charge, as all post-processing.

Each record is answered by itself [records-alone], so what comes out is what the table would give in memory.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from learners.blocks.block_tables import AnyTable, in_blocks
from learners.tables import Table

Predictions = npt.NDArray[np.generic]


class PartedTable(Protocol):
    """A table in blocks, as whoever asks a model about it sees it: without labels."""

    def each_block(self, work: Callable[[Table], Predictions]) -> Iterator[Predictions]:
        """What `work` makes of each block, in the order of their records; blocks are looked at when asked for."""


def predict_in_blocks(model: object, table: AnyTable, method: str = "predict") -> Iterator[Predictions]:
    """What a fitted model says of each block of a table, in order; `np.concatenate(list(...))` has all of it.

    model: any learner of ours or scikit-learn's.  table: as `fit` takes it; of a table in memory all at once. A column
    of labels is left aside, as every other that the model's `Schema` does not name. With Dask blocks are asked about
    where they are, a few at a time, which needs the same versions there.
    method: "predict", "predict_proba", "decision_function", or another that takes a table and gives an array with a row
    for each record.
    Raises AttributeError for a method that the model lacks, and what that raises, with a note on the block's place.

    >>> import numpy as np
    >>> from learners import MappedTable, PrivateBoostClassifier, predict_in_blocks
    >>> X = np.random.default_rng(0).integers(0, 2, size=(2000, 5))
    >>> model = PrivateBoostClassifier(1.0, 1e-6, random_state=0).fit(X, X[:, 2])
    >>> [part.shape for part in predict_in_blocks(model, MappedTable(X, block=900), "predict_proba")]
    [(900, 2), (900, 2), (200, 2)]
    """
    work = cast("Callable[[Table], Predictions]", getattr(model, method))
    found = in_blocks(table)
    if found is None:
        return iter((work(cast("Table", table)),))
    return cast("PartedTable", found).each_block(work)
