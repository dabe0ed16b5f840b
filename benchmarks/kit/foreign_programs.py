"""Programs as people write them, with noise of their own, and what people get wrong in them.

Each takes a tuple of records and draws from numpy. Outputs are rounded to a grid far below the noise, but where leaving
that out is the mistake. ε = 1 is claimed everywhere, and μ = 1/2 of Gaussian noise.
"""

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant import GDP, AddRemoveOne, Cost, PureDP, ReplaceOne
from proofs_tests.harness import Pair, neighbours

Records: TypeAlias = tuple[int, ...]
Function: TypeAlias = Callable[[Records], object]

RNG: Final = np.random.default_rng()
ONE: Final = PureDP(1.0)


@attrs.frozen
class Program:
    """A function, the pairs it is checked on, and its claim."""

    name: str
    function: Function
    pairs: Sequence[Pair[Records]]
    claimed: Cost = ONE


def grid(value: float) -> float:
    """Rounded to a multiple of 2^-20."""
    return float(round(value * 2**20) * 2.0**-20)


def lap(scale: float) -> float:
    """Laplace noise."""
    return float(RNG.laplace(scale=scale))


def gauss(sigma: float) -> float:
    """Gaussian noise."""
    return float(RNG.normal(scale=sigma))


def counts(data: Records) -> list[int]:
    """Of 0, 1 and 2."""
    return [data.count(value) for value in range(3)]


def clipped(data: Records) -> int:
    """The sum, each record at most 1."""
    return sum(min(1, max(0, record)) for record in data)


def two_sided(epsilon: float) -> int:
    """Geometric noise of both signs."""
    chance = 1.0 - np.exp(-epsilon)
    return int(RNG.geometric(chance) - RNG.geometric(chance))


def response(data: Records, epsilon: float) -> tuple[int, ...]:
    """Randomized response of each record, 0 or 1."""
    keep = 1.0 / (1.0 + np.exp(-epsilon))
    return tuple(record if RNG.random() < keep else 1 - record for record in data)


def pair_of_sums(data: Records, sigma: float) -> tuple[float, float]:
    """The same sum twice."""
    return grid(clipped(data) + gauss(sigma)), grid(clipped(data) + gauss(sigma))


def most(data: Records, scale: float) -> int:
    """The commonest value by noisy counts, Gumbel noise."""
    return int(np.argmax([count + RNG.gumbel(scale=scale) for count in counts(data)]))


def median(data: Records, weight: float, candidates: Sequence[int]) -> int:
    """By the exponential mechanism: how many records are on either side."""
    utility = np.array([-abs(sum(x < c for x in data) - sum(x > c for x in data)) for c in candidates], dtype=float)
    chances = np.exp(weight * (utility - utility.max()))
    return int(RNG.choice(np.asarray(candidates), p=chances / chances.sum()))


def first_above(data: Records, threshold: float, on_threshold: float, on_query: float) -> int:
    """The first of three counts that is above a threshold, both noised; 3 where none is."""
    limit = threshold + (lap(on_threshold) if on_threshold else 0.0)
    noisy = [count + (lap(on_query) if on_query else 0.0) for count in counts(data)]
    return next((place for place, each in enumerate(noisy) if each >= limit), 3)


BITS: Final = tuple(neighbours(ReplaceOne(), (0, 1), 2))


def _at_times(value: float, told: Callable[[float], object]) -> object:
    """A noisy value, said in another way where it is large, which is seldom."""
    noisy = grid(value + lap(1.0))
    return told(noisy) if noisy > 6.0 else noisy


VALUES: Final = tuple(neighbours(ReplaceOne(), (0, 1, 2), 2))
WIDE: Final = tuple(neighbours(ReplaceOne(), (0, 1, 3), 2))
SIZES: Final = tuple(neighbours(AddRemoveOne(), (0, 1), 2))

HALF: Final = GDP(0.5)

