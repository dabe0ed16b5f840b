"""Records that stay in a database: what learners do with their blocks is said in SQL, or refused.

What is done is told apart by its type: each operation that SQL has a form for is registered in `compiled_operations`.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import singledispatch
from typing import Any, NoReturn, TypeVar

import attrs
import numpy as np

from accountant.arrays import ExactArray
from learners.additive import BlockReader
from learners.blocks import TableBlock
from learners.databases.coded_table import FETCH, CodedTable, Encoder, NotInSql, merged_table
from learners.databases.engines import DatabaseColumn, Engine
from learners.databases.public_tables import Numbers
from learners.encoding import CodeReader, EncodedSample, Merged
from learners.regression import RegressionReader
from mechanisms.core import Block, Rows, SealedRepr, Sums

T = TypeVar("T")
U = TypeVar("U")


def refuse(operation: object) -> NoReturn:
    """Of what has no form in SQL. Raises NotInSql."""
    reason = getattr(operation, "not_in_sql", "") or f"{type(operation).__name__} has no form in SQL"
    raise NotInSql(f"this learner does not train inside a database: {reason}. {FETCH}. Nothing was charged")


@attrs.frozen(eq=False, repr=False)
class TableRows(Rows[TableBlock]):
    """The records of a table as they are. source: what stands after FROM.  columns: its.  label: that of labels.

    named: see `Encoder`.
    """

    engine: Engine
    source: str
    columns: Sequence[DatabaseColumn]
    label: str
    named: bool = False

    @property
    def n(self) -> int:
        """See `Rows`; as there are now."""
        return self.engine.count(self.source)

    def map(self, transform: Callable[[TableBlock], U]) -> Rows[U]:
        """See `Rows`: of the readers that SQL has a form for; at once. Raises NotInSql, OutsideSchema."""
        if not isinstance(transform, BlockReader | CodeReader | RegressionReader):
            refuse(transform)
        if isinstance(transform, CodeReader) and transform.not_in_sql:
            refuse(transform)
        table = Encoder(self.engine, self.source, self.columns, self.label, transform, self.named).coded()
        rows: Any = SqlRows(table)
        found: Rows[U] = rows
        return found

    def kept(self) -> Rows[TableBlock]:
        """See `Rows`: they are."""
        return self

    def total(self, work: Callable[[Block[TableBlock]], Sums]) -> Sums:
        """See `Rows`; refused."""
        refuse(work)


@attrs.define(eq=False, repr=False)
class Scores(SealedRepr):
    """A temporary table with the scores of records after some moves. name: of it, "" for none: all are 0."""

    name: str = ""
    moves: tuple[Hashable, ...] = ()


@attrs.frozen(eq=False, repr=False)
class SqlRows(Rows[EncodedSample]):
    """Records as codes, in a temporary table. scores: what is known of theirs."""

    table: CodedTable
    scores: Scores = attrs.field(factory=Scores)

    @property
    def n(self) -> int:
        """See `Rows`."""
        return self.table.size

    def map(self, transform: Callable[[EncodedSample], U]) -> Rows[U]:
        """See `Rows`: of `Merged`; at once."""
        if not isinstance(transform, Merged):
            refuse(transform)
        rows: Any = SqlRows(merged_table(self.table, transform))
        found: Rows[U] = rows
        return found

    def kept(self) -> "SqlRows":
        """See `Rows`: they are."""
        return self

    def total(self, work: Callable[[Block[EncodedSample]], Sums]) -> Sums:
        """See `Rows`. Raises NotInSql, DatabaseFailed."""
        found: Any = total_in_sql(work, self)
        sums: Sums = found
        return sums

    def sums(self, statement: str, values: Sequence[Numbers], shape: tuple[int, ...]) -> ExactArray:
        """Rows of a cell and its sums, whole numbers, as an array: shape (cells, …), 0 where a cell has no row."""
        return sums_by_cell(self.table.engine, statement, values, shape)


def sums_by_cell(engine: Engine, statement: str, values: Sequence[Numbers], shape: tuple[int, ...]) -> ExactArray:
    """See `SqlRows.sums`."""
    found = np.zeros((shape[0], int(np.prod(shape[1:]))), dtype=np.int64)
    for cell, *numbers in engine.run(statement, values):
        found[int(str(cell))] = [int(str(number)) for number in numbers]
    return found.reshape(shape)


@singledispatch
def total_in_sql(work: object, rows: SqlRows) -> ExactArray:
    """What `SqlRows.total` gives for this operation. Raises NotInSql for one that is not registered."""
    refuse(work)
