"""What is recorded: calls of noise primitives, in order, and the recorder that takes them down or gives them back."""

import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import attrs
import numpy as np
import numpy.typing as npt

from accountant import Cost
from accountant.arrays import FloatArray, IntArray
from proofs_tests.harness.recording.outputs import copied, same

Kind = Literal["noise", "release", "choice", "mapped", "other"]
"""noise: drawn by itself, to be added to something.  release: a value came in, a noised one went out.  choice: an index
by chances that depend on a value.  mapped: a release that only its own privacy map prices.  other: any other draw."""

Law = Literal[
    "laplace",
    "gaussian",
    "gumbel",
    "exponential",
    "discrete laplace",
    "bounded laplace",
    "exponential choice",
    "noisy max",
    "permute and flip",
    "probabilities",
    "",
]

HERE: Final = str(Path(__file__).parent)
LIBRARIES: Final = (
    *("numpy", "opendp", "mechanisms", "accountant", "attr", "diffprivlib", "random", "secrets", "interpret", "joblib"),
    *("sklearn", "snsql", "scipy"),
)
"""Packages whose lines are skipped when the line of a program that drew is looked for."""


class NotPriced(ValueError):
    """Nothing known says what a change of this argument costs."""


class Diverged(BaseException):
    """A replay asked for something else than the first run did. Not an Exception: no program is to catch it."""

    def __init__(self, text: str, first: "Call | None") -> None:
        super().__init__(text)
        self.text, self.first = text, first


@attrs.frozen(eq=False)
class Call:
    """One call of a primitive, or one sum of its noise and a value.

    number: from 1, in order.  primitive: its name.  place: "file:line" of the program.
    value: what noise was added to, the scores of a choice, the argument of a measurement; None where there is none.
    scale: of the noise, shape () or that of the value: b of Laplace noise, σ of Gaussian noise, 1/η of a choice.
    output: what came out.  fixed: what must be the same on a neighbour: sizes, and all arguments of an "other".
    source: the number of the call whose noise this is, for a sum or the largest of noisy scores.
    spots: which of its elements, shape of the output.  price: the cost of what is "mapped", from value to other value.
    declared: the sensitivity that a mechanism was made with, in the norm of its noise.
    span: of "bounded laplace", the interval that its noise, drawn anew until it fits, does not leave.
    """

    number: int
    primitive: str
    kind: Kind
    law: Law
    place: str
    value: object = None
    scale: FloatArray = attrs.field(factory=lambda: np.zeros(()))
    output: object = None
    fixed: tuple[object, ...] = ()
    source: int | None = None
    spots: IntArray | None = None
    price: "Callable[[object, object], Cost] | None" = None
    declared: float | None = None
    span: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        """For messages."""
        return f"call {self.number}, {self.primitive} at {self.place}"


def numbers_of(value: object) -> npt.NDArray[np.generic] | None:
    """A copy as an array of real numbers; whole numbers stay exact; None where it is something else."""
    try:
        found = np.array(value)
    except (ValueError, TypeError):
        return None
    if found.dtype.kind == "O" and all(isinstance(each, int | float) for each in found.flat):
        return found
    return found if found.dtype.kind in "biuf" else None


class Recorder:
    """Records calls; with a script, gives back the script's outputs and records what was to get noise.

    script: the calls of a first run.  outputs: other outputs than the script's, by number.  fresh: numbers of calls
    that draw anew all the same, as nothing but what is chosen by them is said to go out.
    """

    def __init__(
        self,
        script: Sequence[Call] | None = None,
        outputs: Mapping[int, object] | None = None,
        fresh: Collection[int] = (),
    ) -> None:
        self._script, self._outputs, self._fresh = script, outputs or {}, fresh
        self.calls: list[Call] = []
        self._thread, self._process, self._busy = threading.get_ident(), os.getpid(), False
        self._diverged: Diverged | None = None

    @property
    def listening(self) -> bool:
        """Whether a call now is one of the program itself: in its thread, and not from within another primitive.

        A process that it forks has a thread with the same number.
        """
        return not self._busy and threading.get_ident() == self._thread and os.getpid() == self._process

    def close(self) -> None:
        """From now on nothing is recorded: noise that was kept is a plain number."""
        self._busy = True

    def take(self, call: Call, produce: Callable[[], object]) -> object:
        """The output of this call, whose number and place are filled in here. Raises Diverged in a replay."""
        number = len(self.calls) + 1
        call = attrs.evolve(call, number=number, place=_place())
        if self._script is None:
            output = self.unheard(produce)
        else:
            try:
                first = self._first(call)
            except Diverged as diverged:
                self._diverged = diverged  # as a program may catch anything
                raise
            known = self._outputs.get(number, first.output)
            output = self.unheard(produce) if number in self._fresh else known
        self.calls.append(attrs.evolve(call, output=copied(output)))
        return copied(output)

    def finished(self) -> None:
        """Raises Diverged where the script had more calls, or where that was raised and the program went on."""
        if self._diverged is not None:
            raise self._diverged
        if self._script is not None and len(self.calls) < len(self._script):
            first = self._script[len(self.calls)]
            raise Diverged(f"draws depend on the data: {first.title} is not reached on the neighbour", first)

    def unheard(self, produce: Callable[[], object]) -> object:
        """What that gives, and nothing that it draws is recorded."""
        self._busy = True
        try:
            return produce()
        finally:
            self._busy = False

    def _first(self, call: Call) -> Call:
        assert self._script is not None
        if call.number > len(self._script):
            raise Diverged(f"draws depend on the data: {call.title} is made on the neighbour only", None)
        first = self._script[call.number - 1]
        if (first.primitive, first.kind, first.law, first.source) != (
            call.primitive,
            call.kind,
            call.law,
            call.source,
        ):
            raise Diverged(f"draws depend on the data: {first.title}, is {call.title} on the neighbour", first)
        if not same(first.fixed, call.fixed):
            raise Diverged(
                f"{first.title}: its size or arguments depend on the data: {first.fixed!r:.99} and {call.fixed!r:.99}",
                first,
            )
        return first


def _place() -> str:
    """Of the line outside this package, and outside of libraries if there is one."""
    frame, outside = sys._getframe(1), ""
    while frame is not None:
        name, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "")
        if not name.startswith(HERE):
            outside = outside or f"{Path(name).name}:{frame.f_lineno}"
            if str(module).partition(".")[0] not in LIBRARIES:
                return f"{Path(name).name}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return outside
