"""Predictions where a table is: a model's exported SQL runs in the database, and its answer alone comes out, or stays.

Free of charge, as all post-processing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np

from learners.base import PrivateEstimator
from learners.databases.addresses import TableName, source_of
from learners.databases.coded_table import NotInSql, in_utc
from learners.databases.engines import CHARGED, DatabaseFailed, Kind, types_of
from learners.databases.sql_table import SqlTable
from learners.exports import NotPortable, PredictionQuery, Reads, as_predictions, portable
from learners.tables import DictionaryColumn, OutsideSchema, Values

Estimator: TypeAlias = PrivateEstimator[Any, Any]
"""Any fitted learner of ours."""

Refused: TypeAlias = Literal["raise", "keep"]

FETCH: Final = (
    "predict_in_blocks(model, SqlTable(..., records='fetched')) takes the records out of the database, and answers "
    "for every model"
)

_READ: Final[Mapping[Reads, tuple[Kind, ...]]] = {
    "numbers": ("number", "decimal", "whole", "text", "any"),
    "truths": ("truth", "whole", "number", "text", "any"),
    "names": ("text", "whole", "truth", "any"),
    "moments": ("moment", "zoned", "text", "whole", "any"),
}
"""Kinds of columns that exported SQL reads as `predict` does."""


def predict_in_database(
    model: Estimator, table: SqlTable, keep: Sequence[str], *, refused: Refused = "raise"
) -> Iterator[dict[str, Values]]:
    """What a fitted model says of each record of a table, computed in the database; records stay there.

    model: a fitted or loaded learner that `learners.exports` writes as SQL.
    keep: columns of the table that come with the answers, such as its key; () for none: a database promises no order.
      A time stamp with a zone that the model reads comes in UTC.
    refused: of a record that `predict` refuses: "raise" raises OutsideSchema with the block that has it; "keep" gives
      no answer, and a column `refused` that names the column to blame, None for the others.
    Gives blocks of about `table.block` records, each by column: those kept; `prediction`; `score`, or `score` and a
    name for each of three classes or more; `share` and a name for each class, if the model has shares. Arrays of shape
    (n,); a name that is taken gets a _. Predictions and scores are those of `predict` and `decision_function` bit by
    bit, shares those of `predict_proba` but for what an engine's own exponential rounds otherwise: 4·2^−52.
    Raises before anything is read: NotInSql, ValueError for a column that is not there, NotFittedError. Later:
    OutsideSchema, ChangedTable, DatabaseFailed.

    >>> import duckdb, numpy as np
    >>> from learners import PrivateBoostClassifier, SqlTable, predict_in_database
    >>> X = np.random.default_rng(0).integers(0, 2, size=(2000, 2))
    >>> model = PrivateBoostClassifier(1.0, 1e-6, random_state=0).fit(X, X[:, 1])
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE people AS SELECT i AS id, i % 2 AS x0, i > 2 AS x1 FROM range(4) AS r(i)")
    >>> blocks = predict_in_database(model, SqlTable(database, "people"), keep=["id"])
    >>> [(block["id"].tolist(), block["prediction"].tolist()) for block in blocks]
    [([0, 1, 2, 3], [0, 0, 0, 1])]
    """
    return _blocks(_Asked.of(model, table, keep, refused))


def write_predictions(
    model: Estimator, table: SqlTable, into: TableName, keep: Sequence[str], *, refused: Refused = "raise"
) -> int:
    """Write the same to a new table of the same database, in one transaction; how many records it has.

    into: the new table's name, with points between its parts, or the parts. One that exists is refused. Its columns
      are those of `predict_in_database`.  keep: columns of the table that come first.  The others: as there; with
      "raise" nothing is written where a record is refused.
    Files of DuckDB and SQLite are opened for writing while this lasts. Nothing else in the database is changed.
    Raises NotInSql, ValueError, OutsideSchema, ChangedTable and DatabaseFailed: nothing was written then.
    """
    asked = _Asked.of(model, table, keep, refused)
    if not into:
        raise ValueError("into: expected the name of a new table")
    said = "Nothing was written: predictions go to a new table, of a free name, which this account may make"
    with table.opened(writing=True) as engine:
        name = source_of(into, None, engine.dialect)
        engine.long_statements()
        engine.begin()
        engine.refuse_changed(table.source, table.columns)
        engine.refuse_shadowed()
        engine.run(f"CREATE TABLE {name} AS {asked.statement}", said=said)
        mark = engine.quoted(asked.mark)
        found = engine.run(f"SELECT {mark}, count(*) FROM {name} GROUP BY {mark}", said=said)
        if refused == "raise":
            asked.refuse({str(what): int(str(number)) for what, number in found if what is not None})
            engine.run(f"ALTER TABLE {name} DROP COLUMN {mark}", said=said)
        engine.run("COMMIT", said=said)
    return sum(int(str(number)) for _, number in found)


@attrs.frozen
class _Asked:
    """A statement, and what becomes of its columns. names: of them, those that are kept first, and the mark of refused
    records last."""

    table: SqlTable
    statement: str
    names: tuple[str, ...]
    kept: int
    classes: Values | None
    refused: Refused

    @staticmethod
    def of(model: Estimator, table: SqlTable, keep: Sequence[str], refused: Refused) -> "_Asked":
        """Raises NotInSql, ValueError, NotFittedError."""
        if refused not in ("raise", "keep"):
            raise ValueError(f"refused: expected 'raise' or 'keep', got {refused!r}")
        refuse_no_table(table)
        kept = _kept(keep, table)
        query = prediction_query(model, table, kept)
        classes: Values | None = getattr(model, "classes_", None)
        return _Asked(table, query.statement, query.columns, len(kept), classes, refused)

    @property
    def mark(self) -> str:
        """The column that says why a record is refused."""
        return self.names[-1]

    def refuse(self, blamed: Mapping[str, int]) -> None:
        """blamed: how many records by the column that is to blame. Raises OutsideSchema where there are some."""
        if blamed:
            listed = "; ".join(f"{what}: {number} of the records" for what, number in sorted(blamed.items()))
            raise OutsideSchema(
                f"outside the schema: {listed}. With refused='keep', or --keep-refused, these get no prediction; or "
                "leave them out with SqlTable(query=...)"
            )

    def block(self, part: Mapping[str, Values | DictionaryColumn]) -> dict[str, Values]:
        """Columns as `predict` and its kin have them."""
        found = {name: _plain(part[name]) for name in self.names}
        why = found[self.mark]
        gone = np.array([reason is not None for reason in why.tolist()], dtype=np.bool_)
        if self.refused == "raise":
            names, counts = np.unique(why[gone].astype(np.str_), return_counts=True)
            self.refuse(dict(zip(names.tolist(), counts.tolist(), strict=True)))
            del found[self.mark]
        prediction, *numbers = self.names[self.kept : -1]
        if self.classes is None:
            numbers.append(prediction)
        elif self.refused == "raise":  # with "keep" objects, whether or not this block has a refused record
            found[prediction] = found[prediction].astype(self.classes.dtype)
        else:
            found[prediction] = found[prediction].astype(object)
        for name in numbers:
            found[name] = found[name].astype(np.float64)
        return found


def refuse_no_table(table: object) -> None:
    """Raise TypeError."""
    if not isinstance(table, SqlTable):
        raise TypeError(
            f"table: expected an SqlTable, such as SqlTable('duckdb:///people.db', 'people'), got a "
            f"{type(table).__name__}"
        )


def prediction_query(model: Estimator, table: SqlTable, keep: Sequence[str]) -> PredictionQuery:
    """A model's SELECT over a table. Raises NotInSql, ValueError, NotFittedError."""
    types = types_of(table.columns)
    try:
        form = portable(model)
        query = as_predictions(form, table.dialect, table.source, keep, types)
        _refuse_columns(query.reads, table)
        zoned = [
            each.name for each in table.columns if each.kind == "zoned" and query.reads.get(each.name) == "moments"
        ]
        if not zoned:
            return query
        source = in_utc(table.dialect, table.source, [*query.reads, *keep], zoned)
        known = {name: type for name, type in types.items() if name not in zoned}
        return as_predictions(form, table.dialect, source, keep, known)
    except NotPortable as error:
        raise NotInSql(f"{error}. {FETCH}") from None


