"""Table 1 of 004, its times: coefficients of a random feature model by pinv, by the Gram matrix, by Kaczmarz's method.

Features are cosines and sines, at frequencies of deviation SCALE, of m = 1,204 standard Gaussian points in 11 columns:
the sizes of Table 1, where 004 has medical costs. A plain product, and plain calls of the same shapes, are what the
times are held against; all of them run in turns, so that a busy machine is busy for all.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from scipy.linalg import lapack, solve

from benchmarks.report import Grid, Line, Report
from boosting.measures import FloatArray
from learners.interpolation import BLOCK, KaczmarzReport, NotConverged, kaczmarz, min_norm, single_row_kaczmarz

RECORDS: Final = 1204
COLUMNS: Final = 11
SCALE: Final = 3.0
SMOOTH: Final = 0.3
"""The deviation of frequencies, in units of a standardised column: features that hardly overlap, and some that do."""

TOLERANCE: Final = 1e-6
SWEEPS: Final = 200
PRINTED: Final[Mapping[int, tuple[str, str]]] = {
    2000: ("0.61", "0.02"),
    4000: ("0.96", "0.02"),
    6000: ("1.44", "0.04"),
    8000: ("1.92", "0.07"),
    10000: ("2.44", "0.08"),
}
"""Seconds of pinv and Kaczmarz's method on medical costs: 004, Table 1."""

ASKED_GRAM, ASKED_KACZMARZ = 1.2, 2.0
"""Times the plain product and one solution; times the plain calls."""


