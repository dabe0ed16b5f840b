"""Tables as commands take them: CSV of any kind, Parquet, gzip of CSV, and what the address of a database names.

Which of them a file is, its first bytes say. `learners.tables.file_format` says what else is looked at: no record.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import attrs
import click

from exchequer.console.table_databases import RECORDS, Source, TableAddress

if TYPE_CHECKING:
    from learners import Schema
    from learners.base import PrivateClassifier
    from learners.encoding import EncodedSample
    from learners.tables import DictionaryColumn, FileFormat, Values

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")

Columns: TypeAlias = "dict[str, Values | DictionaryColumn]"

PARQUET: Final = b"PAR1"
"""How Parquet files begin."""


@attrs.frozen
class TableFileOptions:
    """What the command line says of a CSV file; None leaves it to the schema's [file], and then to the usual."""

    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def format(self, schema: "Schema | None" = None, names: Collection[str] | None = None) -> "FileFormat":
        """How to read it. Raises ValueError.

        names: of the columns of a file without a header line, where the schema's [file] names none.
        """
        from learners.tables import FileFormat

        said = {name: value for name, value in attrs.asdict(self).items() if value is not None}
        usual = (None if schema is None else schema.file) or FileFormat()
        if names is not None and not usual.columns:
            said["columns"] = tuple(names)
        return attrs.evolve(usual, **said)


def table_file_options(command: F) -> F:
    """Decorate a command with how CSV files are written; it gets `file_options`, a `TableFileOptions`."""

    @click.option(
        "--separator",
        help="CSV: what separates fields; one character, tab or space. Default: as in the header line, else a comma.",
    )
    @click.option("--quote", help='CSV: what quotes fields, "" for nothing. Default: a double quote.')
    @click.option("--encoding", help="CSV: how letters are written, as in latin-1 or cp1252. Default: UTF-8.")
    @click.option(
        "--decimal", type=click.Choice([".", ","]), help="CSV: the decimal mark of numbers. Default: a point."
    )
    @wraps(command)
    def with_options(
        *arguments: Any,
        separator: str | None,
        quote: str | None,
        encoding: str | None,
        decimal: str | None,
        **others: Any,
    ) -> object:
        return command(*arguments, file_options=TableFileOptions(separator, quote, encoding, decimal), **others)

    return cast("F", with_options)


def is_parquet(path: Path) -> bool:
    """Whether it begins as Parquet files do. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def refuse_file_options(data: Source, options: TableFileOptions, header: bool) -> None:
    """Raise ValueError where something is said of a table in a database that only files have."""
    if isinstance(data, TableAddress):
        said = [f"--{name}" for name, value in attrs.asdict(options).items() if value is not None]
        if said := [*said, *([] if header else ["--no-header"])]:
            raise ValueError(f"{', '.join(said)}: said of CSV files only, and {data} is a table in a database")


def open_table(path: Source, format: "FileFormat | None" = None, wanted: Collection[str] | None = None) -> Columns:
    """The table's columns, in memory. format: of CSV.  wanted: the columns that are read where others can be passed by.

    Raises ValueError, OSError, ImportError.
    """
    from learners.tables import joined, read_csv

    if isinstance(path, TableAddress):
        parts = list(path.blocks(wanted))
        if not parts:
            raise ValueError("the table holds no records")
        return {name: joined([part[name] for part in parts]) for name in parts[0]}
    if not is_parquet(path):
        return dict(read_csv(path, format=format))
    from learners import ParquetTable

    return ParquetTable(path).columns(wanted)


def column_names(path: Source, format: "FileFormat") -> list[str]:
    """The table's columns, of which nothing else is read. Raises ValueError, OSError, ImportError."""
    if isinstance(path, TableAddress):
        return path.opened().names
    if is_parquet(path):
        from learners import ParquetTable

        return list(ParquetTable(path).names)
    from learners.tables import CsvFile

    return CsvFile(path, format).names()


Block: TypeAlias = "Mapping[str, Values | DictionaryColumn]"


def table_blocks(
    path: Source, format: "FileFormat | None" = None, wanted: Collection[str] | None = None
) -> Iterator[Block]:
    """The table's columns, some RECORDS at a time; of Parquet each is read when it is asked for.

    wanted: those that are read of a database, where they are there; None for all.

    A bar on standard error says how far it is, where that takes long. Raises ValueError, OSError, ImportError.
    """
    from exchequer.console.output import file_bar

    if isinstance(path, TableAddress):
        yield from path.blocks(wanted)
        return
    if is_parquet(path):
        from learners import ParquetTable

        table = ParquetTable(path, block=RECORDS)
        with file_bar(path.name, table.n, path.stat().st_size) as done:
            for number, columns in enumerate(table.tables()):
                yield columns
                done(min((number + 1) * RECORDS, table.n))
        return
    from learners.tables import CsvFile, FileFormat

    with path.open("rb") as file, file_bar(path.name, path.stat().st_size, path.stat().st_size) as done:
        for block in CsvFile(path, format or FileFormat()).blocks(RECORDS, file):
            done(file.tell())
            yield block


def each_block(
    path: Source, format: "FileFormat", work: Callable[[Columns], T], wanted: Collection[str] | None = None
) -> Iterator[T]:
    """What `work` makes of each of `table_blocks`, in order; what it raises says where rows are counted from."""
    first = 0
    for block in table_blocks(path, format, wanted):
        with _counted_from(first):
            yield work(cast("Columns", block))
        first += max((len(block[name]) for name in list(block)[:1]), default=0)


@attrs.frozen
class TableFile:
    """A table of labelled records, and how it is to be read. format: of CSV.  label: the column."""

    path: Source
    format: "FileFormat"
    label: str

    def encoded(self, model: "PrivateClassifier[Any]") -> "EncodedSample":
        """All records as the model's `encoded` has them, in memory as narrow codes; a block of the file at a time.

        Raises ValueError, OSError, ImportError.
        """
        from learners.encoding import joined_samples
        from learners.tables import label_texts

        def parts() -> "Iterator[EncodedSample]":
            first = 0
            for block in table_blocks(self.path, self.format):
                if self.label not in block:
                    raise ValueError(f"no column {self.label!r} for the label; the columns are {list(block)}")
                labels = label_texts(block[self.label])
                with _counted_from(first):
                    yield model.encoded(_Without(block, self.label), labels)
                first += labels.size

        return joined_samples(parts())


@contextmanager
def _counted_from(first: int) -> Iterator[None]:
    """Say where rows are counted from, in what is wrong with a block of records."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if not first:
            raise
        raise ValueError(f"{error}; rows are counted from record {first} of the file") from error


@attrs.frozen(eq=False, repr=False)
class _Without(Mapping[str, "Values | DictionaryColumn"]):
    """A table without one of its columns."""

    table: "Mapping[str, Values | DictionaryColumn]"
    name: str

    def __getitem__(self, name: str) -> "Values | DictionaryColumn":
        if name == self.name:
            raise KeyError(name)
        return self.table[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.table if name != self.name)

    def __len__(self) -> int:
        return len(self.table) - 1
