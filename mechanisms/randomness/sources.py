"""Where randomness comes from: one protocol, two sources.

`SecureNoise` is the default: exact samples from a cryptographic generator; noise that is added comes from OpenDP, a
choice by the exponential mechanism from `exact_choice`. `SeededNoise` is numpy, for experiments and tests; every entry
made with it says so, and its statement is headed "simulation: not private".
"""

import functools
import math
import os
from typing import Final, Protocol, cast

import attrs
import numpy as np
import numpy.typing as npt

# Not opendp.prelude: that takes scikit-learn, pandas and Polars along, and two seconds.
from opendp import domains, measurements, measures, metrics
from opendp.mod import Measurement, enable_features

from accountant import Ledger
from accountant.arrays import FloatArray
from accountant.costs import SECURE, SEEDED, count, positive, up
from accountant.ledger import durable
from mechanisms.randomness.choice_probabilities import finite_scores
from mechanisms.randomness.exact_choice import exact_choice
from mechanisms.randomness.float_values import as_floats

enable_features("contrib")

BitArray = npt.NDArray[np.uint8]

STREAM: Final = 0x0E5C_4E90
"""Sets the noise of simulations apart from everything else that is drawn from the same seed."""

GRID: Final = 2.0**-40
"""What rounding a vector to the secure sampler's grid may add to its sensitivity, in units of the noise scale.

Randomizers add it to what they declare, whatever the source.
"""


class NoiseSource(Protocol):
    """A source of randomness: `SecureNoise` for releases, `SeededNoise` for simulations, which are not private.

    Mechanisms draw from the source that they are given, and from nothing else; entries of a ledger name it.
    """

    @property
    def name(self) -> str:
        """Its name in the ledger."""

    @property
    def private(self) -> bool:
        """False where the draws could be predicted."""

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """An index with probability proportional to exp(eta·score).

        scores: shape (k,), finite, k >= 1.  eta: inverse scale, positive.
        """

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """The index of the largest score + Lap(1/eta); arguments as above."""

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """The index of the largest score + Exp(1/eta); arguments as above."""

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """values + independent Lap(scale), any shape; may round to multiples of 2^grid first."""

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """values + independent N(0, sigma²), any shape; may round to multiples of 2^grid first."""

    def bits(self, number: int) -> BitArray:
        """Fair bits, shape (number,), each 0 or 1."""


def grid_exponent(scale: float, size: int) -> int:
    """The coarsest power of two on which rounding `size` values adds at most GRID·scale to any norm's change.

    Each value moves by at most half a grid step in either sample, so each change by at most one step.
    """
    return max(-1074, math.floor(math.log2(positive(scale) * GRID / count(max(size, 1)))))


def uniform(noise: NoiseSource) -> float:
    """A number in (0, 1) from 52 fair bits: the middle of one of 2^52 equal cells."""
    word = int.from_bytes(np.packbits(noise.bits(64)).tobytes(), "big")
    return ((word >> 12) + 0.5) * 2.0**-52


def finite_values(values: FloatArray) -> FloatArray:
    """The values in double precision, refused where noise would not hide them. Raises ValueError."""
    doubles = as_floats(values)
    if not np.all(np.isfinite(doubles)):
        raise ValueError("values must be finite: no noise hides an infinity or a NaN")
    return doubles


@functools.lru_cache(maxsize=256)
def _permute_and_flip(scale: float) -> Measurement:
    """OpenDP's noisy max with exponential noise, which is permute-and-flip."""
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False))
    return measurements.make_noisy_max(domain, metrics.linf_distance(T=float), measures.max_divergence(), scale=scale)


@functools.lru_cache(maxsize=256)
def _additive(size: int, scale: float, grid: int, *, gaussian: bool) -> Measurement:
    """OpenDP's exact discrete Laplace or Gaussian noise on multiples of 2^grid."""
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False), size=size)
    if gaussian:
        return measurements.make_gaussian(domain, metrics.l2_distance(T=float), scale=scale, k=grid)
    return measurements.make_laplace(domain, metrics.l1_distance(T=float), scale=scale, k=grid)


def _add(values: FloatArray, scale: float, grid: int, *, gaussian: bool) -> FloatArray:
    flat = np.ascontiguousarray(finite_values(values)).ravel()
    if flat.size == 0:
        return values
    noisy = _additive(flat.size, up(positive(scale)), grid, gaussian=gaussian)(flat.tolist())
    return np.asarray(noisy, dtype=np.float64).reshape(values.shape)


