"""An output that differs though all that was released is the same: what of that proves that too much is lost.

One transcript on which two data sets give different outputs is no proof: another function of the noise may be as
likely. A part that stays the same whatever the noise is one, and so are outputs whose frequencies differ too much.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import attrs
import numpy as np
from scipy.special import ndtr

from accountant import GDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP
from proofs_tests.harness.black_box import NotIndependent, TooLittleTime, check_function
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.exposure import placed
from proofs_tests.harness.recording.outputs import CannotCompare, Raised, copied, leaves, same_leaf
from proofs_tests.harness.recording.runs import Run, natural, run
from proofs_tests.harness.report import ClaimViolated, Report

D = TypeVar("D")

FALSE_ALARM: Final = 1e-9
"""The chance that draws refute a correct claim."""

MOST_RUNS: Final = 200
"""To see that a part of an output is always the same; claims that allow so much that more are needed stand."""

FEW_RUNS: Final = 3
EXTREMES: Final = (-1e6, -40.0, -8.0, -1.0, 1.0, 8.0, 40.0, 1e6)
"""Scales of the noise by which all that was released is moved, where it is known that nothing else is random."""

SAMPLES: Final = 100_000
"""Of a program that draws something else on a neighbour, at most, to see whether its outputs show that."""


@attrs.frozen
class Raw:
    """A part of the output that is one thing on one side and another on the other: whether that is proved, and how."""

    text: str
    proved: bool


def raw(
    program: Callable[[D], object],
    pair: Pair[D],
    first: Run,
    second: Run,
    claimed: Cost,
    blind: Sequence[Call],
    seeded: bool,
) -> Raw | None:
    """What differs between neighbours and is the same whatever the noise; None if there is none.

    first, second: a run and its replay.  blind: draws that were not understood. Where there are none, outputs are a
    function of what was released, and it is enough that extreme outputs leave the part alone; else only draws can say.
    seeded: whether more runs may draw the same, so that they say nothing.
    A program that draws nothing that is seen is taken to draw nothing if `MOST_RUNS` runs agree.
    """
    parts = [dict(leaves(each.output)) for each in (first, second)]
    suspects = [path for path in dict.fromkeys([*parts[0], *parts[1]]) if not _agree(parts[0], parts[1], path)]
    needed = 1 if seeded else _runs(claimed) if blind or not first.calls else FEW_RUNS
    for _ in range(min(needed, MOST_RUNS) - 1):
        if not suspects:
            return None
        suspects = _steady(suspects, parts, [natural(program, data) for data in pair])
    if first.calls and not blind:
        for both in _extremes(program, pair, first):
            suspects = _steady(suspects, parts, both) if suspects else []
    if not suspects:
        return None
    one, other = (each.get(suspects[0], "nothing") for each in parts)
    text = f"{suspects[0]}: {one!r:.60} against {other!r:.60}"
    if seeded and blind:
        return Raw(f"{text}, and {blind[0].title}, may hide that, from a seed", False)
    if needed > MOST_RUNS and blind:
        return Raw(f"{text} in each of {MOST_RUNS} runs, and {blind[0].title}, may hide that", False)
    return Raw(f"{text}, {f'in each of {needed} runs' if blind else 'whatever the noise'}", True)


def _agree(one: dict[str, object], other: dict[str, object], path: str) -> bool:
    if path not in one or path not in other:
        return (path in one) == (path in other)
    return same_leaf(one[path], other[path])


def _steady(suspects: Sequence[str], parts: Sequence[dict[str, object]], runs: Sequence[Run]) -> list[str]:
    again = [dict(leaves(each.output)) for each in runs]
    return [path for path in suspects if all(_agree(old, new, path) for old, new in zip(parts, again, strict=True))]


def _extremes(program: Callable[[D], object], pair: Pair[D], first: Run) -> Iterator[list[Run]]:
    """Both sides with all that was released far away. Where that cannot be, nothing is learnt."""
    for far in EXTREMES:
        outputs = {call.number: _moved(call, far) for call in first.calls if call.kind in ("release", "noise")}
        try:
            yield [run(program, data, first.calls, outputs) for data in pair]
        except (Diverged, CannotCompare):
            continue


def _moved(call: Call, far: float) -> object:
    output = np.asarray(call.output, dtype=np.float64).ravel()
    scale = np.broadcast_to(np.abs(call.scale), np.asarray(call.output).shape).ravel()
    numbers = {
        place: float(number + far * width) for place, (number, width) in enumerate(zip(output, scale, strict=True))
    }
    if np.asarray(call.output).dtype.kind in "iu":
        numbers = {place: float(round(number)) for place, number in numbers.items()}
    return placed(call.output, numbers)


def _runs(claimed: Cost) -> int:
    """How often two sides must give two different things before the claim is refuted; above MOST_RUNS: too often."""
    chance = _surest(claimed)
    return math.ceil(math.log(FALSE_ALARM / 2.0) / math.log(chance)) if chance < 1.0 else MOST_RUNS + 1


def _surest(claimed: Cost) -> float:
    """The largest chance that an event may have on one side, and its opposite on the other; 1 if that is not known."""
    match claimed:
        case PureDP(epsilon=epsilon) | BoundedRange(epsilon=epsilon) | LaplaceDP(epsilon=epsilon):
            return 1.0 / (1.0 + math.exp(-epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon))
        case GDP(mu=mu):
            return float(ndtr(0.5 * mu))
        case _:
            return 1.0


def by_frequency(program: Callable[[D], object], pair: Pair[D], claimed: Cost, seconds: float) -> Report | None:
    """A report that refutes the claim by the outputs alone, in some seconds; None where that was not found."""

    def numbers(data: D) -> tuple[object, ...]:
        try:
            output = program(copied(data))  # type: ignore[arg-type]  # of the same type
        except Exception as error:  # whatever somebody else's program raises
            output = Raised(f"{type(error).__name__}: {error}")
        return tuple(leaf if isinstance(leaf, int | float | str) else repr(leaf) for _, leaf in leaves(output))

    try:
        check_function(
            numbers,
            [pair],
            claimed,
            samples=SAMPLES,
            confidence=1.0 - FALSE_ALARM,
            low_order_bits=False,
            time_limit=seconds,
        )
    except ClaimViolated as violated:
        return violated.report
    except (TooLittleTime, NotIndependent, ValueError, TypeError):
        return None
    return None


def same_noise(one: Run, other: Run) -> bool:
    """Whether two runs drew the very same numbers: from a fixed seed."""
    pairs = [
        (np.asarray(a.output), np.asarray(b.output))
        for a, b in zip(one.calls, other.calls, strict=False)
        if a.kind in ("noise", "other") and a.primitive == b.primitive
    ]
    return bool(pairs) and all(np.array_equal(a, b) for a, b in pairs)
