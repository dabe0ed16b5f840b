"""Sections 4.2 and 4.3 of 004: who bears the noise, and whose predictions look alike.

Models are those of the paper: interpolation on N = 4000 random features of inputs that are not scaled, by ridge with a
penalty too small to matter, as inputs so near each other leave no rank; and regularised least squares (RLS) on numbers
scaled within each group, a constant added, with λ = √N/(2m) per record. Both get N(0, σ²) on every coefficient, σ =
4/√N·√(2 ln(1.25/δ))/ε, with labels over their norm. Features have length 1, of cosines on average, as in the authors'
code; those of Algorithm 1 as printed have length √N, and everything that noise does is N times as large. Risks are in
units of what predicting 0 risks. Expected gaps need no draws, as (9) is exact [004-eq9].

No ε is true of random features so released, nor of RLS: what `mechanisms.feature_fits.ridge_l2` bounds for it holds
only were the extremes of each group, the longest record and the norm of labels public, which they are not.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from sklearn.metrics import r2_score

from accountant import ApproxDP, BasicComposition, Ledger, ReplaceOne, gaussian
from benchmarks.random_feature_domains import Regression, medical, min_max, wine
from benchmarks.random_feature_fits import DELTA, NEVER, mapped, text
from benchmarks.report import Grid
from boosting.measures import FloatArray
from learners import RandomFeatureRegressor
from learners.fairness import PAPER_GRID, demographic_table, excess_risk_gaps, gap_by_traces, statistical_parity
from learners.interpolation import ridge
from learners.private_fairness import private_statistical_parity
from learners.random_feature_maps import Form
from learners.random_feature_solvers import CONCENTRATED
from learners.random_feature_theory import Published
from learners.schema import IntArray, Values
from mechanisms.feature_fits import ridge_l2

NUMBER: Final = 4000
EPSILONS: Final = (0.05, 0.1, 0.3, 1.0, 3.0)
"""004 has .05 to .3."""

TINY: Final = 1e-9
"""Penalty of interpolation, per record."""

FORMS: Final[Mapping[str, Form]] = {"unit modulus": "fourier", "cosines": "cosine"}
LINEAR: Final = "RLS"
OURS: Final = "descent, recommended"


def noise_sigma(epsilon: float) -> float:
    """σ of the paper, for its η."""
    return Published(NUMBER, epsilon, DELTA, CONCENTRATED).sigma


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
        points, form = self.data.plain(), FORMS[kind]
        found = mapped(form, number, points.shape[1], self.scale, seed).features(points)
        return found if form == "fourier" else math.sqrt(2.0) * found

    def fitted(self, kind: str, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Coefficients without noise."""
        return ridge(rows, labels, 0.5 * math.sqrt(NUMBER) if kind == LINEAR else TINY * labels.size)


def cases(folder: str | None) -> list[Case]:
    """The three of 004. Raises DataNotFound."""
    costs, wines = medical(folder), wine(folder)
    frequencies = math.sqrt(2e-5)
    return [
        Case(costs, "sex", frequencies, 0.5),
        Case(costs, "smoker", frequencies, 0.5),
        Case(wines, "colour", math.sqrt(20.0), 0.05),
    ]


# --- Figures 7 and 8 --------------------------------------------------------------------------------------------------


def training(case: Case, seed: int) -> Case:
    """Nine tenths of each group, or 1,000 wines of each colour."""
    rng, chosen = np.random.default_rng(seed), []
    for group in np.unique(case.groups):
        members = rng.permutation(np.flatnonzero(case.groups == group))
        chosen.append(members[: 1000 if case.column == "colour" else round(0.9 * members.size)])
    return attrs.evolve(case, data=case.data.part(np.concatenate(chosen)))


@attrs.frozen(eq=False)
class Gaps:
    """Largest excess risk gaps ξ_a, measured and by (9), for σ = 1; risk: excess risk of all; one per split."""

    measured: list[float]
    theory: list[float]
    risk: list[float]


