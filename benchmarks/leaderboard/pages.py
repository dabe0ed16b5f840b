"""The tables of the leaderboard, from what was measured."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import RECOMMENDED, System
from benchmarks.leaderboard.cells import Measured as Found
from benchmarks.leaderboard.comparison import (
    critical_difference,
    friedman_p,
    mean_ranks,
    needed_epsilon,
)
from benchmarks.leaderboard.plan import Board
from benchmarks.leaderboard.promises import marked
from benchmarks.leaderboard.scores import MAIN
from benchmarks.runner import Cell, Grid, Measured

SHARE: Final = 0.99
"""Of the ceiling."""

FEWEST_RANKED: Final = 5
"""Tables, for there to be ranks: on fewer the approximations behind critical differences and p say little."""

GROUPS: Final[dict[str, tuple[Kind, ...]]] = {
    "two classes, by AUC": ("binary",),
    "more classes, by AUC": ("multi-class",),
    "regression, by R²": ("regression",),
}

COSTS: Final = {"fit": "s", "predict": "s", "memory": "MiB"}


def shown(system: System, board: Board, *kinds: Kind) -> str:
    """Its name: with † where the number of records is public to it, with * where its promise is known not to hold for a
    kind, with ‡ where scores are those of older learners of ours."""
    notes = ["†"] * marked(system.adapter, board.study.neighbours[0])
    notes += ["*"] * any(kind in system.adapter.refuted for kind in kinds or board.kinds.values())
    notes += ["‡"] * (system.name in board.older)
    return " ".join([system.name, *notes])


MARKS: Final = (
    "† the number of records is public to it; * its promise is known not to hold; ‡ its published scores are of older "
    "learners of ours"
)


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
    title = f"{table}: {'AUC' if score == 'auc' else 'R²'}, {promise_of(board)}, means and standard errors"
    return [Grid(title, ("system", *(f"ε={epsilon:g}" for epsilon in board.study.epsilons)), tuple(rows))]


def promise_of(board: Board) -> str:
    """Of a study, but ε."""
    study, wide = board.study, [f"bounds {width:g} times as wide" for width in board.study.widths if width != 1.0]
    return ", ".join([f"δ={study.rules[0]}", study.neighbours[0], *wide])


def private_scores(board: Board, table: str, epsilon: float) -> dict[str, dict[int, float]]:
    """Main scores by private system, then by seed; without those that gave none."""
    score = main_score(board, table)
    cells = {s.name: board.of(table, s, epsilon) for s in board.systems if s.adapter.private}
    return {name: {seed: scores[score] for seed, scores in cell.seeds.items()} for name, cell in cells.items() if cell}


def of_other_people(board: Board, scores: Mapping[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Of what `private_scores` found, what is not of a learner of ours."""
    own = {system.name for system in board.systems if system.adapter.ours}
    return {name: found for name, found in scores.items() if name not in own}


# --- ranks --------------------------------------------------------------------------------------------------------


def ranks(board: Board, epsilon: float) -> list[Grid]:
    """Mean ranks over the tables on which every ranked system was measured, with the critical difference."""
    found = []
    for group, kinds in GROUPS.items():
        tables = board.tables(*kinds)
        names = [s for s in board.systems if set(kinds) & set(s.adapter.tasks)]
        scores = {table: private_scores(board, table, epsilon) for table in tables}
        there = [s for s in names if sum(s.name in scores[table] for table in tables) >= 0.5 * len(tables)]
        used = [table for table in tables if all(s.name in scores[table] for s in there)]
        if len(there) < 3 or len(used) < FEWEST_RANKED:
            continue
        values = np.array([[np.mean(list(scores[table][s.name].values())) for s in there] for table in used])
        without = [table for table in tables if table not in used]
        found.append(_ranked(group, epsilon, [shown(s, board, *kinds) for s in there], values, without))
    return found


def _ranked(
    group: str, epsilon: float, names: Sequence[str], values: np.typing.NDArray[np.float64], without: Sequence[str]
) -> Grid:
    """without: tables on which somebody lacks scores."""
    tables, places = values.shape[0], mean_ranks(values)
    which = f"{tables} tables, without {', '.join(without)}" if without else f"all {tables} tables"
    difference = critical_difference(len(names), tables)
    rows = tuple(
        (names[place], Measured(float(places[place]), 0.5 * difference, form=".2f")) for place in np.argsort(places)
    )
    title = (
        f"mean ranks, {group}: ε={epsilon:g}, {which}; ± half the critical difference, so that "
        f"systems whose intervals meet are not told apart; Friedman's p {friedman_p(values):.1g}"
    )
    return Grid(title, ("system", "mean rank"), rows)


