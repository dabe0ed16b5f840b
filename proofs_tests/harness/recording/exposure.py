"""Whether an output shows what was noised: only then a program loses all that its releases lose.

Comparing noisy values, adding them up or rounding them can hide much: above-threshold queries and noise that is added
in parts cost less than the sum of what is noised, so that this sum refutes nothing.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from accountant.arrays import FloatArray
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Change
from proofs_tests.harness.recording.outputs import CannotCompare, difference, numbers
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

MOST: Final = 300
"""Elements that are moved one by one, each in a run of its own; where there are more they must stand in the output."""

STEP: Final = 2.0**-8
"""How far, in scales of the noise."""


def hidden(
    program: Callable[[D], object], data: D, first: Run, changes: Sequence[Change], by_choice: Collection[int]
) -> str | None:
    """None if the output shows all that changed; else what it does not show.

    What is noised is seen if it stands in the output as it is, or if the output moves with each number by itself.
    """
    for change in (each for each in changes if each.call.kind == "choice"):
        if not _shows(program, data, first, change.call, by_choice):
            return f"{change.call.title}: what it chose does not show in the output"
    moved = [change for change in changes if change.call.kind != "choice"]
    told = set(numbers(first.output))
    if all(set(_elements(change.call)[change.elements].tolist()) <= told for change in moved):
        return None
    released = [call for call in first.calls if _is_released(call, by_choice, {change.call.number for change in moved})]
    if sum(_elements(call).size for call in released) > MOST:
        return f"it releases more than {MOST} numbers, and not as they are"
    columns = [column for call in released for column in slopes(program, data, first, call, by_choice)]
    marks = np.concatenate([_marks(call, moved) for call in released])
    table = _table(columns)
    if table is None:
        return "what it releases decides what it does next, or how much comes out"
    if _rank(table) < _rank(table[:, ~marks]) + int(marks.sum()):
        return "its output shows less than was noised"
    return None


def _is_released(call: Call, by_choice: Collection[int], changed: Collection[int]) -> bool:
    return call.number not in by_choice and (call.kind in ("release", "mapped") or call.number in changed)


def _marks(call: Call, moved: Sequence[Change]) -> np.ndarray:
    found = np.zeros(_elements(call).size, dtype=bool)
    for change in moved:
        if change.call.number == call.number:
            found |= change.elements
    return found


def _elements(call: Call) -> FloatArray:
    try:
        return np.ravel(np.asarray(call.output, dtype=np.float64))
    except (TypeError, ValueError):
        return np.array([math.nan])


def slopes(
    program: Callable[[D], object], data: D, first: Run, call: Call, by_choice: Collection[int]
) -> list[FloatArray | None]:
    """How all numbers of the output move with each element of a release; None where their number changes.

    first: the run whose calls are given back, whatever the data.
    """
    found: list[FloatArray | None] = []
    base = _numbers_with(program, data, first, {}, by_choice)
    for place, old in enumerate(_elements(call)):
        step = _step(call, place, float(old))
        other = _numbers_with(
            program, data, first, {call.number: placed(call.output, {place: float(old) + step})}, by_choice
        )
        fits = base is not None and other is not None and base.shape == other.shape
        found.append((other - base) / step if fits else None)  # type: ignore[operator]  # both are there
    return found


def _numbers_with(
    program: Callable[[D], object], data: D, first: Run, outputs: Mapping[int, object], by_choice: Collection[int]
) -> FloatArray | None:
    try:
        return np.array(numbers(run(program, data, first.calls, outputs, by_choice).output))
    except (Diverged, CannotCompare):
        return None


def _step(call: Call, place: int, old: float) -> float:
    if np.asarray(call.output).dtype.kind in "iu":
        return 1.0
    scale = float(np.abs(np.broadcast_to(call.scale, np.asarray(call.output).shape).ravel()[place]))
    return STEP * (scale or max(abs(old), 1.0))


def placed(output: object, numbers: Mapping[int, float]) -> object:
    """The same output with other numbers at some places."""
    moved = np.array(output)
    for place, number in numbers.items():
        moved.flat[place] = np.asarray(number).astype(moved.dtype)
    if isinstance(output, np.ndarray | np.generic):
        return moved if moved.shape else moved[()]
    listed: object = moved.tolist()
    return tuple(listed) if isinstance(output, tuple) and isinstance(listed, list) else listed


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
