"""Our recommended random features against every baseline at the same true ε, on medical costs and wine quality.

Nine tenths of the records train, a tenth tests. Errors are mean squared ones over the squared width of the labels'
public bounds. Baselines with settings get the setting that, of those tried, is best on average over these very tests,
which nobody pays for; descent has its defaults. All of them see the same splits, so differences are paired. Min-norm
interpolation is one per split for all ε, by the same release as `MinNorm` has, as it takes seconds on 5,847 records.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from sklearn.linear_model import LinearRegression, Ridge

from accountant import ApproxDP, BasicComposition, Ledger, PureDP, ReplaceOne
from benchmarks.random_feature_domains import Regression, medical, wine
from benchmarks.random_feature_fits import (
    DELTA,
    PRINTED_SCALE,
    Errors,
    best,
    interpolated,
    mapped,
    mse,
    standard_error,
    text,
)
from benchmarks.report import Grid, Line, Report
from boosting.measures import FloatArray
from learners import SGD, AdaSSP, Descent, MinNorm, RandomFeatureRegressor
from learners import Ridge as PrivateRidge
from learners.allowance import Allowance
from learners.coding import Coding
from learners.labels import bounded_labels
from learners.random_feature_baselines import Objective
from learners.random_feature_maps import Law
from learners.random_feature_solvers import SPREAD, UNSCALED, gamma_release, gaussian_release
from learners.random_features import SolverName
from mechanisms import SeededNoise
from mechanisms.feature_queries import projected_coefficients

EPSILONS: Final = (0.5, 1.0, 3.0)
PENALTIES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
NUMBERS: Final = (10, 30, 100)
RATES: Final = (0.001, 0.003, 0.01, 0.03)
CLIPS: Final = (0.1, 0.25, 0.5)
SPREADS: Final = (0.3, 1.2)
"""Of frequencies, beside the usual SPREAD."""

DESCENT: Final = "descent (recommended)"
MIN_NORM: Final = "min-norm"
GAMMA: Final = "gamma (δ = 0)"
OBJECTIVE: Final = "objective (δ = 0), best features and clip tried"
LARGER: Final = "sgd, best larger rate tried"
RIDGE: Final = "ridge, linear, best penalty tried"
MOMENTS: Final = "adassp, best features tried"
MEAN: Final = "private mean (Laplace)"
MIDDLE: Final = "middle of the bounds"
OLS: Final = "OLS, non-private"
FEATURES: Final = "ridge on 200 random features, non-private"
REFERENCES: Final = (OLS, FEATURES)


@attrs.frozen
class Entrant:
    """An estimator with settings. group: of which the best one stands in the table.  spread: as SPREAD."""

    group: str
    name: str
    solver: SolverName
    law: Law = "gaussian"
    number: int = 200
    delta: float = DELTA
    spread: float = SPREAD


def entrants(records: int) -> list[Entrant]:
    """Everything that runs as it is, for so many training records."""
    printed = {"1/m": 1.0, "1/2m": 2.0, "1/8m": 8.0}
    return [
        Entrant(DESCENT, DESCENT, Descent()),
        *(Entrant(f"sgd {name}", f"sgd {name}", SGD(1.0 / (by * records))) for name, by in printed.items()),
        *(Entrant(LARGER, f"sgd {rate:g}", SGD(rate)) for rate in RATES),
        *(Entrant(RIDGE, f"ridge {each:g}", PrivateRidge(each), "linear") for each in PENALTIES),
        Entrant(MOMENTS, "adassp linear", AdaSSP(), "linear"),
        *(Entrant(MOMENTS, f"adassp {each}", AdaSSP(), number=each) for each in NUMBERS),
        *(_objective(f"objective linear, clip {clip:g}", Objective(clip), "linear", 1) for clip in CLIPS),
        *(_objective(f"objective {each}", Objective(), "gaussian", each) for each in NUMBERS),
        *(each for spread in SPREADS for each in _with_spread(spread)),
    ]


def _with_spread(spread: float) -> list[Entrant]:
    """The settings that did best with the usual frequencies, with others: all of them would take minutes."""
    tail = f", spread {spread:g}"
    return [
        *(Entrant(LARGER, f"sgd {rate:g}{tail}", SGD(rate), spread=spread) for rate in RATES[-2:]),
        *(Entrant(MOMENTS, f"adassp {each}{tail}", AdaSSP(), number=each, spread=spread) for each in NUMBERS[:2]),
        *(_objective(f"objective {each}{tail}", Objective(), "gaussian", each, spread) for each in NUMBERS[:2]),
    ]


def _objective(name: str, solver: Objective, law: Law, number: int, spread: float = SPREAD) -> Entrant:
    return Entrant(OBJECTIVE, name, solver, law, number, delta=0.0, spread=spread)


@attrs.frozen(eq=False)
class Interpolant:
    """Coefficients that were found once, shape (D,), for `projected_coefficients`."""

    found: FloatArray

    @property
    def width(self) -> int:
        """D."""
        return int(self.found.size)

    def coefficients(self) -> FloatArray:
        """Shape (D,)."""
        return self.found


def _ledger(target: ApproxDP | PureDP) -> Allowance:
    return Allowance(Ledger(target, composition=BasicComposition(), adjacency=ReplaceOne()), target, "benchmark", ())


def interpolations(train: Regression, test: Regression, seed: int) -> dict[tuple[str, float], float]:
    """Errors of min-norm interpolation at each ε, with Gaussian and with Gamma noise; frequencies as printed."""
    coding = Coding.of(train.schema, train.table, constant=False)
    points, others = (coding.encode(part.table, "benchmark") for part in (train, test))
    targets = bounded_labels(train.labels, train.bounds)
    features = mapped("fourier", -(-train.records // 2) + 1, coding.features, 0.5 * PRINTED_SCALE, seed)  # of [−1, 1]
    data, rows = Interpolant(interpolated(features.features(points), targets, points)), features.features(others)
    query = projected_coefficients(MinNorm().radius(train.records, features), features.width)
    found = {}
    for epsilon in EPSILONS:
        gaussian = gaussian_release(_ledger(ApproxDP(epsilon, DELTA)), query, data, SeededNoise(seed))[0]
        gamma = gamma_release(_ledger(PureDP(epsilon)), query, data, SeededNoise(seed))
        for name, coefficients in ((MIN_NORM, gaussian), (GAMMA, gamma)):
            outputs = np.clip(rows @ coefficients, -1.0, 1.0)
            found[name, epsilon] = 0.25 * mse(outputs, bounded_labels(test.labels, test.bounds))
    return found


def constants(train: Regression, test: Regression, epsilon: float, seed: int) -> dict[str, float]:
    """Predicting one number; the mean is released at (ε, 0)."""
    low, high = train.bounds
    noise = np.random.default_rng(seed).laplace(scale=train.width / (train.records * epsilon))
    mean = float(np.clip(np.mean(np.clip(train.labels, low, high)) + noise, low, high))
    values = {MEAN: mean, MIDDLE: 0.5 * (low + high)}
    return {name: mse(np.full(test.records, value), test.labels) / test.width**2 for name, value in values.items()}


def references(train: Regression, test: Regression, seed: int) -> dict[str, float]:
    """Without privacy: inputs in their public bounds, features of the scale that descent has."""
    coding = Coding.of(train.schema, train.table, constant=False)
    points, others = (coding.encode(part.table, "benchmark") for part in (train, test))
    centre, scale = np.mean(points, axis=0), np.maximum(np.std(points, axis=0), 1e-12)
    features = mapped("fourier", 200, coding.features, 0.7 / math.sqrt(coding.features), seed)
    rows, tests = (features.features((each - centre) / scale) for each in (points, others))
    linear = LinearRegression().fit(points, train.labels).predict(others)
    ridge = Ridge(0.1).fit(rows, train.labels).predict(tests)
    found = {OLS: linear, FEATURES: ridge}
    return {name: mse(np.clip(each, *train.bounds), test.labels) / test.width**2 for name, each in found.items()}


@attrs.frozen(eq=False)
class Outcome:
    """At one ε. errors: test errors by setting, one per split.  groups: settings of each row of the table."""

    data: str
    epsilon: float
    errors: Errors
    groups: Mapping[str, list[str]]

    def of(self, group: str) -> list[float]:
        """The errors of its best setting."""
        return self.errors[best(self.errors, self.groups[group])]

    def ahead(self, group: str) -> list[float]:
        """By how much descent errs less, split by split."""
        return [other - ours for other, ours in zip(self.of(group), self.errors[DESCENT], strict=True)]

    @property
    def baselines(self) -> list[str]:
        """All that is private but ours."""
        return [group for group in self.groups if group not in (DESCENT, *REFERENCES)]


def _scale(entrant: Entrant, train: Regression) -> float | None:
    """Of frequencies, for inputs as they are coded; None for the solver's own."""
    if entrant.spread == SPREAD:
        return None
    inputs = Coding.of(train.schema, train.table, constant=False).features
    return entrant.spread * UNSCALED / math.sqrt(inputs)


