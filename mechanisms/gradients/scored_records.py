"""Records whose scores are sums of what released tables say of their codes, and the one pass over them of a round.

A pass first moves each score by what the newest table has for the record, then looks up the record's cell and adds its
gradient and curvature there: nothing is kept of it but the score. What a record adds follows from its own codes,
label, weight and score and from public tables, in whole numbers.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import CodeArray, ExactArray, IntArray
from mechanisms.core import Block, Rows, SealedRepr

CHUNK: Final = 2**15
"""Records that are read together: what is made of them on the way stays in a processor's cache."""


class Cells(Protocol):
    """Records in the cells of a public partition."""

    @property
    def cells(self) -> IntArray:
        """The cell of each record, shape (n,), in 0 … number − 1."""

    @property
    def number(self) -> int:
        """How many cells there are; public."""


class ScoredCells(Cells, Protocol):
    """The same with labels, and scores that follow from earlier releases.

    Partition and scores must be functions of a record and of what is public or released.
    """

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """With two classes −1 or +1, else the class 0 … K − 1; shape (n,)."""

    @property
    def scores(self) -> npt.NDArray[np.int32]:
        """In SCORE_UNIT: shape (n,) with two classes, the score of label +1; else shape (n, K)."""

    @property
    def weights(self) -> npt.NDArray[np.int32] | None:
        """In 0 … WEIGHT_ONE, shape (n,); None weighs every record WEIGHT_ONE."""


class CodedRecords(Protocol):
    """Records as codes, before anything is known of their scores."""

    @property
    def codes(self) -> CodeArray:
        """Shape (columns, n)."""

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """See `ScoredCells`."""

    @property
    def weights(self) -> npt.NDArray[np.int32] | None:
        """See `ScoredCells`."""


@attrs.frozen(eq=False, repr=False)
class PlainCells(SealedRepr):
    """`ScoredCells` of arrays."""

    cells: IntArray
    number: int
    labels: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int32] | None


@attrs.frozen(eq=False)
class LookUp:
    """A public table of whole numbers, by the code of one column or by the cells of two.

    columns: one or two of the codes' rows.  table: shape (codes, …) of one column, (cells, …) of two; contiguous.
    places: of two columns, what each code adds to the number of the cell; of one column, none.
    """

    columns: tuple[int, ...]
    table: npt.NDArray[np.int32]
    places: tuple[npt.NDArray[np.int32], ...] = ()

    def found(self, codes: CodeArray, rows: slice = slice(None)) -> npt.NDArray[np.int32]:
        """What it has for each of these records, shape (n, …). codes: shape (columns, n)."""
        place = codes[self.columns[0], rows]
        if self.places:
            (first, second), other = self.places, codes[self.columns[1], rows]
            place = first.take(place) + second.take(other)
        return np.asarray(self.table.take(place, axis=0))


@attrs.frozen
class Move:
    """What scores were moved by after a release; told apart by `token` alone, also where a copy came to a worker."""

    change: LookUp = attrs.field(eq=False)
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)


@attrs.define(eq=False, repr=False)
class MovingScores(SealedRepr):
    """Some records in cells, with scores that a table has yet to move; `ScoredCells` to whoever asks for its parts.

    records: with their codes, all of which `part` and `move` have.
    kept: the scores before, contiguous. They are moved in place, once, so nobody else may hold them.
    move: what they are yet to be moved by, if anything.  part: the cell of each record, among `number`.
    """

    records: CodedRecords
    kept: npt.NDArray[np.int32]
    move: LookUp | None
    part: LookUp
    number: int

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """See `ScoredCells`."""
        return self.records.labels

    @property
    def weights(self) -> npt.NDArray[np.int32] | None:
        """See `ScoredCells`."""
        return self.records.weights

    @property
    def cells(self) -> IntArray:
        """See `ScoredCells`."""
        return np.asarray(self.part.found(self.records.codes), dtype=np.intp)

    @property
    def scores(self) -> npt.NDArray[np.int32]:
        """See `ScoredCells`; moved first."""
        if self.move is not None:
            _moved(self.kept, self.records.codes, self.move)
            self.move = None
        return self.kept


