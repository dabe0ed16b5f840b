"""Where randomness comes from, and exact draws of a choice."""

from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.sources import (
    GRID,
    NoiseSource,
    SecureNoise,
    SeededNoise,
    grid_exponent,
    noise_source,
    uniform,
)

__all__ = [
    "GRID",
    "NoiseSource",
    "SecureNoise",
    "SeededNoise",
    "choice_probabilities",
    "grid_exponent",
    "noise_source",
    "uniform",
]
