"""Drawing from somebody's program: one by one or many at once, in processes, within a time limit, with progress."""

import multiprocessing
import multiprocessing.pool
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Generic, TypeAlias, TypeVar, cast

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

TELLING: Final = 64
"""So many outputs in a row are not the same by chance, unless all of them are one output."""


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
    with multiprocessing.get_context("fork").Pool(processes, _begin, (source,)) as pool:
        yield _Shared[D, R](pool, processes)


_SOURCE: list[Many[object, object]] = []
"""Of a forked process: what it draws from. It came with the fork, as functions need not pickle."""


def _begin(source: Many[object, object]) -> None:
    _SOURCE[:] = [source]
    random.seed()  # the state of these two is shared with whoever forked; made by hand they are seen to be, below
    np.random.seed()  # noqa: NPY002  # whoever draws from it


def _piece(data: object, number: int) -> list[object]:
    return list(_SOURCE[0](data, number))


@attrs.define(eq=False)
class _Shared(Generic[D, R]):
    """Draws a part in each process."""

    _pool: multiprocessing.pool.Pool
    _processes: int

    def __call__(self, data: D, number: int) -> Sequence[R]:
        sizes = [number // self._processes + (place < number % self._processes) for place in range(self._processes)]
        given = [(data, size) for size in sizes if size]
        parts = cast("list[list[R]]", self._pool.starmap(_piece, given, chunksize=1))
        _refuse_copies(parts)
        return [output for part in parts for output in part]


def _refuse_copies(parts: Sequence[Sequence[object]]) -> None:
    texts = [[text_of(output) for output in part[:TELLING]] for part in parts if len(part) >= TELLING]
    for place, one in enumerate(texts):
        if len(set(one)) > 1 and one in texts[:place]:
            raise NotIndependent(
                "processes: two of them drew the same, as they share a generator that was made before they were: make "
                "it inside the function, without a seed, or draw in one process"
            )
