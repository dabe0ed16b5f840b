"""The experiments of "Private Boosted Decision Trees via Smooth Re-Weighting" (001), beside what it prints.

Adult on its canonical test set, Cod-RNA's training file and Mushroom by 5-fold cross-validation, as the paper has
it; its hyper-parameters (Tables 8 to 10), which nobody was charged for. Means and standard deviations over seeds.
What differs: our bins have public bounds (the authors' code cuts between the smallest and largest value of the
data), Mushroom has 126 features (117 occur), and the weighting is projected in every round (their code leaves it
where it is dense enough, which costs it its smoothness). The paper states the noise η = εκn/(4τ), which is ours at
ε/2; where it matters both are shown.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import printed
from benchmarks.baselines import best_rules
from benchmarks.margins import guaranteed_accuracy, last_round_above, rademacher
from benchmarks.printed import EPSILONS, Setting
from benchmarks.registry import BOOSTED_RULES, SYSTEMS, paper_setting
from benchmarks.report import Grid, Line, Report, Reports
from benchmarks.splits import PAPER, Folds, Holdouts, Part, Plan, paper_protocol, whole
from benchmarks.systems import Measurement, Results, System, grids, measure, ours, quality
from boosting import LazyBregman, replay
from learners import LazyBoostClassifier
from learners.estimator import Rule
from learners.one_rule import CONSTANT
from learners.votes import VoteModel

TOLERANCE = 0.015
"""How far below a printed accuracy we may be: it has two digits, and is the best of 539 settings on the folds that
chose it, which is worth about 0.01 on Mushroom: see `winner`."""

RUNS = 5
"""Repetitions of the sparsity tables."""

Found = dict[float, list[Measurement]]


def accuracy(plan: Plan, results: Results, seeds: int, search: bool) -> tuple[list[Grid], Report]:
    """Table 2's curves for one data set, every system of the registry, and the figures that the paper prints.

    search: also look for the best setting of a grid.
    """
    systems = [system for system in SYSTEMS if not system.needs_delta]
    tables = {system: measure(system, plan, results, EPSILONS, 0.0, seeds) for system in systems}
    lines = []
    for epsilon, asked in printed.ACCURACY[plan.name].items():
        found = float(np.mean([one.accuracy for one in tables[BOOSTED_RULES][epsilon]]))
        lines.append(Line(f"ε={epsilon:g}", f"{found:.4f}", f"{asked} (± {TOLERANCE})", found >= asked - TOLERANCE))
    if search:
        lines.append(winner(plan))
    report = Report(f"{plan.name}: boosted 1-Rules, δ = 0, {plan.protocol}, beside 001", tuple(lines))
    return grids(tables, f"{plan.name}, δ = 0, {plan.protocol}, {seeds} seeds"), report


def everything(name: str, plan: Plan) -> Part:
    """The records that the paper counts: Adult's training file, Cod-RNA's, and all of Mushroom."""
    return plan(0)[0].train if name == "adult" else whole(plan(0)[0])


def sparsity(name: str, part: Part, epsilons: Sequence[float]) -> Grid:
    """Tables 3 and 5 to 7: features with a net vote; and features used at all, with the noise that the paper states."""
    rows = []
    for epsilon in epsilons:
        setting, asked = paper_setting(name, epsilon), printed.SPARSITY[name][epsilon]
        voting = [features(fitted(part, setting, epsilon, seed)) for seed in range(RUNS)]
        used = [touched(fitted(part, setting, 0.5 * epsilon, seed)) for seed in range(RUNS)]
        share = 100.0 * np.mean(voting) / part.sample.layout.d
        found = (f"{np.mean(voting):.1f}", f"{np.std(voting):.3f}", f"{share:.2f}", f"{np.mean(used):.1f}")
        rows.append((f"{epsilon:g}", *found, f"{asked.mean:.1f}", f"{asked.std:.3f}", f"{asked.percent:.2f}"))
    head = ("ε", "mean", "std", "%", "used, η = εκn/(4τ)", "001: mean", "001: std", "001: %")
    return Grid(f"{name}: features with a net vote, {RUNS} runs", head, tuple(rows))


def fitted(part: Part, setting: Setting, epsilon: float, seed: int) -> VoteModel:
    """Boosted 1-Rules under pure differential privacy."""
    return (
        LazyBoostClassifier(
            epsilon,
            rounds=setting.rounds,
            learning_rate=setting.learning_rate,
            density=setting.density,
            random_state=seed,
        )
        .fit_encoded(part.sample)
        .model_
    )


def features(model: VoteModel) -> int:
    """How many features have a net vote; the constant is none."""
    return sum(votes != 0 for feature, votes in model.net_votes.items() if feature != CONSTANT)


def touched(model: VoteModel) -> int:
    """How many features have a vote, cancelled or not."""
    return len({rule.feature for rule in model.rules} - {CONSTANT})


def rademacher_lines(name: str, part: Part, seeds: int, draws: int) -> list[Line]:
    """Table 11, one data set: the bound at ε = 1, with our noise and with the paper's."""
    setting, complexity = printed.HYPERPARAMETERS[name][1.0], rademacher(part.sample, draws)
    booster = LazyBregman(setting.density, setting.learning_rate)

    def line(what: str, epsilon: float) -> Line:
        models = [fitted(part, setting, epsilon, seed) for seed in range(seeds)]
        bounds = [guaranteed_accuracy(replay(part.sample, m.rules, booster).margins, complexity) for m in models]
        found = f"{np.mean(bounds):.3f} ± {np.std(bounds):.3f} (R_n = {complexity:.4f})"
        return Line(f"{name}, guaranteed accuracy, {what}", found, f"001: {printed.RADEMACHER[name]}")

    return [line("η = εκn/(2τ)", 1.0), line("η = εκn/(4τ)", 0.5)]


