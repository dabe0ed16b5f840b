"""CSV files as one table, read block by block, as `read_csv` reads them in memory.

`fit(CsvTable("people.csv"), "income")` looks at a hundred thousand records at a time. A file is read once to
count its records, and then once for each visit of all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from accountant.costs import count
from learners.blocks.block_tables import TableBlock
from learners.blocks.files import FileRows, StoredBlock
from learners.blocks.unchanged_files import Place, SourceFile, label_column
from learners.tables import CsvFile, FileFormat, Strings, Table, Values, refuse_no_records
from mechanisms.core import Rows, SealedRepr, in_block

RECORDS: Final = 2**17
"""Looked at together, unless the user says otherwise: text takes many times the room of numbers."""


@attrs.define(eq=False, repr=False)
class _Leaf(SealedRepr):
    """A file, and the place up to which it has been read: blocks are asked for in order, as a rule."""

    source: SourceFile
    file: CsvFile
    block: int
    names: list[str]
    n: int
    _rest: Iterator[dict[str, Strings]] | None = None
    _next: int = 0

    @staticmethod
    def of(path: Place, format: FileFormat, block: int) -> "_Leaf":
        """Reads the file once, to count its records. Raises OSError, ValueError."""
        source, file = SourceFile.of(path), CsvFile(Path(path), format)
        return _Leaf(source, file, block, file.names(), file.records(source.opened()))

    def load(self, number: int) -> dict[str, Strings]:
        """The block of this number. Raises ChangedFile."""
        opened = self.source.opened()
        if self._rest is None or number < self._next:
            self._rest, self._next = self.file.blocks(self.block, opened), 0
        else:
            opened.close()  # the file is what it was, and open already
        for passed in self._rest:
            self._next += 1
            if self._next > number:
                return passed
        raise AssertionError("there are as many blocks as were counted")

    def sizes(self) -> Iterator[int]:
        """Of its blocks."""
        return (min(self.block, self.n - start) for start in range(0, self.n, self.block))


class CsvTable:
    """CSV files as one table; what `fit` takes in the place of a DataFrame. What gzip compressed is decompressed.

    paths: a file, or several with the same columns, which are taken in the order given.
    label: the column of labels, as text; `fit(table, "name")` says it as well.
    format: how they are written, see `FileFormat`.
    block: records that are looked at together, at most.
    scratch: the folder where encoded records are kept while a fit lasts, see `learners.blocks.files.Scratch`.
    Raises ValueError for no files, none with a record, columns that differ, and a row of the wrong width; OSError.
    Whoever visits the records raises ChangedFile where a file is not what it was when this was made.
    """

    def __init__(
        self,
        paths: Place | Sequence[Place],
        label: str | None = None,
        *,
        format: FileFormat | None = None,
        block: int = RECORDS,
        scratch: Place | None = None,
    ) -> None:
        listed = [paths] if isinstance(paths, str | Path) else list(paths)
        if not listed:
            raise ValueError("no CSV files")
        self.label, self.block, self.scratch = label, count(block), scratch
        self._leaves = [_Leaf.of(path, format or FileFormat(), self.block) for path in listed]
        self._names = self._leaves[0].names
        for leaf in self._leaves:
            if sorted(leaf.names) != sorted(self._names):
                raise ValueError(
                    f"{leaf.file.path}: its columns are {leaf.names}, those of the first file {self._names}"
                )
        refuse_no_records(self.n)

    def __repr__(self) -> str:
        return f"<CsvTable: {len(self._leaves)} files, {self.n} records>"

    @property
    def n(self) -> int:
        """The number of records, public."""
        return sum(leaf.n for leaf in self._leaves)

    @property
    def names(self) -> list[str]:
        """Of its columns, the label's among them."""
        return list(self._names)

    def block_header(self, y: object) -> dict[str, tuple[()]]:
        """See `BlockTable`. y: the name of the label's column, None where the table knows. Raises ValueError."""
        label = self._label(y)
        return {name: () for name in self._names if name != label}

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`; y as for `block_header`."""
        label = self._label(y)
        blocks = (StoredBlock(partial(_part, load, label), first, size) for first, size, load in self._blocks())
        return FileRows(tuple(blocks), self.scratch)

    def each_block(self, work: Callable[[Table], Values]) -> Iterator[Values]:
        """See `learners.blocks.predictions.PartedTable`. Raises ChangedFile."""
        for first, _, load in self._blocks():
            with in_block(first):
                found = work({name: values for name, values in load().items() if name != self.label})
            yield found

    def _blocks(self) -> Iterator[tuple[int, int, Callable[[], Mapping[str, Strings]]]]:
        """The number of the first record of each, how many it has, and what loads it."""
        first = 0
        for leaf in self._leaves:
            for number, size in enumerate(leaf.sizes()):
                yield first, size, partial(leaf.load, number)
                first += size

    def _label(self, y: object) -> str:
        return label_column(self.label, y, self._names)


def _part(load: Callable[[], Mapping[str, Strings]], label: str) -> TableBlock:
    block = dict(load())
    return TableBlock(block, np.asarray(block.pop(label)))