def _error(entrant: Entrant, train: Regression, test: Regression, epsilon: float, seed: int) -> float:
    model = RandomFeatureRegressor(
        epsilon,
        entrant.delta,
        label_bounds=train.bounds,
        solver=entrant.solver,
        law=entrant.law,
        number=entrant.number,
        scale=_scale(entrant, train),
        map_seed=seed,
        schema=train.schema,
        random_state=seed,
    )
    return mse(model.fit(train.table, train.labels).predict(test.table), test.labels) / train.width**2


def outcomes(data: Regression, repeats: int) -> list[Outcome]:
    """Every contender on the same splits."""
    errors: dict[float, Errors] = {epsilon: {} for epsilon in EPSILONS}
    groups: dict[str, list[str]] = {}
    for seed in range(repeats):
        train, test = (data.part(rows) for rows in data.split(seed))
        shared = references(train, test, seed)
        interpolated_at = interpolations(train, test, seed)
        for epsilon in EPSILONS:
            found = {name: error for (name, at), error in interpolated_at.items() if at == epsilon}
            found |= constants(train, test, epsilon, seed) | shared
            groups.update({name: [name] for name in found})
            for each in entrants(train.records):
                found[each.name] = _error(each, train, test, epsilon, seed)
                if each.name not in groups.setdefault(each.group, []):
                    groups[each.group].append(each.name)
            for name, error in found.items():
                errors[epsilon].setdefault(name, []).append(error)
    return [Outcome(data.name, epsilon, errors[epsilon], groups) for epsilon in EPSILONS]


