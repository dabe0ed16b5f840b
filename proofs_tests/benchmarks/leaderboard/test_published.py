"""Published scores come back by cell, for the same records only, behind what was measured here."""

import json
from pathlib import Path

import attrs
import numpy as np
import pytest

from benchmarks.adapters.protocol import Column
from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.cells import Cell, Measured, Store
from benchmarks.leaderboard.plan import Plan, board
from benchmarks.leaderboard.published import FOLDER, Published, publish
from benchmarks.leaderboard.running import adapter_digest, measured_by, unit
from benchmarks.leaderboard.study import Study
from benchmarks.leaderboard.task_files import records_digest
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


def test_what_was_published_comes_back_for_the_same_records_and_adapter(plan: Plan, tmp_path: Path) -> None:
    measured, files = Store(tmp_path / "cells"), tmp_path / "published"
    cell, system = Cell("made-up", "PrivateBoost", 1.0), plan.systems[0]
    key, adapter = measured_by(system.adapter, TABLE), adapter_digest(system.adapter)
    measured.put(Measured(cell, key, {0: {"auc": 0.123456, "fit": 3.0}, 1: {"auc": 0.2, "fit": 2.0}}))
    measured.put(Measured(Cell("made-up", "constant", 1.0), "older code", {0: {"auc": 0.5}}))
    publish(measured, plan, files)
    fresh = Published(tmp_path / "other", {"made-up": records_digest(TABLE)}, files)
    found = fresh.shown(cell, key, adapter)
    assert found is not None
    assert found.seeds == {0: {"auc": 0.1235}, 1: {"auc": 0.2}}
    assert fresh.get(cell, key) == found
    assert fresh.get(cell, "new learners") is None  # so that it is measured where that is asked for
    assert fresh.shown(cell, "new learners", adapter) == found
    left = unit((attrs.evolve(STUDY, seeds=3),), system.adapter, TABLE, 1.0, fresh)
    assert [seed for _, _, seed in left.wanted] == [2]
    there = board(plan, STUDY, fresh, ["made-up"])
    assert there.of("made-up", system, 1.0) == found
    assert there.of("made-up", plan.systems[1], 1.0) is None
    fresh.put(Measured(cell, key, {0: {"auc": 0.9}}))
    both = fresh.shown(cell, key, adapter)
    assert both is not None
    assert both.seeds == {0: {"auc": 0.9}, 1: {"auc": 0.2}}
    publish(fresh, plan, files / "again")  # what was published stays published
    assert (files / "again" / "made-up.jsonl").read_text("utf-8").count("[0.9,0.2]") == 1
    others = Published(tmp_path / "third", {"made-up": "another"}, files)
    assert others.shown(cell, key, adapter) is None
    assert fresh.shown(cell, "new code", "new adapter") is None


def test_older_scores_are_shown_until_as_many_are_measured_anew(plan: Plan, tmp_path: Path) -> None:
    store, cell = Store(tmp_path / "cells"), Cell("made-up", "PrivateBoost", 1.0)
    key, adapter = measured_by(plan.systems[0].adapter, TABLE), adapter_digest(plan.systems[0].adapter)
    store.put(Measured(cell, key, {0: {"auc": 0.1}, 1: {"auc": 0.2}}))
    publish(store, plan, tmp_path / "files")
    here = Published(tmp_path / "here", {"made-up": records_digest(TABLE)}, tmp_path / "files")
    for new, shown in (
        (Measured(cell, "new", {0: {"auc": 0.9}}), {0: {"auc": 0.1}, 1: {"auc": 0.2}}),
        (Measured(cell, "new", {0: {"auc": 0.9}}, failed="broken"), {0: {"auc": 0.9}}),
        (Measured(cell, "new", {0: {"auc": 0.9}, 1: {"auc": 0.9}}), {0: {"auc": 0.9}, 1: {"auc": 0.9}}),
    ):
        here.put(new)
        found = here.shown(cell, "new", adapter)
        assert found is not None
        assert found.seeds == shown


def test_no_file_is_written_of_a_table_without_scores(plan: Plan, tmp_path: Path) -> None:
    publish(Store(tmp_path / "cells"), plan, tmp_path / "files")
    assert list((tmp_path / "files").iterdir()) == []


def test_scores_that_some_seeds_lack_come_back_where_they_were(plan: Plan, tmp_path: Path) -> None:
    store, cell = Store(tmp_path / "cells"), Cell("made-up", "PrivateBoost", 1.0)
    key = measured_by(plan.systems[0].adapter, TABLE)
    seeds = {0: {"auc": 0.1, "log_loss": 0.5}, 1: {"auc": 0.2}, 2: {"auc": 0.3, "log_loss": 0.7}}
    store.put(Measured(cell, key, seeds))
    publish(store, plan, tmp_path / "files")
    found = Published(tmp_path / "other", {"made-up": records_digest(TABLE)}, tmp_path / "files").get(cell, key)
    assert found is not None
    assert found.seeds == seeds


def test_seeds_that_are_missing_are_told_and_not_compared(plan: Plan, tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("made-up", "PrivateBoost", 1.0)
    store.put(Measured(cell, measured_by(plan.systems[0].adapter, TABLE), {0: {"auc": 0.9}}))
    found = board(plan, STUDY, store, ["made-up"])
    assert found.of("made-up", plan.systems[0], 1.0) is None
    assert list(found.failed) == ["PrivateBoost: 1 of 2 seeds are measured, on made-up"]


def test_what_other_code_measured_is_not_shown(plan: Plan, tmp_path: Path) -> None:
    store, system = Store(tmp_path), plan.systems[0]
    cell = Cell("made-up", "PrivateBoost", 1.0)
    store.put(Measured(cell, "older code", {0: {"auc": 0.9}}))
    assert board(plan, STUDY, store, ["made-up"]).of("made-up", system, 1.0) is None
    store.put(Measured(cell, measured_by(system.adapter, TABLE), {0: {"auc": 0.9}, 1: {"auc": 0.9}}))
    assert board(plan, STUDY, store, ["made-up"]).of("made-up", system, 1.0) is not None


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


def test_scores_of_older_learners_stay_published_with_their_key(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, cell, files = Store(tmp_path / "cells"), Cell("made-up", "PrivateBoost", 1.0), tmp_path / "files"
    key = measured_by(plan.systems[0].adapter, TABLE)
    store.put(Measured(cell, key, {0: {"auc": 0.1}, 1: {"auc": 0.2}}))
    publish(store, plan, files)
    monkeypatch.setattr("benchmarks.leaderboard.published.measured_by", lambda adapter, table: "new learners")
    publish(Published(tmp_path / "none", {"made-up": records_digest(TABLE)}, files), plan, files / "again")
    assert f'"key":"{key}"' in (files / "again" / "made-up.jsonl").read_text("utf-8")


def test_whatever_is_published_is_of_an_adapter_as_it_is() -> None:
    """Else nothing would show it, and the next publication would lose it."""
    now = {system.name: adapter_digest(adapter) for adapter in adapters.every() for system in adapter.systems}
    for path in sorted(FOLDER.glob("*.jsonl")):
        _, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        assert not {line["system"] for line in lines if now.get(line["system"]) != line["adapter"]}, path
