"""Many that want the last of a budget at once: exactly as many succeed as it has parts, on every store.

As many of 20 races as fit into a few seconds, and never fewer than 3; `python -m benchmarks ledger` runs six of each.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from accountant import BasicComposition, Ledger, ReplaceOne
from accountant.audit.verification import verify
from benchmarks.ledgers.races import BUDGET, PARTS, THREADS, Racers, opened, race_of_threads
from proofs_tests.support.ledgers.durable import Places, sound

MOST, FEWEST = 20, 3


@pytest.fixture(scope="module")
def racers() -> Iterator[Racers]:
    with Racers() as pool:
        yield pool


def repeated(seconds: float, race: Callable[[], None]) -> None:
    started = time.monotonic()
    for run in range(MOST):
        if run >= FEWEST and time.monotonic() - started > seconds:
            return
        race()


def exactly_the_parts_were_paid(url: str) -> None:
    kinds = [entry.kind for entry in sound(url)]
    assert kinds.count("charged") == PARTS
    assert kinds.count("released") == PARTS
    assert kinds.count("opened") == 1
    with opened(url) as ledger:
        assert ledger.remaining.loss < BUDGET.split(PARTS).epsilon


def test_8_processes(places: Places, racers: Racers) -> None:
    def race() -> None:
        with places() as url:
            assert racers.race(url) == PARTS
            exactly_the_parts_were_paid(url)

    repeated(10.0, race)


@pytest.mark.parametrize("ledgers", [1, THREADS], ids=["one-ledger", "a-ledger-each"])
def test_16_threads(places: Places, ledgers: int) -> None:
    def race() -> None:
        with places() as url, contextlib.ExitStack() as stack:
            shared = [stack.enter_context(opened(url)) for _ in range(ledgers)]
            assert race_of_threads(shared) == PARTS
            exactly_the_parts_were_paid(url)

    repeated(5.0, race)


def test_16_threads_in_memory() -> None:
    def race() -> None:
        ledger = Ledger(BUDGET, composition=BasicComposition(), adjacency=ReplaceOne())
        assert race_of_threads([ledger]) == PARTS
        assert [entry.kind for entry in ledger.entries].count("charged") == PARTS
        assert verify(ledger.entries).errors == ()

    repeated(5.0, race)
