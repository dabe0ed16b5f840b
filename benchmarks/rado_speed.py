"""What rados take: crafting 1,000 of them from a million records against the plain matrix product, and 1,000 rounds."""

import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.report import Line, Report
from boosting.rado import rado_boost
from mechanisms import EdgeVectors, NoiseSource, SecureNoise, SeededNoise, sample_fixed_support_rados, sample_rados

PIECES = 10
"""Of the supports in the plain product, which would take 4 GB in one."""

RATIO, GIBIBYTES, SECONDS = 3.0, 1.0, 1.0
"""What is asked."""


def _seconds(work: Callable[[], object], repeats: int) -> float:
    """The median of so many runs."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def peak() -> float:
    """The most memory that this process ever had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _product(edges: EdgeVectors, number: int, repeats: int) -> float:
    """The plain product, with supports that are there already."""
    wide = (number, edges.records // PIECES)
    supports = np.random.default_rng(1).integers(0, 2, wide, dtype=np.uint8).astype(np.float32)
    parts = np.split(edges.edges, PIECES)
    return _seconds(lambda: [np.matmul(supports, part) for part in parts], repeats)


def tables(folder: str | None, quick: bool) -> list[Report]:
    """Times as ratios of the same run; the memory of this process, first of all, as it never falls."""
    records, features, number, repeats = (50_000 if quick else 10**6), 50, 1000, (1 if quick else 3)
    edges = EdgeVectors(np.random.default_rng(0).standard_normal((records, features), dtype=np.float32))
    sample_rados(edges, number, SecureNoise())
    memory = peak()
    product = _product(edges, number, repeats)

    def crafted(noise: NoiseSource) -> float:
        return _seconds(lambda: sample_rados(edges, number, noise), repeats) / product

    secure, seeded = crafted(SecureNoise()), crafted(SeededNoise(0))
    half = _seconds(lambda: sample_fixed_support_rados(edges, number, records // 2, SecureNoise()), 1) / product
    tenth = _seconds(lambda: sample_fixed_support_rados(edges, number, records // 10, SecureNoise()), 1) / product
    vectors = np.random.default_rng(2).standard_normal((1000, 100)) + 0.5
    rounds = _seconds(lambda: rado_boost(vectors, 1000), repeats)
    what = f"{number:,} rados of {records:,} x {features} in single precision"
    return [
        Report(
            "Speed and memory of rados",
            (
                Line(f"{what}: the plain product by BLAS", f"{product:.2f} s"),
                Line(
                    f"{what}, secure supports: times the product", f"{secure:.2f}", f"<= {RATIO:.0f}", secure <= RATIO
                ),
                Line(f"{what}, seeded: times the product", f"{seeded:.2f}", f"<= {RATIO:.0f}", seeded <= RATIO),
                Line(f"{what}, supports of half of the records", f"{half:.2f}"),
                Line(f"{what}, supports of a tenth of the records", f"{tenth:.2f}"),
                Line("memory of the process, data included", f"{memory:.2f} GiB", f"<= {GIBIBYTES:.0f}", memory <= 1.0),
                Line("1,000 rounds on 1,000 rados, d = 100", f"{rounds:.2f} s", f"<= {SECONDS:.0f} s", rounds <= 1.0),
            ),
        )
    ]
