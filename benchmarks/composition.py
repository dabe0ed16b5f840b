"""How far above the exact value a plan is priced, and how long that takes."""

import math
import statistics
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from accountant import GDP, BoundedRange, Cost, Plan, PureDP, gaussian
from benchmarks.report import Line, Report

DELTA = 1e-6
LOSS = 0.05
"""ε, width or μ of a round."""

ASKED_ABOVE, ASKED_SECONDS = 1.01, 0.2


def two_point_epsilon(rounds: int, high: float, low: float) -> float:
    """ε at DELTA of a loss that is `high` or `low` (E e^{−loss} = 1), added up over the rounds: exact."""
    p = (math.exp(-low) - 1.0) / (math.exp(-low) - math.exp(-high))
    times = np.arange(rounds + 1, dtype=np.float64)
    choose = gammaln(rounds + 1.0) - gammaln(times + 1.0) - gammaln(rounds - times + 1.0)
    law = np.exp(choose + times * math.log(p) + (rounds - times) * math.log1p(-p))
    losses = times * high + (rounds - times) * low

    def excess(x: float) -> float:
        over = losses > x
        return float(np.sum(law[over] * -np.expm1(x - losses[over]))) - DELTA

    return float(brentq(excess, 0.0, rounds * high, xtol=1e-12)) if excess(0.0) > 0.0 else 0.0


def exact(cost: Cost, rounds: int) -> float:
    """The exact ε; for bounded range that of the worst two-candidate exponential mechanism repeated."""
    match cost:
        case GDP(mu=mu):
            return gaussian.epsilon(mu * math.sqrt(rounds), DELTA)
        case BoundedRange(epsilon=width):
            return max(two_point_epsilon(rounds, t, t - width) for t in np.linspace(0.0, width, 400)[1:-1])
        case _:
            return two_point_epsilon(rounds, LOSS, -LOSS)


def seconds(plan: Plan, repeats: int) -> float:
    """Median time of a price."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        plan.price(DELTA)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(data: str | None, quick: bool = False) -> Report:
    """A line for every kind and number of rounds. data: unused."""
    lines = []
    for cost in (PureDP(LOSS), GDP(LOSS), BoundedRange(LOSS)):
        for rounds in (1, 10, 100, 1000):
            price, real = Plan.of(cost, rounds).price(DELTA), exact(cost, rounds)
            ratio = price.best.epsilon / real if real else 1.0
            found = f"ε {price.best.epsilon:.6g} by {price.route}, {ratio:.5f} of the exact value"
            lines.append(Line(f"{rounds} x {cost.kind}", found, "1 to 1.01", 1 - 1e-6 <= ratio <= ASKED_ABOVE))
        took = seconds(Plan.of(cost, 1000), 3 if quick else 9)
        lines.append(Line(f"pricing 1000 x {cost.kind}", f"{took:.3f} s", "0.2 s", took <= ASKED_SECONDS))
    return Report(f"Plans of rounds that cost {LOSS} each, at δ = {DELTA:g}", lines)
