"""What sampling detects: the share of runs in which an understated ε is refuted, beside the power that the kit states.

What samples prove does not depend on the number that is claimed, only on its kind. So each run draws once, and is asked
about every factor by which the claim might be understated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant import Cost, PureDP
from accountant.arrays import FloatArray
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
)
from mechanisms import (
    ExponentialChoice,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    RangeSensitivity,
    SeededNoise,
)
from proofs_tests.harness import ClaimViolated, Pair, check_mechanism, smallest_detectable
from proofs_tests.harness import Report as Found
from proofs_tests.harness.power import LIKELY, POWER
from proofs_tests.mutants.mutant import Drawn, drawn, smaller

FACTORS: Final = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0)
PAIR: Final = Pair(1.0, 0.0)
SOUGHT: Final = 10.0
"""Factors above are all the same to us: from few samples the kit may prove nothing at all."""

DRAWS_AT_ONCE: Final = 4096
"""Draws that are made at once: a single one takes numpy longer than the kit."""

Block: TypeAlias = Callable[[float], FloatArray]
"""Data to DRAWS_AT_ONCE independent outputs, shape (DRAWS_AT_ONCE,)."""


def laplace(seed: int) -> tuple[Cost, Block]:
    """PureDP(1)."""
    randomizer, noise = LaplaceNoise(1.0), SeededNoise(seed)
    return randomizer.cost(L1Sensitivity(1.0)), lambda value: randomizer.draw(np.full(DRAWS_AT_ONCE, value), noise)


def gaussian(seed: int) -> tuple[Cost, Block]:
    """GDP(1)."""
    randomizer, noise = GaussianNoise(1.0), SeededNoise(seed)
    return randomizer.cost(L2Sensitivity(1.0)), lambda value: randomizer.draw(np.full(DRAWS_AT_ONCE, value), noise)


def choice(seed: int) -> tuple[Cost, Block]:
    """BoundedRange(1): a choice of two whose scores both move by a half, drawn as its randomizer says."""
    randomizer, rng = ExponentialChoice(1.0), np.random.default_rng(seed)

    def block(value: float) -> FloatArray:
        law = np.exp(randomizer.log_probabilities(np.array([0.5 * value, 0.5 * (1.0 - value)])))
        return np.asarray(rng.random(DRAWS_AT_ONCE) < law[0], dtype=np.float64)

    return randomizer.cost(RangeSensitivity(1.0)), block


def rare(seed: int) -> tuple[Cost, Block]:
    """PureDP(1), lost on the rarest outcome that the kit's statement of power is about, and on nothing else."""
    rng = np.random.default_rng(seed)

    def block(value: float) -> FloatArray:
        return np.asarray(rng.random(DRAWS_AT_ONCE) < LIKELY * math.exp(value - 1.0), dtype=np.float64)

    return PureDP(1.0), block


SUBJECTS: Final = {
    "Laplace noise, ε = 1": laplace,
    "Gaussian noise, μ = 1": gaussian,
    "an exponential choice of two, width 1": choice,
    "an outcome of probability 0.05, ε = 1": rare,
}


def sampled(name: str, seed: int) -> Drawn[float]:
    """One of SUBJECTS, to be sampled."""
    cost, block = SUBJECTS[name](seed)
    supplies: dict[float, Iterator[FloatArray]] = {}

    def supply(value: float) -> Iterator[FloatArray]:
        while True:
            yield from block(value)[:, None]

    def draw(value: float, generator: np.random.Generator) -> FloatArray:
        return next(supplies.setdefault(value, supply(value)))

    return drawn(name, cost, draw)


def looked(name: str, samples: int, seed: int) -> Found:
    """What the kit finds, whether it refutes the true claim (a false alarm) or not."""
    try:
        return check_mechanism(sampled(name, seed), [PAIR], samples=samples)
    except ClaimViolated as violated:
        return violated.report


def refuted(found: Found, factor: float) -> bool:
    """Whether this run refutes a claim that is too small by the factor."""
    return attrs.evolve(found, bound=found.bound / factor).refuted


def least_refuted(found: Found) -> float:
    """The smallest factor that a run refutes, up to the kit's rounding; SOUGHT stands for all above."""
    return min(SOUGHT, 1.0 / found.ratio) if found.ratio else SOUGHT


def share(runs: Sequence[Found], factor: float) -> Measured:
    """Of runs that refute the factor, with the standard error of a share."""
    part = sum(refuted(found, factor) for found in runs) / len(runs)
    return Measured(part, math.sqrt(part * (1.0 - part) / len(runs)), form=".2f")


def stated(name: str, samples: int) -> float:
    """The smallest factor by which this claim may be too small while the kit says that it would have found as much."""
    cost, low, high = SUBJECTS[name](0)[0], 1.0, SOUGHT

    def promised(factor: float) -> bool:
        found = smallest_detectable(smaller(cost, factor), samples)
        return found is not None and found <= factor

    if not promised(high):
        return math.inf
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if promised(middle) else (middle, high)
    return high


def power(name: str, plan: Sequence[tuple[int, int]]) -> list[Table]:
    """One subject. plan: samples on each side, and runs."""
    found = {samples: [looked(name, samples, seed) for seed in range(runs)] for samples, runs in plan}
    shares: list[tuple[Cell, ...]] = [
        (f"{samples:,} samples, {len(runs)} runs", *(share(runs, factor) for factor in FACTORS))
        for samples, runs in found.items()
    ]
    halves = [
        Measured.median(map(least_refuted, runs), stated(name, samples), unit="×", form=".3f")
        for samples, runs in found.items()
    ]
    most = [
        Measured(float(np.quantile([least_refuted(run) for run in runs], 0.9)), None, stated(name, samples), "×", ".3f")
        for samples, runs in found.items()
    ]
    lines = [line for samples, runs in found.items() for line in power_lines(samples, runs, stated(name, samples))]
    return [
        Grid(
            f"{name}: share of runs that refute the claim, by the factor by which it is too small",
            ("", *(f"factor={factor:g}" for factor in FACTORS)),
            tuple(shares),
        ),
        Grid(
            f"{name}: the smallest factor refuted, by samples; printed is what the kit states",
            ("refuted by", *(f"samples={samples:,}" for samples in found)),
            (("half of the runs", *halves), ("nine runs of ten", *most)),
        ),
        Report(f"{name}: false alarms, the stated power, and time", lines),
    ]


def power_lines(samples: int, runs: Sequence[Found], factor: float) -> list[Line]:
    """At one number of samples."""
    what, alarms = f"{samples:,} samples", sum(found.refuted for found in runs)
    return [
        at_most(f"{what}: false alarms", Measured(alarms, unit=f"of {len(runs)} runs", form=".0f"), 0.0),
        at_least(f"{what}: share of runs that refute the stated factor", share(runs, factor), POWER)
        if math.isfinite(factor)
        else Line(f"{what}: share of runs that refute the stated factor", "none is stated"),
        Line(f"{what}: one check", Measured.median((found.seconds for found in runs), unit="s", form=".3g")),
    ]


def parts(setting: Setting) -> list[Part]:
    """One a subject."""
    plan = ((2_000, 5), (10_000, 5)) if setting.quick else ((10_000, 100), (100_000, 40), (1_000_000, 3))
    seconds = 0.5 if setting.quick else 65.0
    return [Part(f"sampling {name}", partial(power, name, plan), seconds) for name in SUBJECTS]
