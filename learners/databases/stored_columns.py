"""Columns of a table in a database, for releases about groups and margins: cells of records, in a temporary table."""

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any, Final, TypeVar

import attrs
import numpy as np

from accountant.arrays import ExactArray, FloatArray
from learners.base import PrivateClassifier
from learners.blocks import label_column
from learners.databases.coded_table import FETCH, NotInSql, class_number, write_records
from learners.databases.engines import DatabaseColumn, Engine, Kind
from learners.databases.predictions import Estimator, prediction_query, refuse_no_table
from learners.databases.public_tables import Numbers
from learners.databases.sql_rows import refuse
from learners.databases.sql_table import SqlTable
from learners.exports import DIALECTS
from learners.fairness import FARTHEST, Score, StoredColumn
from learners.inspection import binned_margins
from mechanisms.core import Block, Rows, Sums
from mechanisms.queries import SHARE_ONE, GroupedShares, HistogramRows, Histograms, PrefixRows, ShareRows, ShareTotals

U = TypeVar("U")

TINY: Final = 2.0**-30
"""A share below it is 0 to the nearest 1/SHARE_ONE; PostgreSQL refuses quotients that are too small for a double."""


LARGE: Final = 1e300
"""Numbers on two sides of 0, of which one is beyond it, are FARTHEST apart."""

SMALL: Final = 1e-160
"""Errors below it have squares that are too small for a double, or nearly."""


# --- records as cells and shares -------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class GroupedRows(Rows[Any]):
    """Records in a temporary table: a column `cell`, or `g` of groups and s0, s1, … of shares.

    name: of the table.  size: how many records it has.
    """

    engine: Engine
    name: str
    size: int

    @property
    def n(self) -> int:
        """See `Rows`."""
        return self.size

    def map(self, transform: Callable[[Any], U]) -> Rows[U]:
        """See `Rows`; refused."""
        refuse(transform)

    def kept(self) -> "GroupedRows":
        """See `Rows`: they are."""
        return self

    def total(self, work: Callable[[Block[Any]], Sums]) -> Sums:
        """See `Rows`. Raises NotInSql, DatabaseFailed."""
        found: Any = grouped_in_sql(work, self)
        sums: Sums = found
        return sums


@singledispatch
def grouped_in_sql(work: object, rows: GroupedRows) -> ExactArray:
    """What `GroupedRows.total` gives for this operation. Raises NotInSql for one that is not registered."""
    refuse(work)


@attrs.frozen
class KeptCells:
    """The cells that a `GroupedRows` has."""

    def __call__(self, records: object) -> Histograms:
        """Nobody has records to ask about. Raises NotInSql."""
        refuse(self)