def gaps(case: Case, kind: str, splits: int, draws: int, number: int = NUMBER) -> Gaps:
    """Of noise of σ = 1: everything is in proportion to σ². Labels have mean square 1."""
    found = Gaps([], [], [])
    for seed in range(splits):
        part = training(case, seed)
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


def _in_units(values: Sequence[float], records: int, epsilon: float) -> str:
    """Labels over their norm have mean square 1/m, so noise counts m times."""
    return text([each * noise_sigma(epsilon) ** 2 * records for each in values])


def rls_epsilon(rows: FloatArray, sigma: float) -> float:
    """An ε of RLS with this noise, were the longest record, the scales of inputs and the norm of labels public.

    They are not, so none is true of it. Labels over a public norm of theirs have |y| <= 1.
    """
    length = float(np.max(np.linalg.norm(rows, axis=1)))
    penalty = 0.5 * math.sqrt(NUMBER) / (len(rows) * length**2)  # per record, for rows over their length
    return gaussian.epsilon(ridge_l2(len(rows), penalty, 1.0) / length / sigma, DELTA)


def rls_label(rows: Sequence[FloatArray], epsilons: Sequence[float]) -> str:
    """What stands beside RLS for its true ε at each ε that is given. rows: of every data set, shape (m, d) each."""
    found = (max(rls_epsilon(each, noise_sigma(at)) for each in rows) for at in epsilons)
    return f"{NEVER} ({', '.join(f'{each:.3g}' for each in found)} were the scales public)"


def figures_7_and_8(found: Sequence[Case], splits: int, draws: int, number: int) -> Grid:
    """ξ_a by ε, measured and expected, and what noise costs everybody."""
    rows = []
    for case in found:
        m = training(case, 0).data.records
        linear = rls_label([training(case, seed).linear_rows() for seed in range(splits)], EPSILONS)
        for kind in (*FORMS, LINEAR):
            each = gaps(case, kind, splits, draws, number)
            texts = [f"{_in_units(each.measured, m, at)} ({_in_units(each.theory, m, at)})" for at in EPSILONS]
            risks = (_in_units(each.risk, m, at) for at in (0.3, 3.0))
            rows.append((case.name, kind, linear if kind == LINEAR else NEVER, *texts, *risks))
    head = (
        "data",
        "features",
        f"true ε at {', '.join(f'{at:g}' for at in EPSILONS)} given",
        *(f"gap at ε = {at:g} given: measured (by (9))" for at in EPSILONS),
        *(f"excess risk of all at ε = {at:g} given" for at in (0.3, 3.0)),
    )
    title = (
        f"Figures 7 and 8 of 004: largest excess risk gap of a group, in units of the risk of predicting 0, N = "
        f"{number:,}, {splits} splits x {draws} draws"
    )
    return Grid(title, head, tuple(rows))


def _recommended(data: Regression, epsilon: float, seed: int) -> RandomFeatureRegressor:
    model = RandomFeatureRegressor(
        epsilon, DELTA, label_bounds=data.bounds, schema=data.schema, map_seed=seed, random_state=seed
    )
    return model.fit(data.table, data.labels)


def recommended_gaps(found: Sequence[Case], splits: int) -> Grid:
    """ξ_a of the recommended solver, beside random features fitted without privacy, on the same features."""
    rows = []
    for case in found:
        for epsilon in (0.3, 3.0):
            gap, risk = [], []
            for seed in range(splits):
                part = training(case, seed)
                model, labels = _recommended(part.data, epsilon, seed), part.data.labels
                kept = model.model_
                features = kept.fit.features.rows(kept.coding.encode(part.data.table, "benchmark"))
                centred = labels - labels.mean()
                optimum = labels.mean() + features @ ridge(features, centred, 1e-3 * labels.size)
                unit = float(np.mean(labels**2))
                each = excess_risk_gaps(model.predict(part.data.table), optimum, labels, part.groups)
                gap.append(max(one.gap for one in each) / unit)
                risk.append(sum(one.n * one.excess for one in each) / labels.size / unit)
            rows.append((case.name, f"{epsilon:g}", text(gap), text(risk)))
    head = ("data", "ε (true)", "largest gap", "excess risk of all")
    return Grid(
        f"The same for {OURS}: one draw on each of {splits} splits, against ridge on its features", head, tuple(rows)
    )


