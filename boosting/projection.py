"""Bregman projection to density κ, exactly: capped scaling, without bisection."""

import numpy as np

from boosting.measures import FloatArray, IntArray


def capped_scaling(log_weights: FloatArray, counts: IntArray, density: float) -> FloatArray:
    """μ = min(1, c·w) with the one c that makes Σ counts·μ = density·Σ counts. [001-projection]

    log_weights: shape (L,), one per distinct weight, any order.  counts: shape (L,), records per weight.
    density: κ in (0, 1].  Returns μ per distinct weight, shape (L,).

    Sorted from the largest weight down, the first k levels are capped; c is the one that spreads the mass
    left over the rest. Tail sums run from the smallest weight up, in logarithms: subtracting prefix sums
    would lose everything once weights span e^20. O(L log L).
    """
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


def _first_uncapped(logs: FloatArray, sizes: FloatArray, left: FloatArray) -> int:
    """The first level whose weight stays at or below 1 when it and all smaller ones share the mass left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.logaddexp.accumulate((logs + np.log(sizes))[::-1])[::-1]
        uncapped = (left > 0.0) & (np.log(left) + logs - tail <= 0.0)
    return int(np.argmax(uncapped)) if np.any(uncapped) else int(logs.size)
