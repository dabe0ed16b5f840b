"""Drawing from somebody's program: one by one or many at once, in processes, within a time limit, with progress."""

import itertools
import multiprocessing
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Final, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from proofs_tests.harness.draws import Many, one_by_one
from proofs_tests.harness.outcomes import text_of

D = TypeVar("D")
R = TypeVar("R")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of outputs drawn so far, and with how many there will be at most."""

PIECE: Final = 1_000
"""Outputs that are drawn between two looks at the clock, at most."""

TELLING: Final = 40.0
"""Two runs of outputs that are the same by a chance of 2^-40 are copies."""


class OutOfTime(Exception):
    """The time limit has passed."""


class NotIndependent(ValueError):
    """Two processes drew the same: they share the state of a generator that was made before they were."""


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
    _piece: int = attrs.field(default=16, init=False)

    def __call__(self, data: D, number: int) -> Sequence[R]:
        """That many outputs. Raises OutOfTime; ValueError where `many` gives another number."""
        found: list[R] = []
        while len(found) < number:
            self.look()
            found += self._drawn(data, min(self._piece, number - len(found)))
        return found

    def look(self) -> None:
        """Raises OutOfTime where the time is over."""
        if self.limit is not None and time.monotonic() - self.started > self.limit:
            raise OutOfTime

    def _drawn(self, data: D, number: int) -> Sequence[R]:
        before = time.monotonic()
        piece = self.many(data, number)
        if len(piece) != number:
            raise ValueError(f"many: expected {number} outputs, got {len(piece)}")
        self.drawn += number
        if self.progress is not None:
            self.progress(self.drawn, self.total)
        if time.monotonic() - before < 0.2:
            self._piece = min(2 * self._piece, PIECE)
        return list(piece)


@contextmanager
def drawing(function: Callable[[D], R], many: Many[D, R] | None, processes: int) -> Iterator[Many[D, R]]:
    """How to draw from a function: by itself, by `many`, or in processes that end with the block."""
    source = one_by_one(function) if many is None else many
    if processes == 1:
        yield source
        return
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ValueError("processes: this system cannot fork; draw in one")
    with ExitStack() as stack:
        yield _Shared[D, R]([stack.enter_context(_forked(source)) for _ in range(processes)])


@contextmanager
def _forked(source: Many[D, R]) -> Iterator[Connection]:
    """A process that draws from it, as functions need not pickle; this end of its pipe."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    process = fork.Process(target=_serve, args=(source, theirs), daemon=True)
    process.start()
    theirs.close()  # so that a process that ends is seen to have ended
    try:
        yield ours
    finally:
        process.terminate()
        process.join()


def _serve(source: Many[D, R], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    random.seed()  # the state of these two would be shared with the others; other generators are seen to be, below
    np.random.seed()  # noqa: NPY002  # whoever draws from it
    while True:
        data, number = pipe.recv()
        try:
            pipe.send((None, list(source(data, number))))
        except Exception as error:  # whatever somebody else's function raises goes to whoever asked
            pipe.send((f"{type(error).__name__}: {error}", []))


@attrs.define(eq=False)
class _Shared(Generic[D, R]):
    """Draws as many in each process, in the same order, so that copies of one generator would say the same."""

    _pipes: list[Connection]
    _alike: dict[tuple[int, int], float] = attrs.field(init=False)
    """Of processes that never differed: k where the chance of that is 2^-k."""

    @_alike.default
    def _all(self) -> dict[tuple[int, int], float]:
        return dict.fromkeys(itertools.combinations(range(len(self._pipes)), 2), 0.0)

    def __call__(self, data: D, number: int) -> Sequence[R]:
        each = -(-number // len(self._pipes))
        for pipe in self._pipes:
            pipe.send((data, each))
        try:
            answers: list[tuple[str | None, list[R]]] = [pipe.recv() for pipe in self._pipes]
        except EOFError:
            raise ValueError("processes: one of them ended while the function ran: it exits, or crashes") from None
        for said, _ in answers:
            if said is not None:
                raise ValueError(f"the function failed in a process of its own: {said}")
        self._refuse_copies([tuple(map(text_of, outputs)) for _, outputs in answers])
        return [output for _, outputs in answers for output in outputs][:number]

    def _refuse_copies(self, parts: Sequence[tuple[str, ...]]) -> None:
        self._alike = {
            (one, other): bits + _bits(parts[one])
            for (one, other), bits in self._alike.items()
            if parts[one] == parts[other]
        }
        if any(bits > TELLING for bits in self._alike.values()):
            raise NotIndependent(
                "processes: two of them drew the same, as they share a generator that was made before they were: make "
                "it inside the function, without a seed, or draw in one process"
            )


def _bits(texts: Sequence[str]) -> float:
    """How unlikely it is that another run is the same: k where the chance is 2^-k, from how often outputs repeat."""
    shares = np.array(list(Counter(texts).values())) / len(texts)
    return float(-len(texts) * np.log2(np.sum(shares**2)))
