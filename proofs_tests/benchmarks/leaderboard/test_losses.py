"""Whoever is ahead of the recommended learner is measured once more: by other seeds, and at a large ε."""

from pathlib import Path

import attrs
import numpy as np
import pytest

from benchmarks.adapters.protocol import Column
from benchmarks.leaderboard import again, leaderboard, plan
from benchmarks.leaderboard.adapters import Adapter, read
from benchmarks.leaderboard.again import Lead, behind_again, gaps, leads_of_others
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.leaderboard import measure
from benchmarks.leaderboard.plan import Plan, board
from benchmarks.leaderboard.running import noise_seed
from benchmarks.leaderboard.study import Study
from benchmarks.runner import Grid, Setting
from benchmarks.tables import TableSet
from proofs_tests.benchmarks.leaderboard.test_pages import OURS as OURS_SHOWN
from proofs_tests.benchmarks.leaderboard.test_pages import PEER, STUDY, board_of

HEADER = """# /// script
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "{name}"
# tasks = ["binary"]
# neighbours = ["add-remove-one"]
# released = "mine"
# reads = "nothing"
{more}# ///
"""

FIRST = (
    HEADER.format(name="first", more="")
    + '''
import numpy as np

def fit(task, promise):
    """Right in the columns that say the label."""
    return lambda records: np.column_stack([1.0 - records["x"], records["x"]])
'''
)

OURS = (
    HEADER.format(name="PrivateBoost", more="# ours = true\n")
    + '''
import numpy as np

RANKED = {ranked}

def fit(task, promise):
    """As good as the first, but where it is not."""
    right = {right}
    told = lambda records: records["x"] if right else 0.0 * records["x"] + 0.5
    return lambda records: np.column_stack([1.0 - told(records), told(records)])
'''
)

SEEDS = 2


def table() -> TableSet:
    """Whose only column says the label."""
    labels = np.arange(40) % 2
    return TableSet(
        "made-up", "binary", (Column("x", 0.0, 1.0),), ("no", "yes"), (0.0, 1.0), {"x": labels * 1.0}, labels
    )


SECOND = FIRST.replace('"first"', '"second"')


