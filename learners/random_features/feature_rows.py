"""Labelled records as numbers, in blocks, and their features: what random feature models learn from."""

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar, Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from learners.blocks import TableBlock
from learners.encoding import Coding
from learners.random_features.feature_model import PublicFeatures
from mechanisms.core import Block, MemoryRows, Rows, SealedRepr, one_block
from mechanisms.gradients import Summand

PIECE: Final = 2**17
"""Numbers, one MiB, up to which features are taken at a time, so that two products with them read memory once."""

LEAST, MOST = 256, 4096
"""Records taken at a time, whatever their width."""

KEPT: Final = 2**26
"""Numbers, half a GiB, up to which features are kept from one visit to the next, and beyond are made anew: those of a
fit, and, of fits that have more, the blocks that each process finds room for."""


@attrs.frozen(eq=False, repr=False)
class FeatureSample(SealedRepr):
    """Some records as numbers, with labels in units of their public bounds.

    points: shape (k, d), finite.  targets: shape (k,), in [−1, 1]; −1 stands for the lower bound.
    Raises ValueError for anything else.
    """

    points: FloatArray
    targets: FloatArray

    def __attrs_post_init__(self) -> None:
        if self.points.ndim != 2 or self.targets.ndim != 1 or len(self.points) != self.targets.size:
            raise ValueError(f"X has {len(self.points)} records, y has {self.targets.size}")
        if not np.all(np.isfinite(self.points)) or not np.all(np.abs(self.targets) <= 1.0):
            raise ValueError("expected finite points and targets within [-1, 1]")


@attrs.frozen(eq=False, repr=False)
class FeatureRows(SealedRepr):
    """All records. coding: of points, public.  bounds: of labels, public.  rows: the records, in blocks."""

    coding: Coding
    bounds: tuple[float, float]
    rows: Rows[FeatureSample]

    @property
    def records(self) -> int:
        """m, public."""
        return self.rows.n

    @property
    def in_one_place(self) -> bool:
        """Whether they are in this process, in one block; public."""
        return one_block(self.rows) is not None

    @property
    def whole(self) -> FeatureSample:
        """All of them. Raises TypeError where they are not in one place, which solvers refuse before."""
        found = one_block(self.rows)
        if found is None:
            raise TypeError("these records are in blocks")
        return found


@attrs.frozen(eq=False)
class FeatureReader:
    """What becomes of a block of a table. targets: of labels.  reader: who asks, for messages."""

    coding: Coding
    targets: Callable[[npt.ArrayLike], FloatArray]
    reader: str

    not_in_sql: ClassVar[str] = (
        "random features are cosines of products of a record's numbers with public directions, and gradients follow "
        "from products with the coefficients; SQL says neither in which order it adds up the terms of a product, which "
        "shows in its last digits, nor what the last digit of a cosine is. Second moments of linear features would be "
        "exact, but no statements are written for them"
    )

    def __call__(self, part: TableBlock) -> FeatureSample:
        """Raises as `feature_rows` says."""
        return FeatureSample(self.coding.encode(part.table, self.reader), self.targets(part.labels))


def feature_rows(
    parts: Rows[TableBlock],
    coding: Coding,
    targets: Callable[[npt.ArrayLike], FloatArray],
    bounds: tuple[float, float],
    reader: str,
) -> FeatureRows:
    """A table's records, coded once and kept where they are; one visit finds what is wrong with any of them.

    parts: of `source_rows`.  targets: of labels, within [−1, 1].  reader: who asks, for messages.
    Raises as `Coding.encode` and `targets` do, and where there are not as many labels as records.
    """
    found = FeatureRows(coding, bounds, parts.map(FeatureReader(coding, targets, reader)).kept())
    if not found.in_one_place:
        found.rows.total(_checked)
    return found


def _checked(block: Block[FeatureSample]) -> npt.NDArray[np.int64]:
    block.refuse_other_size(block.data.targets.size)
    return np.zeros(1, dtype=np.int64)


@attrs.frozen(eq=False, repr=False)
class _Held:
    """Features that a block keeps.  numbers: how many, 0 where there was no room."""

    numbers: int
    pieces: list[FloatArray] = attrs.field(factory=list)


_taken: weakref.WeakSet[_Held] = weakref.WeakSet()
_taking = threading.Lock()


def _with_room(numbers: int, *, needed: bool) -> _Held:
    """For so many. needed: only if this process has room for them beside those of other blocks; it is taken then."""
    if not needed:
        return _Held(numbers)
    with _taking:
        if numbers + sum(each.numbers for each in _taken) > KEPT:
            return _Held(0)
        held = _Held(numbers)
        _taken.add(held)
    return held


@attrs.frozen(eq=False)
class _View:
    """How the records of a block are looked at, wherever it is; all of it public or released. See `FeatureTable`."""

    features: PublicFeatures
    records: int
    centre: float
    scale: float
    again: bool

    def summed(self, summand: Summand, block: Block[FeatureSample]) -> FloatArray:
        """What the records of a block add."""
        total: FloatArray | None = None
        for features, targets in self.pieces(block):
            found = summand(features, targets)
            total = found if total is None else np.add(total, found, out=total)
        assert total is not None  # no block is empty
        return total

    def pieces(self, block: Block[FeatureSample]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """See `UnitRows.blocks`."""
        width = self.features.map.width
        step = min(MOST, max(LEAST, PIECE // width))
        made: Iterable[FloatArray] = self._made(block, step)
        if self.again:
            held = block.remember("features", (self.features.key, self.records), lambda: self._held(block, step))
            made = held.pieces if held.numbers else made
        for start, rows in zip(range(0, block.size, step), made, strict=True):
            yield rows, (block.data.targets[start : start + step] - self.centre) / self.scale

    def _held(self, block: Block[FeatureSample], step: int) -> _Held:
        """What the block keeps, where there is room."""
        width = self.features.map.width
        held = _with_room(block.size * width, needed=self.records * width > KEPT)
        if held.numbers:
            held.pieces.extend(self._made(block, step))
        return held

    def _made(self, block: Block[FeatureSample], step: int) -> Iterator[FloatArray]:
        for start in range(0, block.size, step):
            yield self.features.rows(block.data.points[start : start + step], self.records)


@attrs.frozen(eq=False, repr=False)
class FeatureTable(SealedRepr):
    """Records as `mechanisms.gradients.feature_queries` takes them: their features, and (target − centre)/scale.

    again: whether there will be further visits, for which blocks keep their features where there is room.
    """

    features: PublicFeatures
    rows: Rows[FeatureSample]
    centre: float = 0.0
    scale: float = 1.0
    again: bool = False

    @property
    def records(self) -> int:
        """m, public."""
        return self.rows.n

    @property
    def width(self) -> int:
        """D."""
        return self.features.map.width

    def sums(self, summand: Summand) -> FloatArray:
        """See `UnitRows`: one visit to each block."""
        return self.rows.total(partial(self._view.summed, summand))

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """See `UnitRows`; for records in one place."""
        assert isinstance(self.rows, MemoryRows)  # solvers that need it refuse others
        for block in self.rows.blocks:
            yield from self._view.pieces(block)

    @property
    def _view(self) -> _View:
        self.features.ready()
        return _View(self.features, self.records, self.centre, self.scale, self.again)