def chunks(data: ScoredCells) -> Iterator[ScoredCells]:
    """The records as many at a time as a cache has room for; scores that are yet to be moved are, on the way."""
    if isinstance(data, MovingScores):
        return _moving_chunks(data)
    cells, labels, scores, weights = data.cells, data.labels, data.scores, data.weights
    return (
        PlainCells(cells[rows], data.number, labels[rows], scores[rows], None if weights is None else weights[rows])
        for rows in _slices(labels.size)
    )


def _moving_chunks(data: MovingScores) -> Iterator[ScoredCells]:
    move, codes, labels, weights = data.move, data.records.codes, data.labels, data.weights
    for rows in _slices(labels.size):
        if move is not None:
            data.kept[rows] += move.found(codes, rows)
        cells = np.asarray(data.part.found(codes, rows), dtype=np.intp)
        part = None if weights is None else weights[rows]
        yield PlainCells(cells, data.number, labels[rows], data.kept[rows], part)
    data.move = None


def _slices(n: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK))


def _moved(scores: npt.NDArray[np.int32], codes: CodeArray, change: LookUp) -> None:
    for rows in _slices(codes.shape[1]):
        scores[rows] += change.found(codes, rows)


@attrs.frozen(eq=False, repr=False)
class ScoredRows(SealedRepr):
    """Scored records in cells, wherever they are.

    rows: the records. Their scores, one number for each, or K, stay with them.
    moves: of all scores from 0, in order.  shape: of a record's scores, () for two classes, else (K,).
    part: the cell of each record, among `number`; public.  weighted: whether records have weights.
    """

    rows: Rows[Any]  # of `CodedRecords`
    moves: tuple[Move, ...]
    shape: tuple[int, ...]
    part: LookUp
    number: int
    weighted: bool

    @property
    def n(self) -> int:
        """Of records."""
        return self.rows.n

    def total(self, work: Callable[[ScoredCells], ExactArray]) -> ExactArray:
        """Σ work(block) over blocks of the records, one visit to each."""
        return self.rows.total(ScoreVisit(work, self.moves, self.shape, self.part, self.number, self.weighted))


@attrs.frozen(eq=False)
class ScoreVisit:
    """What a visit does with a block: `work` of its records, after the moves, in their cells. Parts: see `ScoredRows`.

    Scores go on from where the last visit with the first of the moves left them. They are moved in place: a new array
    in each round would take as long as moving them. So they are taken out of the scratch meanwhile, where another visit
    at the same time, or one after this failed, finds none and begins anew.
    """

    work: Callable[[ScoredCells], ExactArray]
    moves: tuple[Move, ...]
    shape: tuple[int, ...]
    part: LookUp
    number: int
    weighted: bool

    def __call__(self, block: Block[CodedRecords]) -> ExactArray:
        """See above."""
        done, scores = _taken(block, self.moves)
        if scores is None:
            scores = np.zeros((block.data.labels.size, *self.shape), dtype=np.int32)
        ahead = self.moves[done:]
        for move in ahead[:-1]:
            _moved(scores, block.data.codes, move.change)
        moving = MovingScores(block.data, scores, ahead[-1].change if ahead else None, self.part, self.number)
        found = self.work(moving)
        block.scratch["scores"] = (self.moves, moving.scores)
        return found


def _taken(block: Block[CodedRecords], moves: tuple[Move, ...]) -> tuple[int, npt.NDArray[np.int32] | None]:
    """How many of the moves were made, and the scores after them."""
    done, scores = block.scratch.pop("scores", ((), None))
    assert isinstance(done, tuple)
    if scores is None or moves[: len(done)] != done:
        return 0, None
    assert isinstance(scores, np.ndarray)
    return len(done), scores
