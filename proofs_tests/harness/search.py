"""Looking for the worst pair: Hypothesis with `target()`, then the smallest pair that is about as bad.

Needs the extra `verify`.
"""

from collections.abc import Callable
from typing import TypeVar

import attrs
from hypothesis import HealthCheck, Phase, find, given, settings, target
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from proofs_tests.harness.neighbours import Pair

D = TypeVar("D")


@attrs.frozen
class Worst:
    """What a search found: the largest value, and a small pair that reaches nearly as much."""

    value: float
    witness: str
    examples: int


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
        if not best or value > best[0][0]:
            best[:] = [(value, pair)]
        target(min(max(value, -1e300), 1e300))

    look()
    return best[0] if best else None


def _printed(pair: Pair[D]) -> str:
    return f"{pair.before!r} against {pair.after!r}"
