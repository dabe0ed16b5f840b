"""What one transcript does not show: noise that is used twice over, and what happens at other transcripts."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import attrs
import numpy as np

from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Comparison, compared, summed_draws
from proofs_tests.harness.recording.exposure import elements_of, moved, placed
from proofs_tests.harness.recording.outputs import CannotCompare, difference
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

FAR: Final = (-40.3, -1.3, 1.3, 40.3)
"""Scales of the noise."""

GOLDEN: Final = (5.0**0.5 - 1.0) / 2.0
"""Of its multiples, no two leave the same rest."""

TAIL: Final = 6.0
TOGETHER: Final = (-40.3, -TAIL, -1.3, 1.3, TAIL, 40.3)

SINGLE: Final = 16
"""Calls that are moved by themselves, at most, and outcomes of a choice that are tried."""


def used_otherwise(program: Callable[[D], object], data: D, first: Run, by_choice: Collection[int]) -> str:
    """Why noise is not only what it was added to: with other noise and the same sums the program gives something else.

    As where noise that is too large is drawn anew, or where its sign goes out. "" where no such thing was seen.
    """
    summed = _summed(first.calls)
    if not summed or _gives_the_same(program, data, first, summed, by_choice):
        return ""
    for source in list(summed)[:SINGLE]:  # which of them
        if not _gives_the_same(program, data, first, {source: summed[source]}, by_choice):
            return f"{first.calls[source - 1].title}: its noise is used otherwise too than in the sum that was seen"
    title = first.calls[next(iter(summed)) - 1].title
    return f"{title}: its noise, or that of a later call, is used otherwise too than in the sum that was seen"


def _gives_the_same(
    program: Callable[[D], object],
    data: D,
    first: Run,
    summed: Mapping[int, Sequence[int]],
    by_choice: Collection[int],
) -> bool:
    """With the noise of these draws far away, and the same sums of it. All at once: one by one would be many runs."""
    for ways in _ways(len(summed)):
        moves = zip(summed.items(), ways, strict=True)
        outputs = {source: _moved_apart(first.calls[source - 1], spots, far) for (source, spots), far in moves}
        try:
            if difference(first.output, run(program, data, first.calls, outputs, by_choice).output) is not None:
                return False
        except (Diverged, CannotCompare):
            return False
    return True


def _ways(draws: int) -> Iterator[list[float]]:
    """How far each draw is moved, in scales: no two by as much, so that differences of them move as well.

    Of any two, once to the same side and once to opposite sides, as a program may look at the sign of their product.
    """
    apart = [1.0 + place * GOLDEN % 1.0 for place in range(draws)]
    for spread in (apart, [3.0 - each for each in apart])[: min(draws, 2)]:
        for far in FAR:
            yield [far * each for each in spread]
    for bit in range((draws - 1).bit_length()):
        yield [FAR[-1] * each * (-1.0 if place >> bit & 1 else 1.0) for place, each in enumerate(apart)]


def _summed(calls: Sequence[Call]) -> dict[int, list[int]]:
    """Draws of which sums were seen, and which of their numbers these have."""
    found = dict[int, set[int]]()
    for call in calls:
        if call.kind == "release" and call.source is not None and call.spots is not None:
            found.setdefault(call.source, set()).update(call.spots.ravel().tolist())
    return {source: sorted(spots) for source, spots in found.items()}


def _moved_apart(call: Call, spots: Sequence[int], far: float) -> object:
    """Not all by as much, so that differences of them move as well."""
    old, scale = elements_of(call), np.broadcast_to(np.abs(call.scale), np.asarray(call.output).shape).ravel()
    return placed(call.output, {at: float(old[at] + far * (1.0 + 0.1 * (at % 7)) * scale[at]) for at in spots})


@attrs.frozen(eq=False)
class Elsewhere:
    """Both sides at other outputs: `comparison` is None where they draw, or give, something else; `text` says what.

    near: whether these are as likely as any, and as far out as what is lost in tails.
    """

    near: bool
    first: Run | None
    comparison: Comparison | None
    text: str = ""


def elsewhere(
    program: Callable[[D], object],
    pair: Pair[D],
    first: Run,
    by_choice: Collection[int],
    fixed: Collection[int],
    end: float,
) -> Iterator[Elsewhere]:
    """Both sides at other transcripts: all that was released moved together, each by itself, each choice made anew.

    end: when to stop, as of time.monotonic().
    """
    for near, outputs in _others(first.calls, by_choice):
        if time.monotonic() > end:
            return
        try:
            one, other = (run(program, data, first.calls, outputs, by_choice) for data in pair)
            text = difference(one.output, other.output)
        except (Diverged, CannotCompare) as error:
            yield Elsewhere(near, None, None, f"what it releases decides what it does next ({error})")
            continue
        if text is not None:
            yield Elsewhere(near, one, None, f"at other outputs the program gives something else: {text}")
        else:
            yield Elsewhere(near, one, compared(one.calls, other.calls, by_choice, fixed))


def _others(calls: Sequence[Call], by_choice: Collection[int]) -> Iterator[tuple[bool, dict[int, object]]]:
    summed = summed_draws(calls)
    released = [call for call in calls if _is_number(call, summed) and call.number not in by_choice]
    for far in TOGETHER:
        if released:
            yield abs(far) <= TAIL, {call.number: moved(call, far) for call in released}
    for call in released[:SINGLE] if len(released) > 1 else []:
        for far in FAR:
            yield False, {call.number: moved(call, far)}
    for call in [call for call in calls if call.kind == "choice" and (call.source is None or call.source in by_choice)]:
        old = np.asarray(call.output)
        for place in range(min(np.size(np.asarray(call.value)), SINGLE)):
            if not np.all(old == place) and _may_be(call, place):
                yield False, {call.number: np.full_like(old, place) if old.shape else place}


def _is_number(call: Call, summed: Collection[int]) -> bool:
    """Whether it is a release: a sum, or noise around a location that nothing is added to."""
    located = call.kind == "noise" and call.number not in summed and bool(np.any(np.asarray(call.value)))
    return (call.kind == "release" or located) and bool(np.all(np.isfinite(elements_of(call))))


def _may_be(call: Call, place: int) -> bool:
    return call.law != "probabilities" or bool(np.isfinite(np.ravel(np.asarray(call.value, dtype=np.float64))[place]))
