"""Tables in databases, as commands take them in the place of a file: a URL, a # and the table's name."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import attrs
import click

if TYPE_CHECKING:
    from learners import SqlTable

ADDRESS: Final = re.compile(r"(duckdb|postgres(ql)?(\+\w+)?)://")
"""How URLs of databases begin."""


class FileOrTable(click.ParamType[Path | str]):
    """A file that exists, as a Path, or the address of a table in a database, as text."""

    name = "file"
    _file: Final = click.Path(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        """See click."""
        if isinstance(value, str) and ADDRESS.match(value):
            if "#" not in value:
                self.fail("the address of a database needs its table: duckdb:///people.db#people", param, ctx)
            return value
        found: Path = self._file.convert(value, param, ctx)  # type: ignore[arg-type]  # click checks it
        return found


@attrs.frozen(repr=False)
class DatabaseTable:
    """A table of labelled records in a database. address: with the table's name.  label: the column."""

    address: str
    label: str

    @property
    def shown(self) -> str:
        """Its address for others to read, without a password."""
        from learners.databases import shown_address

        return shown_address(self.address)

    def opened(self, records: Literal["stay", "fetched"]) -> "SqlTable":
        """The table, with labels as the schema's classes are written.

        Raises ValueError where the database fails, or has no such column of labels.
        """
        from learners import DatabaseFailed, SqlTable

        try:
            table = SqlTable(self.address, label=self.label, records=records, named_labels=True)
        except DatabaseFailed as error:
            raise ValueError(str(error)) from error
        if self.label not in table.names:
            raise ValueError(f"no column {self.label!r} for the label; its columns are {table.names}")
        return table
