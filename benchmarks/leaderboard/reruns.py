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

from benchmarks.leaderboard.adapters import System
from benchmarks.leaderboard.cells import Measured as Scores
from benchmarks.leaderboard.cells import Store
from benchmarks.leaderboard.pages import main_score, shown
from benchmarks.leaderboard.plan import Board, Plan, board
from benchmarks.leaderboard.published import DIGITS, beside
from benchmarks.leaderboard.running import Say, fill
from benchmarks.runner import Cell, Grid

NONE: Final = "nothing-measured-here"
"""A folder without cells, so that what is published stands alone."""


def rerun(plan: Plan, folder: Path, say: Say) -> list[Grid]:
    """A row for each system of the plan's first study. folder: where reruns are kept; what is there is not run again.

    Failures are no rows here: the ranking names them.
    """
    study, again = plan.studies[0], Store(folder)
    only = attrs.evolve(plan, studies=(study,))
    for table in plan.tables:
        fill(list(only.units(table, again)), again, os.cpu_count() or 1, say)
    there = board(only, study, beside(only, folder / NONE), plan.tables)
    here = board(only, study, again, plan.tables)
    rows = [(shown(system, there), *cells) for system in plan.systems if (cells := _row(system, there, here))]
    head = ("system", "cells", "to four digits as published", "within a standard error", "the furthest off, in those")
    title = f"Published scores measured anew: {', '.join(plan.tables)}, {study.seeds} seeds"
    return [Grid(title, head, tuple(rows))] if rows else []


def _row(system: System, there: Board, here: Board) -> tuple[Cell, ...]:
    """Over the cells that both boards have; () where there are none."""
    found = list[tuple[bool, float]]()
    for table in there.kinds:
        for epsilon, published in there.found.get((table, system.name), {}).items():
            if new := here.found.get((table, system.name), {}).get(epsilon):
                found.append(_compared(published, new, main_score(there, table)))
    if not found:
        return ()
    same, off = zip(*found, strict=True)
    return (str(len(found)), str(sum(same)), str(sum(each <= 1.0 for each in off)), f"{max(off):.2g}")


def _compared(published: Scores, new: Scores, score: str) -> tuple[bool, float]:
    """Whether every seed has the published score; and how far the mean is off, in standard errors of the published."""
    then, now = (np.array([found.seeds[seed][score] for seed in sorted(found.seeds)]) for found in (published, new))
    same = [float(f"{each:.{DIGITS}g}") for each in now] == then.tolist()
    if same:
        return True, 0.0
    error, off = float(np.std(then, ddof=1)) / math.sqrt(len(then)), abs(float(np.mean(now - then)))
    return False, off / error if error > 0.0 else math.inf
