"""Boosted 1-Rules on up to 10^7 records of 14 categorical codes, made up: time per record and round, and memory.

Each size in a process of its own. Codes are bytes, so 10^7 records are 140 MB. Labels follow two columns, with a fifth
flipped. Finding the largest byte is as fast as memory; numpy's sum of bytes is limited by its arithmetic.
"""

import time
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow
import pyarrow.parquet

from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Table,
    at_most,
    elsewhere,
    peak,
    seconds,
)
from learners import Categorical, EncodedSample, Layout, LazyBoostClassifier, Schema

COLUMNS, CELLS, ROUNDS = 14, 10, 50
GIBIBYTES: Final = 2.0
LINEAR: Final = 1.5
"""Times the time per record at 10^5; what does not fit into a cache takes longer."""


def made_up(records: int) -> EncodedSample:
    """Codes as bytes, shape (COLUMNS, records)."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, CELLS, (COLUMNS, records), dtype=np.uint8)
    labels = np.where((codes[0] > 4) | (codes[3] == 1), np.int8(1), np.int8(-1))
    labels[rng.random(records, dtype=np.float32) < 0.2] *= -1
    schema = Schema(tuple(Categorical(f"c{j}", tuple(map(str, range(CELLS)))) for j in range(COLUMNS)))
    return EncodedSample(Layout(schema), codes, labels)


def written(records: int, folder: Path, groups: int) -> Path:
    """A Parquet file of so many made-up records, in row groups of equal size."""
    sample = made_up(records)
    columns = {column.name: codes for column, codes in zip(sample.layout.schema.columns, sample.codes, strict=True)}
    table = pyarrow.table({**columns, "label": (sample.labels > 0).astype(np.uint8)})
    path = folder / f"{records}.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=-(-records // groups))
    return path


def measured(records: int) -> dict[str, float]:
    """One fit; call it in a fresh process. GiB with the data only and at most, seconds of it all and of a round."""
    sample = made_up(records)
    before, ends, start = peak(), list[float](), time.perf_counter()
    model = LazyBoostClassifier(1.0, 1e-8, rounds=ROUNDS, learning_rate=0.1, density=0.25)
    model.fit_encoded(sample, on_round=lambda number, hypothesis: ends.append(time.perf_counter()))
    whole = time.perf_counter() - start
    reading = float(np.median([seconds(sample.codes.sum) for _ in range(5)]))
    largest = float(np.median([seconds(sample.codes.max) for _ in range(5)]))
    a_round = float(np.median(np.diff(ends)))
    return {
        "data": before,
        "peak": peak(),
        "fit": whole,
        "round": a_round,
        "summing": a_round / reading,
        "largest": a_round / largest,
    }


def growth(setting: Setting) -> list[Table]:
    """All sizes, as curves, and what is asked of the largest."""
    sizes = (10**4, 10**5) if setting.quick else (10**5, 10**6, 10**7)
    found = {size: elsewhere(__name__, "measured", size) for size in sizes}
    head = ("", *(f"records={size:,}" for size in sizes))
    rows: tuple[tuple[Cell, ...], ...] = (
        ("seconds of a fit", *(Measured(each["fit"], unit="s") for each in found.values())),
        ("a round per record, its median", *(_per_record(size, each) for size, each in found.items())),
        ("memory at most", *(Measured(each["peak"], unit="GiB") for each in found.values())),
        ("a round over summing the bytes", *(Measured(each["summing"], unit="×") for each in found.values())),
        ("a round over finding the largest byte", *(Measured(each["largest"], unit="×") for each in found.values())),
    )
    least, most = sizes[0], sizes[-1]
    growing = _per_record(most, found[most]).value / _per_record(least, found[least]).value
    judged = not setting.quick
    size = f"{ROUNDS} rounds on records × {COLUMNS} codes"
    per_record = Measured(growing, unit="×", form=".2f")
    lines = (
        at_most("memory, data included", Measured(found[most]["peak"], unit="GiB"), GIBIBYTES, judged=judged),
        Line("before the fit, imports included", Measured(found[most]["data"], unit="GiB")),
        at_most(f"a round's time per record at {most:,} over {least:,}", per_record, LINEAR, judged=judged),
    )
    return [Grid(f"Growth: {size}, secure noise", head, rows), Report(f"{most:,} records: {size}", lines)]


def _per_record(size: int, found: dict[str, float]) -> Measured:
    return Measured(1e9 * found["round"] / size, unit="ns", form=".2f")


def parts(setting: Setting) -> list[Part]:
    """One."""
    return [Part("many records", partial(growth, setting), 3.0 if setting.quick else 25.0)]
