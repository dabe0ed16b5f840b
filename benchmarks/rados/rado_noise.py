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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import GDP
from benchmarks.data import BOUNDS, Domain, domain
from benchmarks.rados.rado_costs import DELTA, total
from benchmarks.rados.rado_features import StudyFold, fewest_errors, folds_of, of_numbers
from benchmarks.rados.rado_table import Fold, error, learnt, percent, rados_number, split
from benchmarks.runner import Cell, Grid, Measured, Part, Setting
from boosting.rados import Oracle, median, strong
from learners import HalfspaceBoostClassifier, RadoBoostClassifier
from mechanisms import EdgeVectors, NoiseSource, SeededNoise, sample_fixed_support_rados, sample_rados
from mechanisms.rados import clipped

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

    def less(self, kind: Kind, other: Kind | None) -> Measured:
        """The error of a kind minus another's, None for AdaBoost's: mean and deviation over folds, in points."""
        others = self.ada if other is None else self.rado[other]
        gaps = (100.0 * (one - two) for one, two in zip(self.rado[kind], others, strict=True))
        return Measured.mean(gaps, unit="points", form=".2f")


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


SMOOTH: Final = {False: "", True: ", smoothed"}
PLAIN: Final = {each: Kind("any", "strong", each) for each in (False, True)}
"""RadoBoost as it is, unsmoothed and smoothed: what the others are held against."""


def grid(what: str, found: Sequence[AtNoise], row: Callable[[AtNoise], Mapping[str, Measured]]) -> Grid:
    """Of one domain, a column for each σ."""
    cells = [row(each) for each in found]
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *(each[name] for each in cells)) for name in cells[0])
    title = f"{found[0].data.name}, noise σ on edges: {what}, folds: {len(found[0].ada)}"
    return Grid(title, ("learner", *(f"σ={each.sigma:g}" for each in found)), rows)


def errors(found: Sequence[AtNoise]) -> Grid:
    """Of AdaBoost, and of RadoBoost on plain rados with the strong weak learner."""

    def row(each: AtNoise) -> dict[str, Measured]:
        rados = {f"RadoBoost, strong{SMOOTH[smooth]}": percent(each.rado[kind]) for smooth, kind in PLAIN.items()}
        return {"AdaBoost": percent(each.ada), **rados}

    return grid("test error in %", found, row)


def centre(found: Sequence[AtNoise]) -> Grid:
    """RadoBoost's errors minus AdaBoost's."""
    kinds = [each for each in sorted(KINDS, key=lambda kind: kind.smooth) if each.oracle == "strong"]

    def row(each: AtNoise) -> dict[str, Measured]:
        return {f"m* {kind.support}{SMOOTH[kind.smooth]}": each.less(kind, None) for kind in kinds}

    return grid("RadoBoost minus AdaBoost, in points (000, Table 2, centre)", found, row)


def right(found: Sequence[AtNoise]) -> Grid:
    """The prudential weak learner on rados of fixed support, minus the strong one on any; smoothed: both are."""
    kinds = [Kind(support, "median", smooth) for smooth in (False, True) for support in SHARES]

    def row(each: AtNoise) -> dict[str, Measured]:
        return {f"m* {kind.support}{SMOOTH[kind.smooth]}": each.less(kind, PLAIN[kind.smooth]) for kind in kinds}

    return grid("median learner minus strong on any m*, in points (Table 2, right)", found, row)


