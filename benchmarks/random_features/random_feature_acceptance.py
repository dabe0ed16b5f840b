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
from accountant.arrays import FloatArray
from benchmarks.data import MEDICAL, WINE, Regression, medical, wine
from benchmarks.random_features.random_feature_fits import (
    DELTA,
    PRINTED_SCALE,
    Errors,
    averaged,
    best,
    count,
    interpolated,
    mapped,
    mse,
    row,
)
from benchmarks.runner import Grid, Line, Measured, Part, Report, Setting, Table
from learners import SGD, AdaSSP, Descent, MinNorm, RandomFeatureRegressor
from learners import Ridge as PrivateRidge
from learners.base import FitBudget
from learners.encoding import Coding
from learners.random_features import (
    SPREAD,
    UNSCALED,
    FrequencyDistribution,
    Objective,
    SolverName,
    gamma_plan,
    gaussian_plan,
)
from learners.tables import bounded_labels
from mechanisms import SeededNoise
from mechanisms.gradients import projected_coefficients

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
    distribution: FrequencyDistribution = "gaussian"
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


def _objective(
    name: str, solver: Objective, distribution: FrequencyDistribution, number: int, spread: float = SPREAD
) -> Entrant:
    return Entrant(OBJECTIVE, name, solver, distribution, number, delta=0.0, spread=spread)


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


def _payer(target: ApproxDP | PureDP) -> tuple[Ledger, FitBudget]:
    """Who pays for one release, and what it may cost."""
    ledger = Ledger(target, composition=BasicComposition(), adjacency=ReplaceOne())
    return ledger, FitBudget(target, ledger.composition, "benchmark", ())


def interpolations(
    train: Regression, test: Regression, epsilons: Sequence[float], seed: int
) -> dict[tuple[str, float], float]:
    """Errors of min-norm interpolation at each ε, with Gaussian and with Gamma noise; frequencies as printed."""
    coding = Coding.of(train.schema, train.table, constant=False)
    points, others = (coding.encode(part.table, "benchmark") for part in (train, test))
    targets = bounded_labels(train.labels, train.bounds)
    features = mapped("fourier", -(-train.records // 2) + 1, coding.features, 0.5 * PRINTED_SCALE, seed)  # of [−1, 1]
    data = Interpolant(interpolated(features.features(points), targets, points))
    rows = features.features(others)
    query = projected_coefficients(MinNorm().radius(train.records, features), features.width)
    found = {}
    for epsilon in epsilons:
        ledger, budget = _payer(ApproxDP(epsilon, DELTA))
        gaussian = gaussian_plan(budget, query, SeededNoise(seed)).carried_out(ledger, budget, data)
        ledger, budget = _payer(PureDP(epsilon))
        gamma = gamma_plan(budget, query, SeededNoise(seed)).carried_out(ledger, budget, data)
        for name, coefficients in ((MIN_NORM, gaussian[0]), (GAMMA, gamma)):
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
        distribution=entrant.distribution,
        n_components=entrant.number,
        scale=_scale(entrant, train),
        feature_seed=seed,
        schema=train.schema,
        random_state=seed,
    )
    return mse(model.fit(train.table, train.labels).predict(test.table), test.labels) / train.width**2


def outcomes(data: Regression, repeats: int, epsilons: Sequence[float] = EPSILONS) -> list[Outcome]:
    """Every contender on the same splits."""
    errors: dict[float, Errors] = {epsilon: {} for epsilon in epsilons}
    groups: dict[str, list[str]] = {}
    for seed in range(repeats):
        train, test = (data.part(rows) for rows in data.split(seed))
        shared = references(train, test, seed)
        interpolated_at = interpolations(train, test, epsilons, seed)
        for epsilon in epsilons:
            found = {name: error for (name, at), error in interpolated_at.items() if at == epsilon}
            found |= constants(train, test, epsilon, seed) | shared
            groups.update({name: [name] for name in found})
            for each in entrants(train.records):
                found[each.name] = _error(each, train, test, epsilon, seed)
                if each.name not in groups.setdefault(each.group, []):
                    groups[each.group].append(each.name)
            for name, error in found.items():
                errors[epsilon].setdefault(name, []).append(error)
    return [Outcome(data.name, epsilon, errors[epsilon], groups) for epsilon in epsilons]


def error_grid(found: list[Outcome], splits: str) -> Grid:
    """Test errors by ε."""
    order = [DESCENT, *sorted(found[0].baselines), *REFERENCES]
    rows = [row(group, (averaged(each.of(group)) for each in found)) for group in order]
    title = f"{found[0].data}: test error over the squared width of the public bounds, δ = {DELTA:g}, {splits}"
    return Grid(title, ("model", *_heads(found)), tuple(rows))


def _heads(found: list[Outcome]) -> tuple[str, ...]:
    return tuple(f"ε = {each.epsilon:g}" for each in found)


def difference_grid(found: list[Outcome], splits: str) -> Grid:
    """By how much everybody errs more than descent, paired by splits."""
    order = [*sorted(found[0].baselines), *REFERENCES]
    rows = [row(group, (_ahead(each, group) for each in found)) for group in order]
    title = f"{found[0].data}: error less that of descent on the same split, over the squared width, {splits}"
    return Grid(title, ("model", *_heads(found)), tuple(rows))


def chosen(found: list[Outcome]) -> Report:
    """Which setting stands for a baseline that has several."""
    groups = [group for group in sorted(found[0].baselines) if len(found[0].groups[group]) > 1]
    kept = [
        Line(f"{group}, ε = {each.epsilon:g}", best(each.errors, each.groups[group]))
        for group in groups
        for each in found
    ]
    return Report(f"{found[0].data}: the best of the settings that were tried", kept)


def _ahead(each: Outcome, group: str) -> Measured:
    return Measured.mean(each.ahead(group), form="+.3g")


def lines(found: list[Outcome]) -> list[Line]:
    """What is asked of the recommended solver: to err less, on average. One split says nothing."""
    answers = []
    for each in found:
        nearest = min(each.baselines, key=lambda group: float(np.mean(each.of(group))))
        for group, kind in ((nearest, "best baseline of those tried"), (MEAN, "private mean")):
            gap, judged = _ahead(each, group), len(each.of(group)) > 1
            who = kind if group == MEAN else f"{group}, {kind},"
            what = f"ε = {each.epsilon:g}: {who} errs more than descent by"
            answers.append(Line(what, gap, "> 0", gap.value > 0.0 if judged else None))
    return answers


def compared(data: Regression, repeats: int, epsilons: Sequence[float] = EPSILONS) -> list[Table]:
    """What is asked, and all errors, on one data set."""
    found, splits = outcomes(data, repeats, epsilons), count(repeats, "split")
    title = f"{data.name}: recommended random features against every baseline, same true ε, {splits}"
    return [
        Report(title, lines(found)),
        error_grid(found, splits),
        difference_grid(found, splits),
        chosen(found),
    ]


def parts(setting: Setting) -> list[Part]:
    """One for each data set; quick: one split of 300 medical costs, at one ε."""
    what = "recommended against every baseline"
    if setting.quick:
        return [Part(what, lambda: compared(medical(setting.data).few(300), 1, EPSILONS[:1]), 3.0)]
    return [
        Part(f"{what}, {MEDICAL}", lambda: compared(medical(setting.data), 20), 75.0),
        Part(f"{what}, {WINE}", lambda: compared(wine(setting.data), 10), 100.0),
    ]
