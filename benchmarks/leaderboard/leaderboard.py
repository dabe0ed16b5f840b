"""Private learners on all public tables at the same (ε, δ), bounds and splits.

Everybody gets the same public bounds and categories, no other setting unless its name says so, one core, and the same
seeds. † marks systems to which the number of records is public, * those whose promise is known not to hold, ‡ scores
of older learners of ours. Defaults of
the recommended learner were chosen with some of these tables in view: its share of firsts is shown for the rest, too.
Means are over seeds, of splits and noise at once where a set has no test part of its own. Other promises, bounds ten
times as wide, and systems that take long are measured by fewer seeds, and stand in tables of their own.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from benchmarks.leaderboard import adapters
from benchmarks.leaderboard.again import behind_again, gaps, rerun
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.pages import distances, of_table, others, promises, ranks
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import beside
from benchmarks.leaderboard.running import fill
from benchmarks.leaderboard.standing import standing, standing_among_all, strongest_by_table, with_those_apart
from benchmarks.leaderboard.study import FEW, MAIN, OTHER_PROMISES, QUICK
from benchmarks.leaderboard.variations import ceilings_apart, failed_apart, measured_apart, under_other_promises
from benchmarks.runner import ABSENT, Grid, Line, Part, Report, Setting, Table
from benchmarks.tables import SETS

QUICK_TABLES: Final = ("haberman", "clave-firm-teacher", "abalone-rings")
LARGE: Final = "skin"
"""Of a quarter of a million records: measured where it is named."""

RERUN: Final = ("banknote", "haberman", "abalone-age", "abalone-rings")
"""Tables whose published scores are measured anew."""

GAPS_AT: Final = 1.0
"""The ε at which gaps to ceilings are looked at, and what is published is run again."""

QUICK_RECORDS: Final = 600


def measure(plan: Plan, store: Store, name: str, jobs: int | None = None) -> list[str]:
    """What is missing of a table; what failed, in words. jobs: processes at once; None: as many as there are cores."""
    return fill(list(plan.units(name, store)), store, jobs or os.cpu_count() or 1, print_progress)


def shown_set(plan: Plan, store: Store, name: str) -> list[Grid]:
    """A table's own tables."""
    return of_table(board(plan, plan.studies[0], store, [name]), name)


def measured(plan: Plan, store: Store, name: str) -> list[Table]:
    """Measure what is missing of a table; what could not be installed."""
    absent = [Line(ABSENT, line) for line in measure(plan, store, name) if NOT_HERE in line]
    return [Report(f"absent: {name}", absent)] if absent else []


NOT_HERE: Final = "Run this again where"
"""What is said of packages and repositories that could not be had, and of no fit that failed."""


def print_progress(line: str) -> None:
    """On standard error, a line for each system of a table."""
    print(f"measured: {line}", file=sys.stderr)


def all_tables(plan: Plan, store: Store, *, judged: bool) -> list[Table]:
    """Everything that compares over tables."""
    main = board(plan, plan.studies[0], store, plan.tables)
    at = max((epsilon for epsilon in main.study.epsilons if epsilon <= 1.0), default=min(main.study.epsilons))
    everybody = _everybody(plan, store)
    seen = {name for _, name in [*main.found, *everybody.found]} | {system.name for system in plan.systems}
    return [
        promises([system for system in everybody.systems if system.name in seen]),
        *strongest_by_table(with_those_apart(main, everybody)),
        *standing(main, judged=judged),
        *(grid for epsilon in reversed(main.study.epsilons) if epsilon <= 1.0 for grid in ranks(main, epsilon)),
        *(grid for grid in (distances(main), *others(main, at)) if grid.rows),
        *variations(plan, store, main, everybody, judged=judged),
        *([_failures(main.failed)] if main.failed else []),
    ]


