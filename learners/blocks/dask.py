"""Collections of Dask as tables: their records stay with Dask's workers, and only sums of fixed size come back.

Works with whatever computes the collections: a `distributed.Client` of any cluster, or a scheduler of this process.
Needs the extra `dask`. Blocks are encoded once and persisted where they are, with what was found out about them; a
worker that dies loses some, and Dask makes these again from where they came. Sums are exact, so it does not show.

Dask writes what its tasks are called with into its logs when one fails: nothing of ours tells what is in it.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, Final, Generic, TypeVar, cast

import attrs
import cloudpickle  # type: ignore[import-untyped]  # ships no types
import dask.array
import dask.dataframe
import numpy as np
import numpy.typing as npt
from dask.base import annotate, compute, persist
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof

from learners.blocks.block_tables import TableBlock
from learners.blocks.files import parts_of
from learners.tables import Table, Values, refuse_no_records
from mechanisms.core import Block, Rows, SealedRepr, Sums, added, in_block

T = TypeVar("T")
U = TypeVar("U")

FAN: Final = 8
"""Sums that one task adds up."""

WAVE: Final = 16
"""Partitions whose predictions are on their way at once."""


@attrs.frozen(eq=False, repr=False)
class _Sent(SealedRepr, Generic[T]):
    """Something pickled, work with its models and layouts as a rule: sent once, unpacked once on each worker."""

    pickled: bytes


def _unpacked(sent: _Sent[T]) -> T:
    return cast("T", cloudpickle.loads(sent.pickled))


def _sent(what: Callable[..., U]) -> Delayed:
    """A task that gives it: whoever needs it asks for that task, so that it is nowhere in the graph but once."""
    return _task(_unpacked)(_Sent(cloudpickle.dumps(what)))


def _task(function: Callable[..., object]) -> Callable[..., Delayed]:
    """Calls of it as tasks, each with a key of its own: nothing of one visit is taken for that of another."""
    made: Callable[..., Delayed] = delayed(function, pure=False)
    return made


def bytes_of(data: object) -> int:
    """Of its parts, at any depth: Dask would take a block for a small thing, and weighs by this whether to move it."""
    parts = parts_of(data)
    if parts is not None:
        return sum(bytes_of(part) for part in parts.values())
    return int(sizeof(data))


sizeof.register(Block, bytes_of)  # type: ignore[no-untyped-call]  # Dask's registry has no types


@attrs.frozen(eq=False, repr=False)
class DaskRows(Rows[T]):
    """Blocks with Dask.

    blocks: each a task that gives a `Block`.  sizes: how many records each has, public.
    holders: addresses of the workers that keep each of them, none where they are not kept, or in this process.
    """

    blocks: tuple[Delayed, ...]
    sizes: tuple[int, ...]
    holders: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(blocks: Sequence[Delayed], sizes: Sequence[int]) -> "DaskRows[T]":
        """Blocks that nobody keeps."""
        return DaskRows(tuple(blocks), tuple(sizes), ((),) * len(blocks))

    @property
    def n(self) -> int:
        """See `Rows`."""
        return sum(self.sizes)

    def map(self, transform: Callable[[T], U]) -> "DaskRows[U]":
        """See `Rows`; when blocks are visited, where they are."""
        return DaskRows(tuple(self._each(_through, transform)), self.sizes, self.holders)

    def kept(self) -> "DaskRows[T]":
        """See `Rows`: persisted, in the memory of the workers. Waits until all are made, and raises what they raise."""
        kept: DaskRows[T] = DaskRows.of(persist(*self.blocks), self.sizes)  # type: ignore[no-untyped-call]  # Dask's
        kept.total(_nothing)
        return attrs.evolve(kept, holders=_holders(kept.blocks))

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """See `Rows`; a task for each block, and a tree of sums. One array comes back."""
        return cast("Sums", self.summed(work).compute())  # type: ignore[no-untyped-call]  # Dask's

    def summed(self, work: Callable[[Block[T]], Sums]) -> Delayed:
        """The task whose result is the total: with all it needs, as many as there are blocks, and a few more."""
        parts, plus = self._each(_visited, work), _task(_plus)
        while len(parts) > 1:
            parts = [plus(*parts[start : start + FAN]) for start in range(0, len(parts), FAN)]
        return parts[0]

    def _each(self, call: Callable[..., object], what: Callable[..., object]) -> list[Delayed]:
        """Tasks that call it with `what`, which is sent once, and a block each: with who keeps that, as a rule.

        Dask would rather move a small block to a worker that has less to do, and leave behind what was found out.
        """
        sent, task, tasks = _sent(what), _task(call), list[Delayed]()
        for block, holders in zip(self.blocks, self.holders, strict=True):
            with annotate(workers=list(holders), allow_other_workers=True) if holders else nullcontext():
                tasks.append(task(sent, block))
        return tasks


def _holders(blocks: Sequence[Delayed]) -> tuple[tuple[str, ...], ...]:
    """Addresses of the workers that have each of these kept blocks; none of those in this process."""
    graphs = [block.__dask_graph__() for block in blocks]
    futures = [graph[block.key] for graph, block in zip(graphs, blocks, strict=True)]
    if not all(hasattr(future, "client") for future in futures):
        return ((),) * len(blocks)
    known = futures[0].client.who_has(futures)
    return tuple(tuple(known[future.key]) for future in futures)


def _nothing(block: Block[Any]) -> npt.NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _through(transform: Callable[[T], U], block: Block[T]) -> Block[U]:
    with in_block(block.first):
        return Block(transform(block.data), block.first, block.size)


def _visited(work: Callable[[Block[T]], Sums], block: Block[T]) -> Sums:
    with in_block(block.first):
        return work(block)


def _plus(*parts: Sums) -> Sums:
    return added(parts)


# --- collections --------------------------------------------------------------------------------------------


class DaskTable:
    """A DataFrame or an Array of Dask as a table; `fit` takes the collections themselves, and makes this of them.

    table: a DataFrame, or an Array of shape (n, columns).
    Raises TypeError for another collection, ValueError for an array of another shape.
    """

    def __init__(self, table: object) -> None:
        if not isinstance(table, dask.dataframe.DataFrame | dask.array.Array):
            raise TypeError(f"expected a DataFrame or an Array of Dask, got {type(table).__name__}")
        self._table: Any = table
        self._named = isinstance(table, dask.dataframe.DataFrame)
        if not self._named:
            if self._table.ndim != 2:
                raise ValueError(f"expected an array of shape (n, columns), got shape {self._table.shape}")
            self._table = self._table.rechunk({1: -1})  # whole records

    def __repr__(self) -> str:
        return f"<DaskTable: {self._table.npartitions} partitions>"

    def block_header(self, y: object) -> Table:
        """See `BlockTable`. y: see `block_rows`."""
        if not self._named:
            return np.empty((0, self._table.shape[1]))
        names = [str(name) for name in self._table.columns]
        if not isinstance(y, str):
            return dict.fromkeys(names, ())
        if y not in names:
            raise ValueError(f"y: expected the name of a column of labels, one of {names}, got {y!r}")
        return {name: () for name in names if name != y}

    def block_rows(self, y: object) -> DaskRows[TableBlock]:
        """See `BlockTable`. y: a Series or an Array cut as the table is, or the name of one of its columns.

        How many records each partition has is public and found out now: it is in an Array's shape, and takes a pass
        over one column of a DataFrame. Partitions without records are left out. Raises ValueError where y is cut
        otherwise or there is no record at all, TypeError for labels that are not with Dask.
        """
        parts = _partitions(self._table)
        if self._named and isinstance(y, str):
            self.block_header(y)
            key = next(key for key in self._table.columns if str(key) == y)
            return _rows(_named_block, parts, [key] * len(parts), _lengths(self._table[[key]]))
        labels = _aligned(self._table, y)
        lengths = _lengths(self._table[list(self._table.columns[:1])] if self._named else self._table)
        if (others := _lengths(labels)) != lengths:
            raise ValueError(f"X has partitions of {lengths} records, y of {others}: cut both in the same way")
        return _rows(_block, parts, _partitions(labels), lengths)

    def each_block(self, work: Callable[[Table], Values]) -> Iterator[Values]:
        """See `learners.blocks.predictions.PartedTable`: of partitions, WAVE at a time, where they are."""
        sent, task = _sent(work), _task(_answered)
        parts = _partitions(self._table)
        for start in range(0, len(parts), WAVE):
            answers = compute(*(task(sent, part) for part in parts[start : start + WAVE]))  # type: ignore[no-untyped-call]  # Dask's
            yield from (answer for answer in answers if answer is not None)


def _answered(work: Callable[[Table], Values], part: Table) -> Values | None:
    """None of a partition without records, which a model need not take."""
    return work(part) if len(cast("Any", part)) else None


def _partitions(collection: Any) -> list[Delayed]:
    return list(np.ravel(collection.to_delayed()))


def _lengths(collection: Any) -> list[int]:
    """Records of each partition; where they are not known, counted by the workers."""
    if isinstance(collection, dask.array.Array) and not np.isnan(collection.chunks[0]).any():
        return [int(size) for size in collection.chunks[0]]
    length = _task(len)
    sizes = compute(*(length(part) for part in _partitions(collection)))  # type: ignore[no-untyped-call]  # Dask's
    return [int(size) for size in sizes]


def _aligned(table: Any, y: object) -> Any:
    """Labels in the same partitions. Raises TypeError, ValueError."""
    if not isinstance(y, dask.dataframe.Series | dask.array.Array):
        raise TypeError(
            f"y: expected a Series or an Array of Dask, as X is with Dask, or the name of a column of a DataFrame, got "
            f"{type(y).__name__}; dask.array.from_array(y, chunks=...) makes an Array of one in memory"
        )
    labels: Any = y
    arrays = isinstance(table, dask.array.Array) and isinstance(y, dask.array.Array)
    if labels.ndim != 1:
        raise ValueError(f"y: expected shape (n,), got {labels.shape}; y should be a 1d array")
    if arrays and not np.isnan([*table.chunks[0], *labels.chunks[0]]).any() and len(table) == len(labels):
        return labels.rechunk((table.chunks[0],))
    known = not arrays and getattr(table, "known_divisions", False) and getattr(labels, "known_divisions", False)
    if labels.npartitions != table.npartitions or (known and labels.divisions != table.divisions):
        raise ValueError(
            f"X is in {table.npartitions} partitions, y in {labels.npartitions}, or other ones: cut both in the same "
            "way, or pass a DataFrame with the labels in it and the name of their column as y"
        )
    return labels


def _rows(
    make: Callable[..., Block[TableBlock]], parts: Sequence[Delayed], labels: Sequence[object], sizes: Sequence[int]
) -> DaskRows[TableBlock]:
    block, starts = _task(make), np.cumsum([0, *sizes]).tolist()
    every = [each for each in zip(parts, labels, starts[:-1], sizes, strict=True) if each[-1]]
    refuse_no_records(len(every))
    return DaskRows.of([block(*each) for each in every], [size for *_, size in every])


def _named_block(frame: Any, label: Hashable, first: int, size: int) -> Block[TableBlock]:
    """A partition with its labels in one of the columns."""
    return _block(frame.drop(columns=[label]), frame[label], first, size)


def _block(table: Any, labels: Any, first: int, size: int) -> Block[TableBlock]:
    if not len(table) == len(labels) == size:
        raise ValueError(
            f"a partition of {size} records now has {len(table)}: the collection is not the same each time"
        )
    return Block(TableBlock(table, labels), first, size)
