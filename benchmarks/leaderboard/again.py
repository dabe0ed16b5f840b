"""What is measured once more: cells where ours is behind or far from the ceiling, and cells that are published.

A lead that is within its error by other seeds is not confirmed: chance, or too small for so many. At ε = 1000 noise
moves nothing that shows; but whatever else depends on ε is another, too, and noise that kept a model simple is gone: so
that is a hint of what the noise does, no more. A rerun has the splits and the seeds of what is published, on another
machine perhaps. Whoever draws noise from the operating system has other noise.
"""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from benchmarks.leaderboard.adapters import RECOMMENDED, Adapter, System
from benchmarks.leaderboard.cells import Measured as Scores
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.comparison import paired
from benchmarks.leaderboard.pages import GROUPS, ceiling, main_score, of_other_people, private_scores, shown
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import DIGITS, beside
from benchmarks.leaderboard.running import Say, fill
from benchmarks.leaderboard.standing import losses_to_others
from benchmarks.runner import Cell, Grid, Line, Measured, Report, Table

OTHER_SEEDS: Final = 30
"""As many as need not be those of the ranking."""

LARGE_EPSILON: Final = 1000.0

Lead: TypeAlias = tuple[float, float]
"""Of another over ours, and its standard error, paired."""


def behind_again(plan: Plan, found: Board, store: Store, say: Say) -> list[Grid]:
    """A row for each system of other people's that is ahead on a board. Measures what is missing.

    plan: has all systems of the board.  store: not the board's, whose cells must not get more seeds for being lost.
    """
    study, rows = found.study, list[tuple[Cell, ...]]()
    for loss in losses_to_others(found):
        leads = leads_of_others(found, loss.table, loss.epsilon)
        more, large = (
            attrs.evolve(study, epsilons=(epsilon,), seeds=study.seeds + OTHER_SEEDS)
            for epsilon in (loss.epsilon, LARGE_EPSILON)
        )
        only = tuple(_only(plan.adapters, {RECOMMENDED, *leads}))
        asked = attrs.evolve(plan, tables=(loss.table,), adapters=only, studies=(more, large))
        fill(list(asked.units(loss.table, store)), store, _cores(), say)
        others = range(study.seeds, more.seeds)
        again, hardly = (
            leads_of_others(board(asked, each, store, (loss.table,)), loss.table, each.epsilons[0], others, ahead=False)
            for each in (more, large)
        )
        for name, lead in leads.items():
            cells = map(_shown, (lead, again.get(name), hardly.get(name)))
            rows.append((loss.table, f"{loss.epsilon:g}", name, *cells, _verdict(again.get(name), hardly.get(name))))
    head = (
        "table",
        "ε",
        "ahead",
        "its lead",
        f"by {OTHER_SEEDS} other seeds",
        f"those at ε={LARGE_EPSILON:g}",
        "ours is",
    )
    return (
        [Grid("Where the recommended learner is behind other people's systems, looked at again", head, tuple(rows))]
        if rows
        else []
    )


def leads_of_others(
    found: Board, table: str, epsilon: float, seeds: Sequence[int] = (), *, ahead: bool = True
) -> dict[str, Lead]:
    """By name, of other people's systems. seeds: which; () takes all.  ahead: only leads above their error."""
    scores = private_scores(found, table, epsilon)
    if RECOMMENDED not in scores:
        return {}
    some = {name: {seed: by[seed] for seed in seeds or by} for name, by in scores.items()}
    leads = {name: paired(some[RECOMMENDED], theirs) for name, theirs in of_other_people(found, some).items()}
    return {name: lead for name, lead in leads.items() if lead[0] > lead[1] or not ahead}


def _only(adapters: Sequence[Adapter], names: set[str]) -> Iterator[Adapter]:
    """Those of some systems, without their other variants; what they are measured by stays the same."""
    for adapter in adapters:
        kept = {each.variant: adapter.variants[each.variant] for each in adapter.systems if each.name in names}
        if kept:
            yield attrs.evolve(adapter, variants=kept)


def _shown(lead: Lead | None) -> str:
    return "no predictions" if lead is None else f"{lead[0]:+.4f} ± {lead[1]:.4f}"


def _verdict(again: Lead | None, hardly: Lead | None) -> str:
    if again is None:
        return "not told"
    if again[0] <= again[1]:
        return "not behind by other seeds"
    confirmed = "behind by other seeds"
    if hardly is None:
        return confirmed
    return f"{confirmed}, {'not' if hardly[0] <= hardly[1] else 'and'} at ε={LARGE_EPSILON:g}"


