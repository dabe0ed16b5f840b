"""Tables of a board: who is first, ranks, ε for the ceiling, and marks."""

from pathlib import Path

import attrs
import pytest

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import Adapter, System
from benchmarks.leaderboard.cells import Measured
from benchmarks.leaderboard.pages import distances, of_table, others, promises, ranks, shown
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.standing import standing
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


def many(tables: str, without: str = "", *more: Adapter) -> Board:
    """A board of tables that are one letter each. without: tables on which the peer was not measured.

    Of two seeds; by the first the peer is before ours at ε = 0.5, by their mean ours is.
    """
    peer: dict[str, tuple[float, ...]] = {table: (0.78, 0.85) for table in tables if table not in without}
    everywhere: dict[Adapter, tuple[float, ...]] = {OURS: (0.80, 0.90), OTHER: (0.75, 0.95), CEILING: (0.99,)}
    all_of_them = {each: dict.fromkeys(tables, everywhere.get(each, (0.6, 0.6))) for each in (*everywhere, *more)}
    board = board_of({PEER: peer, **all_of_them})
    for table in peer:
        board.found[table, "a peer"][0.5].seeds.update({0: {"auc": 0.9}, 1: {"auc": 0.66}})
    return board


def test_ranks_are_over_tables_by_means_and_the_best_comes_first() -> None:
    (grid,) = ranks(many("abcde"), 0.5)
    assert [row[0] for row in grid.rows] == ["PrivateBoost", "a peer *", "another of ours †"]
    assert str(grid.rows[0][1]) == "1.00 ± 0.74"  # half of 2.343·√(3·4/(6·5)), by Demšar's table
    assert "all 5 tables" in grid.title


def test_tables_that_somebody_lacks_are_in_no_rank_and_named() -> None:
    (grid,) = ranks(many("abcdefgh", "bfg"), 1.0)
    assert "5 tables, without b, f, g;" in grid.title


def test_who_has_half_of_the_tables_is_ranked_and_who_has_fewer_is_left_out() -> None:
    (grid,) = ranks(many("abcdefghij", "abcde"), 1.0)
    assert "a peer *" in [row[0] for row in grid.rows]
    (grid,) = ranks(many("abcdefghij", "abcdef", adapter("one more")), 1.0)
    assert [row[0] for row in grid.rows] == ["another of ours †", "PrivateBoost", "one more"]


@pytest.mark.parametrize(("tables", "without"), [("abcd", ""), ("abcdefg", "abc"), ("abcdefg", "abcdefg")])
def test_few_tables_or_systems_are_not_ranked(tables: str, without: str) -> None:
    assert ranks(many(tables, without), 1.0) == []


def test_a_kind_without_ranks_does_not_end_the_others() -> None:
    kinds: dict[str, Kind] = {**dict.fromkeys("ab", "binary"), **dict.fromkeys("cdefg", "multi-class")}
    both: tuple[Kind, ...] = ("binary", "multi-class")
    board = many("abcdefg")
    systems = [System(attrs.evolve(each.adapter, tasks=both), "") for each in board.systems]
    (grid,) = ranks(attrs.evolve(board, kinds=kinds, systems=systems), 1.0)
    assert grid.title.startswith("mean ranks, more classes, by AUC: ε=1, all 5 tables;")


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
