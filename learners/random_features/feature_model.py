"""Random feature models: the public way from a record to its features, and what a fit keeps."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Final, cast

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import positive
from learners.base import public_interval
from learners.encoding import Coding, Scaling, row_products
from learners.random_features.feature_maps import RandomFeatureMap, Reference
from mechanisms.gradients import unit_rows

FARTHEST: Final = 2.0**60
"""Inputs beyond are moved there, so that no angle overflows."""

CENTRED: Final = 0.75
"""How much of their public mean features lose. What stays lets the noisy mean of the labels be corrected."""

SHORTEST: Final = 2.0**-20
"""Centred features that are shorter are divided by this, and so stay shorter than 1."""

AT_ONCE: Final = 2**16
"""Numbers up to which features are made at a time: they and what they are made of stay in a processor's cache."""


@attrs.frozen(slots=False, eq=False)
class PublicFeatures:
    """From coded inputs to rows of length at most 1: scaled, mapped, centred. Public or released.

    reference: the public distribution under which features are centred, and then brought to length 1; None leaves them
    as they are. Centring takes away what all records share, which carries noise and says little. [004-centring]
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

    def ready(self) -> tuple[FloatArray, FloatArray | None]:
        """Make what is made once, so that it goes along to other machines: frequencies, and what is taken off."""
        return self.map.draw(), self._shift

    @cached_property
    def key(self) -> Hashable:
        """The same for what gives the same features."""
        return self.map, self.scaling.centre.tobytes(), self.scaling.scale.tobytes(), self.reference

    def rows(self, points: FloatArray, records: int = 1) -> FloatArray:
        """Shape (n, D), for sums of so many records. points: shape (n, d). [exact-rows]

        A row depends on its own point, and on nothing else that is not public.
        """
        found, step = np.empty((len(points), self.map.width)), max(1, AT_ONCE // self.map.width)
        for start in range(0, len(points), step):
            part = slice(start, start + step)
            found[part] = self._rows(points[part], records)
        return found

    def _rows(self, points: FloatArray, records: int) -> FloatArray:
        features = self.map.features(self._scaled(points))
        if self._shift is None:
            return unit_rows(features, records)
        features -= self._shift
        return unit_rows(features, records, SHORTEST)

    def imaginary(self, points: FloatArray) -> FloatArray:
        """Of a complex model, see `RandomFeatureMap.imaginary`."""
        return self.map.imaginary(self._scaled(points))

    def _scaled(self, points: FloatArray) -> FloatArray:
        return np.clip(self.scaling.apply(points), -FARTHEST, FARTHEST)


@attrs.frozen(eq=False)
class FittedCoefficients:
    """What a solver finds: targets are about centre + scale·(coefficients·row). All of it released or public.

    coefficients: shape (D,).  centre, scale: in units of the labels' bounds.
    """

    features: PublicFeatures
    coefficients: FloatArray = attrs.field(repr=False)
    centre: float = 0.0
    scale: float = 1.0

    def targets(self, points: FloatArray) -> FloatArray:
        """Predicted targets, shape (n,), not kept within [−1, 1]. points: shape (n, d). [records-alone]"""
        self.features.ready()  # before threads, each of which would draw frequencies
        return self.centre + self.scale * row_products(points, self.coefficients, self.features.rows)


@attrs.frozen(eq=False)
class RandomFeatureModel:
    """A function of coded inputs, linear in random features. All of it is released or public.

    bounds: public, of the labels; predictions stay within them.  solver: that found it, as saved.
    """

    fit: FittedCoefficients
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
        fit = FittedCoefficients(features, coefficients, centre, positive(cast("float", record["target_scale"])))
        coding = Coding.from_record(cast("Mapping[str, object]", record["coding"]))
        bounds = cast("Sequence[float]", record["bounds"])
        return RandomFeatureModel(fit, coding, bounds, dict(cast("Mapping[str, object]", record["solver"])))
