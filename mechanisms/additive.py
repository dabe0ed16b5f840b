"""Noise added to a vector: Laplace for ℓ1, Gaussian for ℓ2, and the ℓ2-Laplace ("Gamma") noise.

Values are arrays of any shape, or numbers; sensitivities are norms of the flattened change. Every cost includes what
rounding to the secure sampler's grid may add (`noise.GRID`). With all three:

| edge | what happens |
| --- | --- |
| scale 0 | ValueError |
| infinite scale | ValueError |
| sensitivity 0 | cost 0: the value does not depend on the data |
| no coordinates | an empty array; the cost is still charged |
| a coordinate of NaN or ±inf | ValueError |
| whole numbers beyond 2^53, floats of more than 64 bits | ValueError: rounded, they would move by more |
"""

import math
from typing import TYPE_CHECKING, TypeVar

import attrs
import numpy as np

from accountant import GDP, LaplaceDP
from accountant.arrays import FloatArray
from accountant.costs import up
from accountant.renamed import old_names
from mechanisms.core import Certified, L1Sensitivity, L2Sensitivity, Randomizer, RobustMechanism, RobustQuery, scale
from mechanisms.randomness import GRID, NoiseSource, as_floats, grid_exponent

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

W = TypeVar("W", bound=Certified)
L1Query = RobustQuery[W, FloatArray, L1Sensitivity]
L2Query = RobustQuery[W, FloatArray, L2Sensitivity]


def _ratio(sensitivity: float, noise_scale: float) -> float:
    """Δ/scale with the grid's share, rounded up; exactly 0 where the value does not depend on the data."""
    return up(sensitivity / noise_scale + GRID) if sensitivity else 0.0


@attrs.frozen
class LaplaceNoise(Randomizer[FloatArray, L1Sensitivity, FloatArray]):
    """value + Lap(scale) in every coordinate. Cost: LaplaceDP(Δ₁/scale). [laplace-dp]"""

    name = "Laplace"
    claims = ("laplace-dp",)
    scale: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("scale", self.scale),)

    def cost(self, sensitivity: L1Sensitivity) -> LaplaceDP:
        return LaplaceDP(_ratio(sensitivity.value, self.scale))

    def draw(self, value: FloatArray, noise: NoiseSource) -> FloatArray:
        values = as_floats(value)
        # As for one coordinate more: on a grid, the halfway point of [laplace-dp] may be a step away.
        return noise.laplace(values, self.scale, grid_exponent(self.scale, values.size + 1))


@attrs.frozen
class GaussianNoise(Randomizer[FloatArray, L2Sensitivity, FloatArray]):
    """value + N(0, sigma²·I). Cost: GDP(Δ₂/sigma), which is ZCDP(Δ₂²/2σ²) and more. [gdp]"""

    name = "Gaussian"
    claims = ("gdp",)
    sigma: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("sigma", self.sigma),)

    def cost(self, sensitivity: L2Sensitivity) -> GDP:
        return GDP(_ratio(sensitivity.value, self.sigma))

    def draw(self, value: FloatArray, noise: NoiseSource) -> FloatArray:
        values = as_floats(value)
        return noise.gaussian(values, self.sigma, grid_exponent(self.sigma, values.size))


@attrs.frozen
class GammaNormNoise(Randomizer[FloatArray, L2Sensitivity, FloatArray]):
    """value + z with density ∝ exp(−‖z‖₂/scale). Cost: LaplaceDP(Δ₂/scale). [gamma-norm]

    In d dimensions ‖z‖ is Gamma(d)-distributed, so this noise is about √d times the Gaussian one at equal ε.
    It is drawn as scale·√V·N(0, I) with V ~ χ²(d + 1), which has exactly that distribution; V is drawn without looking
    at the value, in floating point (see LIMITS.md), and the sum on the grid, exactly.
    """

    name = robust_name = "GammaNorm"
    claims = ("gamma-norm", "laplace-dp")
    scale: float = attrs.field(converter=scale)

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("scale", self.scale),)

    def cost(self, sensitivity: L2Sensitivity) -> LaplaceDP:
        return LaplaceDP(_ratio(sensitivity.value, self.scale))

    def draw(self, value: FloatArray, noise: NoiseSource) -> FloatArray:
        values = as_floats(value)
        if values.size == 0:
            return values
        normals = noise.gaussian(np.zeros(values.size + 1), 1.0, grid_exponent(1.0, values.size + 1))
        sigma = self.scale * math.sqrt(float(np.sum(normals**2)))
        # The grid is chosen from the scale, not from sigma: it would tell something about V otherwise.
        # Twice as fine as the sum needs: on a grid, the points on the way from one value to another are off the line.
        return noise.gaussian(values, sigma, grid_exponent(self.scale, 2 * values.size + 1))


class RobustLaplace(RobustMechanism[W, FloatArray, L1Sensitivity, FloatArray]):
    """The value of a query with Lap(scale) added to every coordinate.

    query: weighted data to an array, with its *ℓ1* sensitivity.  scale: in the value's unit, in [2^-1000, 2^1000].
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: LaplaceDP(Δ₁(zeta)/scale): pure differential privacy of that ε, and less where it is composed or read at a δ.
    Proof: [laplace-dp].
    """

    randomizer: LaplaceNoise

    def __init__(self, query: L1Query[W], scale: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, LaplaceNoise(scale), zeta, noise)


class RobustGaussian(RobustMechanism[W, FloatArray, L2Sensitivity, FloatArray]):
    """The value of a query with N(0, sigma²) added to every coordinate.

    query: weighted data to an array, with its *ℓ2* sensitivity.  sigma: in the value's unit, in [2^-1000, 2^1000].
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: GDP(Δ₂(zeta)/sigma): on a zCDP ledger ρ = Δ₂²/2σ², in a plan the exact Gaussian curve of Balle & Wang.
    Proof: [gdp].
    """

    randomizer: GaussianNoise

    def __init__(self, query: L2Query[W], sigma: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, GaussianNoise(sigma), zeta, noise)


class GammaNorm(RobustMechanism[W, FloatArray, L2Sensitivity, FloatArray]):
    """The value of a query with noise of density ∝ exp(−‖z‖₂/scale).

    query: weighted data to an array, with its *ℓ2* sensitivity.  scale: in the value's unit, in [2^-1000, 2^1000].
    zeta: the distance up to which the cost is promised, in (0, 1].
    Cost: LaplaceDP(Δ₂(zeta)/scale). Proof: [gamma-norm]. `RobustGaussian` adds about √d times less noise.
    """

    randomizer: GammaNormNoise

    def __init__(self, query: L2Query[W], scale: float, zeta: float, noise: NoiseSource | None = None) -> None:
        super().__init__(query, GammaNormNoise(scale), zeta, noise)
