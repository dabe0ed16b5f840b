"""Rows of points, a part at a time: in threads where there is much to do, and in pieces that a cache has room for."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, TypeVar

GROUP: Final = 32
"""Rows that are summed in double precision, see `learners.halfspaces.exact_sums`; parts and pieces are whole groups."""

PIECE: Final = 2**18
"""Numbers in double precision, 2 MiB, that are made of points at a time; for fewer BLAS calls no threads of its own."""

SMALL: Final = 2**16
"""Numbers of a piece that is read more often."""

MOST_ROWS: Final = 2**14
"""Of a piece: sums of so many whole numbers below 2^48 fit into 64 bits."""

PARTS: Final = 4
"""Of a block's rows, which threads share."""

MANY: Final = 2**20
"""Numbers in a block, from which on threads are of use."""

T = TypeVar("T")


def pieces(rows: slice, dimension: int, numbers: int = PIECE) -> Iterator[slice]:
    """The rows, as many at a time as there is room for; whole groups but for the last."""
    step = max(1, min(numbers - 1, MOST_ROWS * dimension) // (dimension * GROUP)) * GROUP
    return (slice(start, min(start + step, rows.stop)) for start in range(rows.start, rows.stop, step))


def each_part(n: int, dimension: int, work: Callable[[slice], T]) -> list[T]:
    """The work on each part of n rows, in order; in threads where there is much of it."""
    step = max(GROUP, -(-n // (PARTS * GROUP)) * GROUP)
    parts = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    return [work(part) for part in parts] if n * dimension < MANY else list(_threads().map(work, parts))


@cache
def _threads() -> ThreadPoolExecutor:
    """Of this process, for all visits: starting threads takes as long as a tenth of what they do in one."""
    return ThreadPoolExecutor(min(PARTS, os.cpu_count() or 1), thread_name_prefix="points")


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_threads.cache_clear)  # which has none of these threads
