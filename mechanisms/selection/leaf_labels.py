"""Labels for all leaves of a tree as one release: the exponential mechanism over labelled trees."""

from typing import TypeVar

import attrs
import numpy as np

from accountant import BoundedRange
from accountant.arrays import FloatArray, SignArray
from mechanisms.core import Certified, L1Sensitivity, Randomizer, RobustMechanism, RobustQuery, loss, scale
from mechanisms.randomness import NoiseSource, as_floats

W = TypeVar("W", bound=Certified)
Gaps = RobustQuery[W, FloatArray, L1Sensitivity]


@attrs.frozen
class LeafLabelChoice(Randomizer[FloatArray, L1Sensitivity, SignArray]):
    """Label +1 with odds exp(eta·gap) : 1, leaf by leaf. Cost: BoundedRange(eta·Δ₁), jointly. [001-leaf-labels]

    A labelled tree errs on ½ − ½·Σ label·gap of the weight, so labelled trees are drawn ∝ exp(−eta·error). A change of
    gaps moves a tree's loss by ½·eta·Σ label·change and a constant, and over all labellings that spans eta·Σ|change|.
    """

    name = robust_name = "LeafLabels"
    claims = ("L2", "001-leaf-labels")
    eta: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta),)

    def cost(self, sensitivity: L1Sensitivity) -> BoundedRange:
        return BoundedRange(loss(self.eta, sensitivity))

    def draw(self, value: FloatArray, noise: NoiseSource) -> SignArray:
        gaps = as_floats(value, "gaps").tolist()
        positive = [noise.exponential_choice(np.array([0.0, gap]), self.eta) for gap in gaps]
        return np.where(np.array(positive, dtype=np.intp) == 1, 1, -1).astype(np.int8)


class LeafLabels(RobustMechanism[W, FloatArray, L1Sensitivity, SignArray]):
    """Labels −1 or +1 for all leaves, shape (leaves,), ∝ exp(−eta·weighted error of the labelled tree).

    query: weighted data to gaps, shape (leaves,), weight of +1 minus weight of −1, with their *ℓ1* sensitivity over
    all leaves together: `LEAF_GAPS`.
    eta: inverse noise scale, per unit of weighted error; positive, see `mechanisms.core.randomizers.scale`.
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: BoundedRange(eta·Δ₁(zeta)) = 2·eta·ζ for all leaves; Laplace noise on the gaps would cost as much as PureDP,
    whose ρ is four times that. Proof: [001-leaf-labels].

    | edge | what happens |
    | --- | --- |
    | scale 0 | ValueError |
    | infinite scale | ValueError |
    | sensitivity 0 | cost 0: the gaps do not depend on the data |
    | no leaves | an empty array; the cost is still charged |
    | an empty leaf, or a tie | a fair coin |
    | a gap of NaN or ±inf | ValueError |
    """

    randomizer: LeafLabelChoice

    def __init__(self, query: Gaps[W], eta: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, LeafLabelChoice(eta), zeta, noise)
