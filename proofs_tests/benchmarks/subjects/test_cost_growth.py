"""How the cost of the hot paths grows: counted in calls and in numbers that are passed over, at n and at 4n.

No times here: a busy machine would fail them. A Python loop over rows shows as calls that grow with n, an array of rows
by rows as memory that grows with n², and a pass over the columns of a 1-Rule round too many as numbers passed over.
"""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

from accountant import ApproxDP, Ledger, ReplaceOne, ZCDPComposition
from accountant.arrays import FloatArray
from benchmarks.ledgers.free_mechanism import Nothing
from boosting import LazyBregman
from learners import Categorical, EncodedSample, Layout, LazyBoostClassifier, Schema
from learners.encoding.weighted_sums import CellIndex
from learners.random_features.interpolation import min_norm
from learners.votes.one_rules import OneRule, one_rule_scores
from mechanisms import EdgeVectors, SeededNoise, sample_rados

SMALL, LARGE = 1_000, 4_000


def calls(work: Callable[[], object]) -> int:
    """Calls of functions, Python's and others, that a work makes."""
    made = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


def sample(n: int) -> EncodedSample:
    """Fourteen columns of ten categories."""
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Categorical(f"c{j}", tuple("0123456789")) for j in range(14)))
    codes = rng.integers(0, 10, (14, n), dtype=np.uint8)
    labels = np.where((codes[0] > 4) ^ (rng.random(n) < 0.2), 1, -1).astype(np.int8)
    return EncodedSample(Layout(schema), codes, labels)


def boosted(n: int, weak_learner: str, rounds: int = 4) -> Callable[[], object]:
    data = sample(n)
    given = {"weak_learner": weak_learner, "rounds": rounds, "random_state": 0}
    return lambda: LazyBoostClassifier(1.0, **given).fit_encoded(data)  # type: ignore[arg-type]  # of several types


def boosted_on(data: EncodedSample, rounds: int) -> Callable[[], object]:
    given = {"rounds": rounds, "density": 0.25, "learning_rate": 0.3, "random_state": 0}
    return lambda: LazyBoostClassifier(1.0, **given).fit_encoded(data)  # type: ignore[arg-type]  # the same


def crafted(n: int) -> Callable[[], object]:
    edges = EdgeVectors(np.random.default_rng(0).standard_normal((n, 5), dtype=np.float32))
    return lambda: sample_rados(edges, 16, SeededNoise(0))


def solved(n: int) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    features, targets = rng.standard_normal((50, n)), rng.standard_normal(50)
    return lambda: min_norm(features, targets)


HOT: dict[str, Callable[[int], Callable[[], object]]] = {
    "one-rule round": lambda n: boosted(n, "one-rule"),
    "tree round": lambda n: boosted(n, "top-down"),
    "rado crafting": crafted,
    "Gram solve": solved,
}


@pytest.mark.parametrize("path", HOT)
def test_no_call_is_made_per_row(path: str) -> None:
    """Four times the rows, the same number of calls, within a tenth: of blocks there may be a few more."""
    small, large = HOT[path](SMALL), HOT[path](LARGE)
    small(), large()  # the first of each fills caches
    assert calls(large) <= 1.1 * calls(small)


def test_a_charge_makes_as_many_calls_on_full_books_as_on_empty_ones() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    mechanism, data = Nothing(), ledger.protect(0)
    ledger.release(mechanism, data)
    first = calls(lambda: ledger.release(mechanism, data))
    for _ in range(4_000):
        ledger.release(mechanism, data)
    assert calls(lambda: ledger.release(mechanism, data)) == first


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_round_of_one_rules_passes_over_each_group_of_columns_once(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Fourteen columns of ten values make five joint codes: five passes, where a pass per column would be fourteen."""
    passed: list[int] = []
    sums = CellIndex.sums

    def counted(index: CellIndex, weights: FloatArray, start: int, block: int) -> FloatArray:
        passed.append(weights.size * index.places.shape[1])
        return sums(index, weights, start, block)

    monkeypatch.setattr(CellIndex, "sums", counted)
    data, booster = sample(n), LazyBregman(0.25, 0.1)
    one_rule_scores(booster.step(booster.start(data), OneRule(3, 1)))
    assert len(data.layout.wide.groups) == 5
    assert sum(passed) == 5 * n


def test_many_records_are_held_in_few_bytes() -> None:
    """Fourteen columns as five cells of four bytes, and a margin of two: 22 bytes a record beside the data."""
    n = LARGE
    data = sample(n)
    assert data.labelled.places.nbytes == 20 * n
    state = LazyBregman(0.25, 0.1).step(LazyBregman(0.25, 0.1).start(data), OneRule(3, 1))
    assert state.margins.nbytes == 2 * n
    assert state.measure.levels.nbytes == 2 * n


@pytest.mark.parametrize("path", HOT)
def test_memory_grows_no_faster_than_the_rows(path: str) -> None:
    """The most that is allocated on top of the data, at n and at 4n: an n × n array would make it sixteen times."""
    peaks = []
    for n in (SMALL, LARGE):
        work = HOT[path](n)
        work()
        tracemalloc.start()
        work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 4.5 * peaks[0]


def test_rounds_on_many_records_keep_what_they_need_once() -> None:
    """Two blocks and more: sixty rounds hold no more than two rounds do, within a tenth of the cells' own memory."""
    data = sample(70_000)

    def peak(rounds: int) -> int:
        tracemalloc.start()
        boosted_on(data, rounds)()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    boosted_on(data, 2)()
    assert peak(60) <= peak(2) + 0.1 * data.labelled.places.nbytes
