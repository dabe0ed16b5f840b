"""What one who sees rados reads off them: 000, section 7, and what noise does to it. Made-up edges in 5 features.

Supports known: edges by linear equations where there are as many rados as records (Lemma 9a), and other edges with the
same rados where there are fewer (9b). Edges known: supports by meeting in the middle, and whether all rados come from
some records of a longer list (Lemma 12). What is NP-hard in the worst case can still be solved in the cases that occur;
seconds, of the processor, say how far that goes here.
"""

import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from benchmarks.rados.rado_costs import DELTA
from benchmarks.runner import Grid, Line, Measured, Part, Report, Setting
from boosting.theory import another_solution, read_support, reconstruct_edges, subsumed
from mechanisms import EdgeVectors, SeededNoise, noised_rados, rados_over

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


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> Measured:
    """By what one more multiplies the time: the median over the steps from size to size, two at least."""
    steps = zip(sizes, sizes[1:], seconds, seconds[1:], strict=False)
    found = ((after / before) ** (1.0 / (larger - smaller)) for smaller, larger, before, after in steps)
    return Measured.median(found, unit="times", form=".2f")


# --- Supports are known -----------------------------------------------------------------------------------------------


def sigma_at(epsilon: float, number: int) -> float:
    """The noise on `number` rados in pairs, of edges within RADIUS, that costs (epsilon, DELTA)."""
    return 2.0 * RADIUS * math.sqrt(0.5 * number) / gaussian.mu(epsilon, DELTA)


