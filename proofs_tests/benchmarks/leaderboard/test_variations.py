"""Other promises stand beside each other on the same tables; what is measured apart, beside the recommended learner."""

import attrs

from benchmarks.leaderboard.adapters import Adapter
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.standing import standing, standing_among_all, with_those_apart
from benchmarks.leaderboard.variations import ceilings_apart, failed_apart, measured_apart, under_other_promises
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


def with_seeds(board: Board, table: str, system: str, *scores: float) -> None:
    """Its AUC by seed, at every ε."""
    seeds = {seed: {"auc": score} for seed, score in enumerate(scores)}
    for epsilon, cell in board.found[table, system].items():
        board.found[table, system][epsilon] = attrs.evolve(cell, seeds=seeds)


def test_what_takes_long_is_among_the_others_where_it_was_measured() -> None:
    """A pair is compared by the seeds that both have; whoever is ahead is told, though another is first."""
    ranked = board_of({OURS: {"a": (0.0, 0.0), "b": (0.0, 0.0)}, PEER: {"a": (0.0, 0.0)}})
    apart = board_of({OURS: {"a": (0.0, 0.0)}, SLOW: {"a": (0.0, 0.0)}, PEER: {"a": (0.0, 0.0)}})
    with_seeds(ranked, "a", "PrivateBoost", 0.8, 0.8, 0.2)
    with_seeds(ranked, "a", "a peer", 0.9, 0.9, 0.9)
    with_seeds(apart, "a", "slow", 0.82, 0.84)
    with_seeds(apart, "a", "a peer", 0.0, 0.0)
    board = with_those_apart(ranked, apart)
    assert [system.name for system in board.systems] == ["PrivateBoost", "a peer", "slow"]
    report, losses = standing_among_all(board, judged=True)
    assert isinstance(report, Report)
    assert isinstance(losses, Grid)
    assert [(line.what.removesuffix(": 1"), str(line.found)) for line in report.lines] == [
        ("measured apart, by two seeds or more", "slow"),
        *(
            (f"classification, by AUC, ε={epsilon}, {which}", "0%")
            for epsilon in ("0.5", "1")
            for which in ("1 table", "on tables not used to choose defaults, but for one threshold")
        ),
        ("all 2 cells at ε ≤ 1", "0%"),
    ]
    assert [line.met for line in report.lines] == [None, False, None, False, None, False]
    assert losses.rows == tuple(("a", epsilon, "slow", "0.800", "0.030 ± 0.010", "2") for epsilon in ("0.5", "1"))
    assert standing_among_all(ranked, judged=True) == []


def test_even_ends_at_one_paired_standard_error() -> None:
    """Leads of .95 and 1.05 errors, by hand: seeds that differ by m ± e have the mean m and the error e."""
    ranked = board_of({OURS: {"a": (0.8, 0.8), "b": (0.8, 0.8)}, PEER: {"a": (0.8, 0.8), "b": (0.8, 0.8)}})
    apart = board_of({OURS: {"a": (0.8, 0.8), "b": (0.8, 0.8)}, SLOW: {"a": (0.8, 0.8), "b": (0.8, 0.8)}})
    for board, name in ((ranked, "a peer"), (apart, "slow")):
        for table, lead in (("a", 0.0095), ("b", 0.0105)):
            with_seeds(board, table, "PrivateBoost", 0.8, 0.8)
            with_seeds(board, table, name, 0.8 + lead + 0.01, 0.8 + lead - 0.01)
    for report, losses in (
        standing(ranked, judged=True),
        standing_among_all(with_those_apart(attrs.evolve(ranked, found=dict(ranked.found)), apart), judged=True),
    ):
        assert isinstance(report, Report)
        assert isinstance(losses, Grid)
        assert (report.lines[-1].what, str(report.lines[-1].found)) == ("all 4 cells at ε ≤ 1", "50%")
        assert [row[:2] for row in losses.rows] == [("b", "0.5"), ("b", "1")]


