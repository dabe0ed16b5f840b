"""DuckDB: files that are opened for reading only, or a database that is open already."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow

from accountant.arrays import FloatArray
from learners.databases.engines import (
    CHARGED,
    Cells,
    DatabaseColumn,
    DatabaseFailed,
    Engine,
    Kind,
    Part,
    failing,
    fresh_prefix,
)
from learners.databases.public_tables import Numbers, PublicTables
from learners.tables import of_arrow

_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(_WHOLE, "whole"),
    "FLOAT": "number",
    "DOUBLE": "number",
    "HUGEINT": "decimal",
    "UHUGEINT": "decimal",
    "BOOLEAN": "truth",
    "VARCHAR": "text",
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "moment"),
    "TIMESTAMP WITH TIME ZONE": "zoned",
}


_SHADOWED: Final = """
    SELECT DISTINCT function_name FROM system.main.duckdb_functions() AS mine WHERE NOT internal AND function_name IN
    (SELECT function_name FROM system.main.duckdb_functions() AS own WHERE internal) ORDER BY function_name
"""

_SQLITE: Final = b"SQLite format 3\0"
"""How files of SQLite begin."""

_ABOUT_VALUES: Final = (duckdb.DataError, duckdb.InvalidInputException, duckdb.NotImplementedException)
"""What DuckDB raises about a value, which it then quotes."""


def _failing(said: str = CHARGED) -> contextlib.AbstractContextManager[None]:
    return failing("DuckDB", duckdb.Error, said, _ABOUT_VALUES)


class DuckDB(Engine):
    """A connection of its own beside the one that it is given, to the same database: temporary tables and registered
    DataFrames of that one are not seen."""

    dialect, name = "duckdb", "DuckDB"

    def __init__(self, given: duckdb.DuckDBPyConnection, *, close: bool) -> None:
        """close: whether the given one goes with it."""
        with _failing():
            own = given.cursor()
            # Of this connection alone; else it writes on standard output.
            own.execute("SET enable_progress_bar = false")

        def ending() -> None:
            own.close()  # its temporary tables go with it
            if close:
                given.close()

        super().__init__(fresh_prefix(), ending)
        self._own, self._standing = own, set[str]()

    @staticmethod
    def of(path: str, options: Mapping[str, str], *, writing: bool = False) -> "DuckDB":
        """A file, opened for reading only, or for writing. options: settings of DuckDB's, such as threads.

        Raises DatabaseFailed.
        """
        _refuse_sqlite(path)
        read_only = path != ":memory:" and not writing
        # Without this DuckDB would fetch code from the network for a file that is not its own.
        config: dict[str, Any] = {"autoinstall_known_extensions": "false", **options}
        said = "Nothing was charged"
        try:
            given = duckdb.connect(path, read_only=read_only, config=config)
        except duckdb.ConnectionException as error:
            words = f"{said}. If this process has the file open already, pass that connection in its place"
            raise DatabaseFailed(f"DuckDB: {' '.join(str(error).split())}. {words}") from error
        except duckdb.Error as error:  # before a value is read
            raise DatabaseFailed(f"DuckDB: {' '.join(str(error).split())}. {said}") from error
        return DuckDB(given, close=True)

    def _answer(self, statement: str, values: Sequence[Numbers], said: str) -> list[tuple[object, ...]]:
        """See `Engine`."""
        with _failing(said):
            found = (
                self._own.execute(statement, [each.tolist() for each in values])
                if values
                else self._own.execute(statement)
            )
            return found.fetchall() if found.description else []

    def columns(self, source: str) -> list[DatabaseColumn]:
        """See `Engine`."""
        statement = f"DESCRIBE SELECT * FROM {source}"
        with _failing("Nothing was charged"):
            several = len(duckdb.extract_statements(statement)) != 1
        if several:
            raise ValueError("query: expected one SELECT statement, whose brackets match")
        found = self.run(statement, said="Nothing was charged")
        return [DatabaseColumn(str(name), str(kind), _kind(str(kind))) for name, kind, *_ in found]

    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """See `Engine`. Needs pyarrow."""
        columns = ", ".join(map(self.quoted, names))
        with _failing():
            relation: Any = self._own.sql(f"SELECT {columns} FROM {source}")
            reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            batches = iter(reader(size))
        while some := _together(batches, size):
            found = pyarrow.Table.from_batches(some)
            yield found.num_rows, {name: _column(each) for name, each in zip(names, found.columns, strict=True)}

    def tables(self, name: str = "public_tables") -> PublicTables:
        """See `Engine`: an array that stands in an expression is made again for every 2,048 records."""
        return PublicTables(self.marker, joined=True, name=name)

    def cells(
        self,
        source: str,
        keys: Sequence[str],
        places: Sequence[str],
        cuts: Sequence[FloatArray],
        tables: PublicTables | None = None,
    ) -> Cells:
        """See `Engine`: a binary search, all columns at once, a SELECT for each step; a CASE takes 40 times as long."""
        names = [f"cell_{number}" for number in range(len(places))]
        tables = self.tables() if tables is None else tables.further("cuts")
        first = [1 << (each.size.bit_length() - 1) if each.size else 0 for each in cuts]
        whole = [
            tables.whole(np.append(each, np.full(2 * step - each.size, np.inf)))
            for each, step in zip(cuts, first, strict=True)
        ]
        kept = [*keys, *places, *(f"cuts_{number}" for number in range(len(places)))]
        start = [*keys, *places, *(f"{each} AS cuts_{number}" for number, each in enumerate(whole))]
        found = f"SELECT {', '.join([*start, *(f'0 AS {name}' for name in names)])} FROM {tables.beside(source)}"
        step = max(first, default=0)
        while step:
            moved = [
                f"{name} + CASE WHEN cuts_{number}[{name} + {step}] <= {place} THEN {step} ELSE 0 END AS {name}"
                if step <= largest
                else name
                for number, (name, place, largest) in enumerate(zip(names, places, first, strict=True))
            ]
            found = f"SELECT {', '.join([*kept, *moved])} FROM ({found}) AS stepped"
            step //= 2
        return Cells(found, tuple(names), tables.values)

    def entries(
        self, key: str, arrays: Sequence[Numbers], place: str, tables: PublicTables, alias: str = "entries"
    ) -> tuple[str, list[str]]:
        """See `Engine`: a join with a temporary table, which takes half as long as looking up in arrays."""
        name = f"{self.prefix}_{key}"
        if name not in self._standing:
            columns = ", ".join(
                f"unnest({self.marker(at)}::INTEGER[]) AS t{at - 1}" for at in range(1, len(arrays) + 1)
            )
            places = f"unnest(range({arrays[0].size}))::INTEGER AS place"
            self.run(f"CREATE TEMPORARY TABLE {name} AS SELECT {places}, {columns}", arrays)
            self._standing.add(name)
        joined = f" JOIN {name} AS {alias} ON {place} = {alias}.place"
        return joined, [f"{alias}.t{number}" for number in range(len(arrays))]

    def write_scores(self, source: str, columns: Mapping[str, str], scores: Sequence[str], tables: PublicTables) -> str:
        """See `Engine`: in place, as new columns of the table, which is this connection's alone."""
        for head in range(len(scores)):
            self.run(f"ALTER TABLE {source} ADD COLUMN IF NOT EXISTS s{head} INTEGER DEFAULT 0")
        moved = ", ".join(f"s{head} = {score}" for head, score in enumerate(scores))
        beside = f" FROM {tables.relation}" if tables.relation else ""
        self.run(f"UPDATE {source} SET {moved}{beside}", tables.values)
        return source

    def exact_text(self, value: str) -> str:
        """See `Engine`."""
        return f'(CAST({value} AS VARCHAR) COLLATE "binary")'

    def code_type(self, cells: int) -> str:
        """See `Engine`."""
        return "UTINYINT" if cells <= 2**8 else "USMALLINT"

    def refuse_shadowed(self) -> None:
        """See `Engine`: macros may be named as functions and operators, such as `floor` or "+"."""
        found = [str(name) for (name,) in self.run(_SHADOWED, said="Nothing was charged")]
        if found:
            self.close()
            raise DatabaseFailed(
                f"DuckDB: macros of this database are named as functions of its own, which they would stand for: "
                f"{found}. Rename them, or fetch the records. Nothing was charged"
            )

    def hold(self) -> None:
        """See `Engine`: one transaction."""
        self.run("BEGIN TRANSACTION READ ONLY")


def _refuse_sqlite(path: str) -> None:
    """DuckDB would look for an extension that reads it."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            raise ValueError(f"{path} is a file of SQLite: its URL is sqlite:///{path}")


def _together(batches: Iterator[Any], size: int) -> list[Any]:
    """The next ones, of about `size` records: DuckDB gives 122,880 at a time or fewer, and each block takes a while."""
    found = list[Any]()
    while sum(batch.num_rows for batch in found) < size:
        with _failing(), failing("DuckDB", OSError, CHARGED, (OSError,)):  # Arrow words what a stream raises
            batch = next(batches, None)
        if batch is None:
            break
        if batch.num_rows:
            found.append(batch)
    return found


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL"):
        return "decimal"
    return "text" if name.startswith("ENUM(") else _KINDS.get(name, "other")


def _column(array: Any) -> Any:
    return of_arrow(array.dictionary_encode() if str(array.type) in ("string", "large_string") else array)
