"""The tables of the leaderboard, from what was measured."""

import math
from collections.abc import Sequence, Set
from typing import Final

import numpy as np

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import System
from benchmarks.leaderboard.cells import Measured as Found
from benchmarks.leaderboard.comparison import (
    critical_difference,
    first_or_even,
    friedman_p,
    mean_ranks,
    needed_epsilon,
    paired,
)
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.promises import marked
from benchmarks.leaderboard.scores import MAIN
from benchmarks.runner import Cell, Grid, Line, Measured, Report, at_least

RECOMMENDED: Final = "PrivateBoost"
"""What users are told to take; it stands for us where "ours" is judged, not the best of ours by hindsight."""

ASKED: Final = 0.8
"""The share of cells at ε <= 1 in which ours must be first, or even with the first."""

SHARE: Final = 0.99
"""Of the ceiling."""

GROUPS: Final[dict[str, tuple[Kind, ...]]] = {
    "classification, by AUC": ("binary", "multi-class"),
    "regression, by R²": ("regression",),
}

COSTS: Final = {"fit": "s", "predict": "s", "memory": "MiB"}


def shown(system: System, board: Board, *kinds: Kind) -> str:
    """Its name: with † where it promises replace-one only, with * where its promise is known not to hold for a kind."""
    notes = ["†"] * marked(system.adapter, board.study.neighbours[0])
    notes += ["*"] * any(kind in system.adapter.refuted for kind in kinds or board.kinds.values())
    return " ".join([system.name, *notes])


def main_score(board: Board, table: str) -> str:
    """What systems are ranked by on a table."""
    return MAIN[board.kinds[table]]


def mean(found: Found | None, score: str, *, unit: str = "", form: str = ".3f") -> Cell:
    """Over seeds, with the standard error of the mean; "" where there is none."""
    values = [] if found is None else found.of(score)
    if not values:
        return ""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    return Measured(float(np.mean(values)), error, unit=unit, form=form)


def of_table(board: Board, table: str) -> list[Grid]:
    """A table's scores by ε: the one that ranks, a row for each system that takes part."""
    score, rows = main_score(board, table), []
    for system in board.systems:
        cells = tuple(mean(board.of(table, system, epsilon), score) for epsilon in board.study.epsilons)
        if any(cells):
            name = shown(system, board, board.kinds[table]) if system.adapter.private else f"{system.name}, no privacy"
            rows.append((name, *cells))
    title = f"{table}: {'AUC' if score == 'auc' else 'R²'}, δ=1e-5, means and standard errors"
    return [Grid(title, ("system", *(f"ε={epsilon:g}" for epsilon in board.study.epsilons)), tuple(rows))]


# --- standing -----------------------------------------------------------------------------------------------------


def private_scores(board: Board, table: str, epsilon: float) -> dict[str, dict[int, float]]:
    """Main scores by private system, then by seed; without those that gave none."""
    score = main_score(board, table)
    cells = {s.name: board.of(table, s, epsilon) for s in board.systems if s.adapter.private}
    return {name: {seed: scores[score] for seed, scores in cell.seeds.items()} for name, cell in cells.items() if cell}


def standing(board: Board, *, judged: bool) -> list[Report | Grid]:
    """How often the recommended learner is first or even with the first; and every cell where it is not.

    Other people's systems are what it is judged against; where another learner of ours is ahead is told as well.
    """
    own = {system.name for system in board.systems if system.adapter.ours} - {RECOMMENDED}
    lines, losses = list[Line](), list[tuple[Cell, ...]]()
    for group, kinds in GROUPS.items():
        for epsilon in board.study.epsilons:
            found = [_standing(board, table, epsilon, own) for table in board.tables(*kinds)]
            rows = [row for row in found if row is not None]
            losses += [loss for _, _, lost in rows for loss in lost]
            if rows:
                what, asked = f"{group}, ε={epsilon:g}, {len(rows)} tables", judged and epsilon <= 1.0
                share = Measured(float(np.mean([even for even, _, _ in rows])), form=".0%")
                among = Measured(float(np.mean([even for _, even, _ in rows])), form=".0%")
                lines += [
                    at_least(what, share, ASKED, judged=asked),
                    Line(f"{what}, among all learners of ours, too", among),
                ]
    head = ("table", "ε", "first", "ours", "lead of the first, paired")
    return [
        Report(f"{RECOMMENDED}: first, or within one paired standard error of the first", lines),
        Grid("Where the recommended learner is behind by more than a paired standard error", head, tuple(losses)),
    ]


