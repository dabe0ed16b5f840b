"""Tables of a board: who is first, ranks, ε for the ceiling, and marks."""

from pathlib import Path

import attrs
import pytest

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import Adapter, System
from benchmarks.leaderboard.cells import Measured
from benchmarks.leaderboard.pages import distances, of_table, others, promises, ranks, shown
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.standing import standing, strongest_by_table
from benchmarks.leaderboard.study import Study
from benchmarks.runner import Grid, Report

EPSILONS = (0.5, 1.0)
STUDY = Study(epsilons=EPSILONS, seeds=2)


def adapter(name: str, **more: object) -> Adapter:
    """Binary, add-remove-one, unless told otherwise."""
    known: dict[str, object] = {"tasks": ("binary",), "neighbours": ("add-remove-one",), "released": "", "reads": ""}
    fields = {**known, "requirements": ("numpy==2",), **more}
    return Adapter(Path(f"/{name}.py"), name, **fields)  # type: ignore[arg-type]  # a table of fields


OURS = adapter("PrivateBoost", ours=True)
OTHER = adapter("another of ours", ours=True, neighbours=("replace-one",))
PEER = adapter("a peer", refuted={"binary": "it reads too much"})
CEILING = adapter("trees", private=False)


def board_of(scores: dict[Adapter, dict[str, tuple[float, ...]]], study: Study = STUDY) -> Board:
    """AUC by adapter and table at both ε, two seeds each that differ by .01."""
    found: dict[tuple[str, str], dict[float, Measured]] = {}
    kinds: dict[str, Kind] = {}
    for each, tables in scores.items():
        for table, values in tables.items():
            kinds[table] = "binary"
            for cell, value in zip(study_cells(each, table, study), values, strict=False):
                seeds = {0: {"auc": value, "fit": 1.0}, 1: {"auc": value + 0.01, "fit": 3.0}}
                found.setdefault((table, each.name), {})[cell] = attrs.evolve(BLANK, seeds=seeds)
    return Board(study, kinds, [System(each, "") for each in scores], found, [])


def study_cells(each: Adapter, table: str, study: Study) -> list[float]:
    """The ε of its cells."""
    return [cell.epsilon for cell in study.cells(table, "binary", System(each, ""))]


BLANK = Measured(None, "k")  # type: ignore[arg-type]  # pages do not look at the cell

BOARD = board_of(
    {
        OURS: {"a": (0.80, 0.90), "b": (0.70, 0.80)},
        OTHER: {"a": (0.75, 0.95), "b": (0.60, 0.70)},
        PEER: {"a": (0.78, 0.85), "b": (0.75, 0.79)},
        CEILING: {"a": (0.95,), "b": (0.80,)},
    }
)


def test_ours_is_judged_against_other_people_and_losses_to_both_are_told() -> None:
    report, losses = standing(BOARD, judged=True)
    assert isinstance(report, Report)
    assert isinstance(losses, Grid)
    found = {line.what: (line.found, line.met) for line in report.lines}
    assert str(found["classification, by AUC, ε=0.5, 2 tables"][0]) == "50%"
    assert found["classification, by AUC, ε=0.5, 2 tables"][1] is False
    assert str(found["classification, by AUC, ε=1, 2 tables"][0]) == "100%"
    assert str(found["classification, by AUC, ε=1, among our other learners, too"][0]) == "50%"
    assert str(found["all 4 cells at ε ≤ 1"][0]) == "75%"
    assert [row[:3] for row in losses.rows] == [("b", "0.5", "a peer"), ("a", "1", "another of ours")]


def many(tables: str, without: str = "") -> Board:
    """A board of tables that are one letter each. without: tables on which the peer was not measured."""
    peer: dict[str, tuple[float, ...]] = {table: (0.78, 0.85) for table in tables if table not in without}
    everywhere: dict[Adapter, tuple[float, ...]] = {OURS: (0.80, 0.90), OTHER: (0.75, 0.95), CEILING: (0.99,)}
    return board_of({PEER: peer, **{each: dict.fromkeys(tables, values) for each, values in everywhere.items()}})


def test_ranks_are_over_tables_and_the_best_comes_first() -> None:
    (grid,) = ranks(many("abcde"), 0.5)
    assert [row[0] for row in grid.rows] == ["PrivateBoost", "a peer *", "another of ours †"]
    assert str(grid.rows[0][1]).startswith("1.00 ± ")
    assert "all 5 tables" in grid.title


