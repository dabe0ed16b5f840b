"""Published scores come back by cell, for the same records only, behind what was measured here."""

from pathlib import Path

import attrs
import numpy as np
import pytest

from benchmarks.adapters.protocol import Column
from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.cells import Cell, Measured, Store
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import Published, publish, records_digest
from benchmarks.leaderboard.study import Study
from benchmarks.tables import TableSet

TABLE = TableSet(
    "made-up",
    "binary",
    (Column("x", 0.0, 1.0), Column("c", categories=("a", "b"))),
    ("no", "yes"),
    (0.0, 1.0),
    {"x": np.array([0.0, 1.0, 0.5]), "c": np.array(["a", "b", "a"])},
    np.array([0, 1, 1]),
)
STUDY = Study(epsilons=(1.0,), seeds=2)


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Of the made-up table and two of the adapters."""
    monkeypatch.setattr("benchmarks.leaderboard.plan.load", lambda name, folder: TABLE)
    return Plan(("made-up",), adapters.chosen(["constant", "private_boost"], adapters.every()), (STUDY,), None)


def read_back(plan: Plan, store: Store) -> Board:
    """The study."""
    return board(plan, STUDY, store, {"made-up": "binary"})


def test_what_was_published_comes_back_for_the_same_records(plan: Plan, tmp_path: Path) -> None:
    measured, files = Store(tmp_path / "cells"), tmp_path / "published"
    cell = Cell("made-up", "PrivateBoost", 1.0)
    measured.put(Measured(cell, "k", {0: {"auc": 0.123456, "fit": 3.0}, 1: {"auc": 0.2, "fit": 2.0}}))
    measured.put(Measured(Cell("made-up", "constant", 1.0), "k", {}, "no luck"))
    publish(measured, plan, files)
    fresh = Published(tmp_path / "other", {"made-up": records_digest(TABLE)}, files)
    found = fresh.get(cell)
    assert found is not None
    assert found.seeds == {0: {"auc": 0.1235}, 1: {"auc": 0.2}}
    assert fresh.get(cell, "k") is None  # so that it is measured where that is asked for
    there = read_back(plan, fresh)
    assert there.of("made-up", plan.systems[0], 1.0) == found
    own = Measured(cell, "k", {0: {"auc": 0.9}})
    fresh.put(own)
    assert fresh.get(cell) == own
    others = Published(tmp_path / "third", {"made-up": "another"}, files)
    assert others.get(cell) is None


@pytest.mark.parametrize(
    "changed",
    [
        attrs.evolve(TABLE, labels=np.array([0, 0, 1])),
        attrs.evolve(TABLE, table={**TABLE.table, "x": np.array([0.0, 1.0, 0.25])}),
        attrs.evolve(TABLE, columns=(Column("x", 0.0, 2.0), TABLE.columns[1])),
        attrs.evolve(TABLE, test_rows=slice(2, 3)),
    ],
)
def test_other_records_have_another_digest(changed: TableSet) -> None:
    assert records_digest(changed) != records_digest(TABLE)
    assert records_digest(attrs.evolve(TABLE)) == records_digest(TABLE)
