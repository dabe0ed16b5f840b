"""What each release looks at, as a function of some records, in memory or in blocks.

Types and no closures: they can be sent to workers, and a database, where records stay, tells them apart by their types.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, cast

import attrs
import numpy as np

from accountant import Protected
from accountant.arrays import IntArray
from learners.regression.label_scale import SCALES, SIDE, distances, signed_distances
from learners.regression.regression_losses import Loss, whole_targets
from learners.regression.regression_records import (
    Moment,
    Placed,
    RegressionRows,
    RegressionSample,
    ScoreFeatures,
    in_clips,
)
from learners.regression.smooth_basis import CONSTANT, Basis
from mechanisms.core import Rows, SealedRepr
from mechanisms.gradients import RESIDUAL_ONE, CellFeatures, ResidualRows, Residuals, whole_features
from mechanisms.queries import HistogramRows, Histograms, Partitions

# --- of records as they were given ---------------------------------------------------------------------------


@attrs.frozen
class Everywhere:
    """The weight of records."""

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """See `CellFeatures`."""
        return (whole_features(CONSTANT.values),)

    def __call__(self, sample: RegressionSample) -> Moment:
        """See above."""
        return _nowhere(sample, np.full(sample.n, RESIDUAL_ONE))


@attrs.frozen
class LabelPull(Everywhere):
    """Labels around a centre, clipped; in units of their bounds."""

    centre: float
    clip: float

    def __call__(self, sample: RegressionSample) -> Moment:
        """See above."""
        return _nowhere(sample, in_clips(sample.labels - self.centre, self.clip))


def _nowhere(sample: RegressionSample, pulls: IntArray) -> Moment:
    nowhere = np.zeros(sample.n, dtype=np.intp)
    return Moment(pulls, [CellFeatures(nowhere, whole_features(CONSTANT.values))], sample.weights)


@attrs.frozen
class LabelDistance:
    """How far labels are from a centre. largest: see `distances`."""

    centre: float
    largest: float
    number = SCALES

    def __call__(self, sample: RegressionSample) -> Partitions:
        """See above."""
        return distances(sample.labels - self.centre, self.largest)


@attrs.frozen
class ColumnCodes:
    """The codes of all columns. number: of cells."""

    number: int

    def __call__(self, sample: RegressionSample) -> Partitions:
        """See above."""
        return Partitions(list(sample.codes), self.number)


# --- of records in the cells of bases ------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Placing:
    """Records in the cells of bases, with targets: labels less the centre, over the scale."""

    seen: tuple[Basis, ...]
    centre: float
    scale: float

    def __call__(self, sample: RegressionSample) -> Placed:
        """See above."""
        targets = whole_targets(sample.labels, self.centre, self.scale)
        return Placed(targets, [each.cells(sample.codes) for each in self.seen], sample.weights)


@attrs.frozen(eq=False)
class Pull:
    """What a round releases sums of. scores: a whole table for each basis.  clip: in units of the labels' scale.

    tables: features of each basis.
    """

    scores: tuple[IntArray, ...]
    loss: Loss
    clip: float
    tables: tuple[IntArray, ...]

    def __call__(self, placed: Placed) -> Moment:
        """See above."""
        return placed.moment(list(self.scores), self.loss, self.clip, list(self.tables))


@attrs.frozen(eq=False)
class ScorePull:
    """Features of the scores, summed; with a clip, times residuals."""

    scores: tuple[IntArray, ...]
    loss: Loss
    clip: float | None
    features: ScoreFeatures

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """See `CellFeatures`."""
        return (self.features.table,)

    def __call__(self, placed: Placed) -> Moment:
        """See above."""
        if self.clip is None:
            return placed.score_moment(list(self.scores), self.features)
        return placed.residual_moment(list(self.scores), self.loss, self.clip, self.features)


@attrs.frozen(eq=False)
class ResidualDistance:
    """How far residuals go. signed: over their deviations' shape, in finer cells on either side."""

    scores: tuple[IntArray, ...]
    loss: Loss
    largest: float
    signed: bool = False

    @property
    def number(self) -> int:
        """Of cells."""
        return 2 * SIDE if self.signed else SCALES

    def __call__(self, placed: Placed) -> Partitions:
        """See above."""
        found = placed.residuals(list(self.scores), self.loss, spread=self.signed)
        return (signed_distances if self.signed else distances)(found, self.largest)


PlacedView: TypeAlias = Pull | ScorePull | ResidualDistance


@attrs.frozen(eq=False)
class After:
    """A view of records once they are placed."""

    placing: Placing
    view: PlacedView

    def __call__(self, sample: RegressionSample) -> Any:
        """See above."""
        return self.view(self.placing(sample))


@attrs.frozen(eq=False, repr=False)
class PlacedRows(SealedRepr):
    """`Placed` of records in blocks."""

    rows: Rows[RegressionSample]
    placing: Placing


Records: TypeAlias = RegressionSample | RegressionRows
InCells: TypeAlias = Placed | PlacedRows


def placed(sample: Protected[Records], placing: Placing) -> Protected[InCells]:
    """The records in cells; those in blocks, whenever they are visited."""

    def found(records: Records) -> InCells:
        return PlacedRows(records.rows, placing) if isinstance(records, RegressionRows) else placing(records)

    return sample.map(found)


class MomentView(Protocol):
    """Of records, or of placed ones."""

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """See `CellFeatures`."""

    def __call__(self, records: Any, /) -> Moment:
        """See above."""


class CellView(Protocol):
    """Of records, or of placed ones."""

    @property
    def number(self) -> int:
        """Of cells."""

    def __call__(self, records: Any, /) -> Partitions:
        """See above."""


def moments(data: "Protected[Records] | Protected[InCells]", view: MomentView) -> Protected[Residuals | ResidualRows]:
    """What a view sees."""

    def found(records: object) -> Residuals | ResidualRows:
        if isinstance(records, RegressionRows | PlacedRows):
            return ResidualRows(records.rows, _of_rows(records, view), view.tables)
        return view(records)

    return data.map(found)


def histograms(
    data: "Protected[Records] | Protected[InCells]", view: CellView, size: int = 1
) -> Protected[Histograms | HistogramRows]:
    """What a view sees. size: of partitions."""

    def found(records: object) -> Histograms | HistogramRows:
        if isinstance(records, RegressionRows | PlacedRows):
            return HistogramRows(records.rows, _of_rows(records, view), size, view.number)
        return view(records)

    return data.map(found)


def _of_rows(records: RegressionRows | PlacedRows, view: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return After(records.placing, cast("PlacedView", view)) if isinstance(records, PlacedRows) else view
