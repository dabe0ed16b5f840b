"""What a system is asked for, so that what it promises covers what the table is about."""

import math

from benchmarks.adapters.protocol import Neighbours
from benchmarks.leaderboard.adapters import Adapter


def asked(adapter: Adapter, neighbours: Neighbours, epsilon: float, delta: float) -> tuple[Neighbours, float, float]:
    """Neighbours, ε and δ that the adapter is told.

    One record replaced is one removed and one added: (ε/2, δ/(1 + e^{ε/2})) under add-remove-one gives (ε, δ) under
    replace-one, by the triangle of their hockey-sticks. A system that promises replace-one only has no promise under
    add-remove-one, since the number of records is public to it: it is asked for replace-one, and tables mark it.
    """
    if not adapter.private or neighbours in adapter.neighbours:
        return neighbours, epsilon, delta
    if neighbours == "add-remove-one":
        return "replace-one", epsilon, delta
    return "add-remove-one", 0.5 * epsilon, delta / (1.0 + math.exp(0.5 * epsilon))


def marked(adapter: Adapter, neighbours: Neighbours) -> bool:
    """Whether it takes the number of records as public where a promise for one record more or less hides it."""
    if not adapter.private or neighbours == "replace-one":
        return False
    return adapter.counts or neighbours not in adapter.neighbours
