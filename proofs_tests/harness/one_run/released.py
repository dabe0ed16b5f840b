"""What a fit releases, as an onlooker sees it, and what it would have noised had the coins been others."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.explained import Explained
from mechanisms import NoiseSource
from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.sources import BitArray

Law: TypeAlias = Literal["gaussian", "laplace", "exponential", "noisy max", "permute and flip", "bits"]

LAWS: Final = {
    "exponential": choice_probabilities.exponential,
    "noisy max": choice_probabilities.noisy_max,
    "permute and flip": choice_probabilities.permute_and_flip,
}


SEED: Final = 64
"""Bits of a seed. Estimators of ours draw seeds of what is public: bins, supports; what bits they keep secret are more,
but for tuning, which is refused for itself."""


class NotReleased(Explained, ValueError):
    """A draw that is not known to be a release: who sees it sees more than was promised to be harmless."""


@attrs.frozen(eq=False)
class Release:
    """One draw.  law: of its noise.  scale: σ, b, or η of a choice.  output: what came out; it holds no value."""

    law: Law
    scale: float
    output: FloatArray

    @property
    def additive(self) -> bool:
        """Whether noise was added to numbers."""
        return self.law in ("gaussian", "laplace")


@attrs.define(eq=False)
class Listening:
    """A noise source that keeps what comes out of another one, and nothing of what went in."""

    inner: NoiseSource
    releases: list[Release] = attrs.field(factory=list, init=False)

    @property
    def name(self) -> str:
        """That of the source inside."""
        return self.inner.name

    @property
    def private(self) -> bool:
        """As the source inside."""
        return self.inner.private

    def _kept(self, law: Law, scale: float, output: FloatArray) -> FloatArray:
        self.releases.append(Release(law, scale, np.array(output, dtype=np.float64)))
        return output

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return self._kept("gaussian", sigma, self.inner.gaussian(values, sigma, grid))

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return self._kept("laplace", scale, self.inner.laplace(values, scale, grid))

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("exponential", eta, np.array(self.inner.exponential_choice(scores, eta))))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("noisy max", eta, np.array(self.inner.noisy_max_choice(scores, eta))))

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._kept("permute and flip", eta, np.array(self.inner.permute_and_flip_choice(scores, eta))))

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`."""
        drawn = self.inner.bits(number)
        self._kept("bits", 1.0, drawn.astype(np.float64))
        return drawn


class Replaying:
    """A noise source that gives the outputs of a first fit again, and keeps what was to be noised.

    Raises ValueError where it is asked for something else than that fit asked for.
    """

    name = "replay (verification)"
    private = False

    def __init__(self, script: Sequence[Release]) -> None:
        self._script: Iterator[Release] = iter(script)
        self.values: list[FloatArray] = []

    def _next(self, law: Law, scale: float, values: FloatArray) -> FloatArray:
        first = next(self._script, None)
        same = first is not None and (first.law, first.scale) == (law, scale)
        if first is None or not same or (first.additive and first.output.shape != values.shape):
            raise ValueError("what a fit draws depends on the canaries' coins in a way that was not released")
        self.values.append(np.array(values, dtype=np.float64))
        return np.array(first.output)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return self._next("gaussian", sigma, values)

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return self._next("laplace", scale, values)

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._next("exponential", eta, scores))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._next("noisy max", eta, scores))

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return int(self._next("permute and flip", eta, scores))

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`."""
        return self._next("bits", 1.0, np.zeros(number)).astype(np.uint8)


def refuse_inner_noise(releases: Sequence[Release], values: Sequence[FloatArray]) -> None:
    """Raise NotReleased where more bits were drawn than a seed has, or noise by itself: added to nothing but zeros."""
    for number, (release, value) in enumerate(zip(releases, values, strict=True), 1):
        if release.law == "bits" and release.output.size > SEED:
            raise NotReleased(f"draw {number} is of bits, which need not be released; take score='black-box'")
        if release.additive and value.size and not np.any(value):
            raise NotReleased(
                f"draw {number} is {release.law} noise by itself, which need not be released; take score='black-box'"
            )


def log_ratio(release: Release, first: FloatArray, second: FloatArray) -> float:
    """ln of how much likelier the output is with the first value than with the second."""
    match release.law:
        case "gaussian":
            return float(np.sum((release.output - 0.5 * (first + second)) * (first - second)) / release.scale**2)
        case "laplace":
            gap = np.abs(release.output - second) - np.abs(release.output - first)
            return float(np.sum(gap) / release.scale)
        case "bits":
            return 0.0
        case law:
            place = int(release.output)
            return float(LAWS[law](first, release.scale)[place] - LAWS[law](second, release.scale)[place])
