"""The one pass of a round: it moves scores and sums what a slow reader would, in chunks, in blocks and compiled."""

import importlib.util
import itertools
import pickle
from collections.abc import Callable

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import AddRemoveOne
from accountant.arrays import CodeArray, ExactArray
from mechanisms.core.rows import Block, MemoryRows, Sums
from mechanisms.gradients import compiled_sums, gradient_sums, scored_records
from mechanisms.gradients.compiled_sums import FAST_SWITCH, binary_pass, compiled_binary, compiles, softmax_pass
from mechanisms.gradients.gradient_sums import (
    MOST_GRADIENT_RECORDS,
    MOST_UNWEIGHTED_RECORDS,
    WEIGHT_ONE,
    binary_sums,
    binary_whole,
    gradient_query,
    softmax_sums,
    softmax_whole,
)
from mechanisms.gradients.scored_records import LookUp, Move, MovingScores, PlainCells, ScoredCells, ScoredRows, chunks

COMPILED = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="the extra `fast` is not installed")
CODES = 6
Whole = Callable[[ScoredCells], ExactArray]


@attrs.frozen(eq=False)
class Coded:
    """Records as codes."""

    codes: CodeArray
    labels: npt.NDArray[np.int8]
    weights: npt.NDArray[np.int32] | None

    def rows(self, rows: slice) -> "Coded":
        """Some of them."""
        weights = None if self.weights is None else self.weights[rows]
        return Coded(self.codes[:, rows], self.labels[rows], weights)


def coded(n: int, classes: int, seed: int, *, weighted: bool, kind: str = "uint8") -> Coded:
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1, 1], n) if classes == 2 else rng.integers(0, classes, n)
    weights = rng.integers(0, WEIGHT_ONE + 1, n).astype(np.int32) if weighted else None
    return Coded(rng.integers(0, CODES, (3, n)).astype(kind), labels.astype(np.int8), weights)


def table(rng: np.random.Generator, shape: tuple[int, ...], most: int, *, paired: bool) -> LookUp:
    """Of one column, or of two in three and two cells each."""
    if not paired:
        return LookUp((int(rng.integers(3)),), rng.integers(-most, most, (CODES, *shape)).astype(np.int32))
    places = 2 * np.arange(CODES, dtype=np.int32) // 4 * 2, np.arange(CODES, dtype=np.int32) % 2
    return LookUp((2, 0), rng.integers(-most, most, (6, *shape)).astype(np.int32), places)


def part_of(rng: np.random.Generator, *, paired: bool) -> LookUp:
    found = table(rng, (), 2, paired=paired)
    return attrs.evolve(found, table=np.abs(found.table))


def look(each: LookUp, codes: CodeArray, record: int) -> npt.NDArray[np.int32]:
    """One record's entry, the slow way."""
    first = int(codes[each.columns[0], record])
    if not each.places:
        return np.asarray(each.table[first])
    return np.asarray(each.table[each.places[0][first] + each.places[1][int(codes[each.columns[1], record])]])


@attrs.frozen
class Task:
    """Records, the tables that moved them, and the cells they are in."""

    records: Coded
    moves: tuple[Move, ...]
    part: LookUp
    shape: tuple[int, ...]

    @property
    def rows(self) -> ScoredRows:
        """In one block."""
        return self.among(MemoryRows.of(self.records, self.records.labels.size))

    def among(self, rows: MemoryRows[Coded]) -> ScoredRows:
        """In these."""
        return ScoredRows(rows, self.moves, self.shape, self.part, 3, self.records.weights is not None)

    @property
    def plain(self) -> PlainCells:
        """Cells and scores, record by record."""
        codes, n = self.records.codes, self.records.labels.size
        cells = np.array([look(self.part, codes, i) for i in range(n)], dtype=np.intp)
        scores = np.zeros((n, *self.shape), dtype=np.int32)
        for i in range(n):
            for move in self.moves:
                scores[i] += look(move.change, codes, i)
        return PlainCells(cells, 3, self.records.labels, scores, self.records.weights)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    n, classes, seed = draw(st.integers(0, 40)), draw(st.sampled_from([2, 3, 5])), draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from(["uint8", "uint16", "int64"]))
    records = coded(n, classes, seed, weighted=draw(st.booleans()), kind=kind)
    rng, shape = np.random.default_rng(seed), () if classes == 2 else (classes,)
    moves = tuple(
        Move(table(rng, shape, 2 ** draw(st.integers(1, 15)), paired=paired))
        for paired in draw(st.lists(st.booleans(), max_size=3))
    )
    return Task(records, moves, part_of(rng, paired=draw(st.booleans())), shape)


