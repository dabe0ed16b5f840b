"""DuckDB: files that are opened for reading only, or a database that is open already."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import duckdb

from learners.databases.engines import DatabaseColumn, Engine, Kind, Part, failing
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
}


class DuckDB(Engine):
    """A connection of its own beside the one that it is given, to the same database: temporary tables and registered
    DataFrames of that one are not seen."""

    dialect = "duckdb"

    def __init__(self, given: duckdb.DuckDBPyConnection, *, close: bool) -> None:
        """close: whether the given one goes with it."""
        with failing("DuckDB", duckdb.Error):
            own = given.cursor()

        def ending() -> None:
            own.close()  # its temporary tables go with it
            if close:
                given.close()

        super().__init__(ending)
        self._own = own

    @staticmethod
    def of(path: str, options: Mapping[str, str]) -> "DuckDB":
        """A file, opened for reading only. options: settings of DuckDB's, such as threads.  Raises DatabaseFailed."""
        said = "Nothing was charged. If this process has the file open already, pass that connection in its place"
        with failing("DuckDB", duckdb.Error, said):
            given = duckdb.connect(path, read_only=path != ":memory:", config=dict(options))
        return DuckDB(given, close=True)

    def run(self, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """See `Engine`."""
        with failing("DuckDB", duckdb.Error):
            found = self._own.execute(statement, list(values)) if values else self._own.execute(statement)
            return found.fetchall() if found.description else []

    def columns(self, source: str) -> list[DatabaseColumn]:
        """See `Engine`."""
        found = self.run(f"DESCRIBE SELECT * FROM {source}")
        return [DatabaseColumn(str(name), str(kind), _kind(str(kind))) for name, kind, *_ in found]

    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """See `Engine`. Needs pyarrow."""
        columns = ", ".join(map(self.quoted, names))
        with failing("DuckDB", duckdb.Error):
            relation: Any = self._own.sql(f"SELECT {columns} FROM {source}")
            reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            batches = iter(reader(size))
        while True:
            with failing("DuckDB", (duckdb.Error, OSError)):  # as Arrow words what a stream raises
                batch = next(batches, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch.num_rows, {name: _column(each) for name, each in zip(names, batch.columns, strict=True)}

    def hold(self) -> None:
        """See `Engine`: one transaction."""
        self.run("BEGIN TRANSACTION READ ONLY")


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL"):
        return "decimal"
    return "text" if name.startswith("ENUM(") else _KINDS.get(name, "other")


def _column(array: Any) -> Any:
    return of_arrow(array.dictionary_encode() if str(array.type) in ("string", "large_string") else array)
