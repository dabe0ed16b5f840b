"""How many records learning a halfspace takes: 003's two theorems side by side, with every constant and term.

Both are for the learner that is corrected: LazyBregman at density κ = α/4 over normalised weak hypotheses ẑ/|ẑ|, which
have length 1, so that 003, Lemma 29 is not needed. Theorem 33 gets new data from privacy, so that it must buy more
privacy than was asked for; Theorem 30 gets them from margins, at the price of a fat-shattering dimension.

No data are read, and nothing is charged.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from accountant.costs import count, fraction, gaussian, open_probability, positive
from boosting.theory.generalisation import margin_sample_size
from boosting.theory.halfspaces import (
    centred_mean_length,
    density_for,
    enough_rounds,
    fat_shattering_bound,
    flips_planned_for,
    halfspace_sample_size,
    private_sample_size,
    tolerated_noise_rate,
)
from boosting.theory.label_noise import largest_corruption

SHARES: Final = (0.0, 0.5, 1.0, 1.5, 1.75, 1.9)
"""Margins that `by_margins` tries, as multiples of the advantage. 003 takes 1; 0 leaves it to the dimension."""


@attrs.frozen
class HalfspaceTask:
    """What is to be learnt, and what is promised of it. Raises ValueError for a number outside its range.

    margin: τ in (0, 1], of all records before flips.  dimension: d >= 1.  error: α in (0, 1], on new data.
    failure: β in (0, 1), that the error is larger.  epsilon, delta: of the whole run; ε > 0, δ in (0, 1).
    noise_rate: at most this share of labels is flipped, η in [0, ατ/(8(1 + τ))); None is the paper's ατ/32.
    """

    margin: float = attrs.field(converter=fraction)
    error: float = attrs.field(converter=fraction)
    failure: float = attrs.field(converter=open_probability)
    epsilon: float = attrs.field(converter=positive)
    delta: float = attrs.field(converter=open_probability)
    dimension: int = attrs.field(converter=count)
    noise_rate: float | None = None

    def __attrs_post_init__(self) -> None:
        most = 0.5 * largest_corruption(self.margin, self.density)
        if self.noise_rate is not None and not 0.0 <= self.noise_rate < most:
            raise ValueError(
                f"expected a noise rate in [0, {most:.6g}), error*margin/(8*(1 + margin)), got {self.noise_rate!r}"
            )

    @property
    def density(self) -> float:
        """κ = α/4."""
        return density_for(self.error)

    @property
    def promised_noise_rate(self) -> float:
        """η, the paper's where none was given."""
        return tolerated_noise_rate(self.error, self.margin) if self.noise_rate is None else self.noise_rate

    @property
    def planned_noise_rate(self) -> float:
        """0 where no label is flipped; else at least ατ/32: relying on fewer flips would take more records."""
        rate = self.promised_noise_rate
        return max(rate, tolerated_noise_rate(self.error, self.margin)) if rate else 0.0


@attrs.frozen
class SampleSize:
    """Records for each purpose, and the run that they are for.

    sigma: of the noise in ẑ, per coordinate.  rounds: T.  advantage: of every round, but for the failure.
    margin: θ that all but κn of the records get; 0 where any above 0 will do.
    fat_shattering: at θ/16, where generalisation depends on it.
    """

    sigma: float
    rounds: int
    advantage: float
    margin: float
    fat_shattering: float | None
    privacy: int
    generalisation: int
    label_noise: int

    @property
    def terms(self) -> dict[str, int]:
        """Records by purpose."""
        return {"privacy": self.privacy, "generalisation": self.generalisation, "label_noise": self.label_noise}

    @property
    def records(self) -> int:
        """n: enough for every purpose."""
        return max(self.terms.values())

    @property
    def dominant(self) -> str:
        """The purpose that takes the most records; the first of them, if some take the same."""
        return max(self.terms, key=self.terms.__getitem__)


Route = Callable[[HalfspaceTask, float], SampleSize]
"""From the task and σ to the records: `by_privacy` or `by_margins`."""


def by_privacy(task: HalfspaceTask, sigma: float) -> SampleSize:
    """003, Theorem 33: new data by the transfer theorem, see `halfspace_sample_size`. [003-Thm33]

    sigma: σ > 0. Raises ValueError for more noise than the margin bears.
    """
    found = halfspace_sample_size(
        task.margin,
        task.error,
        task.failure,
        task.epsilon,
        task.delta,
        sigma,
        task.dimension,
        task.planned_noise_rate,
    )
    return SampleSize(sigma, found.rounds, found.advantage, 0.0, None, found.privacy, found.transfer, found.label_noise)


def by_margins(task: HalfspaceTask, sigma: float) -> SampleSize:
    """003, Theorem 30 with every constant written out: new data by the margin bound. [003-Thm30] [003-Thm28]

    Failures: β/3 too many flips [003-Claim2], β/3 a bad round, β/3 the margin bound. Errors: fewer than κn records
    have margins below θ, flips add 2η; the margin bound adds the other α − κ − 2η. Its fat-shattering dimension at
    θ/16 is at most 256/θ² and at most d, as that of any d-dimensional vector space of functions is; where it is d the
    margin does not matter. Privacy: T rounds of ẑ are GDP(2√T/(κnσ)), at the ε and δ that were asked for.
    The margin is the best of SHARES. Depends on Theorem 28, cited.
    sigma: σ > 0. Raises ValueError for more noise than the margin bears.
    """
    third = task.failure / 3.0
    corrupted, label_noise = flips_planned_for(task.planned_noise_rate, third)
    length = centred_mean_length(task.margin, task.density, corrupted)
    mu = gaussian.mu(task.epsilon, task.delta)

    def at(share: float) -> SampleSize:
        rounds, advantage = enough_rounds(length, task.density, sigma, task.dimension, third, share)
        theta = share * advantage
        fat = min(float(task.dimension), fat_shattering_bound(theta / 16.0) if theta else math.inf)
        privacy = private_sample_size(rounds, task.density, sigma, mu)
        generalisation = margin_sample_size(task.density + corrupted, task.error, fat, third)
        return SampleSize(sigma, rounds, advantage, theta, fat, privacy, generalisation, label_noise)

    return min(map(at, SHARES), key=_preference)


def _preference(size: SampleSize) -> tuple[int, int]:
    return size.records, size.privacy


def _tried(task: HalfspaceTask, route: Route, sigmas: Sequence[float]) -> list[SampleSize]:
    """The route at every σ that it bears. Raises ValueError where it bears none."""
    found: list[SampleSize] = []
    why = ValueError("no sigma was tried")
    for sigma in sigmas:
        try:
            found.append(route(task, sigma))
        except ValueError as error:  # too much noise
            why = error
    if not found:
        raise ValueError(f"no sigma will do: {why}") from why
    return found


def best_sigma(task: HalfspaceTask, route: Route) -> SampleSize:
    """The route at the σ that needs the fewest records, and of those the one with the most to spare for privacy.

    A search on a grid from 1e-6·τ to τ, and then around the best. Rounds are whole, so the records jump with σ; a finer
    grid was found to save 2 % of them at most. Raises ValueError where no σ will do.
    """
    best = min(_tried(task, route, [task.margin * math.exp(-0.1 * place) for place in range(140)]), key=_preference)
    for step in (0.01, 0.001):  # in logarithms; each grid reaches past the neighbours in the one before
        near = [best.sigma * math.exp(step * place) for place in range(-12, 13)]
        best = min(_tried(task, route, near), key=_preference)
    return best