def whole_of(task: Task) -> Whole:
    return softmax_whole if task.shape else binary_whole


@given(tasks())
def test_rows_add_up_to_what_their_plain_cells_do(task: Task) -> None:
    sums = softmax_sums if task.shape else binary_sums
    assert np.array_equal(sums(task.rows), sums(task.plain))


@given(tasks(), st.integers(1, 50), st.lists(st.integers(0, 40), max_size=3))
def test_neither_chunks_nor_blocks_nor_earlier_visits_show(task: Task, chunk: int, cuts: list[int]) -> None:
    """The same rows visited for the first moves, for all, again, and after others: scores are of what is asked."""
    n = task.records.labels.size
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    parts = [task.records.rows(slice(a, b)) for a, b in itertools.pairwise(ends)]
    rows = MemoryRows.parts(parts, [part.labels.size for part in parts])
    other = attrs.evolve(task, moves=tuple(Move(move.change) for move in task.moves[:1]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scored_records, "CHUNK", chunk)
        for asked in (*(attrs.evolve(task, moves=task.moves[:k]) for k in range(4)), task, other, task):
            expected = whole_of(task)(asked.plain)
            assert np.array_equal(asked.among(rows).total(whole_of(task)), expected)


def test_a_visit_that_fails_leaves_no_half_moved_scores() -> None:
    records = coded(20, 2, 0, weighted=False)
    rng = np.random.default_rng(1)
    task = Task(records, (Move(table(rng, (), 99, paired=False)),), part_of(rng, paired=False), ())
    rows = MemoryRows.of(records, 20)

    def broken(data: ScoredCells) -> ExactArray:
        next(iter(chunks(data)))
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            task.among(rows).total(broken)
    assert np.array_equal(task.among(rows).total(binary_whole), binary_whole(task.plain))


def test_work_travels_without_the_records() -> None:
    task = Task(coded(10**5, 2, 0, weighted=False), (), part_of(np.random.default_rng(0), paired=False), ())
    sent = list[object]()

    class Elsewhere(MemoryRows[Coded]):
        def total(self, work: Callable[[Block[Coded]], Sums]) -> Sums:
            sent.append(work)
            return super().total(work)

    binary_sums(task.among(Elsewhere((Block(task.records, 0, task.records.labels.size),))))
    assert len(sent) == 1
    assert len(pickle.dumps(sent[0])) < 2000
    assert "sealed" in repr(task.rows)


# --- compiled ----------------------------------------------------------------------------------------------------


def moving(task: Task) -> MovingScores:
    """With the last move ahead."""
    earlier = attrs.evolve(task, moves=task.moves[:-1]).plain
    ahead = task.moves[-1].change if task.moves else None
    return MovingScores(task.records, earlier.scores, ahead, task.part, 3)


def check_pass(task: Task) -> None:
    data = moving(task)
    if task.shape:
        found = compiled_sums.compiled_softmax(
            data, gradient_sums._EXPONENTIAL, gradient_sums.LONGEST, gradient_sums.ONE, fewest=0
        )
    else:
        found = compiled_binary(data, gradient_sums._TERMS, fewest=0)
    plain = task.plain
    assert found is not None
    assert np.array_equal(found, whole_of(task)(plain))
    assert data.move is None
    assert np.array_equal(data.kept, plain.scores)


@settings(max_examples=50)
@given(tasks())
def test_the_loops_sum_the_same_integers(task: Task) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled_sums, "compiles", lambda: True)
        patched.setattr(compiled_sums, "_compiled", lambda kernel: kernel)
        check_pass(task)


