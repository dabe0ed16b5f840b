"""Published cells measured anew on this machine: whether their scores come out as published, within their errors.

A rerun has the splits and the seeds of what is published, on another machine perhaps. Whoever draws noise from the
operating system has other noise.
"""

import math
import os
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from benchmarks.leaderboard.adapters import System
from benchmarks.leaderboard.cells import Measured as Scores
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.pages import main_score, shown
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import DIGITS, beside
from benchmarks.leaderboard.running import Say, fill
from benchmarks.runner import Cell, Grid, Line, Report, Table

HEAD: Final = (
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
        found.append(Grid(f"Published cells measured anew: {', '.join(plan.tables)}, {at}", HEAD, tuple(rows)))
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
