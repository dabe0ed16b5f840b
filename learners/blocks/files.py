"""Records that come block by block from somewhere else, and are kept in a file that has no name.

A block is loaded when it is visited and dropped after it, so memory holds one block at a time. What takes long to make
is made once, by `kept`: the arrays of each block are written to a file, and a visit maps them back, so that it reads
what it touches and nothing else. The file is made without a name, or loses it at once, in a folder of the user's
choice: nobody else can open it, and the system takes it back with the last who holds it open, however this process
ends. There is no pickle in it.
"""

import mmap
import os
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar, cast, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from learners.tables import refuse_no_records
from mechanisms.core import Block, Rows, SealedRepr, Sums, added, in_block

T = TypeVar("T")
U = TypeVar("U")

AnyArray: TypeAlias = npt.NDArray[np.generic]
Rebuild: TypeAlias = Callable[[Mapping[str, AnyArray]], T]
"""Makes an object of its arrays again, which then are read-only."""


@runtime_checkable
class Keepable(Protocol):
    """Data of a block that say what of them is kept, for instance what their cached properties found out.

    Objects of attrs classes need not: see `arrays_of`.
    """

    def to_arrays(self) -> tuple[Mapping[str, AnyArray], "Rebuild[Self]"]:
        """The arrays to keep, by name, none of Python objects, and what makes a twin of them.

        The second is called at every visit: it must not pass over the arrays, and hold none of them, nor anything
        else that there is one of for each record, as it stays in memory. It may fill cached properties:

            def to_arrays(self):
                layout, cells = self.layout, self.labelled.cells

                def again(arrays):
                    twin = EncodedSample(layout, arrays["codes"], arrays["labels"])
                    twin.__dict__["labelled"] = CellIndex(arrays["places"], cells)
                    return twin

                return {"codes": self.codes, "labels": self.labels, "places": self.labelled.places}, again
        """


def arrays_of(data: T) -> tuple[dict[str, AnyArray], Rebuild[T]]:
    """Its arrays by name, and what makes a twin of them: of `Keepable` data, of an array, a tuple or an attrs object.

    Of a tuple and of an object of an attrs class it takes the arrays among its parts, at any depth; the others stay in
    memory, and no constructor is called again. Raises TypeError for anything else, and for arrays of Python objects.
    """
    if hook := _hook(data):
        arrays, again = hook()
        return _plain(arrays), cast("Rebuild[T]", again)
    if isinstance(data, np.ndarray):
        return _plain({"": data}), _the_array
    inside = parts_of(data)
    if inside is None:
        raise TypeError(f"{type(data).__name__} cannot be kept: give it a method `to_arrays`, see `Keepable`")
    found: dict[str, AnyArray] = {}
    parts: dict[str, Rebuild[object] | None] = {}
    for name, part in inside.items():
        parts[name] = None
        if _holds_arrays(part):
            arrays, parts[name] = arrays_of(part)
            found |= {f"{name}/{below}": array for below, array in arrays.items()}
    others = {name: part for name, part in inside.items() if parts[name] is None}
    return found, partial(_together, type(data), others, {name: made for name, made in parts.items() if made})


def _hook(data: object) -> Callable[[], tuple[Mapping[str, AnyArray], Rebuild[object]]] | None:
    """`Keepable.to_arrays` of data that have it, under the name of version 0.1 if need be, which warns."""
    if isinstance(data, Keepable):
        return data.to_arrays
    older: Callable[[], tuple[Mapping[str, AnyArray], Rebuild[object]]] | None = getattr(data, "taken_apart", None)
    if older is not None:
        warnings.warn(f"{type(data).__name__}.taken_apart: call it `to_arrays`", FutureWarning, stacklevel=3)
    return older


def parts_of(data: object) -> dict[str, object] | None:
    """What a tuple or an object of an attrs class consists of, by name; None for anything else."""
    if isinstance(data, tuple):
        return {str(place): part for place, part in enumerate(data)}
    kind: type = type(data)
    return {field.name: getattr(data, field.name) for field in attrs.fields(kind)} if attrs.has(kind) else None


def _holds_arrays(part: object) -> bool:
    if isinstance(part, np.ndarray | Keepable) or hasattr(part, "taken_apart"):
        return True
    return any(_holds_arrays(below) for below in (parts_of(part) or {}).values())