def _blocks(asked: _Asked) -> Iterator[dict[str, Values]]:
    table = asked.table
    with _free(), table.opened() as engine:
        engine.long_statements()
        engine.hold()
        engine.refuse_changed(table.source, table.columns)
        engine.refuse_shadowed()
        for _, part in engine.stream(f"(\n{asked.statement}\n) AS predicted", asked.names, table.block):
            yield asked.block(part)


@contextmanager
def _free() -> Iterator[None]:
    """Engines speak of fits; here nothing is charged."""
    try:
        yield
    except DatabaseFailed as error:
        raise DatabaseFailed(str(error).replace(CHARGED, "Nothing was charged")) from error.__cause__


def _plain(values: "Values | DictionaryColumn") -> Values:
    return values.boxed() if isinstance(values, DictionaryColumn) else values


def _kept(keep: Sequence[str], table: SqlTable) -> tuple[str, ...]:
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    if strange := [name for name in kept if name not in table.names]:
        raise ValueError(f"keep: the table has no columns {strange}; it has {table.names}")
    if len(set(kept)) < len(kept):
        raise ValueError(f"keep: a column stands twice: {list(kept)}")
    return kept


def _refuse_columns(reads: Mapping[str, Reads], table: SqlTable) -> None:
    """Raise where the table lacks columns of the model, or has one whose type SQL does not read as Python does."""
    there = {column.name: column for column in table.columns}
    if absent := [name for name in reads if name not in there]:
        raise ValueError(f"the data lacks the columns {absent} of the model; it has {table.names}")
    strange = [there[name] for name, how in reads.items() if there[name].kind not in _READ[how]]
    if strange:
        listed = ", ".join(f"{column.name!r} is {column.type}" for column in strange)
        raise NotInSql(f"not read inside a database as the model reads it: {listed}. Cast it in a query, or: {FETCH}")
