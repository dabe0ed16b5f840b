"""Sums of clipped gradients and curvatures by cell, as one statement: `mechanisms.gradients.gradient_sums` in SQL.

Whole numbers are looked up in the same tables; of several classes, doubles take the same steps, each of which is exact
or rounded by itself as IEEE 754 says, so every record adds the same whole numbers as in memory. [exact-rows]
"""

from typing import Final

import attrs
import numpy as np

from accountant.arrays import ExactArray, FloatArray, IntArray
from learners.databases.moved_scores import brought_up, place_of
from learners.databases.public_tables import PublicTables
from learners.databases.sql_rows import SqlRows, refuse, total_in_sql
from learners.exports import DIALECTS, Dialect
from learners.regression import (
    MOST_LOG_RATE,
    MOST_TARGET,
    RATES,
    SCALES,
    SIDE,
    TARGET_ONE,
    After,
    Basis,
    ColumnCodes,
    Everywhere,
    LabelDistance,
    LabelPull,
    Loss,
    Pull,
    ResidualDistance,
    ScorePull,
    edges,
    fine_edges,
)
from mechanisms.gradients import (
    LONGEST,
    MOST_SCORE,
    ONE,
    RESIDUAL_ONE,
    CellResiduals,
    LookUp,
    ScoreVisit,
    binary_table,
    binary_whole,
    exponential_table,
    softmax_whole,
)
from mechanisms.queries import BlockCounts

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


# --- additive regression -------------------------------------------------------------------------------------

ROUNDER: Final = 1.5 * 2.0**52
"""Added and taken off again, it rounds a double below 2^51 to the nearest whole number, halves to even ones."""


@total_in_sql.register
def _pulls(work: CellResiduals, rows: SqlRows) -> ExactArray:
    """Sums by cell, partition after partition."""
    view, said = work.seen, _Steps(rows)
    if type(view) is Everywhere:
        return np.array([RESIDUAL_ONE * rows.n], dtype=np.int64)
    if isinstance(view, LabelPull):
        pull = said.in_clips(f"(y - {said.number(view.centre)})", view.clip)
        return rows.sums(f"SELECT 0, sum({said.whole(pull)}) FROM {rows.table.name}", (), (1, 1)).reshape(-1)
    if not isinstance(view, After):
        refuse(view)
    if isinstance(view.view, Pull):
        return _round(view.view, said, *said.residuals(view))
    if not isinstance(view.view, ScorePull):
        refuse(view.view)
    return _by_score(view.view, said, *said.residuals(view))


def _round(view: Pull, said: "_Steps", source: str, tables: PublicTables) -> ExactArray:
    """Of all bases, from one pass over records: cells of one column are added up here."""
    pull = said.whole(said.in_clips("found", view.clip))
    bases = said.seen
    keys = [f"k{number}" for number in range(len(bases))]
    stage = f"SELECT {', '.join([*keys, f'{pull} AS pull'])} FROM {source}"
    groups = " UNION ALL ".join(
        f"SELECT {number} AS basis, {key} AS cell, sum(pull) AS total FROM pulls GROUP BY {key}"
        for number, key in enumerate(keys)
    )
    answer = said.rows.table.engine.run(f"WITH pulls AS MATERIALIZED ({stage}) {groups}", tables.values)
    found = [np.zeros(len(table), dtype=np.int64) for table in view.tables]
    for number, place, total in answer:
        basis, cell = bases[int(str(number))], int(str(place))
        found[int(str(number))][basis.maps[0][cell] if len(basis.columns) == 1 else cell] += int(str(total))
    return np.concatenate(found)


def _by_score(view: ScorePull, said: "_Steps", source: str, tables: PublicTables) -> ExactArray:
    bins, reach = len(view.features.table), view.features.reach
    larger, smaller, over = said.dialect.larger, said.dialect.smaller, said.dialect.over
    inside = f"{larger}({smaller}(score + {reach}, {2 * reach - 1}), 0)"
    pull = str(RESIDUAL_ONE) if view.clip is None else said.whole(said.in_clips("found", view.clip))
    statement = f"SELECT ({inside} * {bins}) {over} {2 * reach} AS cell, sum({pull}) FROM {source} GROUP BY 1"
    return said.rows.sums(statement, tables.values, (bins, 1)).reshape(-1)


def regression_counts(work: BlockCounts, rows: SqlRows) -> ExactArray:
    """Of codes, labels' distances and residuals'. Raises NotInSql for others."""
    view, said = work.seen, _Steps(rows)
    if isinstance(view, ColumnCodes):
        found = np.zeros((work.size, work.number), dtype=np.int64)
        for column in range(work.size):
            statement = f"SELECT c{column}, count(*) FROM {rows.table.name} GROUP BY c{column}"
            found[column] = rows.sums(statement, (), (work.number, 1))[:, 0]
        return found
    if isinstance(view, LabelDistance):
        source = f"(SELECT y - {said.number(view.centre)} AS found FROM {rows.table.name}{said.dialect.fence}) AS apart"
        return _distances(said, source, None, edges(view.largest), SCALES, signed=False)
    if not (isinstance(view, After) and isinstance(view.view, ResidualDistance)):
        refuse(view)
    source, tables = said.residuals(view, spread=view.view.signed)
    ends = (fine_edges if view.view.signed else edges)(view.view.largest)
    return _distances(said, source, tables, ends, SIDE if view.view.signed else SCALES, signed=view.view.signed)


