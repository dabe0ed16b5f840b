"""Sections 4.2 and 4.3 of 004: who bears the noise, and whose predictions look alike.

Models are those of the paper: interpolation on N = 4000 random features of inputs that are not scaled, by ridge with a
penalty too small to matter, as inputs so near each other leave no rank; and regularised least squares (RLS) on numbers
scaled within each group, a constant added, with λ = √N/(2m) per record. Both get N(0, σ²) on every coefficient, σ =
4/√N·√(2 ln(1.25/δ))/ε, with labels over their norm. Features have length 1, of cosines on average, as in the authors'
code; those of Algorithm 1 as printed have length √N, and everything that noise does is N times as large. Risks are in
units of what predicting 0 risks. Expected gaps need no draws, as (9) is exact [004-eq9].

No ε is true of random features so released, nor of RLS: what `mechanisms.gradients.feature_fits.ridge_l2` bounds for it
holds only were the extremes of each group, the longest record and the norm of labels public, which they are not.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from sklearn.metrics import r2_score

from accountant import ApproxDP, BasicComposition, Ledger, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from accountant.costs import gaussian
from benchmarks.data import Regression, medical, min_max, wine
from benchmarks.random_features.random_feature_fits import DELTA, NEVER, averaged, count, mapped, row
from benchmarks.runner import Cell, Grid, Line, Measured, Report
from learners import RandomFeatureRegressor
from learners.fairness import (
    PAPER_GRID,
    GroupRow,
    demographic_table,
    excess_risk_gaps,
    gap_by_traces,
    private_statistical_parity,
    statistical_parity,
)
from learners.random_features import CONCENTRATED, FeatureMap, PublishedNoise, ridge
from learners.tables import Values
from mechanisms.gradients import ridge_l2

NUMBER: Final = 4000
EPSILONS: Final = (0.05, 0.1, 0.3, 1.0, 3.0)
"""004 has .05 to .3."""

TINY: Final = 1e-9
"""Penalty of interpolation, per record."""

FEATURE_MAPS: Final[Mapping[str, FeatureMap]] = {"unit modulus": "fourier", "cosines": "cosine"}
LINEAR: Final = "RLS"
OURS: Final = "descent, recommended"


def noise_sigma(epsilon: float) -> float:
    """σ of the paper, for its η."""
    return PublishedNoise(NUMBER, epsilon, DELTA, CONCENTRATED).sigma


@attrs.frozen(eq=False)
class Case:
    """Records by groups. scale: deviation of frequencies, for inputs as they are.  epsilon: of Table 2."""

    data: Regression
    column: str
    scale: float
    epsilon: float

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.data.name} ({self.column})"

    @property
    def groups(self) -> Values:
        """Of each record, shape (n,)."""
        return self.data.table[self.column]

    def linear_rows(self) -> FloatArray:
        """Numbers scaled by their extremes within each group, other features as they are, and 1."""
        rows = np.column_stack([self.data.plain(), np.ones(self.data.records)])
        numbers = len(self.data.numeric)
        for group in np.unique(self.groups):
            members = self.groups == group
            rows[members, :numbers] = min_max(rows[members, :numbers])
        return rows

    def rows(self, kind: str, seed: int, number: int) -> FloatArray:
        """Features of a kind, of length 1 but for cosines, which have it on average, and RLS."""
        if kind == LINEAR:
            return self.linear_rows()
        points, feature_map = self.data.plain(), FEATURE_MAPS[kind]
        found = mapped(feature_map, number, points.shape[1], self.scale, seed).features(points)
        return found if feature_map == "fourier" else math.sqrt(2.0) * found

    def fitted(self, kind: str, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Coefficients without noise."""
        return ridge(rows, labels, 0.5 * math.sqrt(NUMBER) if kind == LINEAR else TINY * labels.size)


@attrs.frozen
class Kind:
    """What a case of 004 is made of: frequencies of this deviation, and the ε of Table 2."""

    load: Callable[[str | None], Regression]
    scale: float
    epsilon: float


CASES: Final[Mapping[str, Kind]] = {
    "sex": Kind(medical, math.sqrt(2e-5), 0.5),
    "smoker": Kind(medical, math.sqrt(2e-5), 0.5),
    "colour": Kind(wine, math.sqrt(20.0), 0.05),
}
"""The three of 004, by the column that makes the groups."""


def case(folder: str | None, column: str) -> Case:
    """One of CASES. Raises DataNotFound."""
    kind = CASES[column]
    return Case(kind.load(folder), column, kind.scale, kind.epsilon)


# --- Figures 7 and 8 --------------------------------------------------------------------------------------------------


