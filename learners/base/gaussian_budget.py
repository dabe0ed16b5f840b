"""Gaussian releases that share a budget: how little noise it allows, and what moments with noise say."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import attrs
import numpy as np

from accountant import Plan, PureDP
from accountant.arrays import FloatArray
from learners.base.budget import FitBudget
from learners.encoding import Scaling
from mechanisms import GaussianNoise, L2Sensitivity, NoiseSource, PlainMechanism, Query

MOMENTS_SHARE: Final = 0.1
"""Of the squared μ of Gaussian differential privacy, what standardising the columns may take."""

LEAST_VARIANCE: Final = 1e-12
"""Of variances; what varies less is taken to vary so much, or to be constant."""

D = TypeVar("D")


def affordable_mu(budget: FitBudget, plan: Callable[[float], Plan]) -> float:
    """The largest μ whose plan the budget pays for. Raises ValueError."""
    if isinstance(budget.target, PureDP):
        raise ValueError("delta: Gaussian noise needs delta > 0; 1e-6 is usual")
    try:
        return budget.largest_eta(plan)
    except ArithmeticError as error:
        raise ValueError(f"epsilon: no noise can be calibrated to {budget.target}: {error}") from error


def noisy_spread(moments: FloatArray, records: int, sigma: float, least_noise: float = 4.0) -> Scaling:
    """From Σz and Σz² of columns within [−1, 1], with noise of `sigma` on both. moments: shape (2, d).

    least_noise: deviations of a noisy variance, below which no variance is taken to be.
    """
    means = np.clip(moments[0] / records, -1.0, 1.0)
    least = max(LEAST_VARIANCE, least_noise * sigma / records)  # what noise alone would make of a constant column
    return Scaling(means, np.sqrt(np.maximum(moments[1] / records - means**2, least)))


@attrs.frozen
class GaussianQuery(Generic[D]):
    """A query with Gaussian noise of `sigma`."""

    query: Query[D, FloatArray, L2Sensitivity]
    sigma: float
    noise: NoiseSource

    @property
    def mechanism(self) -> PlainMechanism[D, FloatArray, L2Sensitivity, FloatArray]:
        """The two together."""
        return PlainMechanism(self.query, GaussianNoise(self.sigma), self.noise)


def plan_of(parts: Sequence["GaussianQuery[D]"]) -> Plan:
    """Their costs, in order."""
    return Plan(tuple(step for part in parts for step in Plan.of(part.mechanism.cost).steps))


def part_at(query: Query[D, FloatArray, L2Sensitivity], mu: float, noise: NoiseSource) -> GaussianQuery[D]:
    """The query with the σ that costs μ: Δ/μ."""
    return GaussianQuery(query, query.sensitivity.value / mu, noise)