def winner(plan: Plan) -> Line:
    """The best of a part of Table 1's grid at ε = 1, as the paper chose and printed it; then with other noise."""
    settings = [
        Setting(density, rate, rounds)
        for density in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
        for rate in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
        for rounds in (15, 25, 29, 39, 49, 75, 99)
    ]

    def score(setting: Setting, seed: int) -> float:
        models = [(split.test, fitted(split.train, setting, 1.0, seed)) for split in plan(seed)]
        return float(np.mean([quality(model.scores(test.codes), test)[0] for test, model in models]))

    found = {setting: score(setting, 0) for setting in settings}
    best = max(found, key=lambda setting: found[setting])
    again = float(np.mean([score(best, seed) for seed in range(1, 6)]))
    where = f"κ={best.density}, λ={best.learning_rate}, τ={best.rounds}"
    what = f"ε=1, best of {len(settings)} settings ({where}); the same with other noise"
    return Line(what, f"{found[best]:.4f}; {again:.4f}", f"{printed.ACCURACY[plan.name][1.0]}")


def fixed(composition: Rule, density: float = 0.25, learning_rate: float = 0.25, rounds: int = 99) -> System:
    """Boosted 1-Rules with the same hyper-parameters at every ε."""

    def make(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
        return LazyBoostClassifier(
            epsilon,
            delta,
            rounds=rounds,
            learning_rate=learning_rate,
            density=density,
            composition=composition,
            random_state=seed,
        )

    return ours(f"κ={density:g}, λ={learning_rate:g}, τ={rounds}, {composition}", make)


BUDGETS: tuple[tuple[str, float, Rule], ...] = (
    ("δ=0", 0.0, "basic"),
    ("δ=1e-5, advanced composition", 1e-5, "advanced"),
    ("δ=1e-5, best theorem", 1e-5, "auto"),
)
"""Pure, approximate as the paper adds up, and approximate as we price a plan."""

GRID = [(density, rate, rounds) for density in (0.25, 0.5) for rate in (0.25, 0.5) for rounds in (9, 25, 49, 99)]
"""Density, learning rate and rounds among which Figure 3 takes the best at every ε; nobody is charged for that."""


def approximate(plan: Plan, results: Results, seeds: int, epsilons: Sequence[float]) -> list[Grid]:
    """Figures 2 and 3: pure against approximate, with fixed hyper-parameters and with the best of a small grid."""
    head = ("Adult", *(f"ε={epsilon:g}" for epsilon in epsilons))
    same, best = [], []
    for what, delta, rule in BUDGETS:
        found = measure(fixed(rule), plan, results, epsilons, delta, seeds)
        same.append((what, *(spread(found[epsilon]) for epsilon in epsilons)))
        tables = [measure(fixed(rule, *point), plan, results, epsilons, delta, 1) for point in GRID]
        best.append((what, *(f"{max(mean(table[epsilon]) for table in tables):.3f}" for epsilon in epsilons)))
    title = f"{plan.protocol} accuracy, boosted 1-Rules"
    return [
        Grid(f"Figure 2: {title}, κ=λ=1/4, τ=99, {seeds} seeds", head, tuple(same)),
        Grid(f"Figure 3: {title}, best of {len(GRID)} settings at every ε, 1 seed", head, tuple(best)),
    ]


def mean(found: Iterable[Measurement]) -> float:
    """Mean accuracy over seeds."""
    return float(np.mean([one.accuracy for one in found]))


def spread(found: Sequence[Measurement]) -> str:
    """Mean and standard deviation over seeds."""
    return f"{mean(found):.3f} ± {np.std([one.accuracy for one in found]):.3f}"


ADVANTAGE = 0.05
"""γ of Figure 1: λ = γ/4 and κ = 1/2, as section 5 has it."""


def advantage(part: Part, seeds: int, rounds: int, out: Path | None) -> list[Line]:
    """Figure 1: the advantage by round and the margins at the end, on Adult at ε = 1; its data go to CSV files."""
    booster, curves = LazyBregman(0.5, ADVANTAGE / 4.0), []
    for seed in range(seeds):
        model = LazyBoostClassifier(
            1.0, rounds=rounds, learning_rate=booster.learning_rate, density=booster.density, random_state=seed
        )
        curves.append(replay(part.sample, model.fit_encoded(part.sample).model_.rules, booster))
    private = np.mean([curve.advantages for curve in curves], axis=0)
    noiseless = replay(part.sample, best_rules(part.sample, rounds, booster), booster)
    margins = np.concatenate([curve.margins for curve in curves])
    counts, edges = np.histogram(margins, bins=40, range=(-1.0, 1.0))
    if out is not None:
        table(out / "advantage.csv", ("round", "private", "noiseless"), zip(private, noiseless.advantages, strict=True))
        table(out / "margins.csv", ("bin", "from", "share"), zip(edges[:-1], counts / margins.size, strict=True))
    asked = f"001: {printed.WEAK_LEARNING_FAILS}"
    shown = ", ".join(f"{t}: {private[t - 1]:.3f}" for t in (1, 10, 50, 100, 200, rounds) if t <= rounds)
    quantiles = np.quantile(margins, (0.1, 0.25, 0.5, 0.75))
    return [
        Line(
            f"τ={rounds}: round at which the advantage falls below 1/20",
            f"{last_round_above(private, ADVANTAGE)}",
            asked,
        ),
        Line(f"τ={rounds}: the same without noise", f"{last_round_above(noiseless.advantages, ADVANTAGE)}"),
        Line(f"τ={rounds}: advantage by round", shown),
        Line(f"τ={rounds}: margins, 10, 25, 50, 75 % quantiles", ", ".join(f"{q:.3f}" for q in quantiles)),
        Line(f"τ={rounds}: records with a margin above 0", f"{np.mean(margins > 0.0):.4f}"),
    ]


def table(path: Path, head: Sequence[str], rows: Iterable[Sequence[float]]) -> None:
    """Numbered rows, as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows((number, *row) for number, row in enumerate(rows, start=1))


def run(folder: str | None, quick: bool = False, out: Path | None = None) -> Reports:
    """All tables. out: where `boosted-trees.csv` keeps every measurement, and the data of Figure 1 go."""
    seeds = 2 if quick else 10
    results = Results(
        None if out is None else out / "boosted-trees.csv", [system.name for system in SYSTEMS if system.kept]
    )
    parts: list[Report | Grid] = []
    counted, bounds = [], []
    for name in PAPER:
        plan = paper_protocol(folder, name)
        curves, beside = accuracy(plan, results, seeds, name == "mushroom" and not quick)
        part = everything(name, plan)
        parts += [*curves, beside]
        counted.append(sparsity(name, part, EPSILONS))
        bounds += rademacher_lines(name, part, 2 if quick else 10, 20 if quick else 200)
    adult = Holdouts(folder, "adult")(0)[0].train
    figure = [line for rounds in (250, 500) for line in advantage(adult, 2 if quick else 10, rounds, out)]
    epsilons = (0.1, 0.5, 1.0) if quick else (0.1, 0.2, 0.5, 1.0, 3.0, 5.0)
    figures = approximate(Folds(folder, "adult"), results, 1 if quick else 5, epsilons)
    return Reports(
        "001, its tables and figures",
        (
            *parts,
            *counted,
            Report("Table 11: margins and Rademacher complexity at ε = 1", tuple(bounds)),
            *figures,
            Report("Figure 1: Adult, ε = 1, κ = 1/2, λ = 1/80", tuple(figure)),
        ),
    )