def places(board: Board, system: System) -> list[Grid]:
    """Of one system among the private ones of a board, by table and ε: 1 has the highest mean. [] without scores."""
    epsilons = board.study.epsilons
    rows = [
        (table, *(_place(private_scores(board, table, epsilon), system.name) for epsilon in epsilons))
        for table in board.tables(*system.adapter.tasks)
    ]
    head = ("table", *(f"ε={epsilon:g}" for epsilon in epsilons))
    found = tuple(row for row in rows if any(row[1:]))
    title = f"Place of {system.name} among the private systems that are ranked or named"
    return [Grid(title, head, found)] if found else []


def _place(scores: Mapping[str, Mapping[int, float]], name: str) -> str:
    means = {each: float(np.mean(list(found.values()))) for each, found in scores.items()}
    if name not in means or len(means) == 1:
        return "alone" if name in means else ""
    return f"{1 + sum(mean > means[name] for mean in means.values())} of {len(means)}"


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
        if top is None or top[0] <= 0.0:
            continue
        level = SHARE * top[0]
        needed = {s.name: _needed(board, table, s, level) for s in board.systems if s.adapter.private}
        ours = needed.get(RECOMMENDED, math.nan)
        others = {s.name: needed[s.name] for s in board.systems if s.name in needed and not s.adapter.ours}
        best = min((name for name in others if others[name] < math.inf), key=lambda name: others[name], default="")
        rows.append(
            (table, f"{top[0]:.3f}, {top[1]}", _least(board, ours), _least(board, others.get(best, math.inf)), best)
        )
    head = ("table", "ceiling", "ours", "best of the others", "which")
    return Grid(f"ε from which on {SHARE:.0%} of the ceiling is reached", head, tuple(rows))


def _needed(board: Board, table: str, system: System, level: float) -> float:
    cells = [(epsilon, board.of(table, system, epsilon)) for epsilon in board.study.epsilons]
    score = main_score(board, table)
    there = [(epsilon, float(np.mean(cell.of(score)))) for epsilon, cell in cells if cell is not None]
    return needed_epsilon([epsilon for epsilon, _ in there], [score for _, score in there], level)


def _least(board: Board, epsilon: float) -> str:
    if not math.isfinite(epsilon):
        return "not measured" if math.isnan(epsilon) else "not within the grid"
    return f"{'≤ ' if epsilon <= min(board.study.epsilons) else ''}{epsilon:.2g}"


# --- everything else ----------------------------------------------------------------------------------------------

OTHERS: Final = ("accuracy", "log_loss", "calibration")


def others(board: Board, epsilon: float) -> list[Grid]:
    """Means over tables at an ε: accuracy, log-loss, calibration with two classes; seconds and memory on all."""
    scores, costs = [], []
    for system in board.systems:
        pairs = [(table, board.of(table, system, epsilon)) for table in board.kinds]
        there = [cell for _, cell in pairs if cell is not None]
        binary = [cell for table, cell in pairs if cell is not None and board.kinds[table] == "binary"]
        if binary:
            scores.append(
                (shown(system, board, "binary"), str(len(binary)), *(_over(binary, score) for score in OTHERS))
            )
        if any(cell.of(cost) for cell in there for cost in COSTS):
            costs.append((shown(system, board), *(_over(there, cost, unit) for cost, unit in COSTS.items())))
    tables = f"ε={epsilon:g}, means over tables"
    return [
        Grid(
            f"Two classes: accuracy, log-loss and calibration: {tables}", ("system", "tables", *OTHERS), tuple(scores)
        ),
        Grid(f"Time and memory on one core: {tables}", ("system", *COSTS), tuple(costs)),
    ]


def _over(cells: Sequence[Found], score: str, unit: str = "") -> Cell:
    values = [float(np.median(found)) for cell in cells if (found := cell.of(score))]
    return Measured(float(np.mean(values)), unit=unit, form=".3g" if unit else ".3f") if values else ""


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
    return Grid(f"What each system promises. {MARKS}", head, rows)
