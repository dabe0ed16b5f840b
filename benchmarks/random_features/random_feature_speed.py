"""Table 1 of 004, its times: coefficients of a random feature model by pinv, by the Gram matrix, by Kaczmarz's method.

Features are cosines and sines, at frequencies of deviation SCALE, of m = 1,204 standard Gaussian points in 11 columns:
the sizes of Table 1, where 004 has medical costs. A plain product, and plain calls of the same shapes, are what the
times are held against; all of them run in turns, so that a busy machine is busy for all.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np
from scipy.linalg import lapack, solve

from accountant.arrays import FloatArray
from benchmarks.data import MEDICAL
from benchmarks.random_features.random_feature_fits import count, row
from benchmarks.random_features.random_feature_real import (
    BLOCKS,
    GRAM,
    NUMBERS,
    PINV,
    PRINTED_SECONDS,
    ROWS,
    SWEEPS,
    TOLERANCE,
    printed_at,
)
from benchmarks.runner import Grid, Line, Measured, Part, Report, Setting, Table, at_most, in_turns
from learners.random_features import (
    ROWS_PER_STEP,
    KaczmarzReport,
    NotConverged,
    kaczmarz,
    min_norm,
    single_row_kaczmarz,
)

RECORDS: Final = 1204
COLUMNS: Final = 11
SCALE: Final = 3.0
SMOOTH: Final = 0.3
"""The deviation of frequencies, in units of a standardised column: features that hardly overlap, and some that do."""

ASKED_GRAM, ASKED_KACZMARZ = 1.2, 2.0
"""Times the plain product and one solution; times the plain calls."""


def problem(records: int, features: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """A, whose rows have length 1, and y = sin x₁ + x₂ + noise."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((records, COLUMNS))
    phases = points @ (scale * rng.standard_normal((COLUMNS, features // 2)))
    targets = np.sin(points[:, 0]) + points[:, 1] + 0.1 * rng.standard_normal(records)
    return np.hstack([np.cos(phases), np.sin(phases)]) / math.sqrt(features // 2), targets


def plain_calls(features: FloatArray, targets: FloatArray, sweeps: int) -> Callable[[], object]:
    """What so many sweeps ask of BLAS and LAPACK, on any vectors and in plain order, and the one full product.

    A sweep is gemv, which memory bounds: flops over a peak rate would be a time that nothing reaches.
    """
    starts = range(0, len(features), ROWS_PER_STEP)
    blocks = [(features[start : start + ROWS_PER_STEP], targets[start : start + ROWS_PER_STEP]) for start in starts]
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


@attrs.frozen(eq=False)
class AtSize:
    """One N. seconds: by route.  sweeps: of Kaczmarz's method by blocks.  left: relative, of m single rows."""

    features: int
    seconds: dict[str, list[float]]
    sweeps: int
    left: float

    @staticmethod
    def of(records: int, features: int, repeats: int) -> "AtSize":
        """Measured."""
        matrix, targets = problem(records, features, SCALE)
        works: dict[str, Callable[[], object]] = {
            PINV: lambda: min_norm(matrix, targets, route="pinv"),
            ROWS: lambda: _by_rows(matrix, targets),
            GRAM: lambda: min_norm(matrix, targets),
            BLOCKS: lambda: _by_blocks(matrix, targets),
        }
        left = np.linalg.norm(targets - matrix @ _by_rows(matrix, targets)) / np.linalg.norm(targets)
        return AtSize(features, in_turns(works, repeats), _by_blocks(matrix, targets)[1].sweeps, float(left))

    def printed(self, route: str) -> float | None:
        """Seconds of Table 1."""
        return printed_at(PRINTED_SECONDS[MEDICAL], route, self.features)

    def time(self, route: str) -> Measured:
        """Seconds."""
        return Measured.median(self.seconds[route], self.printed(route), unit="s")

    def gain(self, route: str) -> Measured:
        """How many times pinv's seconds are those of a route."""
        pinv, other = self.printed(PINV), self.printed(route)
        printed = pinv / other if pinv and other else None
        return Measured.median(_ratios(self.seconds[PINV], self.seconds[route]), printed)


def _ratios(ours: Sequence[float], others: Sequence[float]) -> list[float]:
    """Round by round."""
    return [one / other for one, other in zip(ours, others, strict=True)]


def times(records: int, sizes: Sequence[int], repeats: int) -> list[Table]:
    """At every N: seconds, what pinv takes over them, and what the two ways of Kaczmarz's method need and leave."""
    found = [AtSize.of(records, size, repeats) for size in sizes]
    head = ("route", *(f"N = {size:,}" for size in sizes))
    seconds = tuple(row(route, (each.time(route) for each in found)) for route in found[0].seconds)
    gains = tuple(row(route, (each.gain(route) for each in found)) for route in (ROWS, GRAM, BLOCKS))
    left = [
        line
        for each in found
        for line in (
            Line(f"{BLOCKS}, N = {each.features:,}", Measured(each.sweeps, unit="sweeps", form=".0f")),
            Line(f"{ROWS}, N = {each.features:,}", Measured(each.left, unit="of the targets' norm left", form=".2g")),
        )
    ]
    size = f"m = {records:,}, {count(repeats, 'round')}"
    return [
        Grid(f"Seconds to min-norm coefficients, {size}", head, seconds),
        Grid(f"Times pinv's seconds are those of other routes, {size}", head, gains),
        Report(f"Kaczmarz's method: sweeps, and what as many steps as records leave, m = {records:,}", left),
    ]


def gram(records: int, features: int, repeats: int, judged: bool) -> Report:
    """Against the two plain products that numpy has."""
    matrix, targets = problem(records, features, SCALE)
    other, small = matrix.copy(), matrix @ matrix.T
    ours, syrk, gemm = "min_norm", "A @ A.T (syrk) and a solution", "A @ B.T (gemm) and a solution"
    works: dict[str, Callable[[], object]] = {
        ours: lambda: min_norm(matrix, targets),
        syrk: lambda: solve(matrix @ matrix.T, targets, assume_a="pos"),
        gemm: lambda: (matrix @ other.T, solve(small, targets, assume_a="pos")),
    }
    taken = in_turns(works, repeats)
    lines = [Line(name, Measured.median(each, unit="s")) for name, each in taken.items()]
    for name in (syrk, gemm):
        ratio = Measured.median(_ratios(taken[ours], taken[name]), unit="times")
        lines.append(at_most(f"min_norm over {name}", ratio, ASKED_GRAM, judged=judged))
    return Report(f"min_norm by the Gram matrix, m = {records:,}, N = {features:,}, {count(repeats, 'round')}", lines)


def kaczmarz_calls(records: int, features: int, repeats: int, judged: bool) -> Report:
    """Against plain gemv calls of the same shapes, which memory bounds, and where the features are smooth."""
    matrix, targets = problem(records, features, SCALE)
    report = _by_blocks(matrix, targets)[1]
    ours, plain = BLOCKS, "plain gemv calls of the same shapes"
    works = {ours: lambda: _by_blocks(matrix, targets), plain: plain_calls(matrix, targets, report.sweeps)}
    taken = in_turns(works, repeats)
    ratio = Measured.median(_ratios(taken[ours], taken[plain]), unit="times")
    try:
        found = f"{_by_blocks(*problem(records, features, SMOOTH))[1].sweeps} sweeps"
    except NotConverged as error:
        found = f"refused: {str(error).split(':')[0]}"
    lines = [
        *(Line(name, Measured.median(each, unit="s")) for name, each in taken.items()),
        at_most(f"{ours} over {plain}", ratio, ASKED_KACZMARZ, judged=judged),
        Line(f"{ours}: sweeps", Measured(report.sweeps, unit="sweeps", form=".0f")),
        Line(f"{ours}: operations", Measured(report.flops / 1e9, unit="GFLOP")),
        Line(f"the same with smooth features (frequencies of deviation {SMOOTH:g})", found),
    ]
    setting = f"m = {records:,}, N = {features:,}, {count(repeats, 'round')}"
    return Report(f"{BLOCKS} by blocks of {ROWS_PER_STEP}, {setting}", lines)


def parts(setting: Setting) -> list[Part]:
    """Times at the sizes of Table 1, and what is asked of them; small problems say nothing about large ones."""
    quick = setting.quick
    records, sizes, repeats = (300, (500, 1000), 1) if quick else (RECORDS, NUMBERS, 3)
    largest = (records, sizes[-1], 3 * repeats, not quick)
    return [
        Part("min_norm against plain products", lambda: [gram(*largest)], 0.2 if quick else 8.0),
        Part("Kaczmarz's method against plain calls", lambda: [kaczmarz_calls(*largest)], 0.3 if quick else 20.0),
        Part("routes to min-norm coefficients", partial(times, records, sizes, repeats), 0.3 if quick else 45.0),
    ]
