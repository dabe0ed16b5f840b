"""Table 1 and Figures 4 to 6 of 004: min-norm interpolation of medical costs and red wine, without any true ε.

Inputs and labels are scaled by their own extremes, as in 004, and noise is what its code adds, with η = 3/8. The ε that
is given there is true of none of it: `benchmarks.random_features.random_feature_costs` has lower bounds. Table 1 comes
out only where frequencies have deviation 40, as in the code; printed is σ² = 40, where near-duplicates are interpolated
at any price.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from benchmarks.data import MEDICAL, RED, Regression, medical, red_wine
from benchmarks.random_features.random_feature_fits import (
    CODE_SCALE,
    DELTA,
    NEVER,
    PRINTED_SCALE,
    Errors,
    averaged,
    code_sigma,
    count,
    fitted_error,
    interpolated,
    mapped,
    mse,
    noise_share,
    row,
)
from benchmarks.runner import Cell, Grid, Measured, Part, Setting, Table, seconds
from learners import SGD, RandomFeatureRegressor
from learners.random_features import NotConverged, SolverName, kaczmarz, min_norm, single_row_kaczmarz

GRAM: Final = "Gram"
ROWS: Final = "Kaczmarz, m single rows"
PINV: Final = "pinv"
BLOCKS: Final = "Kaczmarz to 1e-06"
NOT_REACHED: Final = "not reached"

NUMBERS: Final = (2000, 4000, 6000, 8000, 10_000)
Column: TypeAlias = Mapping[str, Sequence[float]]

PRINTED_ERRORS: Final[Mapping[str, Column]] = {
    MEDICAL: {PINV: (0.39, 0.19, 0.14, 0.12, 0.11), ROWS: (0.29, 0.17, 0.14, 0.12, 0.11)},
    RED: {PINV: (0.79, 0.41, 0.33, 0.30, 0.31), ROWS: (0.52, 0.39, 0.35, 0.32, 0.32)},
}
"""Table 1 at ε = 1, by route, for each of NUMBERS."""

PRINTED_SECONDS: Final[Mapping[str, Column]] = {
    MEDICAL: {PINV: (0.61, 0.96, 1.44, 1.92, 2.44), ROWS: (0.02, 0.02, 0.04, 0.07, 0.08)},
    RED: {PINV: (0.91, 1.41, 2.07, 2.91, 3.43), ROWS: (0.02, 0.03, 0.07, 0.07, 0.10)},
}


def printed_at(column: Column, route: str, number: int) -> float | None:
    """None where nothing is printed."""
    return dict(zip(NUMBERS, column[route], strict=True)).get(number) if route in column else None


EPSILONS: Final = (0.25, 0.5, 1.0)
"""Of Figure 4, by the code; the paper does not say which."""

TOLERANCE: Final = 1e-6
"""Of BLOCKS."""

SWEEPS: Final = 200


@attrs.frozen(eq=False)
class Scaled:
    """Points and labels in [0, 1], to train on and to test on."""

    train: tuple[FloatArray, FloatArray]
    test: tuple[FloatArray, FloatArray]

    @staticmethod
    def of(data: Regression, seed: int) -> "Scaled":
        """As 004 scales them: all together, before they are split."""
        points, labels = data.printed()
        kept, held = data.split(seed)
        return Scaled((points[kept], labels[kept]), (points[held], labels[held]))


@attrs.frozen(eq=False)
class AtNumber:
    """At one N. errors: without privacy.  seconds: to the coefficients.  noise: per ε² what the code's adds."""

    number: int
    errors: Errors
    seconds: Errors
    noise: list[float]

    def private(self, route: str, epsilon: float) -> list[float]:
        """Test errors with the code's noise for a given ε. A route that was taken once was taken first."""
        return [plain + noise / epsilon**2 for plain, noise in zip(self.errors[route], self.noise, strict=False)]

    def error(self, route: str, printed: float | None = None) -> Cell:
        """At a nominal ε of 1."""
        return averaged(self.private(route, 1.0), printed) if route in self.errors else NOT_REACHED

    def time(self, route: str, printed: float | None = None) -> Cell:
        """To the coefficients."""
        return Measured.median(self.seconds[route], printed, unit="s") if route in self.seconds else NOT_REACHED


