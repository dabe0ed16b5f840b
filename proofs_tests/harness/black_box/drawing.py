"""Drawing from somebody's program: one by one or many at once, in processes, within a time limit, with progress."""

import multiprocessing
import pickle
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Final, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from proofs_tests.harness.black_box.copies import Copies
from proofs_tests.harness.draws import Many, copies

D = TypeVar("D")
R = TypeVar("R")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of outputs drawn so far, and with how many there will be at most."""

Source: TypeAlias = Callable[[Sequence[D]], list[R]]
"""Data sets to an output on each, in their order; the same object stands for the same data."""

PIECE: Final = 1_000
"""Outputs that are drawn between two looks at the clock, at most."""

LOOK: Final = 0.2
"""Seconds that a piece may take before pieces are made smaller."""

GRACE: Final = 1.0
"""Seconds that a call has beyond its time, and that a process has to end when it is asked to."""


class OutOfTime(BaseException):  # no Exception: it is raised inside of somebody else's function, which may catch these
    """The time limit has passed."""


@contextmanager
def alarm(limit: float | None) -> Iterator[None]:
    """Raises OutOfTime in whatever runs when so many seconds are over, so that a call that never returns ends there.

    Only where nobody else uses the system's timer, in the main thread of systems that have one; a call into compiled
    code is left when it returns.
    """
    ours = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if limit is None or not ours or signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, signal.SIG_IGN):
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(limit, LOOK))  # a timer of 0 never rings
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@attrs.define(eq=False)
class Clock(Generic[D, R]):
    """Draws piece by piece, tells how far it is, and stops when the time is over.

    source: draws a piece.  limit: in seconds, None for none.  total: outputs that are drawn at most, for `progress`.
    """

    source: Source[D, R]
    limit: float | None
    total: int
    progress: Progress | None
    started: float = attrs.field(factory=time.monotonic, init=False)
    drawn: int = attrs.field(default=0, init=False)
    _next: int = attrs.field(default=1, init=False)
    """Outputs of the next piece."""

    def pieces(self, order: Sequence[D]) -> Iterator[tuple[Sequence[D], list[R]]]:
        """An output on each of these data sets, piece by piece, as (data sets, outputs). Raises OutOfTime."""
        start = 0
        while start < len(order):
            self.look()
            part = order[start : start + self._next]
            start += len(part)
            yield part, self._drawn(part)

    def look(self, ahead: float = 0.0) -> None:
        """Raises OutOfTime where the time is over, or would be after as many seconds ahead."""
        if self.limit is not None and time.monotonic() - self.started + ahead > self.limit:
            raise OutOfTime

    def _drawn(self, order: Sequence[D]) -> list[R]:
        before = time.monotonic()
        with alarm(None if self.limit is None else self.started + 1.1 * self.limit + GRACE - before):
            piece = self.source(order)
        self.drawn += len(order)
        if self.progress is not None:
            self.progress(self.drawn, self.total)
        took = time.monotonic() - before
        self._next = min(2 * len(order), PIECE) if took < LOOK else max(1, int(len(order) * LOOK / took))
        return piece


@contextmanager
def drawing(
    function: Callable[[D], R], many: Many[D, R] | None, processes: int, limit: float | None = None
) -> Iterator[Source[D, R]]:
    """How to draw from a function: by itself, by `many`, or in processes that end with the block.

    limit: seconds after which nothing is waited for in processes, so that a call that never returns ends there too.
    Each call has a copy of the data set, so that what the function changes in it does not show in the next.
    """
    source = _afresh(function) if many is None else _at_once(many)
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


def _afresh(function: Callable[[D], R]) -> Source[D, R]:
    def source(order: Sequence[D]) -> list[R]:
        copy = {id(data): copies(data) for data in _distinct(order)}
        return [function(copy[id(data)]()) for data in order]

    return source


def _at_once(many: Many[D, R]) -> Source[D, R]:
    def source(order: Sequence[D]) -> list[R]:
        counts = Counter(map(id, order))
        return _dealt(order, {id(data): _several(many, data, counts[id(data)]) for data in _distinct(order)})

    return source


def _several(many: Many[D, R], data: D, number: int) -> list[R]:
    outputs = many(copies(data)(), number)
    if not hasattr(outputs, "__len__"):
        raise TypeError(f"many: expected a list or an array of outputs, got {type(outputs).__name__}")
    if len(outputs) != number:
        raise ValueError(f"many: expected {number} outputs, got {len(outputs)}")
    return list(outputs)


def _distinct(order: Sequence[D]) -> list[D]:
    return list({id(data): data for data in order}.values())


def _dealt(order: Sequence[D], pools: Mapping[int, Iterable[R]]) -> list[R]:
    """Outputs on each data set, given by its id, in the order of the data sets."""
    rest = {key: iter(pool) for key, pool in pools.items()}
    return [next(rest[id(data)]) for data in order]


@contextmanager
def _forked(source: Source[D, R], others: tuple[Connection, ...]) -> Iterator[Connection]:
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


def _serve(source: Source[D, R], pipe: Connection, not_ours: tuple[Connection, ...]) -> None:
    """Draws what is asked for until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    for each in not_ours:
        each.close()
    random.seed()  # the state of these two would be shared with the others; other generators are seen to be, below
    np.random.seed()  # noqa: NPY002  # whoever draws from it
    with suppress(EOFError, BrokenPipeError):  # whoever asked is gone
        while True:
            order = pipe.recv()
            try:
                pipe.send((None, source(order)))
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

    def __call__(self, order: Sequence[D]) -> list[R]:
        each = self._of_one(order)
        try:
            asked = pickle.dumps(each)
        except Exception as error:  # whatever somebody else's data raises
            raise ValueError(
                f"processes: the data sets do not pickle ({type(error).__name__}: {error}); draw in one process"
            ) from error
        try:
            for pipe in self._pipes:
                pipe.send_bytes(asked)
            answers = [self._answer(pipe) for pipe in self._pipes]
        except (EOFError, ConnectionError):
            raise ValueError("processes: one of them ended while the function ran: it exits, or crashes") from None
        for said, _ in answers:
            if said is not None:
                raise ValueError(f"the function failed in a process of its own: {said}")
        self._copies.look([outputs for _, outputs in answers])
        pools: dict[int, list[R]] = {}
        for _, outputs in answers:
            for data, output in zip(each, outputs, strict=True):
                pools.setdefault(id(data), []).append(output)
        return _dealt(order, pools)

    def _of_one(self, order: Sequence[D]) -> list[D]:
        """What each process draws: its part of each data set's outputs, rounded up, mixed as they are."""
        left = {key: -(-number // len(self._pipes)) for key, number in Counter(map(id, order)).items()}
        mine: list[D] = []
        for data in order:
            if left[id(data)]:
                left[id(data)] -= 1
                mine.append(data)
        return mine

    def _answer(self, pipe: Connection) -> tuple[str | None, list[R]]:
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        if not pipe.poll(left):
            raise OutOfTime
        answer: tuple[str | None, list[R]] = pipe.recv()
        return answer
