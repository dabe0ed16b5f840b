"""The sparse vector technique and its published variants (Lyu, Su & Li 2017, Figure 1), by their exact laws.

Queries move by at most 1, the threshold is 0. A transcript says for each query whether it was above; it ends after
`cutoff` of them. Its probability is an integral over the threshold's noise, piecewise analytic between whole numbers.
"""

import itertools
from collections.abc import Callable
from functools import cache, partial

import attrs
import numpy as np

from accountant import PureDP
from accountant.arrays import FloatArray
from proofs_tests.harness import Pair, Report, check_mechanism
from proofs_tests.mutants.mutant import Mutant, Numbers, both_ways, lawful

EPSILON = 1.0
REACH, NODES = 160, 20


@attrs.frozen
class SparseVector:
    """Noise scales of threshold and queries (0: none), and after how many answers above it stops (0: never)."""

    threshold: float
    query: float
    cutoff: int = 0


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre on every unit interval of [−REACH, REACH]."""
    points, weights = np.polynomial.legendre.leggauss(NODES)
    starts = np.arange(-REACH, REACH)[:, None]
    return (starts + 0.5 * (points + 1.0)).ravel(), np.tile(0.5 * weights, 2 * REACH)


def _below(x: FloatArray, scale: float) -> FloatArray:
    """P(Lap(scale) < x); a step for no noise."""
    if not scale:
        return np.asarray((x > 0.0) * 1.0)
    return np.where(x < 0.0, 0.5 * np.exp(-np.abs(x) / scale), 1.0 - 0.5 * np.exp(-np.abs(x) / scale))


def _transcripts(length: int, cutoff: int) -> list[tuple[int, ...]]:
    """All of them, in a fixed order; cut after the last answer that is given."""
    found = dict[tuple[int, ...], None]()
    for answers in itertools.product((0, 1), repeat=length):
        tops = [place for place, answer in enumerate(answers) if answer]
        found[answers[: tops[cutoff - 1] + 1] if cutoff and len(tops) >= cutoff else answers] = None
    return list(found)


def _law(variant: SparseVector, answers: Numbers) -> FloatArray:
    z, weights = _nodes()
    density = weights * np.exp(-np.abs(z) / variant.threshold) / (2.0 * variant.threshold)
    below = [_below(z - answer, variant.query) for answer in answers]
    above = [_below(answer - z, variant.query) for answer in answers]
    chances = [
        np.sum(density * np.prod([(above if up else below)[i] for i, up in enumerate(transcript)], axis=0))
        for transcript in _transcripts(len(answers), variant.cutoff)
    ]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.array(chances)))


ZEROS = (0.0,) * 6
PAIRS = both_ways(
    [
        Pair((0.0, 1.0), (1.0, 0.0)),
        Pair(ZEROS, (1.0, 1.0, 1.0, -1.0, -1.0, -1.0)),
        Pair(ZEROS, (1.0, 1.0, 1.0, 1.0, 1.0, -1.0)),
        Pair(ZEROS, (1.0,) * 6),
    ]
)


def transcripts_of(variant: SparseVector) -> Report:
    return check_mechanism(lawful("SVT", PureDP(EPSILON), partial(_law, variant)), PAIRS)


def with_value(releases: bool) -> Report:
    """Five queries and one above that is answered with its noisy value; of the value, only its sign is looked at.

    releases: the value that was compared is released (Alg. 3), or one with fresh noise for an ε/2 of its own.
    """
    variant = SparseVector(2.0, 2.0 if releases else 8.0, 1)

    def law(answers: Numbers) -> FloatArray:
        z, weights = _nodes()
        density = weights * np.exp(-np.abs(z) / 2.0) / 4.0
        quiet = density * np.prod([_below(z - answer, variant.query) for answer in answers[:-1]], axis=0)
        low, high = _value_chances(answers[-1], z, variant.query, 0.0 if releases else 2.0)
        chances = np.array([np.sum(quiet * low), np.sum(quiet * high)])
        return np.asarray(np.log(np.append(chances, 1.0 - chances.sum())))

    price = EPSILON if releases else 1.5 * EPSILON
    return check_mechanism(lawful("SVT with values", PureDP(price), law), PAIRS)


def _value_chances(answer: float, z: FloatArray, scale: float, fresh: float) -> tuple[FloatArray, FloatArray]:
    """P(above z, released value at most 0) and P(above z, released value positive)."""
    above, sign = _below(answer - z, scale), _below(np.array([-answer]), fresh or scale)
    if fresh:
        return above * sign, above * (1.0 - sign)
    low = np.maximum(sign - _below(z - answer, scale), 0.0)
    return low, above - low


LYU = "Lyu, Su & Li 2017, "
HALF = 0.5 * EPSILON


def _sound(cutoff: int) -> Callable[[], Report]:
    """Their Alg. 1: half of ε for the threshold, half for the queries, whose noise grows with the cut-off."""
    return partial(transcripts_of, SparseVector(1.0 / HALF, 2.0 * cutoff / HALF, cutoff))


MUTANTS = (
    Mutant("SVT, query noise without the cut-off", "the queries' noise does not grow with c: (1 + 6c)/4 times ε",
           LYU + "Alg. 4 (Lee & Clifton 2014)",
           partial(transcripts_of, SparseVector(4.0 / EPSILON, 4.0 / (3.0 * EPSILON), 3)), _sound(3), "exact law"),
    Mutant("SVT, no noise on the queries", "two answers in the order that the other data forbids",
           LYU + "Alg. 5 (Stoddard et al. 2014)", partial(transcripts_of, SparseVector(1.0 / HALF, 0.0)), _sound(1),
           "exact law"),
    Mutant("SVT, no cut-off", "any number of answers above for one ε", LYU + "Alg. 6 (Chen et al. 2015)",
           partial(transcripts_of, SparseVector(1.0 / HALF, 1.0 / HALF)), _sound(2), "exact law"),
    Mutant("SVT, query noise for one-sided moves", "half the noise that two-sided moves need",
           LYU + "Alg. 1 with its monotonic constant", partial(transcripts_of, SparseVector(1.0 / HALF, 1.0 / HALF, 1)),
           _sound(1), "exact law"),
    Mutant("SVT that returns the compared value", "the value tells about the threshold's noise",
           LYU + "Alg. 3 (Roth 2011)", partial(with_value, True), partial(with_value, False), "exact law"),
)  # fmt: skip
