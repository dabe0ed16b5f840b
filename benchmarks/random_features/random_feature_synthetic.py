"""Figures 1 to 3 of 004: two functions of normal points, learnt with and without privacy.

X ~ N(0, I_d); d = 5 is the authors' code's, the paper does not say. Test errors are in the paper's unit: labels are
divided by the norm of all of them, so that predicting 0 errs by about one over their number. Frequencies have the
printed σ² = 40, at which the kernel of two records is 0 and nothing can be learnt. Honest models have the public bounds
of the labels, and so err no more than those allow.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np

from accountant.arrays import FloatArray
from benchmarks.random_features.random_feature_fits import (
    DELTA,
    NEVER,
    PRINTED_SCALE,
    Errors,
    averaged,
    code_sigma,
    count,
    fitted_error,
    mapped,
    mse,
    noise_share,
    printed_sigma,
    row,
)
from benchmarks.runner import Grid, Line, Measured, Part, Report, Setting, Table
from learners import Bounds, RandomFeatureRegressor
from learners.random_features import min_norm

DIMENSION: Final = 5
EPSILONS: Final = (0.5, 1.0)

ZERO: Final = "predicting 0"
MIDDLE: Final = "predicting the middle of the bounds"
MEAN: Final = "predicting the mean"
PLAIN: Final = "min-norm, non-private"
PAPERS: Final = "published as printed"
CODE: Final = "published as the code has it"
OURS: Final = "min-norm, honest"
GAMMA: Final = "gamma, honest"
SGD: Final = "sgd 1/m, honest"
DESCENT: Final = "descent, recommended"
SYSTEMS: Final = (ZERO, MIDDLE, MEAN, PLAIN, PAPERS, CODE, OURS, GAMMA, SGD, DESCENT)


def first(points: FloatArray) -> FloatArray:
    """f1 = √(1 + |x|)."""
    return np.asarray(np.sqrt(1.0 + np.linalg.norm(points, axis=1)))


def second(points: FloatArray) -> FloatArray:
    """f2 = Σ exp(−|x_i|)."""
    return np.asarray(np.sum(np.exp(-np.abs(points)), axis=1))


@attrs.frozen
class Function:
    """name: for tables.  bounds: public, of its values."""

    name: str
    of: Callable[[FloatArray], FloatArray]
    bounds: tuple[float, float]


FUNCTIONS: Final = (Function("f1", first, (1.0, 3.0)), Function("f2", second, (0.0, float(DIMENSION))))


@attrs.frozen(eq=False)
class Drawn:
    """Points and labels to train on and to test on, and the norm of all labels."""

    train: tuple[FloatArray, FloatArray]
    test: tuple[FloatArray, FloatArray]
    norm: float

    @staticmethod
    def of(function: Function, records: int, tests: int, seed: int) -> "Drawn":
        """A sample."""
        points = np.random.default_rng(seed).standard_normal((records + tests, DIMENSION))
        labels = function.of(points)
        norm = float(np.linalg.norm(labels))
        return Drawn((points[:records], labels[:records]), (points[records:], labels[records:]), norm)


def _published(drawn: Drawn, number: int, epsilon: float, seed: int) -> dict[str, float]:
    """Errors of what has no true ε, and of what has no privacy, in units of the labels."""
    (points, labels), (others, truth) = drawn.train, drawn.test
    features = mapped("cosine", number, DIMENSION, PRINTED_SCALE, seed)
    rows = features.features(others)
    plain = mse(rows @ min_norm(features.features(points), labels), truth)
    # Of Algorithm 1 the squared modulus of a complex error is meant, so all of its length counts.
    printed = float(printed_sigma(number, epsilon) * np.linalg.norm(labels)) ** 2
    code = noise_share(rows, code_sigma(number, epsilon) * drawn.norm)
    return {PLAIN: plain, PAPERS: plain + printed, CODE: plain + code}


def _honest(function: Function, drawn: Drawn, number: int, epsilon: float, seed: int) -> dict[str, float]:
    found = {}
    for name, solver in {OURS: "min-norm", GAMMA: "gamma", SGD: "sgd"}.items():
        model = RandomFeatureRegressor(
            epsilon,
            0.0 if name == GAMMA else DELTA,
            label_bounds=function.bounds,
            solver=solver,
            feature_map="cosine",
            n_components=number,
            scale=PRINTED_SCALE,
            feature_seed=seed,
            random_state=seed,
        )
        found[name] = fitted_error(model, drawn.train, drawn.test)
    return found


def _descent(function: Function, drawn: Drawn, epsilon: float, seed: int) -> float:
    schema = Bounds(-4.0, 4.0)
    model = RandomFeatureRegressor(
        epsilon, DELTA, label_bounds=function.bounds, schema=schema, feature_seed=seed, random_state=seed
    )
    return fitted_error(model, drawn.train, drawn.test)


@attrs.frozen(eq=False)
class Point:
    """One place of a figure: errors over the squared norm of the labels."""

    function: str
    records: int
    number: int
    epsilon: float
    errors: Errors

    def mean(self, name: str) -> float:
        """Of a contender."""
        return float(np.mean(self.errors[name]))


def points(
    function: Function, records: int, tests: int, numbers: Sequence[int], epsilon: float, repeats: int
) -> list[Point]:
    """For every N. Descent and constants do not depend on it, and are the same."""
    found = [Point(function.name, records, number, epsilon, {name: [] for name in SYSTEMS}) for number in numbers]
    for seed in range(repeats):
        drawn = Drawn.of(function, records, tests, seed)
        labels, truth = drawn.train[1], drawn.test[1]
        constants = {ZERO: 0.0, MIDDLE: 0.5 * sum(function.bounds), MEAN: float(labels.mean())}
        fixed = {name: mse(np.full(truth.size, value), truth) for name, value in constants.items()}
        fixed[DESCENT] = _descent(function, drawn, epsilon, seed)
        for point in found:
            published = _published(drawn, point.number, epsilon, seed)
            honest = _honest(function, drawn, point.number, epsilon, seed)
            for name, error in {**fixed, **published, **honest}.items():
                point.errors[name].append(error / drawn.norm**2)
    return found


def _label(name: str, epsilon: float) -> str:
    """A curve with the ε that is true of it."""
    true: Mapping[str, str] = {ZERO: "0", MIDDLE: "0", MEAN: NEVER, PLAIN: NEVER, PAPERS: NEVER, CODE: NEVER}
    if name in true:
        return f"{name} (ε: {true[name]})"
    return f"{name} (ε = {epsilon:g}{', δ = 0' if name == GAMMA else ''})"


def grid(title: str, found: Sequence[Point], columns: Sequence[str]) -> Grid:
    """Test errors of every contender, a column for each point; all points have one ε."""
    epsilon = found[0].epsilon
    rows = (row(_label(name, epsilon), (averaged(each.errors[name]) for each in found)) for name in SYSTEMS)
    return Grid(title, ("model", *columns), tuple(rows))


def _share(what: str, holds: Sequence[bool]) -> Line:
    return Line(what, Measured(sum(holds), unit=f"of {len(holds)} settings", form=".0f"))


def claims(function: Function, found: Sequence[Point]) -> Report:
    """What 004 reads off its figures, for curves whose ε is true."""
    runs: dict[float, list[Point]] = {}
    for each in found:
        runs.setdefault(each.epsilon, []).append(each)
    falls = [
        all(later.mean(OURS) < sooner.mean(OURS) for sooner, later in itertools.pairwise(run)) for run in runs.values()
    ]
    lines = (
        _share("'better generalisation than Gamma': honest min-norm below honest gamma", _below(found, OURS, GAMMA)),
        _share("'… than SGD': honest min-norm below honest sgd", _below(found, OURS, SGD)),
        _share("'increasing N leads to better generalisation': honest min-norm falls with every N", falls),
        _share("honest min-norm below predicting 0", _below(found, OURS, ZERO)),
        _share("honest min-norm below predicting the middle of the bounds", _below(found, OURS, MIDDLE)),
        _share("min-norm without privacy below predicting 0", _below(found, PLAIN, ZERO)),
        _share("min-norm without privacy below predicting the mean", _below(found, PLAIN, MEAN)),
        _share("published as printed below predicting 0", _below(found, PAPERS, ZERO)),
        _share("published as the code has it below predicting 0", _below(found, CODE, ZERO)),
        _share("descent below honest min-norm, gamma and sgd", _all_below(found)),
    )
    return Report(f"What the figures of 004 are said to show, {function.name}", lines)


def _below(found: Sequence[Point], name: str, other: str) -> list[bool]:
    return [each.mean(name) < each.mean(other) for each in found]


def _all_below(found: Sequence[Point]) -> list[bool]:
    return [each.mean(DESCENT) < min(map(each.mean, (OURS, GAMMA, SGD))) for each in found]


def figures_1_and_2(function: Function, records: int, tests: int, numbers: Sequence[int], repeats: int) -> list[Table]:
    """Errors by N, for either ε, and what is said of them."""
    runs = {epsilon: points(function, records, tests, numbers, epsilon, repeats) for epsilon in EPSILONS}
    columns = [f"N = {number:,}" for number in numbers]
    grids = [
        grid(f"Figures 1 and 2 of 004, {function.name}: {_unit(epsilon, repeats)}, m = {records:,}", run, columns)
        for epsilon, run in runs.items()
    ]
    return [*grids, claims(function, [each for run in runs.values() for each in run])]


def figure_3(function: Function, sizes: Sequence[int], repeats: int) -> list[Table]:
    """Errors by m, with N = m + 200."""
    found = [each for m in sizes for each in points(function, m, 200, (m + 200,), 1.0, repeats)]
    title = f"Figure 3 of 004, {function.name}: {_unit(1.0, repeats)}, 200 more features than records"
    return [grid(title, found, [f"m = {m:,}" for m in sizes])]


def _unit(epsilon: float, repeats: int) -> str:
    return f"test error, ε = {epsilon:g}, δ = {DELTA:g}, d = {DIMENSION}, {count(repeats, 'run')}"


def parts(setting: Setting) -> list[Part]:
    """Figures 1 to 3, by function. quick: the first only."""
    records, repeats = (200, 1) if setting.quick else (1000, 3)
    numbers, sizes = ((300, 600), (100, 150)) if setting.quick else ((1200, 2000, 5000, 10_000), (250, 500, 1000, 2000))
    return [
        part
        for function in FUNCTIONS[: 1 if setting.quick else None]
        for part in (
            Part(
                f"Figures 1 and 2, {function.name}",
                partial(figures_1_and_2, function, records, records, numbers, repeats),
                0.4 if setting.quick else 35.0,
            ),
            Part(
                f"Figure 3, {function.name}",
                partial(figure_3, function, sizes, repeats),
                0.2 if setting.quick else 8.0,
            ),
        )
    ]
