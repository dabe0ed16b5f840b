"""How often the recommended learner is first, and where it is not."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from benchmarks.adapters.protocol import Kind
from benchmarks.leaderboard.adapters import RECOMMENDED
from benchmarks.leaderboard.comparison import paired, strongest
from benchmarks.leaderboard.pages import of_other_people, private_scores
from benchmarks.leaderboard.plan import Board
from benchmarks.runner import Cell, Grid, Line, Measured, Report, at_least

SMALL: Final = 1.0
ASKED: Final = 0.8
"""The share of cells at ε <= SMALL in which ours must be first, or even with the first."""

JUDGED: Final[dict[str, tuple[Kind, ...]]] = {
    "classification, by AUC": ("binary", "multi-class"),
    "regression, by R²": ("regression",),
}

SEEN: Final = (
    *("adult", "cod-rna", "mushroom", "magic", "eeg", "skin", "abalone-age", "wine-quality"),
    *("abalone-rings", "wine-red", "wine-white", "medical-charges", "friedman-1"),
    *(
        "transfusion",
        "ionosphere",
        "sonar",
        "breast-cancer-wisconsin",
        "wdbc",
        "banknote",
        "fertility",
        "pima-diabetes",
    ),
    *("australian-credit", "house-votes-84", "mammographic-mass", "parkinsons", "medical-smoker", "clave-firm-teacher"),
)
"""Tables on which the defaults of the recommended learner were chosen, test parts included, as LIMITS says; the
threshold for pairs of columns was chosen on all. From transfusion on it was only how curvatures are weighed."""


LOSS_HEAD: Final = ("table", "ε", "ahead", "ours", "its lead, paired", "seeds")


@attrs.frozen
class Loss:
    """A cell in which ours is behind by more than a paired standard error.

    first: who leads, "" where ours gave no predictions.  own: whether that is another learner of ours.  reached: ours,
    by the seeds of the pair.
    """

    table: str
    epsilon: float
    first: str = ""
    own: bool = False
    reached: float = math.nan
    lead: float = math.nan
    error: float = math.nan
    seeds: int = 0


@attrs.frozen
class Standing:
    """Of a cell: whether ours is first or even among other people's, and among all; who is ahead of it."""

    others: bool
    everybody: bool
    losses: Sequence[Loss]


def standing(board: Board, *, judged: bool) -> list[Report | Grid]:
    """How often the recommended learner is first or even with the first; and every cell where it is not.

    Other people's systems are what it is judged against; where another learner of ours is ahead is told as well.
    """
    lines, losses, evens = list[Line](), list[Loss](), list[bool]()
    for group, kinds in JUDGED.items():
        for epsilon in board.study.epsilons:
            rows = _group(board, epsilon, kinds)
            losses += [loss for row in rows.values() for loss in row.losses]
            if rows:
                lines += _shares(f"{group}, ε={epsilon:g}", rows, judged=judged and epsilon <= SMALL)
                evens += [row.others for row in rows.values()] if epsilon <= SMALL else []
    if not lines:
        return []
    lines += _over_all(evens, judged=judged)
    return [
        Report(f"{RECOMMENDED}: first, or within one paired standard error of the first", lines),
        Grid(
            "Where the recommended learner is behind by more than a paired standard error",
            LOSS_HEAD,
            _rows(losses),
        ),
    ]


def with_those_apart(ranked: Board, apart: Board) -> Board:
    """All systems on one board: those measured apart where they have two seeds or more, ranked ones as they are."""
    heavy = {system.name: system for system in apart.systems if system.adapter.heavy}
    found = dict(ranked.found)
    for (table, name), cells in apart.found.items():
        if name in heavy:
            several = {epsilon: cell for epsilon, cell in cells.items() if len(cell.seeds) > 1}
            found[table, name] = {**several, **ranked.found.get((table, name), {})}
    named = {system.name for system in ranked.systems}
    more = [system for name, system in heavy.items() if name not in named]
    return attrs.evolve(ranked, systems=[*ranked.systems, *more], found=found)


def standing_among_all(board: Board, *, judged: bool) -> list[Report | Grid]:
    """As `standing`, on a board of `with_those_apart`, and every lead that a system measured apart has over ours.

    A pair is compared by the seeds that both have.
    """
    apart = {system.name for system in board.systems if system.adapter.heavy and not system.adapter.ours}
    lines, losses, evens, seen = list[Line](), list[Loss](), list[bool](), set[str]()
    for group, kinds in JUDGED.items():
        for epsilon in board.study.epsilons:
            there = {table: apart & set(private_scores(board, table, epsilon)) for table in board.tables(*kinds)}
            rows = {table: row for table, row in _group(board, epsilon, kinds).items() if there[table]}
            losses += [loss for table in rows for loss in _losses_to(board, table, epsilon, there[table])]
            seen |= set().union(*there.values())
            lines += _shares(f"{group}, ε={epsilon:g}", rows, judged=judged and epsilon <= SMALL)[:-1] if rows else []
            evens += [row.others for row in rows.values()] if epsilon <= SMALL else []
    if not lines:
        return []
    who = "; ".join(system.name for system in board.systems if system.name in seen)
    title = f"{RECOMMENDED}: first, or within one paired standard error of the first, those measured apart as well"
    return [
        Report(title, [Line("measured apart, by two seeds or more", who), *lines, *_over_all(evens, judged=judged)]),
        Grid("Where a system measured apart is ahead by more than a paired standard error", LOSS_HEAD, _rows(losses)),
    ]


