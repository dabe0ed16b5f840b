"""One run of a program under recording, and what of its calls was understood."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import attrs
import numpy as np

from proofs_tests.harness.recording.calls import Call
from proofs_tests.harness.recording.outputs import Raised, copied
from proofs_tests.harness.recording.patches import recorded

D = TypeVar("D")


@attrs.frozen(eq=False)
class Run:
    """The calls of one run, and what came out."""

    calls: tuple[Call, ...]
    output: object


def run(
    program: Callable[[D], object],
    data: D,
    script: Sequence[Call] | None = None,
    outputs: Mapping[int, object] | None = None,
    fresh: Collection[int] = (),
) -> Run:
    """Runs a program on a copy of the data. In a replay what it raises is its output; see `recorded` for the rest.

    Raises Diverged where a replay asks for other draws than the script has.
    """
    given: D = copied(data)  # type: ignore[assignment]  # of the same type
    with recorded(script, outputs, fresh) as tape:
        try:
            output = program(given)
        except Exception as error:  # whatever somebody else's program raises
            if script is None:
                raise
            output = Raised(f"{type(error).__name__}: {error}")
        tape.finished()
    return Run(tuple(tape.calls), output)


class OutOfTime(BaseException):
    """A program was to be run once more, and no time is left. No Exception, as those count as a program's output."""


def limited(program: Callable[[D], object], seconds: float) -> Callable[[D], object]:
    """The same program, which raises OutOfTime where it is called after some seconds from now."""
    end = time.monotonic() + seconds

    def in_time(data: D) -> object:
        if time.monotonic() > end:
            raise OutOfTime
        return program(data)

    return in_time


def natural(program: Callable[[D], object], data: D) -> Run:
    """One more run with noise of its own; what it raises is its output."""
    try:
        return run(program, data)
    except Exception as error:  # whatever somebody else's program raises
        return Run((), Raised(f"{type(error).__name__}: {error}"))


def chosen_by(calls: Sequence[Call]) -> frozenset[int]:
    """The numbers of draws and sums of which only the place of the largest is asked for, as far as can be seen."""
    sums = {call.source for call in calls if call.kind == "choice" and call.source is not None}
    draws = {calls[number - 1].source for number in sums}
    others = {call.source for call in calls if call.kind == "release" and call.number not in sums}
    if draws & others:
        return frozenset()
    return frozenset(sums | {number for number in draws if number is not None})


def unseen(calls: Sequence[Call]) -> list[Call]:
    """Draws that are not known to have been added to anything: noise without a sum and a location, and all others."""
    used = dict[int | None, set[int]]()
    for call in calls:
        if call.kind == "release" and call.spots is not None:
            used.setdefault(call.source, set()).update(call.spots.ravel().tolist())
    return [call for call in calls if call.kind == "other" or (call.kind == "noise" and _is_open(call, used))]


def _is_open(call: Call, used: Mapping[int | None, set[int]]) -> bool:
    return not np.any(np.asarray(call.value)) and len(used.get(call.number, ())) < np.size(call.output)  # type: ignore[arg-type]  # numbers
