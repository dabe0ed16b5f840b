"""Figures 2 and 3 of 001: boosted 1-Rules under pure and under approximate differential privacy, by ε."""

from collections.abc import Sequence
from typing import Final

from benchmarks.data import TITLES, Plan
from benchmarks.runner import Cell, Grid
from benchmarks.systems import Results, System, average, measure, ours
from learners import LazyBoostClassifier
from learners.base import Rule

BUDGETS: Final[tuple[tuple[str, float, Rule], ...]] = (
    ("δ=0", 0.0, "basic"),
    ("δ=1e-5, advanced composition", 1e-5, "advanced"),
    ("δ=1e-5, best theorem", 1e-5, "auto"),
)
"""Pure, approximate as the paper adds up, and approximate as we price a plan."""

SAME: Final = (0.25, 0.25, 99)
"""Density, learning rate and rounds of Figure 2."""

GRID: Final = tuple(
    (density, rate, rounds) for density in (0.25, 0.5) for rate in (0.25, 0.5) for rounds in (9, 25, 49, 99)
)
"""Among these Figure 3 takes the best at every ε; nobody is charged for that."""


def fixed(composition: Rule, density: float, learning_rate: float, rounds: int) -> System:
    """Boosted 1-Rules with the same hyper-parameters at every ε."""

    def make(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
        return LazyBoostClassifier(
            epsilon,
            delta,
            rounds=rounds,
            learning_rate=learning_rate,
            density=density,
            composition=composition,
            random_state=seed,
        )

    return ours(f"κ={density:g}, λ={learning_rate:g}, τ={rounds}, {composition}", make)


def figure_2(plan: Plan, results: Results, epsilons: Sequence[float], seeds: int) -> Grid:
    """The same hyper-parameters under every budget."""

    def row(what: str, delta: float, rule: Rule) -> tuple[Cell, ...]:
        found = measure(fixed(rule, *SAME), plan, results, epsilons, delta, seeds)
        return (what, *(average(found[epsilon]) for epsilon in epsilons))

    rows = tuple(row(*budget) for budget in BUDGETS)
    return Grid(f"Figure 2, {_subject(plan)}, κ=λ=1/4, τ=99, seeds: {seeds}", _head(epsilons), rows)


def figure_3(
    plan: Plan, results: Results, epsilons: Sequence[float], points: Sequence[tuple[float, float, int]]
) -> Grid:
    """The best of some hyper-parameters, chosen anew under every budget at every ε. points: as in `GRID`."""

    def row(what: str, delta: float, rule: Rule) -> tuple[Cell, ...]:
        tables = [measure(fixed(rule, *point), plan, results, epsilons, delta, 1) for point in points]
        best = (max((average(table[epsilon]) for table in tables), key=lambda each: each.value) for epsilon in epsilons)
        return (what, *best)

    rows = tuple(row(*budget) for budget in BUDGETS)
    return Grid(
        f"Figure 3, {_subject(plan)}, best of {len(points)} settings at every ε, seeds: 1", _head(epsilons), rows
    )


def _subject(plan: Plan) -> str:
    return f"{TITLES[plan.name]}: accuracy of boosted 1-Rules, {plan.protocol}"


def _head(epsilons: Sequence[float]) -> tuple[str, ...]:
    return ("budget", *(f"ε={epsilon:g}" for epsilon in epsilons))
