"""How random feature models are fitted and what that costs: min-norm interpolation, made private and as published.

Each solver is a frozen class with its public settings; `learners.random_features.descent` and
`learners.random_features.baselines` have the others.
"""

import math
from functools import cached_property
from numbers import Real
from typing import ClassVar, Final, Literal, Protocol, TypeVar, cast

import attrs
import numpy as np

from accountant import ApproxDP, Description, ReplaceOne, Unbounded
from accountant.arrays import FloatArray
from accountant.costs import largest, positive
from accountant.renamed_parameters import renamed_parameters
from learners.base import FitBudget, FitPlan, affordable_mu, flag, one_of, part_at, plan_of
from learners.encoding import Scaling
from learners.random_features import error_bounds
from learners.random_features.feature_maps import IN_FILES, FeatureMap, FrequencyDistribution, RandomFeatureMap
from learners.random_features.feature_model import FittedCoefficients, PublicFeatures
from learners.random_features.feature_rows import FeatureRows, FeatureSample
from learners.random_features.interpolation import NotConverged, kaczmarz, min_norm, single_row_kaczmarz
from mechanisms import L2Sensitivity, Mechanism, NoiseSource, PlainMechanism, Query
from mechanisms.additive import GammaNormNoise
from mechanisms.gradients import projected_coefficients
from mechanisms.randomness import grid_exponent

D = TypeVar("D")

SPREAD: Final = 0.6
"""Deviation of a frequency times √d, per standard deviation of an input. Less is smoother, for small ε; more, large."""

UNSCALED: Final = math.sqrt(3.0)
"""Over the deviation of an input that is uniform in [−1, 1]."""

CONCENTRATED: Final = 0.375
"""η of 004: a Gram matrix within 2η of the identity. 004, section 4.2."""

TOLERANCE: Final = 1e-6
"""Relative residual that Kaczmarz's method is asked for."""

SWEEPS: Final = 1000
"""Of Kaczmarz's method, after which the Gram matrix is used instead."""


@renamed_parameters(**IN_FILES)
@attrs.frozen
class Task:
    """What is to be fitted.

    distribution, feature_map, n_components, scale, seed: of the map; scale None leaves it to the solver.
    """

    sample: FeatureRows
    distribution: FrequencyDistribution
    feature_map: FeatureMap
    n_components: int
    scale: float | None
    seed: int

    def map(self, *, standardised: bool = False) -> RandomFeatureMap:
        """The map, for inputs of deviation 1 or as they are coded."""
        inputs = self.sample.coding.features
        usual = SPREAD / math.sqrt(inputs) * (1.0 if standardised else UNSCALED)
        scale = usual if self.scale is None else self.scale
        return RandomFeatureMap(self.distribution, self.feature_map, inputs, self.n_components, scale, self.seed)

    @property
    def plain(self) -> PublicFeatures:
        """Features of inputs as they are coded."""
        return PublicFeatures(self.map(), Scaling.none(self.sample.coding.features))


class Solver(Protocol):
    """A way to fit, with its settings."""

    name: ClassVar[str]

    @property
    def pure(self) -> bool:
        """Whether it takes delta=0."""

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """How it fits. Raises ValueError where it cannot, or the budget does not pay for it; nothing is charged."""


def gaussian_plan(
    budget: FitBudget, query: Query[D, FloatArray, L2Sensitivity], noise: NoiseSource
) -> FitPlan[D, tuple[FloatArray, float]]:
    """The query's value with as little Gaussian noise as the budget allows, and the noise's σ."""
    part = part_at(query, affordable_mu(budget, lambda mu: plan_of([part_at(query, mu, noise)])), noise)
    planned = FitPlan.released(part.mechanism)
    return planned.then(lambda found: (found, part.sigma))


def gamma_plan(
    budget: FitBudget, query: Query[D, FloatArray, L2Sensitivity], noise: NoiseSource
) -> FitPlan[D, FloatArray]:
    """The same with noise of density ∝ exp(−‖z‖₂/b): pure differential privacy, also where δ > 0. [gamma-norm]"""
    fits = budget.fits()
    try:
        eta = largest(lambda eta: fits(GammaNormNoise(1.0 / eta).cost(query.sensitivity)))
    except (ArithmeticError, ValueError) as error:
        raise ValueError(f"epsilon: no noise can be calibrated to {budget.target}: {error}") from error
    return FitPlan.released(PlainMechanism(query, GammaNormNoise(1.0 / eta), noise), at_once=True)