def variations(plan: Plan, store: Store, main: Board, everybody: Board, *, judged: bool) -> list[Table]:
    """What the plan's other studies found, ε by ε, and what there is of systems that are measured apart.

    main: what ranks.  everybody: as `_everybody` has it.
    """
    few = attrs.evolve(plan.studies[0], seeds=min(FEW, plan.studies[0].seeds))
    boards = [board(plan, study, store, plan.tables) for study in (few, *plan.studies[1:])]
    return [
        *(grid for epsilon in _shared(boards) for grid in under_other_promises(boards, epsilon)),
        *standing_among_all(with_those_apart(main, everybody), judged=judged),
        *measured_apart(everybody),
        *ceilings_apart(everybody),
        *failed_apart(everybody),
    ]


def _everybody(plan: Plan, store: Store) -> Board:
    """Of the study that ranks, with systems that are measured apart, by the seeds that there are."""
    return board(_with_heavy(plan), plan.studies[0], store, plan.tables, apart=True)


def _shared(boards: Sequence[Board]) -> list[float]:
    """The ε of all studies beside the first, the largest first; none where there is no other."""
    found = [set(each.study.epsilons) for each in boards[1:]]
    return sorted(set.intersection(*found), reverse=True) if found else []


def _with_heavy(plan: Plan) -> Plan:
    """With all systems that are measured apart, named or not; but those of whose names there is another."""
    taken = {system.name for system in plan.systems}  # by a copy of somebody's, too
    heavy = [each for each in adapters.every() if each.heavy and not taken & {system.name for system in each.systems}]
    return attrs.evolve(plan, adapters=[*plan.adapters, *heavy])


def _explained(plan: Plan, store: Store, folder: Path) -> list[Grid]:
    """Measures for itself. folder: for what is measured again; not the store's, or cells that are lost would be judged
    by more seeds in the next run than those that are won.
    """
    main = board(plan, plan.studies[0], store, plan.tables)
    all_of_them = with_those_apart(main, _everybody(plan, store))
    return [
        *behind_again(_with_heavy(plan), all_of_them, beside(plan, folder), print_progress),
        *gaps(plan, store, GAPS_AT, print_progress),
    ]


def _rerun(plan: Plan, folder: Path) -> list[Table]:
    """A few published cells of each kind, once more, in a folder that is new each time."""
    study = attrs.evolve(plan.studies[0], epsilons=(GAPS_AT,))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return rerun(attrs.evolve(plan, tables=RERUN, studies=(study,)), Path(place), print_progress)


def _failures(failed: Sequence[str]) -> Grid:
    found = (line.partition(": ") for line in failed)
    rows = tuple((what, why) for what, _, why in found)
    return Grid("In no rank: no predictions, or not by all seeds", ("system", "why"), rows)


def plan_of(setting: Setting) -> Plan:
    """All tables, and all systems but those that take too long; quick: a few records of a few tables."""
    light = [adapter for adapter in adapters.every() if not adapter.heavy]
    if setting.quick:
        return Plan(QUICK_TABLES, light, (QUICK,), setting.data, QUICK_RECORDS)
    return Plan(tuple(name for name in SETS if name != LARGE), light, (MAIN, *OTHER_PROMISES), setting.data)


def parts(setting: Setting) -> list[Part]:
    """Each table is measured; then what compares them; then their own tables."""
    plan, quick = plan_of(setting), setting.quick
    folder = setting.out / ("cells-quick" if quick else "cells")
    store = Store(folder) if quick else beside(plan, folder)
    return [
        *(Part(name, partial(measured, plan, store, name), 10 if quick else 150, kept=False) for name in plan.tables),
        Part("all tables", partial(all_tables, plan, store, judged=not quick), 5, kept=False),
        *(
            []
            if quick
            else [
                Part("losses and gaps", partial(_explained, plan, store, setting.out / "cells-again"), 200, kept=False)
            ]
        ),
        *([] if quick else [Part("reruns", partial(_rerun, plan, setting.out), 200, kept=False)]),
        *(Part(f"tables of {name}", partial(shown_set, plan, store, name), 0.1, kept=False) for name in plan.tables),
    ]