def _standing(
    board: Board, table: str, epsilon: float, own: Set[str]
) -> tuple[bool, bool, list[tuple[Cell, ...]]] | None:
    """Whether it is even with the first of other people's, and of all; and each of the two that is ahead of it."""
    scores = private_scores(board, table, epsilon)
    ours = scores.pop(RECOMMENDED, None)
    others = {name: found for name, found in scores.items() if name not in own and set(found) & set(ours or ())}
    ones = {name: found for name, found in scores.items() if name in own and set(found) & set(ours or ())}
    if ours is None or not others:
        return None
    losses, evens = list[tuple[Cell, ...]](), list[bool]()
    for group in (others, ones):
        even, best, lead, error = first_or_even(ours, group) if group else (True, "", 0.0, 0.0)
        evens.append(even)
        if not even:
            losses.append(
                (table, f"{epsilon:g}", best, f"{np.mean(list(ours.values())):.3f}", f"{lead:.3f} ± {error:.3f}")
            )
    return evens[0], all(evens), losses


# --- ranks --------------------------------------------------------------------------------------------------------


def ranks(board: Board, epsilon: float) -> list[Grid]:
    """Mean ranks over the tables on which every ranked system was measured, with the critical difference."""
    found = []
    for group, kinds in GROUPS.items():
        tables = board.tables(*kinds)
        names = [s for s in board.systems if s.adapter.private and set(kinds) & set(s.adapter.tasks)]
        scores = {table: private_scores(board, table, epsilon) for table in tables}
        there = [s for s in names if sum(s.name in scores[table] for table in tables) >= 0.5 * len(tables)]
        used = [table for table in tables if all(s.name in scores[table] for s in there)]
        if len(there) < 3 or len(used) < 2:
            continue
        values = np.array([[np.mean(list(scores[table][s.name].values())) for s in there] for table in used])
        found.append(_ranked(group, epsilon, [shown(s, board, *kinds) for s in there], values))
    return found


def _ranked(group: str, epsilon: float, names: Sequence[str], values: np.typing.NDArray[np.float64]) -> Grid:
    tables, places = values.shape[0], mean_ranks(values)
    difference = critical_difference(len(names), tables)
    rows = tuple(
        (names[place], Measured(float(places[place]), 0.5 * difference, form=".2f")) for place in np.argsort(places)
    )
    title = (
        f"mean ranks, {group}: ε={epsilon:g}, {tables} tables; ± half the critical difference, so that systems whose "
        f"intervals meet are not told apart; Friedman's p {friedman_p(values):.1g}"
    )
    return Grid(title, ("system", "mean rank"), rows)


# --- distance to the ceiling --------------------------------------------------------------------------------------


def ceiling(board: Board, table: str) -> tuple[float, str] | None:
    """The best mean of a system without privacy, and its name."""
    score = main_score(board, table)
    open_ones = [s for s in board.systems if not s.adapter.private]
    means = {s.name: np.mean(cell.of(score)) for s in open_ones if (cell := board.of(table, s, 1.0)) is not None}
    best = max(means, key=lambda name: means[name], default=None)
    return None if best is None else (float(means[best]), best)


