"""The one place where privacy arithmetic is rounded.

Sums of ε, δ and ρ are exact: every float is a rational with a power of two below, so sums of floats
stay short `Fraction`s. Everything transcendental is evaluated in double precision by formulas that
are well conditioned (the tests compare each with mpmath) and then moved by `SLACK` towards more loss.
"""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from accountant.explained import Explained

SLACK: Final = 2.0**-40
"""Relative head-room (9e-13) put on every transcendental step; the worst formula uses 15 % of it."""


class BeyondFloats(Explained, ValueError):
    """A privacy loss is larger than any float, and so than any finite budget; nothing was charged."""


def exact(value: float) -> Fraction:
    """The rational number that a float is."""
    return Fraction(value)


def up(value: float) -> float:
    """A float above every real number that `value` may stand for, ∞ where there is no other."""
    return math.nextafter(value + abs(value) * SLACK, math.inf)


def finite_up(value: float) -> float:
    """The same for a loss that is to be shown. Raises BeyondFloats where there is none but ∞, or for NaN."""
    above = up(value)
    if not above < math.inf:
        raise BeyondFloats(f"this comes to a loss beyond any float (they end at {sys.float_info.max:.3g}); use less")
    return above


def down(value: float) -> float:
    """A float below every real number that `value` may stand for."""
    return math.nextafter(value - abs(value) * SLACK, -math.inf)


def float_up(value: Fraction) -> float:
    """The smallest float that is at least `value`, which must be >= 0. Raises BeyondFloats where there is none."""
    try:
        nearest = float(value)
    except OverflowError:
        raise BeyondFloats(f"a sum beyond any float (they end at {sys.float_info.max:.3g}); use less") from None
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def float_down(value: Fraction) -> float:
    """The largest float that is at most `value`, which must be >= 0."""
    try:
        nearest = float(value)
    except OverflowError:
        return sys.float_info.max
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def largest(fits: Callable[[float], bool], start: float = 1.0) -> float:
    """The largest x > 0 found with `fits(x)`, to 12 digits, for a `fits` that is true up to a point.

    Bisection that only ever returns a value for which `fits` was seen to be true, so that a
    calibration cannot end above its target. Raises `ArithmeticError` when nothing or everything fits.
    """
    if not 0.0 < start < math.inf:
        raise ValueError(f"the search must start at a positive number, got {start!r}")
    low, high = start, 2.0 * start
    while not fits(low):
        low, high = 0.5 * low, low
        if low < 1e-300:
            raise ArithmeticError("no number above 1e-300 fits this budget: it is too small for this plan")
    while high > start:
        if high > 1e300:
            raise ArithmeticError("every number up to 1e300 fits this budget: it is too large to calibrate noise to")
        if not fits(high):
            break
        low, high = high, 2.0 * high
    return _bisect(fits, low, high)


def _bisect(fits: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= 1e-12 * low:
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


FINE: Final = 1e-6


def largest_below(
    value_at: Callable[[float], float], target: float, start: float = 1.0, *, within: float = FINE, slope: float = 1.0
) -> float:
    """The largest x > 0 found with `value_at(x)` <= target, for a rising function that is costly to evaluate.

    A value less than `within` below the target, relatively, ends the search, which goes by secants in logarithms
    between points on either side; only an x whose value was seen to fit is returned. slope: how the logarithm of the
    value is likely to rise with that of x, for a good second guess. Raises `ArithmeticError` like `largest`.
    """
    low, high = 0.0, math.inf
    below, above = 0.0, math.inf
    x = start
    for _ in range(2000):
        value = value_at(x)
        if value <= target:
            low, below = x, value
        else:
            high, above = x, value
        if low and (below >= target * (1.0 - within) or high - low <= 1e-12 * low):
            return low
        x = _next_guess(low, below, high, above, target * (1.0 - 0.4 * within), slope)
        if not 1e-300 < x < 1e300:
            raise ArithmeticError("no noise scale that a float can hold fits this budget and this plan")
    raise ArithmeticError("the search for a noise scale did not come to an end")


def _next_guess(low: float, below: float, high: float, above: float, target: float, slope: float) -> float:
    """Between the brackets by a secant in logarithms; outside by proportion, at most sixteen-fold."""
    if high == math.inf:
        return low * min(16.0, max(1.0 + 1e-9, math.pow(target / below, 1.0 / slope))) if below else low * 16.0
    if low == 0.0:
        return high * max(0.0625, min(1.0 - 1e-9, math.pow(target / above, 1.0 / slope)))
    if not 0.0 < below < above < math.inf:
        return math.sqrt(low) * math.sqrt(high)
    share = math.log(target / below) / math.log(above / below)
    # Held off the ends, so that the bracket shrinks from both sides even where the function bends.
    return low * math.pow(high / low, min(0.98, max(0.02, share)))
