"""What an additive regression keeps: effects of columns and pairs, in the labels' unit or as logarithms of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, cast

import attrs
import numpy as np
from scipy.special import exp2

from accountant.arrays import CodeArray, FloatArray
from accountant.costs import positive
from learners.additive import AdditiveModel, Curve, Term
from learners.base import public_interval
from learners.regression.descent import Descent
from learners.regression.label_place import LabelPlace
from learners.regression.label_scale import SIDE, fine_edges
from learners.regression.regression_design import RegressionDesign
from learners.regression.regression_losses import LOSSES, MOST_LOG_RATE, TARGET_ONE, loss_name
from learners.tables import Schema

NOISE_ALLOWED: Final = 0.5
"""Deviations of noise that are added to a count of residuals beyond a place: intervals are rather too wide."""


@attrs.frozen
class ResidualHistogram:
    """A released histogram of residuals: negative ones in falling order of distance, then the others in rising order.

    largest: beyond which nothing is told apart, in the unit of `RegressionModel.scale`.  counts: noisy.  sigma: noise.
    """

    largest: float = attrs.field(converter=positive)
    counts: tuple[float, ...] = attrs.field(converter=tuple[float, ...])
    sigma: float = attrs.field(converter=positive)

    def __attrs_post_init__(self) -> None:
        if len(self.counts) != 2 * SIDE or not np.all(np.isfinite(self.counts)):
            raise ValueError(f"expected {2 * SIDE} finite counts, got {self.counts}")

    def within(self, coverage: float) -> tuple[float, float]:
        """Residuals that so large a share lies between, with as many on either side; ∓∞ where noise hides it."""
        counts, sides = np.array(self.counts), []
        most = 0.5 * (1.0 - coverage) * max(float(counts.sum()), self.sigma)
        for side in (counts[:SIDE], counts[SIDE:][::-1]):
            # Beyond a cell's upper end are the cells before it, the farthest first.
            beyond = np.concatenate([[0.0], np.cumsum(side)[:-1]])
            unsure = NOISE_ALLOWED * self.sigma * np.sqrt(np.arange(SIDE))
            fits = np.flatnonzero(beyond + unsure <= most)
            sides.append(fine_edges(self.largest)[::-1][int(fits[-1])] if fits.size and fits[-1] > 0 else math.inf)
        return -sides[0], sides[1]

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"largest": self.largest, "counts": list(self.counts), "sigma": self.sigma}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "ResidualHistogram":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        counts = [float(each) for each in cast("Sequence[float]", record["counts"])]
        return ResidualHistogram(cast("float", record["largest"]), counts, cast("float", record["sigma"]))


@attrs.frozen(eq=False)
class RegressionModel:
    """Label = intercept + Σ effects, or its logarithm. All of it is released or public.

    bounds: public, of the labels; predictions stay within them.  loss: its name.
    scale: of the labels, the unit of residuals.  residuals: if they were paid for.
    """

    additive: AdditiveModel
    bounds: tuple[float, float] = attrs.field(converter=public_interval)
    loss: str = attrs.field(converter=loss_name)
    scale: float = attrs.field(converter=positive)
    residuals: ResidualHistogram | None = None

    @property
    def schema(self) -> Schema:
        """The public domain."""
        return self.additive.schema

    def labels(self, codes: CodeArray) -> FloatArray:
        """Predictions, shape (n,), each of its own record alone. codes: shape (columns, n). [records-alone]"""
        return np.clip(self._unbounded(codes), *self.bounds)

    def _unbounded(self, codes: CodeArray) -> FloatArray:
        scores = self.additive.scores(codes)
        if not self.log:
            return scores
        # scipy takes powers value by value, see `softmax`.
        return np.asarray(exp2(np.minimum(scores, self.most_score) / math.log(2.0)))

    @property
    def log(self) -> bool:
        """Whether scores are logarithms of labels."""
        return LOSSES[self.loss].log

    @property
    def most_score(self) -> float:
        """Where they are, those beyond count as it."""
        return MOST_LOG_RATE / TARGET_ONE + math.log(self.scale)

    def intervals(self, codes: CodeArray, coverage: float) -> FloatArray:
        """Lower and upper ends within the bounds, shape (n, 2). Raises ValueError where they were not paid for."""
        if self.residuals is None:
            raise ValueError("intervals: this fit released no histogram of residuals; fit with intervals=0.05")
        lower, upper = self.residuals.within(coverage)
        middle = self._unbounded(codes)
        unit = np.sqrt(middle / self.scale) * self.scale if LOSSES[self.loss].log else self.scale
        ends = np.stack([middle + unit * lower, middle + unit * upper], axis=1)
        return np.clip(ends, *self.bounds)

    def curves(self) -> list[Curve]:
        """Columns and pairs, the most influential first."""
        return self.additive.curves()

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        residuals = None if self.residuals is None else self.residuals.as_record()
        kept = {"bounds": list(self.bounds), "loss": self.loss, "scale": self.scale, "residuals": residuals}
        return {"additive": self.additive.as_record(), **kept}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "RegressionModel":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        additive = AdditiveModel.from_record(cast("Mapping[str, object]", record["additive"]))
        if additive.intercept.ndim:
            raise ValueError("a regression has one score, and no classes")
        kept = cast("Mapping[str, object] | None", record["residuals"])
        return RegressionModel(
            additive,
            cast("tuple[float, float]", record["bounds"]),
            cast("str", record["loss"]),
            cast("float", record["scale"]),
            None if kept is None else ResidualHistogram.from_record(kept),
        )


def model_of(
    design: RegressionDesign, descent: Descent, place: LabelPlace, residuals: ResidualHistogram | None
) -> RegressionModel:
    """What was learnt, in the labels' own unit."""
    lower, upper = design.bounds
    half = 0.5 * (upper - lower)
    scale, log = half * place.scale, design.rule.log
    tables = [table / TARGET_ONE * (1.0 if log else scale) for table in descent.tables()]
    start = math.log(scale) if log else lower + half * (1.0 + place.centre)
    terms = [
        Term(each.columns, each.maps, table.reshape(each.shape))
        for each, table in zip(descent.seen[1:], tables[1:], strict=True)
    ]
    additive = AdditiveModel(design.schema, np.asarray(start + float(tables[0][0])), terms)
    return RegressionModel(additive, design.bounds, design.loss, scale, residuals)