# --- Table 2 and Figure 9 ---------------------------------------------------------------------------------------------

PRINTED: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "sex": ("0.06", "0.117 ± 0.047", "0.074", "0.427 ± 0.233"),
    "smoker": ("0.873", "0.410 ± 0.098", "0.999", "0.516 ± 0.302"),
    "colour": ("0.130", "0.028 ± 0.009", "0.279", "0.312 ± 0.239"),
}
"""Table 2: targets, DP-RF, RLS, DP-RLS."""


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

    @property
    def texts(self) -> tuple[str, str, str]:
        """Mean and deviation, as printed."""
        return _spread(self.grid), _spread(self.exact), _spread(self.r2)


DRAWN: Final = ("DP-RF", "RLS", "DP-RLS")
"""Models of Figure 9."""

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


def _spread(values: Sequence[float]) -> str:
    mean = f"{np.mean(values):.3g}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.2g}"


def _noised(plain: FloatArray, rows: FloatArray, sigma: float, seeds: IntArray) -> list[FloatArray]:
    return [
        plain + rows @ (sigma * np.random.default_rng([each, 9]).standard_normal(rows.shape[1]))
        for each in seeds.tolist()
    ]


def _models(case: Case, maps: int, repeats: int, number: int) -> dict[str, list[FloatArray]]:
    """Predictions of labels over their norm: `repeats` draws of noise, shared out among `maps` draws of features."""
    labels = case.data.labels / float(np.linalg.norm(case.data.labels))
    sigma, seeds = noise_sigma(case.epsilon), np.array_split(np.arange(repeats), maps)
    found: dict[str, list[FloatArray]] = {"RF, no noise": [], "DP-RF": [], "RLS": [], "DP-RLS": []}
    for seed, part in enumerate(seeds):
        rows = case.rows("unit modulus", seed, number)
        plain = rows @ case.fitted("unit modulus", rows, labels)
        found["RF, no noise"].append(plain)
        found["DP-RF"] += _noised(plain, rows, sigma, part)
    rows = case.linear_rows()
    plain = rows @ case.fitted(LINEAR, rows, labels)
    found["RLS"].append(plain)
    found["DP-RLS"] += _noised(plain, rows, sigma, np.arange(repeats))
    return found


def _true(case: Case) -> dict[str, str]:
    """The ε that is true of what is released, by model."""
    rls, given = rls_label([case.linear_rows()], [case.epsilon]), f"given {case.epsilon:g}"
    return {"DP-RF": f"{NEVER}, {given}", "DP-RLS": f"{rls}, {given}", OURS: f"{case.epsilon:g}"}


def _row(case: Case, name: str, true: str, parity: Parity) -> tuple[str, ...]:
    printed = dict(zip(("targets", "DP-RF", "RLS", "DP-RLS"), PRINTED[case.column], strict=True))
    return (case.name, name, true, printed.get(name, ""), *parity.texts)


def table2(found: Sequence[Case], maps: int, repeats: int, number: int) -> Grid:
    """Statistical parity, by the paper's grid and exactly, and R² beside it."""
    rows = []
    for case in found:
        labels, groups = case.data.labels / float(np.linalg.norm(case.data.labels)), case.groups
        rows.append(_row(case, "targets", NEVER, Parity.of([labels], labels, groups)))
        true = _true(case)
        for name, outputs in _models(case, maps, repeats, number).items():
            rows.append(_row(case, name, true.get(name, NEVER), Parity.of(outputs, labels, groups)))
        outputs = [_recommended(case.data, case.epsilon, seed).predict(case.data.table) for seed in range(maps)]
        rows.append(_row(case, OURS, true[OURS], Parity.of(outputs, case.data.labels, groups)))
    head = (
        "data",
        "model",
        "true ε",
        "printed",
        f"parity, grid of {PAPER_GRID}",
        "parity, exact",
        "R² on these records",
    )
    title = f"Table 2 of 004: statistical parity, ± deviation, {repeats} draws of noise (of {maps} draws of features)"
    return Grid(title, head, tuple(rows))