def test_tables_that_somebody_lacks_are_in_no_rank_and_named() -> None:
    (grid,) = ranks(many("abcdefg", "bf"), 1.0)
    assert "5 tables, without b, f" in grid.title


@pytest.mark.parametrize(("tables", "without"), [("abcd", ""), ("abcdefg", "abc")])
def test_few_tables_are_not_ranked(tables: str, without: str) -> None:
    assert ranks(many(tables, without), 1.0) == []


def test_the_strongest_of_other_people_is_named_for_every_table() -> None:
    (grid,) = strongest_by_table(BOARD)
    assert grid.head == ("table", "ε=0.5", "ε=1")
    assert grid.rows == (
        ("a", "first: +0.020 ± 0.000, a peer", "first: +0.050 ± 0.000, a peer"),
        ("b", "behind: -0.050 ± 0.000, a peer", "first: +0.010 ± 0.000, a peer"),
    )


@pytest.mark.parametrize(
    ("lead", "error", "said"),
    [
        (0.010, 0.009, "behind: -0.010 ± 0.009, a peer"),
        (0.010, 0.011, "even: -0.010 ± 0.011, a peer"),
        (-0.010, 0.011, "even: +0.010 ± 0.011, a peer"),
        (-0.010, 0.009, "first: +0.010 ± 0.009, a peer"),
    ],
)
def test_more_than_a_paired_standard_error_is_a_difference(lead: float, error: float, said: str) -> None:
    """Of two seeds, by which the other leads by lead − error and lead + error."""
    ours, theirs = ({"auc": 0.8}, {"auc": 0.8}), ({"auc": 0.8 + lead - error}, {"auc": 0.8 + lead + error})
    found = {
        ("a", name): {0.5: attrs.evolve(BLANK, seeds=dict(enumerate(by)))}
        for name, by in (("PrivateBoost", ours), ("a peer", theirs))
    }
    (grid,) = strongest_by_table(attrs.evolve(BOARD, kinds={"a": "binary"}, found=found))
    assert grid.rows[0][1] == said


def test_no_predictions_of_ours_are_told_beside_others_only() -> None:
    found = {cell: scores for cell, scores in BOARD.found.items() if cell != ("a", "PrivateBoost")}
    (grid,) = strongest_by_table(attrs.evolve(BOARD, found=found, broken=frozenset({("a", "PrivateBoost", 0.5)})))
    assert grid.rows[0] == ("a", "no predictions", "")
    assert strongest_by_table(board_of({OURS: {"a": (0.8, 0.9)}, OTHER: {"a": (0.8, 0.9)}})) == []


def test_names_say_what_a_promise_lacks() -> None:
    names = [shown(system, BOARD) for system in BOARD.systems]
    assert names == ["PrivateBoost", "another of ours †", "a peer *", "trees"]
    assert shown(BOARD.systems[2], BOARD, "regression") == "a peer"
    assert promises(BOARD.systems).rows[2][-1] == "binary: it reads too much"


def test_epsilon_for_the_ceiling_is_told_of_ours_and_of_the_best_other() -> None:
    (a, b) = distances(BOARD).rows
    assert a[:2] == ("a", "0.955, trees")
    assert a[2] == "not within the grid"
    assert a[3:] == ("not within the grid", "")
    assert b[3:] == ("not within the grid", "")


def test_a_level_line_stands_for_what_has_no_privacy() -> None:
    (grid,) = of_table(BOARD, "a")
    level = next(row for row in grid.rows if row[0] == "trees, no privacy")
    assert str(level[1]) == str(level[2])


def test_costs_are_medians_over_seeds_and_means_over_tables() -> None:
    scores, costs = others(BOARD, 1.0)
    assert str(costs.rows[0][1]) == "2 s"
    assert scores.rows[0][1] == "2"
    assert [row[0] for row in scores.rows] == ["PrivateBoost", "another of ours †", "a peer *", "trees"]


def test_where_ours_gave_no_predictions_it_is_behind() -> None:
    found = {cell: scores for cell, scores in BOARD.found.items() if cell != ("a", "PrivateBoost")}
    report, losses = standing(
        attrs.evolve(BOARD, found=found, broken=frozenset({("a", "PrivateBoost", 0.5)})), judged=False
    )
    assert isinstance(report, Report)
    assert isinstance(losses, Grid)
    assert str(report.lines[0].found) == "0%"
    assert ("a", "0.5", "", "no predictions", "", "") in losses.rows
