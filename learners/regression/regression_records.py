"""Protected records of an additive regression: as they were given, and in the cells of bases with residuals."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, FloatArray, IntArray
from learners.regression.regression_losses import TARGET_ONE, Loss
from learners.tables import Schema
from mechanisms.core import Rows, SealedRepr
from mechanisms.gradients import RESIDUAL_ONE, CellFeatures


@attrs.frozen(eq=False, repr=False)
class RegressionSample(SealedRepr):
    """Records with numbers for labels.

    codes: shape (columns, n).  labels: in units of their public bounds, [−1, 1], shape (n,).
    weights: in 0 … WEIGHT_ONE, shape (n,); None weighs all alike.
    """

    schema: Schema
    codes: CodeArray
    labels: FloatArray
    weights: npt.NDArray[np.int32] | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.labels.size)

    def to_arrays(
        self,
    ) -> (
        "tuple[dict[str, npt.NDArray[np.generic]], Callable[[Mapping[str, npt.NDArray[np.generic]]], RegressionSample]]"
    ):
        """See `learners.blocks.files.Keepable`; without weights, as in blocks."""
        return {"codes": self.codes, "labels": self.labels}, partial(_again, self.schema)

    def weighted(self) -> "RegressionSample":
        """Without the records of weight 0, which must be as if they were not there: nothing may count them."""
        if self.weights is None or np.all(self.weights):
            return self
        there = np.flatnonzero(self.weights)
        return RegressionSample(self.schema, self.codes[:, there], self.labels[there], self.weights[there])


def _again(schema: Schema, arrays: Mapping[str, npt.NDArray[np.generic]]) -> RegressionSample:
    return RegressionSample(schema, cast("CodeArray", arrays["codes"]), cast("FloatArray", arrays["labels"]))


@attrs.frozen(eq=False, repr=False)
class RegressionRows(SealedRepr):
    """The same in blocks, wherever they are, without weights."""

    rows: Rows[RegressionSample]
    schema: Schema

    @property
    def n(self) -> int:
        """The number of records."""
        return self.rows.n


@attrs.frozen(eq=False, repr=False)
class Moment(SealedRepr):
    """Residuals and features; see `mechanisms.gradients.Residuals`."""

    residuals: IntArray
    features: list[CellFeatures]
    weights: npt.NDArray[np.int32] | None


@attrs.frozen(eq=False, repr=False)
class Placed(SealedRepr):
    """Protected records in the cells of bases. targets: whole, shape (n,).  cells: per basis, of each record."""

    targets: IntArray
    cells: list[IntArray]
    weights: npt.NDArray[np.int32] | None

    def scores(self, tables: list[IntArray]) -> IntArray:
        """Of whole tables, one per basis; shape (n,)."""
        total = np.zeros(self.targets.shape, dtype=np.int64)
        for cells, table in zip(self.cells, tables, strict=True):
            total += table.take(cells)
        return total

    def residuals(self, tables: list[IntArray], loss: Loss, spread: bool = False) -> FloatArray:
        """Target less what is expected, in units of the labels' scale; spread: over their deviation's shape."""
        scores = self.scores(tables)
        found = (self.targets - loss.expected(scores)) / TARGET_ONE
        return np.asarray(found / loss.spread(scores)) if spread else found

    def score_moment(self, tables: list[IntArray], features: "ScoreFeatures") -> Moment:
        """Features of the scores, summed."""
        return Moment(np.full(self.targets.shape, RESIDUAL_ONE), [features.of(self.scores(tables))], self.weights)

    def residual_moment(self, tables: list[IntArray], loss: Loss, clip: float, features: "ScoreFeatures") -> Moment:
        """The same times residuals. clip: in units of the labels' scale."""
        whole = in_clips(self.residuals(tables, loss), clip)
        return Moment(whole, [features.of(self.scores(tables))], self.weights)

    def moment(self, tables: list[IntArray], loss: Loss, clip: float, features: list[IntArray]) -> Moment:
        """What a round releases sums of. clip: in units of the labels' scale."""
        whole = in_clips(self.residuals(tables, loss), clip)
        placed = [CellFeatures(cells, table) for cells, table in zip(self.cells, features, strict=True)]
        return Moment(whole, placed, self.weights)


def in_clips(residuals: FloatArray, clip: float) -> IntArray:
    """Whole 1/RESIDUAL_ONE of the clip, clipped; each from its own residual alone."""
    places = np.clip(residuals / clip, -1.0, 1.0) * RESIDUAL_ONE
    return np.asarray(np.rint(places).astype(np.int64))


@attrs.frozen(eq=False)
class ScoreFeatures:
    """Public functions of a score, on bins of equal width from −reach to reach; scores beyond are in the last bins.

    reach: in whole units of scores.  table: whole features, shape (bins, k).
    """

    reach: int
    table: IntArray

    def of(self, scores: IntArray) -> CellFeatures:
        """Of each record, from its own score alone. scores: shape (n,)."""
        bins = len(self.table)
        inside = np.clip(scores + self.reach, 0, 2 * self.reach - 1)
        return CellFeatures(inside * bins // (2 * self.reach), self.table)
