"""By table and ε, our lead over the strongest of other people's systems: whose, of which tables, and when it is one."""

from collections.abc import Mapping, Sequence

import attrs
import pytest

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import Adapter, System
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.scores import MAIN
from benchmarks.leaderboard.standing import strongest_by_table
from benchmarks.leaderboard.study import Study
from proofs_tests.benchmarks.leaderboard.test_pages import BLANK, OTHER, OURS, PEER, adapter

STUDY = Study(epsilons=(0.5, 3.0), seeds=3)
SLOW = adapter("slow", heavy=True)
OPEN = adapter("trees", private=False)
SECOND = adapter("second")


def board(found: Mapping[tuple[str, Adapter], Sequence[float]], broken: Sequence[str] = (), **kinds: Kind) -> Board:
    """Main scores by table and system, seed by seed, the same at both ε. kinds: of tables, where not binary.

    broken: tables on which ours failed.
    """
    by = {table: kinds.get(table, "binary") for table, _ in found}
    cells = {}
    for (table, system), values in found.items():
        seeds = {seed: {MAIN[by[table]]: value} for seed, value in enumerate(values)}
        cells[table, system.name] = {
            epsilon: attrs.evolve(BLANK, seeds=seeds) for epsilon in STUDY.epsilons if system.private
        } or {1.0: attrs.evolve(BLANK, seeds=seeds)}
    systems = [System(each, "") for each in dict.fromkeys(system for _, system in found)]
    failed = frozenset((table, "PrivateBoost", epsilon) for table in broken for epsilon in STUDY.epsilons)
    return Board(STUDY, by, systems, cells, broken=failed)


def cells(found: Board) -> dict[str, tuple[str, ...]]:
    """By table."""
    (grid,) = strongest_by_table(found)
    assert grid.head == ("table", "ε=0.5", "ε=3")
    return {str(row[0]): tuple(map(str, row[1:])) for row in grid.rows}


def test_all_kinds_of_tables_all_epsilons_and_those_measured_apart() -> None:
    found = board(
        {
            ("two", OURS): (0.8, 0.8),
            ("two", PEER): (0.7, 0.7),
            ("two", SLOW): (0.75, 0.75),
            ("two", OTHER): (0.9, 0.9),
            ("two", OPEN): (0.99, 0.99),
            ("more", OURS): (0.8, 0.8),
            ("more", PEER): (0.9, 0.9),
            ("number", OURS): (0.3, 0.3),
            ("number", SLOW): (-0.2, -0.2),
        },
        more="multi-class",
        number="regression",
    )
    assert cells(found) == {
        "two": ("first: +0.050 ± 0.000, slow",) * 2,
        "more": ("behind: -0.100 ± 0.000, a peer",) * 2,
        "number": ("first: +0.500 ± 0.000, slow",) * 2,
    }


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
    theirs = (0.8 + lead - error, 0.8 + lead + error)
    assert cells(board({("a", OURS): (0.8, 0.8), ("a", PEER): theirs}))["a"] == (said,) * 2


def test_a_difference_of_one_error_is_even() -> None:
    """Exactly, in binary fractions: differences of 0 and ±1/2 have the mean ±1/4 and the standard error 1/4."""
    for theirs in ((0.5, 1.0), (0.5, 0.0)):
        (first, _) = cells(board({("a", OURS): (0.5, 0.5), ("a", PEER): theirs}))["a"]
        assert first.startswith("even: ")
    assert cells(board({("a", OURS): (0.5, 0.5), ("a", PEER): (0.5, 0.5)}))["a"][0].startswith("even: ")


def test_the_strongest_is_most_clearly_ahead_not_furthest() -> None:
    found = board({("a", OURS): (0.5, 0.5), ("a", PEER): (0.2, 1.0), ("a", SECOND): (0.52, 0.52)})
    assert cells(found)["a"][0] == "behind: -0.020 ± 0.000, second"


def test_one_seed_in_common_tells_no_error() -> None:
    found = board({("a", OURS): (0.5, 0.7, 0.9), ("a", PEER): (0.6,)})
    assert cells(found)["a"] == ("by one seed: -0.100, a peer",) * 2


def test_no_predictions_of_ours_are_told_where_there_are_others() -> None:
    found = board({("a", PEER): (0.5, 0.5), ("b", OTHER): (0.5, 0.5), ("c", PEER): (0.5, 0.5)}, broken=("a", "b"))
    assert cells(found) == {"a": ("no predictions",) * 2}
    assert strongest_by_table(board({("a", OURS): (0.5, 0.5), ("a", OTHER): (0.5, 0.5)})) == []