@COMPILED
@settings(deadline=None)
@given(tasks())
def test_compiled_passes_agree_with_numpys_bit_by_bit(task: Task) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(FAST_SWITCH, raising=False)
        check_pass(task)


@COMPILED
@pytest.mark.parametrize("classes", [2, 3])
def test_many_records_are_summed_compiled_and_the_switch_turns_it_off(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, rng = () if classes == 2 else (classes,), np.random.default_rng(0)
    records = coded(compiled_sums.FEWEST, classes, 0, weighted=True)
    task = Task(records, (Move(table(rng, shape, 3000, paired=False)),), part_of(rng, paired=True), shape)
    seen, kernels = list[object](), compiled_sums._compiled

    def noted(kernel: compiled_sums.Kernel) -> compiled_sums.Kernel:
        seen.append(kernel)
        return kernels(kernel)

    monkeypatch.setattr(compiled_sums, "_compiled", noted)
    monkeypatch.delenv(FAST_SWITCH, raising=False)
    fast = task.rows.total(whole_of(task))
    assert seen == [softmax_pass if shape else binary_pass]
    monkeypatch.setenv(FAST_SWITCH, "0")
    assert np.array_equal(fast, task.rows.total(whole_of(task)))
    assert len(seen) == 1


def test_without_numba_or_with_the_switch_numpy_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FAST_SWITCH, "0")
    assert not compiles()
    monkeypatch.setattr(compiled_sums, "_numba", lambda: None)
    monkeypatch.delenv(FAST_SWITCH)
    assert not compiles()
    task = Task(coded(5, 2, 0, weighted=False), (), part_of(np.random.default_rng(0), paired=False), ())
    assert compiled_binary(moving(task), gradient_sums._TERMS, fewest=0) is None


# --- bounds ------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Many(MemoryRows[Coded]):
    """As if they were many."""

    said: int = 0

    @property
    def n(self) -> int:
        """As said."""
        return self.said


@pytest.mark.parametrize(("weighted", "most"), [(True, MOST_GRADIENT_RECORDS), (False, MOST_UNWEIGHTED_RECORDS)])
def test_more_records_than_sums_are_exact_for_are_refused(weighted: bool, most: int) -> None:
    records = coded(1, 2, 0, weighted=weighted)
    task = Task(records, (), part_of(np.random.default_rng(0), paired=False), ())
    check = gradient_query(AddRemoveOne(), 2).check
    check(task.among(Many((Block(records, 0, 1),), said=most)))
    with pytest.raises(ValueError, match="expected at most"):
        check(task.among(Many((Block(records, 0, 1),), said=most + 1)))


@pytest.mark.parametrize("cell", [-1, 3])
def test_cells_that_do_not_exist_are_refused(cell: int) -> None:
    task = Task(coded(3, 2, 0, weighted=False), (), LookUp((0,), np.array([0, cell], dtype=np.int32)), ())
    with pytest.raises(ValueError, match="outside the cells"):
        gradient_query(AddRemoveOne(), 2).check(task.rows)


@pytest.mark.parametrize(("weight", "most"), [(WEIGHT_ONE, MOST_GRADIENT_RECORDS), (1, MOST_UNWEIGHTED_RECORDS)])
def test_sums_of_the_most_records_are_exact(weight: int, most: int) -> None:
    """The largest terms there are, so often, are whole numbers that a float and 64 bits hold, and no two are one."""
    largest = gradient_sums.ONE * weight
    assert largest * most <= 2**53
    assert int(np.abs(gradient_sums._TERMS.astype(np.int32).astype(np.int64)).max()) <= gradient_sums.ONE
    assert gradient_sums.LONGEST <= gradient_sums.ONE
    assert np.int64(largest) * most + 1 != np.float64(largest * most - 1)
