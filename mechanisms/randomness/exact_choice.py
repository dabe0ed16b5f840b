"""The exponential mechanism drawn exactly: an index with probability exp(eta·score)/Σ exp(eta·score), to the last bit.

A number U in [0, 1) is looked up among the running sums of the weights. Floating point says where it falls, with a
bound on how far it may be wrong; where U is within that bound of a boundary, which is rare, weights are computed again
with more and more digits, and U gets more and more bits, until there is no doubt. So the distribution is that of real
numbers, for scores and eta as the floats that they are, and no rounding can be seen in what comes out. [exact-choice]
"""

import decimal
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import positive
from mechanisms.randomness.choice_probabilities import finite_scores

Words: TypeAlias = Callable[[], int]
"""The next 64 fair bits, as a whole number in [0, 2^64)."""

FIRST_DIGITS: Final = 40
LEAST_WEIGHT: Final = 2.0**-1000
"""Weights below are counted as nothing, and as that much where a bound is asked for."""

PER_WEIGHT: Final = 2.0**-49
"""How far a weight w = exp(−z) may be off, over w·(1 + z): two roundings of z, and four units of exp."""

PER_SUM: Final = 2.0**-51
"""How far a running sum of k weights may be off for its own additions, over k times the whole."""


def exact_choice(scores: FloatArray, eta: float, words: Words) -> int:
    """An index i with probability proportional to exp(eta·scores[i]), exactly.

    scores: shape (k,), finite, k >= 1.  eta: inverse scale, positive.  words: fair bits, as many as it asks for.
    Raises ValueError for scores that are not finite, or no real numbers. Expected time O(k) up to k = 10^5; of 10^6
    candidates one draw in some 500 takes the slow way, about a minute.
    """
    scores, eta = finite_scores(scores), positive(eta)
    first = words()
    sums, off = running_sums(scores, eta)
    total, size = float(sums[-1]), scores.size
    slack = 2.0 * off + 2.0**-51 * total  # the last for U itself, cut to a float
    aim = first * 2.0**-64 * total
    place = int(np.searchsorted(sums, aim, side="right"))
    sure_below = place == 0 or sums[place - 1] + slack < aim
    if place < size and sure_below and (place == size - 1 or aim + slack < sums[place]):
        return place
    return _settled(scores, eta, first, words)


def running_sums(scores: FloatArray, eta: float) -> tuple[FloatArray, float]:
    """Running sums of exp(eta·(score − the largest)), shape (k,), and how far any of them may be off."""
    with np.errstate(over="ignore", under="ignore"):
        half = 0.5 * scores  # so that no difference overflows; the product may, to a weight of 0 that is right
        exponents = (half - half.max()) * eta * 2.0
        weights = np.exp(exponents)
    sums = np.cumsum(weights)
    total, size = float(sums[-1]), scores.size
    # Cut at −1000, where nothing is left of a weight, so that no infinity meets a zero.
    depth = -float(np.dot(weights, np.maximum(exponents, -1e3)))
    return sums, PER_WEIGHT * (total + depth) + PER_SUM * size * total + LEAST_WEIGHT * size


def _settled(scores: FloatArray, eta: float, first: int, words: Words) -> int:
    """The same with as many digits as it takes. first: the first 64 bits of U."""
    bits, number = 64, first
    for digits in _digits():
        low, high = _bounds(scores, eta, digits)
        while bits < 4 * digits:  # more bits than digits, so that U is never what is in doubt for long
            bits, number = bits + 64, number << 64 | words()
        below = _least_place(number, bits, high, low, digits)
        above = _least_place(number + 1, bits, low, high, digits)
        if below == above:
            return below
    raise AssertionError("unreachable: digits go on for ever")


def _digits() -> Iterator[int]:
    digits = FIRST_DIGITS
    while True:
        yield digits
        digits *= 2


def _bounds(scores: FloatArray, eta: float, digits: int) -> tuple[list[Decimal], list[Decimal]]:
    """Below and above each weight, to so many digits; what is far below the last of them lies between 0 and a bound."""
    with decimal.localcontext(decimal.Context(prec=digits + 10)):  # whatever the caller has set up
        return _rounded(scores, eta, digits)


def _rounded(scores: FloatArray, eta: float, digits: int) -> tuple[list[Decimal], list[Decimal]]:
    places = digits + 10
    floor = decimal.Context(prec=places, rounding=decimal.ROUND_FLOOR)
    ceiling = decimal.Context(prec=places, rounding=decimal.ROUND_CEILING)
    top, factor = Decimal(float(scores.max())), Decimal(eta)
    least, off = Decimal(10) ** -(digits + 60), Decimal(10) ** -digits
    deepest = Decimal("-2.31") * (digits + 60)  # ln 10 is below 2.31
    low, high = list[Decimal](), list[Decimal]()
    for score in scores.tolist():
        apart = Decimal(score)
        down, up = (context.multiply(context.subtract(apart, top), factor) for context in (floor, ceiling))
        if up < deepest:
            low.append(Decimal(0))
            high.append(least)
        else:
            # `exp` is rounded to the nearest of `places` digits, whatever the context says.
            low.append(floor.multiply(floor.exp(down), floor.subtract(Decimal(1), off)))
            high.append(ceiling.multiply(ceiling.exp(up), ceiling.add(Decimal(1), off)))
    return low, high


def _least_place(number: int, bits: int, ahead: list[Decimal], behind: list[Decimal], digits: int) -> int:
    """The first place whose running sum exceeds U times the whole, if weights up to it are `ahead`, the rest `behind`.

    U = number/2^bits. That is: sum ahead · (1 − U) > U · sum behind; compared exactly.
    """
    with decimal.localcontext(decimal.Context(prec=20 * digits + 400, traps=[decimal.Inexact])):
        whole = Decimal(1 << bits)
        used = Decimal(number)
        rest, reached = sum(behind, Decimal(0)), Decimal(0)
        for place, (gained, lost) in enumerate(zip(ahead, behind, strict=True)):
            reached, rest = reached + gained, rest - lost
            if reached * (whole - used) > used * rest:
                return place
        return len(ahead) - 1
