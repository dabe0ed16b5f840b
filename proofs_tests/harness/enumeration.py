"""The exact output law of a program that draws finitely many choices.

The program runs as it is, with a noise source that plays back a script and notes how likely each choice
was. Running it once per script gives its whole law: no part of it is modelled or mocked.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from scipy.special import log_softmax

from mechanisms.core import FloatArray
from mechanisms.noise import finite_scores

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
        law = log_softmax(eta * finite_scores(scores))
        step = len(self.chosen)
        index = self._script[step] if step < len(self._script) else 0
        self.widths.append(int(scores.size))
        self.chosen.append(index)
        self.log_probability += float(law[index])
        return index

    def next_script(self) -> tuple[int, ...] | None:
        """The script after this run's in lexicographic order; None after the last."""
        chosen = list(self.chosen)
        while chosen:
            if chosen[-1] + 1 < self.widths[len(chosen) - 1]:
                return (*chosen[:-1], chosen[-1] + 1)
            chosen.pop()
        return None


def output_law(program: Callable[[ScriptedNoise], H]) -> dict[H, float]:
    """Output to log-probability, over every choice the program can make.

    program: runs once with the noise source it is given and returns a hashable output. It may choose
    adaptively, but must be deterministic apart from that source.
    """
    law: dict[H, float] = {}
    script: tuple[int, ...] | None = ()
    while script is not None:
        noise = ScriptedNoise(script)
        output = program(noise)
        law[output] = float(np.logaddexp(law.get(output, -np.inf), noise.log_probability))
        script = noise.next_script()
    return law
