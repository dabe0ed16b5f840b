"""Protected records in blocks, wherever these are: in this process, in files, or with the workers of a cluster.

A query over `Rows` says what is to be summed over a block, and gets the sum over all of them; no record, and nothing
that there is one of for each record, goes anywhere else. Such sums must come out the same whatever the blocks are and
in whatever order they are added: whole numbers do, and floats that are multiples of one power of two, small enough that
no sum of them is rounded. So the same records and the same seed give the same releases, bit by bit, however they are
stored, and no sensitivity depends on who added what first (Casacuberta, Shoemate, Vadhan & Wagaman 2022). [exact-rows]
"""

import abc
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Generic, TypeVar, cast

import attrs
import numpy as np

from accountant.arrays import ExactArray, FloatArray

T = TypeVar("T")
U = TypeVar("U")
Item = TypeVar("Item")
Sums = TypeVar("Sums", ExactArray, FloatArray)
"""What a block adds up to: of the same shape for every block, however many records it has."""


class SealedRepr:
    """Of what holds records: its repr, which gets into logs, tells what it is and not what is in it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: sealed>"


@attrs.frozen(eq=False, repr=False)
class Block(SealedRepr, Generic[T]):
    """Some of the records, one after another.

    data: them.  first: the number of the first of them among all.  size: how many they are.
    scratch: what was found out about them before, see `remember`. It may be gone at any time, with whoever held it.
    """

    data: T
    first: int
    size: int
    scratch: dict[str, tuple[Hashable, object]] = attrs.field(factory=dict)

    def refuse_other_size(self, found: int) -> None:
        """Raise ValueError where it holds another number of records than it says, which is public and counted on."""
        if found != self.size:
            raise ValueError(f"a block of {self.size} records holds {found}")

    def __reduce__(self) -> tuple[type["Block[T]"], tuple[T, int, int]]:
        """Without its scratch, which is found out again wherever the block goes."""
        return type(self), (self.data, self.first, self.size)

    def remember(self, name: str, key: Hashable, make: Callable[[], U]) -> U:
        """What `make` gives, a pure function of the block and `key`; kept with the block until asked for another key.

        For what there is one of for each record and takes a pass over them. One thing is kept for each name.
        """
        known = self.scratch.get(name)
        if known is not None and known[0] == key:
            return cast("U", known[1])
        made = make()
        self.scratch[name] = (key, made)
        return made

    def fold(self, name: str, items: tuple[Item, ...], start: Callable[[], U], step: Callable[[U, Item], U]) -> U:
        """What `step` makes of `start()` with all items in turn: from where the last call with the first of them ended.

        items: public, and told apart by ==, which copies in another process must be as well.
        step: pure; it must not change what it is given.
        """
        done, found = cast("tuple[tuple[Item, ...], U | None]", self.scratch.get(name, ((), None)))
        if found is None or items[: len(done)] != done:
            done, found = (), start()
        for item in items[len(done) :]:
            found = step(found, item)
        self.scratch[name] = (items, found)
        return found


class Rows(SealedRepr, abc.ABC, Generic[T]):
    """Records in blocks. What is called with a block must be a pure function that can be sent to another process."""

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """The number of records, public."""

    @abc.abstractmethod
    def map(self, transform: Callable[[T], U]) -> "Rows[U]":
        """The same records seen through `transform`, block by block; with many blocks when they are visited."""

    @abc.abstractmethod
    def kept(self) -> "Rows[T]":
        """The same, made once and kept where they are, so that a visit does not make them again."""

    @abc.abstractmethod
    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """Σ work(block) over all blocks, in no particular order, one visit to each."""


@contextmanager
def in_block(first: int) -> Iterator[None]:
    """What is raised inside is about a block of records: its number of a row counts from there, and a note says so.

    first: the number of the block's first record among all.
    """
    try:
        yield
    except Exception as error:
        if first:
            error.add_note(f"This is about the block that begins with record {first}: rows are counted from there.")
        raise


def added(parts: Iterable[Sums]) -> Sums:
    """Their sum. Raises ValueError for parts of different shapes, which numpy would stretch."""
    return reduce(_plus, parts)


def _plus(first: Sums, second: Sums) -> Sums:
    if first.shape != second.shape or first.dtype != second.dtype:
        raise ValueError(f"blocks add up to {first.dtype}{first.shape} and {second.dtype}{second.shape}")
    return first + second


@attrs.frozen(eq=False, repr=False)
class MemoryRows(Rows[T]):
    """Blocks in this process."""

    blocks: tuple[Block[T], ...]

    def __attrs_post_init__(self) -> None:
        if not self.blocks:
            raise ValueError("expected at least one block of records")

    @staticmethod
    def of(data: T, n: int) -> "MemoryRows[T]":
        """All n records in one block."""
        return MemoryRows((Block(data, 0, n),))

    @staticmethod
    def parts(data: Sequence[T], sizes: Sequence[int]) -> "MemoryRows[T]":
        """Several blocks, in order."""
        starts = np.cumsum([0, *sizes]).tolist()
        return MemoryRows(tuple(Block(*each) for each in zip(data, starts[:-1], sizes, strict=True)))

    @property
    def n(self) -> int:
        """See `Rows`."""
        return sum(block.size for block in self.blocks)

    def map(self, transform: Callable[[T], U]) -> "MemoryRows[U]":
        """See `Rows`; at once."""
        return MemoryRows(tuple(Block(transform(block.data), block.first, block.size) for block in self.blocks))

    def kept(self) -> "MemoryRows[T]":
        """The rows themselves: they are in memory already."""
        return self

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """See `Rows`."""
        return added(work(block) for block in self.blocks)


def one_block(rows: Rows[T]) -> T | None:
    """All of the records, where they are in this process in one block, else None."""
    blocks = rows.blocks if isinstance(rows, MemoryRows) else ()
    return blocks[0].data if len(blocks) == 1 else None
