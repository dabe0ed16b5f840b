"""Transcripts beside one that was seen: the same calls with other outputs."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeVar

import numpy as np

from accountant.arrays import FloatArray
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

STEP: Final = 2.0**-8
"""How far, in scales of the noise."""


def elements_of(call: Call) -> FloatArray:
    """What came out, shape (k,); NaN where it is no numbers."""
    try:
        return np.ravel(np.asarray(call.output, dtype=np.float64))
    except (TypeError, ValueError):
        return np.array([math.nan])


def run_with(
    program: Callable[[D], object], data: D, first: Run, outputs: Mapping[int, object], by_choice: Collection[int]
) -> Run | None:
    """A replay with other outputs; None where it asks for other draws."""
    try:
        return run(program, data, first.calls, outputs, by_choice)
    except Diverged:
        return None


def is_whole(call: Call) -> bool:
    """Whether whole numbers came out."""
    return np.asarray(call.output).dtype.kind in "iu"


def scales_of(call: Call) -> FloatArray:
    """The scale of the noise of each number that came out, shape (k,), >= 0."""
    return np.abs(np.broadcast_to(call.scale, np.asarray(call.output).shape).ravel())


def step_of(call: Call, place: int, old: float) -> float:
    """A small step of one number."""
    if is_whole(call):
        return 1.0
    return STEP * (float(scales_of(call)[place]) or max(abs(old), 1.0))


def moved(call: Call, far: float, places: Collection[int] | None = None) -> object:
    """The output of a call, that many scales away; all of it, or at some places."""
    steps = far * scales_of(call)
    steps = np.round(steps) if is_whole(call) else steps
    old = elements_of(call)
    return placed(
        call.output, {at: float(old[at] + steps[at]) for at in (range(old.size) if places is None else places)}
    )


def placed(output: object, numbers: Mapping[int, float]) -> object:
    """The same output with other numbers at some places."""
    moved = np.array(output)
    for place, number in numbers.items():
        moved.flat[place] = np.asarray(number).astype(moved.dtype)
    if isinstance(output, np.ndarray | np.generic):
        return moved if moved.shape else moved[()]
    listed: object = moved.tolist()
    return tuple(listed) if isinstance(output, tuple) and isinstance(listed, list) else listed