def prices(sigmas: Sequence[float] = SIGMAS) -> Grid:
    """What noise of deviation σ costs, a row for each domain."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{name} (d={len(bounds)})", *(total(epsilon(sigma, len(bounds))) for sigma in sigmas))
        for name, bounds in BOUNDS.items()
    )
    title = f"Noise σ on edges: ε of whole records, which move by 2√d at most, at δ={DELTA:g}"
    return Grid(title, ("domain", *(f"σ={sigma:g}" for sigma in sigmas)), rows)


# --- What ours costs --------------------------------------------------------------------------------------------------

ADA: Final = "AdaBoost, not private"
RADO: Final = "RadoBoost, plain rados, not private"
OPEN: Final = (ADA, RADO)


def on(route: Literal["rados", "edges"]) -> "Learner":
    """RadoBoost of this library, moments included in what it pays."""

    def errs(part: StudyFold, epsilon: float, rounds: int, noise: SeededNoise) -> float:
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


def halfspace(part: StudyFold, epsilon: float, rounds: int, noise: SeededNoise) -> float:
    """Boosted means with their defaults, on features without the constant, standardised for nothing."""
    points, fresh = (y[:, None] * edges[:, :-1] for y, edges in ((part.y, part.edges), (part.y_test, part.test_edges)))
    model = HalfspaceBoostClassifier(
        epsilon, DELTA, radius=radius(points.shape[1]), fit_intercept=True, random_state=noise.generator
    ).fit(points, part.y)
    return float(np.mean(model.predict(fresh) != part.y_test))


Learner: TypeAlias = Callable[[StudyFold, float, int, SeededNoise], float]
"""(fold, ε, rounds, noise) to a test error."""

PRIVATE: Final[Mapping[str, Learner]] = {
    "RadoBoost, noise on rados": on("rados"),
    "RadoBoost, noise on edges": on("edges"),
    "HalfspaceBoostClassifier, moments for nothing": halfspace,
}


def not_private(part: StudyFold, rounds: int, noise: SeededNoise) -> tuple[float, float]:
    """Errors of OPEN; AdaBoost's choice is by the training records."""
    rados = sample_rados(EdgeVectors(part.edges), rados_number(part.y.size), noise)
    ada = fewest_errors(part.edges, part.test_edges, None, rounds)
    return ada, error(part.test_edges, learnt(rados, rounds, smooth=True))


def ours(data: Domain, epsilons: Sequence[float], rounds: int = ROUNDS, folds: int = FOLDS, seed: int = 0) -> Grid:
    """At equal ε, noise on rados beside noise on edges: a domain of BOUNDS, a column for each ε."""
    study = attrs.evolve(of_numbers(data.name, data.points, data.labels, BOUNDS[data.name]), folds=folds)
    plain: list[tuple[float, float]] = []
    found: dict[tuple[float, str], list[float]] = {(each, learner): [] for each in epsilons for learner in PRIVATE}
    for number, part in enumerate(folds_of(study, seed)):
        noise = SeededNoise(np.random.default_rng([seed, number]))
        plain.append(not_private(part, rounds, noise))
        for (each, learner), errs in found.items():
            errs.append(PRIVATE[learner](part, each, rounds, noise))
    commoner = Measured(100.0 * data.commoner, unit="%", form=".2f")
    open_errors = dict(zip(OPEN, zip(*plain, strict=True), strict=True))
    rows: list[tuple[Cell, ...]] = [("naming the commoner class", *(commoner for _ in epsilons))]
    rows += [(name, *(percent(errs) for _ in epsilons)) for name, errs in open_errors.items()]
    rows += [(learner, *(percent(found[each, learner]) for each in epsilons)) for learner in PRIVATE]
    title = f"{data.name}, whole records protected at (ε, {DELTA:g}), public bounds: test error in %, folds: {folds}"
    return Grid(title, ("learner", *(f"ε={each:g}" for each in epsilons)), tuple(rows))


# --- The benchmark ----------------------------------------------------------------------------------------------------


def tables(name: str, folder: str | None, sigmas: Sequence[float], rounds: int, folds: int) -> list[Grid]:
    """Table 2, centre and right, of one domain. Raises DataNotFound."""
    data = domain(name, folder)
    found = [at_noise(data, sigma, rounds, folds) for sigma in sigmas]
    return [errors(found), centre(found), right(found)]


def parts(setting: Setting) -> list[Part]:
    """What noise costs, and two parts for each domain. quick: one domain, few σ and ε, a tenth of the rounds."""
    quick, folder = setting.quick, setting.data
    rounds, step, folds = (ROUNDS // 10, 3, 3) if quick else (ROUNDS, 1, FOLDS)
    names = list(BOUNDS)[: 1 if quick else None]

    def protected(name: str) -> list[Grid]:
        return [ours(domain(name, folder), EPSILONS[::step], rounds, folds)]

    return [
        Part("prices of noise", lambda: [prices()], 0.1),
        *(
            Part(
                f"noise on edges, {name}",
                partial(tables, name, folder, SIGMAS[::step], rounds, folds),
                1.0 if quick else 25.0,
            )
            for name in names
        ),
        *(Part(f"whole records, {name}", partial(protected, name), 1.5 if quick else 8.0) for name in names),
    ]
