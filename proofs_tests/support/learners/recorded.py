"""What a pair of data sets really differs by, in a whole fit: every vector that is to be noised, every list of scores.

A fit on the first is recorded; the neighbour is given the same outputs, so that its queries are those that follow.
Gaussian noise adds up as μ, Laplace noise and choices as ε: along any transcript neither may pass what was charged.
"""

import math
from collections.abc import Callable
from typing import TypeVar

import attrs
import numpy as np

from accountant.arrays import FloatArray
from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.sources import BitArray, SeededNoise
from proofs_tests.harness import Pair

D = TypeVar("D")

LAWS = {
    "exponential": choice_probabilities.exponential,
    "noisy max": choice_probabilities.noisy_max,
    "permute and flip": choice_probabilities.permute_and_flip,
}


@attrs.frozen
class Asked:
    """One call: what was to be noised or chosen among, by which law, its scale, and what came out."""

    law: str
    value: FloatArray
    scale: float
    output: FloatArray | int


@attrs.frozen
class Moved:
    """μ of all Gaussian noise together, ε of all Laplace noise and choices."""

    mu: float
    epsilon: float


class Recorder:
    """A noise source that keeps what it is asked; with a script, it answers as that says."""

    name = "recorded (verification)"
    private = False

    def __init__(self, seed: int, script: tuple[Asked, ...] | None = None) -> None:
        self._drawn, self._script = SeededNoise(seed), script
        self.asked: list[Asked] = []

    def _kept(self, law: str, value: FloatArray, scale: float, output: FloatArray | int) -> FloatArray | int:
        if self._script is not None:
            said = self._script[len(self.asked)]
            if (said.law, said.scale, said.value.shape) != (law, scale, value.shape):
                raise ValueError(
                    f"the neighbour was asked for {law} at {scale}, the first for {said.law} at {said.scale}"
                )
            output = said.output
        self.asked.append(Asked(law, np.array(value, dtype=np.float64), scale, output))
        return output

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return np.asarray(self._kept("gaussian", values, sigma, self._drawn.gaussian(values, sigma, grid)))

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return np.asarray(self._kept("laplace", values, scale, self._drawn.laplace(values, scale, grid)))

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("exponential", scores, eta, self._drawn.exponential_choice(scores, eta)))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("noisy max", scores, eta, self._drawn.noisy_max_choice(scores, eta)))

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("permute and flip", scores, eta, self._drawn.permute_and_flip_choice(scores, eta)))

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`; the same in a replay."""
        return self._drawn.bits(number)


def moved(learn: Callable[[D, Recorder], object], pair: Pair[D], seed: int = 0) -> Moved:
    """What the pair comes to along the transcript of this seed on its first data set.

    Raises ValueError where the neighbour is asked for something else, which nobody paid for.
    """
    first = Recorder(seed)
    learn(pair.before, first)
    second = Recorder(seed, tuple(first.asked))
    learn(pair.after, second)
    if len(second.asked) != len(first.asked):
        raise ValueError("the neighbour was asked less: how much depends on the data")
    gaussian, pure = 0.0, 0.0
    for one, other in zip(first.asked, second.asked, strict=True):
        if one.law == "gaussian":
            gaussian = math.hypot(gaussian, float(np.linalg.norm(one.value - other.value)) / one.scale)
        elif one.law == "laplace":
            pure += float(np.abs(one.value - other.value).sum()) / one.scale
        else:
            law = LAWS[one.law]
            pure += float(np.abs(law(one.value, one.scale) - law(other.value, other.scale)).max())
    return Moved(gaussian, pure)
