"""Times are taken in turns, and memory in a process of its own."""

import os

import numpy as np
import pytest
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

from benchmarks.runner.memory import elsewhere, peak
from benchmarks.runner.timing import in_turns, limited, seconds, thread_counts


def held(mebibytes: int, name: str) -> dict[str, float]:
    """Called in a process of its own: its peak, and who it is."""
    assert name == "held"
    return {"bytes": float(np.ones(mebibytes * 2**17).nbytes), "peak": peak(), "process": float(os.getpid())}


def test_works_take_turns_and_the_first_round_is_not_counted() -> None:
    order: list[str] = []
    found = in_turns({"one": lambda: order.append("one"), "two": lambda: order.append("two")}, 3)
    assert order == ["one", "two"] * 4
    assert {name: len(times) for name, times in found.items()} == {"one": 3, "two": 3}
    assert all(time >= 0.0 for times in found.values() for time in times)
    assert seconds(lambda: order.append("three")) >= 0.0
    assert order[-1] == "three"


def test_no_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one repeat, got 0"):
        in_turns({"one": lambda: None}, 0)


def test_a_work_runs_in_as_few_threads_as_it_is_given() -> None:
    seen: list[list[int]] = []
    limited(lambda: seen.append(thread_counts()), 1)()
    assert seen == [[1]]
    with threadpool_limits(2, "blas"):
        assert thread_counts() == [1, 2]


def test_memory_is_that_of_the_fresh_process_alone() -> None:
    mine = np.ones(2**26)  # half a GiB here, none there
    there = elsewhere("proofs_tests.benchmarks.runner.test_timing", "held", 64, "held")
    assert peak() > 0.5 * mine.nbytes / 2**30
    assert there["process"] != os.getpid()
    assert 64.0 / 1024.0 < there["peak"] < 0.45


def test_what_fails_elsewhere_is_told() -> None:
    with pytest.raises(RuntimeError, match=r"test_timing.held failed in a process of its own:\n[\s\S]*AssertionError"):
        elsewhere("proofs_tests.benchmarks.runner.test_timing", "held", 1, "another")