Route = Literal["gram", "pinv", "kaczmarz"]


@attrs.frozen(slots=False, eq=False)
class Interpolation:
    """The least coefficients that fit all targets; of a complex model its imaginary part is to be 0 as well."""

    features: PublicFeatures
    sample: FeatureSample = attrs.field(repr=False)
    route: Route

    @property
    def width(self) -> int:
        """D."""
        return self.features.map.width

    @cached_property
    def system(self) -> tuple[FloatArray, FloatArray]:
        """Rows and what they are to give: shape (m, D) and (m,), twice as many rows for a complex model."""
        points, targets = self.sample.points, self.sample.targets
        rows = self.features.rows(points)
        if self.features.map.feature_map != "complex":
            return rows, targets
        return np.concatenate([rows, self.features.imaginary(points)]), np.append(targets, np.zeros(targets.size))

    def coefficients(self) -> FloatArray:
        """Shape (D,). Deterministic, and never refused for what the data are: equal rows share the mean target."""
        rows, targets = self.system
        if self.route == "kaczmarz":
            order = np.random.default_rng(0)  # of blocks; whatever it is, the solution is the same
            try:
                return kaczmarz(rows, targets, tolerance=TOLERANCE, most_sweeps=SWEEPS, rng=order)[0]
            except NotConverged:
                return min_norm(rows, targets)
        return min_norm(rows, targets, route=self.route)


def _route(value: Route) -> Route:
    try:
        return cast("Route", one_of("gram", "pinv", "kaczmarz")(value))
    except ValueError as error:
        raise ValueError(f"route: {error}") from None


