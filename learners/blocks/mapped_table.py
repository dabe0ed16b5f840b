"""Arrays on disk as a table: `fit(MappedTable("points.npy"), "labels.npy")` looks at them block by block."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from accountant.costs import count
from learners.blocks.block_tables import TableBlock
from learners.blocks.files import FileRows, StoredBlock
from learners.blocks.unchanged_files import RECORDS_PER_BLOCK, Place, SourceFile, chosen_labels
from learners.tables import Values
from mechanisms.core import Rows, in_block

Mapped: TypeAlias = Place | npt.NDArray[Any]
"""An array, a memory-mapped one for instance, or the path of a .npy file."""


@attrs.frozen(eq=False, repr=False)
class _Source:
    """Slices of an array, in memory or in a file."""

    array: npt.NDArray[Any] | None
    file: SourceFile | None
    shape: tuple[int, ...]

    @staticmethod
    def of(given: object, what: str) -> "_Source":
        """Raises TypeError for anything but an array or a path, OSError, ValueError where it is no .npy file."""
        if isinstance(given, np.ndarray) and not isinstance(given, np.ma.MaskedArray):
            return _Source(given, None, given.shape)
        if not isinstance(given, str | Path):
            raise TypeError(f"{what}: expected an array or the path of a .npy file, got {type(given).__name__}")
        file = SourceFile.of(given)
        return _Source(None, file, _array_in(file).shape)

    def part(self, first: int, size: int) -> Values:
        """Records from `first` on, a view. Raises ChangedFile."""
        whole = self.array if self.file is None else _array_in(self.file)
        assert whole is not None, "it is one or the other"
        part: Values = whole[first : first + size]
        return part


def _array_in(file: SourceFile) -> npt.NDArray[Any]:
    file.opened().close()
    mapped: npt.NDArray[Any] = np.load(file.path, mmap_mode="r", allow_pickle=False)
    return mapped


class MappedTable:
    """Arrays that need not fit into memory; what `fit` takes in the place of an array.

    X: shape (n, columns), an array, as a rule a memory-mapped one, or the path of a .npy file.
    labels: shape (n,), the same; or they are what `fit` gets as y.
    block: records that are looked at together, at most.
    scratch: the folder where encoded records are kept while a fit lasts, see `learners.blocks.files.Scratch`.
    Raises TypeError, OSError, and ValueError for another shape, no record or a file of another kind. Whoever visits
    the records raises ChangedFile where a file, given by its path, is not what it was when this was made.
    """

    def __init__(
        self, X: Mapped, labels: Mapped | None = None, *, block: int = RECORDS_PER_BLOCK, scratch: Place | None = None
    ) -> None:
        self._source = _Source.of(X, "X")
        self.labels, self.block, self.scratch = labels, count(block), scratch
        shape = self._source.shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"X: expected shape (n, columns), a record and a column at least, got shape {shape}")

    def __repr__(self) -> str:
        return f"<MappedTable: {self.n} records>"

    @property
    def n(self) -> int:
        """The number of records, public."""
        return self._source.shape[0]

    def block_header(self, y: object) -> Values:
        """See `BlockTable`: arrays name no columns."""
        return np.empty((0, self._source.shape[1]))

    def block_rows(self, y: object) -> Rows[TableBlock]:
        """See `BlockTable`. y: the labels, None where the table has them. Raises ValueError, TypeError, OSError."""
        given = chosen_labels(self.labels, y, "there are no labels: fit(table, labels)")
        labels = _Source.of(given, "y")
        if labels.shape != (self.n,):
            raise ValueError(f"y: expected shape ({self.n},), got shape {labels.shape}")
        load = partial(_part, self._source, labels)
        return FileRows(tuple(StoredBlock(partial(load, *block), *block) for block in self._blocks()), self.scratch)

    def each_block(self, work: Callable[[Values], Values]) -> Iterator[Values]:
        """See `learners.blocks.predictions.PartedTable`. Raises ChangedFile."""
        for first, size in self._blocks():
            with in_block(first):
                found = work(self._source.part(first, size))
            yield found

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """The first record of each, and how many it has."""
        return ((start, min(self.block, self.n - start)) for start in range(0, self.n, self.block))


def _part(source: _Source, labels: _Source, first: int, size: int) -> TableBlock:
    return TableBlock(source.part(first, size), labels.part(first, size))
