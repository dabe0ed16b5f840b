"""A halfspace as it is kept, with the public numbers of the run that found it."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

import attrs
import numpy as np

from accountant._numbers import positive
from boosting.measures import FloatArray
from boosting.sample_sizes import SampleSize
from learners.defaults import Settings


@attrs.frozen
class HalfspaceRun:
    """scale: σ.  outside: the noisy number of points outside the ball, if it was asked for.  promise: if one was."""

    settings: Settings
    scale: float = attrs.field(converter=positive)
    outside: float | None = None
    promise: SampleSize | None = None

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "HalfspaceRun":
        """The inverse of `attrs.asdict`. Raises ValueError, KeyError or TypeError."""
        promise = cast("Mapping[str, float] | None", record["promise"])
        return HalfspaceRun(
            Settings(**cast("dict[str, float]", record["settings"])),  # type: ignore[arg-type]  # rounds come as whole numbers
            cast("float", record["scale"]),
            None if record["outside"] is None else float(cast("float", record["outside"])),
            None if promise is None else SampleSize(**promise),  # type: ignore[arg-type]  # likewise
        )


@attrs.frozen(eq=False)
class HalfspaceModel:
    """sign(normal·x + intercept). normal: shape (d,); its length, and the intercept over the radius, are 1 together."""

    normal: FloatArray
    intercept: float
    run: HalfspaceRun

    def scores(self, points: FloatArray) -> FloatArray:
        """normal·x + intercept, shape (n,). points: shape (n, d)."""
        return np.asarray(points @ self.normal + self.intercept)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"normal": self.normal.tolist(), "intercept": self.intercept, "run": attrs.asdict(self.run)}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "HalfspaceModel":
        """The inverse of `as_record`. Raises ValueError, KeyError or TypeError."""
        normal = np.array([float(each) for each in cast("Sequence[float]", record["normal"])])
        intercept = float(cast("float", record["intercept"]))
        if not normal.size or not np.all(np.isfinite(normal)) or not math.isfinite(intercept):
            raise ValueError("expected at least one coefficient, and finite ones")
        return HalfspaceModel(normal, intercept, HalfspaceRun.from_record(cast("Mapping[str, object]", record["run"])))
