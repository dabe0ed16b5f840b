"""`make proofs`: the long searches, with what they found and how long they took.

Whole learners on every pair of tiny samples, against every rule of composition; the worst pair of every query and
selection rule; false alarms over twenty seeds; the power of sampling; the mutants.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from accountant import Cost, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import (
    GINI_IMPROVEMENT,
    EdgeVectors,
    ExponentialChoice,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    NegativeBinomialStopping,
    NoiseSource,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
    PlainMechanism,
    PrivateSelection,
    Query,
    RandomRados,
    RangeSensitivity,
    SeededNoise,
)
from mechanisms.queries.weighted_queries import gini, improvements
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    Report,
    ScriptedNoise,
    check_learner,
    check_mechanism,
    check_randomizer,
    neighbours,
    smallest_detectable,
    table,
)
from proofs_tests.harness.search import climbed, close_pair, worst_case
from proofs_tests.harness.strategies import zeta_close
from proofs_tests.mutants.__main__ import main as mutants
from proofs_tests.support.learners.tiny_learners import (
    LEARNERS,
    RECORDS,
    Learner,
    Output,
    Record,
    charges,
    output,
)


def learners() -> Iterator[str]:
    """Charged / exact / ratio of whole learners, all neighbouring samples of two records, two rounds."""
    pairs = [pair for pair in neighbours(ReplaceOne(), RECORDS, 2) if pair.before < pair.after]
    for learner in LEARNERS:
        yield table(check_learner(partial(_released, learner), charges(learner), pairs)) + "\n"


def _released(learner: Callable[[NoiseSource], Learner], records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
    return output(learner(noise), records)


def worst_pairs() -> Iterator[str]:
    """The widest change of Gini improvements over ζ-close weightings of 8 kinds of records, by Hypothesis."""
    for zeta in (0.3, 0.1, 0.01):
        declared = GINI_IMPROVEMENT.sensitivity(zeta).value

        def widening(pair: Pair[FloatArray]) -> float:
            values = [
                improvements(gini, weights.reshape(2, 2, 2).sum(axis=(0, 1))[None, :], _children(weights))
                for weights in pair
            ]
            return float(np.ptp(values[1] - values[0]))

        guessed = worst_case(widening, zeta_close(8, zeta), examples=200)
        climb = climbed(widening, partial(close_pair, zeta=zeta), 24)
        ratios = f"{guessed.value / declared:.4f} by Hypothesis, {climb.value / declared:.4f} by the optimiser"
        yield f"Gini improvement, ζ = {zeta}: {declared:.6f} declared; of it {ratios}"
        yield str(climb.against("Gini improvement", f"ζ = {zeta}", "range", declared))
    for randomizer in (ExponentialChoice(1.0), PermuteAndFlipChoice(1.0), NoisyMaxChoice(1.0)):
        yield str(check_randomizer(randomizer, RangeSensitivity(1.0), size=4))


def _children(weights: FloatArray) -> FloatArray:
    """Two splits of one leaf, by the first and by the second of three bits; the third is the label."""
    cells = weights.reshape(2, 2, 2)
    return np.stack([cells[1].sum(axis=0), cells[:, 1].sum(axis=0)])[None, :, :]


def alarms() -> Iterator[str]:
    """Sound sampled mechanisms of the library under twenty seeds each."""
    checks: dict[str, Callable[[float, int, int], Report]] = {
        "Laplace": lambda factor, seed, samples: check_randomizer(
            LaplaceNoise(1.0), L1Sensitivity(1.5 * factor), size=2, noise=SeededNoise(seed), samples=samples
        ),
        "Gaussian": lambda factor, seed, samples: check_randomizer(
            GaussianNoise(1.0), L2Sensitivity(1.5 * factor), size=2, noise=SeededNoise(seed), samples=samples
        ),
        "GammaNorm": lambda factor, seed, samples: check_randomizer(
            GammaNormNoise(1.0), L2Sensitivity(1.5 * factor), size=2, noise=SeededNoise(seed), samples=samples
        ),
    }
    column = Pair(*(EdgeVectors(np.where(np.arange(12)[:, None] < ones, 1.0, -1.0)) for ones in (6, 7)))
    checks["RandomRados"] = lambda factor, seed, samples: check_mechanism(
        RandomRados(4, 0, 12, 1e-3, SeededNoise(seed)), [column], samples=samples // 2
    )
    noisy: Query[int, FloatArray, L1Sensitivity] = Query(
        "value", lambda value: np.array([float(value)]), L1Sensitivity(1.0), ReplaceOne()
    )
    checks["PrivateSelection"] = lambda factor, seed, samples: check_mechanism(
        PrivateSelection(
            (PlainMechanism(noisy, LaplaceNoise(1.5), SeededNoise(seed)),),
            _first,
            NegativeBinomialStopping(1.0, 0.3),
            noise=SeededNoise(seed + 1000),
        ),
        [Pair(0, 1)],
        samples=samples // 2,
    )
    false = 0
    for name, check in checks.items():
        started = time.perf_counter()
        for seed in range(20):
            try:
                check(1.0, seed, 10_000)
            except ClaimViolated:
                false += 1
        yield f"{name}: 20 seeds, 10,000 samples each, {time.perf_counter() - started:.1f} s"
    yield f"false alarms: {false} of {20 * len(checks)}; family-wise error at most {20 * len(checks)} × 1e-6"


def _first(output_: FloatArray) -> float:
    """What runs are ranked by: the noisy value itself."""
    return float(np.ravel(output_)[0])


def power() -> Iterator[str]:
    """The factor that sampling finds with probability 0.9, by declared cost and samples, at confidence 1 − 1e-6."""
    for randomizer, sensitivity in ((LaplaceNoise(1.0), L1Sensitivity(1.5)), (LaplaceNoise(1.0), L1Sensitivity(0.5))):
        cost = randomizer.cost(sensitivity)
        yield _found_from(cost)
    for sensitivity_ in (1.5, 0.5):
        shift = GaussianNoise(1.0).cost(L2Sensitivity(sensitivity_))
        yield _found_from(shift)


def _found_from(cost: Cost) -> str:
    found = {n: smallest_detectable(cost, n) for n in SAMPLES}
    return f"{cost}: " + ", ".join(
        f"{'none' if factor is None else f'x{factor:.3f}'} from {n:,}" for n, factor in found.items()
    )


SAMPLES = (5_000, 20_000, 100_000)


def main() -> int:
    """Print every part with its time; 1 where a mutant lives unexplained."""
    for part in (learners, worst_pairs, alarms, power):
        started = time.perf_counter()
        _say(f"\n## {part.__name__}: {(part.__doc__ or '').splitlines()[0]}\n")
        for line in part():
            _say(line)
        _say(f"\n({time.perf_counter() - started:.1f} s)")
    _say("\n## mutants\n")
    return mutants()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