def noisy_error(edges: FloatArray, number: int, seed: int) -> float:
    """Of edges that are solved for from noised rados, whose supports are public: its length over theirs.

    Supports are of the first seed from `seed` on that leaves no record out: few of few records may.
    """
    (records, features), sigma = edges.shape, sigma_at(EPSILON, number)
    places = EdgeVectors(np.eye(records)).rows
    for each in itertools.count(seed):
        half = rados_over(places, number // 2, each)
        supports = np.concatenate([half, 1.0 - half])
        if np.linalg.matrix_rank(supports) == records:
            break
    mechanism = noised_rados(number, RADIUS, records, features, each, sigma, SeededNoise(seed))
    return relative(reconstruct_edges(mechanism.sample(EdgeVectors(edges).rows), supports), edges)


def relative(found: FloatArray, edges: FloatArray) -> float:
    """The length of the difference over that of the edges, all rows together; 1 is what guessing 0 gets."""
    return float(np.linalg.norm(found - edges)) / float(np.linalg.norm(edges))


def drawn(records: int, rng: np.random.Generator) -> FloatArray:
    """Edges of at most the radius, shape (records, FEATURES)."""
    edges = rng.standard_normal((records, FEATURES))
    return np.asarray(edges * np.minimum(1.0, RADIUS / np.linalg.norm(edges, axis=1, keepdims=True)))


@attrs.frozen
class Known:
    """Of edges whose supports are known, differences over the length of all edges, where guessing 0 errs by 1.

    exact: of edges that are solved for, from twice as many exact rados as records.  twin: of other edges that have one
    rado less than records in common with these.  same: of the rados of both, over theirs.  noisy: of edges that are
    solved for from noised rados, two more than twice the records.
    """

    exact: float
    twin: float
    same: float
    noisy: float


def known(records: int, seed: int = 0) -> Known:
    """Reconstruction with enough rados, twins with too few, and reconstruction from noised rados."""
    rng = np.random.default_rng([seed, records])
    edges, enough = drawn(records, rng), 2 * records
    supports = rng.integers(0, 2, (enough, records)).astype(np.float64)
    fewer = supports[: records - 1]
    twin = another_solution(edges, fewer, float(np.linalg.norm(edges)))
    return Known(
        exact=relative(reconstruct_edges(supports @ edges, supports), edges),
        twin=relative(twin, edges),
        same=relative(fewer @ twin, fewer @ edges),
        noisy=noisy_error(edges, enough + 2, seed),
    )


def supports_known(sizes: Sequence[int]) -> Grid:
    """A column for each number of records."""
    found = [known(records) for records in sizes]
    rows = {
        "edges from n=2m exact rados": [each.exact for each in found],
        "edges that share n=m−1 rados: difference": [each.twin for each in found],
        "edges that share n=m−1 rados: that of their rados": [each.same for each in found],
        f"edges from n=2m+2 noised rados, ε={EPSILON:g}": [each.noisy for each in found],
    }
    return Grid(
        "Supports known (000, Lemma 9): errors over the length of all edges, where guessing 0 errs by 1",
        ("error", *(f"m={records}" for records in sizes)),
        tuple((name, *(Measured(each, form=".2g") for each in row)) for name, row in rows.items()),
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


def fitting_few_values(records: int, seed: int = 0) -> int:
    """How many supports fit a random rado of edges of −1 and +1."""
    rng = np.random.default_rng([seed, records])
    edges = rng.choice([-1.0, 1.0], size=(records, FEATURES))
    return len(read_support(rng.integers(0, 2, records) @ edges, edges, 0.0))


def edges_known(sizes: Sequence[int]) -> list[Report | Grid]:
    """Time to read a support against m and its growth; and how many supports fit where edges have few values."""
    found = [read(records) for records in sizes]
    few = [records for records in sizes if records <= FEW_VALUES]
    right = Measured(sum(each.right for each in found), unit=f"of {len(found)}", form=".0f")
    return [
        Grid(
            "Edges known (000, 7.2): NP-hard at worst, yet a rado's support is read; seconds of the processor",
            ("edges", *(f"m={records}" for records in sizes)),
            (("in general position", *(Measured(each.seconds) for each in found)),),
        ),
        Report(
            f"Edges known, m={sizes[0]} to {sizes[-1]}: what is read, and how its time grows",
            (
                Line("sizes at which the true support is the only one that is found", right),
                Line("time for one record more", growth(sizes, [each.seconds for each in found])),
            ),
        ),
        Grid(
            f"Edges known, each −1 or +1 in {FEATURES} features: supports that fit a random rado",
            ("edges", *(f"m={records}" for records in few)),
            (("of −1 and +1", *(Measured(fitting_few_values(records), form=",.0f") for records in few)),),
        ),
    ]


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


def probed(ratios: Sequence[int], records: int = RECORDS) -> list[Report | Grid]:
    """Time against candidates per record, and its growth."""
    found = [probe(ratio * records, records) for ratio in ratios]
    candidates = [each.candidates for each in found]
    right = Measured(sum(each.right for each in found), unit=f"of {len(found)}", form=".0f")
    what = f"Probe-Sample-Subsumption (000, Lemma 12), {RADOS} rados of {records} records"
    return [
        Grid(
            f"{what}: seconds of the processor to tell",
            ("the rados", *(f"candidates={each}" for each in candidates)),
            (
                ("are of candidates", *(Measured(each.seconds) for each in found)),
                ("are of others", *(Measured(each.seconds_none) for each in found)),
            ),
        ),
        Report(
            f"{what}: whether they are told, and growth",
            (
                Line("lists for which both are told, and whose they are", right),
                Line("time for one candidate more", growth(candidates, [each.seconds for each in found])),
            ),
        ),
    ]


def parts(setting: Setting) -> list[Part]:
    """All three. Needs no data. quick: up to 24 records, and 30 candidates."""
    quick = setting.quick
    few, sizes, ratios = ((10, 30), SIZES[:5], RATIOS[:3]) if quick else ((10, 30, 100, 300), SIZES, RATIOS)
    return [
        Part("supports known", lambda: [supports_known(few)], 0.5),
        Part("edges known", lambda: edges_known(sizes), 0.5 if quick else 12.0),
        Part("edges known, of a list", lambda: probed(ratios), 1.0 if quick else 25.0),
    ]
