"""Sums of clipped gradients and curvatures by cell, as one statement: `mechanisms.gradients.gradient_sums` in SQL.

Whole numbers are looked up in the same tables; of several classes, doubles take the same steps, each of which is exact
or rounded by itself as IEEE 754 says, so every record adds the same whole numbers as in memory. [exact-rows]
"""

from typing import Final

import numpy as np

from accountant.arrays import ExactArray
from learners.databases.moved_scores import brought_up, place_of
from learners.databases.public_tables import PublicTables
from learners.databases.sql_rows import SqlRows, refuse
from learners.exports import DIALECTS
from mechanisms.gradients import (
    LONGEST,
    MOST_SCORE,
    ONE,
    ScoreVisit,
    binary_table,
    binary_whole,
    exponential_table,
    softmax_whole,
)

_LEVELS: Final = 2 * MOST_SCORE + 1


def gradient_sums(work: ScoreVisit, rows: SqlRows) -> ExactArray:
    """Of `binary_whole` and of `softmax_whole`: shape (cells, 2), (cells, K, 2). Raises NotInSql for others."""
    if work.work is binary_whole:
        return _binary(work, rows)
    if work.work is not softmax_whole:
        refuse(work.work)
    return _softmax(work, rows)


def _records(work: ScoreVisit, rows: SqlRows, heads: int) -> tuple[str, PublicTables]:
    """A SELECT, in brackets, of place, y, w, s0, s1, …; place: in the table of cells, which SQL need not see."""
    source, tables, scores = brought_up(rows, work.moves, heads)
    place, weight = place_of(work.part, tables), "w" if work.weighted else "1"
    named = [f"{score} AS s{head}" for head, score in enumerate(scores)]
    return _select([f"{place} AS place", "y", f"{weight} AS w", *named], tables.beside(source), rows), tables


def _by_cell(
    work: ScoreVisit, rows: SqlRows, statement: str, tables: PublicTables, shape: tuple[int, ...]
) -> ExactArray:
    """What a statement answers by place, added up by cell. shape: of a cell's sums."""
    found = np.zeros((work.number, *shape), dtype=np.int64)
    np.add.at(found, work.part.table, rows.sums(statement, tables.values, (work.part.table.size, *shape)))
    return found


def _select(columns: list[str], source: str, rows: SqlRows) -> str:
    """In brackets; what it computes is computed once, wherever it is used."""
    return f"(SELECT {', '.join(columns)} FROM {source}{DIALECTS[rows.table.engine.dialect].fence}) AS stage"


def _binary(work: ScoreVisit, rows: SqlRows) -> ExactArray:
    dialect = DIALECTS[rows.table.engine.dialect]
    records, tables = _records(work, rows, 1)
    level = f"{dialect.larger}({dialect.smaller}(s0, {MOST_SCORE}), {-MOST_SCORE}) + {MOST_SCORE}"
    records = _select(["place", "w", "y", f"{level} AS level"], records, rows)
    side = f"level + CASE WHEN y > 0 THEN {_LEVELS} ELSE 0 END"
    records = _select(["place", "w", f"{side} AS side"], records, rows)
    gradients, curvatures = binary_table()
    relation, (gradient, curvature) = rows.table.engine.entries(
        "binary", (gradients, np.tile(curvatures, 2)), "stage.side", tables
    )
    sums = f"sum(w * {gradient}), sum(w * {curvature})"
    statement = f"SELECT stage.place, {sums} FROM {records}{relation} GROUP BY stage.place"
    return _by_cell(work, rows, statement, tables, (2,))


def _softmax(work: ScoreVisit, rows: SqlRows) -> ExactArray:
    dialect, heads = DIALECTS[rows.table.engine.dialect], range(work.shape[0])
    number, one = dialect.number, dialect.number(float(ONE))
    records, tables = _records(work, rows, len(heads))
    kept = ["place", "y", "w"]
    top = f"{dialect.larger}({', '.join(f's{head}' for head in heads)})"
    records = _select([*kept, *(f"s{head}" for head in heads), f"{top} AS top"], records, rows)
    distances = [f"{dialect.smaller}(top - s{head}, {2 * MOST_SCORE}) AS d{head}" for head in heads]
    records = _select([*kept, *distances], records, rows)
    found = [
        rows.table.engine.entries("softmax", (exponential_table(),), f"stage.d{head}", tables, f"powers_{head}")
        for head in heads
    ]
    shares = [f"{share} AS e{head}" for head, (_, (share,)) in enumerate(found)]
    records = _select(
        [*(f"stage.{name}" for name in kept), *shares], records + "".join(each for each, _ in found), rows
    )
    total = " + ".join(f"e{head}" for head in heads)
    records = _select(
        [*kept, *(f"floor(CAST(e{head} AS FLOAT8) * {one} / ({total})) AS p{head}" for head in heads)], records, rows
    )
    gradients = [f"CASE WHEN y = {head} THEN {one} - p{head} ELSE -p{head} END AS g{head}" for head in heads]
    curvatures = [f"floor(p{head} * ({one} - p{head}) / {one}) AS h{head}" for head in heads]
    records = _select([*kept, *gradients, *curvatures], records, rows)
    length = f"sqrt({' + '.join(f'g{head} * g{head}' for head in heads)})"
    longest = f"{number(LONGEST)} / {dialect.larger}({length}, {number(1.0)})"
    named = [name for head in heads for name in (f"g{head}", f"h{head}")]
    records = _select([*kept, *named, f"{dialect.smaller}({number(1.0)}, {longest}) AS part"], records, rows)
    sums = ", ".join(
        f"sum(w * CAST(trunc(g{head} * part) AS INTEGER)), sum(w * CAST(h{head} AS INTEGER))" for head in heads
    )
    statement = f"SELECT place, {sums} FROM {records} GROUP BY place"
    return _by_cell(work, rows, statement, tables, (len(heads), 2))