CORRECT: Final = (
    Program("a clipped sum", lambda d: grid(clipped(d) + lap(1.0)), WIDE),
    Program("a sum over a public n", lambda d: grid((clipped(d) + lap(1.0)) / 2), BITS),
    Program("a histogram", lambda d: [grid(count + lap(2.0)) for count in counts(d)], VALUES),
    Program("a histogram of those who come", lambda d: [grid(count + lap(1.0)) for count in counts(d)], SIZES),
    Program("a count", lambda d: grid(len(d) + lap(1.0)), SIZES),
    Program("whole counts", lambda d: clipped(d) + two_sided(1.0), BITS),
    Program("a Gaussian sum", lambda d: grid(clipped(d) + gauss(2.0)), BITS, HALF),
    Program("two Gaussian sums", lambda d: pair_of_sums(d, 2.83), BITS, HALF),
    Program("randomized response", lambda d: response(d, 1.0), BITS),
    Program("the commonest value", lambda d: most(d, 2.0), VALUES),
    Program("a word", lambda d: "many" if clipped(d) + lap(1.0) > 1.5 else "few", BITS),
    Program("a table", lambda d: {str(v): grid(c + lap(2.0)) for v, c in enumerate(counts(d))}, VALUES),
    Program("a median", lambda d: median(d, 0.25, (0, 1, 2)), VALUES),
    Program("the first above", lambda d: first_above(d, 1.0, 2.0, 4.0), BITS),
    Program("rounded to whole numbers", lambda d: round(clipped(d) + lap(1.0)), BITS),
    Program("nothing where it is large", lambda d: _at_times(clipped(d), lambda noisy: None), BITS),
    Program("a text where it is large", lambda d: _at_times(clipped(d), "{:.2f}".format), BITS),
    Program("an array where it is large", lambda d: _at_times(clipped(d), np.array), BITS),
    Program("a text of numbers", lambda d: json.dumps({"n": 2, "sum": grid(clipped(d) + lap(1.0))}), BITS),
    Program("lists of a noisy length", lambda d: [0.5] * max(0, round(clipped(d) + lap(1.0))), BITS),
)  # fmt: skip
"""What claims no less than it loses."""


def _scaled_by_data(data: Records) -> float:
    return grid(sum(data) + lap(max(1, *data)))


def _mean(data: Records) -> float:
    return grid((clipped(data) + lap(1.0)) / max(1, len(data)))


def _same_noise(data: Records) -> list[float]:
    noise = lap(2.0)
    return [grid(count + noise) for count in counts(data)]


def _with_winner(data: Records) -> tuple[int, float]:
    noisy = [count + lap(1.0) for count in counts(data)]
    return int(np.argmax(noisy)), grid(max(noisy))


def _raw_when_large(data: Records) -> float:
    return float(clipped(data)) if clipped(data) > 1 else grid(clipped(data) + lap(1.0))


def _by_true_count(data: Records) -> list[str]:
    noisy = {str(value): count + lap(2.0) for value, count in enumerate(counts(data))}
    return sorted(noisy, key=lambda value: -counts(data)[int(value)])


def _seeded_by_data(data: Records) -> float:
    return grid(clipped(data) + float(np.random.default_rng(sum(data)).laplace()))


def _uniform(data: Records) -> float:
    return grid(clipped(data) + float(RNG.uniform(-2.0, 2.0)))


def _truncated(data: Records) -> float:
    return grid(clipped(data) + max(-1.0, min(1.0, lap(1.0))))


def _no_negative(data: Records) -> float:
    return grid(clipped(data) + abs(lap(1.0)))


def _rounded_noise(data: Records) -> float:
    return clipped(data) / 8 + float(round(lap(1.0)))


def _reported_scale(data: Records) -> tuple[float, float]:
    scale = 1.0 + clipped(data)
    return grid(clipped(data) + lap(scale)), scale


def _retried(data: Records) -> float:
    """Drawn again until it looks reasonable: closer to the truth than was paid for."""
    for _ in range(20):
        noisy = clipped(data) + lap(1.0)
        if abs(noisy - clipped(data)) < 1.0:
            return grid(noisy)
    return grid(noisy)


def _averaged(data: Records) -> float:
    return grid(float(np.mean([clipped(data) + lap(1.0) for _ in range(4)])))


