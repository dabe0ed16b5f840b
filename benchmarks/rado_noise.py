"""Table 2 of 000, centre and right: learning from edge vectors with Gaussian noise, and what that noise buys.

Centre and right: stratified cross-validation, 1000 rounds, n = min(1000, half of the training records). Features are
standardised by the training records, without a constant, as in Table 1; edge vectors are shortened to √d, the public
radius R. Noise of deviation σ on each coordinate is (ε, 1e-6) for whole records at the ε beside it, and not at less.
Not paid for there: the standardising. AdaBoost keeps what errs least on the noisy edges, which it has; RadoBoost what
is best on its rados, unsmoothed as published or smoothed. 000's own choice, by the clean records, is not private.

Ours: features within public bounds, standardised by noisy moments that are paid for, with a constant; noise on the
rados, or on the edges. The halfspaces of this library get features that the exact moments have standardised, and do
not pay for these.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant.costs import GDP
from benchmarks.rado_costs import DELTA, number_text
from benchmarks.rado_domains import BOUNDS, Domain, domain
from benchmarks.rado_features import Part, fewest_errors, of_numbers, parts, text
from benchmarks.rado_table import Fold, error, learnt, rados_number, split
from benchmarks.report import Grid
from boosting.measures import FloatArray
from boosting.rado import Oracle, median, strong
from learners import HalfspaceBoostClassifier, RadoBoostClassifier
from mechanisms import EdgeVectors, NoiseSource, SeededNoise, sample_fixed_support_rados, sample_rados
from mechanisms.rado import clipped

ROUNDS: Final = 1000
FOLDS: Final = 5
SIGMAS: Final = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0)
EPSILONS: Final = (0.1, 0.3, 1.0, 3.0)

Support: TypeAlias = Literal["any", "m/10", "m/2", "9m/10"]
SHARES: Final[Mapping[Support, float]] = {"m/10": 0.1, "m/2": 0.5, "9m/10": 0.9}
SUPPORTS: Final[Sequence[Support]] = ("any", *SHARES)
"""Of rados: any subset of the records, or m* of them."""


def radius(dimension: int) -> float:
    """R of so many standardised features: the root of their mean squared length."""
    return math.sqrt(dimension)


def epsilon(sigma: float, dimension: int) -> float:
    """What noise of deviation `sigma` on edges of length √d costs at DELTA, under replace-one; ∞ for no noise."""
    return GDP(2.0 * radius(dimension) / sigma).to_approx(delta=DELTA).epsilon if sigma else math.inf


def noised(edges: FloatArray, sigma: float, rng: np.random.Generator) -> FloatArray:
    """Shortened, with noise, shape of edges. A simulation: the noise is not secure."""
    return clipped(edges, radius(edges.shape[1])) + sigma * rng.standard_normal(edges.shape)


def rados_of(edges: FloatArray, support: Support, noise: NoiseSource) -> FloatArray:
    """The paper's number of them, shape (n, d)."""
    number, data = rados_number(edges.shape[0]), EdgeVectors(edges)
    if support == "any":
        return sample_rados(data, number, noise)
    return sample_fixed_support_rados(data, number, max(1, round(SHARES[support] * data.records)), noise)


# --- Noise on the edges -----------------------------------------------------------------------------------------------


@attrs.frozen
class Kind:
    """Of RadoBoost: its rados, its weak learner, and whether rados are smoothed."""

    support: Support
    oracle: Literal["strong", "median"]
    smooth: bool


ORACLES: Final[Mapping[str, Oracle]] = {"strong": strong, "median": median}
KINDS: Final = tuple(
    Kind(support, oracle, smooth)
    for support in SUPPORTS
    for oracle in ("strong", "median")
    for smooth in (False, True)
    if support != "any" or oracle == "strong"
)