def gaps(plan: Plan, store: Store, epsilon: float, say: Say) -> list[Grid]:
    """How far the recommended learner is from the ceiling of each table, at an ε and at a large one.

    Measures what is missing.
    """
    study, grids = plan.studies[0], list[Grid]()
    large = attrs.evolve(study, epsilons=(LARGE_EPSILON,))
    asked = attrs.evolve(plan, adapters=tuple(_only(plan.adapters, {RECOMMENDED})), studies=(large,))
    for table in plan.tables:
        fill(list(asked.units(table, store)), store, _cores(), say)
    ranked, hardly = board(plan, study, store, plan.tables), board(asked, large, store, plan.tables)
    for group, kinds in GROUPS.items():
        found = dict[str, tuple[float, ...]]()
        for table in ranked.tables(*kinds):
            top = ceiling(ranked, table)
            ours = (_reached(ranked, table, epsilon), _reached(hardly, table, LARGE_EPSILON))
            there = [each for each in ours if each is not None]
            if top is not None and len(there) == len(ours):
                found[table] = (top[0], *there, *(top[0] - each for each in there))
        if found:
            grids.append(_gaps(f"Gaps to the ceiling, {group}", found, epsilon))
    return grids


def _gaps(title: str, found: dict[str, tuple[float, ...]], epsilon: float) -> Grid:
    rows: list[tuple[Cell, ...]] = [(table, *map(_number, values)) for table, values in found.items()]
    medians = np.median(list(found.values()), axis=0)[3:]
    rows.append(("median of each column", "", "", "", *map(_number, medians.tolist())))
    at = [f"ε={each:g}" for each in (epsilon, LARGE_EPSILON)]
    return Grid(
        title, ("table", "ceiling", *(f"ours, {each}" for each in at), *(f"gap, {each}" for each in at)), tuple(rows)
    )


def _number(value: float) -> Cell:
    return Measured(value, form=".3f")


def _reached(found: Board, table: str, epsilon: float) -> float | None:
    scores = private_scores(found, table, epsilon).get(RECOMMENDED)
    return None if scores is None else float(np.mean(list(scores.values())))


# --- published cells ----------------------------------------------------------------------------------------------

RERUN_HEAD: Final = (
    *("system", "cells published", "measured again", "the same, to four digits"),
    *("within a standard error of the published mean", "furthest off, in standard errors of the differences"),
)
NONE: Final = "nothing-measured-here"
"""A folder without cells, so that what is published stands alone."""


def rerun(plan: Plan, folder: Path, say: Say) -> list[Table]:
    """A row for each system of the plan's first study that has published cells; then what failed now.

    folder: for what is measured again; empty.
    """
    study, again = plan.studies[0], Store(folder)
    only = attrs.evolve(plan, studies=(study,))
    failed = [line for table in plan.tables for line in fill(list(only.units(table, again)), again, _cores(), say)]
    there = board(only, study, beside(only, folder / NONE), plan.tables)
    here = board(only, study, again, plan.tables)
    rows = [(shown(system, there), *cells) for system in plan.systems if (cells := _row(system, there, here))]
    found = list[Table]()
    if rows:
        at = f"ε={', '.join(f'{epsilon:g}' for epsilon in study.epsilons)}, {study.seeds} seeds"
        found.append(Grid(f"Published cells measured anew: {', '.join(plan.tables)}, {at}", RERUN_HEAD, tuple(rows)))
    return [*found, *([Report("Measured anew: no scores", [Line(line, "") for line in failed])] if failed else [])]


def _cores() -> int:
    return os.cpu_count() or 1


def _row(system: System, there: Board, here: Board) -> tuple[Cell, ...]:
    """Over the cells that are published; () where there are none."""
    published, found = 0, list[tuple[bool, float, float]]()
    for table in there.kinds:
        for epsilon, cell in there.found.get((table, system.name), {}).items():
            published += 1
            if new := here.found.get((table, system.name), {}).get(epsilon):
                found.append(_compared(cell, new, main_score(there, table)))
    if not published:
        return ()
    same, within = (str(sum(each[0] for each in found)), str(sum(each[1] <= 1.0 for each in found)))
    furthest = f"{max(each[2] for each in found):.2g}" if found else ""
    return (str(published), str(len(found)), same, within, furthest)


def _compared(published: Scores, new: Scores, score: str) -> tuple[bool, float, float]:
    """Whether every seed has the published score; how far the mean is off, in standard errors of the published mean,
    and in those of the differences seed by seed."""
    then, now = (np.array([found.seeds[seed][score] for seed in sorted(found.seeds)]) for found in (published, new))
    if [float(f"{each:.{DIGITS}g}") for each in now] == then.tolist():
        return True, 0.0, 0.0
    off = abs(float(np.mean(now - then)))
    return False, _in_errors(off, then), _in_errors(off, now - then)


def _in_errors(off: float, values: FloatArray) -> float:
    """Of their mean. Rounding alone is no error: where all values are one, anything is far off."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return off / error if error > 0.0 else math.inf
