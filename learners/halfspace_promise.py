"""Settings for learning a halfspace with a promise: an error of at most α on new data, but for probability β."""

import math
from typing import Final

from boosting.guarantees import best_learning_rate
from boosting.reweighted import MAX_ROUNDS
from boosting.sample_sizes import HalfspaceTask, SampleSize, best_sigma, by_margins
from learners.defaults import Settings

SLACK: Final = 1.001
"""Times as many records as privacy asks for, so that rounding, which is charged too, leaves the noise within it."""


def _certified(task: HalfspaceTask, sigma: float) -> SampleSize:
    """`by_margins`, for as many rounds as are certified; less noise takes fewer. Raises ValueError for more."""
    size = by_margins(task, sigma)
    if size.rounds > MAX_ROUNDS:
        raise ValueError(f"{size.rounds} rounds are more than the {MAX_ROUNDS} that are certified")
    return size


def promised(task: HalfspaceTask, n: int) -> tuple[Settings, SampleSize]:
    """T, λ and κ, and the σ that they bear, for n records. Raises ValueError where these are too few for the promise.

    κ = α/4 and λ = √(2L/T), with T and σ those that need the fewest records by 003, Theorem 30. [003-Thm30] Theorem 33
    is left out: it gets new data from a run that is more private than was asked for, and takes far more records.
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
    return Settings(size.rounds, best_learning_rate(task.density, size.rounds), task.density), size
