"""PostgreSQL, through psycopg."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from accountant.arrays import FloatArray
from learners.databases.engines import (
    CHARGED,
    HIDDEN,
    Cells,
    DatabaseColumn,
    DatabaseFailed,
    Engine,
    Kind,
    Part,
    array_of,
    failing,
    fresh_prefix,
)
from learners.databases.public_tables import Numbers, PublicTables

_KINDS: Final[Mapping[str, Kind]] = {
    "smallint": "whole",
    "integer": "whole",
    "bigint": "whole",
    "real": "number",
    "double precision": "number",
    "numeric": "decimal",
    "boolean": "truth",
    "text": "text",
    "character varying": "text",
    "character": "text",
    "date": "moment",
    "timestamp without time zone": "moment",
    "timestamp with time zone": "zoned",
}

_OWN_FUNCTIONS_FIRST: Final = r"""
    SELECT pg_catalog.set_config('search_path', pg_catalog.ltrim(pg_catalog.regexp_replace(
        pg_catalog.current_setting('search_path'), '(^|,)\s*"?pg_catalog"?\s*(?=,|$)', '', 'g'), ', '), false)
"""
"""A path that does not name PostgreSQL's own schema begins with it; in one that names it later, functions of other
schemas stand for PostgreSQL's."""

_SETTINGS: Final = (
    _OWN_FUNCTIONS_FIRST,
    "SET default_transaction_read_only = off",  # it forbids temporary tables, too
    "SET datestyle = ISO",  # how dates are written as text
    "SET quote_all_identifiers = off",  # how types are
)
"""Whatever an account or a database has by itself."""

_AT_ONCE: Final = 2**14
"""Records that come over the line together."""


@contextlib.contextmanager
def _failing(said: str = CHARGED) -> Iterator[None]:
    about_values = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.RaiseException)
    with failing("PostgreSQL", psycopg.Error, said, about_values):
        try:
            yield
        except psycopg.Error as error:
            if error.diag.context:  # a function of the user's raised it, in words of its own
                raise DatabaseFailed(f"PostgreSQL: {HIDDEN}. {said}") from None
            raise


