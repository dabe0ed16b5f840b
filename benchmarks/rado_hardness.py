"""What one who sees rados reads off them: 000, section 7, and what noise does to it. Made-up edges in 5 features.

Supports known: edges by linear equations where there are as many rados as records (Lemma 9a), and other edges with the
same rados where there are fewer (9b). Edges known: supports by meeting in the middle, and whether all rados come from
some records of a longer list (Lemma 12). What is NP-hard in the worst case can still be solved in the cases that occur;
seconds, of the processor, say how far that goes here.
"""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import attrs
import numpy as np

from accountant import gaussian
from benchmarks.rado_costs import DELTA
from benchmarks.report import Grid
from boosting.measures import FloatArray
from boosting.rado_attacks import another_solution, read_support, reconstruct_edges, subsumed
from mechanisms import EdgeVectors, SeededNoise, noised_rados, public_supports, sample_paired_rados

FEATURES: Final = 5
RADIUS: Final = 3.0
TOLERANCE: Final = 1e-9
SIZES: Final = (8, 12, 16, 20, 24, 28, 32, 36, 40)
FEW_VALUES: Final = 24
"""Most edges of −1 and +1 among which supports are counted: beyond there are too many to list."""

RECORDS: Final = 10
RATIOS: Final = (1, 2, 3, 4)
RADOS: Final = 3
EPSILON: Final = 1.0
SHORT: Final = 0.2
"""Seconds below which a time is the least of three."""

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of the processor, so that other programs do not count, and what came out."""
    times: list[float] = []
    while len(times) < 3 and (not times or times[0] < SHORT):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return min(times), found


def factor(before: tuple[int, float] | None, size: int, seconds: float) -> str:
    """By what a record more multiplies the time; "-" for the first."""
    return "-" if before is None else f"{(seconds / before[1]) ** (1.0 / (size - before[0])):.2f}"


# --- Supports are known -----------------------------------------------------------------------------------------------


def sigma_at(epsilon: float, number: int) -> float:
    """The noise on `number` rados in pairs, of edges within RADIUS, that costs (epsilon, DELTA)."""
    return 2.0 * RADIUS * math.sqrt(0.5 * number) / gaussian.mu(epsilon, DELTA)


def noisy_error(edges: FloatArray, number: int, seed: int) -> float:
    """Of edges that are solved for from noised rados, whose supports are public: its length over theirs."""
    records, sigma = edges.shape[0], sigma_at(EPSILON, number)
    rados = noised_rados(number, RADIUS, records, seed, sigma, SeededNoise(seed)).sample(EdgeVectors(edges))
    supports = sample_paired_rados(EdgeVectors(np.eye(records)), number // 2, public_supports(seed))
    return relative(reconstruct_edges(rados, supports), edges)


def relative(found: FloatArray, edges: FloatArray) -> float:
    """The length of the difference over that of the edges, all rows together; 1 is what guessing 0 gets."""
    return float(np.linalg.norm(found - edges)) / float(np.linalg.norm(edges))


def drawn(records: int, rng: np.random.Generator) -> FloatArray:
    """Edges of at most the radius, shape (records, FEATURES)."""
    edges = rng.standard_normal((records, FEATURES))
    return np.asarray(edges * np.minimum(1.0, RADIUS / np.linalg.norm(edges, axis=1, keepdims=True)))


def supports_known(sizes: Sequence[int], seed: int = 0) -> Grid:
    """Reconstruction with enough rados, twins with too few, and reconstruction from noised rados."""
    found = [_known(records, np.random.default_rng([seed, records]), seed) for records in sizes]
    head = (
        *("m", "n", "error of the edges, n = 2m exact rados"),
        *("n", "twin edges: difference", "twin edges: difference of their rados"),
        *("n", f"error of the edges, noised rados, ε = {EPSILON:g}"),
    )
    title = (
        "Supports known (000, Lemma 9): with n ≥ m rados all edges are read, with fewer there are others; differences "
        "over the length of all edges, where guessing 0 errs by 1"
    )
    return Grid(title, head, tuple(found))


def _known(records: int, rng: np.random.Generator, seed: int) -> tuple[str, ...]:
    edges, enough, few = drawn(records, rng), 2 * records, records - 1
    supports = rng.integers(0, 2, (enough, records)).astype(np.float64)
    exact = relative(reconstruct_edges(supports @ edges, supports), edges)
    fewer = supports[:few]
    twin = another_solution(edges, fewer, float(np.linalg.norm(edges)))
    same = relative(fewer @ twin, fewer @ edges)
    noisy = noisy_error(edges, enough + 2, seed)
    return (
        *(str(records), str(enough), f"{exact:.1e}"),
        *(str(few), f"{relative(twin, edges):.2f}", f"{same:.1e}"),
        *(str(enough + 2), f"{noisy:.1f}"),
    )


# --- Edges are known --------------------------------------------------------------------------------------------------


@attrs.frozen
class Read:
    """Of one rado. seconds: to read its support.  right: whether it is the only one found, and the true one."""

    records: int
    seconds: float
    right: bool


def read(records: int, seed: int = 0) -> Read:
    """Of a random rado of edges in general position."""
    rng = np.random.default_rng([seed, records])
    edges, support = drawn(records, rng), rng.integers(0, 2, records).astype(np.float64)
    seconds, found = timed(lambda: read_support(support @ edges, edges, TOLERANCE))
    return Read(records, seconds, np.array_equal(found, support[None]))


def fitting_few_values(records: int, seed: int = 0) -> str:
    """How many supports fit a random rado of edges of −1 and +1; "-" where these are too many to list."""
    if records > FEW_VALUES:
        return "-"
    rng = np.random.default_rng([seed, records])
    edges = rng.choice([-1.0, 1.0], size=(records, FEATURES))
    return f"{len(read_support(rng.integers(0, 2, records) @ edges, edges, 0.0)):,}"


def edges_known(sizes: Sequence[int]) -> Grid:
    """Time against m, its growth, and in the title what follows."""
    found = [read(records) for records in sizes]
    before = [None, *((each.records, each.seconds) for each in found)]
    rows = tuple(
        (
            *(str(each.records), f"{each.seconds:.4f}", factor(last, each.records, each.seconds)),
            *("yes" if each.right else "no", fitting_few_values(each.records)),
        )
        for each, last in zip(found, before, strict=False)
    )
    last = found[-1]
    title = (
        f"Edges known (000, 7.2): NP-hard in the worst case, yet the support of a rado is read in {last.seconds:.2g} s "
        f"at m = {last.records}, so hardness is no protection"
    )
    few = f"supports that fit, edges of −1 and +1 in {FEATURES} features"
    return Grid(title, ("m", "seconds", "times per record more", "the support alone is found", few), rows)


@attrs.frozen
class Probe:
    """Seconds for rados of some of the candidates, and for those of nobody among them; whether both were told."""

    candidates: int
    seconds: float
    seconds_none: float
    right: bool


def probe(candidates: int, records: int = RECORDS, seed: int = 0) -> Probe:
    """RADOS of `records` of the candidates, and of others."""
    rng = np.random.default_rng([seed, candidates])
    listed, strangers = drawn(candidates, rng), drawn(records, rng)
    own = np.sort(rng.choice(candidates, records, replace=False))
    supports = np.vstack([np.ones(records), rng.integers(0, 2, (RADOS - 1, records))])
    seconds, found = timed(lambda: subsumed(supports @ listed[own], listed, records, TOLERANCE))
    none, nobody = timed(lambda: subsumed(supports @ strangers, listed, records, TOLERANCE))
    return Probe(candidates, seconds, none, found is not None and np.array_equal(found[0], own) and nobody is None)


def probed(ratios: Sequence[int], records: int = RECORDS) -> Grid:
    """Time against candidates per record."""
    found = [probe(ratio * records, records) for ratio in ratios]
    before = [None, *((each.candidates, each.seconds) for each in found)]
    rows = tuple(
        (
            *(
                f"{each.candidates / records:g}",
                str(each.candidates),
                f"{each.seconds:.4f}",
                f"{each.seconds_none:.4f}",
            ),
            *(factor(last, each.candidates, each.seconds), "yes" if each.right else "no"),
        )
        for each, last in zip(found, before, strict=False)
    )
    title = f"Probe-Sample-Subsumption (000, Lemma 12): whether {RADOS} rados are those of {records} of the candidates"
    head = ("candidates / m", "candidates", "seconds, they are", "seconds, they are not", "times per candidate more")
    return Grid(title, (*head, "both told, and whose"), rows)


def tables(folder: str | Path | None = None, quick: bool = False) -> list[Grid]:
    """All three; needs no data. quick: up to 24 records."""
    sizes, ratios = (SIZES[:5], RATIOS[:2]) if quick else (SIZES, RATIOS)
    return [supports_known((10, 30) if quick else (10, 30, 100, 300)), edges_known(sizes), probed(ratios)]