def figure9(case: Case, number: int) -> Grid:
    """Quantiles of targets and outputs by group, of one draw of features and noise, in the labels' units."""
    length = float(np.linalg.norm(case.data.labels))
    models = {name: length * outputs[0] for name, outputs in _models(case, 1, 1, number).items() if name in DRAWN}
    ours = _recommended(case.data, case.epsilon, 0).predict(case.data.table)
    true, rows = _true(case), []
    for name, values in {"targets": case.data.labels, **models, OURS: ours}.items():
        for group in np.unique(case.groups):
            found = np.quantile(values[case.groups == group], QUANTILES)
            rows.append((name, true.get(name, NEVER), str(group), *(f"{each:.3g}" for each in found)))
    head = ("outputs", "true ε", case.column, *(f"{100.0 * share:g} %" for share in QUANTILES))
    return Grid(f"Figure 9 of 004: quantiles of outputs by group, {case.name}, one draw of noise", head, tuple(rows))


def demographics(found: Sequence[Case], epsilon: float) -> Grid:
    """What the recommended model does by group, on records that were held out; above: the middle of the bounds."""
    rows = []
    for case in found:
        train, test = (case.data.part(kept) for kept in case.data.split(0))
        outputs, middle = _recommended(train, epsilon, 0).predict(test.table), 0.5 * sum(case.data.bounds)
        for each in demographic_table(outputs, test.labels, test.table[case.column], threshold=middle):
            means = (each.mean_label, each.mean_prediction, each.error / test.width**2, each.above)
            rows.append((case.name, str(each.group), f"{each.n}", *(f"{value:.3g}" for value in means)))
    means_head = ("mean label", "mean output", "error over the squared width", "outputs above the middle of the bounds")
    title = f"{OURS}, ε = {epsilon:g}: by group, on a tenth that was held out, not a release"
    return Grid(title, ("data", "group", "records", *means_head), tuple(rows))


def private_parity(found: Sequence[Case]) -> Grid:
    """What may be said of the recommended model's parity on its own training records, at a charge."""
    rows = []
    for case in found:
        outputs = _recommended(case.data, 0.5, 0).predict(case.data.table)
        ledger = Ledger(ApproxDP(0.5, DELTA), composition=BasicComposition(), adjacency=ReplaceOne())
        estimate = private_statistical_parity(
            outputs,
            case.groups,
            public_groups=sorted(set(case.groups.tolist())),
            bounds=case.data.bounds,
            epsilon=0.5,
            delta=DELTA,
            ledger=ledger,
            random_state=0,
        )
        exact = statistical_parity(outputs, case.groups)
        interval = f"[{estimate.low:.3f}, {estimate.high:.3f}]"
        rows.append((case.name, f"{exact:.3f}", f"{estimate.estimate:.3f}", interval, "0.5 + 0.5"))
    head = ("data", "exact, not a release", "private estimate", "95 % interval", "ε, model and estimate")
    return Grid(f"Parity of {OURS}, estimated privately", head, tuple(rows))


def tables(folder: str | None, quick: bool) -> list[Grid]:
    """Both sections. Raises DataNotFound."""
    found = cases(folder)
    if quick:
        few = [attrs.evolve(case, data=case.data.few(300)) for case in found[:2]]
        return [
            figures_7_and_8(few, 1, 10, 700),
            recommended_gaps(few[:1], 1),
            table2(few[1:], 1, 2, 700),
            figure9(few[1], 700),
            private_parity(few[1:]),
            demographics(few, 1.0),
        ]
    return [
        figures_7_and_8(found, 10, 100, NUMBER),
        recommended_gaps(found, 10),
        table2(found, 4, 20, NUMBER),
        figure9(found[1], NUMBER),
        private_parity(found),
        demographics(found, 1.0),
    ]
