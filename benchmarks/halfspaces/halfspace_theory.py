"""The smallest error that theory promises for n records: the curves beside the measurements."""

from collections.abc import Callable

import attrs

from boosting.theory import HalfspaceTask, Route, SampleSize, best_sigma, by_margins, by_privacy

STEPS = 12
"""Of the search, in logarithms from 1e-3 to 1."""


def on_records(task: HalfspaceTask, sigma: float) -> SampleSize:
    """`by_margins` without new data: fewer than κn records and the flips are wrong, if the rounds are good."""
    return attrs.evolve(by_margins(task, sigma), generalisation=0)


Tasks = Callable[[float], HalfspaceTask]
"""From an error to the task of learning with it. Raises ValueError where the margin bears fewer flips."""


def _enough(tasks: Tasks, error: float, n: int, *routes: Route) -> bool:
    try:
        task = tasks(error)
        return any(best_sigma(task, route).records <= n for route in routes)
    except ValueError:
        return False


def _least(enough: Callable[[float], bool]) -> float:
    """The smallest error that is promised, to 0.2 %; 1 where none is."""
    low, high = 1e-3, 1.0
    if not enough(high):
        return 1.0
    for _ in range(STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def promised_error(tasks: Tasks, n: int) -> float:
    """α on new data, by the better of 003's Theorems 30 and 33, corrected."""
    return _least(lambda error: _enough(tasks, error, n, by_margins, by_privacy))


def trained_error(tasks: Tasks, n: int) -> float:
    """κ + 2η on the records themselves, κ = α/4: what needs no theorem on new data."""
    error = _least(lambda error: _enough(tasks, error, n, on_records))
    if error == 1.0:
        return 1.0
    task = tasks(error)
    return min(1.0, task.density + 2.0 * task.planned_noise_rate)