def test_what_is_asked_is_judged_up_to_an_epsilon_of_one() -> None:
    study = attrs.evolve(STUDY, epsilons=(1.0, 3.0))
    ranked = board_of({OURS: {"a": (0.8, 0.8)}, PEER: {"a": (0.9, 0.9)}}, study)
    apart = board_of({OURS: {"a": (0.8, 0.8)}, SLOW: {"a": (0.9, 0.9)}}, study)
    for report in (
        standing(ranked, judged=True)[0],
        standing_among_all(with_those_apart(ranked, apart), judged=True)[0],
    ):
        assert isinstance(report, Report)
        met = {line.what: line.met for line in report.lines}
        assert met["classification, by AUC, ε=1, 1 table"] is False
        assert met["classification, by AUC, ε=3, 1 table"] is None
        assert met["all 1 cells at ε ≤ 1"] is False


def test_one_seed_tells_no_error_and_is_counted_only() -> None:
    ranked = board_of({OURS: {"a": (0.8, 0.8), "b": (0.8, 0.8)}})
    apart = board_of({OURS: {"a": (0.8, 0.8), "b": (0.8, 0.8)}, SLOW: {"a": (0.0, 0.0), "b": (0.6, 0.6)}})
    with_seeds(apart, "a", "slow", 0.9)
    assert (
        standing_among_all(with_those_apart(attrs.evolve(ranked, found={**ranked.found}), apart), judged=True)[1:] != []
    )
    (grid,) = measured_apart(apart)
    assert grid.rows == (("slow", "1 to 2", *("+0.050: 1, 0, 0; 1 by one seed",) * 2),)
    with_seeds(apart, "b", "slow", 0.9)
    assert standing_among_all(with_those_apart(ranked, apart), judged=True) == []
    (grid,) = measured_apart(apart)
    assert grid.rows == (("slow", "1", *("-0.100: 2 by one seed",) * 2),)


def test_a_ranked_system_keeps_its_seeds_though_it_takes_long() -> None:
    ranked, apart = (board_of({OURS: {"a": (0.8, 0.8)}, SLOW: {"a": (0.8, 0.8)}}) for _ in range(2))
    with_seeds(ranked, "a", "slow", 0.79, 0.79, 0.79, *(0.9,) * 7)
    with_seeds(ranked, "a", "PrivateBoost", *(0.8,) * 10)
    with_seeds(apart, "a", "slow", 0.79, 0.79, 0.79)
    (_, losses) = standing_among_all(with_those_apart(ranked, apart), judged=True)
    assert isinstance(losses, Grid)
    assert [row[-1] for row in losses.rows] == ["10", "10"]


def test_a_ceiling_measured_apart_is_beside_the_best_of_the_others_by_its_seeds() -> None:
    slow, line = adapter("slow trees", private=False, heavy=True), adapter("a line", private=False)
    ceilings: dict[Adapter, dict[str, tuple[float, ...]]] = {
        slow: {"a": (0.0,), "c": (0.5,)},
        CEILING: {"a": (0.0,), "b": (0.9,)},
        line: {"a": (0.0,)},
    }
    board = board_of({OURS: {"a": (0.8, 0.8), "b": (0.8, 0.8)}, **ceilings})
    for system, scores in (("slow trees", (0.9, 0.92)), ("trees", (0.88, 0.9, 0.99)), ("a line", (0.89, 0.91, 0.1))):
        with_seeds(board, "a", system, *scores)
    (grid,) = ceilings_apart(board)
    assert [tuple(map(str, row)) for row in grid.rows] == [
        ("a", "slow trees", "2", "0.910", "0.900", "a line"),
        ("c", "slow trees", "2", "0.505", "", ""),
    ]
    assert ceilings_apart(board_of({OURS: {"a": (0.8, 0.8)}, CEILING: {"a": (0.9,)}})) == []


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
