"""Tables in databases, as commands take them in the place of a file: a URL, a # and the table's name."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs
import click

if TYPE_CHECKING:
    from learners import SqlTable
    from learners.databases import Part

ADDRESS: Final = re.compile(r"\w+(\+\w+)?://")
"""How URLs begin."""

RECORDS: Final = 2**17
"""Of a table that are looked at together."""


@attrs.frozen(repr=False)
class TableAddress:
    """Where a table in a database is. Its text is for others to read: without a password.

    address: the URL, a # and the table's name.
    """

    address: str

    def __str__(self) -> str:
        from learners.databases import shown_address

        return shown_address(self.address)

    @property
    def name(self) -> str:
        """The table's."""
        return self.address.rpartition("#")[2]

    def opened(
        self, records: Literal["stay", "fetched"] = "fetched", *, label: str | None = None, named: bool = False
    ) -> "SqlTable":
        """The table, as it is now. named: labels are what the schema's classes are written as.

        Raises ValueError where the database fails.
        """
        from learners import SqlTable

        with failing():
            return SqlTable(self.address, label=label, records=records, block=RECORDS, named_labels=named)

    def blocks(self, wanted: Collection[str] | None = None) -> "Iterator[Part]":
        """Its columns, RECORDS at a time. wanted: those that are read where they are there.

        Raises ValueError where the database fails.
        """
        table = self.opened()
        names = [name for name in table.names if wanted is None or name in wanted]
        with failing():
            for _, part in table.parts(names):
                yield part


Source: TypeAlias = Path | TableAddress
"""Where records are: a file, or a table in a database."""


@contextmanager
def failing() -> Iterator[None]:
    """What a database did not do is told in one line, as what is wrong with a file is: as a ValueError."""
    from learners.databases import ChangedTable, DatabaseFailed

    try:
        yield
    except (DatabaseFailed, ChangedTable) as error:
        raise ValueError(str(error)) from error


class File(click.ParamType[Path]):
    """A file that exists, as a Path. The address of a database is refused without being repeated: it may hold a
    password."""

    name = "file"
    _file: Final = click.Path(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """See click."""
        if isinstance(value, str) and ADDRESS.match(value):
            self.fail(
                "expected a file, and this is a URL; tables in databases are taken as DATA by train, predict, "
                "schema draft, schema check and rados release",
                param,
                ctx,
            )
        found: Path = self._file.convert(value, param, ctx)  # type: ignore[arg-type]  # click checks it
        return found


class FileOrTable(click.ParamType[Source]):
    """A file that exists, as a Path, or the address of a table in a database."""

    name = "file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Source:
        """See click."""
        if not isinstance(value, str) or not ADDRESS.match(value):
            return File().convert(value, param, ctx)
        if not value.partition("#")[2]:
            self.fail("the address of a database needs its table: duckdb:///people.db#people", param, ctx)
        found = TableAddress(value)
        try:
            str(found)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return found


@attrs.frozen(repr=False)
class DatabaseTable:
    """A table of labelled records in a database. label: the column.  numbers: whether it holds numbers, not classes."""

    address: TableAddress
    label: str
    numbers: bool = False

    @property
    def shown(self) -> str:
        """Its address for others to read, without a password."""
        return str(self.address)

    def opened(self, records: Literal["stay", "fetched"]) -> "SqlTable":
        """The table, with labels as the schema's classes are written.

        Raises ValueError where the database fails, or has no such column of labels.
        """
        table = self.address.opened(records, label=self.label, named=not self.numbers)
        if self.label not in table.names:
            raise ValueError(f"no column {self.label!r} for the label; its columns are {table.names}")
        return table