def problem(records: int, features: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """A, whose rows have length 1, and y = sin x₁ + x₂ + noise."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((records, COLUMNS))
    phases = points @ (scale * rng.standard_normal((COLUMNS, features // 2)))
    targets = np.sin(points[:, 0]) + points[:, 1] + 0.1 * rng.standard_normal(records)
    return np.hstack([np.cos(phases), np.sin(phases)]) / math.sqrt(features // 2), targets


def in_turns(works: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """The median seconds of each, all of them in every round, after one round that is not counted."""
    taken: list[list[float]] = [[] for _ in works]
    for round_ in range(repeats + 1):
        for times, work in zip(taken, works, strict=True):
            start = time.perf_counter()
            work()
            if round_:
                times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def plain_calls(features: FloatArray, targets: FloatArray, sweeps: int) -> Callable[[], object]:
    """What so many sweeps ask of BLAS and LAPACK, on any vectors and in plain order, and the one full product.

    A sweep is gemv, which memory bounds: flops over a peak rate would be a time that nothing reaches.
    """
    starts = range(0, len(features), BLOCK)
    blocks = [(features[start : start + BLOCK], targets[start : start + BLOCK]) for start in starts]
    solution = features[0].copy()

    def work() -> None:
        for rows, _ in blocks:
            lapack.dpotrf((rows @ rows.T).T, clean=False, overwrite_a=True)
        for _ in range(sweeps):
            for rows, values in blocks:
                np.matmul(rows, solution)
                np.matmul(rows.T, values)
        np.matmul(features, solution)

    return work


def _by_blocks(features: FloatArray, targets: FloatArray) -> tuple[FloatArray, KaczmarzReport]:
    rng = np.random.default_rng(1)
    return kaczmarz(features, targets, tolerance=TOLERANCE, most_sweeps=SWEEPS, rng=rng)


def _by_rows(features: FloatArray, targets: FloatArray) -> FloatArray:
    return single_row_kaczmarz(features, targets, len(features), np.random.default_rng(1))


def _row(records: int, features: int, repeats: int) -> tuple[str, ...]:
    """One N: seconds, and what pinv takes over them."""
    matrix, targets = problem(records, features, SCALE)
    pinv, gram, blocks, rows = in_turns(
        [
            lambda: min_norm(matrix, targets, route="pinv"),
            lambda: min_norm(matrix, targets),
            lambda: _by_blocks(matrix, targets),
            lambda: _by_rows(matrix, targets),
        ],
        repeats,
    )
    report = _by_blocks(matrix, targets)[1]
    left = np.linalg.norm(targets - matrix @ _by_rows(matrix, targets)) / np.linalg.norm(targets)
    return (
        f"{features:,}",
        f"{pinv:.3f}",
        *(f"{each:.3f} (1/{pinv / each:.0f})" for each in (gram, blocks)),
        f"{report.sweeps}",
        f"{rows:.3f} (1/{pinv / rows:.0f})",
        f"{left:.2g}",
        *PRINTED.get(features, ("", "")),
    )


def _times(records: int, sizes: Sequence[int], repeats: int) -> Grid:
    head = (
        "N",
        "pinv, s",
        "gram, s (of pinv)",
        f"Kaczmarz to {TOLERANCE:g}, blocks of {BLOCK}",
        "sweeps",
        "Kaczmarz as published: m single rows",
        "relative residual it leaves",
        "pinv, printed",
        "Kaczmarz, printed",
    )
    title = f"Seconds to min-norm coefficients, m = {records:,}, median of {repeats}"
    return Grid(title, head, tuple(_row(records, size, repeats) for size in sizes))


def _asked(what: str, ratio: float, most: float, judged: bool) -> Line:
    """A ratio of times; small problems say nothing about what is asked of large ones."""
    if not judged:
        return Line(what, f"{ratio:.2f}")
    return Line(what, f"{ratio:.2f}", f"<= {most:g}", ratio <= most)


def _gram_lines(records: int, features: int, repeats: int, judged: bool) -> tuple[Line, ...]:
    """Against the two plain products that numpy has."""
    matrix, targets = problem(records, features, SCALE)
    other, small = matrix.copy(), matrix @ matrix.T
    ours, same, general = in_turns(
        [
            lambda: min_norm(matrix, targets),
            lambda: solve(matrix @ matrix.T, targets, assume_a="pos"),
            lambda: (matrix @ other.T, solve(small, targets, assume_a="pos")),
        ],
        repeats,
    )
    what = f"min_norm by the Gram matrix, m = {records:,}, N = {features:,}"
    return (
        Line(f"{what}", f"{ours:.3f} s"),
        _asked(f"{what}: times A @ A.T (syrk, {same:.3f} s) and a solution", ours / same, ASKED_GRAM, judged),
        _asked(f"{what}: times A @ B.T (gemm, {general:.3f} s) and a solution", ours / general, ASKED_GRAM, judged),
    )


def _kaczmarz_lines(records: int, features: int, repeats: int, judged: bool) -> tuple[Line, ...]:
    """Against plain calls, and where the features are smooth."""
    matrix, targets = problem(records, features, SCALE)
    report = _by_blocks(matrix, targets)[1]
    ours, plain = in_turns([lambda: _by_blocks(matrix, targets), plain_calls(matrix, targets, report.sweeps)], repeats)
    what = f"Kaczmarz to {TOLERANCE:g}, {report.sweeps} sweeps, {report.flops / 1e9:.1f} GFLOP"
    calls = f"plain gemv calls of the same shapes ({plain:.3f} s, memory-bound), not flops over a peak rate"
    line = _asked(f"{what}: times the flop count's time, taken as {calls}", ours / plain, ASKED_KACZMARZ, judged)
    try:
        found = f"{_by_blocks(*problem(records, features, SMOOTH))[1].sweeps} sweeps"
    except NotConverged as error:
        found = f"refused: {str(error).split(':')[0]}"
    return line, Line(f"the same with smooth features (frequencies of deviation {SMOOTH:g})", found)


def tables(folder: str | None, quick: bool) -> list[Report | Grid]:
    """Times at the sizes of Table 1, and what is asked of them. No data sets are read from `folder`."""
    records, sizes, repeats = (300, (1000,), 1) if quick else (RECORDS, tuple(PRINTED), 3)
    lines = (
        *_gram_lines(1200 if not quick else records, sizes[-1], 3 * repeats, not quick),
        *_kaczmarz_lines(records, sizes[-1], 3 * repeats, not quick),
    )
    return [Report("Speed of random feature models", lines), _times(records, sizes, repeats)]
