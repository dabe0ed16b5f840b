"""A halfspace as it is kept, with the public numbers of the run that found it."""

import math
from collections.abc import Mapping
from typing import cast

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import count, fraction, non_negative, positive
from boosting.theory import SampleSize
from learners.base import BoostingSettings
from learners.encoding import row_products


@attrs.frozen
class HalfspaceRun:
    """scale: σ.  outside: the noisy number of points outside the ball, if it was asked for.  promise: if one was."""

    settings: BoostingSettings
    scale: float = attrs.field(converter=positive)
    outside: float | None = None
    promise: SampleSize | None = None

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "HalfspaceRun":
        """The inverse of `attrs.asdict`. Raises ValueError, KeyError or TypeError for anything else."""
        settings, outside = cast("Mapping[str, float]", record["settings"]), cast("float | None", record["outside"])
        promise = cast("Mapping[str, float] | None", record["promise"])
        return HalfspaceRun(
            BoostingSettings(
                count(cast("int", settings["rounds"])),
                positive(settings["learning_rate"]),
                fraction(settings["density"]),
            ),
            cast("float", record["scale"]),
            None if outside is None else _finite(outside),
            None if promise is None else _promise(promise),
        )


def _finite(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value!r}")
    return float(value)


def _promise(record: Mapping[str, float]) -> SampleSize:
    fat = record["fat_shattering"]
    return SampleSize(
        positive(record["sigma"]),
        count(cast("int", record["rounds"])),
        fraction(record["advantage"]),
        non_negative(record["margin"]),
        None if fat is None else non_negative(fat),
        count(cast("int", record["privacy"])),
        count(cast("int", record["generalisation"])),
        int(non_negative(record["label_noise"])),
    )


@attrs.frozen(eq=False)
class HalfspaceModel:
    """sign(normal·x + intercept). normal: shape (d,); its length, and the intercept over the radius, are 1 together.

    names: of the columns that it was learnt from, if they had any.
    """

    normal: FloatArray
    intercept: float
    run: HalfspaceRun
    names: tuple[str, ...] | None = None

    def scores(self, points: FloatArray) -> FloatArray:
        """normal·x + intercept, shape (n,), each of its own point alone. points: shape (n, d). [records-alone]"""
        return row_products(points, self.normal) + self.intercept

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "normal": self.normal.tolist(),
            "intercept": self.intercept,
            "run": attrs.asdict(self.run),
            "names": self.names,
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "HalfspaceModel":
        """The inverse of `as_record`. Raises ValueError, KeyError or TypeError."""
        coefficients = record["normal"]
        if not isinstance(coefficients, list) or not coefficients:
            raise ValueError("expected at least one coefficient, in a list")
        names = record["names"]
        if names is not None and (not isinstance(names, list | tuple) or len(names) != len(coefficients)):
            raise ValueError(f"expected {len(coefficients)} names, one for each coefficient")
        return HalfspaceModel(
            np.array([_finite(each) for each in coefficients]),
            _finite(cast("float", record["intercept"])),
            HalfspaceRun.from_record(cast("Mapping[str, object]", record["run"])),
            None if names is None else tuple(str(name) for name in names),
        )
