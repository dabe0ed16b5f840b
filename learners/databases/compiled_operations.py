"""The operations of learners as statements over codes: each a query whose answer has a fixed size, in whole numbers."""

import numpy as np

from accountant.arrays import ExactArray
from learners.additive import AdditiveModel, Partitioned, ScoreBinning
from learners.base import BinTotals, RightIn
from learners.databases.coded_table import CodedTable
from learners.databases.gradient_statements import gradient_sums, regression_counts
from learners.databases.public_tables import PublicTables
from learners.databases.sql_rows import SqlRows, refuse, sums_by_cell, total_in_sql
from learners.databases.stored_columns import GroupedRows, KeptCells, grouped_in_sql
from learners.databases.weighed_statements import vote_bins
from learners.encoding import RowCheck
from learners.exports import DIALECTS
from learners.votes import VoteBinning
from mechanisms.gradients import WEIGHT_ONE, ScoreVisit
from mechanisms.queries import BlockCounts, ShareTotals

total_in_sql.register(ScoreVisit, gradient_sums)


@total_in_sql.register
def _checked(work: RowCheck, rows: SqlRows) -> ExactArray:
    """Codes within their columns, labels among the classes: what the encoding has made."""
    table = rows.table
    if table.schema != work.layout.schema or table.weighted != work.weighted:
        raise ValueError("the records are encoded by another schema")
    columns = ", ".join(f"min({name}), max({name})" for name in table.columns)
    (found,) = table.engine.run(f"SELECT {columns} FROM {table.name}")
    labels = (-1, 1) if work.classes == 2 else (0, work.classes - 1)
    allowed = [*((0, column.cells - 1) for column in table.schema.columns), labels, (0, WEIGHT_ONE)]
    for name, (least, most), low, high in zip(table.columns, allowed, found[::2], found[1::2], strict=False):
        if not least <= int(str(low)) <= int(str(high)) <= most:
            raise ValueError(f"{name}: a code is outside {least} to {most}")
    return np.zeros(1, dtype=np.int64)


@total_in_sql.register
def _counts(work: BlockCounts, rows: SqlRows) -> ExactArray:
    """Counts by code, which are added up by cell here."""
    if not isinstance(work.seen, Partitioned):
        return regression_counts(work, rows)
    found = np.zeros((work.size, work.number), dtype=np.int64)
    for place, (column, part) in enumerate(zip(work.seen.columns, work.seen.parts, strict=True)):
        statement = f"SELECT c{column}, count(*) FROM {rows.table.name}{_there(rows.table)} GROUP BY c{column}"
        np.add.at(found[place], part, rows.sums(statement, (), (part.size, 1))[:, 0])
    return found


@total_in_sql.register
def _bins(work: BinTotals, rows: SqlRows) -> ExactArray:
    if isinstance(work.binned, VoteBinning):
        return vote_bins(work.binned, rows)
    if not isinstance(work.binned, ScoreBinning):
        refuse(work.binned)
    model, edges, engine = work.binned.model, np.array(work.binned.edges), rows.table.engine
    source, tables = _scored(rows, model)
    cells = engine.cells(source, ["y"], ["s0"], [edges], tables)
    slot = f"2 * {cells.cells[0]} + CASE WHEN y > 0 THEN 1 ELSE 0 END"
    statement = f"SELECT {slot} AS slot, count(*) FROM ({cells.statement}) AS binned GROUP BY 1"
    return rows.sums(statement, cells.values, (2 * (edges.size + 1), 1)).reshape(-1, 2)


@total_in_sql.register
def _right(work: RightIn, rows: SqlRows) -> ExactArray:
    if not isinstance(work.model, AdditiveModel):
        refuse(work.model)
    source, tables = _scored(rows, work.model)
    heads = work.model.intercept.size
    if heads == 1:
        right = "(s0 > 0) = (y > 0)"
    else:
        found = (
            " AND ".join(
                [
                    f"y = {head}",
                    *(f"s{head} {'>' if other < head else '>='} s{other}" for other in range(heads) if other != head),
                ]
            )
            for head in range(heads)
        )
        right = " OR ".join(f"({each})" for each in found)
    return rows.sums(f"SELECT 0, count(*) FROM {source} WHERE {right}", tables.values, (1, 1)).reshape(1)


@grouped_in_sql.register
def _cell_counts(work: BlockCounts, rows: GroupedRows) -> ExactArray:
    if not isinstance(work.seen, KeptCells):
        refuse(work.seen)
    statement = f"SELECT cell, count(*) FROM {rows.name} GROUP BY cell"
    return sums_by_cell(rows.engine, statement, (), (work.number, 1)).reshape(1, work.number)


@grouped_in_sql.register
def _share_totals(work: ShareTotals, rows: GroupedRows) -> ExactArray:
    sums = ", ".join(f"sum(s{number})" for number in range(work.scores))
    statement = f"SELECT g, count(*), {sums} FROM {rows.name} GROUP BY g"
    return sums_by_cell(rows.engine, statement, (), (work.group_number, 1 + work.scores))


def _there(table: CodedTable) -> str:
    """Records of weight 0 are as if they were not there."""
    return " WHERE w > 0" if table.weighted else ""


def _scored(rows: SqlRows, model: AdditiveModel) -> tuple[str, PublicTables]:
    """A SELECT, in brackets, of labels and of a model's scores: doubles, added in the model's order."""
    engine, heads = rows.table.engine, model.intercept.size
    number, tables = DIALECTS[engine.dialect].number, engine.tables()
    looked = []
    for term in model.terms:
        values = term.values.reshape(*term.values.shape[: len(term.columns)], heads)
        if len(term.columns) == 1:
            looked.append((tables.looked_up(values[term.maps[0]].reshape(-1)), f"CAST(c{term.columns[0]} AS INTEGER)"))
        else:
            maps = (term.maps[0] * values.shape[1], term.maps[1])
            pairs = zip(maps, term.columns, strict=True)
            place = " + ".join(tables.at(each, f"CAST(c{column} AS INTEGER)") for each, column in pairs)
            looked.append((tables.looked_up(values.reshape(-1)), place))
    scores = [
        " + ".join([number(float(start)), *(value_at(f"({place}) * {heads} + {head}") for value_at, place in looked)])
        for head, start in enumerate(model.intercept.reshape(-1))
    ]
    named = ", ".join(f"{score} AS s{head}" for head, score in enumerate(scores))
    fence = DIALECTS[engine.dialect].fence
    return f"(SELECT y, {named} FROM {tables.beside(rows.table.name)}{_there(rows.table)}{fence}) AS scored", tables