def _distances(
    said: "_Steps", source: str, tables: PublicTables | None, ends: FloatArray, number: int, *, signed: bool
) -> ExactArray:
    """Cells are open below: how many ends are less is how many of the next doubles are at most."""
    stage = f"(SELECT found, abs(found) AS distance FROM {source}{said.dialect.fence}) AS distances"
    cells = said.rows.table.engine.cells(stage, ["found"], ["distance"], [np.nextafter(ends, np.inf)], tables)
    cell = f"{said.dialect.smaller}({cells.cells[0]}, {number - 1})"
    if signed:
        cell = f"CASE WHEN found < {said.number(0.0)} THEN {number - 1} - {cell} ELSE {number} + {cell} END"
    statement = f"SELECT {cell} AS cell, count(*) FROM ({cells.statement}) AS counted GROUP BY 1"
    return said.rows.sums(statement, cells.values, ((2 if signed else 1) * number, 1)).reshape(1, -1)


@attrs.define
class _Steps:
    """Steps of memory's arithmetic in SQL. seen: the bases of the last `residuals`."""

    rows: SqlRows
    seen: tuple[Basis, ...] = ()

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.rows.table.engine.dialect]

    def number(self, value: float) -> str:
        return self.dialect.number(float(value))

    def whole(self, value: str) -> str:
        return f"CAST({value} AS BIGINT)"

    def between(self, value: str, least: float, most: float) -> str:
        return f"{self.dialect.smaller}({self.dialect.larger}({value}, {self.number(least)}), {self.number(most)})"

    def rounded(self, value: str) -> str:
        return f"(({value} + {self.number(ROUNDER)}) - {self.number(ROUNDER)})"

    def in_clips(self, value: str, clip: float) -> str:
        """See `learners.regression.regression_records.in_clips`."""
        return self.rounded(f"{self.between(f'{value} / {self.number(clip)}', -1.0, 1.0)} * {RESIDUAL_ONE}")

    def residuals(self, view: After, spread: bool = False) -> tuple[str, PublicTables]:
        """A SELECT, in brackets, of k0, k1, … (places in bases), score and found, which is the residual."""
        placing, inner = view.placing, view.view
        tables = self.rows.table.engine.tables()
        self.seen = placing.seen
        keys, scores = list[str](), list[str]()
        for basis, table in zip(placing.seen, inner.scores, strict=True):
            if not basis.columns:
                keys.append("0")
                scores.append(str(int(table[0])))
                continue
            look_up = _look_up(basis, table)
            place = place_of(look_up, tables)
            keys.append(place)
            scores.append(f"CAST({tables.at(look_up.table, f'({place})')} AS BIGINT)")
        named = [f"{key} AS k{number}" for number, key in enumerate(keys)]
        source = self._stage(["y", *named, f"{' + '.join(scores)} AS score"], tables.beside(self.rows.table.name))
        kept = [f"k{number}" for number in range(len(keys))]
        place = f"(y - {self.number(placing.centre)}) / {self.number(placing.scale)} * {TARGET_ONE}"
        target = self.rounded(self.between(place, -MOST_TARGET, MOST_TARGET))
        expected, joined = self._expected(inner.loss, tables)
        source = self._stage([*kept, "score", f"{target} AS target", f"{expected} AS expected"], source + joined)
        found = f"(target - expected) / {self.number(TARGET_ONE)}"
        if spread and inner.loss.log:
            source = self._stage(["score", "expected", f"{found} AS found"], source)
            shape = f"sqrt(expected / {self.number(TARGET_ONE)})"
            far = f"CASE WHEN found < {self.number(0.0)} THEN {self.number(-1e300)} ELSE {self.number(1e300)} END"
            found = f"CASE WHEN expected = 0 THEN {far} ELSE found / {shape} END"  # as infinities count
            kept = []
        return self._stage([*kept, "score", f"{found} AS found"], source), tables

    def _expected(self, loss: Loss, tables: PublicTables) -> tuple[str, str]:
        """What a score says of the target, and what is joined for it."""
        if not loss.log:
            return "CAST(score AS FLOAT8)", ""
        level = f"{self.dialect.larger}({self.dialect.smaller}(stage.score, {MOST_LOG_RATE}), {-MOST_LOG_RATE})"
        rates = RATES.astype(np.int32)
        joined, (rate,) = self.rows.table.engine.entries("rates", (rates,), f"({level} + {MOST_LOG_RATE})", tables)
        return f"CAST({rate} AS FLOAT8)", joined

    def _stage(self, columns: list[str], source: str) -> str:
        return f"(SELECT {', '.join(columns)} FROM {source}{self.dialect.fence}) AS stage"


def _look_up(basis: Basis, table: IntArray) -> LookUp:
    """What a basis's whole table has for records, by code of its column, or by the cells of two."""
    whole = table.astype(np.int32)
    if len(basis.columns) == 1:
        return LookUp(basis.columns, whole[basis.maps[0]])
    first, second = basis.maps
    return LookUp(basis.columns, whole, ((first * basis.shape[1]).astype(np.int32), second.astype(np.int32)))
