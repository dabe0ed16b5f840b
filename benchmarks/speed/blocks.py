"""Records in blocks: 10^8 of them from Parquet in bounded memory, what Dask moves, and that nobody can tell the models.

Records are made up: 14 categorical codes as bytes and a label; a file of 10^6 is read as often as it takes.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import dask.dataframe
import numpy as np
import psutil  # type: ignore[import-untyped]  # ships no types; comes with distributed
from distributed import Client, LocalCluster

from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Table,
    at_least,
    at_most,
    elsewhere,
    peak,
)
from benchmarks.speed import one_pass
from benchmarks.speed.speed_many import COLUMNS, made_up, written
from learners import LazyBoostClassifier
from learners.blocks import ParquetTable
from proofs_tests.support.learners.in_blocks import LABEL, LEARNERS, in_parquet, people, released

ROUNDS: Final = 10
GIBIBYTES: Final = 1.5
LINEAR: Final = 1.5
"""Times the time per record and round at the smallest size."""

INDEPENDENT: Final = 1.1
"""Times the bytes that are moved in a round with a tenth of the records: heartbeats are among them."""


def _booster(**options: object) -> LazyBoostClassifier:
    settings: dict[str, Any] = {"learning_rate": 0.1, "density": 0.25, **options}
    return LazyBoostClassifier(1.0, 1e-9, rounds=ROUNDS, schema=made_up(1).layout.schema, **settings)


@attrs.define
class _Rounds:
    """When rounds ended."""

    ends: list[float] = attrs.field(factory=list)

    def __call__(self, number: int, hypothesis: object) -> None:
        self.ends.append(time.perf_counter())

    @property
    def each(self) -> float:
        """Seconds of a round, the median."""
        return float(np.median(np.diff(self.ends)))


def in_files(records: int, file: int) -> dict[str, float]:
    """One fit from Parquet; call it in a fresh process. GiB at most; ns per record of all before, and of a round."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(file, Path(folder), 4)
        before, rounds, start = peak(), _Rounds(), time.perf_counter()
        _booster().fit(ParquetTable([path] * (records // file), "label"), None, on_round=rounds)
        found = {"before": before, "peak": peak(), "first": rounds.ends[0] - start, "round": rounds.each}
    return {name: 1e9 * value / records if name in ("first", "round") else value for name, value in found.items()}


def in_memory(records: int) -> dict[str, float]:
    """The same fit on codes in memory: ns per record of a round."""
    sample, rounds = made_up(records), _Rounds()
    _booster().fit_encoded(sample, on_round=rounds)
    return {"round": 1e9 * rounds.each / records, "peak": peak()}


def many_records(setting: Setting) -> list[Table]:
    """All sizes from Parquet, and what is asked of the largest."""
    sizes = (10**4, 4 * 10**4) if setting.quick else (10**6, 10**7, 10**8)
    least, most, judged = sizes[0], sizes[-1], not setting.quick
    found = {size: elsewhere(__name__, "in_files", size, least) for size in sizes}
    held = elsewhere(__name__, "in_memory", least)
    nanoseconds = partial(Measured, unit="ns", form=".1f")
    rows: tuple[tuple[Cell, ...], ...] = (
        ("a round per record, its median", *(nanoseconds(each["round"]) for each in found.values())),
        ("before the first round ends, per record", *(nanoseconds(each["first"]) for each in found.values())),
        ("memory at most", *(Measured(each["peak"], unit="GiB", form=".2f") for each in found.values())),
    )
    times = Measured(found[most]["round"] / found[least]["round"], unit="×", form=".2f")
    beside = Measured(found[most]["round"] / held["round"], unit="×", form=".2f")
    lines = (
        at_most("memory", Measured(found[most]["peak"], unit="GiB", form=".2f"), GIBIBYTES, judged=judged),
        at_most(f"a round's time per record over that at {least:,}", times, LINEAR, judged=judged),
        Line(f"the same over that of {least:,} held in memory", beside),
        Line("before the fit, imports included", Measured(found[most]["before"], unit="GiB", form=".2f")),
    )
    size = f"{ROUNDS} rounds of 1-Rules on records × {COLUMNS} codes"
    head = ("", *(f"records={size:,}" for size in sizes))
    return [Grid(f"From Parquet: {size}, secure noise", head, rows), Report(f"{most:,} records from Parquet", lines)]


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[None]:
    """Of processes on this machine, which Dask computes with."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]  # Dask's
        Client(cluster),  # type: ignore[no-untyped-call]  # Dask's
    ):
        yield


def moved(*sizes: int) -> dict[str, float]:
    """Fits with the same two workers; call it in a fresh process. Bytes over the loopback and seconds of a round.

    sizes: records and partitions of the first fit, of the second, and so on. Each gives "bytes N" and "seconds N", N
      from 0.
    """
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, _cluster(2):
        for number, (records, partitions) in enumerate(zip(sizes[::2], sizes[1::2], strict=True)):
            path = written(records, Path(folder), partitions)
            counted, rounds = _counted(dask.dataframe.read_parquet(path, split_row_groups=True))
            found |= {f"bytes {number}": float(np.median(np.diff(counted))), f"seconds {number}": rounds.each}
    return found


def _counted(table: Any) -> tuple[list[int], _Rounds]:
    """A fit: the bytes over the loopback until the end of each round, and when that was."""
    counted, rounds = list[int](), _Rounds()

    def progress(number: int, hypothesis: object) -> None:
        rounds(number, hypothesis)
        counted.append(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)

    _booster().fit(table, "label", on_round=progress)
    return counted, rounds


def over_the_network(setting: Setting) -> list[Table]:
    """Bytes of a round at two sizes in as many partitions, and in more."""
    few, many = (2 * 10**4, 4 * 10**4) if setting.quick else (5 * 10**5, 5 * 10**6)
    cases = [(few, 2), (many, 2)] if setting.quick else [(few, 8), (many, 8), (many, 32)]
    told = elsewhere(__name__, "moved", *(number for case in cases for number in case))
    found = {case: (told[f"bytes {place}"], told[f"seconds {place}"]) for place, case in enumerate(cases)}
    head = ("", "KiB in a round", "seconds of a round")
    rows = [
        (f"{n:,} records in {parts} partitions", Measured(sent / 1024), Measured(seconds))
        for (n, parts), (sent, seconds) in found.items()
    ]
    grown = Measured(found[cases[1]][0] / found[cases[0]][0], unit="×", form=".2f")
    asked = at_most(f"bytes in a round, {many:,} records over {few:,}", grown, INDEPENDENT, judged=not setting.quick)
    title = "Two Dask workers, 1-Rules: all that goes over the loopback, heartbeats included"
    return [Grid(title, head, tuple(rows)), Report("What moves does not grow with the records", (asked,))]


def same_models(setting: Setting) -> list[Table]:
    """Models, statements and entries of the ledgers, byte by byte, beside those of a frame in memory."""
    frame, learners = people(), list(LEARNERS.items())[:: 5 if setting.quick else 1]

    def fitted(data: object, *labels: object) -> dict[str, str]:
        return {name: released(make().fit(data, *labels)) for name, make in learners}

    alone = fitted(frame.drop(columns=[LABEL]), frame[LABEL])
    ways: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ways["Parquet, 3 files"] = fitted(in_parquet(frame, Path(folder), (100, 1, 200)), LABEL)
    for workers, partitions in ((2, 2),) if setting.quick else ((1, 5), (1, 2), (4, 5), (4, 11)):
        with _cluster(workers):
            table = dask.dataframe.from_pandas(frame, npartitions=partitions)  # type: ignore[no-untyped-call]  # Dask's
            way = f"Dask, {workers} workers, {partitions} partitions"
            ways[way] = fitted(table, LABEL)
    same = {way: sum(found[name] == alone[name] for name in alone) for way, found in ways.items()}
    lines = [at_least(way, Measured(float(count), form=".0f"), float(len(alone))) for way, count in same.items()]
    return [Report(f"Of {len(alone)} learners, those whose files and ledgers are those of a fit in memory", lines)]


def parts(setting: Setting) -> list[Part]:
    """Many records, then Dask."""
    quick = setting.quick
    return [
        Part("many records from Parquet", partial(many_records, setting), 6.0 if quick else 120.0),
        Part("additive boosting from Parquet", partial(one_pass.many_records, setting), 10.0 if quick else 180.0),
        Part("bytes moved with Dask", partial(over_the_network, setting), 20.0 if quick else 60.0),
        Part("the same models", partial(same_models, setting), 15.0 if quick else 60.0),
    ]