def _eta(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value < 0.5:
        raise ValueError(f"eta: expected a number in [0, 1/2), got {value!r}")
    return float(value)


def refuse_complex(task: Task) -> None:
    """Raise ValueError for a complex model."""
    if task.feature_map == "complex":
        raise ValueError("feature_map: a complex model is for min-norm interpolation; take 'fourier' or 'cosine'")


def refuse_blocks(task: Task) -> None:
    """Raise ValueError where records are in blocks and a solver needs them in one place."""
    if not task.sample.in_one_place:
        raise ValueError(
            "solver: it needs all records in one place, and X is in blocks; take 'descent', 'adassp' or 'ridge', which "
            "look at one block after the other, or hand X over as a table in memory"
        )


def _refuse_few(task: Task) -> None:
    refuse_blocks(task)
    if task.distribution == "linear":
        raise ValueError(
            "distribution: min-norm interpolation is for random features, not for 'linear' ones; take solver='ridge'"
        )
    width = task.map().width // (2 if task.feature_map == "complex" else 1)
    if width < task.sample.records:
        raise ValueError(
            f"n_components: min-norm interpolation needs at least as many features as records, got {width} for "
            f"{task.sample.records}; take more, or solver='descent', which needs few"
        )


@attrs.frozen
class MinNorm:
    """Algorithm 1 of 004 made unconditional: min-norm coefficients, moved into a ball, and noise for its diameter.

    eta: η in [0, 1/2); the ball's radius is √(m/(1 − 2η)) over the features' root mean square length, which is where
      coefficients are if the Gram matrix is within 2η of the identity. It is for accuracy only. [004-projection]
    gamma: noise of density ∝ exp(−‖z‖₂/b), for pure differential privacy, as the baseline of 004; else Gaussian noise.
    route: "gram" (Cholesky), "pinv" (singular values), "kaczmarz".
    """

    name: ClassVar[str] = "min-norm"
    eta: float = attrs.field(default=CONCENTRATED, converter=_eta)
    gamma: bool = attrs.field(default=False, converter=flag)
    route: Route = attrs.field(default="gram", converter=_route)

    @property
    def pure(self) -> bool:
        """With gamma noise."""
        return self.gamma

    def radius(self, records: int, features: RandomFeatureMap) -> float:
        """R: of coefficients for targets in [−1, 1] and features of length at most 1."""
        return math.sqrt(records / ((1.0 - 2.0 * self.eta) * features.mean_square))

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`."""
        _refuse_few(task)
        features = task.plain
        query = projected_coefficients(self.radius(task.sample.records, features.map), features.map.width)
        if self.gamma:
            found = gamma_plan(budget, query, noise)
        else:
            found = gaussian_plan(budget, query, noise).then(lambda released: released[0])
        plan = found.then(lambda coefficients: FittedCoefficients(features, coefficients))
        return plan.of(lambda rows: Interpolation(features, rows.whole, self.route))


@attrs.frozen(slots=False)
class PublishedRelease(Mechanism[Interpolation, FloatArray]):
    """Algorithm 1 of 004 as printed, or as its code has it: no bound on what it costs is true. [004-Lem9] [004-Alg1]

    sigma: of real Gaussian noise on coefficients of features of length 1, of a complex model on the real parts only.
    normalised: labels are divided by their own norm, which is undone afterwards.
    """

    sigma: float = attrs.field(converter=positive)
    sensitivity: float = attrs.field(converter=positive)
    normalised: bool
    steps: int | None
    noise: NoiseSource

    @property
    def cost(self) -> Unbounded:
        return Unbounded()

    @property
    def adjacency(self) -> ReplaceOne:
        return ReplaceOne()

    @cached_property
    def description(self) -> Description:
        return Description(
            mechanism="PublishedRandomFeatures",
            query="min-norm coefficients, not projected",
            parameters=(("sigma", self.sigma), ("labels divided by their norm", str(self.normalised))),
            norm="l2 as printed; the true one has no bound",
            sensitivity=self.sensitivity,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("004-Lem9", "004-Alg1", "004-experiments"),
        )

    def sample(self, data: Interpolation) -> FloatArray:
        rows, targets = data.system
        if self.steps is None:
            found = min_norm(rows, targets, route="gram" if data.route == "kaczmarz" else data.route)
        else:
            found = single_row_kaczmarz(rows, targets, self.steps, np.random.default_rng(0))
        noised = found.size // 2 if data.features.map.feature_map == "complex" else found.size
        length = float(np.linalg.norm(targets)) if self.normalised else 1.0
        sigma = self.sigma * max(length, 2.0**-500)
        real = self.noise.gaussian(found[:noised], sigma, grid_exponent(sigma, noised))
        return np.append(real, found[noised:])


@attrs.frozen
class Published:
    """004 for reproduction: printed noise around coefficients that nothing bounds. Not private, and recorded so.

    eta: η.  code: as the authors' code has it, with features √(2/N)·cos and labels as they are, but the printed Δ,
      which is too small by √N at least; else as printed, with labels divided by their norm. [004-experiments]
    route: "gram", "pinv", or "kaczmarz" for as many single-row steps as there are records, as 004 takes.
    """

    name: ClassVar[str] = "published"
    pure: ClassVar[bool] = False
    eta: float = attrs.field(default=CONCENTRATED, converter=_eta)
    code: bool = attrs.field(default=False, converter=flag)
    route: Route = attrs.field(default="gram", converter=_route)

    def sigma(self, number: int, epsilon: float, delta: float) -> tuple[float, float]:
        """The printed σ and Δ = 2/√(N(1 − 2η)), in units of features of length 1; as the code has it with its scale."""
        printed = error_bounds.PublishedNoise(number, epsilon, delta, self.eta)
        # features of length 1 are those of Algorithm 1 over √N, and the code's over √2
        unit = math.sqrt(2.0) if self.code else math.sqrt(number)
        return printed.sigma * unit, 2.0 * printed.radius * unit

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`. The ledger must be one that records what has no bound."""
        _refuse_few(task)
        if self.code and task.feature_map != "cosine":
            raise ValueError(
                "feature_map: the authors' code has cosines, so feature_map='cosine' goes with code, not "
                f"{task.feature_map!r}"
            )
        features = task.plain
        assert isinstance(budget.target, ApproxDP)  # as `pure` says
        sigma, sensitivity = self.sigma(task.n_components, budget.target.epsilon, budget.target.delta)
        steps = task.sample.records if self.route == "kaczmarz" else None
        released = FitPlan.released(PublishedRelease(sigma, sensitivity, not self.code, steps, noise), at_once=True)
        plan = released.then(lambda coefficients: FittedCoefficients(features, coefficients))
        return plan.of(lambda rows: Interpolation(features, rows.whole, self.route))
