"""Bregman projection to density κ, exactly: capped scaling, without bisection."""

import math
from typing import Final

import numpy as np

from boosting.measures import FloatArray, WholeArray

TINY: Final = 2.0**-1000
"""Sums below it are of floats that have lost digits."""

PLAIN: Final = 600.0
"""Logarithms that span less need no care: e^-600 is an ordinary float."""

MOST_PASSES: Final = 64
"""Over all weights, before they are sorted after all."""


def capped_scaling(log_weights: FloatArray, counts: WholeArray, density: float) -> FloatArray:
    """μ = min(1, c·w) with the one c that makes Σ counts·μ = density·Σ counts. [001-projection]

    log_weights: shape (L,), one per distinct weight, any order.  counts: shape (L,), records per weight.
    density: κ in (0, 1].  Returns μ per distinct weight, shape (L,).

    Sorted from the largest weight down, the first k levels are capped; c is the one that spreads the mass
    left over the rest. Tail sums run from the smallest weight up: subtracting prefix sums would lose everything once
    weights span e^20. Where they span more than a float does, sums are in logarithms. O(L log L).
    """
    falling = log_weights[:-1] >= log_weights[1:]
    if falling.all() and log_weights[0] - log_weights[-1] < PLAIN:
        return _in_order(np.exp(log_weights - log_weights[0]), counts.astype(np.float64), density)
    order = np.argsort(-log_weights, kind="stable")
    logs, sizes = log_weights[order], counts[order].astype(np.float64)
    before = np.concatenate(([0.0], np.cumsum(sizes)[:-1]))
    left = density * float(np.sum(sizes)) - before
    first = _first_uncapped(logs, sizes, left)
    values = np.ones_like(logs)
    if first < logs.size:
        relative = np.exp(logs[first:] - logs[first])
        scale = left[first] / float(np.sum((sizes[first:] * relative)[::-1]))
        values[first:] = np.minimum(1.0, scale * relative)
    result = np.empty_like(values)
    result[order] = values
    return result


def _in_order(weights: FloatArray, sizes: FloatArray, density: float) -> FloatArray:
    """The same for weights from 1 down, as boosters have them, none of them too small for a float."""
    upto = np.cumsum(sizes)
    left = density * upto[-1] - (upto - sizes)
    tails = np.cumsum((sizes * weights)[::-1])[::-1]
    # Level k and all below it share what is left: scale left/tail, and nothing is capped if that leaves k at most 1.
    first = int(np.argmax((left > 0.0) & (left * weights <= tails)))
    if not (left[first] > 0.0 and left[first] * weights[first] <= tails[first]):
        return np.asarray(np.ones_like(weights))
    values: FloatArray = np.minimum(1.0, (left[first] / tails[first]) * weights)
    values[:first] = 1.0
    return values


def _first_uncapped(logs: FloatArray, sizes: FloatArray, left: FloatArray) -> int:
    """The first level whose weight stays at or below 1 when it and all smaller ones share the mass left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.logaddexp.accumulate((logs + np.log(sizes))[::-1])[::-1]
        uncapped = (left > 0.0) & (np.log(left) + logs - tail <= 0.0)
    return int(np.argmax(uncapped)) if np.any(uncapped) else int(logs.size)


def capped_weights(log_weights: FloatArray, density: float, log_scale: float = 0.0) -> tuple[FloatArray, float | None]:
    """μ = min(1, c·w) with Σ μ = density·n, for n weights that may all differ; and ln c. [001-projection]

    log_weights: shape (n,), finite.  density: κ in (0, 1].  log_scale: a guess of ln c; a good one saves time only.
    Given which weights are capped, c follows, and it caps more; from too few on this ends without sorting, mostly
    after a few passes. Sums are of positive numbers, so nothing cancels. Where the weights span more than a float
    does, `capped_scaling` does it in logarithms, and ln c is None.
    """
    if density == 1.0:
        return np.ones(log_weights.size), -float(np.min(log_weights))
    mass, top = density * log_weights.size, float(np.max(log_weights))
    relative = log_weights - top
    np.exp(relative, out=relative)
    scale = _settled(relative, mass, math.exp(min(max(log_scale + top, 0.0), 700.0)))
    if scale is None:
        return capped_scaling(log_weights, np.ones(log_weights.size, dtype=np.intp), density), None
    relative *= scale
    return np.minimum(relative, 1.0, out=relative), math.log(scale) - top


def _settled(relative: FloatArray, mass: float, guess: float) -> float | None:
    """The c whose capped weights are those that it follows from. None where so few floats are left that there is none.

    relative: the largest is 1. Only one array is made and used again: new memory takes longer than what is done in it.
    """
    free, room = guess * relative < 1.0, np.empty_like(relative)
    for _ in range(MOST_PASSES):
        number = np.count_nonzero(free)
        left, rest = mass - (relative.size - number), float(np.sum(np.multiply(relative, free, out=room)))
        if not (left > 0.0 and rest > TINY * left):
            if number == relative.size:
                return None
            free = np.ones_like(free)  # the guess was too large; with none capped the rounds below only add to them
            continue
        scale = left / rest
        now = np.multiply(relative, scale, out=room) < 1.0
        if np.array_equal(now, free):
            return scale
        free = now
    return None
