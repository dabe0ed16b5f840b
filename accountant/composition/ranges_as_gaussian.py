"""Adaptively chosen bounded-range releases are together no worse than one Gaussian release. [L6]

Let G(x; s) be the δ of √s-GDP at ε = x. If G(·; s) is above the best that an adversary can do with the releases still
to come, and one more of width w comes before them, then G(·; s²/(s − a²)) is above that, a = w/2, wherever s >= 2a²
and w <= `WIDEST`. So from the last release back to the first,

    s ← max(s, 2a²),    s ← s²/(s − a²) = s + a² + a⁴/(s − a²).

N equal widths come to s <= a²(N + ln N + 3), whatever N, at no cost in time; and randomized response with ε = a, which
is such a release, tends to √(a²N)-GDP over N rounds where a is small.
"""

import math
from collections.abc import Sequence
from typing import Final

from accountant.composition import adaptive_range
from accountant.costs import finite_up, gaussian, open_probability, up

WIDEST: Final = 4.8
"""Below 2√6 = 4.899, up to which the proof goes: a² <= 12(1 − a²/s) at s = 2a²."""

ONE_BY_ONE: Final = 32
"""So many equal rounds are added up one by one; the harmonic sum that stands for the others is above them."""

STEP_UP: Final = 1.0 + 2.0**-47
"""One step takes six operations on positive numbers, and s − a² at most doubles what was lost before."""

NEARLY_ALL: Final = 1.006
"""With s at most this many times Σa², μ is within 0.3 % of the limit: a grid would take longer for less."""


def epsilon(widths: Sequence[tuple[float, int]], delta: float, above: float) -> float | None:
    """An upper bound on the optimal ε at δ of bounded-range releases in this order, chosen adaptively. [L5] [L6]

    The smaller of this bound and that of `adaptive_range`, which is asked where it may be the smaller one.

    widths: (width, rounds), in the order of release.  above: an ε that is known to be enough.
    Returns None where neither has one.  Raises ValueError unless 0 < δ < 1.
    """
    delta = open_probability(delta)
    total = square(widths)
    if total is None:
        return adaptive_range.epsilon(widths, delta, above)
    found = gaussian.epsilon(finite_up(math.sqrt(total)), delta)
    if _nearly_all(widths, total):
        return found
    # By `above` as it came: it lays the grid's window, and the last digits of prices in older ledgers go by it.
    finer = adaptive_range.epsilon(widths, delta, above)
    return found if finer is None else min(found, finer)


def _nearly_all(widths: Sequence[tuple[float, int]], total: float) -> bool:
    """Whether nothing much smaller can hold; widths beyond MODERATE cost less than Gaussian noise of their variance."""
    variance = math.fsum(0.25 * rounds * width**2 for width, rounds in widths)
    return total <= NEARLY_ALL * variance and max(width for width, _ in widths) <= adaptive_range.MODERATE


def square(widths: Sequence[tuple[float, int]]) -> float | None:
    """μ² of the Gaussian release that stands above all of them, rounded up. [L6]

    widths: (width >= 0, rounds), in the order of release, on which the bound depends.
    Returns None where one is wider than WIDEST.
    """
    total = 0.0
    for width, rounds in reversed(widths):
        if width > WIDEST:
            return None
        if width > 0.0 and rounds > 0:
            total = _run(total, max(width, adaptive_range.NARROWEST), rounds)
    return total


def _run(total: float, width: float, rounds: int) -> float:
    """The same after `rounds` of one width."""
    part = up(0.25 * width * width)
    total = max(total, 2.0 * part)
    for _ in range(min(rounds, ONE_BY_ONE)):
        total = (total + part + part * (part / (total - part))) * STEP_UP
    left = rounds - ONE_BY_ONE
    if left <= 0:
        return total
    # s grows by at least a² each time, so the last terms are at most a²/(m − 1 + j), m = s/a², j = 0, …, left − 1.
    share = part / (total - part)
    return up(total + left * part + part * (share + math.log1p((left - 1) * share)))
