"""What is asked of a database, whichever it is: statements, what they answer, and a stream of records."""

import abc
import contextlib
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.explained import Explained
from learners.databases.public_tables import Numbers, PublicTables
from learners.exports import DIALECTS, DialectName
from learners.tables import DictionaryColumn, Values
from mechanisms.core import SealedRepr

Part: TypeAlias = Mapping[str, Values | DictionaryColumn]
"""Columns of some records, shape (n,) each."""

Kind: TypeAlias = Literal["number", "decimal", "whole", "truth", "text", "moment", "zoned", "any", "other"]
"""What the engine's type of a column is to a schema. moment: a date, or a date and time; zoned: with time zone; any:
each value has its own, as in SQLite."""

CHARGED: Final = "What a fit has charged by then stays charged; it left no model"


class DatabaseFailed(Explained, RuntimeError):
    """A database did not do what it was asked for: it refused, gave up or went away. No model was made of what it
    had given by then; what was charged stays charged."""


class ChangedTable(Explained, RuntimeError):
    """A table has other columns than when `SqlTable` looked at it, or of other types. Nothing was charged."""


@attrs.frozen
class DatabaseColumn:
    """A column of a table in a database. type: as the engine calls it.  kind: what it holds."""

    name: str
    type: str
    kind: Kind


def types_of(columns: Iterable[DatabaseColumn]) -> dict[str, str]:
    """By name."""
    return {column.name: column.type for column in columns}


@attrs.frozen
class Cells:
    """A SELECT of the keys and of cells. cells: what their columns are called.  values: bound to the statement."""

    statement: str
    cells: tuple[str, ...]
    values: Sequence[Numbers]


