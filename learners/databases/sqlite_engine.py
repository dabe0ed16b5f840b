"""SQLite, through Python's own sqlite3: files that are opened for reading only.

It has no arrays: what a statement looks up in is written to temporary tables before, one for each marker.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from accountant.arrays import FloatArray
from learners.databases.engines import (
    CHARGED,
    HIDDEN,
    Cells,
    DatabaseColumn,
    DatabaseFailed,
    Engine,
    Part,
    array_of,
    failing,
    fresh_prefix,
)
from learners.databases.public_tables import Numbers, PublicTables
from learners.exports import DIALECTS

LEAST: Final = (3, 35, 0)
"""The first SQLite with functions such as sqrt, and that drops columns."""

FENCE: Final = DIALECTS["sqlite"].fence

ANY: Final = "of any type"
"""The type of all columns: in SQLite each value has its own, whatever was declared."""

_UNDECODED: Final = "Could not decode"
"""How sqlite3 begins what quotes a value."""


@contextlib.contextmanager
def _failing(said: str = CHARGED) -> Iterator[None]:
    with failing("SQLite", sqlite3.Warning, said), failing("SQLite", sqlite3.Error, said):
        try:
            yield
        except sqlite3.OperationalError as error:
            if not str(error).startswith(_UNDECODED):
                raise
            raise DatabaseFailed(f"SQLite: {HIDDEN}. {said}") from None


@attrs.define(eq=False)
class JoinedTables(PublicTables):
    """Public tables of an engine without arrays: a marker names a temporary table, whose key is the place."""

    def looked_up(self, table: Numbers) -> Callable[[str], str]:
        """See `PublicTables`."""
        self.values.append(table)
        name = self.marker(len(self.values))
        return lambda place: f"(SELECT public_value FROM {name} WHERE public_place = {place})"


class SQLite(Engine):
    """A connection of its own to a file."""

    dialect, name = "sqlite", "SQLite"

    def __init__(self, own: sqlite3.Connection) -> None:
        """own: goes with this, and its temporary tables with it."""
        super().__init__(fresh_prefix(), own.close)
        self._own, self._standing = own, set[str]()

    @staticmethod
    def of(path: str, *, timeout: float = 5.0, writing: bool = False) -> "SQLite":
        """A file, opened for reading only, or for writing. timeout: seconds to wait for another's lock.

        Raises DatabaseFailed, ImportError where this Python's SQLite is too old.
        """
        said = "Nothing was charged"
        _refuse_old()
        address = f"{Path(path).absolute().as_uri()}?mode={'rw' if writing else 'ro'}"
        with _failing(said):
            own = sqlite3.connect(address, timeout, uri=True, isolation_level=None, check_same_thread=False)
        found = SQLite(own)
        found.run("SELECT count(*) FROM sqlite_master", said=said)
        return found

    @staticmethod
    def file_of(given: sqlite3.Connection) -> str:
        """Where the database of a connection is. Raises ValueError for one that is in memory, or closed."""
        try:
            files = [path for _, name, path in given.execute("PRAGMA database_list") if name == "main"]
        except sqlite3.ProgrammingError:
            raise ValueError("the connection to SQLite is closed; pass an open one, or the URL of the file") from None
        if not files or not files[0]:
            raise ValueError(
                "this database of SQLite is in memory, where another connection does not see it: "
                "connection.backup(sqlite3.connect('people.db')) writes it to a file, whose URL is sqlite:///people.db"
            )
        return str(files[0])

    def _answer(self, statement: str, values: Sequence[Numbers], said: str) -> list[tuple[object, ...]]:
        """See `Engine`."""
        with _failing(said):
            for number, value in enumerate(values, 1):
                self._write(self.marker(number), value)
            return self._own.execute(statement).fetchall()

    def _write(self, name: str, *columns: Numbers) -> None:
        """A temporary table by place, from 0, in the place of one of this name."""
        values = ["public_value"] if len(columns) == 1 else [f"t{number}" for number in range(len(columns))]
        self._own.execute("SAVEPOINT writing")
        self._own.execute(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {name} (public_place INTEGER PRIMARY KEY, {', '.join(values)})"
        )
        self._own.execute(f"DELETE FROM {name}")
        records = zip(range(columns[0].size), *(column.tolist() for column in columns), strict=True)
        self._own.executemany(f"INSERT INTO {name} VALUES (?{', ?' * len(columns)})", records)
        self._own.execute("RELEASE writing")

    def columns(self, source: str) -> list[DatabaseColumn]:
        """See `Engine`."""
        with failing("SQLite", sqlite3.Error, "Nothing was charged"):
            try:
                found: Any = self._own.execute(f"SELECT * FROM {source} LIMIT 0").description
            except (sqlite3.Warning, sqlite3.ProgrammingError):
                raise ValueError("query: expected one SELECT statement, whose brackets match") from None
        return [DatabaseColumn(str(name), ANY, "any") for name, *_ in found]

    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """See `Engine`."""
        with _failing():
            cursor = self._own.execute(f"SELECT {', '.join(map(self.quoted, names))} FROM {source}")
        while True:
            with _failing():
                records = cursor.fetchmany(size)
            if not records:
                return
            columns = zip(*records, strict=True)
            yield len(records), {name: array_of(values) for name, values in zip(names, columns, strict=True)}

    def marker(self, number: int) -> str:
        """See `Engine`: the name of a temporary table."""
        return f"{self.prefix}_value_{number}"

    def tables(self, name: str = "public_tables") -> PublicTables:
        """See `Engine`."""
        return JoinedTables(self.marker, joined=False, name=name)

    def cells(
        self,
        source: str,
        keys: Sequence[str],
        places: Sequence[str],
        cuts: Sequence[FloatArray],
        tables: PublicTables | None = None,
    ) -> Cells:
        """See `Engine`: a search in a temporary table that is ordered by cut."""
        names = [f"cell_{number}" for number in range(len(places))]
        found = [
            f"coalesce((SELECT public_cell FROM {self._cuts(each)} WHERE public_cut <= {place} "
            f"ORDER BY public_cut DESC LIMIT 1), 0) AS {name}"
            for name, place, each in zip(names, places, cuts, strict=True)
        ]
        # Fenced on both sides: else SQLite computes a column anew wherever it stands.
        fenced = f"(SELECT {', '.join([*keys, *places])} FROM {source}{FENCE}) AS fenced"
        statement = f"SELECT {', '.join([*keys, *places, *found])} FROM {fenced}{FENCE}"
        return Cells(statement, tuple(names), () if tables is None else tables.values)

    def _cuts(self, cuts: FloatArray) -> str:
        name = self.fresh_name()
        self.run(
            f"CREATE TEMPORARY TABLE {name} (public_cut REAL PRIMARY KEY, public_cell INTEGER NOT NULL) WITHOUT ROWID"
        )
        records = zip(cuts.tolist(), range(1, cuts.size + 1), strict=True)
        with _failing():
            self._own.executemany(f"INSERT INTO {name} VALUES (?, ?)", records)
        return name

    def entries(
        self, key: str, arrays: Sequence[Numbers], place: str, tables: PublicTables, alias: str = "entries"
    ) -> tuple[str, list[str]]:
        """See `Engine`: a join with a temporary table by its key. CROSS: SQLite keeps that order of loops."""
        name = f"{self.prefix}_{key}"
        if name not in self._standing:
            with _failing():
                self._write(name, *arrays)
            self._standing.add(name)
        columns = ["public_value"] if len(arrays) == 1 else [f"t{number}" for number in range(len(arrays))]
        joined = f" CROSS JOIN {name} AS {alias} ON {alias}.public_place = {place}"
        return joined, [f"{alias}.{column}" for column in columns]

    def exact_text(self, value: str) -> str:
        """See `Engine`; of what is text."""
        return f"(CASE WHEN typeof({value}) = 'text' THEN {value} END COLLATE BINARY)"

    def code_type(self, cells: int) -> str:
        """See `Engine`: each value takes as many bytes as it needs."""
        return "INTEGER"

    def hold(self) -> None:
        """See `Engine`: one transaction, which begins with what it reads first."""
        self.run("BEGIN")
        self.run("SELECT count(*) FROM sqlite_master")


def _refuse_old() -> None:
    """Raise ImportError where this Python's SQLite is too old, or lacks functions."""
    if sqlite3.sqlite_version_info < LEAST:
        least = ".".join(map(str, LEAST))
        raise ImportError(
            f"tables in SQLite need SQLite {least} or newer, and this Python has {sqlite3.sqlite_version}; "
            "another build of Python brings a newer one"
        )
    probe = sqlite3.connect(":memory:")
    try:
        probe.execute("SELECT sqrt(4.0), floor(0.5), trunc(0.5)")
    except sqlite3.OperationalError:
        raise ImportError(
            f"tables in SQLite need its mathematical functions, which this Python's SQLite {sqlite3.sqlite_version} "
            "was built without; another build of Python has them"
        ) from None
    finally:
        probe.close()