@attrs.frozen(eq=False)
class AtNoise:
    """Test errors in [0, 1], one per fold, of AdaBoost and of each kind of RadoBoost."""

    data: Domain
    sigma: float
    ada: Sequence[float]
    rado: Mapping[Kind, Sequence[float]]

    def less(self, kind: Kind, other: Kind | None) -> str:
        """The error of a kind minus another's, None for AdaBoost's: mean and deviation over folds, in points."""
        others = self.ada if other is None else self.rado[other]
        gaps = [100.0 * (one - two) for one, two in zip(self.rado[kind], others, strict=True)]
        return f"{statistics.fmean(gaps):+.2f} ± {statistics.stdev(gaps):.2f}"

    @property
    def row(self) -> tuple[str, str, str]:
        """What is measured: domain, σ and ε."""
        return self.data.name, f"{self.sigma:g}", number_text(epsilon(self.sigma, self.data.points.shape[1]))


def trial(fold: Fold, sigma: float, rounds: int, rng: np.random.Generator) -> tuple[float, dict[Kind, float]]:
    """Errors of AdaBoost and of each kind on the test records, which are clean."""
    edges, noise = noised(fold.train, sigma, rng), SeededNoise(rng)
    rados = {support: rados_of(edges, support, noise) for support in SUPPORTS}
    thetas = {each: learnt(rados[each.support], rounds, each.smooth, ORACLES[each.oracle]) for each in KINDS}
    found = {each: error(fold.test, theta) for each, theta in thetas.items()}
    return fewest_errors(edges, fold.test, None, rounds), found


def at_noise(data: Domain, sigma: float, rounds: int = ROUNDS, folds: int = FOLDS, seed: int = 0) -> AtNoise:
    """All folds at one σ."""
    found = [
        trial(fold, sigma, rounds, np.random.default_rng([seed, number]))
        for number, fold in enumerate(split(data, "standardised", folds, seed))
    ]
    rado = {each: [errors[each] for _, errors in found] for each in KINDS}
    return AtNoise(data, sigma, [ada for ada, _ in found], rado)


WHERE: Final = ("domain", "σ", f"ε at δ = {DELTA:g}")
SMOOTH: Final = {False: "", True: ", smoothed"}


def centre(found: Sequence[AtNoise]) -> Grid:
    """RadoBoost's errors minus AdaBoost's."""
    kinds = [each for each in sorted(KINDS, key=lambda kind: kind.smooth) if each.oracle == "strong"]
    heads = (f"m* {each.support}{SMOOTH[each.smooth]}" for each in kinds)
    rows = ((*each.row, text(each.ada), *(each.less(kind, None) for kind in kinds)) for each in found)
    return Grid(
        "Table 2 of 000, centre: noise on the edges. AdaBoost's test error in %, and RadoBoost's minus it, in points",
        (*WHERE, "AdaBoost", *heads),
        tuple(rows),
    )


def right(found: Sequence[AtNoise]) -> Grid:
    """The prudential weak learner on rados of fixed support, minus the strong one on any."""
    pairs = [
        (Kind(support, "median", smooth), Kind("any", "strong", smooth))
        for smooth in (False, True)
        for support in SHARES
    ]
    heads = (f"m* {one.support}, median{SMOOTH[one.smooth]}" for one, _ in pairs)
    plain = Kind("any", "strong", False)
    rows = ((*each.row, text(each.rado[plain]), *(each.less(*pair) for pair in pairs)) for each in found)
    return Grid(
        "Table 2 of 000, right: noise on the edges. Test error in % of RadoBoost on plain rados with the strong weak "
        "learner, and in points what the median one on rados of fixed support errs more; smoothed: both are",
        (*WHERE, "any, strong", *heads),
        tuple(rows),
    )


# --- What ours costs --------------------------------------------------------------------------------------------------

ADA: Final = "AdaBoost, not private"
RADO: Final = "RadoBoost, plain rados, not private"
OPEN: Final = (ADA, RADO)


