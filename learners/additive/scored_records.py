"""The records' side of the additive booster: their scores, the cells of a round, and what is counted.

Records are in memory or in blocks somewhere else, see `mechanisms.core.rows`; what is summed over them is whole
numbers, so releases are the same, bit by bit, however they are stored. [exact-rows]
"""

from collections.abc import Sequence
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import IntArray
from learners.additive.additive_model import AdditiveModel
from learners.additive.grids import parted, widest
from learners.additive.views import View
from learners.base import BinnedRows, ScoreBins
from learners.encoding import EncodedRows, EncodedSample
from mechanisms.core import Rows
from mechanisms.gradients import LookUp, Move, ScoredRows
from mechanisms.queries import HistogramRows, Partitions

Records: TypeAlias = EncodedSample | EncodedRows
"""What a fit learns from: in memory, or in blocks."""


def in_rows(records: Records) -> Rows[EncodedSample]:
    """The records, wherever they are."""
    return (EncodedRows.of(records) if isinstance(records, EncodedSample) else records).rows


def has_weights(records: Records) -> bool:
    """Whether records have weights, in all blocks or in none."""
    return records.weights is not None if isinstance(records, EncodedSample) else records.weighted


@attrs.frozen(eq=False)
class Scored:
    """Protected records with the scores that released tables give them.

    shape: of a record's scores: () for two classes, (K,) for more.  moves: by released tables, from 0 on.
    """

    rows: Rows[EncodedSample]
    weighted: bool
    shape: tuple[int, ...]
    moves: tuple[Move, ...] = ()

    @staticmethod
    def start(records: Records, classes: int) -> "Scored":
        """All scores 0."""
        return Scored(in_rows(records), has_weights(records), () if classes == 2 else (classes,))

    def moved(self, view: View, change: npt.NDArray[np.int32]) -> "Scored":
        """After a change of one view's table, shape (cells,) or (cells, K)."""
        return attrs.evolve(self, moves=(*self.moves, Move(look_up(view, change))))

    def binned(self, view: View, part: IntArray) -> ScoredRows:
        """Its records in the bins of a view. part: the bin of each cell."""
        number = int(part.max()) + 1
        return ScoredRows(self.rows, self.moves, self.shape, look_up(view, part), number, self.weighted)


def look_up(view: View, table: npt.NDArray[np.int32] | IntArray) -> LookUp:
    """What a table by a view's cells, shape (cells, …), has for records. Tables are small and records many: of one
    column, its map is applied to the table."""
    whole = table.astype(np.int32)
    if len(view.columns) == 1:
        return LookUp(view.columns, np.ascontiguousarray(whole[view.maps[0]]))
    (first, second), (_, width) = view.maps, view.shape
    places = (first * width).astype(np.int32), second.astype(np.int32)
    return LookUp(view.columns, np.ascontiguousarray(whole), places)


def partitioned(records: Records, columns: Sequence[int], parts: Sequence[IntArray]) -> HistogramRows:
    """What a histogram before the first round is taken of; see `parted`."""
    return HistogramRows(in_rows(records), Partitioned(tuple(columns), tuple(parts)), len(parts), widest(parts))


@attrs.frozen(eq=False)
class Partitioned:
    """Records of weight above 0 in the cells of some columns. columns, parts: see `learners.additive.grids.parted`."""

    columns: tuple[int, ...]
    parts: tuple[IntArray, ...]

    def __call__(self, sample: EncodedSample) -> Partitions:
        """See above."""
        return parted(sample.weighted().codes, self.columns, self.parts)


def score_bins(records: Records, model: AdditiveModel, edges: tuple[float, ...]) -> BinnedRows[EncodedSample]:
    """What a calibration counts. edges: inner cut points of the model's scores, rising."""
    return BinnedRows(in_rows(records), ScoreBinning(model, edges))


@attrs.frozen(eq=False)
class ScoreBinning:
    """Records of weight above 0 in the bins of a model's scores."""

    model: AdditiveModel
    edges: tuple[float, ...]

    def __call__(self, sample: EncodedSample) -> ScoreBins:
        """See above."""
        there = sample.weighted()
        return ScoreBins.of(self.model.scores(there.codes), there.labels, self.edges)
