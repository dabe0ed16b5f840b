"""The exact output distribution of a program that draws finitely many choices.

The program runs as it is, with a noise source that plays back a script and notes how likely each choice
was. Running it once per script gives its whole distribution: no part of it is modelled or mocked.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from accountant.arrays import FloatArray
from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.sources import BitArray

H = TypeVar("H", bound=Hashable)


class ScriptedNoise:
    """A noise source that makes the scripted choices, then choice 0, and keeps the exact log-probabilities."""

    name = "scripted (enumeration)"
    private = False

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script = script
        self.widths: list[int] = []
        self.chosen: list[int] = []
        self.log_probability = 0.0

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return self._choose(choice_probabilities.exponential(scores, eta))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return self._choose(choice_probabilities.noisy_max(scores, eta))

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return self._choose(choice_probabilities.permute_and_flip(scores, eta))

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`; refused, as its outputs cannot be enumerated."""
        raise TypeError("Laplace noise has no finite distribution: check this mechanism by its density or by samples")

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`; refused, as its outputs cannot be enumerated."""
        raise TypeError("Gaussian noise has no finite distribution: check this mechanism by its density or by samples")

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`; every bit is a choice of two."""
        fair = np.log(np.full(2, 0.5))
        return np.array([self._choose(fair) for _ in range(number)], dtype=np.uint8)

    def _choose(self, distribution: FloatArray) -> int:
        step = len(self.chosen)
        index = self._script[step] if step < len(self._script) else 0
        self.widths.append(int(distribution.size))
        self.chosen.append(index)
        self.log_probability += float(distribution[index])
        return index

    def next_script(self) -> tuple[int, ...] | None:
        """The script after this run's in lexicographic order; None after the last."""
        chosen = list(self.chosen)
        while chosen:
            if chosen[-1] + 1 < self.widths[len(chosen) - 1]:
                return (*chosen[:-1], chosen[-1] + 1)
            chosen.pop()
        return None


def output_distribution(program: Callable[[ScriptedNoise], H]) -> dict[H, float]:
    """Output to log-probability, over every choice the program can make.

    program: runs once with the noise source it is given and returns a hashable output. It may choose
    adaptively, but must be deterministic apart from that source.
    """
    distribution: dict[H, float] = {}
    script: tuple[int, ...] | None = ()
    while script is not None:
        noise = ScriptedNoise(script)
        output = program(noise)
        distribution[output] = float(np.logaddexp(distribution.get(output, -np.inf), noise.log_probability))
        script = noise.next_script()
    return distribution
