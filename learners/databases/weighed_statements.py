"""Sums of weights that follow from margins: what boosted 1-Rules and trees ask of records that stay in a database.

A margin is a whole number, what released hypotheses of ±1 said of a record, added up. SQL counts records by code,
label and margin; counts are multiplied here with the weight of each margin in whole units, see
`learners.encoding.weighted_sums`. Both are exact, so sums are those in memory, bit by bit. [exact-rows]
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from accountant.arrays import ExactArray, IntArray
from boosting import BoostingStep, BoundedMeasure, CountedMargins, WeighedVisit
from learners.databases.moved_scores import Change, Signs, brought_up_by, merged
from learners.databases.public_tables import Numbers
from learners.databases.sql_rows import SqlRows, refuse, total_in_sql
from learners.encoding import ColumnCounts, EncodedSample, HeldWeights, LabelSums, Layout, Path, weight_units
from learners.votes import CONSTANT, OneRule, Tree, VoteBinning
from mechanisms.gradients import LookUp

Steps: TypeAlias = tuple[BoostingStep[EncodedSample], ...]
Placed: TypeAlias = tuple[str, str, Sequence[Numbers]]
"""See `_placed`."""


@total_in_sql.register
def _margins(work: CountedMargins, rows: SqlRows) -> ExactArray:  # type: ignore[type-arg]  # of any sample: by type
    place, source, values = _placed(rows, work.steps)
    number = len(work.steps)
    statement = f"SELECT {place} AS place, count(*) FROM {source} GROUP BY 1"
    return np.asarray(rows.sums(statement, values, (2 * number + 1, 1))[::2, 0])


@total_in_sql.register
def _weighed(work: WeighedVisit, rows: SqlRows) -> ExactArray:  # type: ignore[type-arg]  # the same
    weighting = work.weighting
    measure = BoundedMeasure(weighting.weights, np.zeros(0, dtype=np.int8), weighting.mass, weighting.n)
    units = weight_units(measure).astype(np.int64)
    if isinstance(work.work, HeldWeights):
        return _held(rows, work.steps, units, work.work.within)
    if not isinstance(work.work, LabelSums):
        refuse(work.work)
    held = _held(rows, work.steps, units, ())
    return np.asarray(held[:, 1] - held[:, 0])


def _held(rows: SqlRows, steps: Steps, units: IntArray, within: Path) -> ExactArray:
    """See `EncodedSample.held`: each column's cells by label, added up by feature."""
    layout, kept = rows.table.layout, _condition(rows.table.layout, within)
    placed = _placed(rows, steps)
    columns = [_cells(rows, placed, units, number, kept) for number in range(len(layout.schema.columns))]
    found = np.zeros((layout.d + 1, 2), dtype=np.int64)
    for feature in range(layout.d):
        column, members = layout.feature(feature)
        found[feature] = columns[column][members].sum(axis=0)
    found[-1] = columns[0].sum(axis=0)
    return found


def _cells(rows: SqlRows, placed: Placed, units: IntArray, column: int, kept: str) -> ExactArray:
    """Units by code of one column and by label, shape (cells, 2). kept: a condition on codes."""
    place, source, values = placed
    size, cells = 2 * units.size - 1, rows.table.schema.columns[column].cells
    cell = f"(2 * CAST(c{column} AS INTEGER) + CASE WHEN y > 0 THEN 1 ELSE 0 END) * {size} + {place}"
    statement = f"SELECT {cell} AS cell, count(*) FROM {source} WHERE {kept} GROUP BY 1"
    counts = rows.sums(statement, values, (2 * cells * size, 1)).reshape(cells, 2, size)
    return np.asarray(counts[:, :, ::2] @ units)


def _placed(rows: SqlRows, steps: Steps) -> Placed:
    """A record's margin, from 0 to twice the number of steps; what stands after FROM; what is bound to it."""
    source, tables, (votes,) = brought_up_by(rows, steps, lambda left: _changes(rows, _hypotheses(left)), 1)
    return f"(y * ({votes}) + {len(steps)})", tables.beside(source), tables.values


def _hypotheses(steps: Steps) -> list[object]:
    return [step.hypothesis for step in steps]


def vote_bins(binning: VoteBinning, rows: SqlRows) -> ExactArray:
    """Records by bin and label, shape (bins, 2). Votes are counted one by one, and those of one bin added up here."""
    rules, edges = tuple(binning.model.rules), binning.edges
    number = len(rules)
    source, tables, (votes,) = brought_up_by(rows, rules, lambda left: _changes(rows, left), 1)
    place = f"2 * ({votes} + {number}) + CASE WHEN y > 0 THEN 1 ELSE 0 END"
    statement = f"SELECT {place} AS place, count(*) FROM {tables.beside(source)} GROUP BY 1"
    counts = rows.sums(statement, tables.values, (2 * (2 * number + 1), 1)).reshape(-1, 2)
    bins = np.searchsorted(edges, np.arange(-number, number + 1) / max(1, number), side="right")
    found = np.zeros((len(edges) + 1, 2), dtype=np.int64)
    np.add.at(found, bins, counts)
    return found


@total_in_sql.register
def _by_code(work: ColumnCounts, rows: SqlRows) -> ExactArray:
    statement = f"SELECT c{work.column}, count(*) FROM {rows.table.name} GROUP BY c{work.column}"
    return np.asarray(rows.sums(statement, (), (work.cells, 1))[:, 0])


# --- hypotheses over codes --------------------------------------------------------------------------------------


def _changes(rows: SqlRows, hypotheses: Iterable[object]) -> list[Change]:
    """What these say, in few terms: rules of one column are added up, and so are trees that are the same."""
    layout, rules, trees = rows.table.layout, list[LookUp](), Counter[Tree]()
    for each in hypotheses:
        if type(each) is OneRule:
            rules.append(_rule(layout, each))
        elif type(each) is Tree:
            trees[each] += 1
        else:
            refuse(each)
    return [*merged(rules), *(Signs(_positive(layout, tree), times) for tree, times in trees.items())]


def _rule(layout: Layout, rule: OneRule) -> LookUp:
    if rule.feature == CONSTANT:
        column, members = 0, np.ones(layout.schema.columns[0].cells, dtype=np.bool_)
    else:
        column, members = layout.feature(rule.feature)
    return LookUp((column,), np.where(members, np.int32(rule.sign), np.int32(-rule.sign)).astype(np.int32))


def _positive(layout: Layout, tree: Tree) -> str:
    """A condition on codes: whether a tree says +1."""
    paths: list[Path] = [()]
    for split in tree.splits:
        before = paths[split.leaf]
        paths[split.leaf] = (*before, (split.feature, False))
        paths.append((*before, (split.feature, True)))
    said = [_condition(layout, path) for path, label in zip(paths, tree.labels, strict=True) if label > 0]
    return " OR ".join(f"({each})" for each in said) or "1 = 0"


def _condition(layout: Layout, path: Path) -> str:
    """Whether a record has features, or lacks them."""
    return " AND ".join(f"{'' if wanted else 'NOT '}({_having(layout, number)})" for number, wanted in path) or "1 = 1"


def _having(layout: Layout, feature: int) -> str:
    """Whether a record's code is among those of a feature."""
    column, members = layout.feature(feature)
    return " OR ".join(f"c{column} BETWEEN {low} AND {high}" for low, high in _runs(members)) or "1 = 0"


def _runs(members: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last of the codes in a row that are members."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], members, [False]]).astype(np.int8)))
    return [(int(low), int(after) - 1) for low, after in zip(ends[::2], ends[1::2], strict=True)]
