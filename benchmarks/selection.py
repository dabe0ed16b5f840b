"""How long a private choice takes: many candidates in simulation, and an ordinary number securely."""

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.report import Line, Report
from mechanisms import ExponentialKernel, FiniteKernel, NoisyMaxKernel, PermuteAndFlipKernel, SecureNoise, SeededNoise

MANY, ORDINARY = 10**6, 326


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """The median of some calls, after one to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(data: str | None, quick: bool = False) -> Report:
    """Ratios to numpy's Gumbel draws in the same run, and milliseconds. data: unused."""
    repeats = 5 if quick else 15
    rng, noise = np.random.default_rng(0), SeededNoise(1)
    many, ordinary = rng.random(MANY), rng.random(ORDINARY)
    gumbel = median_seconds(lambda: rng.gumbel(size=MANY), repeats)
    kernels: tuple[FiniteKernel, ...] = (ExponentialKernel(50.0), PermuteAndFlipKernel(50.0), NoisyMaxKernel(50.0))
    lines = [Line(f"numpy drawing {MANY:,} Gumbel variables", f"{1e3 * gumbel:.1f} ms")]
    for kernel in kernels:
        ratio = median_seconds(lambda kernel=kernel: kernel.draw(many, noise), repeats) / gumbel  # type: ignore[misc]  # mypy infers no default of a lambda
        lines.append(Line(f"{kernel.name}, {MANY:,} candidates, seeded", f"{ratio:.2f} x", "3 x", ratio <= 3.0))
    for kernel in kernels:
        took = 1e3 * median_seconds(lambda kernel=kernel: kernel.draw(ordinary, SecureNoise()), 10 * repeats)  # type: ignore[misc]  # the same
        lines.append(Line(f"{kernel.name}, {ORDINARY} candidates, secure", f"{took:.2f} ms", "1 ms", took <= 1.0))
    return Report("Private choice", lines)