class PostgreSQL(Engine):
    """A connection of its own, which commits each statement by itself."""

    dialect, name = "postgresql", "PostgreSQL"

    def __init__(self, own: "psycopg.Connection[Any]") -> None:
        """own: a connection that goes with this; if it is gone before, so are its temporary tables."""

        def ending() -> None:
            with contextlib.suppress(psycopg.Error):
                own.close()

        super().__init__(fresh_prefix(), ending)
        self._own = own

    @staticmethod
    def of(address: str) -> "PostgreSQL":
        """address: as libpq takes it, with the password.  Raises DatabaseFailed."""
        try:
            own = psycopg.connect(address, autocommit=True)
            try:
                for setting in _SETTINGS:
                    own.execute(setting)
            except BaseException:
                own.close()
                raise
        except psycopg.Error as error:
            said = " ".join(_without_password(str(error), address).split())
            raise DatabaseFailed(f"PostgreSQL: {said}. Nothing was charged") from None
        return PostgreSQL(own)

    @staticmethod
    def beside(given: "psycopg.Connection[Any]") -> "PostgreSQL":
        """Another connection to the same server, for the same account: nothing is done on the one that is given.

        Raises ValueError where that is closed, DatabaseFailed.
        """
        if given.closed:
            raise ValueError("the connection to PostgreSQL is closed; pass an open one, or the URL of the database")
        return PostgreSQL.of(psycopg.conninfo.make_conninfo(given.info.dsn, password=given.info.password or None))

    def _answer(self, statement: str, values: Sequence[Numbers], said: str) -> list[tuple[object, ...]]:
        """See `Engine`."""
        given: Any = self._own  # psycopg types statements as literals
        with _failing(said):
            cursor = psycopg.RawCursor(given)
            for kind, dumper in _DUMPERS.items():
                cursor.adapters.register_dumper(kind, dumper)
            cursor.execute(statement, [_sent(value) for value in values] or None, prepare=False)
            return cursor.fetchall() if cursor.description else []

    def columns(self, source: str) -> list[DatabaseColumn]:
        """See `Engine`."""
        given: Any = self._own
        with _failing("Nothing was charged"):
            # Prepared: then the server takes one statement only.
            cursor = given.execute(f"SELECT * FROM {source} LIMIT 0", prepare=True)
            listed = [(each.name, each.type_code) for each in cursor.description]
        types = {oid: str(name) for oid, name in self.run("SELECT oid::bigint, format_type(oid, NULL) FROM pg_type")}
        return [DatabaseColumn(name, types[kind], _KINDS.get(types[kind], "other")) for name, kind in listed]

    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """See `Engine`: through a cursor of the server's, in binary form, which changes no number."""
        statement: Any = f"SELECT {', '.join(map(self.quoted, names))} FROM {source}"
        with self._own.cursor(self.prefix, binary=True) as cursor:
            cursor.itersize = _AT_ONCE
            with _failing():
                cursor.execute(statement)
            while True:
                records = list[tuple[object, ...]]()
                while len(records) < size:
                    with _failing():
                        some = cursor.fetchmany(min(_AT_ONCE, size - len(records)))
                    if not some:
                        break
                    records += some
                if not records:
                    return
                columns = zip(*records, strict=True)
                yield len(records), {name: array_of(values) for name, values in zip(names, columns, strict=True)}

    def tables(self, name: str = "public_tables") -> PublicTables:
        """See `Engine`: of an array in a relation each look-up would unpack the whole."""
        return PublicTables(self.marker, joined=False, name=name)

    def cells(
        self,
        source: str,
        keys: Sequence[str],
        places: Sequence[str],
        cuts: Sequence[FloatArray],
        tables: PublicTables | None = None,
    ) -> Cells:
        """See `Engine`: `width_bucket` of an array counts just that.

        With its schema: it is polymorphic, and a user's, of doubles, would be taken before it.
        """
        tables = self.tables() if tables is None else tables
        found = [
            f"coalesce(pg_catalog.width_bucket({place}, {tables.whole(each)}), 0) AS cell_{number}"
            for number, (place, each) in enumerate(zip(places, cuts, strict=True))
        ]
        names = tuple(f"cell_{number}" for number in range(len(places)))
        return Cells(f"SELECT {', '.join([*keys, *places, *found])} FROM {source}", names, tables.values)

    def entries(
        self, key: str, arrays: Sequence[Numbers], place: str, tables: PublicTables, alias: str = "entries"
    ) -> tuple[str, list[str]]:
        """See `Engine`."""
        return "", [tables.at(each, place) for each in arrays]

    def exact_text(self, value: str) -> str:
        """See `Engine`."""
        return f'(CAST({value} AS text) COLLATE "C")'

    def code_type(self, cells: int) -> str:
        """See `Engine`: the smallest that there is."""
        return "SMALLINT"

    def begin(self) -> None:
        """See `Engine`."""
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ", said="Nothing was charged")

    def long_statements(self) -> None:
        """See `Engine`: compiling one takes ten times as long as running it."""
        self.run("SET jit = off")

    def hold(self) -> None:
        """See `Engine`: one transaction, repeatable read and read only."""
        # Else a scan of a large table begins where another session's is, and records come in another order.
        self.run("SET synchronize_seqscans = off")
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _without_password(text: str, address: str) -> str:
    """libpq repeats what it cannot read of an address."""
    with contextlib.suppress(psycopg.Error):
        password = psycopg.conninfo.conninfo_to_dict(address).get("password")
        return text.replace(str(password), "***") if password else text
    return "the address cannot be read"


@attrs.frozen
class _Whole:
    """A table of whole numbers on its way."""

    table: Numbers


@attrs.frozen
class _Doubles:
    """A table of doubles on its way."""

    table: Numbers


def _sent(table: Numbers) -> _Whole | _Doubles:
    return _Doubles(table) if table.dtype.kind == "f" else _Whole(table)


class _WholeDumper(Dumper):
    """As an array in PostgreSQL's binary form: psycopg would take every number by itself, in 100 times as long."""

    format, oid = Format.BINARY, 1007
    element, form = 23, ">i4"

    def dump(self, obj: Any) -> bytes:
        """See psycopg."""
        kind = np.dtype([("size", ">i4"), ("value", self.form)])
        found = np.empty(obj.table.size, dtype=kind)
        found["size"], found["value"] = np.dtype(self.form).itemsize, obj.table
        head = (1, 0, self.element, obj.table.size, 1) if obj.table.size else (0, 0, self.element)
        return np.array(head, dtype=">i4").tobytes() + found.tobytes()


class _DoublesDumper(_WholeDumper):
    oid = 1022
    element, form = 701, ">f8"


_DUMPERS: Final = {_Whole: _WholeDumper, _Doubles: _DoublesDumper}
