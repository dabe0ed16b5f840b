"""Records that can only be read from the first to the last, as the answer to a query is."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import attrs

from learners.blocks.files import FileRows, Scratch, StoredBlock, kept_block
from learners.blocks.unchanged_files import Place
from learners.tables import refuse_no_records
from mechanisms.core import Block, Rows, Sums, added

T = TypeVar("T")
U = TypeVar("U")

Part = tuple[int, Any]
"""How many records, and they."""


@attrs.frozen(eq=False, repr=False)
class StreamedRows(Rows[T]):
    """Blocks that a stream gives in order; each visit is another pass over it.

    parts: starts a pass, the same each time.  size: of all records.  through: what each part is seen through.
    folder: where `kept` puts its file, see `learners.blocks.files.Scratch`.
    Whoever visits them gets RuntimeError where a pass has another number of records.
    """

    parts: Callable[[], Iterator[Part]]
    size: int
    through: Callable[[Any], T]
    folder: Place | None = None

    def __attrs_post_init__(self) -> None:
        refuse_no_records(self.size)

    @property
    def n(self) -> int:
        """See `Rows`."""
        return self.size

    def map(self, transform: Callable[[T], U]) -> "StreamedRows[U]":
        """See `Rows`; whenever a block is visited."""
        return StreamedRows(self.parts, self.size, partial(_both, self.through, transform), self.folder)

    def kept(self) -> FileRows[T]:
        """See `Rows`: in a file without a name, written now, in one pass. Raises OSError where there is no room."""
        scratch = Scratch(self.folder)
        return FileRows(tuple(kept_block(block, scratch) for block in self._blocks()), self.folder)

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """See `Rows`."""
        return added(block.visit(work) for block in self._blocks())

    def _blocks(self) -> Iterator[StoredBlock[T]]:
        first = 0
        for size, part in self.parts():
            yield StoredBlock(partial(self.through, part), first, size)
            first += size
        if first != self.size:
            raise RuntimeError(f"there were {self.size} records, and another pass had {first}: the table has changed")


def _both(first: Callable[[Any], Any], then: Callable[[Any], U], part: object) -> U:
    return then(first(part))