class Engine(SealedRepr, abc.ABC):
    """A connection to a database, which makes temporary tables and nothing else.

    It is its own, also where one was given: that is left as it was. What runs on it raises DatabaseFailed where the
    database fails; messages hold neither the password nor a value of a record.
    """

    dialect: DialectName
    name: str
    label_type = "SMALLINT"
    """Of −1 and 1, and of class numbers."""

    def __init__(self, prefix: str, ending: Callable[[], None]) -> None:
        """prefix: how names of temporary tables begin.  ending: gives back what the connection has taken; called once,
        at the latest with this object's end."""
        self.prefix, self._finish = prefix, weakref.finalize(self, ending)

    def close(self) -> None:
        """Give back what the connection has taken; nothing runs on it any more."""
        self._finish()

    def fresh_name(self) -> str:
        """For a temporary table; engines know their own by the beginning."""
        return f"{self.prefix}_{uuid.uuid4().hex[:12]}"

    def quoted(self, name: str) -> str:
        """An identifier. Raises ValueError for one that there cannot be."""
        return DIALECTS[self.dialect].identifier(name)

    def run(self, statement: str, values: Sequence[Numbers] = (), said: str = CHARGED) -> list[tuple[object, ...]]:
        """What it answers, () for nothing. values: bound to its markers, in order.  said: where it fails, which ends
        this engine: temporary tables go, and nothing else runs on it."""
        try:
            return self._answer(statement, values, said)
        except DatabaseFailed:
            self.close()
            raise

    @abc.abstractmethod
    def _answer(self, statement: str, values: Sequence[Numbers], said: str) -> list[tuple[object, ...]]:
        """See `run`."""

    @abc.abstractmethod
    def columns(self, source: str) -> list[DatabaseColumn]:
        """Of what stands after FROM; no record is looked at."""

    def refuse_changed(self, source: str, columns: Sequence[DatabaseColumn]) -> None:
        """In a transaction, so that what is found lasts. columns: what the source had.  Raises ChangedTable."""
        now, before = map(types_of, (self.columns(source), columns))
        other = [
            f"{name!r} was {before.get(name, 'absent')} and is {now.get(name, 'absent')}"
            for name in dict.fromkeys([*before, *now])
            if before.get(name) != now.get(name)
        ]
        if other:
            self.close()
            raise ChangedTable(
                f"{self.name}: the table is not what it was when SqlTable(...) was made: {'; '.join(other)}. Make it "
                "anew, and see whether the schema still says what the columns are. Nothing was charged"
            )

    @abc.abstractmethod
    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """These columns of all records, about `size` of them at a time, and how many those are."""

    def begin(self) -> None:
        """A transaction, in which temporary tables can be written and every statement sees the same records."""
        self.run("BEGIN TRANSACTION", said="Nothing was charged")

    def commit(self) -> None:
        """The end of that."""
        self.run("COMMIT", said="Nothing was charged")

    @abc.abstractmethod
    def hold(self) -> None:
        """From here on every statement sees the tables as they are now; nothing can be written any more."""

    def marker(self, number: int) -> str:
        """What stands in a statement for the value of this number, from 1."""
        return f"${number}"

    @abc.abstractmethod
    def tables(self, name: str = "public_tables") -> PublicTables:
        """Public tables for a statement. name: of what is joined, where it is."""

    @abc.abstractmethod
    def cells(
        self,
        source: str,
        keys: Sequence[str],
        places: Sequence[str],
        cuts: Sequence[FloatArray],
        tables: PublicTables | None = None,
    ) -> "Cells":
        """How many of the cuts, rising, are at most each place. keys: further columns of the source, which is a SELECT
        in brackets.  tables: of that."""

    @abc.abstractmethod
    def entries(
        self, key: str, arrays: Sequence[Numbers], place: str, tables: PublicTables, alias: str = "entries"
    ) -> tuple[str, list[str]]:
        """Of public tables that many statements look up in: what is joined, "" for nothing, and what each of the
        arrays, which are of one length, has at a place, a whole number from 0 that SQL computes.

        key: the same for the same arrays.  tables: of the statement.  alias: of what is joined."""

    def write_scores(self, source: str, columns: Mapping[str, str], scores: Sequence[str], tables: PublicTables) -> str:
        """Write what the scores of records are now to columns s0, s1, …, of whole numbers; the table that has them.

        source: a temporary table of records, which has scores if they were written to it before.  columns: its others,
        with their types.  tables: of the scores, which SQL computes. To a new table, where an engine has no better way.
        """
        name, heads = self.fresh_name(), [f"s{head}" for head in range(len(scores))]
        kinds = ", ".join([*(f"{column} {kind}" for column, kind in columns.items()), *(f"{s} INTEGER" for s in heads)])
        self.run(f"CREATE TEMPORARY TABLE {name} ({kinds})")
        statement = f"SELECT {', '.join([*columns, *scores])} FROM {tables.beside(source)}"
        self.run(f"INSERT INTO {name} {statement}", tables.values)
        return name

    @abc.abstractmethod
    def exact_text(self, value: str) -> str:
        """A value of text, as what is compared character by character, whatever the column's collation."""

    @abc.abstractmethod
    def code_type(self, cells: int) -> str:
        """The smallest type that holds 0 … cells − 1."""

    def refuse_shadowed(self) -> None:
        """Raise DatabaseFailed where functions of the user's stand for the engine's own in statements of ours."""

    def long_statements(self) -> None:
        """What makes statements as long as those of models quick, where there is something."""

    def count(self, source: str) -> int:
        """How many records there are."""
        ((found,),) = self.run(f"SELECT count(*) FROM {source}")
        assert isinstance(found, int)
        return found


def array_of(values: Sequence[object]) -> Values:
    """A column of what a driver gives, shape (n,)."""
    kinds = set(map(type, values))
    if kinds == {bool} or kinds == {float} or kinds == {int}:
        return np.array(values)
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return boxed


def fresh_prefix() -> str:
    """Which no other table's name has."""
    return f"exchequer_{uuid.uuid4().hex}"


HIDDEN: Final = (
    "a value cannot be read there, or a computed one has no place in its type; which one, is not told. "
    "SqlTable(..., records='fetched') names the column and the row, unless it is the query that fails"
)
"""In the place of a driver's words about values: they quote them."""


@contextlib.contextmanager
def failing(
    engine: str, kinds: type[Exception], said: str = CHARGED, about_values: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Raise DatabaseFailed for errors of a driver, with its words. about_values: errors whose words quote values."""
    try:
        yield
    except about_values:
        raise DatabaseFailed(f"{engine}: {HIDDEN}. {said}") from None
    except kinds as error:
        raise DatabaseFailed(f"{engine}: {' '.join(str(error).split())}. {said}") from error
