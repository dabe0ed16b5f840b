"""Labelled records to build rados from."""

import attrs
import numpy as np

from boosting.measures import FloatArray
from boosting.schema import SignArray
from learners.coding import Coding, Scaling
from mechanisms import EdgeVectors


@attrs.frozen(eq=False)
class RadoSample:
    """Records to build rados from.

    features: shape (m, d), finite.  labels: shape (m,), −1 and +1, of these classes.
    named: whether the table that they come from named its columns. Raises ValueError for anything else.
    """

    features: FloatArray = attrs.field(repr=False)
    labels: SignArray = attrs.field(repr=False)
    coding: Coding
    classes: tuple[object, ...] = (0, 1)
    named: bool = False

    def __attrs_post_init__(self) -> None:
        if self.features.shape != (self.labels.size, self.coding.features) or self.labels.ndim != 1:
            raise ValueError(
                f"expected {self.coding.features} features of each record, got shape {self.features.shape} for "
                f"{self.labels.size} labels"
            )
        if not np.all(np.isfinite(self.features)) or not np.all(np.abs(self.labels) == 1):
            raise ValueError("expected finite features and labels of -1 and +1")

    @property
    def records(self) -> int:
        """m, public."""
        return int(self.labels.size)

    def columns(self, places: list[int]) -> EdgeVectors:
        """Some features as they are, without labels."""
        return EdgeVectors.given(self.features[:, places])

    def edges(self, scaling: Scaling) -> EdgeVectors:
        """yᵢ·xᵢ, x after scaling."""
        edges = scaling.apply(self.features)
        edges *= self.labels[:, None]
        return EdgeVectors.given(edges)