def on(route: Literal["rados", "edges"]) -> "Learner":
    """RadoBoost of this library, moments included in what it pays."""

    def errs(part: Part, epsilon: float, rounds: int, noise: SeededNoise) -> float:
        number = 2 * (rados_number(part.y.size) // 2)
        model = RadoBoostClassifier(
            "examples",
            epsilon,
            DELTA,
            number=number,
            route=route,
            rounds=rounds,
            schema=part.study.schema,
            classes=(-1, 1),
            random_state=noise.generator,
        ).fit(part.train, part.y)
        return float(np.mean(model.predict(part.test) != part.y_test))

    return errs


def halfspace(part: Part, epsilon: float, rounds: int, noise: SeededNoise) -> float:
    """Boosted means with their defaults, on features without the constant, standardised for nothing."""
    points, fresh = (y[:, None] * edges[:, :-1] for y, edges in ((part.y, part.edges), (part.y_test, part.test_edges)))
    model = HalfspaceBoostClassifier(
        epsilon, DELTA, radius=radius(points.shape[1]), fit_intercept=True, random_state=noise.generator
    ).fit(points, part.y)
    return float(np.mean(model.predict(fresh) != part.y_test))


Learner: TypeAlias = Callable[[Part, float, int, SeededNoise], float]
"""(fold, ε, rounds, noise) to a test error."""

PRIVATE: Final[Mapping[str, Learner]] = {
    "RadoBoost, noise on rados": on("rados"),
    "RadoBoost, noise on edges": on("edges"),
    "HalfspaceBoostClassifier, moments for nothing": halfspace,
}


def not_private(part: Part, rounds: int, noise: SeededNoise) -> tuple[float, float]:
    """Errors of OPEN; AdaBoost's choice is by the training records."""
    rados = sample_rados(EdgeVectors(part.edges), rados_number(part.y.size), noise)
    ada = fewest_errors(part.edges, part.test_edges, None, rounds)
    return ada, error(part.test_edges, learnt(rados, rounds, smooth=True))


def rows(
    data: Domain, epsilons: Sequence[float], rounds: int = ROUNDS, folds: int = FOLDS, seed: int = 0
) -> Iterator[tuple[str, ...]]:
    """Of a domain of BOUNDS, one for each ε."""
    study = attrs.evolve(of_numbers(data.name, data.points, data.labels, BOUNDS[data.name]), folds=folds)
    plain: list[tuple[float, float]] = []
    found: dict[tuple[float, str], list[float]] = {(each, learner): [] for each in epsilons for learner in PRIVATE}
    for number, part in enumerate(parts(study, seed)):
        noise = SeededNoise(np.random.default_rng([seed, number]))
        plain.append(not_private(part, rounds, noise))
        for (each, learner), errors in found.items():
            errors.append(PRIVATE[learner](part, each, rounds, noise))
    for each in epsilons:
        private = (text(found[each, learner]) for learner in PRIVATE)
        yield (data.name, f"{100.0 * data.commoner:.2f}", f"{each:g}", *map(text, zip(*plain, strict=True)), *private)


def ours(domains: Sequence[Domain], epsilons: Sequence[float], rounds: int = ROUNDS) -> Grid:
    """At equal ε, noise on rados beside noise on edges. domains: with BOUNDS."""
    return Grid(
        f"Whole records protected at (ε, {DELTA:g}): test error in %, features within public bounds, with a constant",
        ("domain", "commoner class", "ε", *OPEN, *PRIVATE),
        tuple(row for data in domains for row in rows(data, epsilons, rounds)),
    )


def tables(folder: str | Path | None = None, quick: bool = False) -> list[Grid]:
    """Centre, right and ours. Raises DataNotFound. quick: two small domains, few σ and ε, a tenth of the rounds."""
    domains = [domain(name, folder) for name in list(BOUNDS)[: 2 if quick else None]]
    rounds, step = (ROUNDS // 10, 3) if quick else (ROUNDS, 1)
    found = [at_noise(data, sigma, rounds) for data in domains for sigma in SIGMAS[::step]]
    return [centre(found), right(found), ours(domains, EPSILONS[::step], rounds)]
