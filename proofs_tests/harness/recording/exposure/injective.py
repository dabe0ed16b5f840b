"""Whether two transcripts that are far apart give the same output: sorted numbers do, and so does an hour of a day.

Where they do, the output is as likely as both together, and the likelihood of the one that was seen proves nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Change
from proofs_tests.harness.recording.exposure.moving import elements_of, is_whole, placed, run_with, scales_of, step_of
from proofs_tests.harness.recording.outputs import CannotCompare, difference, numbers
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

SWAPS: Final = 24
"""Pairs of numbers that change places, at most."""

WALKS: Final = 16
"""Numbers that are moved far, at most."""

FAR: Final = tuple(sign * far for far in (0.382, 0.618, 1.272, 2.719, 6.3, 14.14, 37.7, 211.1) for sign in (-1.0, 1.0))
"""Scales of the noise. No whole numbers of them, as the scale may be the period after which an output comes back."""


def stand(
    program: Callable[[D], object], data: D, first: Run, released: Sequence[Call], by_choice: Collection[int]
) -> bool:
    """Whether all numbers that were released are in the output as they are, and move there, each at its place."""
    told = numbers(first.output)
    places = dict[float, list[int]]()
    for place, number in enumerate(told):
        places.setdefault(number, []).append(place)
    if not all(set(elements_of(call).tolist()) <= set(places) for call in released):
        return False
    wanted = {call.number: _nudged(call) for call in released}
    other = run_with(program, data, first, wanted, by_choice)
    if other is None:
        return False
    try:
        after = numbers(other.output)
    except CannotCompare:
        return False
    pairs = [
        (old, new)
        for call in released
        for old, new in zip(
            elements_of(call).tolist(),
            np.ravel(np.asarray(wanted[call.number], dtype=np.float64)).tolist(),
            strict=True,
        )
    ]
    return len(after) == len(told) and all(any(after[place] == new for place in places[old]) for old, new in pairs)


def _nudged(call: Call) -> object:
    """Each number moved by another small step."""
    old = elements_of(call)
    parts = 1 + np.arange(old.size) % 7
    steps = parts if is_whole(call) else parts * np.array([step_of(call, at, old[at]) for at in range(old.size)])
    return placed(call.output, dict(enumerate((old + steps).tolist())))


def same_in_another_order(
    program: Callable[[D], object],
    data: D,
    first: Run,
    released: Sequence[Call],
    moved: Sequence[Change],
    by_choice: Collection[int],
) -> str | None:
    """Why not all is seen: two numbers, one of which changed, change places, and nothing is seen of that."""
    every = [(call, place) for call in released for place in range(elements_of(call).size)]
    marked = {(change.call.number, int(place)) for change in moved for place in np.flatnonzero(change.elements)}
    own = [at for at, (call, place) in enumerate(every) if (call.number, place) in marked]
    wide = min(len(own), SWAPS)
    pairs = [
        (own[k], other)
        for step in range(1, len(every))
        for k in range(wide)
        for other in [(own[k] + step) % len(every)]
    ]
    for one, other in pairs[:SWAPS]:
        outputs = _swapped(every[one], every[other])
        try:
            if outputs and difference(first.output, run(program, data, first.calls, outputs, by_choice).output) is None:
                return "its output is the same for these numbers in another order"
        except (Diverged, CannotCompare):
            continue
    return None


def _swapped(one: tuple[Call, int], other: tuple[Call, int]) -> Mapping[int, object]:
    numbers = [float(elements_of(call)[place]) for call, place in (one, other)]
    if numbers[0] == numbers[1] or is_whole(one[0]) != is_whole(other[0]):
        return {}
    if one[0].number == other[0].number:
        return {one[0].number: placed(one[0].output, {one[1]: numbers[1], other[1]: numbers[0]})}
    return {
        one[0].number: placed(one[0].output, {one[1]: numbers[1]}),
        other[0].number: placed(other[0].output, {other[1]: numbers[0]}),
    }


def goes_back(
    program: Callable[[D], object],
    data: D,
    first: Run,
    marks: Sequence[tuple[Call, np.ndarray]],
    by_choice: Collection[int],
) -> str | None:
    """Why not all is seen: no number of the output goes one way, or stays, while what changed goes one way."""
    every = [(call, int(place)) for call, hit in marks for place in np.flatnonzero(hit)]
    for call, place in every[:: max(1, -(-len(every) // WALKS))]:
        if not _one_way(program, data, first, call, place, by_choice):
            return f"{call.title}: its output comes back where that goes on, as after a division by a period"
    return None


def _one_way(
    program: Callable[[D], object], data: D, first: Run, call: Call, place: int, by_choice: Collection[int]
) -> bool:
    old, scale = float(elements_of(call)[place]), float(scales_of(call)[place])
    steps = sorted([far * scale for far in FAR] + [0.0, step_of(call, place, old)])
    if is_whole(call):
        steps = sorted({float(round(step)) for step in steps})
    rows = list[list[float]]()
    for step in steps:
        other = run_with(program, data, first, {call.number: placed(call.output, {place: old + step})}, by_choice)
        try:
            rows += [numbers(other.output)] if other is not None else []
        except CannotCompare:
            continue
    usual = len(numbers(first.output))
    table = np.array([row for row in rows if len(row) == usual])
    if table.size == 0 or scale == 0.0:
        return True
    moves = np.diff(table, axis=0)
    with np.errstate(invalid="ignore"):
        ways = np.all(moves >= 0.0, axis=0) | np.all(moves <= 0.0, axis=0)
    return bool(np.any(ways & np.any(moves != 0.0, axis=0)))
