"""Additive boosting on records × 14 codes: one pass a round, with numpy and compiled, beside peers; and from Parquet.

Everything on one thread, each fit in a process of its own, in turns. Times are of the processor, so that what else the
machine does shows little: of a round medians over the rounds of a fit without pairs, ledger and secure noise included;
of a fit all that a user waits for, from an array of codes. Where records are many the default looks at pairs, too.
"""

import json
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.peers import folder, python_with
from benchmarks.runner import (
    ABSENT,
    Cell,
    Grid,
    Line,
    Measured,
    Missing,
    Report,
    Setting,
    Table,
    at_most,
    elsewhere,
    peak,
)
from benchmarks.speed.speed_many import COLUMNS, made_up, written
from learners import ParquetTable, PrivateBoostClassifier
from mechanisms.gradients import FAST_SWITCH, compiles

NUMPY, COMPILED = "0", "1"
NANOSECONDS: Final = {NUMPY: 20.0, COMPILED: 9.0}
"""A record and round, at most."""

NAMES: Final = {NUMPY: "numpy alone", COMPILED: "with the extra `fast`"}
FITS: Final = {"fit": "", "alone": " without pairs"}
GIBIBYTES, LINEAR = 1.0, 1.5
"""At most, of the largest file; and times the time per record and round at the smallest."""

