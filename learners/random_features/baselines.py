"""What random features are compared with: SGD with noise on its result, ridge, and objective perturbation."""

import abc
import math
from numbers import Real
from typing import ClassVar, Final

import attrs

from accountant.arrays import FloatArray
from accountant.costs import count, up
from learners.base import FitBudget, FitPlan, moderate
from learners.random_features.feature_model import FittedCoefficients
from learners.random_features.feature_rows import FeatureRows, FeatureTable
from learners.random_features.solvers import Task, gaussian_plan, refuse_blocks, refuse_complex
from mechanisms import GammaNormNoise, L2Sensitivity, NoiseSource, Query
from mechanisms.gradients import (
    LARGEST_RATE,
    LEAST_PENALTY,
    LinearSample,
    Reach,
    ResidualRecords,
    UnitRows,
    calibrated,
    one_pass_sgd,
    ridge_coefficients,
)

LEAST_PULL: Final = 2.0**-7
"""Penalty over the noise's deviation. At a tenth of it whether a minimum is certified came to depend on the data."""

LEAST_DEVIATION: Final = 2.0**-20
"""Of the noise, in records: ε of a million or so."""


def _between(name: str, value: float | None, least: float, most: float) -> float | None:
    """A positive number of that interval, or None for the usual one."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not (value > 0.0 and least <= value <= most):
        raise ValueError(f"{name}: expected a number above 0, from {least} to {most}, got {value!r}")
    return float(value)


def _rate(value: float | None) -> float | None:
    return _between("rate", value, 0.0, LARGEST_RATE)


def _any_penalty(value: float | None) -> float | None:
    return None if value is None else moderate(value)


class NoisedFit(abc.ABC):
    """A solver that fits first and adds Gaussian noise to the coefficients."""

    @abc.abstractmethod
    def query(self, records: int, width: int) -> Query[UnitRows, FloatArray, L2Sensitivity]:
        """The fit with its sensitivity, for m records of D features and targets in [−1, 1]."""

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`."""
        refuse_complex(task)
        public = task.plain
        released = gaussian_plan(budget, self.query(task.sample.records, public.map.width), noise)
        plan = released.then(lambda found: FittedCoefficients(public, found[0]))
        return plan.of(lambda rows: FeatureTable(public, rows.rows))


@attrs.frozen
class SGD(NoisedFit):
    """One pass of stochastic gradient descent, then Gaussian noise (Wang & Guo 2024). [004-one-pass]

    rate: of learning, in (0, 2]; None takes 1/m, as 004 does.  batch: records a step.
    clip: where residuals are cut, in half widths of the labels' bounds.
    """

    name: ClassVar[str] = "sgd"
    pure: ClassVar[bool] = False
    rate: float | None = attrs.field(default=None, converter=_rate)
    batch: int = attrs.field(default=1, converter=count)
    clip: float = attrs.field(default=1.0, converter=moderate)

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`."""
        refuse_blocks(task)
        return super().plan(task, budget, noise)

    def query(self, records: int, width: int) -> Query[UnitRows, FloatArray, L2Sensitivity]:
        """See `NoisedFit`."""
        rate = 1.0 / records if self.rate is None else self.rate
        return one_pass_sgd(records, width, rate, self.batch, self.clip)


def _penalty(value: float | None) -> float | None:
    return _between("penalty", value, LEAST_PENALTY, 1.0)


@attrs.frozen
class Ridge(NoisedFit):
    """Ridge regression, then Gaussian noise for the proved sensitivity: on linear features the baseline of 004.

    penalty: λ, per record, in [1e-6, 1]; None takes m^(-1/3), about where bias and noise balance. [004-ridge]
    """

    name: ClassVar[str] = "ridge"
    pure: ClassVar[bool] = False
    penalty: float | None = attrs.field(default=None, converter=_penalty)

    def query(self, records: int, width: int) -> Query[UnitRows, FloatArray, L2Sensitivity]:
        """See `NoisedFit`."""
        penalty = records ** (-1.0 / 3.0) if self.penalty is None else self.penalty
        return ridge_coefficients(records, width, penalty, 1.0)


@attrs.frozen
class Objective:
    """Objective perturbation with ℓ2-Laplace noise: pure differential privacy. [objective-perturbation-regression]

    Chaudhuri, Monteleoni & Sarwate (2011), with the log-cosh loss, a smooth relative of Huber's.
    clip: τ, the residual, in half widths of the labels' bounds, where the loss turns from a square to a slope.
    penalty: λ > 0, per record, of coefficients in units of τ; None takes what the noise calls for.
    """

    name: ClassVar[str] = "objective"
    pure: ClassVar[bool] = True
    clip: float = attrs.field(default=0.25, converter=moderate)
    penalty: float | None = attrs.field(default=None, converter=_any_penalty)

    def plan(self, task: Task, budget: FitBudget, noise: NoiseSource) -> FitPlan[FeatureRows, FittedCoefficients]:
        """See `Solver`. Raises ValueError where a minimum could not be certified."""
        refuse_blocks(task)
        refuse_complex(task)
        public, n = task.plain, task.sample.records
        width = public.map.width
        reach = Reach(up(math.sqrt(width)), 1.0)
        given, fits = None if self.penalty is None else self.penalty * n, budget.fits()
        mechanism = calibrated(
            GammaNormNoise, fits, reach=reach, d=width, n=n, regularization=given, noise=noise, loss="log-cosh"
        )
        if mechanism.regularization < LEAST_PULL * mechanism.deviation:
            raise ValueError(
                f"penalty: {self.penalty!r} is too small for noise of {mechanism.deviation:.3g}; take at least "
                f"{LEAST_PULL * mechanism.deviation / n:.3g}, or None"
            )
        if mechanism.deviation < LEAST_DEVIATION:
            raise ValueError(f"epsilon: {budget.target} leaves too little noise for a minimum to be certified")

        def records(each: FeatureRows) -> LinearSample:
            whole = each.whole
            return ResidualRecords(public.rows(whole.points, each.records), whole.targets / self.clip, reach)

        released = FitPlan.released(mechanism, at_once=True)
        return released.then(lambda weights: FittedCoefficients(public, self.clip * weights)).of(records)
