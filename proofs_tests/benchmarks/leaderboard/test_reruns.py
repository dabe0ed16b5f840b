"""A rerun is told beside what is published: what came out the same, and how far the rest is off."""

from pathlib import Path

import attrs
import pytest

from benchmarks.leaderboard import plan, published, reruns
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.leaderboard import measure
from benchmarks.leaderboard.plan import Plan
from benchmarks.leaderboard.published import publish
from benchmarks.leaderboard.reruns import rerun
from benchmarks.leaderboard.running import measured_by
from benchmarks.leaderboard.study import Study
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


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, move: float) -> dict[str, tuple[str, ...]]:
    """The rerun's rows by system; one of them has its published scores moved by so many standard errors."""
    monkeypatch.setattr(plan, "load", lambda name, data: table())
    monkeypatch.setattr(published, "FOLDER", folder / "published")
    adapters = written(folder, steady=STEADY, unsteady=UNSTEADY)
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
    monkeypatch.setattr(reruns, "beside", lambda some, place: here(some, place, folder / "published"))
    (grid,) = rerun(todo, folder / "again", lambda line: None)
    return {str(row[0]): tuple(map(str, row[1:])) for row in grid.rows}


def here(some: Plan, place: Path, files: Path) -> published.Published:
    return attrs.evolve(published.beside(some, place), files=files)


@pytest.mark.parametrize(("move", "said"), [(0.9, ("2", "0", "2", "0.9")), (3.0, ("2", "0", "0", "3"))])
def test_what_is_the_same_and_how_far_the_rest_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: float, said: tuple[str, ...]
) -> None:
    assert told(tmp_path, monkeypatch, move) == {"steady": ("2", "2", "2", "0"), "unsteady": said}
