"""The privacy profile of the best of a random number of runs, from the profile of one run. [random-stopping-profile]

Both things that speak for a model are taken at the same output: how much likelier a run is to give it, and how much
less likely another run is to beat it. Bounding each by its own worst, as ε_run(δ/E[K]) + tilt does, costs 2 to 5 %
more.
"""

import math
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import up
from mechanisms.selection.stopping import LARGEST_TANGENT, RunPrivacy, Stopping

CELLS: Final = 1024
"""Cells of the chance that a run ranks higher; any number gives a valid bound."""

TANGENTS: Final = 257
"""How many tangents of the run's profile bound the neighbour's chance; any number gives a valid bound."""

ROUNDING: Final = 1e-12
"""By how much logarithms are moved towards more loss; those below 1,000 are computed to a tenth of it."""

SMALLEST: Final = 2.0**-900
"""Added to every δ, for weights that underflow."""


FURTHEST: Final = 1e6
"""Where profiles are read at most: from there on their δ is no smaller."""


@attrs.frozen(eq=False)
class ChoiceProfile:
    """δ(ε) <= Σ weights·δ_run(ε + shifts), for the best of K runs and ε >= 0.

    weights, shifts: shape (k,); weights add up to E[K].  run: what is known of one run.
    """

    weights: FloatArray
    shifts: FloatArray
    run: RunPrivacy

    @staticmethod
    def of(run: RunPrivacy, stopping: Stopping) -> "ChoiceProfile":
        """The profile for runs of that privacy, as many as that distribution says.

        Let G be the chance that a run ranks higher than an output, ties by a coin, and T(G) the most that a neighbour
        can make of it. The output counts with w(G) here and at least w(T(G)) there, w = f′(1 − G), so with L its
        likelihood ratio in one run δ(ε) <= E max over G of w(G)·(L − e^{ε − r(G)})⁺, r = ln w(G)/w(T(G)). On a cell of
        G, w is most at the lower end, and T below a tangent, along which r is most at an end.
        """
        ends = stopping.levels(CELLS)
        fall = stopping.fall(ends)
        slopes, offsets = _tangents(run)
        middles = 0.5 * (ends[1:] + ends[:-1])
        best = np.argmin(middles[:, None] * slopes + offsets, axis=1)
        lower, upper = (slopes[best] * end + offsets[best] for end in (ends[:-1], ends[1:]))
        moved = np.maximum(stopping.fall(lower) - fall[:-1], stopping.fall(upper) - fall[1:])
        moved = np.maximum(moved, 0.0) * (1.0 + ROUNDING) + ROUNDING
        heights = up(stopping.mean) * np.exp(-fall[:-1]) * (1.0 + 10.0 * ROUNDING)
        return ChoiceProfile(*_kinks(heights, moved), run)

    def delta(self, epsilon: float) -> float:
        """An upper bound on δ at ε >= 0, above 1 perhaps."""
        losses = epsilon + self.shifts
        losses -= ROUNDING * (1.0 + epsilon + np.abs(losses))
        return up(float(self.weights @ _both_sides(self.run, losses))) + SMALLEST

    def epsilon(self, delta: float, highest: float) -> float:
        """The smallest ε found in [0, highest] at which δ is at most that; `highest`, itself a bound, where none is."""
        low, high = 0.0, highest
        if self.delta(low) <= delta:
            return low
        if self.delta(high) > delta:
            return highest
        while high - low > 1e-9 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


def _tangents(run: RunPrivacy) -> tuple[FloatArray, FloatArray]:
    """T(G) <= slope·G + offset: e^x·G + δ(x) for losses x >= 0, and 1."""
    losses = np.linspace(0.0, min(run.reach, LARGEST_TANGENT), TANGENTS)
    offsets = run.profile(losses)
    return np.append(np.exp(losses), 0.0), np.append(offsets, 1.0) * (1.0 + ROUNDING)


def _kinks(heights: FloatArray, moved: FloatArray) -> tuple[FloatArray, FloatArray]:
    """max over i of heights·(L − e^{−moved})⁺ as Σ weights·(L − e^shift)⁺, by the lower hull of (height, intercept).

    heights: falling, above 0, shape (k,).  Rounding may leave out a line that is a few ulp of its intercept above the
    others; `delta` moves all shifts down by far more.
    """
    hull = [(0.0, 0.0)]
    unit = 2.0 ** math.frexp(float(heights[-1]))[1]  # in units of the smallest, lest intercepts underflow
    heights = heights / unit
    intercepts = heights * np.exp(-moved)
    for x, y in zip(heights[::-1].tolist(), intercepts[::-1].tolist(), strict=True):
        if x <= hull[-1][0]:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    corners = np.array(hull)
    weights, rises = np.diff(corners[:, 0]), np.diff(corners[:, 1])
    with np.errstate(divide="ignore"):
        return weights * unit, np.log(rises / weights)


def _turns_down(one: tuple[float, float], two: tuple[float, float], three: tuple[float, float]) -> bool:
    """Whether the second corner is on or above the line through the others; by slopes, as products would underflow."""
    return (two[1] - one[1]) / (two[0] - one[0]) >= (three[1] - two[1]) / (three[0] - two[0])


def _both_sides(run: RunPrivacy, losses: FloatArray) -> FloatArray:
    """δ of a run at losses of either sign: δ(−x) <= 1 − e^−x + e^−x·δ(x), as neighbours are each other's."""
    with np.errstate(over="ignore"):  # e^x is infinite where δ is 0
        right = run.profile(np.minimum(np.abs(losses), FURTHEST))
    below = np.minimum(losses, 0.0)
    return np.asarray(np.where(losses < 0.0, -np.expm1(below) + np.exp(below) * right, right))
