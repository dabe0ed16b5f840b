"""An output that differs though all that was released is the same: what of that proves that too much is lost.

One transcript on which two data sets give different outputs is no proof: another function of the noise may be as
likely. A part that stays the same whatever the noise is one, and so are outputs whose frequencies differ too much.
"""

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

import attrs
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from accountant import GDP, ZCDP, ApproxDP, BoundedRange, Cost, LaplaceDP, PureDP
from proofs_tests.harness.black_box import NotIndependent, TooLittleTime, check_function
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.exposure import moved
from proofs_tests.harness.recording.outputs import CannotCompare, Raised, copied, leaves, same_leaf
from proofs_tests.harness.recording.runs import Run, run
from proofs_tests.harness.report import ClaimViolated, Report

D = TypeVar("D")

FALSE_ALARM: Final = 1e-9
"""The chance that draws refute a correct claim."""

MOST_RUNS: Final = 200
"""To see that a part of an output is always the same; more only while there is time."""

FEW_RUNS: Final = 3
EXTREMES: Final = (
    -1e6 / math.e,
    -40.0 / math.pi,
    -8.0 / math.e,
    -1.0 / math.pi,
    1.0 / math.e,
    2.7,
    40.0 / math.pi,
    1e6,
)
"""Scales of the noise by which all that was released is moved, where it is known that nothing else is random. No whole
numbers, as nothing moves those who take what is left of a division by 1."""

NEVER: Final = 10**12

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
    seconds: float,
) -> Raw | None:
    """What differs between neighbours and is the same whatever the noise; None if there is none.

    first, second: a run and its replay.  blind: draws that were not understood. Where there are none, outputs are a
    function of what was released, and extreme outputs must leave the part alone; else only draws can say. Draws must
    leave it alone in any case, as often as the claim asks for, or for so many seconds.
    seeded: whether more runs may draw the same, so that they say nothing.
    A program that draws nothing that is seen is taken to draw nothing if that many, and `MOST_RUNS` at least, agree.
    """
    parts = [dict(leaves(each.output)) for each in (first, second)]
    suspects = [path for path in dict.fromkeys([*parts[0], *parts[1]]) if not _agree(parts[0], parts[1], path)]
    needed = 1 if seeded else _runs(claimed)
    least, done, end = MOST_RUNS if blind or not first.calls else FEW_RUNS, 1, time.monotonic() + seconds
    while suspects and done < needed and (done < least or time.monotonic() < end):
        suspects = _steady(suspects, parts, [_drawn(program, data) for data in pair])
        done += 1
    if first.calls and not blind:
        for both in _extremes(program, pair, first):
            suspects = _steady(suspects, parts, both) if suspects else []
    if not suspects:
        return None
    one, other = (each.get(suspects[0], "nothing") for each in parts)
    text = f"{suspects[0]}: {one!r:.60} against {other!r:.60}"
    if seeded and blind:
        return Raw(f"{text}, and {blind[0].title}, may hide that, from a seed", False)
    if needed > done and blind:
        return Raw(f"{text} in each of {done} runs, and {blind[0].title}, may hide that", False)
    return Raw(f"{text}, {f'in each of {needed} runs' if blind else 'whatever the noise'}", True)


def _drawn(program: Callable[[D], object], data: D) -> Run:
    """What comes out of one more run, which is not recorded."""
    try:
        return Run((), program(copied(data)))  # type: ignore[arg-type]  # of the same type
    except Exception as error:  # whatever somebody else's program raises
        return Run((), Raised(f"{type(error).__name__}: {error}"))


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
        outputs = {call.number: moved(call, far) for call in first.calls if call.kind in ("release", "noise")}
        try:
            yield [run(program, data, first.calls, outputs) for data in pair]
        except (Diverged, CannotCompare):
            continue


def _runs(claimed: Cost) -> int:
    """How often two sides must give two different things before a claim is refuted; `NEVER` where that is not known."""
    chance = _surest(claimed)
    return math.ceil(math.log(FALSE_ALARM / 2.0) / math.log(chance)) if chance < 1.0 else NEVER


def _surest(claimed: Cost) -> float:
    """The largest chance that an event may have on one side, and its opposite on the other; 1 if that is not known."""
    match claimed:
        case PureDP(epsilon=epsilon) | BoundedRange(epsilon=epsilon) | LaplaceDP(epsilon=epsilon):
            return 1.0 / (1.0 + math.exp(-epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon))
        case GDP(mu=mu):
            return float(ndtr(0.5 * mu))
        case ZCDP(rho=rho):  # its limit at order 1 bounds the divergence of the event's chances, p and 1 − p
            return 1.0 / (1.0 + math.exp(-brentq(lambda x: x * math.tanh(0.5 * x) - rho, 0.0, rho + 2.0)))
        case _:
            return 1.0


@attrs.frozen
class _Side:
    """One of a pair, which looks as its data set does."""

    place: int
    text: str

    def __repr__(self) -> str:
        return self.text


class _Turns(Generic[D]):
    """Draws both sides by turns, the first one by a coin: what a clock or a counter shows is then no side's own."""

    def __init__(self, program: Callable[[D], object], pair: Pair[D]) -> None:
        self._program, self._pair, self._coin = program, pair, random.SystemRandom()
        self._waiting = deque[tuple[object, ...]](), deque[tuple[object, ...]]()

    def __call__(self, side: _Side) -> tuple[object, ...]:
        if not self._waiting[side.place]:
            for place in self._coin.sample((0, 1), 2):
                output = _drawn(self._program, tuple(self._pair)[place]).output
                self._waiting[place].append(
                    tuple(leaf if isinstance(leaf, int | float | str) else repr(leaf) for _, leaf in leaves(output))
                )
        return self._waiting[side.place].popleft()


def by_frequency(program: Callable[[D], object], pair: Pair[D], claimed: Cost, seconds: float) -> Report | None:
    """A report that refutes the claim by the outputs alone, in some seconds; None where that was not found."""
    sides = Pair(*(_Side(place, f"{data!r:.180}") for place, data in enumerate(pair)))
    try:
        check_function(
            _Turns(program, pair),
            [sides],
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
