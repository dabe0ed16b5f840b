"""Bregman projection to density κ, exactly: capped scaling, without bisection."""

from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from boosting.measures import WholeArray

PLAIN: Final = 600.0
"""Logarithms that span less need no care: e^-600 is an ordinary float."""


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
