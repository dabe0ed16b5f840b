"""Parquet files as one table, read block by block.

`fit(ParquetTable("census/*.parquet"), "income")` looks at a million records at a time, of the columns that it needs.
"""

import glob
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs
import numpy as np

from accountant.costs import count
from learners.blocks.block_tables import TableBlock, plain_labels
from learners.blocks.files import FileRows, StoredBlock
from learners.blocks.unchanged_files import RECORDS_PER_BLOCK, Place, SourceFile, label_column
from learners.tables import DictionaryColumn, Table, Values, joined, of_arrow, refuse_no_records
from mechanisms.core import Rows, SealedRepr, in_block

UNNAMED: Final = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name; one that somebody named is a column like any other."""


@attrs.frozen(eq=False, repr=False)
class _Leaf:
    """A Parquet file. about: its metadata, as pyarrow gives them.  texts: columns of strings.

    names: of its columns, without the numbers of rows that pandas stores as one, as it does where some were left out.
    """

    file: SourceFile
    about: Any
    names: list[str]
    texts: list[str]

    @staticmethod
    def of(path: Place) -> "_Leaf":
        """Without reading a record. Raises OSError and what pyarrow raises where it is no Parquet file."""
        arrow, file = _pyarrow(), SourceFile.of(path)
        with file.opened() as opened:
            about = arrow.parquet.ParquetFile(opened)
            schema = about.schema_arrow
            texts = [field.name for field in schema if arrow.types.is_string(field.type) or _large(arrow, field.type)]
            index = {each for each in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(each, str)}
            unnamed = {name for name in index if UNNAMED.fullmatch(name)}
            return _Leaf(file, about.metadata, [name for name in schema.names if name not in unnamed], texts)

    @property
    def n(self) -> int:
        """Of records."""
        return int(self.about.num_rows)

    def column(self, name: str, first: int, size: int) -> Values | DictionaryColumn:
        """One column of `size` records from `first` on, shape (size,). Raises ChangedFile."""
        starts = self.starts
        groups = [
            group for group in range(len(starts) - 1) if starts[group] < first + size and starts[group + 1] > first
        ]
        with self.file.opened() as file:
            reader = _pyarrow().parquet.ParquetFile(file, metadata=self.about, read_dictionary=self.texts)
            column = reader.read_row_groups(groups, columns=[name]).column(name)
        return of_arrow(column.slice(first - starts[groups[0]], size))

    @property
    def starts(self) -> list[int]:
        """The first record of each row group, and then the number of all."""
        sizes = [self.about.row_group(group).num_rows for group in range(self.about.num_row_groups)]
        return [int(start) for start in np.cumsum([0, *sizes])]

    def blocks(self, most: int) -> Iterator[tuple[int, int]]:
        """First records and sizes of blocks of whole row groups, `most` records or fewer; larger groups are cut."""
        first, starts = 0, self.starts
        while first < starts[-1]:
            ends = [start for start in starts if first < start <= first + most]
            last = ends[-1] if ends else first + most
            yield first, last - first
            first = last


def _large(arrow: ModuleType, kind: object) -> bool:
    return bool(arrow.types.is_large_string(kind))


def _pyarrow() -> ModuleType:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'exchequer[parquet]'") from error
    found: ModuleType = pyarrow
    return found


@attrs.frozen(eq=False, repr=False)
class _Columns(SealedRepr, Mapping[str, Values | DictionaryColumn]):
    """Columns of one block, each read when it is asked for. names: without the label's."""

    leaf: _Leaf
    names: Sequence[str]
    first: int
    size: int

    def __getitem__(self, name: str) -> Values | DictionaryColumn:
        if name not in self.names:
            raise KeyError(name)
        return self.leaf.column(name, self.first, self.size)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class ParquetTable:
    """Parquet files as one table; what `fit` takes in the place of a DataFrame. Needs the extra `parquet`.

    paths: a file, a folder (all `*.parquet` in it) or a pattern, whose files are taken in the order of their names; or
      several files, in the order given. All have the same columns; folders that stand for columns are not looked into.
    label: the column of labels; `fit(table, "name")` says it as well.
    block: records that are looked at together, at most; blocks are whole row groups where these are no larger.
    scratch: the folder where encoded records are kept while a fit lasts, see `learners.blocks.files.Scratch`.
    Raises ValueError for no files, none with a record, or columns that differ; FileNotFoundError; ImportError.
    Whoever visits the records raises ChangedFile where a file is not what it was when this was made.
    """

    def __init__(
        self,
        paths: Place | Sequence[Place],
        label: str | None = None,
        *,
        block: int = RECORDS_PER_BLOCK,
        scratch: Place | None = None,
    ) -> None:
        self._leaves = [_Leaf.of(path) for path in _found(paths)]
        self._names = self._leaves[0].names
        self.label, self.block, self.scratch = label, count(block), scratch
        for leaf in self._leaves:
            if sorted(leaf.names) != sorted(self._names):
                raise ValueError(
                    f"{leaf.file.path}: its columns are {leaf.names}, those of the first file {self._names}"
                )
        if len(set(self._names)) != len(self._names):
            raise ValueError(f"{self._leaves[0].file.path}: a column name stands twice in {self._names}")
        refuse_no_records(self.n)

    def __repr__(self) -> str:
        return f"<ParquetTable: {len(self._leaves)} files, {self.n} records>"

    @property
    def n(self) -> int:
        """The number of records, public; from the files' metadata."""
        return sum(leaf.n for leaf in self._leaves)

    @property
    def names(self) -> list[str]:
        """Of its columns, the label's among them."""
        return list(self._names)

    def columns(self, wanted: Collection[str] | None = None) -> dict[str, Values | DictionaryColumn]:
        """Whole columns, shape (n,) each, in memory. wanted: which, of those that there are; None for all."""
        names = [name for name in self._names if wanted is None or name in wanted]
        whole = (_Columns(leaf, names, 0, leaf.n) for leaf in self._leaves if leaf.n)
        return {name: joined(parts) for name, *parts in zip(names, *(each.values() for each in whole), strict=True)}

    def tables(self) -> Iterator[Mapping[str, Values | DictionaryColumn]]:
        """Its blocks in order, with the label; columns are read when asked for. Raises ChangedFile."""
        return (columns for _, columns in self._blocks(self._names))

    def block_header(self, y: object) -> dict[str, tuple[()]]:
        """See `BlockTable`. y: the name of the label's column, None where the table knows. Raises ValueError."""
        label = self._label(y)
        return {name: () for name in self._names if name != label}

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`; y as for `block_header`."""
        names, label = list(self.block_header(y)), self._label(y)
        blocks = list[StoredBlock[TableBlock]]()
        for place, columns in self._blocks(names):
            labels = partial(columns.leaf.column, label, columns.first, columns.size)
            blocks.append(StoredBlock(partial(_part, columns, labels), place, columns.size))
        return FileRows(tuple(blocks), self.scratch)

    def each_block(self, work: Callable[[Table], Values]) -> Iterator[Values]:
        """See `learners.blocks.predictions.PartedTable`. Columns are read when asked for. Raises ChangedFile."""
        for place, columns in self._blocks([name for name in self._names if name != self.label]):
            with in_block(place):
                found = work(columns)
            yield found

    def _blocks(self, names: Sequence[str]) -> Iterator[tuple[int, _Columns]]:
        """The number of the first record of each block, and its columns of these names."""
        before = 0
        for leaf in self._leaves:
            for first, size in leaf.blocks(self.block):
                yield before + first, _Columns(leaf, names, first, size)
            before += leaf.n

    def _label(self, y: object) -> str:
        return label_column(self.label, y, self._names)


def _part(columns: _Columns, labels: Callable[[], Values | DictionaryColumn]) -> TableBlock:
    return TableBlock(columns, plain_labels(labels()))


def _found(paths: Place | Sequence[Place]) -> list[Place]:
    if not isinstance(paths, str | Path):
        found = list(paths)
    elif Path(paths).is_dir():
        found = sorted(Path(paths).glob("*.parquet"))
    elif Path(paths).exists() or not glob.has_magic(str(paths)):
        found = [paths]
    else:
        found = sorted(glob.glob(str(paths), recursive=True))
    if not found:
        raise ValueError(f"no Parquet files in {paths!r}")
    return found