def grid(found: list[Outcome], repeats: int) -> Grid:
    """Errors, and in brackets by how many standard errors of paired differences descent errs less."""
    first = found[0]
    order = [DESCENT, *sorted(first.baselines), *REFERENCES]
    rows = []
    for group in order:
        cells = []
        for each in found:
            chosen = best(each.errors, each.groups[group])
            setting = "" if chosen == group else f" [{chosen}]"
            cells.append(f"{text(each.of(group))}{setting}")
            cells.append("" if group == DESCENT else _difference(each, group))
        rows.append((group, *cells))
    head = ("model", *(name for each in found for name in (f"ε = {each.epsilon:g}", "less descent")))
    unit = "test error over the squared width of the labels' bounds"
    return Grid(f"{first.data}: {unit}, δ = {DELTA:g}, {repeats} splits, mean ± standard error", head, tuple(rows))


def _difference(each: Outcome, group: str) -> str:
    gaps = each.ahead(group)
    return f"{np.mean(gaps):+.3g} ± {standard_error(gaps):.1g}" if len(gaps) > 1 else f"{np.mean(gaps):+.3g}"


def _below(each: Outcome, groups: Sequence[str]) -> bool | None:
    """Whether descent errs less on average; one split says nothing."""
    if len(each.errors[DESCENT]) == 1:
        return None
    return all(float(np.mean(each.ahead(group))) > 0.0 for group in groups)


def lines(found: list[Outcome]) -> list[Line]:
    """What is asked of the recommended solver."""
    answers = []
    for each in found:
        nearest = min(each.baselines, key=lambda group: float(np.mean(each.of(group))))
        what = f"{each.data}, ε = {each.epsilon:g}: descent {text(each.errors[DESCENT])}"
        found_text = f"{nearest} {text(each.of(nearest))}, less descent {_difference(each, nearest)}"
        answers.append(
            Line(
                f"{what}, best baseline of those tried",
                found_text,
                "descent below every baseline",
                _below(each, each.baselines),
            )
        )
        answers.append(
            Line(
                f"{what}, private mean",
                f"{text(each.of(MEAN))}, less descent {_difference(each, MEAN)}",
                "descent below the private mean",
                _below(each, [MEAN]),
            )
        )
    return answers


def tables(folder: str | None, quick: bool) -> list[Report | Grid]:
    """What is asked, and all errors. quick: one split of medical costs only. Raises DataNotFound."""
    plans = [(medical(folder), 1)] if quick else [(medical(folder), 20), (wine(folder), 10)]
    found = [(outcomes(data, repeats), repeats) for data, repeats in plans]
    asked = [line for each, _ in found for line in lines(each)]
    title = "Recommended random features against every baseline, same true ε"
    return [Report(title, asked), *(grid(each, repeats) for each, repeats in found)]
