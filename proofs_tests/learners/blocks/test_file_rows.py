"""Blocks from files: what is kept comes back, nothing stays behind, and memory holds a block."""

import gc
import os
import re
import stat
import subprocess
import sys
import tracemalloc
from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from accountant.arrays import ExactArray
from learners.blocks.files import FileRows, Rebuild, Scratch, StoredBlock, arrays_of
from mechanisms.core.rows import Block


def rows_of(values: ExactArray, sizes: list[int], folder: Path | None = None) -> FileRows[ExactArray]:
    starts = np.cumsum([0, *sizes]).tolist()

    def block(start: int, size: int) -> StoredBlock[ExactArray]:
        return StoredBlock(lambda: values[start : start + size], start, size)

    return FileRows(tuple(block(*each) for each in zip(starts[:-1], sizes, strict=True)), folder)


def sums(block: Block[ExactArray]) -> ExactArray:
    return np.array([block.data @ np.arange(block.first, block.first + block.size), block.size])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any))
def test_sums_are_those_of_the_records_whatever_the_blocks(sizes: list[int]) -> None:
    values = np.arange(sum(sizes)) * 3 + 1
    rows = rows_of(values, sizes)
    expected = [int(values @ np.arange(values.size)), values.size]
    assert rows.n == values.size
    for each in (rows, rows.kept(), rows.map(lambda part: part + 1).kept().map(lambda part: part - 1)):
        assert each.total(sums).tolist() == expected


def test_kept_blocks_are_made_once_and_others_at_each_visit() -> None:
    made = list[int]()

    def transform(part: ExactArray) -> ExactArray:
        made.append(part.size)
        return part

    rows = rows_of(np.arange(10), [4, 6]).map(transform)
    kept = rows.kept()
    assert made == [4, 6]
    for _ in range(3):
        kept.total(sums)
    assert made == [4, 6]
    rows.total(sums)
    assert made == [4, 6, 4, 6]


def test_what_was_found_out_stays_with_its_block() -> None:
    def noted(block: Block[ExactArray]) -> ExactArray:
        known = int("sum" in block.scratch)
        return np.array([known, block.remember("sum", 0, lambda: int(block.data.sum()))])

    rows = rows_of(np.arange(10), [4, 6]).kept()
    assert [rows.total(noted).tolist() for _ in range(3)] == [[0, 45], [2, 45], [2, 45]]
    assert rows.map(lambda part: part).total(noted).tolist() == [0, 45]


@attrs.frozen(slots=False, eq=False)
class Sample:
    """As learners have them; its constructor passes over all records."""

    numbers: npt.NDArray[Any]
    inner: "tuple[Sample, ...]" = ()
    public: str = "layout"

    def __attrs_post_init__(self) -> None:
        assert self.numbers.flags.writeable, "a constructor was called with what was read back"


Pair = namedtuple("Pair", ["left", "right"])

KINDS = st.one_of(arrays.integer_dtypes(), arrays.unsigned_integer_dtypes(), arrays.floating_dtypes(), st.just("?"))
ARRAYS = arrays.arrays(
    st.one_of(KINDS, arrays.unicode_string_dtypes(max_len=3)), arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)
)


def same(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray):
        assert isinstance(second, np.ndarray)
        alike = (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())
        return alike and not second.flags.writeable
    if isinstance(first, tuple):
        return type(first) is type(second) and all(map(same, first, second))
    if isinstance(first, Sample):
        return isinstance(second, Sample) and same(
            (first.numbers, first.inner, first.public), (second.numbers, second.inner, second.public)
        )
    return first == second


@given(st.lists(ARRAYS, min_size=1, max_size=4), st.booleans())
def test_what_is_kept_comes_back_bit_by_bit_and_read_only(found: list[npt.NDArray[Any]], turned: bool) -> None:
    if turned:
        found = [array.T for array in found]
    inner = (Sample(found[-1].copy()),)
    for data in (found[0], tuple(found), Pair(found[0], "text"), Sample(found[0].copy(), inner), (inner, 7)):
        scratch = Scratch()
        written = [arrays_of(data) for _ in range(2)]
        blocks = [(scratch.keep(parts), again) for parts, again in written]
        for read, again in blocks[::-1]:
            assert same(data, again(read()))


@attrs.frozen(eq=False)
class Own:
    """Says itself what is kept."""

    numbers: ExactArray
    rest: object = None

    def to_arrays(self) -> tuple[Mapping[str, npt.NDArray[Any]], Rebuild["Own"]]:
        return {"sum": np.array([self.numbers.sum()])}, lambda parts: Own(parts["sum"], "made again")


def test_data_may_say_what_is_kept() -> None:
    rows = rows_of(np.arange(10), [4, 6]).map(Own).kept()
    seen = rows.total(lambda block: np.array([block.data.numbers[0], block.data.rest == "made again"], dtype=np.int64))
    assert seen.tolist() == [45, 2]


