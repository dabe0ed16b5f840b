"""Wall-clock times of works that are compared: of one run, and in turns, so that a busy spell hits them alike."""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

Work: TypeAlias = Callable[[], object]


def seconds(work: Work) -> float:
    """Of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(works: Mapping[str, Work], repeats: int) -> dict[str, list[float]]:
    """Seconds of each work, one a repeat: all of them once, then all again.

    A round before is not counted: imports, threads and compiled libraries. Raises ValueError for less than one repeat.
    """
    if repeats < 1:
        raise ValueError(f"expected at least one repeat, got {repeats}")
    rounds = [{name: seconds(work) for name, work in works.items()} for _ in range(repeats + 1)]
    return {name: [each[name] for each in rounds[1:]] for name in works}


def thread_counts() -> list[int]:
    """1, and as many threads as BLAS takes where nobody limits it, if that is more.

    A product can be slower in several, which wait for each other: what is compared with one says in how many it ran.
    """
    taken = max((int(found["num_threads"]) for found in threadpool_info() if found["user_api"] == "blas"), default=1)
    return sorted({1, taken})


def limited(work: Work, threads: int) -> Work:
    """The same with so many threads of BLAS at most."""

    def in_few() -> None:
        with threadpool_limits(threads, "blas"):
            work()

    return in_few