def written(folder: Path, **texts: str) -> list[Adapter]:
    """Adapters by the stems of their files."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [read(folder / f"{name}.py") for name in texts]


@pytest.fixture(autouse=True)
def fixture_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "OTHER_SEEDS", 3)
    monkeypatch.setattr(plan, "load", lambda name, folder: table())


def ranked_once(folder: Path, adapters: list[Adapter]) -> tuple[Plan, Store]:
    """What the ranking knows."""
    todo, store = Plan(("made-up",), adapters, (Study(epsilons=(1.0,), seeds=SEEDS),), None), Store(folder / "cells")
    assert measure(todo, store, "made-up", 1) == []
    return todo, store


def behind(todo: Plan, store: Store) -> list[Grid]:
    """Of what the store has, measured apart or not."""
    known = board(todo, todo.studies[0], store, todo.tables, apart=True)
    return behind_again(todo, known, Store(store.folder.with_name("again")), lambda line: None)


LEAD, EVEN = "+0.5000 ± 0.0000", "+0.0000 ± 0.0000"


@pytest.mark.parametrize(
    ("right", "leads", "verdict"),
    [
        ("promise.seed not in RANKED", [LEAD, EVEN, EVEN], "not behind by other seeds"),
        ("promise.epsilon > 100.0", [LEAD, LEAD, EVEN], "behind by other seeds, not at ε=1000"),
        ("False", [LEAD, LEAD, LEAD], "behind by other seeds, and at ε=1000"),
        ("1 / int(promise.epsilon < 100.0) - 1", [LEAD, LEAD, "no predictions"], "behind by other seeds"),
        (
            "promise.seed not in RANKED and 1 / int(promise.epsilon < 100.0)",
            [LEAD, EVEN, "no predictions"],
            "not behind by other seeds",
        ),
    ],
)
def test_everybody_who_is_ahead_is_looked_at_again(tmp_path: Path, right: str, leads: list[str], verdict: str) -> None:
    ranked = [noise_seed(seed) for seed in range(SEEDS)]
    adapters = written(tmp_path, first=FIRST, second=SECOND, ours=OURS.format(ranked=ranked, right=right))
    todo, store = ranked_once(tmp_path, adapters)
    (grid,) = behind(todo, store)
    assert [list(row) for row in grid.rows] == [["made-up", "1", name, *leads, verdict] for name in ("first", "second")]


@pytest.mark.parametrize(
    ("other_seeds", "large_epsilon", "verdict"),
    [
        (None, (0.0, 0.1), "not told"),
        ((0.095, 0.1), (0.2, 0.1), "not behind by other seeds"),
        ((0.105, 0.1), None, "behind by other seeds"),
        ((0.105, 0.1), (0.095, 0.1), "behind by other seeds, not at ε=1000"),
        ((0.105, 0.1), (0.105, 0.1), "behind by other seeds, and at ε=1000"),
    ],
)
def test_a_lead_counts_above_its_error(other_seeds: Lead | None, large_epsilon: Lead | None, verdict: str) -> None:
    assert again._verdict(other_seeds, large_epsilon) == verdict


def test_a_full_run_looks_again_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict[str, object]()
    monkeypatch.setattr(leaderboard, "measured", lambda plan, store, name: given.update(judged=store.folder) or [])
    monkeypatch.setattr(leaderboard, "_explained", lambda plan, store, folder: given.update(again=folder) or [])
    monkeypatch.setattr(leaderboard, "beside", lambda plan, folder: Store(folder))
    parts = leaderboard.parts(Setting(data=None, out=tmp_path, quick=False))
    for part in (parts[0], *(each for each in parts if each.name == "losses and gaps")):
        part.make()
    assert given["judged"] != given["again"]
    assert {given["judged"], given["again"]} == {tmp_path / "cells", tmp_path / "cells-again"}


def test_who_is_measured_apart_is_looked_at_again_by_as_many_seeds(tmp_path: Path) -> None:
    slow = HEADER.format(name="slow", more="# heavy = true\n") + FIRST.partition("# ///\n")[2]
    adapters = written(tmp_path, slow=slow, ours=OURS.format(ranked=[], right="False"))
    todo, store = ranked_once(tmp_path, adapters)
    longer = attrs.evolve(todo, studies=(attrs.evolve(todo.studies[0], seeds=SEEDS + 1),))
    (ours,) = (each for each in longer.adapters if each.ours)
    assert measure(attrs.evolve(longer, adapters=[ours]), store, "made-up", 1) == []
    (grid,) = behind(longer, store)
    assert [list(row) for row in grid.rows] == [
        ["made-up", "1", "slow", *(LEAD,) * 3, "behind by other seeds, and at ε=1000"]
    ]


def test_a_cell_that_is_lost_gets_no_more_seeds_to_be_judged_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = HEADER.format(name="slow", more="# heavy = true\n") + FIRST.partition("# ///\n")[2]
    adapters = written(tmp_path, slow=slow, ours=OURS.format(ranked=[], right="False"))
    todo, store = ranked_once(tmp_path, adapters)
    longer = attrs.evolve(todo, studies=(attrs.evolve(todo.studies[0], seeds=SEEDS + 1),))
    (ours,) = (each for each in longer.adapters if each.ours)
    assert measure(attrs.evolve(longer, adapters=[ours]), store, "made-up", 1) == []
    monkeypatch.setattr("benchmarks.leaderboard.adapters.every", lambda: adapters)
    monkeypatch.setattr(leaderboard, "gaps", lambda *given: [])
    ranked = attrs.evolve(longer, adapters=[ours])
    (grid,) = leaderboard._explained(ranked, store, tmp_path / "again")
    assert [row[2] for row in grid.rows] == ["slow"]
    found = board(longer, longer.studies[0], store, longer.tables, apart=True).found
    assert sorted(found["made-up", "slow"][1.0].seeds) == list(range(SEEDS))


def test_another_seed_that_fails_takes_no_ranked_cell_along(tmp_path: Path) -> None:
    ranked = [noise_seed(seed) for seed in range(SEEDS)]
    fails = "1 / int(promise.seed in RANKED) - 1"
    todo, store = ranked_once(tmp_path, written(tmp_path, first=FIRST, ours=OURS.format(ranked=ranked, right=fails)))
    (before,) = behind(todo, store)
    assert before.rows[0][-1] == "not told"
    (after,) = behind(todo, store)
    assert after.rows == before.rows
    found = board(todo, todo.studies[0], store, todo.tables)
    assert {name for _, name in found.found} == {"first", "PrivateBoost"}
    assert not found.broken


def test_what_is_measured_apart_is_shown_by_the_seeds_that_there_are(tmp_path: Path) -> None:
    (slow,) = written(
        tmp_path, slow=HEADER.format(name="slow", more="# heavy = true\n") + FIRST.partition("# ///\n")[2]
    )
    ours, store = written(tmp_path, ours=OURS.format(ranked=[], right="True")), Store(tmp_path / "cells")
    for adapters, seeds in ((ours, 3), ([slow], 2)):
        todo = Plan(("made-up",), adapters, (Study(epsilons=(1.0,), seeds=seeds),), None)
        assert measure(todo, store, "made-up", 1) == []
    both = Plan(("made-up",), [*ours, slow], (Study(epsilons=(1.0,), seeds=3),), None)
    assert {name for _, name in board(both, both.studies[0], store, both.tables).found} == {"PrivateBoost"}
    found = board(both, both.studies[0], store, both.tables, apart=True).found
    assert {name: sorted(cells[1.0].seeds) for (_, name), cells in found.items()} == {
        "PrivateBoost": [0, 1, 2],
        "slow": [0, 1],
    }


def test_a_lead_is_of_the_seeds_that_are_asked_for_and_has_its_error() -> None:
    """By hand: leads .2 and .4 are .3 ± .1; the other two seeds say 0 and .1."""
    scores = {OURS_SHOWN: (0.5, 0.5, 0.5, 0.5), PEER: (0.7, 0.9, 0.5, 0.6)}
    found = board_of({each: {"a": (0.0, 0.0)} for each in scores}, attrs.evolve(STUDY, epsilons=(1.0,), seeds=4))
    for each, values in scores.items():
        cell = found.found["a", each.name][1.0]
        found.found["a", each.name][1.0] = attrs.evolve(cell, seeds={s: {"auc": v} for s, v in enumerate(values)})
    ((lead, error),) = leads_of_others(found, "a", 1.0, (0, 1)).values()
    assert (lead, error) == pytest.approx((0.3, 0.1))
    assert leads_of_others(found, "a", 1.0, (2, 3)) == {}
    ((lead, error),) = leads_of_others(found, "a", 1.0, (2, 3), ahead=False).values()
    assert (lead, error) == pytest.approx((0.05, 0.05))


def test_there_is_no_table_where_nothing_was_lost(tmp_path: Path) -> None:
    todo = Plan(("made-up",), written(tmp_path, first=FIRST), (Study(epsilons=(1.0,), seeds=SEEDS),), None)
    assert behind(todo, Store(tmp_path / "cells")) == []


CEILING = (
    HEADER.format(name="trees", more="# private = false\n")
    + """
import numpy as np

def fit(task, promise):
    return lambda records: np.column_stack([1.0 - records["x"], records["x"]])
"""
)


def test_gaps_are_to_the_ceiling_at_both_epsilons(tmp_path: Path) -> None:
    ours = OURS.format(ranked=[], right="promise.epsilon > 100.0")
    todo, store = ranked_once(tmp_path, written(tmp_path, ceiling=CEILING, ours=ours))
    (grid,) = gaps(todo, store, 1.0, lambda line: None)
    assert grid.head == ("table", "ceiling", "ours, ε=1", "ours, ε=1000", "gap, ε=1", "gap, ε=1000")
    assert [tuple(map(str, row)) for row in grid.rows] == [
        ("made-up", "1.000", "0.500", "1.000", "0.500", "0.000"),
        ("median of each column", "", "", "", "0.500", "0.000"),
    ]
    assert gaps(attrs.evolve(todo, adapters=todo.adapters[:1]), store, 1.0, lambda line: None) == []
