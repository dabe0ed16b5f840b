"""Where randomness comes from: one protocol, two sources.

`SecureNoise` is the default: exact samples from a cryptographic generator, through OpenDP. `SeededNoise`
is numpy, for experiments and tests; every entry made with it says so, and its statement is headed
"simulation: not private".
"""

import functools
from typing import Protocol, cast

import attrs
import numpy as np
import opendp.prelude as dp

from accountant._numbers import positive
from accountant.rounding import up
from mechanisms.core import FloatArray

dp.enable_features("contrib")


class NoiseSource(Protocol):
    """What a mechanism draws from."""

    @property
    def name(self) -> str:
        """Its name in the books."""

    @property
    def private(self) -> bool:
        """False where the draws could be predicted."""

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """An index with probability proportional to exp(eta·score).

        scores: shape (k,), finite, k >= 1.  eta: inverse scale, positive.
        """


def finite_scores(scores: FloatArray) -> FloatArray:
    """The scores, refused where the exponential mechanism would have no law. Raises ValueError."""
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"expected scores of shape (k,) with k >= 1, got shape {scores.shape}")
    if not np.all(np.isfinite(scores)):
        raise ValueError("scores must be finite; -inf would make a candidate's absence visible")
    return scores


@functools.lru_cache(maxsize=256)
def _gumbel_max(scale: float) -> dp.Measurement:
    """OpenDP's noisy max with Gumbel noise, which is the exponential mechanism, sampled exactly."""
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T=float), dp.zero_concentrated_divergence(), scale=scale)


@attrs.frozen
class SecureNoise:
    """Exact sampling on rationals with a cryptographic generator (the `opendp` package)."""

    name = "secure (opendp)"
    private = True

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`. The scale 1/eta is rounded up, so the law is never sharper than declared."""
        scale = up(1.0 / positive(eta))
        return cast("int", _gumbel_max(scale)(finite_scores(scores).tolist()))


class SeededNoise:
    """numpy's generator: reproducible, so anyone who knows the seed can undo it.

    seed: anything `numpy.random.default_rng` takes.
    """

    name = "seeded (numpy)"
    private = False

    def __init__(self, seed: int | np.random.Generator) -> None:
        self.generator = np.random.default_rng(seed)

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        """See `NoiseSource`; by the Gumbel-max trick in floating point."""
        gumbel = self.generator.gumbel(size=finite_scores(scores).shape)
        return int(np.argmax(positive(eta) * scores + gumbel))


def noise_source(random_state: int | np.random.Generator | NoiseSource | None) -> NoiseSource:
    """SecureNoise for None, a simulation for a seed or a numpy Generator, and a noise source as it is."""
    if random_state is None:
        return SecureNoise()
    if isinstance(random_state, int | np.integer | np.random.Generator):
        return SeededNoise(random_state)
    if hasattr(random_state, "exponential_choice") and not isinstance(random_state, type):
        return random_state
    raise TypeError(
        f"random_state: expected None, an integer, a numpy Generator or a noise source, got {random_state!r}"
    )