@attrs.frozen(eq=False)
class Older:
    """Says it under the name of version 0.1."""

    numbers: ExactArray

    def taken_apart(self) -> tuple[Mapping[str, npt.NDArray[Any]], Rebuild["Older"]]:
        return {"sum": np.array([self.numbers.sum()])}, lambda parts: Older(parts["sum"])


def test_the_older_name_of_that_method_goes_on_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match=r"Older\.taken_apart: call it `to_arrays`"):
        rows = rows_of(np.arange(10), [4, 6]).map(Older).kept()
    assert rows.total(lambda block: block.data.numbers).tolist() == [45]


@pytest.mark.parametrize("data", [[1, 2], {"a": np.zeros(3)}, np.array(["a", None], dtype=object), object()])
def test_what_cannot_be_kept_is_refused(data: object) -> None:
    with pytest.raises(TypeError, match="cannot be kept"):
        rows_of(np.arange(3), [3]).map(lambda _: data).kept()


# --- nothing stays behind -----------------------------------------------------------------------------------


def open_files(folder: Path) -> list[str]:
    names = [
        os.readlink(f"/proc/self/fd/{number}")
        for number in os.listdir("/proc/self/fd")
        if number.isdigit()
        if os.path.islink(f"/proc/self/fd/{number}")
    ]
    return [name for name in names if name.startswith(str(folder))]


def test_the_file_has_no_name_and_goes_with_the_rows(tmp_path: Path) -> None:
    rows = rows_of(np.arange(10_000), [4_000, 6_000], tmp_path).kept()
    (name,) = open_files(tmp_path)
    assert name.endswith("(deleted)")
    assert list(tmp_path.iterdir()) == []
    mapped = rows.map(lambda part: part)
    del rows
    gc.collect()
    assert mapped.total(sums)[1] == 10_000  # which hold what they are made of
    del mapped
    gc.collect()
    assert open_files(tmp_path) == []


def test_nobody_else_may_open_it(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    assert stat.S_IMODE(os.fstat(scratch._file).st_mode) & 0o077 == 0
    assert repr(scratch) == "<Scratch: sealed>"


def test_a_failure_leaves_nothing_and_says_where_the_block_begins(tmp_path: Path) -> None:
    def refused(part: ExactArray) -> ExactArray:
        if 7 in part:
            raise ValueError("row 3 is refused")
        return part

    rows = rows_of(np.arange(10), [4, 6], tmp_path).map(refused)
    for visit in (rows.kept, lambda: rows.total(sums)):
        with pytest.raises(ValueError, match="row 3 is refused") as caught:
            visit()
        assert caught.value.__notes__ == [
            "This is about the block that begins with record 4: rows are counted from there."
        ]
        del caught
    gc.collect()
    assert (list(tmp_path.iterdir()), open_files(tmp_path)) == ([], [])
    with pytest.raises(ValueError, match="row 3") as first:
        rows_of(np.arange(10), [10]).map(refused).kept()
    assert not hasattr(first.value, "__notes__")


def test_no_room_is_an_error_and_no_crash() -> None:
    """Writes fail where there is no room, not reads."""
    code = """
import resource, numpy as np, signal
from learners.blocks.files import Scratch
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    Scratch().keep({"a": np.zeros(2_000)})
except OSError as error:
    print("refused", error.errno)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"refused \d+\n", done.stdout)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        rows_of(np.arange(3), [3], tmp_path / "nowhere").kept()


def test_no_block_stays_mapped_and_memory_holds_one(tmp_path: Path) -> None:
    """40 blocks of 4 MB: at most two are held at a time, and none after."""

    def mapped() -> int:
        lines = Path("/proc/self/maps").read_text().splitlines()
        return sum(str(tmp_path) in line for line in lines)

    size = 2**19
    most = list[int]()

    def look(block: Block[ExactArray]) -> ExactArray:
        most.append(mapped())
        return np.array([block.data[-1]])

    blocks = tuple(StoredBlock(lambda: np.ones(size, dtype=np.int64), place * size, size) for place in range(40))
    tracemalloc.start()
    try:
        kept = FileRows(blocks, tmp_path).kept()
        assert tracemalloc.get_traced_memory()[1] < 2.5 * 8 * size
    finally:
        tracemalloc.stop()
    assert kept.total(look).tolist() == [40]
    assert set(most) == {1}
    assert mapped() == 0


def test_reprs_are_sealed() -> None:
    rows = rows_of(np.arange(10), [10])
    assert [repr(rows), repr(rows.blocks[0])] == ["<FileRows: sealed>", "<StoredBlock: sealed>"]


def test_no_records_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        FileRows(())