def training(own: Case, seed: int) -> Case:
    """Nine tenths of each group, or 1,000 wines of each colour."""
    rng, chosen = np.random.default_rng(seed), []
    for group in np.unique(own.groups):
        members = rng.permutation(np.flatnonzero(own.groups == group))
        chosen.append(members[: 1000 if own.column == "colour" else round(0.9 * members.size)])
    return attrs.evolve(own, data=own.data.part(np.concatenate(chosen)))


@attrs.frozen(eq=False)
class Gaps:
    """Largest excess risk gaps ξ_a, measured and by (9), for σ = 1; risk: excess risk of all; one per split."""

    measured: list[float]
    theory: list[float]
    risk: list[float]


def gaps(own: Case, kind: str, splits: int, draws: int, number: int = NUMBER) -> Gaps:
    """Of noise of σ = 1: everything is in proportion to σ². Labels have mean square 1."""
    found = Gaps([], [], [])
    for seed in range(splits):
        part = training(own, seed)
        rows = part.rows(kind, seed, number)
        labels = part.data.labels / math.sqrt(float(np.mean(part.data.labels**2)))
        optimum = rows @ part.fitted(kind, rows, labels)
        rng = np.random.default_rng(seed)
        noisy = optimum + rng.standard_normal((draws, rows.shape[1])) @ rows.T
        measured = excess_risk_gaps(noisy, optimum, labels, part.groups)
        found.measured.append(max(each.gap for each in measured))
        found.theory.append(max(each.gap for each in gap_by_traces(1.0, rows, part.groups)))
        found.risk.append(float(np.mean(np.sum(rows**2, axis=1))))
    return found


def _in_units(values: Sequence[float], records: int, epsilon: float) -> list[float]:
    """Labels over their norm have mean square 1/m, so noise counts m times."""
    return [each * noise_sigma(epsilon) ** 2 * records for each in values]


def rls_epsilon(rows: FloatArray, sigma: float) -> float:
    """An ε of RLS with this noise, were the longest record, the scales of inputs and the norm of labels public.

    They are not, so none is true of it. Labels over a public norm of theirs have |y| <= 1.
    """
    length = float(np.max(np.linalg.norm(rows, axis=1)))
    penalty = 0.5 * math.sqrt(NUMBER) / (len(rows) * length**2)  # per record, for rows over their length
    return gaussian.epsilon(ridge_l2(len(rows), penalty, 1.0) / length / sigma, DELTA)


def rls_bounds(own: Case, splits: int) -> Report:
    """ε of RLS on any of these training sets, were the scales public; printed: the ε that is given."""
    rows = [training(own, seed).linear_rows() for seed in range(splits)]
    lines = [
        Line(f"ε = {at:g} given", Measured(max(rls_epsilon(each, noise_sigma(at)) for each in rows), printed=at))
        for at in EPSILONS
    ]
    return Report(f"ε of noise on RLS, {own.name}: were its scales public; as they are not, no ε is true", lines)


def figures_7_and_8(own: Case, splits: int, draws: int, number: int) -> list[Grid]:
    """Largest ξ_a by ε, measured and expected, and what noise costs everybody; ours beside, by a true ε."""
    m = training(own, 0).data.records
    measured, expected, risk = dict[str, list[Measured]](), dict[str, list[Measured]](), dict[str, list[Measured]]()
    for kind in (*FEATURE_MAPS, LINEAR):
        found, name = gaps(own, kind, splits, draws, number), f"{kind} (true ε: {NEVER})"
        for table, values in ((measured, found.measured), (expected, found.theory), (risk, found.risk)):
            table[name] = [averaged(_in_units(values, m, at)) for at in EPSILONS]
    ours = [recommended_gaps(own, at, splits) for at in EPSILONS]
    measured[OURS], risk[OURS] = ([averaged([pair[which] for pair in each]) for each in ours] for which in (0, 1))
    head = ("features", *(f"ε = {at:g}" for at in EPSILONS))
    unit = f"over the risk of predicting 0, {count(splits, 'split')}"
    return [
        Grid(f"Figures 7 and 8, {own.name}: {what} {unit}", head, _rows(table))
        for what, table in (
            ("largest gap of excess risk", measured),
            ("the gap expected by (9)", expected),
            ("excess risk of all", risk),
        )
    ]


