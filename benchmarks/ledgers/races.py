"""Many that want the last of a budget at once: exactly as many may succeed as the budget has parts."""

import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from types import TracebackType
from typing import Final, Self

import attrs

from accountant import (
    BasicComposition,
    BudgetExceeded,
    Cost,
    Description,
    Ledger,
    PureDP,
    ReplaceOne,
)

PROCESSES: Final = 8
THREADS: Final = 16
ATTEMPTS: Final = 1_600
"""By all racers together."""

PARTS: Final = 500
BUDGET: Final = PureDP(1.0)
PART: Final = BUDGET.split(PARTS)
DESCRIPTION: Final = Description("Part", "constant", (), "none", 0.0, None, "none", False, ())


@attrs.frozen
class Part:
    """Costs one equal part of the budget, and releases a constant."""

    cost: Cost = PART
    adjacency: ReplaceOne = attrs.field(factory=ReplaceOne)
    description: Description = DESCRIPTION

    def check(self, data: int) -> None:
        """Anything fits."""

    def sample(self, data: int) -> int:
        """The constant."""
        return data


def opened(url: str) -> Ledger:
    """The books at this place, made if there are none."""
    return Ledger.open(url, BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())


def attempt(ledger: Ledger, times: int) -> int:
    """How many of so many attempts at a part went through."""
    part, data, won = Part(), ledger.protect(1), 0
    for _ in range(times):
        try:
            won += ledger.release(part, data)
        except BudgetExceeded:
            continue
    return won


def race_of_threads(ledgers: Sequence[Ledger]) -> int:
    """16 threads that share these ledgers; how many attempts went through."""
    won: list[int] = []
    start = threading.Barrier(THREADS)

    def run(ledger: Ledger) -> None:
        start.wait()
        won.append(attempt(ledger, ATTEMPTS // THREADS))

    threads = [threading.Thread(target=run, args=(ledgers[i % len(ledgers)],)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(won) < THREADS:
        raise RuntimeError(f"{THREADS - len(won)} of {THREADS} threads failed")
    return sum(won)


class Racers:
    """8 processes, started once for all races. A context manager."""

    def __init__(self) -> None:
        context = get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._barrier = context.Barrier(PROCESSES)
        self._pool = ProcessPoolExecutor(PROCESSES, context, _line_up, (self._barrier,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def race(self, url: str) -> int:
        """All of them at the books at this place; how many attempts went through."""
        # Nobody passes the barrier before all have arrived, so each process takes one of these.
        runs = [self._pool.submit(_race, url) for _ in range(PROCESSES)]
        failed = [error for run in runs if (error := run.exception()) is not None]
        if failed:
            self._barrier.reset()
            # One failure stops all who wait for it; that one is the news.
            raise next((error for error in failed if not isinstance(error, threading.BrokenBarrierError)), failed[0])
        return sum(run.result() for run in runs)


_barrier: Barrier


def _line_up(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _race(url: str) -> int:
    try:
        with opened(url) as ledger:
            _barrier.wait()
            return attempt(ledger, ATTEMPTS // PROCESSES)
    except BaseException:
        _barrier.abort()  # else the others would wait for ever
        raise