# --- columns ---------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class _TableColumn(StoredColumn):
    """What both kinds have in common. Messages hold no value of a record."""

    table: SqlTable

    def confusions(
        self, labels: StoredColumn, groups: StoredColumn, classes: Sequence[object], public_groups: Sequence[object]
    ) -> HistogramRows:
        """See `StoredColumn`. Raises NotInSql, OutsideSchema, ChangedTable, DatabaseFailed."""
        view, size = _View.of(self, labels, groups), len(classes)
        coded = [
            view.code(view.others[1], public_groups, "groups"),
            view.code(view.others[0], classes, "labels"),
            view.code(view.told, classes, "predictions"),
        ]
        columns = ", ".join(f"{code} AS {name}" for code, name in zip(coded, "gtp", strict=True))
        cell = f"(g * {size} + t) * {size} + p"
        why = view.why({"g": "groups", "t": "labels", "p": "predictions"})
        statement = f"SELECT {cell}, {why} FROM (SELECT {columns}, {view.refused} AS r FROM {view.source}) AS coded"
        rows = view.written({"cell": "INTEGER"}, statement)
        return HistogramRows(rows, KeptCells(), 1, len(public_groups) * size**2)

    def prefixes(self, groups: StoredColumn, points: FloatArray, public_groups: Sequence[object]) -> PrefixRows:
        """See `StoredColumn`. Raises NotInSql, OutsideSchema, ChangedTable, DatabaseFailed."""
        view, cells = _View.of(self, groups), points.size + 1
        group, value = view.code(view.others[0], public_groups, "groups"), view.number(view.told, "predictions")
        low, high = view.literal(float(points[0])), view.literal(float(points[-1]))
        inner = f"SELECT {group} AS g, {value} AS v, {view.refused} AS r FROM {view.source}{view.fence}"
        clipped = f"SELECT g, r, v, {_clipped('v', low, high)} AS x FROM ({inner}) AS read{view.fence}"
        placed = view.engine.cells(
            f"({clipped}) AS clipped", ["g", "r", "v"], ["x"], [np.nextafter(points, np.inf)]
        )  # of points below a number, not at it
        cell = f"g * {cells} + {placed.cells[0]} + CASE WHEN x >= {high} THEN 1 ELSE 0 END"
        why = view.why({"g": "groups", "v": "predictions"})
        rows = view.written(
            {"cell": "INTEGER"}, f"SELECT {cell}, {why} FROM ({placed.statement}) AS placed", placed.values
        )
        number = len(public_groups)
        return PrefixRows(HistogramRows(rows, KeptCells(), 1, number * cells), number, cells)

    def shares(
        self, labels: StoredColumn, groups: StoredColumn, scores: Sequence[Score], public_groups: Sequence[object]
    ) -> ShareRows:
        """See `StoredColumn`. Raises NotInSql, OutsideSchema, ChangedTable, DatabaseFailed."""
        view = _View.of(self, labels, groups)
        group = view.code(view.others[1], public_groups, "groups")
        if any(score.of == "classes" for score in scores):
            label = told = view.differ()
        else:
            label, told = view.number(view.others[0], "labels"), view.number(view.told, "predictions")
        inner = f"SELECT {group} AS g, {label} AS l, {told} AS p, {view.refused} AS r FROM {view.source}{view.fence}"
        named = [f"z{number}" for number in range(len(scores))]
        scaled = ", ".join(f"{view.share(score)} AS {name}" for score, name in zip(scores, named, strict=True))
        middle = f"SELECT g, l, p, r, {scaled} FROM ({inner}) AS read{view.fence}"
        why = view.why({"g": "groups", "l": "labels", "p": "predictions"})
        whole = ", ".join(f"CAST({nearest(name)} AS BIGINT)" for name in named)
        types = {"g": "INTEGER", **{f"s{number}": "BIGINT" for number in range(len(scores))}}
        rows: Rows[GroupedShares] = view.written(types, f"SELECT g, {whole}, {why} FROM ({middle}) AS scaled")
        return ShareRows(rows, ShareTotals(len(public_groups), len(scores)))


@attrs.frozen(eq=False, repr=False)
class SqlColumn(_TableColumn):
    """A column of a table in a database, where a release takes values of shape (n,): labels, groups, or predictions.

    table: an `SqlTable`, the same one for all columns of a release.  name: of its column.  Raises ValueError.
    """

    name: str

    def __attrs_post_init__(self) -> None:
        refuse_no_table(self.table)
        if self.name not in self.table.names:
            raise ValueError(f"the table has no column {self.name!r}; it has {self.table.names}")


@attrs.frozen(eq=False, repr=False)
class PredictedColumn(_TableColumn):
    """What a fitted model says of the records of a table, computed in the database, see `predict_in_database`.

    model: a fitted learner; it counts as public here, so its training must have been paid for.
    answer: what it says: "prediction", "score", or "share" and the name of a class.
    """

    model: Estimator
    answer: str = "prediction"

    def __attrs_post_init__(self) -> None:
        refuse_no_table(self.table)


