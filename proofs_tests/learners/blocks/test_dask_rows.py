"""Blocks with Dask, on a cluster of real processes and in this one: sums, memory, logs, and workers that die."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # ships no types
import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from accountant.arrays import ExactArray
from learners.blocks.block_tables import AnyTable, Source, TableBlock
from learners.blocks.dask import DaskRows, DaskTable, bytes_of
from mechanisms.core.rows import Block
from proofs_tests.support.programs.clusters import Cluster, killed_when

Encoded = tuple[ExactArray, ExactArray]

N = 1_000


def frame(n: int = N) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(n), "text": np.array(["x", "yy"])[np.arange(n) % 2], "y": np.arange(n) % 3})


def encoded(part: TableBlock) -> Encoded:
    table = part.table
    assert isinstance(table, pd.DataFrame)
    assert "y" not in table.columns
    return np.asarray(table["a"], dtype=np.int64), np.asarray(part.labels, dtype=np.int64)


def sums(block: Block[Encoded]) -> ExactArray:
    """Of a column times the record's number, of labels, and of records."""
    places = np.arange(block.first, block.first + block.size)
    return np.array([block.data[0] @ places, block.data[1].sum(), block.size])


def expected(n: int = N) -> list[int]:
    return [int(np.arange(n) @ np.arange(n)), int((np.arange(n) % 3).sum()), n]


