"""What boosting with `LazyBregman` promises about regret and margins, as functions with explicit constants.

Everywhere: density is κ in (0, 1], L = ln(1/κ), learning_rate is λ in the scale of `LazyBregman` (003's is twice
that), rounds is T, and an advantage is γ = ½·Σᵢ μ̂(i)·yᵢ·h(xᵢ) in [−1/2, 1/2], for |h| ≤ 1.

`measured_advantage` looks at unsealed data. It is for tests and simulations: what it returns is not private, and
nothing here charges for it. `boosting.theory.reruns` does so for whole runs.
"""

import math
from typing import Final, TypeVar

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import count, fraction, positive
from boosting.booster import Hypothesis, Labelled
from boosting.reweighted_sample import Reweighted

S = TypeVar("S", bound=Labelled)

ROUNDING: Final = 1e-9
"""How far a sum of at most n margins in [−1, 1] may be off in floating point before a certificate fails."""


def _advantage(value: float) -> float:
    if not -0.5 <= value <= 0.5:
        raise ValueError(f"expected an advantage in [-1/2, 1/2], got {value!r}")
    return float(value)


def log_inverse_density(density: float) -> float:
    """L = ln(1/κ), in nats; 0 at κ = 1."""
    return -math.log(fraction(density)) + 0.0  # no negative zero


def regret_bound(density: float, learning_rate: float, rounds: int, divergence: float | None = None) -> float:
    """λ/4 + D/(2λT): the booster's average loss exceeds that of any fixed κ-smooth weighting by at most this.

    Losses are in [0, 1], one per record and round; weights are exp(−2λ·loss so far), scaled and capped to density κ.
    divergence: D = KL(μ ‖ μ₁)/(κn) of the weighting compared with, in [0, L]; None takes the worst, L.
    In 003's λ this is λ/8 + KL/(λκnT). Tightens 003, Lemma 34, whose λ is 8 times the first term. [003-Lem34]
    Raises ValueError outside these ranges.
    """
    most = log_inverse_density(density)
    distance = most if divergence is None else divergence
    if not 0.0 <= distance <= most:
        raise ValueError(f"expected a divergence in [0, ln(1/density)] = [0, {most!r}], got {divergence!r}")
    return 0.25 * positive(learning_rate) + distance / (2.0 * learning_rate * count(rounds))


def margin_bound(advantage: float, density: float, learning_rate: float, rounds: int) -> float:
    """2γ − λ/2 − L/(λT): a lower bound for the mean normalised margin of the worst κn records, in (−∞, 1].

    advantage: the mean of the T advantages that the rounds really had, each under its own weighting.
    The κ-quantile of the margins is at least that mean. Negative where it promises nothing.
    In 003's λ it is 2γ − λ/4 − 2L/(λT). Tightens 001, Theorem 5 and 003, Theorem 24. [001-Thm5] [003-Thm24]
    Raises ValueError outside these ranges.
    """
    return 2.0 * _advantage(advantage) - 2.0 * regret_bound(density, learning_rate, rounds)


def best_learning_rate(density: float, rounds: int) -> float:
    """λ = √(2L/T), the one that makes `margin_bound` largest; in 003's scale √(8L/T). [003-Thm24]

    density: below 1; at 1 every weighting is uniform, whatever the rate. Raises ValueError otherwise.
    """
    most = log_inverse_density(density)
    if most == 0.0:
        raise ValueError("expected a density below 1: at 1 the weighting is uniform at every learning rate")
    return math.sqrt(2.0 * most / count(rounds))


def best_margin_bound(advantage: float, density: float, rounds: int) -> float:
    """2γ − √(2L/T): `margin_bound` at the best learning rate. [003-Thm24]

    Ranges and refusals as there; at density 1, where no rate is best, its limit 2γ.
    """
    return 2.0 * _advantage(advantage) - math.sqrt(2.0 * log_inverse_density(density) / count(rounds))