PEERS: Final[dict[str, tuple[str, ...]]] = {
    "lightgbm": ("lightgbm==4.7.0", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"),
    "scikit-learn": ("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"),
    "DP-EBM": ("interpret-core==0.7.8", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "pandas==3.1.1"),
}
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
WORKER: Final = Path(__file__).parents[1] / "peer_workers" / "fit_codes.py"


def _learner(pairs: bool) -> PrivateBoostClassifier:
    return PrivateBoostClassifier(1.0, 1e-8, schema=made_up(1).layout.schema, interactions="auto" if pairs else ())


def ours(records: int, switch: str, warm: int) -> dict[str, float]:
    """Fits with pairs and without, after one of `warm` records to load what is compiled.

    Seconds of a fit; ns of a record and round without pairs.
    """
    os.environ[FAST_SWITCH] = switch
    ends, times = list[float](), list[float]()
    for size, pairs in ((warm, True), (records, True), (records, False)):
        sample = made_up(size)
        X, y = np.ascontiguousarray(sample.codes.T), (sample.labels > 0).astype(np.int8)
        ends.clear()
        start = time.process_time()
        _learner(pairs).fit(X, y, on_round=lambda number, released: ends.append(time.process_time()))
        times.append(time.process_time() - start)
    return {"fit": times[1], "alone": times[2], "round": 1e9 * float(np.median(np.diff(ends))) / records}


def _peer(python: Path, peer: str, records: int) -> float:
    command = [str(python), str(WORKER), peer, str(records)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
    if done.returncode:
        raise RuntimeError(f"{peer} failed in a process of its own:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def _pythons() -> tuple[dict[str, Path], list[Line]]:
    found, lines = dict[str, Path](), list[Line]()
    for peer, pins in PEERS.items():
        try:
            found[peer] = python_with(f"codes-{peer}", pins, folder())
        except Missing as error:
            lines.append(Line(ABSENT, str(error)))
    return found, lines


def beside_peers(setting: Setting) -> list[Table]:
    """A round per record, and fits of peers over ours, in turns."""
    records, repeats = (10**4, 1) if setting.quick else (10**6, 5)
    loading = 2**17  # as many as it takes to run what is compiled
    warm = {NUMPY: min(records, loading), COMPILED: loading} if setting.quick else dict.fromkeys(NAMES, loading)
    pythons, lines = _pythons()
    switches = [NUMPY, COMPILED] if compiles() else [NUMPY]
    if len(switches) == 1:
        lines.append(Line(f"ours, {NAMES[COMPILED]}", "not measured: numba is not here, pip install 'exchequer[fast]'"))
    mine: dict[str, list[dict[str, float]]] = {switch: [] for switch in switches}
    theirs: dict[str, list[float]] = {peer: [] for peer in pythons}
    os.environ.update(ONE_THREAD)
    for _ in range(repeats):
        for switch in switches:
            mine[switch].append(elsewhere(__name__, "ours", records, switch, max(records // 7, warm[switch])))
        for peer, python in pythons.items():
            theirs[peer].append(_peer(python, peer, records))
    rounds, fits = list[Line](), list[Line]()
    for switch, found in mine.items():
        each = Measured.median([one["round"] for one in found], unit="ns", form=".1f")
        rounds.append(at_most(NAMES[switch], each, NANOSECONDS[switch], judged=not setting.quick))
        for what, name in FITS.items():
            fits.append(Line(f"ours{name}, {NAMES[switch]}", Measured.median([one[what] for one in found], unit="s")))
    for peer, taken in theirs.items():
        fits.append(Line(peer, Measured.median(taken, unit="s")))
        for switch, found in mine.items():
            for what, name in FITS.items():
                ratios = [a / one[what] for a, one in zip(taken, found, strict=True)]
                ratio = Measured.median(ratios, unit="×", form=".1f")
                fits.append(Line(f"{peer} over ours{name}, {NAMES[switch]}", ratio))
    size = f"{records:,} records × {COLUMNS} codes, one thread"
    return [
        Report(f"A record and round of additive boosting: {size}", tuple(rounds)),
        Report(f"Fits as they ship: {size}, medians of {repeats}", (*fits, *lines)),
    ]


def in_files(records: int, file: int) -> dict[str, float]:
    """One fit from Parquet; call it in a fresh process. GiB at most; seconds; ns per record of what comes first and of
    a round."""
    with tempfile.TemporaryDirectory() as place:
        path, ends = written(file, Path(place), 4), list[float]()
        before, start = peak(), time.process_time()
        table = ParquetTable([path] * (records // file), "label")
        _learner(False).fit(table, on_round=lambda number, released: ends.append(time.process_time()))
        whole = time.process_time() - start
    per = 1e9 / records
    first, median = per * (ends[0] - start), per * float(np.median(np.diff(ends)))
    return {"before": before, "peak": peak(), "fit": whole, "first": first, "round": median}


def many_records(setting: Setting) -> list[Table]:
    """All sizes from Parquet, and what is asked of the largest."""
    sizes = (10**4, 4 * 10**4) if setting.quick else (10**6, 10**7, 10**8)
    least, most, judged = sizes[0], sizes[-1], not setting.quick
    found = {size: elsewhere(__name__, "in_files", size, least) for size in sizes}
    nanoseconds = partial(Measured, unit="ns", form=".1f")
    rows: tuple[tuple[Cell, ...], ...] = (
        ("seconds of a fit", *(Measured(each["fit"], unit="s") for each in found.values())),
        ("a round per record, its median", *(nanoseconds(each["round"]) for each in found.values())),
        ("before the first round ends, per record", *(nanoseconds(each["first"]) for each in found.values())),
        ("memory at most", *(Measured(each["peak"], unit="GiB", form=".2f") for each in found.values())),
    )
    times = Measured(found[most]["round"] / found[least]["round"], unit="×", form=".2f")
    lines = (
        at_most("memory", Measured(found[most]["peak"], unit="GiB", form=".2f"), GIBIBYTES, judged=judged),
        at_most(f"a round's time per record over that at {least:,}", times, LINEAR, judged=judged),
        Line("before the fit, imports included", Measured(found[most]["before"], unit="GiB", form=".2f")),
    )
    size = f"additive boosting without pairs on records × {COLUMNS} codes"
    head = ("", *(f"records={size:,}" for size in sizes))
    return [
        Grid(f"From Parquet: {size}, secure noise", head, rows),
        Report(f"Additive boosting of {most:,} records from Parquet", lines),
    ]