def _rows(table: Mapping[str, Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(row(name, cells) for name, cells in table.items())


def _recommended(data: Regression, epsilon: float, seed: int) -> RandomFeatureRegressor:
    model = RandomFeatureRegressor(
        epsilon, DELTA, label_bounds=data.bounds, schema=data.schema, feature_seed=seed, random_state=seed
    )
    return model.fit(data.table, data.labels)


def recommended_gaps(own: Case, epsilon: float, splits: int) -> list[tuple[float, float]]:
    """Largest ξ_a and excess risk of all of one draw on each split, against ridge without privacy on its features.

    In units of the risk of predicting 0.
    """
    found = []
    for seed in range(splits):
        part = training(own, seed)
        model, labels = _recommended(part.data, epsilon, seed), part.data.labels
        kept = model.model_
        features = kept.fit.features.rows(kept.coding.encode(part.data.table, "benchmark"))
        optimum = labels.mean() + features @ ridge(features, labels - labels.mean(), 1e-3 * labels.size)
        unit = float(np.mean(labels**2))
        each = excess_risk_gaps(model.predict(part.data.table), optimum, labels, part.groups)
        largest = max(one.gap for one in each)
        found.append((largest / unit, sum(one.n * one.excess for one in each) / labels.size / unit))
    return found


# --- Table 2 and Figure 9 ---------------------------------------------------------------------------------------------

PRINTED: Final[Mapping[str, Mapping[str, tuple[float, float | None]]]] = {
    "sex": {"targets": (0.06, None), "DP-RF": (0.117, 0.047), "RLS": (0.074, None), "DP-RLS": (0.427, 0.233)},
    "smoker": {"targets": (0.873, None), "DP-RF": (0.410, 0.098), "RLS": (0.999, None), "DP-RLS": (0.516, 0.302)},
    "colour": {"targets": (0.130, None), "DP-RF": (0.028, 0.009), "RLS": (0.279, None), "DP-RLS": (0.312, 0.239)},
}
"""Table 2: parity, and its deviation over draws of noise."""


@attrs.frozen(eq=False)
class Parity:
    """Scores of one kind of model, one per repetition."""

    grid: list[float]
    exact: list[float]
    r2: list[float]

    @staticmethod
    def of(outputs: Sequence[FloatArray], labels: FloatArray, groups: Values) -> "Parity":
        """outputs: predictions, shape (n,) each."""
        return Parity(
            [statistical_parity(each, groups, grid=PAPER_GRID) for each in outputs],
            [statistical_parity(each, groups) for each in outputs],
            [float(r2_score(labels, each)) for each in outputs],
        )

    def cells(self, printed: tuple[float | None, float | None]) -> list[Cell]:
        """Mean and deviation by the grid, beside what is printed; exact parity; R²."""
        mean, deviation = printed
        several = len(self.grid) > 1
        return [
            Measured.mean(self.grid, mean, form=".3g"),
            Measured(statistics.stdev(self.grid), printed=deviation) if several else "",
            Measured.mean(self.exact, form=".3g"),
            Measured.mean(self.r2, unit="R²", form=".3g"),
        ]


DRAWN: Final = ("DP-RF", "RLS", "DP-RLS")
"""Models of Figure 9."""

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


def _noised(plain: FloatArray, rows: FloatArray, sigma: float, seeds: IntArray) -> list[FloatArray]:
    return [
        plain + rows @ (sigma * np.random.default_rng([each, 9]).standard_normal(rows.shape[1]))
        for each in seeds.tolist()
    ]


def _models(own: Case, maps: int, repeats: int, number: int) -> dict[str, list[FloatArray]]:
    """Predictions of labels over their norm: `repeats` draws of noise, shared out among `maps` draws of features."""
    labels = own.data.labels / float(np.linalg.norm(own.data.labels))
    sigma, seeds = noise_sigma(own.epsilon), np.array_split(np.arange(repeats), maps)
    found: dict[str, list[FloatArray]] = {"RF, no noise": [], "DP-RF": [], "RLS": [], "DP-RLS": []}
    for seed, part in enumerate(seeds):
        rows = own.rows("unit modulus", seed, number)
        plain = rows @ own.fitted("unit modulus", rows, labels)
        found["RF, no noise"].append(plain)
        found["DP-RF"] += _noised(plain, rows, sigma, part)
    rows = own.linear_rows()
    plain = rows @ own.fitted(LINEAR, rows, labels)
    found["RLS"].append(plain)
    found["DP-RLS"] += _noised(plain, rows, sigma, np.arange(repeats))
    return found


def _named(own: Case, name: str) -> str:
    """With the ε that is true of what is released."""
    epsilon = f"{own.epsilon:g}"
    shown = {"targets": "", OURS: f" (ε = {epsilon})", "DP-RF": _given(epsilon), "DP-RLS": _given(epsilon)}
    return name + shown.get(name, " (non-private)")


def _given(epsilon: str) -> str:
    return f" (ε = {epsilon} given, true: {NEVER})"


def table2(own: Case, maps: int, repeats: int, number: int) -> Grid:
    """Statistical parity, by the paper's grid and exactly, and R² beside it."""
    labels, groups = own.data.labels / float(np.linalg.norm(own.data.labels)), own.groups
    found = {"targets": Parity.of([labels], labels, groups)}
    for name, outputs in _models(own, maps, repeats, number).items():
        found[name] = Parity.of(outputs, labels, groups)
    ours = [_recommended(own.data, own.epsilon, seed).predict(own.data.table) for seed in range(maps)]
    found[OURS] = Parity.of(ours, own.data.labels, groups)
    printed = PRINTED[own.column]
    rows = (row(_named(own, name), each.cells(printed.get(name, (None, None)))) for name, each in found.items())
    head = ("model", f"parity, grid of {PAPER_GRID}", "its deviation", "parity, exact", "R² on these records")
    title = f"Table 2 of 004, {own.name}: statistical parity, {count(repeats, 'draw')} of noise, {maps} of features"
    return Grid(title, head, tuple(rows))


def figure9(own: Case, number: int) -> Grid:
    """Quantiles of targets and outputs by group, of one draw of features and noise, in the labels' units."""
    length = float(np.linalg.norm(own.data.labels))
    models = {name: length * outputs[0] for name, outputs in _models(own, 1, 1, number).items() if name in DRAWN}
    ours = _recommended(own.data, own.epsilon, 0).predict(own.data.table)
    rows = []
    for name, values in {"targets": own.data.labels, **models, OURS: ours}.items():
        for group in np.unique(own.groups):
            found = np.quantile(values[own.groups == group], QUANTILES)
            rows.append(row(f"{_named(own, name)}, {group}", map(Measured, found.tolist())))
    head = ("outputs", *(f"quantile at {share:g}" for share in QUANTILES))
    return Grid(f"Figure 9 of 004, {own.name}: quantiles of outputs by group, one draw of noise", head, tuple(rows))


def demographics(own: Case, epsilon: float, splits: int) -> Grid:
    """What the recommended model does by group, on records that were held out."""
    middle, found = 0.5 * sum(own.data.bounds), dict[str, list[GroupRow]]()
    for seed in range(splits):
        train, test = (own.data.part(kept) for kept in own.data.split(seed))
        outputs = _recommended(train, epsilon, seed).predict(test.table)
        for each in demographic_table(outputs, test.labels, test.table[own.column], threshold=middle):
            found.setdefault(str(each.group), []).append(each)
    width = own.data.width**2
    rows = (
        (
            f"{own.column} {group}",
            Measured.mean([each.n for each in rows], unit="records", form=".0f"),
            averaged([each.mean_label for each in rows], unit="label units"),
            averaged([each.mean_prediction for each in rows], unit="label units"),
            averaged([each.error / width for each in rows], unit="squared widths"),
            averaged([each.above for each in rows], unit="share"),
        )
        for group, rows in found.items()
    )
    head = ("group", "records", "mean label", "mean output", "error", "outputs above the middle of the bounds")
    size = f"a tenth held out, {count(splits, 'split')}, not a release"
    return Grid(f"{OURS}, {own.name}, ε = {epsilon:g}: by group, {size}", head, tuple(rows))


def private_parity(found: Sequence[Case], draws: int) -> Grid:
    """What may be said of the recommended model's parity on its own training records, at a charge."""
    rows = []
    for own in found:
        scores: list[tuple[float, float, float, float]] = []
        for seed in range(draws):
            outputs = _recommended(own.data, 0.5, seed).predict(own.data.table)
            estimate = private_statistical_parity(
                outputs,
                own.groups,
                public_groups=sorted(set(own.groups.tolist())),
                bounds=own.data.bounds,
                epsilon=0.5,
                delta=DELTA,
                ledger=Ledger(ApproxDP(0.5, DELTA), composition=BasicComposition(), adjacency=ReplaceOne()),
                random_state=seed,
            )
            exact = statistical_parity(outputs, own.groups)
            scores.append((exact, estimate.estimate, estimate.low, estimate.high))
        rows.append(row(own.name, map(averaged, zip(*scores, strict=True))))
    head = ("data", "exact, not a release", "private estimate", "low end of 95 %", "high end of 95 %")
    title = f"Parity of {OURS}, estimated privately: ε = 0.5 for the model, 0.5 for the estimate"
    return Grid(f"{title}, {count(draws, 'draw')}", head, tuple(rows))
