"""Objective perturbation: the minimiser of a regularised loss of linear scores plus a random linear term.

What is released is an approximate minimiser with a little noise of its own, so that nothing depends on exact
minimisation, nor on the random term's having a density: the sampler's grid counts as one more inexactness.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant import GDP, AddRemoveOne, ApproxDP, Cost, Description, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, down, gaussian, largest, positive, probability_below_one, up
from accountant.explained import Explained
from accountant.renamed_parameters import renamed_parameters
from mechanisms.additive import GammaNormNoise, GaussianNoise, LaplaceNoise
from mechanisms.core import L1Sensitivity, L2Sensitivity, Mechanism
from mechanisms.gradients.linear_losses import (
    SLOPES,
    LinearSample,
    LossName,
    Reach,
    curvature,
    minimiser,
    noise_that_gives,
)
from mechanisms.randomness import GRID, NoiseSource, SecureNoise, grid_exponent

ObjectiveNoise: TypeAlias = LaplaceNoise | GammaNormNoise | GaussianNoise
"""The distribution of the random linear term: density ∝ exp(−‖b‖₁/scale), exp(−‖b‖₂/scale) or exp(−‖b‖₂²/2σ²)."""

SHARE: Final = 2.0**-10
"""What the noise on the output costs, as a share of the rest: of ε, or of μ²."""

PULL: Final = 2.0
"""The default λ, in deviations of the noise."""

STEEPEST: Final = 4.0
"""κ/μ up to which the Gaussian form without δ is proved; see `gaussian_mu`."""


class TooLittleRegularization(Explained, ValueError):
    """λ is too small for this noise to cost anything that has been proved."""


def pure_epsilon(each: float, bend: float, relation: ReplaceOne | AddRemoveOne, loss: LossName = "logistic") -> float:
    """ε of the exact minimiser, where a record's gradient −φ′x shifts the noise at a cost of |φ′|·each. Rounded up.

    each: A, the reach over the noise scale.  bend: B = ‖x‖₂²/λ.
    Logistic: |φ′| = s, so the sup over s in [0, 1] of A(1 + s) + ln(1 + Bs(1 − s)), or of As + ln(…) where a record is
    added or removed. At λ·ε >= 2‖x‖₂² that is 2A: the determinant costs nothing. [objective-perturbation]

    Log-cosh: |φ′| = t in [0, ½), φ″ = ¼ − t². At one w, b moves by at most A(t + t′), and the determinants are
    those of G + φ″xxᵀ and G + φ″′x′x′ᵀ, G >= λ: their ratio is at most (1 + B(¼ − t²))/(1 + 0), in either direction.
    t′ appears in A·t′ alone, so it is ½: A(½ + t) + ln(1 + B(¼ − t²)), which with s = ½ + t is As + ln(1 + Bs(1 − s)).
    A/2 less where a record is added or removed. [objective-perturbation-regression]
    """
    slopes = SLOPES[loss] * (2.0 if isinstance(relation, ReplaceOne) else 1.0)
    # The grid's share is part of `each`, but must count in full where less than all of `each` does.
    other = each * (slopes - 1.0) + (GRID if slopes < 2.0 else 0.0)
    if each >= bend:
        return up(each + other)
    # The stationary point, which lies in (1/2, 1); the value is flat there, so its rounding does not matter.
    square = each * each * (1.0 + 4.0 / bend)
    s = min(1.0, 0.5 + each * (1.0 + 4.0 / bend) / (2.0 * (math.sqrt(4.0 + square) + 2.0)))
    return up(up(other + each * s) + up(math.log1p(bend * s * (1.0 - s))))


def gaussian_epsilon(mu: float, bend: float, delta: float, relation: ReplaceOne | AddRemoveOne) -> float:
    """ε at δ of the exact minimiser with Gaussian noise. Rounded up.

    mu: ‖x‖₂/σ.  bend: B = ‖x‖₂²/λ.  delta: in (0, 1).
    The exact curve of 2μ, and at least 2B − 2μ² and μ²; of μ, and at least B − μ²/2, where a record is added or
    removed. [objective-perturbation-gaussian]
    """
    low = down(mu * mu)
    if isinstance(relation, AddRemoveOne):
        return max(gaussian.epsilon(mu, delta), up(bend - 0.5 * low))
    return max(gaussian.epsilon(up(2.0 * mu), delta), up(2.0 * bend - 2.0 * low), up(mu * mu))


def gaussian_mu(mu: float, bend: float, relation: ReplaceOne | AddRemoveOne) -> float:
    """μ of the exact minimiser with Gaussian noise, as Gaussian differential privacy. Rounded up.

    With κ = B − μ²/2 >= 0: twice the smallest m = μ + (κ²/6μ)·exp(m²/8), once where a record is added or removed.
    Raises TooLittleRegularization for κ > 4μ, and where there is no such m. [objective-perturbation-gaussian]
    """
    excess = max(0.0, up(bend - 0.5 * down(mu * mu)))
    if excess > STEEPEST * mu:
        raise TooLittleRegularization(f"Gaussian differential privacy needs B - mu²/2 <= 4 mu, got {excess} at mu={mu}")
    factor, total = up(excess * excess / (6.0 * mu)) if excess else 0.0, mu
    for _ in range(200):
        if total > 40.0:
            break
        wanted = up(mu + up(factor * math.exp(0.125 * total * total))) if factor else mu
        if wanted <= total:
            return up(total if isinstance(relation, AddRemoveOne) else 2.0 * total)
        total = up(wanted)
    raise TooLittleRegularization(f"no mu' up to 40 is large enough at mu={mu}, kappa={excess}")


@renamed_parameters(kernel="randomizer")
@attrs.frozen(slots=False)
class ObjectivePerturbation(Mechanism[LinearSample, FloatArray]):
    """Weights of a regression: the minimiser of Σ φ(w·x) + (λ/2)‖w‖² + b·w, plus little noise.

    φ is the logistic loss of a label ±1, or the log-cosh loss of a real one; see `mechanisms.gradients.linear_losses`.
    randomizer: the distribution of b.  regularization: λ > 0, of the *sum* of losses; CMS11's Λ is λ/n.
    reach: public bounds on ‖x‖₁ and ‖x‖₂.  d: the number of weights.
    tolerance: the ℓ2 norm that the gradient is certified to fall below.
    delta: for Gaussian noise only. Above 0 the cost is ApproxDP at that δ; 0 declares GDP, for other ledgers.
    relation: replace-one, or add-remove-one; λ and the tolerance must then not come from n.
    loss: which loss is priced; "log-cosh" takes pure noise only, as nothing is proved for Gaussian noise there.
    Cost: that of the exact minimiser ([objective-perturbation], [objective-perturbation-gaussian],
    [objective-perturbation-regression]) and that of the noise on the output, at most SHARE of it, composed
    ([approximate-minimum]).

    | edge | what happens |
    | --- | --- |
    | λ·ε < 2‖x‖₂², log-cosh: λ·ε < ‖x‖₂² | pure noise costs up to ln(1 + ‖x‖₂²/4λ) more |
    | λ so small that nothing is proved for GDP | TooLittleRegularization, when the cost is asked for |
    | data of another d, of a larger reach, or with the other loss | ValueError before the charge |
    | Gaussian noise for the log-cosh loss | TypeError |
    | the gradient does not come below the tolerance | NotMinimised after the charge; see LIMITS.md |
    """

    randomizer: ObjectiveNoise
    regularization: float = attrs.field(converter=positive)
    reach: Reach
    d: int = attrs.field(converter=count)
    tolerance: float = attrs.field(converter=positive)
    delta: float = attrs.field(default=0.0, converter=probability_below_one)
    relation: ReplaceOne | AddRemoveOne = attrs.field(factory=ReplaceOne)
    noise: NoiseSource = attrs.field(factory=SecureNoise)
    loss: LossName = attrs.field(default="logistic", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.loss not in SLOPES:
            raise ValueError(f"loss: expected one of {', '.join(SLOPES)}, got {self.loss!r}")
        if isinstance(self.randomizer, GaussianNoise) and self.loss != "logistic":
            # The Gaussian proof needs a record's gradient to keep its direction; this one changes its sign.
            raise TypeError(
                f"randomizer: no cost is proved for Gaussian noise with the {self.loss} loss; take pure noise"
            )
        if self.delta and not isinstance(self.randomizer, GaussianNoise):
            raise ValueError(f"delta: {self.randomizer.name} noise is pure differential privacy; leave delta=0")

    @property
    def deviation(self) -> float:
        """The standard deviation of one coordinate of b."""
        return deviation(self.randomizer, self.d)

    @cached_property
    def exact_cost(self) -> PureDP | ApproxDP | GDP:
        """What the exact minimiser would cost, had b a density. Raises TooLittleRegularization."""
        bend = up(up(self.reach.l2 * self.reach.l2) / self.regularization)
        match self.randomizer:
            case LaplaceNoise() as laplace:
                each = laplace.cost(L1Sensitivity(self.reach.l1)).epsilon
                return PureDP(pure_epsilon(each, bend, self.relation, self.loss))
            case GammaNormNoise() as gamma:
                each = gamma.cost(L2Sensitivity(self.reach.l2)).epsilon
                return PureDP(pure_epsilon(each, bend, self.relation, self.loss))
            case GaussianNoise() as normal:
                mu = normal.cost(L2Sensitivity(self.reach.l2)).mu
                if self.delta:
                    return ApproxDP(gaussian_epsilon(mu, bend, self.delta, self.relation), self.delta)
                return GDP(gaussian_mu(mu, bend, self.relation))

    @cached_property
    def displacement(self) -> float:
        """How far at most the computed minimiser is from the exact one, in ℓ2. [approximate-minimum]

        (τ + √d·g/2)/λ, g the sampler's grid: a b of the grid stands for every b within half a step of it.
        """
        scale = self.randomizer.sigma if isinstance(self.randomizer, GaussianNoise) else self.randomizer.scale
        grid = math.ldexp(1.0, grid_exponent(scale, self.d))
        return up((self.tolerance + 0.5 * math.sqrt(self.d) * grid) / self.regularization)

    @cached_property
    def output(self) -> LaplaceNoise | GaussianNoise:
        """The noise on the output."""
        exact = self.exact_cost
        if isinstance(exact, GDP):
            return GaussianNoise(up(2.0 * self.displacement) / (exact.mu * math.sqrt(SHARE)))
        return LaplaceNoise(self._moved.value / (exact.epsilon * SHARE))

    @property
    def _moved(self) -> L1Sensitivity:
        """How far apart two approximate minimisers of the same exact one can be, in ℓ1."""
        return L1Sensitivity(up(2.0 * math.sqrt(self.d) * self.displacement))

    @cached_property
    def cost(self) -> PureDP | ApproxDP | GDP:
        exact, output = self.exact_cost, self.output
        if isinstance(exact, GDP):
            assert isinstance(output, GaussianNoise)
            return GDP(up(math.hypot(exact.mu, output.cost(L2Sensitivity(up(2.0 * self.displacement))).mu)))
        assert isinstance(output, LaplaceNoise)
        epsilon = up(exact.epsilon + output.cost(self._moved).epsilon)
        return attrs.evolve(exact, epsilon=epsilon)

    @property
    def adjacency(self) -> ReplaceOne | AddRemoveOne:
        return self.relation

    @cached_property
    def description(self) -> Description:
        norm = "l1" if isinstance(self.randomizer, LaplaceNoise) else "l2"
        bound = SLOPES[self.loss] * (self.reach.l1 if norm == "l1" else self.reach.l2)
        return Description(
            mechanism="ObjectivePerturbation",
            query=f"regularised {self.loss} loss",
            parameters=(
                ("noise", self.randomizer.name),
                *self.randomizer.parameters,
                ("regularization", self.regularization),
                ("tolerance", self.tolerance),
                ("output noise", self.output.name),
                *((f"output {name}", value) for name, value in self.output.parameters),
            ),
            norm=norm,
            sensitivity=up(2.0 * bound) if isinstance(self.relation, ReplaceOne) else bound,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=(
                self._claim,
                "approximate-minimum",
                *self.randomizer.claims,
            ),
        )

    @property
    def _claim(self) -> str:
        if self.loss == "log-cosh":
            return "objective-perturbation-regression"
        return f"objective-perturbation{'-gaussian' if isinstance(self.randomizer, GaussianNoise) else ''}"

    def check(self, data: LinearSample) -> None:
        """Raise ValueError where the sample has another loss or dimension, or a larger reach, than declared."""
        if data.losses.name != self.loss:
            raise ValueError(f"loss: this prices the {self.loss} loss, the sample has the {data.losses.name} loss")
        if data.d != self.d or not data.reach.within(self.reach):
            raise ValueError(
                f"expected {self.d} weights and {self.reach}, got {data.d} and {data.reach}; both must be public"
            )

    def sample(self, data: LinearSample) -> FloatArray:
        b = self.randomizer.draw(np.zeros(self.d), self.noise)
        return self.output.draw(minimiser(data, self.regularization, b, self.tolerance), self.noise)

    def log_density(self, data: LinearSample, weights: FloatArray) -> float:
        """ln of the exact minimiser's density at `weights`, up to a constant that no data change.

        Each b has one minimiser and each w one b, so it is the noise's density at that b times the Jacobian
        |db/dw|, the determinant of the Hessian. For the verification kit.
        """
        _, determinant = np.linalg.slogdet(curvature(data, self.regularization, weights))
        b = noise_that_gives(data, self.regularization, weights)
        match self.randomizer:
            case LaplaceNoise(scale=scale):
                energy = float(np.sum(np.abs(b))) / scale
            case GammaNormNoise(scale=scale):
                energy = float(np.linalg.norm(b)) / scale
            case GaussianNoise(sigma=sigma):
                energy = 0.5 * float(b @ b) / sigma**2
        return float(determinant) - energy


def deviation(randomizer: ObjectiveNoise, d: int) -> float:
    """The standard deviation of one of d coordinates of the noise."""
    match randomizer:
        case LaplaceNoise(scale=scale):
            return math.sqrt(2.0) * scale
        case GammaNormNoise(scale=scale):
            return math.sqrt(d + 1.0) * scale
        case GaussianNoise(sigma=sigma):
            return sigma


def default_regularization(randomizer: ObjectiveNoise, reach: Reach, d: int, delta: float = 0.0) -> float:
    """λ: twice the noise's deviation, or what makes the determinant cheap, whichever is more. Public.

    At twice the deviation the noise alone moves a weight by at most 1/2 (one standard deviation), in the log-odds
    of one unit of its feature, or in units of the offset. The determinant is free from ‖x‖₂²·scale/reach on, for
    Gaussian noise at δ from 2‖x‖₂²/ε on; as GDP it costs 7 % at 1.5·‖x‖₂·σ.
    """
    match randomizer:
        case LaplaceNoise(scale=scale):
            free = reach.l2**2 * scale / reach.l1
        case GammaNormNoise(scale=scale):
            free = reach.l2 * scale
        case GaussianNoise(sigma=sigma) if delta:
            free = 2.0 * reach.l2**2 / max(gaussian.epsilon(2.0 * reach.l2 / sigma, delta), 2.0**-1000)
        case GaussianNoise(sigma=sigma):
            free = 1.5 * reach.l2 * sigma
    return max(PULL * deviation(randomizer, d), free)


def default_tolerance(randomizer: ObjectiveNoise, reach: Reach, d: int, n: int) -> float:
    """τ: 2^-36 of the largest gradient that n records and the noise can be expected to have. Public."""
    return 2.0**-36 * (n * reach.l2 + math.sqrt(d) * deviation(randomizer, d))


def calibrated(
    randomizer: Callable[[float], ObjectiveNoise],
    fits: Callable[[Cost], bool],
    *,
    reach: Reach,
    d: int,
    n: int,
    regularization: float | None = None,
    delta: float = 0.0,
    noise: NoiseSource | None = None,
    loss: LossName = "logistic",
) -> ObjectivePerturbation:
    """The mechanism with the least noise of a kind whose cost `fits`, under replace-one.

    randomizer: from a noise scale, such as `LaplaceNoise`.  fits: whether a cost can be paid.
    n: of the records, public.  regularization: λ; None takes `default_regularization`.  delta: for Gaussian noise.
    loss: "log-cosh" for `ResidualRecords`.
    Raises TooLittleRegularization where no amount of noise fits, TypeError for Gaussian noise with the log-cosh loss.
    """
    source = SecureNoise() if noise is None else noise

    def at(eta: float) -> ObjectivePerturbation:
        scaled = randomizer(1.0 / eta)
        strength = default_regularization(scaled, reach, d, delta) if regularization is None else regularization
        tolerance = default_tolerance(scaled, reach, d, n)
        return ObjectivePerturbation(scaled, strength, reach, d, tolerance, delta, ReplaceOne(), source, loss=loss)

    def affordable(eta: float) -> bool:
        try:
            return fits(at(eta).cost)
        except TooLittleRegularization:
            return False

    try:
        return at(largest(affordable))
    except (ArithmeticError, ValueError) as error:
        if regularization is None:
            raise
        raise TooLittleRegularization(
            f"no noise makes a regularization of {regularization:g} (of the sum of losses) fit: {error}"
        ) from error
