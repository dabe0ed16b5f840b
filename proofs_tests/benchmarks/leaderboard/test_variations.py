"""Other promises stand beside each other on the same tables; what is measured apart, beside the recommended learner."""

import attrs

from benchmarks.leaderboard.standing import standing_among_all, with_those_apart
from benchmarks.leaderboard.variations import failed_apart, measured_apart, under_other_promises
from benchmarks.runner import Grid, Report
from proofs_tests.benchmarks.leaderboard.test_pages import CEILING, OURS, PEER, STUDY, adapter, board_of

SLOW = adapter("slow", heavy=True)
OTHER_DELTA = attrs.evolve(STUDY, rules=("n^-1.1",))


def test_a_system_is_compared_with_itself_where_every_study_has_it() -> None:
    ranked = board_of(
        {
            OURS: {"a": (0.8, 0.9), "b": (0.6, 0.7)},
            PEER: {"a": (0.7, 0.8), "b": (0.5, 0.6)},
            SLOW: {"a": (0.7, 0.8)},
            CEILING: {"a": (0.99,)},
        }
    )
    other = board_of({OURS: {"a": (0.6, 0.7), "b": (0.5, 0.6)}, PEER: {"a": (0.6, 0.7)}}, OTHER_DELTA)
    (grid,) = under_other_promises([ranked, other], 1.0)
    assert grid.head == ("system", "tables", "as ranked", "δ=n^-1.1, add-remove-one")
    assert [tuple(map(str, row)) for row in grid.rows] == [
        ("PrivateBoost", "2", "0.805", "0.655"),
        ("a peer *", "1", "0.805", "0.705"),
    ]


def test_what_takes_long_is_compared_on_its_own_tables() -> None:
    board = board_of(
        {
            OURS: {"a": (0.80, 0.90), "b": (0.70, 0.80), "c": (0.5, 0.5)},
            SLOW: {"a": (0.70, 0.80), "b": (0.75, 0.79)},
            PEER: {"a": (0.99, 0.99)},
        }
    )
    (grid,) = measured_apart(board)
    assert grid.title.startswith("PrivateBoost's lead over systems measured apart, two classes, by AUC: ")
    assert grid.rows == (("slow", "2", "+0.025: 1, 0, 1", "+0.055: 2, 0, 0"),)


def test_what_takes_long_is_among_the_others_where_it_was_measured() -> None:
    """Ranked systems keep all of their seeds; a pair is compared by those that both have."""
    ranked = board_of({OURS: {"a": (0.80, 0.90), "b": (0.70, 0.80)}, PEER: {"a": (0.75, 0.91), "b": (0.75, 0.70)}})
    for cells in ranked.found.values():
        for epsilon, cell in cells.items():
            cells[epsilon] = attrs.evolve(cell, seeds={**cell.seeds, 2: {"auc": 0.5}})
    apart = board_of({OURS: {"a": (0.1, 0.1)}, SLOW: {"a": (0.81, 0.85)}, PEER: {"a": (1.0, 1.0)}})
    board = with_those_apart(ranked, apart)
    assert [system.name for system in board.systems] == ["PrivateBoost", "a peer", "slow"]
    report, losses = standing_among_all(board)
    assert isinstance(report, Report)
    assert isinstance(losses, Grid)
    assert [(line.what, str(line.found)) for line in report.lines] == [
        ("classification, by AUC, ε=0.5, 1 table", "0%"),
        ("classification, by AUC, ε=1, 1 table", "0%"),
    ]
    assert [row[:4] for row in losses.rows] == [("a", "0.5", "slow", "0.703")]
    assert standing_among_all(ranked) == []


def test_even_is_within_a_paired_error_and_failures_are_told() -> None:
    board = board_of({OURS: {"a": (0.80, 0.90), "b": (0.80, 0.90)}, SLOW: {"a": (0.80, 0.90)}})
    board.found["a", "slow"][1.0] = attrs.evolve(
        board.found["a", "slow"][1.0], seeds={0: {"auc": 0.87}, 1: {"auc": 0.92}}
    )
    board = attrs.evolve(board, broken=frozenset({("b", "slow", 0.5), ("b", "slow", 1.0), ("a", "PrivateBoost", 3.0)}))
    (grid,) = measured_apart(board)
    assert grid.rows == (("slow", "2", "+0.000: 0, 1, 0", "+0.010: 0, 1, 0"),)
    (report,) = failed_apart(board)
    assert [(line.what, line.found) for line in report.lines] == [("slow", "b")]


def test_there_is_no_table_without_a_row() -> None:
    board = board_of({OURS: {"a": (0.8, 0.9)}, PEER: {"a": (0.7, 0.8)}})
    assert measured_apart(board) == []
    assert failed_apart(board) == []
    assert under_other_promises([board, board_of({PEER: {"b": (0.7, 0.8)}}, OTHER_DELTA)], 1.0) == []
