"""Whether an output shows what was noised: only then a program loses all that its releases lose.

Comparing noisy values, adding them up or rounding them can hide much: above-threshold queries and noise that is added
in parts cost less than the sum of what is noised, so that this sum refutes nothing.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeVar

import numpy as np

from accountant.arrays import FloatArray
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Change
from proofs_tests.harness.recording.exposure.injective import goes_back, same_in_another_order, stand
from proofs_tests.harness.recording.exposure.moving import elements_of, placed, run_with, step_of
from proofs_tests.harness.recording.outputs import CannotCompare, difference, numbers
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

MOST: Final = 300
"""Elements that are moved one by one, each in a run of its own; where there are more they must stand in the output."""


def hidden(
    program: Callable[[D], object], data: D, first: Run, changes: Sequence[Change], by_choice: Collection[int]
) -> str | None:
    """None if the output shows all that changed, and all that what changed depends on; else what it does not show.

    What is noised is seen if all releases stand in the output as they are, or if the output moves with each number by
    itself; and if no other outputs of the noise that were tried, in another order or far away, give the same.
    What a hidden draw decides is noised by that draw too, so that its own noise says nothing.
    """
    for call in _choices(first.calls, changes, by_choice):
        if not _shows(program, data, first, call, by_choice):
            return f"{call.title}: what it chose does not show in the output"
    moved = [change for change in changes if change.call.kind != "choice"]
    released = [call for call in first.calls if _is_released(call, by_choice, {change.call.number for change in moved})]
    if stand(program, data, first, released, by_choice):
        return _elsewhere_the_same(program, data, first, released, moved, by_choice)
    if sum(elements_of(call).size for call in released) > MOST:
        return f"it releases more than {MOST} numbers, and not as they are"
    parts = [_parts(program, data, first, call, by_choice, _marks(call, moved), moved) for call in released]
    table = _table([column for columns, _ in parts for column in columns])
    marks = np.concatenate([needed for _, needed in parts])
    if table is None:
        return "what it releases decides what it does next, or how much comes out"
    if _rank(table) < _rank(table[:, ~marks]) + int(marks.sum()):
        return "its output shows less than was noised"
    return _elsewhere_the_same(program, data, first, released, moved, by_choice)


def _elsewhere_the_same(
    program: Callable[[D], object],
    data: D,
    first: Run,
    released: Sequence[Call],
    moved: Sequence[Change],
    by_choice: Collection[int],
) -> str | None:
    """Which other numbers give the same output, of those that are tried; None if none do."""
    marks = [(call, _marks(call, moved)) for call in released]
    return same_in_another_order(program, data, first, released, moved, by_choice) or goes_back(
        program, data, first, marks, by_choice
    )


def _choices(calls: Sequence[Call], changes: Sequence[Change], by_choice: Collection[int]) -> list[Call]:
    """Those that changed, and those before the last number that changed, which may depend on them."""
    changed = {change.call.number for change in changes}
    last = max((change.call.number for change in changes if change.call.kind != "choice"), default=0)
    known = [call for call in calls if call.kind == "choice" and (call.source is None or call.source in by_choice)]
    return [call for call in known if call.number in changed or call.number < last]


def _parts(
    program: Callable[[D], object],
    data: D,
    first: Run,
    call: Call,
    by_choice: Collection[int],
    marks: np.ndarray,
    moved: Sequence[Change],
) -> tuple[list[FloatArray | None], np.ndarray]:
    """How the output moves with each element of a release, and which elements must show: those that changed, and those
    on which what changed depends."""
    found, needed = list[FloatArray | None](), marks.copy()
    later = [change.call.number for change in moved if change.call.number > call.number]
    base = run_with(program, data, first, {}, by_choice)
    for place, old in enumerate(elements_of(call)):
        step = step_of(call, place, float(old))
        other = run_with(
            program, data, first, {call.number: placed(call.output, {place: float(old) + step})}, by_choice
        )
        found.append(_slope(base, other, step))
        if base is not None and other is not None:
            needed[place] |= any(_depends(base.calls[number - 1], other.calls[number - 1]) for number in later)
    return found, needed


def _depends(one: Call, other: Call) -> bool:
    """Whether what is noised, or by how much, is not the same."""
    return not (
        np.array_equal(np.asarray(one.value), np.asarray(other.value)) and np.array_equal(one.scale, other.scale)
    )


def _slope(base: Run | None, other: Run | None, step: float) -> FloatArray | None:
    """How all numbers of the output moved; None where there are none, or others."""
    if base is None or other is None:
        return None
    try:
        one, two = (np.array(numbers(each.output)) for each in (base, other))
    except CannotCompare:
        return None
    return (two - one) / step if one.shape == two.shape else None


def _is_released(call: Call, by_choice: Collection[int], changed: Collection[int]) -> bool:
    return call.number not in by_choice and (call.kind in ("release", "mapped") or call.number in changed)


def _marks(call: Call, moved: Sequence[Change]) -> np.ndarray:
    found = np.zeros(elements_of(call).size, dtype=bool)
    for change in moved:
        if change.call.number == call.number:
            found |= change.elements
    return found


def _table(columns: Sequence[FloatArray | None]) -> FloatArray | None:
    """Shape (numbers in the output, elements); None where one column is not there."""
    there = [column for column in columns if column is not None]
    if len(there) < len(columns) or not there:
        return None
    return np.nan_to_num(np.stack(there, axis=1), nan=0.0, posinf=0.0, neginf=0.0)


def _rank(table: FloatArray) -> int:
    if not table.size:
        return 0
    sizes = np.linalg.norm(table, axis=0)
    return int(np.linalg.matrix_rank(table / np.where(sizes > 0.0, sizes, 1.0), tol=1e-5))


def _shows(program: Callable[[D], object], data: D, first: Run, call: Call, by_choice: Collection[int]) -> bool:
    """Whether each other choice would have come out differently; of many the first 64."""
    size = int(np.size(np.asarray(call.value)))
    old = np.asarray(call.output)
    for place in [place for place in range(min(size, 64)) if not np.all(old == place)]:
        other = np.full_like(old, place) if old.shape else place
        try:
            output = run(program, data, first.calls, {call.number: other}, by_choice).output
            if difference(first.output, output) is None:
                return False
        except (Diverged, CannotCompare):
            continue
    return True
