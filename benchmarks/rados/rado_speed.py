"""What rados take: crafting 1,000 of them from a million records against the plain matrix product, and 1,000 rounds."""

from functools import partial
from typing import Final

import numpy as np

from benchmarks.runner import (
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Work,
    at_most,
    elsewhere,
    in_turns,
    limited,
    peak,
    thread_counts,
)
from boosting.rados import rado_boost
from mechanisms import EdgeVectors, SecureNoise, SeededNoise, sample_fixed_support_rados, sample_rados

FEATURES: Final = 50
RADOS: Final = 1000
PIECES: Final = 10
"""Of the supports in the plain product, which would take 4 GB in one."""

RATIO, GIBIBYTES, SECONDS = 3.0, 1.0, 1.0
"""What is asked."""

PRODUCT: Final = "plain product"


def drawn(records: int) -> EdgeVectors:
    """Made-up edge vectors in single precision, shape (records, FEATURES)."""
    return EdgeVectors(np.random.default_rng(0).standard_normal((records, FEATURES), dtype=np.float32))


def crafting(records: int) -> dict[str, float]:
    """The most memory, in GiB, of a process that crafts rados; call it in a fresh one."""
    sample_rados(drawn(records), RADOS, SeededNoise(0))
    return {"peak": peak()}


def product(edges: EdgeVectors) -> Work:
    """The plain product by BLAS, with supports that are there already."""
    wide = (RADOS, edges.records // PIECES)
    supports = np.random.default_rng(1).integers(0, 2, wide, dtype=np.uint8).astype(np.float32)
    parts = np.split(edges.edges, PIECES)
    return lambda: [np.matmul(supports, part) for part in parts]


def ways(edges: EdgeVectors) -> dict[str, Work]:
    """All that is timed. The first is asked for."""
    half, tenth = edges.records // 2, edges.records // 10
    return {
        "supports of a seed": lambda: sample_rados(edges, RADOS, SeededNoise(0)),
        "supports of half of the records": lambda: sample_fixed_support_rados(edges, RADOS, half, SecureNoise()),
        "supports of a tenth": lambda: sample_fixed_support_rados(edges, RADOS, tenth, SecureNoise()),
    }


def crafted(records: int, repeats: int, threads: int, judged: bool) -> Report:
    """Each way of crafting in turns with the plain product, as a ratio. judged: whether this is what is asked.

    threads: of BLAS. On a busy machine several wait for each other at every block.
    """
    edges = drawn(records)
    works = {PRODUCT: product(edges), **ways(edges)}
    times = in_turns({name: limited(work, threads) for name, work in works.items()}, repeats)
    plain = times.pop(PRODUCT)
    lines = [Line(f"{PRODUCT}, by BLAS", Measured.median(plain, unit="s"))]
    for place, (way, ours) in enumerate(times.items()):
        ratios = (mine / base for mine, base in zip(ours, plain, strict=True))
        found = Measured.median(ratios, unit="times the product", form=".2f")
        asked = place < 1
        lines.append(at_most(way, found, RATIO, judged=judged) if asked else Line(way, found))
    what = f"{RADOS:,} rados of {records:,} × {FEATURES} beside the plain product"
    return Report(f"BLAS threads: {threads}; {what}, single precision; turns: {repeats}", lines)


def taken(records: int, repeats: int, judged: bool) -> Report:
    """Memory of crafting, in a process of its own, and the time of learning."""
    vectors = np.random.default_rng(2).standard_normal((1000, 100)) + 0.5
    times = in_turns({"rounds": lambda: rado_boost(vectors, 1000)}, repeats)
    memory = Measured(elsewhere(__name__, "crafting", records)["peak"], unit="GiB", form=".2f")
    rounds = Measured.median(times["rounds"], unit="s")
    return Report(
        f"Memory of crafting {RADOS:,} rados of {records:,} × {FEATURES}, and time of learning",
        (
            at_most("memory of the process, data included", memory, GIBIBYTES, judged=judged),
            at_most(f"1,000 rounds on 1,000 rados, d = 100, median of {repeats}", rounds, SECONDS, judged=judged),
        ),
    )


SMALL: Final = (10_000, 1)
LARGE: Final = (10**6, 3)
"""Records and turns, of quick runs and of full ones."""


def crafting_parts(setting: Setting) -> list[Part]:
    """Times as ratios of one run."""

    def speed(threads: int) -> list[Report]:
        return [crafted(*(SMALL if setting.quick else LARGE), threads, judged=not setting.quick)]

    return [
        Part(f"speed of crafting, BLAS threads {each}", partial(speed, each), 2.0 if setting.quick else 65.0)
        for each in thread_counts()
    ]


def parts(setting: Setting) -> list[Part]:
    """Times, and memory. Needs no data. quick: a hundredth of the records, one turn."""
    records, repeats = SMALL if setting.quick else LARGE
    memory = Part(
        "memory of crafting", lambda: [taken(records, repeats, not setting.quick)], 2.0 if setting.quick else 9.0
    )
    return [*crafting_parts(setting), memory]
