"""How long a private choice takes: many candidates in simulation, and an ordinary number securely."""

from functools import partial
from typing import Final

import numpy as np

from benchmarks.runner import Line, Measured, Report, Work, at_most, in_turns
from mechanisms import (
    ExponentialChoice,
    FiniteRandomizer,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
    SecureNoise,
    SeededNoise,
)

MANY: Final = 10**6
ORDINARY: Final = 326
GUMBEL: Final = "numpy's Gumbel draws"
CHOICES: Final[tuple[FiniteRandomizer, ...]] = (
    ExponentialChoice(50.0),
    PermuteAndFlipChoice(50.0),
    NoisyMaxChoice(50.0),
)

LIMIT: Final = 3.0
LIMIT_SECURE: Final = 1.0  # ms


def simulated(quick: bool) -> Report:
    """Beside as many Gumbel variables of numpy, in turns."""
    rng, noise, repeats = np.random.default_rng(0), SeededNoise(1), 3 if quick else 15
    scores = rng.random(MANY)
    works: dict[str, Work] = {GUMBEL: lambda: rng.gumbel(size=MANY)}
    works |= {randomizer.name: partial(randomizer.draw, scores, noise) for randomizer in CHOICES}
    times = in_turns(works, repeats)
    lines = [Line(GUMBEL, Measured.median((1e3 * each for each in times[GUMBEL]), unit="ms", form=".1f"))]
    for randomizer in CHOICES:
        ratios = [ours / theirs for ours, theirs in zip(times[randomizer.name], times[GUMBEL], strict=True)]
        found = Measured.median(ratios, unit="×", form=".2f")
        lines.append(at_most(f"{randomizer.name} over them", found, LIMIT, judged=not quick))
    return Report(f"A private choice among {MANY:,} candidates, seeded noise, {repeats} turns", lines)


def secure(quick: bool) -> Report:
    """With noise from a cryptographic generator."""
    scores, repeats = np.random.default_rng(0).random(ORDINARY), 10 if quick else 150
    works: dict[str, Work] = {
        randomizer.name: partial(randomizer.draw, scores, SecureNoise()) for randomizer in CHOICES
    }
    times = in_turns(works, repeats)
    lines = [
        at_most(
            randomizer.name,
            Measured.median((1e3 * each for each in times[randomizer.name]), unit="ms", form=".2f"),
            LIMIT_SECURE,
            judged=not quick,
        )
        for randomizer in CHOICES
    ]
    return Report(f"A private choice among {ORDINARY} candidates, secure noise, {repeats} turns", lines)


def tables(quick: bool) -> list[Report]:
    """Both. quick: fewer repeats, and nothing is held against anybody."""
    return [simulated(quick), secure(quick)]