def _once(scaled: Scaled, number: int, scale: float, seed: int, found: AtNumber) -> None:
    (points, labels), (others, truth) = scaled.train, scaled.test
    features = mapped("cosine", number, points.shape[1], scale, seed)
    rows, tests = features.features(points), features.features(others)
    rng, coefficients = np.random.default_rng(seed), list[FloatArray]()
    works: dict[str, Callable[[], FloatArray]] = {
        GRAM: lambda: min_norm(rows, labels),
        ROWS: lambda: single_row_kaczmarz(rows, labels, labels.size, rng),
    }
    if seed == 0 and scale == CODE_SCALE:
        works[PINV] = lambda: min_norm(rows, labels, route="pinv")
        works[BLOCKS] = lambda: kaczmarz(rows, labels, tolerance=TOLERANCE, most_sweeps=SWEEPS, rng=rng)[0]
    for name, work in works.items():
        try:
            taken = seconds(partial(_kept, coefficients, work))
        except NotConverged:
            continue
        found.errors.setdefault(name, []).append(mse(tests @ coefficients[-1], truth))
        found.seconds.setdefault(name, []).append(taken)
    found.noise.append(noise_share(tests, code_sigma(number, 1.0)))


def _kept(found: list[FloatArray], work: Callable[[], FloatArray]) -> None:
    found.append(work())


def at_number(data: Regression, number: int, scale: float, repeats: int) -> AtNumber:
    """Over so many splits and draws of features; pinv and Kaczmarz to convergence once, at the code's scale."""
    found = AtNumber(number, {}, {}, [])
    for seed in range(repeats):
        _once(Scaled.of(data, seed), number, scale, seed, found)
    return found


def _heads(found: Sequence[AtNumber]) -> tuple[str, ...]:
    return tuple(f"N = {each.number:,}" for each in found)


def table1(data: Regression, found: Sequence[AtNumber], as_printed: Sequence[AtNumber]) -> Grid:
    """Errors with the code's noise at a nominal ε of 1, by frequencies of deviation 40, and of variance 40."""
    labels, column = data.printed()[1], PRINTED_ERRORS[data.name]
    constants = {"predicting 0": float(np.mean(labels**2)), "predicting the mean": float(np.var(labels))}
    rows = [
        *(
            row(route, (each.error(route, printed_at(column, route, each.number)) for each in found))
            for route in (PINV, ROWS, GRAM, BLOCKS)
        ),
        *(row(f"{route}, σ² = 40", (each.error(route) for each in as_printed)) for route in (GRAM, ROWS)),
        *(row(name, [Measured(value)] * len(found)) for name, value in constants.items()),
    ]
    title = f"Table 1 of 004, {data.name}: test error at a nominal ε = 1, δ = {DELTA:g} (true ε: {NEVER})"
    return Grid(f"{title}, {count(len(found[0].noise), 'split')}", ("route", *_heads(found)), tuple(rows))


def times(data: Regression, found: Sequence[AtNumber]) -> Grid:
    """Seconds to the coefficients, features not counted."""
    column = PRINTED_SECONDS[data.name]
    rows = (
        row(route, (each.time(route, printed_at(column, route, each.number)) for each in found))
        for route in (PINV, ROWS, GRAM, BLOCKS)
    )
    return Grid(f"Table 1 of 004, {data.name}: seconds to the coefficients", ("route", *_heads(found)), tuple(rows))


def figure4(data: Regression, found: Sequence[AtNumber]) -> Grid:
    """Errors against the given ε, by m steps of Kaczmarz's method, as in 004."""
    rows = [row("non-private", (averaged(each.errors[ROWS]) for each in found))]
    for epsilon in EPSILONS:
        cells = (averaged(each.private(ROWS, epsilon)) for each in found)
        rows.append(row(f"ε = {epsilon:g} given (true: {NEVER})", cells))
    title = f"Figure 4 of 004, {data.name}: test error of {ROWS}, frequencies of deviation {CODE_SCALE:.0f}"
    return Grid(f"{title}, {count(len(found[0].noise), 'split')}", ("noise", *_heads(found)), tuple(rows))


# --- Figures 5 and 6 --------------------------------------------------------------------------------------------------

DIVISORS: Final = (1, 2, 8)
GIVEN: Final = 0.5
VARIANCE: Final = 2.0