def collection(partitions: int = 5, n: int = N) -> AnyTable:
    """A DataFrame whose partitions are made by whoever needs them."""

    def part(number: int) -> pd.DataFrame:
        start, end = (n * place // partitions for place in (number, number + 1))
        places = np.arange(start, end)
        return pd.DataFrame({"a": places, "text": np.array(["x", "yy"])[places % 2], "y": places % 3})

    made: AnyTable = dask.dataframe.from_map(part, list(range(partitions)))  # type: ignore[no-untyped-call]  # Dask's
    return made


def kept(partitions: int = 5, n: int = N) -> DaskRows[Encoded]:
    rows = Source.of(collection(partitions, n), "y").rows.map(encoded).kept()
    assert isinstance(rows, DaskRows)
    return rows


@pytest.mark.parametrize("scheduler", ["sync", "threads", "cluster"])
def test_sums_are_those_of_the_records_whoever_adds_them(scheduler: str, request: pytest.FixtureRequest) -> None:
    settings = {} if scheduler == "cluster" else {"scheduler": scheduler}
    if scheduler == "cluster":
        request.getfixturevalue("computing")
    with dask.config.set(settings):
        for partitions in (1, 9):
            rows = Source.of(collection(partitions), "y").rows.map(encoded)
            assert rows.n == N
            assert rows.total(sums).tolist() == expected()
            assert rows.kept().total(sums).tolist() == expected()


def test_a_round_is_a_task_per_block_and_one_small_array_comes_back(computing: Cluster) -> None:
    """Of what a round leaves with the workers, nothing grows with the records, nor with the rounds before."""
    seen = []
    for n, rounds in ((1_000, 50), (100_000, 1)):
        rows = kept(10, n)
        with computing.watched() as watch:
            for _ in range(rounds):
                assert rows.total(sums).tolist() == expected(n)
        kinds = sorted({kind for kind, _ in watch.made})
        assert [sum(kind == other for other, _ in watch.made) / rounds for kind in kinds] == [3, 1, 10]
        assert kinds == ["_plus", "_unpacked", "_visited"]
        # The blocks and what the round does with them: a visit each, sums of eight, the sum of these, the work.
        assert [len(dict(rows.summed(sums).__dask_graph__())) for _ in range(2)] == [10 + 10 + 2 + 1 + 1] * 2
        assert max(size for kind, size in watch.made if kind != "_unpacked") < 300
        seen.append(sum(size for _, size in watch.made) / rounds)
    assert seen[0] == seen[1]


def test_work_is_sent_once_however_many_blocks_there_are() -> None:
    with dask.config.set(scheduler="sync"):
        rows = kept(20)
    model = np.arange(100_000)

    def work(block: Block[Encoded]) -> ExactArray:
        return model[block.size : block.size + 1]

    graph = dict(rows.summed(work).__dask_graph__())
    tasks = [cloudpickle.dumps(task) for key, task in graph.items() if not str(key).startswith("_through")]
    assert sorted(len(task) > 2_000 for task in tasks) == [False] * 24 + [True]


def noted(block: Block[Encoded]) -> ExactArray:
    known = int("sum" in block.scratch)
    return np.array([known, block.remember("sum", 0, lambda: int(block.data[0].sum()))])


def test_what_was_found_out_stays_with_the_block(computing: Cluster) -> None:
    """As a rule: Dask may move a block to a worker that has nothing to do, where it is found out again."""
    rows = kept()
    found = [rows.total(noted).tolist() for _ in range(4)]
    assert {value for _, value in found} == {sum(range(N))}
    assert found[0][0] == 0
    assert sum(known for known, _ in found[1:]) >= 9


@pytest.mark.usefixtures("here")
def test_what_was_found_out_stays_in_this_process() -> None:
    rows = kept()
    assert [rows.total(noted).tolist()[0] for _ in range(3)] == [0, 5, 5]


def test_dask_weighs_a_block_by_what_is_in_it() -> None:
    block = Block((np.zeros(1000), (np.zeros(10, dtype=np.int8), "text")), 0, 1000)
    assert 8010 <= bytes_of(block) <= 8800


def test_kept_blocks_are_all_that_stays(computing: Cluster) -> None:
    n = 400_000
    rows = kept(4, n)
    with computing.watched():
        held = sum(state.nbytes for state in computing.local.scheduler.tasks.values() if state.state == "memory")
    assert 16 * n <= held <= 16 * n * 1.05
    del rows


# --- collections --------------------------------------------------------------------------------------------


@pytest.fixture
def here() -> Iterator[None]:
    """Dask computes in this thread."""
    with dask.config.set(scheduler="sync"):
        yield


def two(part: TableBlock) -> Encoded:
    return np.asarray(part.table)[:, 0].astype(np.int64), np.asarray(part.labels, dtype=np.int64)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("chunks", [(1000, 2), (300, 1), ((0, 600, 0, 400), 2)])
def test_arrays_are_cut_along_records_only(chunks: object) -> None:
    X = dask.array.from_array(np.stack([np.arange(N), np.ones(N)], axis=1), chunks=(N, 2)).rechunk(chunks)  # type: ignore[no-untyped-call]  # Dask's
    y = dask.array.from_array(np.arange(N) % 3, chunks=77)  # type: ignore[no-untyped-call]  # Dask's
    assert Source.of(X, y).names is None
    assert Source.of(X, y).rows.map(two).total(sums).tolist() == expected()


@pytest.mark.usefixtures("here")
def test_labels_beside_a_frame_and_partitions_of_unknown_or_no_length() -> None:
    frames: Any = collection(5)
    chosen = frames[(frames["a"] < 300) | (frames["a"] >= 500)]  # one partition loses half, one all of its records
    for y in ("y", chosen["y"], chosen["y"].to_dask_array()):
        rows = Source.of(chosen if isinstance(y, str) else chosen[["a", "text"]], y).rows
        assert isinstance(rows, DaskRows)
        assert rows.sizes == (200, 100, 100, 200, 200)[: len(rows.sizes)]
        assert rows.map(encoded).total(sums)[2] == 800
    assert Source.of(chosen, "y").names == ("a", "text")
    values = Source.of(chosen[["a"]].to_dask_array(), chosen["y"].to_dask_array()).rows.map(two)
    assert values.total(sums).tolist() == Source.of(chosen, "y").rows.map(encoded).total(sums).tolist()


@pytest.mark.usefixtures("here")
def test_what_cannot_be_a_table_says_why() -> None:
    frames: Any = collection(5)
    numbers: Any = dask.array.ones((10, 2), chunks=5)
    refused: list[tuple[object, object, type[Exception], str]] = [
        (frames, "z", ValueError, "the name of a column of labels, one of .*'a', 'text', 'y'.*, got 'z'"),
        (frames, np.zeros(N), TypeError, "Series or an Array of Dask.*from_array"),
        (frames, frames["y"].repartition(npartitions=2), ValueError, "X is in 5 partitions, y in 2"),
        (frames, frames[frames["a"] > 10]["y"], ValueError, r"partitions of \[200, .*, y of \[189, "),
        (frames[frames["a"] < 0], "y", ValueError, "at least one record"),
        (numbers, dask.array.ones((10, 2), chunks=5), ValueError, r"y: expected shape \(n,\)"),
        (numbers, dask.array.ones(7, chunks=5), ValueError, r"of \[5, 5\] records, y of \[5, 2\]"),
        (numbers[0], numbers[0], ValueError, r"shape \(n, columns\), got shape \(2,\)"),
        (frames["a"], "y", TypeError, "a DataFrame or an Array of Dask, got Series"),
    ]
    for table, y, kind, said in refused:
        with pytest.raises(kind, match=said):
            Source.of(table, y)  # type: ignore[arg-type]  # that is the point
    assert repr(DaskTable(frames)) == "<DaskTable: 5 partitions>"


# --- failures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["transform", "work"])
def test_what_is_raised_reaches_the_caller_and_says_where_the_block_begins(computing: Cluster, step: str) -> None:
    def refuse(numbers: ExactArray) -> None:
        if 777 in numbers:
            raise ValueError(f"row {int(np.flatnonzero(numbers == 777)[0])} is refused")

    def transform(data: Encoded) -> Encoded:
        refuse(data[0])
        return data

    def work(block: Block[Encoded]) -> ExactArray:
        refuse(block.data[0])
        return sums(block)

    rows = kept()
    with pytest.raises(ValueError, match="row 177 is refused") as caught:
        rows.map(transform).kept() if step == "transform" else rows.total(work)
    assert caught.value.__notes__ == [
        "This is about the block that begins with record 600: rows are counted from there."
    ]
    assert rows.total(sums).tolist() == expected()


def test_logs_of_failures_hold_no_data(computing: Cluster) -> None:
    def broken(block: Block[Encoded]) -> ExactArray:
        raise ValueError("broken on purpose")

    frames = dask.dataframe.from_pandas(frame().assign(a=87_654_321), npartitions=2)  # type: ignore[no-untyped-call]  # Dask's
    rows = Source.of(frames, "y").rows.map(encoded)
    with pytest.raises(ValueError, match="on purpose"):
        rows.total(broken)
    logs = "\n".join(line for lines in computing.client.get_worker_logs().values() for _, line in lines)
    assert "broken on purpose" in logs
    assert "87654321" not in logs
    assert repr(rows) == "<DaskRows: sealed>"


@pytest.mark.parametrize("nanny", [False, True], ids=["for good", "and comes again"])
def test_a_worker_that_is_killed_in_mid_visit_changes_nothing(computing: Cluster, nanny: bool, tmp_path: Path) -> None:
    with computing.worker(nanny=nanny) as address:
        pid, before = computing.pid(address), len(computing.addresses())
        rows = kept(12)
        assert address in {
            holder.address for state in computing.local.scheduler.tasks.values() for holder in state.who_has or ()
        }

        def slow(block: Block[Encoded]) -> ExactArray:
            if os.getpid() == pid:
                (tmp_path / "there").touch()
                time.sleep(30.0)
            return sums(block)

        with killed_when(tmp_path / "there", pid):
            assert rows.total(slow).tolist() == expected()
        assert address not in computing.addresses()
        assert before == 3
        assert rows.total(sums).tolist() == expected()


@pytest.mark.parametrize("beside", [True, False], ids=["a series", "a column"])
def test_frames_of_which_columns_were_chosen_are_tables_too(beside: bool) -> None:
    whole: Any = collection(4)
    chosen = whole[["a", "text"]] if beside else whole[["a", "text", "y"]]
    rows = Source.of(chosen, whole["y"] if beside else "y").rows
    with dask.config.set(scheduler="sync"):
        assert rows.map(encoded).total(sums).tolist() == expected()


def test_partitions_that_are_not_the_same_each_time_are_refused(tmp_path: Path) -> None:
    """Their sizes are public and counted once; records that are made anew in another number would go unnoticed."""

    def moody(part: pd.DataFrame) -> pd.DataFrame:
        (tmp_path / f"seen{len(list(tmp_path.iterdir()))}").touch()
        return part.iloc[: -len(list(tmp_path.iterdir()))]

    whole: Any = collection(1)
    table = whole.map_partitions(moody, meta=frame(1))
    with (
        dask.config.set(scheduler="sync"),
        pytest.raises(ValueError, match="the collection is not the same each time"),
    ):
        Source.of(table, "y").rows.map(encoded).kept()
