"""Tables beside the ranking: the same systems under other promises and bounds, and systems measured apart."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

import numpy as np

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import RECOMMENDED, System
from benchmarks.leaderboard.cells import NO_PRIVACY
from benchmarks.leaderboard.cells import Measured as Scores
from benchmarks.leaderboard.comparison import paired
from benchmarks.leaderboard.pages import GROUPS, main_score, private_scores, promise_of, shown
from benchmarks.leaderboard.plan import Board
from benchmarks.runner import Cell, Grid, Line, Measured, Report

AS_RANKED: Final = "as ranked"


def under_other_promises(boards: Sequence[Board], epsilon: float) -> list[Grid]:
    """Means at an ε over those tables where a system has scores of all studies, a column for each study.

    boards: the first one is what ranks are about, with the seeds of the others. Systems that one of them lacks are left
    out, with those without privacy.
    """
    grids = list[Grid]()
    for group, kinds in GROUPS.items():
        rows = list[tuple[Cell, ...]]()
        for system in boards[0].systems:
            found = [_means(board, system, epsilon, kinds) for board in boards]
            tables = [table for table in found[0] if all(table in each for each in found)]
            if tables and system.adapter.private:
                cells = [Measured(float(np.mean([each[table] for table in tables])), form=".3f") for each in found]
                rows.append((shown(system, boards[0], *kinds), str(len(tables)), *cells))
        if rows:
            head = ("system", "tables", AS_RANKED, *(promise_of(board) for board in boards[1:]))
            grids.append(
                Grid(f"Other promises and bounds, {_title(boards[0], group)}, ε={epsilon:g}", head, tuple(rows))
            )
    return grids


def _means(board: Board, system: System, epsilon: float, kinds: Sequence[Kind]) -> dict[str, float]:
    """By table, over seeds."""
    scores = {table: private_scores(board, table, epsilon).get(system.name) for table in board.tables(*kinds)}
    return {table: float(np.mean(list(found.values()))) for table, found in scores.items() if found}


def measured_apart(board: Board) -> list[Grid]:
    """As `beside_ours`, of systems that are measured apart."""
    return beside_ours(board, _apart(board), "systems measured apart")


def beside_ours(board: Board, systems: Sequence[System], who: str) -> list[Grid]:
    """Each of them beside the recommended learner, on the tables and seeds that it was measured on.

    A cell: how far the recommended learner is ahead, a mean over tables; and on how many of them it is ahead by more
    than a paired standard error, even, and behind by more; tables of one seed, which tells no error, are counted only.
    """
    epsilons, grids = board.study.epsilons, list[Grid]()
    for group, kinds in GROUPS.items():
        rows = list[tuple[Cell, ...]]()
        for system in systems:
            cells = tuple(_beside(board, system, epsilon, kinds) for epsilon in epsilons)
            if any(cells):
                rows.append((shown(system, board, *kinds), _seeds(board, system, kinds), *cells))
        if rows:
            title = f"{RECOMMENDED}'s lead over {who}, {group}: ahead, even, behind"
            grids.append(Grid(title, ("system", "seeds", *(f"ε={epsilon:g}" for epsilon in epsilons)), tuple(rows)))
    return grids


def ceilings_apart(board: Board) -> list[Grid]:
    """Of systems without privacy that are measured apart: a row for each table, beside the best of the other ceilings.

    Means over the seeds that it was measured by.
    """
    rows = list[tuple[Cell, ...]]()
    open_ones = [system for system in board.systems if not system.adapter.private]
    for table, system in product(board.kinds, [system for system in open_ones if system.adapter.heavy]):
        cell = board.of(table, system, NO_PRIVACY)
        if cell is not None:
            others = {other.name: board.of(table, other, NO_PRIVACY) for other in open_ones if not other.adapter.heavy}
            complete = {name: by for name, by in others.items() if by and set(cell.seeds) <= set(by.seeds)}
            means = {name: _mean(by, cell.seeds, main_score(board, table)) for name, by in complete.items()}
            best = max(means, key=means.__getitem__, default="")
            own = _number(_mean(cell, cell.seeds, main_score(board, table)))
            rows.append((table, system.name, str(len(cell.seeds)), own, _number(means[best]) if best else "", best))
    head = ("table", "system", "seeds", "it reaches", "best of the other ceilings", "which")
    return [Grid("Ceilings measured apart, AUC or R², by the same seeds", head, tuple(rows))] if rows else []


def _mean(found: Scores, seeds: Iterable[int], score: str) -> float:
    return float(np.mean([found.seeds[seed][score] for seed in seeds]))


def _number(value: float) -> Cell:
    return Measured(value, form=".3f")


def failed_apart(board: Board) -> list[Report]:
    """On which tables systems measured apart gave no predictions."""
    found = {
        system.name: dict.fromkeys(table for table, name, _ in sorted(board.broken) if name == system.name)
        for system in _apart(board)
    }
    lines = [Line(name, ", ".join(tables)) for name, tables in found.items() if tables]
    return [Report("Measured apart: no predictions by some seed at some ε on these tables", lines)] if lines else []


def _apart(board: Board) -> list[System]:
    return [system for system in board.systems if system.adapter.heavy and system.adapter.private]


def _seeds(board: Board, system: System, kinds: Sequence[Kind]) -> str:
    """How many its cells have: 3, or from 1 to 3."""
    found = [
        len(cell.seeds) for table in board.tables(*kinds) for cell in board.found.get((table, system.name), {}).values()
    ]
    return " to ".join(map(str, sorted({min(found), max(found)})))


def _beside(board: Board, system: System, epsilon: float, kinds: Sequence[Kind]) -> str:
    leads = list[tuple[float, float, int]]()
    for table in board.tables(*kinds):
        scores = private_scores(board, table, epsilon)
        if RECOMMENDED in scores and system.name in scores:
            seeds = len(set(scores[system.name]) & set(scores[RECOMMENDED]))
            leads.append((*paired(scores[system.name], scores[RECOMMENDED]), seeds))
    if not leads:
        return ""
    told = [(lead, error) for lead, error, seeds in leads if seeds > 1]
    ahead, behind = (sum(sign * lead > error for lead, error in told) for sign in (1, -1))
    counts = [f"{ahead}, {len(told) - ahead - behind}, {behind}"] if told else []
    once = [f"{len(leads) - len(told)} by one seed"] if len(leads) > len(told) else []
    return f"{np.mean([lead for lead, *_ in leads]):+.3f}: {'; '.join([*counts, *once])}"


def _title(board: Board, group: str) -> str:
    return f"{group}, {board.study.seeds} seeds"
