"""Looking for the worst pair: Hypothesis with `target()` and a shrunk witness, or an optimiser.

Needs the extra `verify`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import attrs
import numpy as np
from hypothesis import HealthCheck, Phase, find, given, settings, target
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from scipy.optimize import minimize
from scipy.special import softmax

from accountant.arrays import FloatArray
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.report import Report, judged

D = TypeVar("D")


def climbed(
    value_of: Callable[[Pair[D]], float], build: Callable[[FloatArray], Pair[D]], size: int, *, restarts: int = 8
) -> Worst:
    """The same by an optimiser, for pairs that a vector of numbers describes: Powell's method from random starts.

    build: any real vector of shape (size,) to a pair; `close_pair` is one for ζ-close weightings.
    """
    rng, best, evaluations = np.random.default_rng(0), (-math.inf, np.zeros(size)), 0

    def fallen(x: FloatArray) -> float:
        return -value_of(build(np.asarray(x, dtype=np.float64)))

    for _ in range(restarts):
        start = np.asarray(4.0 * rng.normal(size=size), dtype=np.float64)
        found = minimize(fallen, start, method="Powell", options={"maxfev": 4000})
        evaluations += int(found.nfev)
        best = max(best, (-float(found.fun), np.asarray(found.x, dtype=np.float64)), key=lambda each: each[0])
    return Worst(best[0], _printed(build(best[1])), evaluations)


def close_pair(logits: FloatArray, zeta: float) -> Pair[FloatArray]:
    """Two distributions at joint distance at most ζ, from 3·points numbers: their common part, and two others."""
    common, old, new = (softmax(part) for part in np.split(logits, 3))
    return Pair((1.0 - zeta) * common + zeta * old, (1.0 - zeta) * common + zeta * new)


@attrs.frozen
class Worst:
    """What a search found: the largest value, and a small pair that reaches nearly as much."""

    value: float
    witness: str
    examples: int

    def against(self, subject: str, claimed: str, quantity: str, bound: float) -> Report:
        """A claim that the value is at most `bound`: not refuted, or ClaimViolated is raised; never exact."""
        return judged(Report(subject, claimed, quantity, bound, self.value, "search", self.witness, self.examples, 0.0))


def worst_case(
    value_of: Callable[[Pair[D]], float], pairs: st.SearchStrategy[Pair[D]], *, examples: int = 300, seed: int = 0
) -> Worst:
    """The largest `value_of` over pairs that Hypothesis finds, steered by `target()`.

    value_of: a loss, a change, anything to be maximised; deterministic.  pairs: a strategy of neighbouring data sets.
    examples: how many to try.  seed: of the search.
    The witness is shrunk: the simplest pair that Hypothesis finds with at least 99 % of the value.
    """
    best = _largest(value_of, pairs, examples, seed)
    if best is None:
        raise ValueError("the strategy gave no pair at all")
    limit = 0.99 * best[0] if best[0] > 0.0 else best[0]
    quiet = settings(max_examples=examples, database=None, deadline=None, derandomize=True)
    try:
        shown: Pair[D] = find(pairs, lambda pair: value_of(pair) >= limit, settings=quiet)
    except NoSuchExample:
        shown = best[1]
    return Worst(best[0], _printed(shown), examples)


def _largest(
    value_of: Callable[[Pair[D]], float], pairs: st.SearchStrategy[Pair[D]], examples: int, seed: int
) -> tuple[float, Pair[D]] | None:
    best: list[tuple[float, Pair[D]]] = []

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=seed == 0,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs)
    def look(pair: Pair[D]) -> None:
        value = value_of(pair)
        value = math.inf if math.isnan(value) else value
        if not best or value > best[0][0]:
            best[:] = [(value, pair)]
        target(min(max(value, -1e300), 1e300))

    look()
    return best[0] if best else None


def _printed(pair: Pair[D]) -> str:
    return f"{pair.before!r} against {pair.after!r}"
