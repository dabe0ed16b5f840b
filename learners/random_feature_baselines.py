"""What random features are compared with: SGD with noise on its result, ridge, and objective perturbation."""

import math
from typing import ClassVar

import attrs
import numpy as np

from accountant import BasicComposition, PureDP
from accountant._numbers import count, positive
from accountant.rounding import up
from learners.allowance import Allowance
from learners.random_feature_model import FeatureSample, FeatureTable, Fit
from learners.random_feature_solvers import Task, gaussian_release
from mechanisms import GammaNormKernel, NoiseSource
from mechanisms.feature_fits import LARGEST_RATE, LEAST_PENALTY, one_pass_sgd, ridge_coefficients
from mechanisms.logistic_loss import LinearSample, Reach, ResidualRecords
from mechanisms.objective import calibrated


def _rate(value: float | None) -> float | None:
    if value is not None and not 0.0 < value <= LARGEST_RATE:
        raise ValueError(f"rate: expected a number in (0, {LARGEST_RATE}], got {value!r}")
    return None if value is None else float(value)


def optional_positive(value: float | None) -> float | None:
    """A positive number, or None for the usual one."""
    return None if value is None else positive(value)


def _refuse_complex(task: Task) -> None:
    if task.form == "complex":
        raise ValueError("form: a complex model is for min-norm interpolation; take 'fourier' or 'cosine'")


@attrs.frozen
class SGD:
    """One pass of stochastic gradient descent, then Gaussian noise (Wang & Guo 2024). [004-one-pass]

    rate: of learning, in (0, 2]; None takes 1/m, as 004 does.  batch: records a step.
    clip: where residuals are cut, in half widths of the labels' bounds.
    """

    name: ClassVar[str] = "sgd"
    rate: float | None = attrs.field(default=None, converter=_rate)
    batch: int = attrs.field(default=1, converter=count)
    clip: float = attrs.field(default=1.0, converter=positive)

    @property
    def pure(self) -> bool:
        """Gaussian noise only."""
        return False

    def refuse(self, task: Task) -> None:
        """See `Solver`."""
        _refuse_complex(task)

    def learn(self, task: Task, allowance: Allowance, noise: NoiseSource) -> Fit:
        """See `Solver`."""
        sample, public = task.sample, task.plain
        rate = 1.0 / sample.records if self.rate is None else self.rate
        query = one_pass_sgd(sample.records, public.map.width, rate, self.batch, self.clip)
        table = FeatureTable(public, sample.points, sample.targets)
        return Fit(public, gaussian_release(allowance, query, table, noise)[0])


def _penalty(value: float | None) -> float | None:
    if value is not None and not LEAST_PENALTY <= value <= 1.0:
        raise ValueError(f"penalty: expected a number between {LEAST_PENALTY} and 1, got {value!r}")
    return None if value is None else float(value)


@attrs.frozen
class Ridge:
    """Ridge regression, then Gaussian noise for the proved sensitivity: on linear features the baseline of 004.

    penalty: λ, per record, in [1e-6, 1]; None takes m^(-1/3), about where bias and noise balance. [004-ridge]
    """

    name: ClassVar[str] = "ridge"
    penalty: float | None = attrs.field(default=None, converter=_penalty)

    @property
    def pure(self) -> bool:
        """Gaussian noise only."""
        return False

    def refuse(self, task: Task) -> None:
        """See `Solver`."""
        _refuse_complex(task)

    def learn(self, task: Task, allowance: Allowance, noise: NoiseSource) -> Fit:
        """See `Solver`."""
        sample, public = task.sample, task.plain
        penalty = sample.records ** (-1.0 / 3.0) if self.penalty is None else self.penalty
        query = ridge_coefficients(sample.records, public.map.width, penalty, 1.0)
        table = FeatureTable(public, sample.points, sample.targets)
        return Fit(public, gaussian_release(allowance, query, table, noise)[0])


@attrs.frozen
class Objective:
    """Objective perturbation with ℓ2-Laplace noise: pure differential privacy. [objective-perturbation-regression]

    Chaudhuri, Monteleoni & Sarwate (2011), with the log-cosh loss, a smooth relative of Huber's.
    clip: τ, the residual, in half widths of the labels' bounds, where the loss turns from a square to a slope.
    penalty: λ > 0, per record, of coefficients in units of τ; None takes what the noise calls for.
    """

    name: ClassVar[str] = "objective"
    clip: float = attrs.field(default=0.25, converter=positive)
    penalty: float | None = attrs.field(default=None, converter=optional_positive)

    @property
    def pure(self) -> bool:
        """Its noise needs no δ."""
        return True

    def refuse(self, task: Task) -> None:
        """See `Solver`."""
        _refuse_complex(task)

    def learn(self, task: Task, allowance: Allowance, noise: NoiseSource) -> Fit:
        """See `Solver`. NotMinimised may be raised after the charge, see LIMITS.md."""
        sample, public = task.sample, task.plain
        width = public.map.width
        reach = Reach(up(math.sqrt(width)), 1.0)
        rule = BasicComposition() if isinstance(allowance.target, PureDP) else allowance.ledger.composition
        ceiling = rule.ceiling(allowance.target)
        mechanism = calibrated(
            GammaNormKernel,
            lambda cost: rule.amount(cost).within(ceiling),
            reach=reach,
            d=width,
            n=sample.records,
            regularization=None if self.penalty is None else self.penalty * sample.records,
            noise=noise,
            loss="log-cosh",
        )

        def records(each: FeatureSample) -> LinearSample:
            rows = [block for block, _ in FeatureTable(public, each.points, each.targets).blocks()]
            return ResidualRecords(np.concatenate(rows), each.targets / self.clip, reach)

        data = allowance.ledger.protect(sample).map(records)
        weights = allowance.ledger.release(mechanism, data, account=allowance.account)
        return Fit(public, self.clip * weights)