@attrs.frozen(eq=False)
class _View:
    """What the columns of a release are in SQL. source: what stands after FROM.  told: the column that is asked.

    others: the other ones.  refused: SQL for which column makes a model refuse a record.
    """

    table: SqlTable
    engine: Engine
    source: str
    told: DatabaseColumn
    others: tuple[DatabaseColumn, ...]
    refused: str

    @staticmethod
    def of(told: _TableColumn, *others: StoredColumn) -> "_View":
        """Raises ValueError for columns of another table, NotInSql."""
        table, names = told.table, list[str]()
        for each in others:
            if not isinstance(each, SqlColumn) or each.table is not table:
                raise ValueError(
                    "all columns of a release must be of the same SqlTable, and only the predictions a PredictedColumn"
                )
            names.append(each.name)
        there = {column.name: column for column in table.columns}
        listed = tuple(there[name] for name in names)
        if isinstance(told, PredictedColumn):
            query = prediction_query(told.model, table, list(dict.fromkeys(names)))
            if told.answer not in query.answers:
                raise ValueError(f"answer: the model says {list(query.answers)}, not {told.answer!r}")
            kind = _kind(told.model) if told.answer == "prediction" else "number"
            answer = DatabaseColumn(query.answers[told.answer], "", kind)
            source, engine = f"(\n{query.statement}\n) AS told", table.engine()
            return _View(table, engine, source, answer, listed, engine.quoted(query.columns[-1]))
        assert isinstance(told, SqlColumn)
        return _View(table, table.engine(), table.source, there[told.name], listed, "CAST(NULL AS VARCHAR(9))")

    @property
    def fence(self) -> str:
        return DIALECTS[self.engine.dialect].fence

    def literal(self, value: float) -> str:
        return DIALECTS[self.engine.dialect].number(value)

    def code(self, column: DatabaseColumn, names: Sequence[object], what: str) -> str:
        """The number of a name, NULL for others. Raises NotInSql."""
        quoted, numbers = self.engine.quoted(column.name), range(len(names))
        return class_number(self.engine, column, quoted, names, numbers, what=f"column of {what}")

    def number(self, column: DatabaseColumn, what: str) -> str:
        """A finite double, NULL for others. Raises NotInSql."""
        if column.kind not in ("number", "whole", "any"):
            raise NotInSql(
                f"the column of {what} {column.name!r} is {column.type} in the database; expected numbers, whole or "
                f"floating. {FETCH}. Nothing was charged"
            )
        dialect = DIALECTS[self.engine.dialect]
        quoted = self.engine.quoted(column.name)
        read = dialect.as_number(quoted, False, dialect.type_known(quoted, column.type or None))
        value = f"CAST({read} AS FLOAT8)"
        finite = f"abs({value}) <= {self.literal(float(np.finfo(np.float64).max))}"
        if dialect.nan is not None:
            finite += f" AND NOT {dialect.nan(value)}"
        if column.kind == "any" and dialect.strange is not None:
            finite = f"NOT ({dialect.strange(quoted)}) AND {finite}"
        return f"CASE WHEN {finite} THEN {value} END"

    def differ(self) -> str:
        """1 where the prediction is not the label, else 0; NULL where one is missing. Raises NotInSql."""
        (one, other), kinds = (self.told, self.others[0]), {self.told.kind, self.others[0].kind}
        if kinds == {"text", "any"}:  # of which texts alone are compared
            kinds = {"text"}
        if kinds not in ({"text"}, {"whole"}, {"truth"}) or "character" in (one.type, other.type):
            raise NotInSql(
                f"{other.name!r} is {other.type} in the database, the predictions are {one.type or one.kind}: classes "
                f"are compared there where both are text, whole numbers or truth values. {FETCH}. Nothing was charged"
            )
        first, second = (self.engine.quoted(column.name) for column in (one, other))
        if kinds == {"text"}:
            first, second = self.engine.exact_text(first), self.engine.exact_text(second)
        wrong, right = self.literal(1.0), self.literal(0.0)
        return f"CASE WHEN {first} <> {second} THEN {wrong} WHEN {first} = {second} THEN {right} END"

    def share(self, score: Score) -> str:
        """Of l and p, in units of 1/SHARE_ONE, not yet whole; each step is rounded as in memory."""
        literal = self.literal
        if score.of == "above":
            return f"CASE WHEN p > {literal(score.high)} THEN {literal(float(SHARE_ONE))} ELSE {literal(0.0)} END"
        low, high, width = literal(score.low), literal(score.high), score.high - score.low
        above = {
            "label": f"({_clipped('l', low, high)}) - {low}",
            "prediction": f"({_clipped('p', low, high)}) - {low}",
            "apart": f"abs(({_clipped('p', low, high)}) - ({_clipped('l', low, high)}))",
            "classes": _clipped("l", low, high),
            "absolute": _clipped(self._error(), low, high),
            "squared": _clipped(self._square(self._error()), low, high),
        }[score.of]
        scaled = f"({above}) / {literal(width)} * {literal(float(SHARE_ONE))}"
        return f"CASE WHEN ({above}) < {literal(width * TINY)} THEN {literal(0.0)} ELSE {scaled} END"

    def _error(self) -> str:
        """Of l and p, at most FARTHEST, and never beyond a double, which PostgreSQL refuses."""
        far, large = self.literal(FARTHEST), self.literal(LARGE)
        apart = f"(p > {self.literal(0.0)}) <> (l > {self.literal(0.0)}) AND (abs(p) > {large} OR abs(l) > {large})"
        return f"(CASE WHEN {apart} THEN {far} WHEN abs(p - l) > {far} THEN {far} ELSE abs(p - l) END)"

    def _square(self, error: str) -> str:
        """Squares below a double's least count as 0, as they do in shares; PostgreSQL refuses them."""
        return f"(CASE WHEN {error} < {self.literal(SMALL)} THEN {self.literal(0.0)} ELSE {error} * {error} END)"

    def why(self, columns: Mapping[str, str]) -> str:
        """What is refused: by the model, or for a column that is NULL. columns: what is to blame then."""
        text = DIALECTS[self.engine.dialect].text
        cases = (f"WHEN {name} IS NULL THEN {text(what)}" for name, what in columns.items())
        return f"CASE WHEN r IS NOT NULL THEN r {' '.join(cases)} END"

    def written(self, types: Mapping[str, str], statement: str, values: Sequence[Numbers] = ()) -> GroupedRows:
        """The records that a SELECT gives, with what is refused as its last column. Raises OutsideSchema."""
        engine, table = self.engine, self.table
        engine.long_statements()
        name, source = engine.fresh_name(), (table.source, table.columns)
        size = write_records(engine, name, types, source, statement, values)
        return GroupedRows(engine, name, size)


