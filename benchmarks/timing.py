"""Wall-clock times of works that are compared: of one run, and in turns, so that a busy spell hits them alike."""

import time
from collections.abc import Callable, Mapping

Work = Callable[[], object]


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
