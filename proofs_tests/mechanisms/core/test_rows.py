"""Records in blocks: sums, what stays with a block, and what a block never shows."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import ExactArray
from mechanisms.core.rows import Block, MemoryRows, added, in_block


def cut(values: list[int], cuts: list[int]) -> MemoryRows[ExactArray]:
    ends = sorted({end for end in cuts if 0 < end < len(values)})
    parts = np.split(np.array(values, dtype=np.int64), ends)
    return MemoryRows.parts(parts, [part.size for part in parts])


@given(st.lists(st.integers(-(2**55), 2**55), min_size=1, max_size=60), st.lists(st.integers(1, 59), max_size=8))
def test_sums_are_those_of_the_records_whatever_the_blocks(values: list[int], cuts: list[int]) -> None:
    """Beyond 2^53, too, where doubles would round."""
    rows = cut(values, cuts)
    assert rows.n == len(values)
    assert rows.total(lambda block: block.data.sum(keepdims=True)).tolist() == [sum(values)]
    assert rows.map(lambda data: 2 * data).kept().total(lambda block: block.data.sum(keepdims=True))[0] == 2 * sum(
        values
    )
    firsts = rows.total(lambda block: np.array([block.first * block.size, block.size]))
    starts = [0, *np.cumsum([block.size for block in rows.blocks])]
    assert firsts.tolist() == [sum(s * b.size for s, b in zip(starts, rows.blocks, strict=False)), len(values)]


def test_what_does_not_fit_together_is_not_added() -> None:
    assert added([np.array([2**60 + 1]), np.array([1])]).tolist() == [2**60 + 2]
    for other in (np.zeros(1, dtype=np.int64), np.zeros(2)):
        with pytest.raises(ValueError, match="blocks add up to"):
            added([np.zeros(2, dtype=np.int64), other])  # type: ignore[type-var]  # what must be refused
    with pytest.raises(ValueError, match="at least one block"):
        MemoryRows(())


def appended(calls: list[str]) -> Callable[[str, str], str]:
    def step(found: str, item: str) -> str:
        calls.append(item)
        return found + item

    return step


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=5), min_size=1, max_size=6))
def test_a_fold_is_what_it_would_be_from_the_start(asked: list[list[str]]) -> None:
    """Whatever was asked before: longer, shorter, or other items of the same number."""
    block = Block(None, 0, 1)
    for items in asked:
        assert block.fold("text", tuple(items), str, appended([])) == "".join(items)


def test_a_fold_goes_on_where_it_was_and_starts_anew_for_other_items() -> None:
    block, calls = Block(None, 0, 1), list[str]()
    block.fold("text", ("a",), str, appended(calls))
    block.fold("text", ("a", "b"), str, appended(calls))
    assert calls == ["a", "b"]
    assert block.fold("text", ("b",), str, appended(calls)) == "b"
    assert block.fold("other", ("a",), str, appended(calls)) == "a"
    assert calls == ["a", "b", "b", "a"]


def test_what_a_block_remembers_is_for_one_key_and_stays_where_it_is() -> None:
    block = Block("secret", 7, 1)
    assert block.remember("levels", 1, lambda: "first") == "first"
    assert block.remember("levels", 1, lambda: "never made") == "first"
    assert block.remember("levels", 2, lambda: "second") == "second"
    assert block.remember("levels", 1, lambda: "again") == "again"
    elsewhere = pickle.loads(pickle.dumps(block))  # noqa: S301  # as it goes to another worker
    assert (elsewhere.data, elsewhere.first, elsewhere.size, elsewhere.scratch) == ("secret", 7, 1, {})
    for each in (block, MemoryRows((block,))):
        assert "secret" not in repr(each)
        assert "sealed" in repr(each)


@pytest.mark.parametrize("first", [0, 5])
def test_errors_say_which_block_they_are_about(first: int) -> None:
    with pytest.raises(ValueError, match="row 3") as caught, in_block(first):
        raise ValueError("row 3 is wrong")
    assert getattr(caught.value, "__notes__", []) == (
        ["This is about the block that begins with record 5: rows are counted from there."] if first else []
    )