def _response_of_ones(data: Records) -> tuple[int, ...]:
    return tuple(record if record == 0 or RNG.random() < 0.73 else 0 for record in data)


def _empty_fails(data: Records) -> object:
    return "none" if not sum(data) else grid(clipped(data) + lap(1.0))


WRONG: Final = (
    Program("no clipping", lambda d: grid(sum(d) + lap(1.0)), WIDE),
    Program("a sensitivity of 2.3 declared as 2", lambda d: grid(2.3 * clipped(d) + lap(2.0)), BITS),
    Program("a scale too small by 1.25", lambda d: grid(clipped(d) + lap(0.8)), BITS),
    Program("the variance as the scale", lambda d: grid(clipped(d) + lap(2.0**-0.5)), BITS),
    Program("a seed reused", lambda d: grid(clipped(d) + float(np.random.default_rng(0).laplace())), BITS),
    Program("a seed made of the data", _seeded_by_data, BITS),
    Program("a float leak", lambda d: clipped(d) + lap(1.0), BITS),
    Program("a float leak of Gaussian noise", lambda d: clipped(d) + gauss(2.0), BITS, HALF),
    Program("noise rounded before it is added", _rounded_noise, BITS),
    Program("uniform noise", _uniform, BITS),
    Program("noise cut off", _truncated, BITS),
    Program("noise of one sign", _no_negative, BITS),
    Program("drawn again until it looks good", _retried, BITS),
    Program("the mean of four draws", _averaged, BITS),
    Program("the raw value beside it", lambda d: (grid(clipped(d) + lap(1.0)), clipped(d)), BITS),
    Program("exact where it is large", _raw_when_large, BITS),
    Program("a scale made of the data", _scaled_by_data, WIDE),
    Program("a scale of the data that is told", _reported_scale, BITS),
    Program("a mean over the private n", _mean, SIZES),
    Program("an average, noise for a larger n", lambda d: grid(clipped(d) / max(1, len(d)) + lap(0.25)), SIZES),
    Program("a histogram with half the noise", lambda d: [grid(c + lap(1.0)) for c in counts(d)], VALUES),
    Program("one noise for all bins", _same_noise, VALUES),
    Program("no noise on empty bins", lambda d: [grid(c + lap(2.0)) if c else 0.0 for c in counts(d)], VALUES),
    Program("empty bins left out", lambda d: {v: grid(c + lap(2.0)) for v, c in enumerate(counts(d)) if c}, VALUES),
    Program("sorted by true counts", _by_true_count, VALUES),
    Program("a count of those who come, for twice", lambda d: grid(2 * len(d) + lap(1.0)), SIZES),
    Program("whole counts, ε taken twice", lambda d: clipped(d) + two_sided(1.25), BITS),
    Program("geometric noise of one sign", lambda d: clipped(d) + int(RNG.geometric(0.63)), BITS),
    Program("σ too small by 1.25", lambda d: grid(clipped(d) + gauss(1.6)), BITS, HALF),
    Program("σ² for σ", lambda d: grid(clipped(d) + gauss(2.0**0.5)), BITS, HALF),
    Program("one sum of two without noise", lambda d: (grid(clipped(d) + gauss(2.0)), float(clipped(d))), BITS, HALF),
    Program("two sums for the price of one", lambda d: pair_of_sums(d, 2.0), BITS, HALF),
    Program("randomized response at 1.25 ε", lambda d: response(d, 1.25), BITS),
    Program("randomized response of ones only", _response_of_ones, BITS),
    Program("the commonest value with half the noise", lambda d: most(d, 1.0), VALUES),
    Program("the winner's noisy count as well", _with_winner, VALUES),
    Program("a median without the 2", lambda d: median(d, 0.75, (0, 1, 2)), VALUES),
    Program("a median among the records", lambda d: median(d, 0.25, d), VALUES),
    Program("a threshold without noise on queries", lambda d: first_above(d, 1.0, 2.0, 0.0), BITS),
    Program("another answer where there is nothing", _empty_fails, BITS),
)  # fmt: skip
"""What claims less than it loses, 40 of them."""