def rounds_for_margin(advantage: float, density: float, margin: float = 0.0) -> int:
    """The smallest T for which `best_margin_bound` exceeds `margin`: the first T > 2L/(2γ − margin)².

    After so many rounds fewer than κn records have a margin of at most `margin`; at 0, the training error is below κ.
    advantage: γ in (0, 1/2].  margin: in [0, 2γ), normalised. Raises ValueError outside.
    margin = γ needs 2L/γ², an eighth of the 16L/γ² of 001, Theorem 5 and 003, Theorem 24. [001-Thm5] [003-Thm24]

    >>> rounds_for_margin(0.1, 0.25), rounds_for_margin(0.1, 0.25, margin=0.1)
    (70, 278)
    """
    gamma = _advantage(advantage)
    if not (gamma > 0.0 and 0.0 <= margin < 2.0 * gamma):
        raise ValueError(f"expected an advantage above 0 and a margin in [0, {2.0 * gamma!r}), got {gamma}, {margin!r}")
    least = 2.0 * log_inverse_density(density) / (2.0 * gamma - margin) ** 2
    if not least < 2.0**52:
        raise ValueError(f"margin: {margin!r} is so close to twice the advantage that it takes {least:.3g} rounds")
    return math.floor(least * (1.0 + 2.0**-48)) + 1  # the factor outweighs the rounding of `least`


def _worst(margins: FloatArray, density: float) -> tuple[FloatArray, FloatArray]:
    """The κn smallest margins in order and the share of κn that each one takes; the last may be fractional."""
    ordered = np.sort(np.asarray(margins, dtype=np.float64))
    if ordered.ndim != 1 or not ordered.size or not np.all(np.abs(ordered) <= 1.0):
        raise ValueError("expected margins of shape (n,), n >= 1, each in [-1, 1]: divide yᵢ·Σh(xᵢ) by the rounds")
    mass = fraction(density) * ordered.size
    shares = np.clip(mass - np.arange(ordered.size), 0.0, 1.0)
    return ordered[shares > 0.0], shares[shares > 0.0] / mass


def quantile_margin(margins: FloatArray, density: float) -> float:
    """The margin of the last of the κn worst records, that one perhaps in part: fewer than κn are below it.

    margins: normalised, shape (n,), each in [−1, 1].  density: κ in (0, 1]. Raises ValueError otherwise.
    Not 003's Pythia, which takes all mistakes and so may take more than κn records. [003-Thm24]
    """
    worst, shares = _worst(margins, density)
    # A sliver of a record can be the rounding of κn; without it the quantile is lower, so that is the safe choice.
    return float(worst[-1] if shares.size == 1 or shares[-1] > ROUNDING * shares[0] else worst[-2])


def worst_mean_margin(margins: FloatArray, density: float) -> float:
    """The mean margin of the κn worst records, the last one taken in part; at most `quantile_margin`. [003-Thm24]

    margins: normalised, shape (n,), each in [−1, 1].  density: κ in (0, 1]. Raises ValueError otherwise.
    """
    worst, shares = _worst(margins, density)
    return float(worst @ shares)


def measured_advantage(state: Reweighted[S], hypothesis: Hypothesis[S]) -> float:
    """γ_t = ½·Σᵢ μ̂(i)·yᵢ·h(xᵢ) of a hypothesis under the weighting it was learnt for. Not private.

    state: the weighting *before* the hypothesis is added.  hypothesis: predictions in [−1, 1], shape (n,).
    """
    agreement = state.sample.labels * hypothesis.predictions(state.sample)
    return _advantage(0.5 * float(np.clip(state.measure.distribution @ agreement, -1.0, 1.0)))


@attrs.frozen
class MarginCertificate:
    """The margins of a finished run beside what its advantages promise. Not private. [003-Thm24]

    quantile, worst_mean: see `quantile_margin` and `worst_mean_margin`; in [−1, 1].
    bound: `margin_bound` at the run's mean advantage.
    """

    quantile: float
    worst_mean: float
    bound: float

    @property
    def holds(self) -> bool:
        """bound <= worst_mean <= quantile, but for `ROUNDING`. False means that the booster is wrong."""
        return self.bound - ROUNDING <= self.worst_mean <= self.quantile + ROUNDING
