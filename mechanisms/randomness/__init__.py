"""Sources of randomness, secure and seeded, and exact sampling of a private choice."""

from mechanisms.randomness import choice_probabilities
from mechanisms.randomness.float_values import as_floats
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
    "as_floats",
    "choice_probabilities",
    "grid_exponent",
    "noise_source",
    "uniform",
]