# --- margins ---------------------------------------------------------------------------------------------------------


@binned_margins.register(SqlTable)
def margins_in_sql(table: SqlTable, fitted: PrivateClassifier[Any], y: object, edges: FloatArray) -> HistogramRows:
    """The bins of `private_margin_histogram`. y: the name of the column of labels, None where the table knows.

    Raises ValueError, NotInSql, OutsideSchema, ChangedTable, DatabaseFailed.
    """
    label, classes = label_column(table.label, y, table.names), fitted.classes_.tolist()
    query, engine = prediction_query(fitted, table, [label]), table.engine()
    names = ["score"] if len(classes) == 2 else [f"score {name}" for name in classes]
    scores = [engine.quoted(query.answers[name]) for name in names]
    column = next(each for each in table.columns if each.name == label)
    view = _View(table, engine, f"(\n{query.statement}\n) AS told", column, (), engine.quoted(query.columns[-1]))
    quoted, numbers = engine.quoted(query.columns[0]), range(len(classes))
    code = class_number(engine, column, quoted, classes, numbers, what="label", named=table.named_labels)
    listed = ", ".join(f"{score} AS s{number}" for number, score in enumerate(scores))
    inner = f"SELECT {code} AS t, {listed}, {view.refused} AS r FROM {view.source}{view.fence}"
    source = f"(SELECT t, r, {_margin(view, len(classes))} AS m FROM ({inner}) AS scored{view.fence}) AS margins"
    placed = engine.cells(source, ["t", "r"], ["m"], [np.nextafter(edges[1:-1], np.inf)])
    why = view.why({"t": f"the label {label!r}"})
    statement = f"SELECT {placed.cells[0]}, {why} FROM ({placed.statement}) AS placed"
    return HistogramRows(view.written({"cell": "INTEGER"}, statement, placed.values), KeptCells(), 1, edges.size - 1)


def _margin(view: _View, classes: int) -> str:
    """Of t and s0, s1, …: the score for the class of the label, less the best other one's."""
    if classes == 2:
        return "CASE WHEN t > 0 THEN s0 ELSE -s0 END"
    larger, cases = DIALECTS[view.engine.dialect].larger, list[str]()
    for number in range(classes):
        others = ", ".join(f"s{other}" for other in range(classes) if other != number)
        cases.append(f"WHEN {number} THEN s{number} - {larger}({others})")
    return f"CASE t {' '.join(cases)} END"


def _kind(model: Estimator) -> Kind:
    """Of the predictions, as exported SQL writes them."""
    classes: Any = getattr(model, "classes_", None)
    kinds: Mapping[type, Kind] = {str: "text", bool: "truth", int: "whole"}
    return "number" if classes is None else kinds.get(type(classes.tolist()[0]), "number")


def _clipped(value: str, low: str, high: str) -> str:
    return f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"


def nearest(value: str) -> str:
    """The nearest whole number, of two the even one, as `numpy.rint`: engines round halves as each likes."""
    whole = f"floor({value})"
    odd = f"{value} - {whole} = 0.5 AND CAST({whole} AS BIGINT) % 2 = 1"
    return f"{whole} + CASE WHEN {value} - {whole} > 0.5 OR ({odd}) THEN 1 ELSE 0 END"
