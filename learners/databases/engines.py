"""What is asked of a database, whichever it is: statements, what they answer, and a stream of records."""

import abc
import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from learners.exports import DIALECTS, DialectName
from learners.tables import DictionaryColumn, Values
from mechanisms.core import SealedRepr

Part: TypeAlias = Mapping[str, Values | DictionaryColumn]
"""Columns of some records, shape (n,) each."""

Kind: TypeAlias = Literal["number", "decimal", "whole", "truth", "text", "other"]
"""What the engine's type of a column is to a schema."""

CHARGED: Final = "What a fit has charged by then stays charged; it left no model"


class DatabaseFailed(RuntimeError):
    """A database did not do what it was asked for: it refused, gave up or went away. No model was made of what it
    had given by then; what was charged stays charged."""


@attrs.frozen
class DatabaseColumn:
    """A column of a table in a database. type: as the engine calls it.  kind: what it holds."""

    name: str
    type: str
    kind: Kind


class Engine(SealedRepr, abc.ABC):
    """A connection to a database, which makes temporary tables and nothing else.

    Where it was given, it is left as it was: temporary tables are dropped and it is not closed. What runs on it raises
    DatabaseFailed where the database fails; messages never hold the password.
    """

    dialect: DialectName

    def __init__(self, ending: Callable[[], None]) -> None:
        """ending: gives back what the connection has taken; called once, at the latest with this object's end."""
        self._finish = weakref.finalize(self, ending)

    def close(self) -> None:
        """Give back what the connection has taken; nothing runs on it any more."""
        self._finish()

    def quoted(self, name: str) -> str:
        """An identifier. Raises ValueError for one that there cannot be."""
        return DIALECTS[self.dialect].identifier(name)

    @abc.abstractmethod
    def run(self, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """What it answers, () for nothing. values: bound to its `?`, in order."""

    @abc.abstractmethod
    def columns(self, source: str) -> list[DatabaseColumn]:
        """Of what stands after FROM; no record is looked at."""

    @abc.abstractmethod
    def stream(self, source: str, names: Sequence[str], size: int) -> Iterator[tuple[int, Part]]:
        """These columns of all records, about `size` of them at a time, and how many those are."""

    @abc.abstractmethod
    def hold(self) -> None:
        """From here on every statement sees the tables as they are now; nothing can be written any more."""

    def count(self, source: str) -> int:
        """How many records there are."""
        ((found,),) = self.run(f"SELECT count(*) FROM {source}")
        assert isinstance(found, int)
        return found


@contextlib.contextmanager
def failing(engine: str, kinds: type[Exception] | tuple[type[Exception], ...], said: str = CHARGED) -> Iterator[None]:
    """Raise DatabaseFailed for errors of a driver, with its words."""
    try:
        yield
    except kinds as error:
        raise DatabaseFailed(f"{engine}: {' '.join(str(error).split())}. {said}") from error
