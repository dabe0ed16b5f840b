"""Angles and waves of random features: the same bits for a record whatever its company, its place, and the machine.

A product of doubles is rounded as BLAS happens to add, and numpy's cosines as the processor's vectors happen to fall: a
record's last bits would depend on its neighbours, and on the block it is in. Here products are of whole numbers so
short that nothing is rounded, and all else is elementwise arithmetic, which IEEE 754 fixes. [exact-angles]
"""

import math
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import count
from mechanisms.gradients import MANTISSA

LEAST_EXPONENT: Final = -900
"""Of two: points and frequencies that are smaller are taken as multiples of such steps, or scaling could overflow."""

WAVE: Final = (
    -14.393966295455941,
    42.009779303153906,
    -76.70427987604262,
    81.60522617402967,
    -41.341702116744,
    6.283185307072264,
)
"""sin(2πq)/q as a polynomial of q², the highest power first, |q| <= 1/4: Chebyshev's, by mpmath."""

WAVE_ERROR: Final = 2.0**-35
"""Of `cosines` and `sines`, rounding included."""


def angle_places(inputs: int) -> tuple[int, int]:
    """Binary places of points and of frequencies, r + s = 53 − ⌈log₂ d⌉: d products of such numbers add up exactly."""
    both = MANTISSA - math.ceil(math.log2(count(inputs)))
    return both - both // 2, both // 2


def _steps(largest: FloatArray, places: int) -> FloatArray:
    """2^(e − places), e the least with each number below 2^e."""
    return np.asarray(np.ldexp(1.0, np.maximum(np.frexp(largest)[1], LEAST_EXPONENT) - places))


def turn_frequencies(frequencies: FloatArray) -> FloatArray:
    """ω/2π, each column rounded to s binary places below its own largest entry's. shape (d, N), of ω too."""
    turns = frequencies / (2.0 * math.pi)
    steps = _steps(np.max(np.abs(turns), axis=0), angle_places(len(turns))[1])
    return np.asarray(np.rint(turns / steps) * steps)


def turns_of(points: FloatArray, frequencies: FloatArray) -> FloatArray:
    """⟨ω, x⟩/2π but for whole turns, in [−1/2, 1/2], shape (n, N). [exact-angles]

    points: shape (n, d), finite, of size at most 2^60; each row is rounded to r binary places below its own largest
    entry's.  frequencies: of `turn_frequencies`.
    Over powers of two, sums are of d products of whole numbers up to 2^r and 2^s, so that they and all partial sums are
    whole numbers up to 2^53. An angle is off by at most 2^-r·|x|_∞·|ω̃|₁ + 2^-s·|x|₁·|ω|_∞, ω̃ as rounded, because what
    is below 2^e and not below 2^(e−1) is off by half of 2^(e−r): about what single precision would do, or less.
    """
    steps = _steps(np.max(np.abs(points), axis=1), angle_places(points.shape[1])[0])[:, None]
    found = np.rint(points / steps) @ frequencies
    found *= steps
    found -= np.rint(found)
    return np.asarray(found)


def cosines(turns: FloatArray) -> FloatArray:
    """cos 2πt, shape of t, which is in [−1/2, 1/2]. Off by at most `WAVE_ERROR`."""
    quarter = np.abs(turns)
    np.subtract(0.25, quarter, out=quarter)
    return _wave(quarter)


def sines(turns: FloatArray) -> FloatArray:
    """sin 2πt, shape of t, which is in [−1/2, 1/2]. Off by at most `WAVE_ERROR`."""
    quarter = turns + 0.25
    np.abs(quarter, out=quarter)
    quarter -= 0.5
    np.abs(quarter, out=quarter)
    np.subtract(0.25, quarter, out=quarter)
    return _wave(quarter)


def _wave(quarter: FloatArray) -> FloatArray:
    """sin 2πq, |q| <= 1/4."""
    square = quarter * quarter
    found = square * WAVE[0]
    for term in WAVE[1:-1]:
        found += term
        found *= square
    found += WAVE[-1]
    found *= quarter
    return found
