"""Settings for learning a halfspace with a promise: an error of at most α on new data, but for probability β."""

import math
from typing import Final

import attrs

from boosting.reweighted_sample import MAX_ROUNDS
from boosting.theory import (
    HalfspaceTask,
    SampleSize,
    best_learning_rate,
    best_sigma,
    by_margins,
    centred_mean_length,
    flips_planned_for,
    noisy_centred_mean_advantage,
)
from learners.base import BoostingSettings
from learners.halfspaces.centred_means import PER_UNIT, mean_rounding
from learners.halfspaces.exact_sums import DIRECTION
from learners.halfspaces.point_sample import POINT_UNIT

SLACK: Final = 1.005
"""Times as many records as privacy asks for, so that rounding, which is charged too, leaves the noise within it."""

NARROWER: Final = 1.0 - 2.0**-7
"""Of the margin, which the theorems are asked about: the rest is room for rounding, see `room`."""


def narrowed(task: HalfspaceTask) -> HalfspaceTask:
    """The task that the theorems are asked about. Raises ValueError for flips that only all of the margin bears."""
    return attrs.evolve(task, margin=task.margin * NARROWER, noise_rate=task.promised_noise_rate)


def room(task: HalfspaceTask, size: SampleSize) -> float:
    """What the margins that `size` promises have to spare for rounded points, margins and weights. [halfspace-grid]

    size: `by_margins` of the `narrowed` task. The promise holds where this is not negative: with c how far a point is
    cut, r the rounding of means and a that of margins, a run has advantages of at least γ(|z| − c − r) − (c + r)/2 of
    the true margin's |z|, and gets normalised margins of twice that less the regret, the λa that rounded margins add to
    it, and c. What was promised is twice the narrower margin's advantage, less the regret.
    λa: weights are exp(−λ·margin), projected. The projection minimises λ·⟨margins, P⟩ + KL(P ‖ uniform) over the
    κ-smooth P, and KL is 1-strongly convex in ℓ1; so margins that are off by a move P by λa, in ℓ1, and the mean of
    something in [−1, 1] by as much.
    """
    root, rounds = math.sqrt(task.dimension), size.rounds
    cut = root * POINT_UNIT + 2.0**-28  # 2^-30 for keeping within the ball, see `SignedPoints`, and rounding
    off = cut + mean_rounding(size.records, task.density)
    third = task.failure / 3.0
    corrupted, _ = flips_planned_for(narrowed(task).planned_noise_rate, third)
    length = centred_mean_length(task.margin, task.density, corrupted) - off
    advantage = noisy_centred_mean_advantage(length, size.sigma, task.dimension, third / rounds) - 0.5 * off
    margins = 0.5 / PER_UNIT + rounds * (root * 2.0 ** -(DIRECTION + 1) + 2.0**-40)
    return 2.0 * (advantage - size.advantage) - best_learning_rate(task.density, rounds) * margins - cut


def _certified(task: HalfspaceTask, sigma: float) -> SampleSize:
    """`by_margins`, for as many rounds as are certified; less noise takes fewer. Raises ValueError for more."""
    size = by_margins(narrowed(task), sigma)
    if size.rounds > MAX_ROUNDS:
        raise ValueError(f"{size.rounds} rounds are more than the {MAX_ROUNDS} that are certified")
    if not room(task, size) >= 0.0:
        raise ValueError(f"{size.rounds} rounds in {task.dimension} dimensions leave no room for rounding")
    return size


def promised(task: HalfspaceTask, n: int) -> tuple[BoostingSettings, SampleSize]:
    """T, λ and κ, and the σ that they bear, for n records. Raises ValueError where these are too few for the promise.

    κ = α/4 and λ = √(2L/T), with T and σ those that need the fewest records by 003, Theorem 30, for a margin that is
    narrower by 2^-7, which leaves `room` for rounding. [003-Thm30] [halfspace-grid] Theorem 33 is left out: it gets new
    data from a run that is more private than was asked for, and takes far more records.
    """
    try:
        size = best_sigma(task, _certified)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"margin: nothing can be promised at {task.margin:g} of the radius: {error}") from error
    needed = max(math.ceil(SLACK * size.privacy), size.generalisation, size.label_noise)
    if n < needed:
        raise ValueError(
            f"n: {n} records are too few to promise an error of {task.error:g} but for probability {task.failure:g} at "
            f"margin {task.margin:g} in {task.dimension} dimensions; it takes {needed}, mostly for "
            f"{size.dominant.replace('_', ' ')}. `exchequer price --halfspace` shows what other promises take; without "
            "margin= nothing is promised, and fewer are mostly enough"
        )
    return BoostingSettings(size.rounds, best_learning_rate(task.density, size.rounds), task.density), size