def _word() -> int:
    return int.from_bytes(os.urandom(8), "big")


@attrs.frozen
class SecureNoise:
    """Exact sampling with a cryptographic generator: no distribution is ever sharper than declared, to the last bit.

    Additive noise and permute-and-flip are the `opendp` package's, on rationals, with scales rounded up; the
    exponential mechanism is `exact_choice`.
    """

    name = SECURE
    private = True

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`. [exact-choice]"""
        return exact_choice(scores, eta, _word)

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        return cast("int", _permute_and_flip(up(1.0 / positive(eta)))(finite_scores(scores).tolist()))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`. Ties of the grid go to the first; that is as private, as noise is exact on the grid."""
        scale = 1.0 / positive(eta)
        return int(np.argmax(self.laplace(finite_scores(scores), scale, grid_exponent(scale, 2))))

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return _add(values, scale, grid, gaussian=False)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`."""
        return _add(values, sigma, grid, gaussian=True)

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`; from the operating system's generator."""
        return _unpacked(os.urandom(-(-number // 8)), number)


class SeededNoise:
    """numpy's generator: reproducible, so anyone who knows the seed can undo it.

    seed: a whole number from 0, or a generator, used as it is. A number starts a stream of its own, not that of
      `numpy.random.default_rng(seed)`: otherwise data that were made from the same seed would hold the very numbers
      that are added as noise, and a simulation would be far from the truth.
    """

    name = SEEDED
    private = False

    def __init__(self, seed: int | np.random.Generator) -> None:
        if not isinstance(seed, np.random.Generator):
            seed = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(STREAM,))))
        self.generator = seed

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`; by the Gumbel-max trick in floating point."""
        scores = finite_scores(scores)
        return self._largest(scores, eta, self.generator.gumbel(size=scores.shape))

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        scores = finite_scores(scores)
        return self._largest(scores, eta, self.generator.laplace(size=scores.shape))

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`."""
        scores = finite_scores(scores)
        return self._largest(scores, eta, self.generator.standard_exponential(size=scores.shape))

    def _largest(self, scores: FloatArray, eta: float, drawn: FloatArray) -> int:
        drawn += positive(eta) * scores
        return int(np.argmax(drawn))

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        """See `NoiseSource`; in floating point, without a grid."""
        return finite_values(values) + self.generator.laplace(scale=positive(scale), size=values.shape)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        """See `NoiseSource`; in floating point, without a grid."""
        return finite_values(values) + self.generator.normal(scale=positive(sigma), size=values.shape)

    def bits(self, number: int) -> BitArray:
        """See `NoiseSource`."""
        return _unpacked(self.generator.bytes(-(-number // 8)), number)


def _unpacked(raw: bytes, number: int) -> BitArray:
    return np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=number)


def noise_source(
    random_state: int | np.random.Generator | NoiseSource | None, ledger: Ledger | str | None
) -> NoiseSource:
    """SecureNoise for None, a simulation for a seed or a numpy Generator, and a noise source as it is.

    ledger: what will be charged for the noise, or its URL; None for a ledger in memory that ends with the fit.
    Raises TypeError for anything else, and ValueError for a seed or a Generator with a durable ledger: a simulation
    releases nothing that is private, and what it costs would be gone for good. `SeededNoise(seed)` says that it is
    meant; it is charged, and marked as a simulation.
    """
    if random_state is None:
        return SecureNoise()
    if isinstance(random_state, int | np.integer | np.random.Generator) and not isinstance(random_state, bool):
        if durable(ledger):
            said = "generator" if isinstance(random_state, np.random.Generator) else int(random_state)
            raise ValueError(
                f"random_state={said} would charge a durable ledger for a simulation; nothing was charged. Leave "
                "random_state=None for private noise, leave out ledger= to simulate, or give "
                f"random_state=SeededNoise({said}), of mechanisms, to charge it all the same"
            )
        return SeededNoise(random_state)
    if hasattr(random_state, "exponential_choice") and not isinstance(random_state, type | int):
        return random_state
    raise TypeError(
        f"random_state: expected None, an integer, a numpy Generator or a noise source, got {random_state!r}"
    )