def _losses_to(board: Board, table: str, epsilon: float, names: set[str]) -> list[Loss]:
    """To each of these systems; none where ours gave no predictions, which `standing` says."""
    scores = private_scores(board, table, epsilon)
    found = []
    for name in sorted(names) if RECOMMENDED in scores else ():
        lead, error = paired(scores[RECOMMENDED], scores[name])
        if lead > error:
            found.append(_loss(table, epsilon, name, scores, lead, error))
    return found


def _loss(
    table: str,
    epsilon: float,
    name: str,
    scores: Mapping[str, Mapping[int, float]],
    lead: float,
    error: float,
    *,
    own: bool = False,
) -> Loss:
    """What ours reached is by the seeds of the pair."""
    ours, theirs = scores[RECOMMENDED], scores[name]
    seeds = set(ours) & set(theirs)
    reached = float(np.mean([ours[seed] for seed in seeds]))
    return Loss(table, epsilon, name, own, reached, lead, error, len(seeds))


def strongest_by_table(board: Board) -> list[Grid]:
    """By table and ε, our lead over whoever of other people's systems is most clearly ahead, or least behind."""
    epsilons = board.study.epsilons
    rows = [(table, *(_beside_strongest(board, table, epsilon) for epsilon in epsilons)) for table in board.kinds]
    title = f"{RECOMMENDED}'s lead over the strongest of other people's systems, those measured apart as well"
    found = tuple(row for row in rows if any(row[1:]))
    return [Grid(title, ("table", *(f"ε={epsilon:g}" for epsilon in epsilons)), found)] if found else []


def _beside_strongest(board: Board, table: str, epsilon: float) -> str:
    """A difference of more than its paired standard error is told as one; "" where one side was not measured."""
    scores = private_scores(board, table, epsilon)
    others = of_other_people(board, scores)
    if RECOMMENDED not in scores or not others:
        return "no predictions" if others and (table, RECOMMENDED, epsilon) in board.broken else ""
    name, lead, error = strongest(scores[RECOMMENDED], others)
    if len(set(scores[RECOMMENDED]) & set(scores[name])) == 1:
        return f"by one seed: {-lead:+.3f}, {name}"
    place = "first" if lead < -error else "behind" if lead > error else "even"
    return f"{place}: {-lead:+.3f} ± {error:.3f}, {name}"


def losses_to_others(board: Board) -> list[Loss]:
    """Those to other people's systems, where both gave predictions."""
    cells = [_group(board, epsilon, kinds) for kinds in JUDGED.values() for epsilon in board.study.epsilons]
    found = [loss for rows in cells for row in rows.values() for loss in row.losses]
    return [loss for loss in found if loss.first and not loss.own]


def _group(board: Board, epsilon: float, kinds: Sequence[Kind]) -> dict[str, Standing]:
    found = {table: _standing(board, table, epsilon) for table in board.tables(*kinds)}
    return {table: row for table, row in found.items() if row is not None}


def _rows(losses: Sequence[Loss]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(_row(loss) for loss in losses)


def _row(loss: Loss) -> tuple[Cell, ...]:
    where = (loss.table, f"{loss.epsilon:g}")
    if not loss.first:
        return (*where, "", "no predictions", "", "")
    return (*where, loss.first, f"{loss.reached:.3f}", f"{loss.lead:.3f} ± {loss.error:.3f}", str(loss.seeds))


def _standing(board: Board, table: str, epsilon: float) -> Standing | None:
    """None where nobody else was measured, or not ours. Where ours gave an error, that is a loss."""
    scores = private_scores(board, table, epsilon)
    ours, others = scores.get(RECOMMENDED), of_other_people(board, scores)
    if not others:
        return None
    if ours is None and (table, RECOMMENDED, epsilon) not in board.broken:
        return None
    if ours is None:
        return Standing(False, False, [Loss(table, epsilon)])
    evens, losses = list[bool](), list[Loss]()
    more_of_ours = {name: by for name, by in scores.items() if name not in others and name != RECOMMENDED}
    for group in (others, more_of_ours):
        best, lead, error = strongest(ours, group) if group else ("", 0.0, 0.0)
        evens.append(lead <= error)
        if lead > error:
            losses.append(_loss(table, epsilon, best, scores, lead, error, own=best not in others))
    return Standing(evens[0], all(evens), losses)


def _share(evens: Sequence[bool]) -> Measured:
    return Measured(float(np.mean(evens)), form=".0%")


def _over_all(evens: Sequence[bool], *, judged: bool) -> list[Line]:
    return [_line(f"all {len(evens)} cells at ε ≤ {SMALL:g}", evens, judged=judged)] if evens else []


def _line(what: str, evens: Sequence[bool], *, judged: bool) -> Line:
    """judged: whether anything is asked of it."""
    return at_least(what, _share(evens), ASKED) if judged else Line(what, _share(evens))


def _shares(what: str, rows: Mapping[str, Standing], *, judged: bool) -> list[Line]:
    """Of all tables; of those that no default was chosen on; and with our other learners among the others."""
    fresh = [row.others for table, row in rows.items() if table not in SEEN]
    without = f"{what}, on tables not used to choose defaults, but for one threshold: {len(fresh)}"
    unseen = [Line(without, _share(fresh))] if fresh else []
    return [
        _line(
            f"{what}, {len(rows)} table{'s' * (len(rows) != 1)}", [row.others for row in rows.values()], judged=judged
        ),
        *unseen,
        Line(f"{what}, among our other learners, too", _share([row.everybody for row in rows.values()])),
    ]
