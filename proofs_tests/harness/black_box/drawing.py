"""Drawing from somebody's program: one by one or many at once, in processes, within a time limit, with progress."""

import multiprocessing
import pickle
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Final, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from proofs_tests.harness.black_box.copies import Copies
from proofs_tests.harness.draws import Many, copies

D = TypeVar("D")
R = TypeVar("R")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of outputs drawn so far, and with how many there will be at most."""

PIECE: Final = 1_000
"""Outputs that are drawn between two looks at the clock, at most."""


LOOK: Final = 0.2
"""Seconds that a piece may take before pieces are made smaller."""

GRACE: Final = 1.0
"""Seconds that a process has to end when it is asked to."""


class OutOfTime(Exception):
    """The time limit has passed."""


@attrs.define(eq=False)
class Clock(Generic[D, R]):
    """Draws piece by piece, tells how far it is, and stops when the time is over.

    many: draws a piece.  limit: in seconds, None for no limit.  total: outputs that are drawn at most, for `progress`.
    """

    many: Many[D, R]
    limit: float | None
    total: int
    progress: Progress | None
    started: float = attrs.field(factory=time.monotonic, init=False)
    drawn: int = attrs.field(default=0, init=False)
    _pieces: dict[int, int] = attrs.field(factory=dict, init=False)
    """Outputs of the next piece, by the data set: some may take longer than others."""

    def __call__(self, data: D, number: int) -> Sequence[R]:
        """That many outputs. Raises OutOfTime; ValueError where `many` gives another number."""
        found: list[R] = []
        while len(found) < number:
            self.look()
            found += self._drawn(data, min(self._pieces.get(id(data), 1), number - len(found)))
        return found

    def look(self, ahead: float = 0.0) -> None:
        """Raises OutOfTime where the time is over, or would be after as many seconds ahead."""
        if self.limit is not None and time.monotonic() - self.started + ahead > self.limit:
            raise OutOfTime

    def _drawn(self, data: D, number: int) -> Sequence[R]:
        before = time.monotonic()
        piece = self.many(data, number)
        if not hasattr(piece, "__len__"):
            raise TypeError(f"many: expected a list or an array of outputs, got {type(piece).__name__}")
        if len(piece) != number:
            raise ValueError(f"many: expected {number} outputs, got {len(piece)}")
        self.drawn += number
        if self.progress is not None:
            self.progress(self.drawn, self.total)
        took = time.monotonic() - before
        self._pieces[id(data)] = min(2 * number, PIECE) if took < LOOK else max(1, int(number * LOOK / took))
        return list(piece)


@contextmanager
def drawing(
    function: Callable[[D], R], many: Many[D, R] | None, processes: int, limit: float | None = None
) -> Iterator[Many[D, R]]:
    """How to draw from a function: by itself, by `many`, or in processes that end with the block.

    limit: seconds after which nothing is waited for in processes, so that a call that never returns ends there too.
    Each call has a copy of the data set, so that what the function changes in it does not show in the next.
    """
    source = _afresh(function) if many is None else _with_copies(many)
    if processes == 1:
        yield source
        return
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ValueError("processes: this system cannot fork; draw in one")
    with ExitStack() as stack:
        pipes: list[Connection] = []
        for _ in range(processes):
            pipes.append(stack.enter_context(_forked(source, tuple(pipes))))
        yield _Shared[D, R](pipes, None if limit is None else time.monotonic() + limit)


def _afresh(function: Callable[[D], R]) -> Many[D, R]:
    def many(data: D, number: int) -> Sequence[R]:
        copy = copies(data)
        return [function(copy()) for _ in range(number)]

    return many


def _with_copies(many: Many[D, R]) -> Many[D, R]:
    return lambda data, number: many(copies(data)(), number)


@contextmanager
def _forked(source: Many[D, R], others: tuple[Connection, ...]) -> Iterator[Connection]:
    """A process that draws from it, as functions need not pickle; this end of its pipe.

    others: our ends of the pipes that are open. The process has copies of them, which would keep them open after us.
    """
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    process = fork.Process(target=_serve, args=(source, theirs, (*others, ours)), daemon=True)
    process.start()
    theirs.close()  # so that a process that ends is seen to have ended
    try:
        yield ours
    finally:
        process.terminate()
        process.join(GRACE)
        process.kill()  # one that the function keeps from ending
        process.join()


def _serve(source: Many[D, R], pipe: Connection, not_ours: tuple[Connection, ...]) -> None:
    """Draws what is asked for until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    for each in not_ours:
        each.close()
    random.seed()  # the state of these two would be shared with the others; other generators are seen to be, below
    np.random.seed()  # noqa: NPY002  # whoever draws from it
    with suppress(EOFError, BrokenPipeError):  # whoever asked is gone
        while True:
            data, number = pipe.recv()
            try:
                pipe.send((None, list(source(data, number))))
            except BrokenPipeError:
                raise
            except Exception as error:  # whatever somebody else's function raises goes to whoever asked
                pipe.send((f"{type(error).__name__}: {error}", []))


@attrs.define(eq=False)
class _Shared(Generic[D, R]):
    """Draws as many in each process, in the same order, so that copies of one generator would say the same."""

    _pipes: list[Connection]
    _deadline: float | None
    _copies: Copies = attrs.field(factory=Copies, init=False)

    def __call__(self, data: D, number: int) -> Sequence[R]:
        each = -(-number // len(self._pipes))
        try:
            asked = pickle.dumps((data, each))
        except Exception as error:  # whatever somebody else's data raises
            raise ValueError(
                f"processes: the data sets do not pickle ({type(error).__name__}: {error}); draw in one process"
            ) from error
        try:
            for pipe in self._pipes:
                pipe.send_bytes(asked)
            answers: list[tuple[str | None, list[R]]] = [self._answer(pipe) for pipe in self._pipes]
        except (EOFError, ConnectionError):
            raise ValueError("processes: one of them ended while the function ran: it exits, or crashes") from None
        for said, _ in answers:
            if said is not None:
                raise ValueError(f"the function failed in a process of its own: {said}")
        self._copies.look([outputs for _, outputs in answers])
        return [output for _, outputs in answers for output in outputs][:number]

    def _answer(self, pipe: Connection) -> tuple[str | None, list[R]]:
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        if not pipe.poll(left):
            raise OutOfTime
        answer: tuple[str | None, list[R]] = pipe.recv()
        return answer