def distances(board: Board) -> Grid:
    """ε from which on a system reaches 99 % of the ceiling: ours, and the best of the others, table by table."""
    rows = []
    for table in board.kinds:
        top = ceiling(board, table)
        if top is None:
            continue
        needed = {s.name: _needed(board, table, s, SHARE * top[0]) for s in board.systems if s.adapter.private}
        ours, others = needed.pop(RECOMMENDED, math.nan), needed
        best = min((name for name in others if others[name] < math.inf), key=lambda name: others[name], default="")
        rows.append((table, f"{top[0]:.3f}, {top[1]}", _least(ours), _least(others.get(best, math.inf)), best))
    head = ("table", "ceiling", "ours", "best of the others", "which")
    return Grid(f"ε from which on {SHARE:.0%} of the ceiling is reached", head, tuple(rows))


def _needed(board: Board, table: str, system: System, level: float) -> float:
    cells = [(epsilon, board.of(table, system, epsilon)) for epsilon in board.study.epsilons]
    score = main_score(board, table)
    there = [(epsilon, float(np.mean(cell.of(score)))) for epsilon, cell in cells if cell is not None]
    return needed_epsilon([epsilon for epsilon, _ in there], [score for _, score in there], level)


def _least(epsilon: float) -> str:
    return "not within the grid" if math.isinf(epsilon) else "not measured" if math.isnan(epsilon) else f"{epsilon:.2g}"


# --- everything else ----------------------------------------------------------------------------------------------

OTHERS: Final = ("accuracy", "log_loss", "calibration")


def others(board: Board, epsilon: float) -> list[Grid]:
    """Means over tables at an ε: accuracy, log-loss, calibration of classifications; seconds and memory of all."""
    scores, costs = [], []
    for system in board.systems:
        cells = [board.of(table, system, epsilon) for table in board.kinds]
        there = [cell for cell in cells if cell is not None]
        if not there:
            continue
        scores.append((shown(system, board), str(len(there)), *(_over(there, score) for score in OTHERS)))
        costs.append((shown(system, board), *(_over(there, cost, unit) for cost, unit in COSTS.items())))
    tables = f"ε={epsilon:g}, means over tables"
    return [
        Grid(f"Accuracy, log-loss and calibration: {tables}", ("system", "tables", *OTHERS), tuple(scores)),
        Grid(f"Time and memory on one core: {tables}", ("system", *COSTS), tuple(costs)),
    ]


def _over(cells: Sequence[Found], score: str, unit: str = "") -> Cell:
    values = [float(np.median(found)) for cell in cells if (found := cell.of(score))]
    return Measured(float(np.mean(values)), unit=unit, form=".3g" if unit else ".3f") if values else ""


def changed(board: Board, other: Board, what: str) -> Grid:
    """What one other setting does to each system, in pairs of tables and seeds. other: of the same ε."""
    epsilon, rows = other.study.epsilons[0], []
    for system in board.systems:
        leads = []
        for table in board.kinds:
            before, after = board.of(table, system, epsilon), other.of(table, system, epsilon)
            if before is None or after is None:
                continue
            score = main_score(board, table)
            pair = ({seed: scores[score] for seed, scores in cell.seeds.items()} for cell in (before, after))
            leads.append(paired(*pair)[0])
        if leads:
            worst = Measured(float(min(leads)), form="+.3f")
            rows.append((shown(system, board), str(len(leads)), Measured(float(np.median(leads)), form="+.4f"), worst))
    head = ("system", "tables", "median change", "worst change")
    return Grid(f"What changes with {what}: main score, ε={epsilon:g}", head, tuple(rows))


def promises(systems: Sequence[System]) -> Grid:
    """Side by side, in words."""
    adapters = {system.adapter.path: system.adapter for system in systems}.values()
    rows = tuple(
        (
            a.name,
            ", ".join(a.neighbours) if a.private else "none: no privacy",
            a.released,
            a.reads,
            ", ".join(a.tasks),
            "; ".join(f"{kind}: {why}" for kind, why in a.refuted.items()),
        )
        for a in adapters
    )
    head = (
        "system",
        "neighbours that it promises",
        "whose code",
        "what it reads uncharged",
        "tasks",
        "* does not hold",
    )
    return Grid("What each system promises", head, rows)
