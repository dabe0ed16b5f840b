"""Random feature models: labelled records, the public way from a record to its features, and what a fit keeps."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, cast

import attrs
import numpy as np

from accountant._numbers import positive
from boosting.measures import FloatArray
from learners.coding import Coding, Scaling
from learners.parameters import public_interval
from learners.random_feature_maps import RandomFeatureMap, Reference
from mechanisms.feature_queries import unit_rows
from mechanisms.queries import row_lengths

FARTHEST: Final = 2.0**60
"""Inputs beyond are moved there, so that no angle overflows."""

CENTRED: Final = 0.75
"""How much of their public mean features lose. What stays lets the noisy mean of the labels be corrected."""

SHORTEST: Final = 2.0**-20
"""Centred features that are shorter are divided by this, and so stay shorter than 1."""

STEP: Final = 4096
"""Records whose features are made at a time."""

KEPT: Final = 2**26
"""Numbers, half a GiB, up to which features are kept from one pass to the next; beyond they are made anew."""


@attrs.frozen(eq=False)
class FeatureSample:
    """Records as numbers, with labels in units of their public bounds.

    points: shape (m, d), finite.  targets: shape (m,), in [−1, 1]; −1 stands for the lower bound.
    Raises ValueError for anything else.
    """

    points: FloatArray = attrs.field(repr=False)
    targets: FloatArray = attrs.field(repr=False)
    coding: Coding
    bounds: tuple[float, float]

    def __attrs_post_init__(self) -> None:
        if self.points.shape != (self.targets.size, self.coding.features) or self.targets.ndim != 1:
            raise ValueError(
                f"expected {self.coding.features} numbers of each record, got shape {self.points.shape} for "
                f"{self.targets.size} labels"
            )
        if not np.all(np.isfinite(self.points)) or not np.all(np.abs(self.targets) <= 1.0):
            raise ValueError("expected finite points and targets within [-1, 1]")

    @property
    def records(self) -> int:
        """m, public."""
        return int(self.targets.size)


@attrs.frozen(slots=False, eq=False)
class PublicFeatures:
    """From coded inputs to rows of length at most 1: scaled, mapped, centred. Public or released.

    reference: the public law under which features are centred, and then brought to length 1; None leaves them as they
    are. Centring takes away what all records share, which carries noise and says little. [004-centring]
    """

    map: RandomFeatureMap
    scaling: Scaling
    reference: Reference | None = None

    def __attrs_post_init__(self) -> None:
        if self.scaling.centre.size != self.map.inputs:
            raise ValueError(f"expected {self.map.inputs} centres and scales, got {self.scaling.centre.size}")

    @cached_property
    def _shift(self) -> FloatArray | None:
        """What is taken off, shape (D,)."""
        return None if self.reference is None else CENTRED * self.map.mean(self.reference)

    def rows(self, points: FloatArray, records: int = 1) -> FloatArray:
        """Shape (n, D), for sums of so many records. points: shape (n, d)."""
        features = self.map.features(self._scaled(points))
        if self._shift is not None:
            features -= self._shift
            features /= np.maximum(row_lengths(features), SHORTEST)[:, None]
        return unit_rows(features, records)

    def imaginary(self, points: FloatArray) -> FloatArray:
        """Of a complex model, see `RandomFeatureMap.imaginary`."""
        return self.map.imaginary(self._scaled(points))

    def _scaled(self, points: FloatArray) -> FloatArray:
        return np.clip(self.scaling.apply(points), -FARTHEST, FARTHEST)


@attrs.frozen(slots=False, eq=False)
class FeatureTable:
    """A sample's features, as sums need them; `targets` in whatever unit the sums are about."""

    features: PublicFeatures
    points: FloatArray = attrs.field(repr=False)
    targets: FloatArray = attrs.field(repr=False)

    @property
    def records(self) -> int:
        """m, public."""
        return int(self.targets.size)

    @property
    def width(self) -> int:
        """D."""
        return self.features.map.width

    @cached_property
    def _kept(self) -> list[FloatArray]:
        return list(self._made())

    def _made(self) -> Iterator[FloatArray]:
        for start in range(0, self.records, STEP):
            yield self.features.rows(self.points[start : start + STEP], self.records)

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Rows of length at most 1, shape (k, D), and their targets, shape (k,), of one block after the other."""
        made = self._kept if self.records * self.width <= KEPT else self._made()
        for start, rows in zip(range(0, self.records, STEP), made, strict=True):
            yield rows, self.targets[start : start + STEP]


@attrs.frozen(eq=False)
class Fit:
    """What a solver finds: targets are about centre + scale·(coefficients·row). All of it released or public.

    coefficients: shape (D,).  centre, scale: in units of the labels' bounds.
    """

    features: PublicFeatures
    coefficients: FloatArray = attrs.field(repr=False)
    centre: float = 0.0
    scale: float = 1.0

    def targets(self, points: FloatArray) -> FloatArray:
        """Predicted targets, shape (n,), not kept within [−1, 1]. points: shape (n, d)."""
        found = np.empty(len(points))
        for start in range(0, len(points), STEP):
            part = slice(start, start + STEP)
            found[part] = self.features.rows(points[part]) @ self.coefficients
        return self.centre + self.scale * found


@attrs.frozen(eq=False)
class RandomFeatureModel:
    """A function of coded inputs, linear in random features. All of it is released or public.

    bounds: public, of the labels; predictions stay within them.  solver: that found it, as saved.
    """

    fit: Fit
    coding: Coding
    bounds: tuple[float, float] = attrs.field(converter=public_interval)
    solver: Mapping[str, object]

    def __attrs_post_init__(self) -> None:
        fit = self.fit
        if self.coding.features != fit.features.map.inputs:
            raise ValueError(f"the map takes {fit.features.map.inputs} numbers, the coding has {self.coding.features}")
        if fit.coefficients.shape != (fit.features.map.width,) or not np.all(np.isfinite(fit.coefficients)):
            raise ValueError(f"expected {fit.features.map.width} finite coefficients, got {fit.coefficients.shape}")

    @property
    def schema(self) -> object:
        """The public domain, None where columns are taken as they are."""
        return self.coding.schema

    def targets(self, points: FloatArray) -> FloatArray:
        """In [−1, 1], shape (n,). points: coded inputs, shape (n, d)."""
        return np.clip(self.fit.targets(points), -1.0, 1.0)

    def labels(self, points: FloatArray) -> FloatArray:
        """In the labels' unit, within their bounds, shape (n,)."""
        lower, upper = self.bounds
        return np.clip(lower + (upper - lower) * 0.5 * (1.0 + self.targets(points)), lower, upper)

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        features = self.fit.features
        return {
            "coefficients": self.fit.coefficients.tolist(),
            "target_centre": self.fit.centre,
            "target_scale": self.fit.scale,
            "map": features.map.as_record(),
            "centre": features.scaling.centre.tolist(),
            "scale": features.scaling.scale.tolist(),
            "reference": features.reference,
            "coding": self.coding.as_record(),
            "bounds": list(self.bounds),
            "solver": dict(self.solver),
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "RandomFeatureModel":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        reference = record["reference"]
        if reference is not None and reference not in ("normal", "cube"):
            raise ValueError(f"reference: expected null, 'normal' or 'cube', got {reference!r}")
        features = PublicFeatures(
            RandomFeatureMap.from_record(cast("Mapping[str, object]", record["map"])),
            Scaling(cast("Sequence[float]", record["centre"]), cast("Sequence[float]", record["scale"])),
            reference,
        )
        centre = float(cast("float", record["target_centre"]))
        if not np.isfinite(centre):
            raise ValueError(f"target_centre: expected a finite number, got {centre!r}")
        coefficients = np.array(record["coefficients"], dtype=np.float64)
        fit = Fit(features, coefficients, centre, positive(cast("float", record["target_scale"])))
        coding = Coding.from_record(cast("Mapping[str, object]", record["coding"]))
        bounds = cast("Sequence[float]", record["bounds"])
        return RandomFeatureModel(fit, coding, bounds, dict(cast("Mapping[str, object]", record["solver"])))