def _plain(arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    objects = [name for name, array in arrays.items() if array.dtype.hasobject]
    if objects:
        raise TypeError(f"arrays of Python objects cannot be kept: {objects}")
    return dict(arrays)


def _the_array(arrays: Mapping[str, AnyArray]) -> Any:
    return arrays[""]


def _together(
    kind: type[T], others: Mapping[str, object], makers: Mapping[str, Rebuild[object]], arrays: Mapping[str, AnyArray]
) -> T:
    """An object of these parts. Its constructor, which may look at all records, looked at them when it was made."""
    made = {
        name: make({key.partition("/")[2]: array for key, array in arrays.items() if key.partition("/")[0] == name})
        for name, make in makers.items()
    }
    if issubclass(kind, tuple):
        parts = {**others, **made}
        values = [parts[str(place)] for place in range(len(parts))]
        return cast("T", getattr(kind, "_make", kind)(values))  # a named tuple takes them one by one
    twin = object.__new__(kind)
    for name, part in {**others, **made}.items():
        object.__setattr__(twin, name, part)
    return twin


@attrs.frozen
class _Place:
    """Where an array is. start: its first byte, in the block.  turned: columns one after another, as in Fortran."""

    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    turned: bool

    def array(self, block: mmap.mmap | bytes) -> AnyArray:
        """The array, read-only; as long as it lives, the block stays mapped."""
        shape = self.shape[::-1] if self.turned else self.shape
        size = int(np.prod(shape))
        # Of nothing, numpy makes no view.
        array = np.frombuffer(block, self.dtype, size, self.start) if size else np.empty(0, self.dtype)
        array.flags.writeable = False
        return array.reshape(shape).T if self.turned else array.reshape(shape)


_ALIGNED = 64
"""Bytes, a line of the cache: where each array of a block may begin."""


class Scratch(SealedRepr):
    """A file without a name for blocks of arrays. It vanishes with this object, or with the process."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """folder: where there is room; None takes the system's folder for temporary files. Raises OSError."""
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        self._end = 0

    def keep(self, arrays: Mapping[str, AnyArray]) -> Callable[[], dict[str, AnyArray]]:
        """Write them, one block. Returns what maps them back. Raises OSError where there is no room."""
        start, places = self._end, dict[str, _Place]()
        for name, array in arrays.items():
            turned = array.flags.f_contiguous and not array.flags.c_contiguous
            places[name] = _Place(self._end - start, array.dtype, array.shape, turned)
            self._write(np.ascontiguousarray(array.T if turned else array))
            self._end += -self._end % _ALIGNED
        length = self._end - start
        self._end += -self._end % mmap.ALLOCATIONGRANULARITY
        os.ftruncate(self._file, self._end)
        return partial(self._mapped, start, length, places)

    def _write(self, array: AnyArray) -> None:
        left = array.reshape(-1).view(np.uint8).data
        with open(self._file, "r+b", buffering=0, closefd=False) as file:
            file.seek(self._end)
            while left:
                left = left[file.write(left) :]
        self._end += array.nbytes

    def _mapped(self, start: int, length: int, places: Mapping[str, _Place]) -> dict[str, AnyArray]:
        block = mmap.mmap(self._file, length, access=mmap.ACCESS_READ, offset=start) if length else b""
        return {name: place.array(block) for name, place in places.items()}


@attrs.frozen(eq=False, repr=False)
class StoredBlock(SealedRepr, Generic[T]):
    """Records that are loaded when they are visited.

    load: gives them, the same each time.  first, size, scratch: see `Block`; the scratch stays from visit to visit.
    """

    load: Callable[[], T]
    first: int
    size: int
    scratch: dict[str, Any] = attrs.field(factory=dict)

    def visit(self, work: Callable[[Block[T]], U]) -> U:
        """What `work` makes of the block. Nothing of it stays but what work returns or notes in the scratch."""
        with in_block(self.first):
            return work(Block(self.load(), self.first, self.size, self.scratch))

    def seen(self, transform: Callable[[T], U]) -> "StoredBlock[U]":
        """The same records through `transform`."""
        return StoredBlock(partial(_through, self.load, transform), self.first, self.size)


def _through(load: Callable[[], T], transform: Callable[[T], U]) -> U:
    return transform(load())


@attrs.frozen(eq=False, repr=False)
class FileRows(Rows[T]):
    """Blocks from files, visited in this process one after another.

    blocks: in the order of their records.  folder: where `kept` puts its file, see `Scratch`.
    """

    blocks: tuple[StoredBlock[T], ...]
    folder: str | Path | None = None

    def __attrs_post_init__(self) -> None:
        refuse_no_records(self.n)

    @property
    def n(self) -> int:
        """See `Rows`."""
        return sum(block.size for block in self.blocks)

    def map(self, transform: Callable[[T], U]) -> "FileRows[U]":
        """See `Rows`; whenever a block is visited."""
        return FileRows(tuple(block.seen(transform) for block in self.blocks), self.folder)

    def kept(self) -> "FileRows[T]":
        """See `Rows`: in a file without a name, written now, block by block. Raises OSError where there is no room."""
        scratch = Scratch(self.folder)
        return FileRows(tuple(kept_block(block, scratch) for block in self.blocks), self.folder)

    def total(self, work: Callable[[Block[T]], Sums]) -> Sums:
        """See `Rows`."""
        return added(block.visit(work) for block in self.blocks)


def kept_block(block: StoredBlock[T], scratch: Scratch) -> StoredBlock[T]:
    """The same with its arrays in the file. Raises OSError where there is no room."""

    def written(loaded: Block[T]) -> StoredBlock[T]:
        arrays, again = arrays_of(loaded.data)
        return StoredBlock(partial(_through, scratch.keep(arrays), again), block.first, block.size)

    return block.visit(written)
