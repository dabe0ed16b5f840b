"""A rerun is told beside what is published: what came out the same, and how far the rest is off."""

from pathlib import Path

import attrs
import pytest

from benchmarks.leaderboard import again, plan, published
from benchmarks.leaderboard.again import rerun
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.leaderboard import measure
from benchmarks.leaderboard.plan import Plan
from benchmarks.leaderboard.published import publish
from benchmarks.leaderboard.running import measured_by
from benchmarks.leaderboard.study import Study
from benchmarks.runner import Grid, Report, Table
from proofs_tests.benchmarks.leaderboard.test_losses import HEADER, table, written

STEADY = (
    HEADER.format(name="steady", more="")
    + '''
import numpy as np

def fit(task, promise):
    """By its seed alone."""
    rng = np.random.default_rng(promise.seed)

    def predict(records):
        share = rng.random(len(records["x"]))
        return np.column_stack([1.0 - share, share])

    return predict
'''
)
UNSTEADY = STEADY.replace('"steady"', '"unsteady"')


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, move: float, second: str = UNSTEADY) -> list[Table]:
    """What a rerun tells; one system has its published scores moved by so many standard errors."""
    monkeypatch.setattr(plan, "load", lambda name, data: table())
    monkeypatch.setattr(published, "FOLDER", folder / "published")
    adapters = written(folder, steady=STEADY, unsteady=second)
    todo = Plan(("made-up",), adapters, (Study(epsilons=(0.5, 1.0), seeds=4),), None)
    store = Store(folder / "cells")
    assert measure(todo, store, "made-up", 1) == []
    for system in todo.systems:
        if system.name == "unsteady":
            for cell in todo.studies[0].cells("made-up", "binary", system):
                found = store.get(cell, measured_by(system.adapter, todo.table("made-up")))
                assert found is not None
                values = found.of("auc")
                mean = sum(values) / 4
                error = (sum((value - mean) ** 2 for value in values) / 3) ** 0.5 / 2
                seeds = {seed: {**scores, "auc": scores["auc"] + move * error} for seed, scores in found.seeds.items()}
                store.put(attrs.evolve(found, seeds=seeds))
    publish(store, todo, folder / "published")
    monkeypatch.setattr(again, "beside", lambda some, place: here(some, place, folder / "published"))
    (folder / "now").touch()
    return rerun(todo, folder / "again", lambda line: None)


def here(some: Plan, place: Path, files: Path) -> published.Published:
    return attrs.evolve(published.beside(some, place), files=files)


@pytest.mark.parametrize(("move", "within"), [(0.9, "2"), (3.0, "0")])
def test_what_is_the_same_and_how_far_the_rest_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: float, within: str
) -> None:
    """A shift that all seeds share is within an error of their mean, and far from one of the differences."""
    grid, *failed = told(tmp_path, monkeypatch, move)
    assert isinstance(grid, Grid)
    steady, unsteady = grid.rows
    assert steady == ("steady", "2", "2", "2", "2", "0")
    assert unsteady[:-1] == ("unsteady", "2", "2", "0", within)
    assert float(str(unsteady[-1])) > 100.0
    assert not failed


def test_what_gives_no_scores_any_more_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = UNSTEADY.replace("def fit", "import os\n\ndef fit").replace(
        "    rng =", f"    assert not os.path.exists({str(tmp_path / 'now')!r}), 'it broke'\n    rng ="
    )
    line = broken[: broken.index("assert")].count("\n") + 1
    grid, failed = told(tmp_path, monkeypatch, 0.0, broken)
    assert isinstance(grid, Grid)
    assert isinstance(failed, Report)
    assert [row[:3] for row in grid.rows] == [("steady", "2", "2"), ("unsteady", "2", "0")]
    assert [line.what for line in failed.lines] == [
        f"unsteady on made-up, ε={each}: unsteady.py, line {line}: AssertionError: it broke" for each in ("0.5", "1")
    ]