def plain_sgd(rows: FloatArray, labels: FloatArray, rate: float, rng: np.random.Generator) -> FloatArray:
    """m single-row steps from 0, drawn with replacement, as 004 has them for features √(2/N)·cos. No privacy."""
    found = np.zeros(rows.shape[1])
    for place in rng.integers(0, labels.size, labels.size).tolist():
        found += 2.0 * rate * (labels[place] - rows[place] @ found) * rows[place]  # its features are √2 times ours
    return found


def _name(divisor: int) -> str:
    return "1/m" if divisor == 1 else f"1/{divisor}m"


def _against_sgd(scaled: Scaled, number: int, seed: int) -> dict[str, float]:
    """Without privacy, with 004's noise, and with noise whose ε is true."""
    (points, labels), (others, truth) = scaled.train, scaled.test
    scale = VARIANCE**0.5
    features = mapped("cosine", number, points.shape[1], scale, seed)
    rows, tests = features.features(points), features.features(others)
    rng = np.random.default_rng(seed)
    found = {
        "min-norm": mse(tests @ interpolated(rows, labels, points), truth),
        "Kaczmarz": mse(tests @ single_row_kaczmarz(rows, labels, labels.size, rng), truth),
    }
    found["published"] = found["Kaczmarz"] + noise_share(tests, code_sigma(number, GIVEN))
    for divisor in DIVISORS:
        coefficients = plain_sgd(rows, labels, 1.0 / (divisor * labels.size), rng)
        found[_name(divisor)] = mse(tests @ coefficients, truth)
    solvers: dict[str, SolverName] = {
        "min-norm, honest": "min-norm",
        **{f"{_name(d)}, honest": SGD(1.0 / (d * labels.size)) for d in DIVISORS},
    }
    for name, solver in solvers.items():
        model = RandomFeatureRegressor(
            GIVEN,
            DELTA,
            label_bounds=(-1.0, 1.0),  # of labels as they are: they lie in [0, 1]
            solver=solver,
            feature_map="cosine",
            n_components=number,
            scale=scale,
            feature_seed=seed,
            random_state=seed,
        )
        found[name] = fitted_error(model, scaled.train, scaled.test)
    return found


def figures_5_and_6(data: Regression, numbers: Sequence[int], repeats: int) -> Grid:
    """Min-norm interpolation against SGD."""
    rows: dict[str, list[Measured]] = {}
    for number in numbers:
        found: Errors = {}
        for seed in range(repeats):
            for name, error in _against_sgd(Scaled.of(data, seed), number, seed).items():
                found.setdefault(name, []).append(error)
        for name, errors in found.items():
            rows.setdefault(name, []).append(averaged(errors))
    head = ("model", *(f"N = {number:,}" for number in numbers))
    title = f"Figures 5 and 6 of 004, {data.name}: test error, frequencies of variance {VARIANCE:g}, SGD by rate"
    return Grid(
        f"{title}, {count(repeats, 'run')}", head, tuple(row(_long(name), cells) for name, cells in rows.items())
    )


def _long(name: str) -> str:
    if name.endswith("honest"):
        return f"{name} (ε = {GIVEN:g})"
    if name == "published":
        return f"Kaczmarz with 004's noise for ε = {GIVEN:g} (true: {NEVER})"
    return f"{name} non-private"


def parts(setting: Setting) -> list[Part]:
    """Table 1 and the figures, for both sets. quick: on 400 records."""
    sets = {MEDICAL: medical} if setting.quick else {MEDICAL: medical, RED: red_wine}
    numbers, repeats = ((400, 600), 1) if setting.quick else (NUMBERS, 3)

    def load(name: str) -> Regression:
        data = sets[name](setting.data)
        return data.few(400) if setting.quick else data

    def by_number(name: str) -> list[Table]:
        data = load(name)
        codes, printed = (
            [at_number(data, number, scale, repeats) for number in numbers] for scale in (CODE_SCALE, PRINTED_SCALE)
        )
        return [table1(data, codes, printed), times(data, codes), figure4(data, codes)]

    def by_solver(name: str) -> list[Table]:
        return [figures_5_and_6(load(name), (numbers[0], numbers[-1]), repeats)]

    return [
        part
        for name in sets
        for part in (
            Part(f"Table 1 and Figure 4, {name}", partial(by_number, name), 0.3 if setting.quick else 60.0),
            Part(f"Figures 5 and 6, {name}", partial(by_solver, name), 0.3 if setting.quick else 15.0),
        )
    ]
