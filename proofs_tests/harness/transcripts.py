"""Learners that release many vectors with Gaussian noise, each asked for after the ones before: their exact μ on pairs.

On two neighbours the same outputs are given, whatever the values are; what differs then is only what was to be noised.
Along any such transcript Σ(|v − v'|/σ)² may not pass μ²: that is what adaptive composition of Gaussians adds up.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import attrs
import numpy as np

from accountant import GDP
from accountant.arrays import FloatArray
from mechanisms.randomness.sources import BitArray, SeededNoise
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.report import Report, judged

D = TypeVar("D")

TRANSCRIPTS: Final = 3
"""Per pair, unless more are asked for."""


@attrs.frozen
class Noised:
    """One release: what was to be noised, shape (k,), the deviation, and what came out."""

    value: FloatArray
    sigma: float
    output: FloatArray


class TranscriptNoise:
    """A source of Gaussian noise that keeps what it is given; with a transcript, its outputs whatever it is given.

    Raises TypeError for any other noise, and ValueError where a replay asks for something else than the first run did.
    """

    name = "transcript (verification)"
    private = False

    def __init__(self, seed: int, transcript: tuple[Noised, ...] | None = None) -> None:
        self._drawn, self._script = SeededNoise(seed), transcript
        self.releases: list[Noised] = []

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        output = self._drawn.gaussian(values, sigma, grid)
        if self._script is not None:
            if len(self.releases) >= len(self._script):
                raise ValueError("the neighbour made a learner release more: how much it asks depends on the data")
            first = self._script[len(self.releases)]
            if first.sigma != sigma or first.output.shape != values.shape:
                raise ValueError("the neighbour changed the noise or the number of values: these depend on the data")
            output = first.output
        self.releases.append(Noised(np.array(values), sigma, output))
        return output

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`; the same in a replay."""
        return self._drawn.bits(number)

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`; refused."""
        raise TypeError("only Gaussian noise adds up along a transcript")

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`; refused."""
        raise TypeError("only Gaussian noise adds up along a transcript")

    noisy_max_choice = exponential_choice
    permute_and_flip_choice = exponential_choice


def transcript_mu(learn: Callable[[D, TranscriptNoise], object], pair: Pair[D], seed: int) -> float:
    """√Σ(|v − v'|/σ)² along the transcript of this seed on the pair's first sample."""
    first = TranscriptNoise(seed)
    learn(pair.before, first)
    second = TranscriptNoise(seed, tuple(first.releases))
    learn(pair.after, second)
    if len(second.releases) != len(first.releases):
        raise ValueError("the neighbour made a learner release less: how much it asks depends on the data")
    moved = [
        float(np.linalg.norm(one.value - other.value)) / one.sigma
        for one, other in zip(first.releases, second.releases, strict=True)
    ]
    return math.hypot(*moved)


def check_transcripts(
    subject: str,
    learn: Callable[[D, TranscriptNoise], object],
    pairs: Iterable[Pair[D]],
    claimed: GDP,
    transcripts: int = TRANSCRIPTS,
) -> Report:
    """Whether a learner's μ holds on these pairs along several transcripts each. Raises ClaimViolated.

    learn: fits on a sample with a noise source, from which all its noise must come; deterministic otherwise.
    Exact on the pairs and transcripts that are looked at, and silent about others: a search, so that a claim is refuted
    or not refuted, and no probability can be stated.
    """
    started, worst, witness, number = time.perf_counter(), 0.0, "none", 0
    for index, pair in enumerate(pairs):
        for seed in range(transcripts):
            number += 1
            found = transcript_mu(learn, pair, seed)
            if found > worst:
                worst, witness = found, f"pair {index}, transcript {seed}"
    spent = time.perf_counter() - started
    return judged(
        Report(subject, repr(claimed), "mu along a transcript", claimed.mu, worst, "search", witness, number, spent)
    )
