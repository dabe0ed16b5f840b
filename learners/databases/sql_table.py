"""A table in a database, as what `fit` takes in the place of a DataFrame."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, Literal, TypeAlias

from accountant.costs import count
from learners.blocks import RECORDS_PER_BLOCK, Place, StreamedRows, TableBlock, label_column, plain_labels
from learners.databases.addresses import Database, TableName, opener, source_of, split_address
from learners.databases.engines import DatabaseColumn, Engine, Part
from learners.databases.sql_rows import TableRows
from learners.exports import DialectName
from learners.tables import Table, Values, label_texts
from mechanisms.core import Rows, in_block

Records: TypeAlias = Literal["stay", "fetched"]

RECORDS: Final = ("stay", "fetched")


class SqlTable:
    """A table of DuckDB, PostgreSQL or SQLite, or what a query answers; what `fit` takes in the place of a DataFrame.

    database: its URL, as in duckdb:///people.db, sqlite:///people.db and postgresql://user@host/people, or an open
      connection of duckdb, psycopg or sqlite3. Files of DuckDB and SQLite are opened for reading only. A URL may end
      in # and the table's name.
    table: its name, with points between its parts; a sequence of parts where these hold points themselves.
    query: instead, a SELECT statement, whose answer is the table.
    label: the column of labels; `fit(table, "name")` says it as well.
    records: "stay" leaves them where they are: learners get sums, which the database computes of codes in a temporary
      table. `PrivateBoostClassifier` and `LazyBoostClassifier` can. "fetched" takes them out of the database in
      blocks, as all learners that take tables in blocks can.
    block: records that are fetched together, about.  scratch: the folder where encoded records are kept while a fit
      lasts, see `learners.blocks.files.Scratch`.
    named_labels: whether labels are taken as schema files write their classes: text, stripped, 1 for 1 and for true.
    Beside a connection another one is opened, for the same account: what yours has not committed is not
    seen, nor temporary tables; search_path, SET schema and SET ROLE are not carried over, so name the table's schema.
    All visits of a fit see the table as it was when the fit began, whoever writes meanwhile. The user's tables are read
    and never written.
    Raises ValueError for what is no table, TypeError for no database, ImportError where a driver is not installed, and
    `DatabaseFailed` where the database fails.
    """

    def __init__(
        self,
        database: Database,
        table: TableName | None = None,
        label: str | None = None,
        *,
        query: str | None = None,
        records: Records = "stay",
        block: int = RECORDS_PER_BLOCK,
        scratch: Place | None = None,
        named_labels: bool = False,
    ) -> None:
        if isinstance(database, str):
            database, named = split_address(database)
            if named and table is not None:
                raise ValueError("the table is named twice: in the URL and by table=")
            table = named or table
        if records not in RECORDS:
            raise ValueError(f"records: expected one of {list(RECORDS)}, got {records!r}")
        self._open, self._shown = opener(database)
        self._open_to_write, _ = opener(database, writing=True)
        self.label, self.records, self.block, self.scratch = label, records, count(block), scratch
        self.named_labels = named_labels
        with self.opened() as engine:
            self._dialect = engine.dialect
            self._source = source_of(table, query, engine.dialect)
            self._columns = engine.columns(self._source)
        twice = [name for name, times in Counter(self.names).items() if times > 1]
        if twice:
            raise ValueError(f"{self._shown}: a column name stands twice: {twice}")

    def __repr__(self) -> str:
        return f"<SqlTable: {self._shown}, {len(self._columns)} columns>"

    @property
    def names(self) -> list[str]:
        """Of its columns, the label's among them."""
        return [column.name for column in self._columns]

    @property
    def columns(self) -> list[DatabaseColumn]:
        """Them, with their types."""
        return list(self._columns)

    @property
    def dialect(self) -> DialectName:
        """Of its database."""
        return self._dialect

    @property
    def source(self) -> str:
        """What stands after FROM in a statement."""
        return self._source

    def engine(self) -> Engine:
        """A connection of its own, which is closed at its end, at the latest. Raises DatabaseFailed."""
        return self._open()

    @contextmanager
    def opened(self, *, writing: bool = False) -> Iterator[Engine]:
        """A connection of its own. writing: whether for a new table of predictions. Raises DatabaseFailed."""
        engine = self._open_to_write() if writing else self.engine()
        try:
            yield engine
        finally:
            engine.close()

    @property
    def n(self) -> int:
        """The number of records, as there are now."""
        with self.opened() as engine:
            return engine.count(self._source)

    def block_header(self, y: object) -> dict[str, tuple[()]]:
        """See `BlockTable`. y: the name of the label's column, None where the table knows. Raises ValueError."""
        label = label_column(self.label, y, self.names)
        return {name: () for name in self.names if name != label}

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`; y as for `block_header`. Raises DatabaseFailed, ChangedTable."""
        label, engine = label_column(self.label, y, self.names), self._open()
        if self.records == "stay":
            return TableRows(engine, self._source, self._columns, label, self.named_labels)
        self._hold(engine)
        parts = partial(engine.stream, self._source, self.names, self.block)
        return StreamedRows(
            parts, engine.count(self._source), partial(_labelled, label, self.named_labels), self.scratch
        )

    def each_block(self, work: Callable[[Table], Values]) -> Iterator[Values]:
        """See `learners.blocks.predictions.PartedTable`. Raises DatabaseFailed, ChangedTable."""
        first = 0
        for size, part in self.parts([name for name in self.names if name != self.label]):
            with in_block(first):
                found = work(part)
            yield found
            first += size

    def parts(self, names: list[str]) -> Iterator[tuple[int, Part]]:
        """These columns of all records, about `block` of them at a time, and how many those are."""
        with self.opened() as engine:
            self._hold(engine)
            yield from engine.stream(self._source, names, self.block)

    def _hold(self, engine: Engine) -> None:
        engine.hold()
        engine.refuse_changed(self._source, self._columns)


def _labelled(label: str, named: bool, part: Part) -> TableBlock:
    columns = dict(part)
    labels = columns.pop(label)
    return TableBlock(columns, label_texts(labels) if named else plain_labels(labels))
