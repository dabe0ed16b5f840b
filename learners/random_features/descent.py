"""The recommended fit of random features, by gradients with noise, and AdaSSP, by moments with noise."""

import math
from collections.abc import Callable
from typing import ClassVar, Final

import attrs
import numpy as np

from accountant import Plan, Protected, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count
from boosting import Spender
from learners.base import (
    MOMENTS_SHARE,
    FitBudget,
    FitPlan,
    GaussianQuery,
    Progress,
    affordable_mu,
    flag,
    moderate,
    noisy_spread,
    part_at,
    plan_of,
)
from learners.encoding import Scaling
from learners.random_features.feature_model import FittedCoefficients, PublicFeatures
from learners.random_features.feature_rows import FeatureRows, FeatureSample, FeatureTable
from learners.random_features.solvers import Task, gaussian_plan, refuse_complex
from mechanisms import EdgeVectors, L2Sensitivity, NoiseSource, Query, column_moments
from mechanisms.core import Rows
from mechanisms.gradients import UnitRows, clipped_pull, from_moments, joint_moments

LONGEST: Final = 50.0
"""Over the number of rounds, the longest descent: momentum of .98."""

WIDEST: Final = 2048
"""Features whose second moments are released: two million numbers."""

LEAST_NOISE: Final = 1.0
"""Deviations of a noisy variance below which none is taken to be; more would flatten what small samples say."""


def _values(sample: FeatureSample) -> EdgeVectors:
    """Inputs and, last, the target, all within [−1, 1]."""
    return EdgeVectors.given(np.column_stack([sample.points, sample.targets]))


def _all_values(sample: FeatureRows) -> Rows[EdgeVectors]:
    return sample.rows.map(_values)


@attrs.frozen
class Descent:
    """Gradient descent with noise on publicly centred random features: the solver that we recommend. [004-descent]

    A tenth of μ² pays for means and deviations of inputs and labels; then each of `rounds` full gradients of
    Huber's loss gets Gaussian noise. What noise does to a prediction depends on how long the descent lasts and not on
    how many features there are.

    rounds: of gradients.  clip: where residuals are cut, in deviations of the labels.
    horizon: how long to descend, in units of mμ/2τ, one over the noise of a mean gradient: longer fits closer, and lets
      in more noise.  standardise: inputs and labels, by noisy moments; needs inputs with public bounds.
    """

    name: ClassVar[str] = "descent"
    pure: ClassVar[bool] = False
    rounds: int = attrs.field(default=100, converter=count)
    clip: float = attrs.field(default=0.6, converter=moderate)
    horizon: float = attrs.field(default=0.8, converter=moderate)
    standardise: bool = attrs.field(default=True, converter=flag)

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`."""
        if self.standardise and task.sample.coding.schema is None:
            raise ValueError(
                "schema: inputs are standardised by noisy moments, which needs their public bounds; give a schema, "
                "Bounds(lower, upper), or solver=Descent(standardise=False)"
            )
        refuse_complex(task)
        features, coding, n = task.map(standardised=self.standardise), task.sample.coding, task.sample.records
        share = MOMENTS_SHARE if self.standardise else 0.0
        moments = column_moments(coding.features + 1, n, coding.one_hot)

        def pull(coefficients: FloatArray) -> Query[UnitRows, FloatArray, L2Sensitivity]:
            return clipped_pull(n, coefficients, self.clip)

        def parts(mu: float) -> tuple[list[GaussianQuery[Rows[EdgeVectors]]], GaussianQuery[UnitRows]]:
            """The noise that a μ allows: moments, if any, and one of the gradients."""
            first = [part_at(moments, mu * math.sqrt(share), noise)] if share else []
            return first, part_at(pull(np.zeros(features.width)), mu * math.sqrt((1.0 - share) / self.rounds), noise)

        def cost(mu: float) -> Plan:
            first, step = parts(mu)
            rounds = Plan.of(step.mechanism.cost, rounds=self.rounds).steps
            return Plan((*(each for part in first for each in plan_of([part]).steps), *rounds))

        mu = affordable_mu(budget, cost)
        first, step = parts(mu)

        def run(charge: Spender, data: Protected[FeatureRows], on_round: Progress) -> FittedCoefficients:
            scaling = Scaling.none(coding.features + 1)
            for part in first:
                found = charge.release(part.mechanism, data.map(_all_values))
                scaling = noisy_spread(found, n, part.sigma, LEAST_NOISE)
            centre, scale = float(scaling.centre[-1]), float(scaling.scale[-1])
            inputs = Scaling(scaling.centre[:-1], scaling.scale[:-1])
            public = PublicFeatures(features, inputs, "normal" if self.standardise else "cube")
            table = data.map(lambda each: FeatureTable(public, each.rows, centre, scale, again=True))

            def gradient(coefficients: FloatArray) -> FloatArray:
                found = charge.release(GaussianQuery(pull(coefficients), step.sigma, noise).mechanism, table)
                return found * (-self.clip / n)

            least = self.clip * step.sigma / math.sqrt(self.rounds) / n  # noise of the mean of all rounds
            return FittedCoefficients(
                public, descended(gradient, features.width, self.rounds, self.horizon / least), centre, scale
            )

        return FitPlan(cost(mu), ReplaceOne(), step.mechanism.description, run)


def descended(gradient: Callable[[FloatArray], FloatArray], width: int, rounds: int, time: float) -> FloatArray:
    """The mean of the later half of the iterates of gradient descent with momentum, from 0, shape (width,).

    gradient: at coefficients, noisy, of a 1-smooth function.  time: the sum of all steps, as momentum multiplies them;
    above LONGEST·rounds it is that. Noise that is new in each round averages out as if it had been added once.
    """
    momentum = max(0.0, 1.0 - rounds / min(time, LONGEST * rounds))
    rate = min(1.0, time / rounds)
    found, velocity, total = np.zeros(width), np.zeros(width), np.zeros(width)
    later = rounds // 2
    for number in range(rounds):
        velocity = momentum * velocity + gradient(found)
        found = found - rate * velocity
        if number >= later:
            total += found
    return total / (rounds - later)


@attrs.frozen
class AdaSSP:
    """Ridge regression on noisy moments with a penalty that adapts to them. Wang 2018, Algorithm 2.

    Two differences: features' and labels' moments are one release with a joint sensitivity [004-joint-moments], and the
    least eigenvalue is read off the noisy moments instead of being released.

    weight: of labels against features in that release.
    """

    name: ClassVar[str] = "adassp"
    pure: ClassVar[bool] = False
    weight: float = attrs.field(default=1.0, converter=moderate)

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`."""
        public = task.plain
        width = public.map.width
        if width > WIDEST:
            raise ValueError(
                f"n_components: {width} features have {width**2 // 2} second moments; take at most {WIDEST}"
            )
        refuse_complex(task)

        def fitted(released: tuple[FloatArray, float]) -> FittedCoefficients:
            gram, pull = from_moments(released[0], width, self.weight)
            values, vectors = np.linalg.eigh(gram)
            # what noise adds to a symmetric matrix, as an operator, at most
            off = released[1] * (math.sqrt(2.0 * width) + 2.0)
            penalty = max(0.0, off - max(0.0, float(values[0]) - off))
            return FittedCoefficients(public, vectors @ ((vectors.T @ pull) / (np.maximum(values, 0.0) + penalty)))

        plan = gaussian_plan(budget, joint_moments(task.sample.records, width, self.weight), noise).then(fitted)
        return plan.of(lambda rows: FeatureTable(public, rows.rows))
