"""A seed simulates, which no durable ledger pays for unless it is told to: every door that takes both."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from accountant import AddRemoveOne, Adjacency, ApproxDP, BasicComposition, Ledger, ReplaceOne
from learners import (
    LazyBoostClassifier,
    private_demographic_table,
    private_group_risks,
    private_margin_histogram,
    private_statistical_parity,
)
from learners.base.private_estimator import RandomState
from mechanisms import SeededNoise
from proofs_tests.support.learners.paid_models import (
    LEARNERS,
    X,
    Y,
    adjacency,
    books,
    build,
    charged,
)

Door: TypeAlias = Callable[[Ledger, RandomState], object]

GROUPED: dict[str, Any] = {"public_groups": (0, 1), "epsilon": 0.5, "delta": 1e-6}
OUTPUTS = np.linspace(-1.0, 1.0, len(Y))

DOORS: dict[str, Door] = {
    "margins": lambda ledger, state: private_margin_histogram(
        ledger,
        LazyBoostClassifier(1.0, rounds=2, random_state=0).fit(X, Y),
        X,
        Y,
        epsilon=0.5,
        bins=4,
        random_state=state,
    ),
    "parity": lambda ledger, state: private_statistical_parity(
        OUTPUTS, Y, bounds=(-1.0, 1.0), ledger=ledger, random_state=state, **GROUPED
    ),
    "risks": lambda ledger, state: private_group_risks(
        OUTPUTS, Y, Y, bound=4.0, ledger=ledger, random_state=state, **GROUPED
    ),
    "table": lambda ledger, state: private_demographic_table(
        OUTPUTS, Y, Y, bounds=(-1.0, 1.0), threshold=0.0, ledger=ledger, random_state=state, **GROUPED
    ),
    **{name: (lambda ledger, state, name=name: fitted(name, ledger, state)) for name in LEARNERS},  # type: ignore[misc]  # mypy infers no default of a lambda
}


def fitted(name: str, ledger: Ledger | str, state: RandomState) -> object:
    return build(name, ledger=ledger, random_state=state).fit(X, Y)


def relation(door: str) -> Adjacency:
    return adjacency(door) if door in LEARNERS else AddRemoveOne()


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Callable[[Adjacency], Ledger]]:
    """Opens a durable ledger of that relation."""
    made: list[Ledger] = []

    def durable(promised: Adjacency) -> Ledger:
        budget, url = ApproxDP(10.0, 1e-3), f"sqlite:///{tmp_path}/study.db"
        made.append(Ledger.open(url, budget, composition=BasicComposition(), adjacency=promised))
        return made[-1]

    yield durable
    for ledger in made:
        ledger.close()


SEEDS: dict[str, Callable[[], RandomState]] = {
    "7": lambda: 7,
    "0": lambda: np.int64(0),  # type: ignore[dict-item, return-value]  # numpy's integers are taken, too
    "generator": lambda: np.random.default_rng(7),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_a_seed_on_a_durable_ledger_before_it_is_charged(
    door: str, opens: Callable[[Adjacency], Ledger]
) -> None:
    ledger = opens(relation(door))
    part = ledger.allocate("part", 0.5)
    before, head = len(ledger.entries), ledger.head
    for said, state in SEEDS.items():
        for pays in (ledger, part):
            with pytest.raises(ValueError, match=rf"random_state={said} would charge a durable ledger") as refused:
                DOORS[door](pays, state())
            assert "leave out ledger= to simulate" in str(refused.value)
            assert f"random_state=SeededNoise({said})" in str(refused.value)
    assert (len(ledger.entries), ledger.head) == (before, head)


@pytest.mark.parametrize("door", DOORS)
def test_a_noise_source_says_that_it_is_meant_and_is_marked(door: str, opens: Callable[[Adjacency], Ledger]) -> None:
    ledger = opens(relation(door))
    DOORS[door](ledger, SeededNoise(7))
    assert len(charged(ledger)) == 1
    assert ledger.statement().heading == "simulation: not private"


def test_the_url_of_a_ledger_is_a_durable_ledger(opens: Callable[[Adjacency], Ledger], tmp_path: Path) -> None:
    ledger = opens(ReplaceOne())
    with pytest.raises(ValueError, match="random_state=7 would charge a durable ledger"):
        fitted("lazy boost", f"sqlite:///{tmp_path}/study.db", 7)
    assert charged(ledger) == []
    fitted("lazy boost", f"sqlite:///{tmp_path}/study.db", SeededNoise(7))
    assert len(charged(ledger)) == 1


@pytest.mark.parametrize("door", DOORS)
def test_a_ledger_in_memory_pays_for_a_simulation(door: str) -> None:
    ledger = books(door) if door in LEARNERS else books("private boost")
    DOORS[door](ledger, 7)
    assert len(charged(ledger)) == 1
    assert ledger.statement().heading == "simulation: not private"


def test_a_seed_and_a_noise_source_of_that_seed_simulate_the_same() -> None:
    one = build("lazy boost", random_state=7).fit(X, Y)
    other = build("lazy boost", random_state=SeededNoise(7)).fit(X, Y)
    assert one.model_.as_record() == other.model_.as_record()
