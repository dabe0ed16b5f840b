"""What the votes of 001 are made of: how many features (Tables 3 and 5 to 7), and what their margins are worth
(Table 11 and Figure 1)."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.boosted_trees.margins import guaranteed_accuracy, last_round_above, rademacher
from benchmarks.data import TITLES, Part, Setting, printed
from benchmarks.runner import Cell, Grid, Line, Measured, Report
from benchmarks.systems import best_rules, paper_setting
from boosting import LazyBregman, Replay, replay
from learners import LazyBoostClassifier
from learners.votes import CONSTANT, VoteModel

SPARSITY_TABLES: Final = {"adult": "Tables 3 and 5", "cod_rna": "Table 6", "mushroom": "Table 7"}


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


def sparsity(name: str, part: Part, epsilons: Sequence[float], runs: int) -> list[Grid]:
    """Tables 3 and 5 to 7: features with a net vote; and features used at all, with the noise that the paper states.

    Both are beside the one mean that the paper prints: it does not say what it counts.
    """
    columns = [_sparsity(name, part, epsilon, runs) for epsilon in epsilons]
    title, head = f"{SPARSITY_TABLES[name]}, {TITLES[name]}", tuple(f"ε={epsilon:g}" for epsilon in epsilons)

    def grid(what: str, unit: str, names: Sequence[str]) -> Grid:
        rows = tuple((each, *(column[each] for column in columns)) for each in names)
        return Grid(f"{title}: {what} of boosted 1-Rules, δ=0, seeds: {runs}", (unit, *head), rows)

    return [grid("features", "features", (NET, DEVIATION, USED)), grid("share of features", "share", (SHARE,))]


NET, DEVIATION, USED, SHARE = (
    "with a net vote",
    "their standard deviation over seeds",
    "used at all, η = εκn/(4τ)",
    "with a net vote, of all",
)


def _sparsity(name: str, part: Part, epsilon: float, runs: int) -> dict[str, Cell]:
    setting, asked = paper_setting(name, epsilon), printed.SPARSITY[name][epsilon]
    voting = [features(fitted(part, setting, epsilon, seed)) for seed in range(runs)]
    used = [touched(fitted(part, setting, 0.5 * epsilon, seed)) for seed in range(runs)]
    shares = [100.0 * count / part.sample.layout.d for count in voting]
    return {
        NET: Measured.mean(voting, asked.mean, form=".1f"),
        DEVIATION: Measured(float(np.std(voting)), None, asked.std, form=".2f"),
        USED: Measured.mean(used, asked.mean, form=".1f"),
        SHARE: Measured.mean(shares, asked.percent, unit="%", form=".2f"),
    }


def table_11(name: str, part: Part, seeds: int, draws: int) -> Report:
    """The bound on the accuracy at ε = 1, with our noise and with the paper's. draws: random signs behind R_n."""
    setting, complexity = printed.HYPERPARAMETERS[name][1.0], rademacher(part.sample, draws)
    booster = LazyBregman(setting.density, setting.learning_rate)

    def line(what: str, epsilon: float) -> Line:
        models = [fitted(part, setting, epsilon, seed) for seed in range(seeds)]
        bounds = [guaranteed_accuracy(replay(part.sample, m.rules, booster).margins, complexity) for m in models]
        return Line(f"guaranteed accuracy, {what}", Measured.mean(bounds, printed.RADEMACHER[name]))

    lines = (
        line("η = εκn/(2τ)", 1.0),
        line("η = εκn/(4τ)", 0.5),
        Line(f"R_n of the 1-Rules, mean of {draws} draws", Measured(complexity, form=".4f")),
    )
    return Report(f"Table 11, {TITLES[name]}: what the margins guarantee at ε=1, δ=0, seeds: {seeds}", lines)


ADVANTAGE: Final = 0.05
"""γ of Figure 1: λ = γ/4 and κ = 1/2, as section 5 has it."""

AT: Final = (1, 10, 25, 50, 100, 150, 200, 250, 300, 400, 500)
"""Rounds that the table of Figure 1 shows."""

QUANTILES: Final = (5, 10, 25, 50, 75, 90)
"""Of the margins, in per cent."""


def figure_1(part: Part, seeds: int, rounds: int, out: Path) -> list[Report | Grid]:
    """The advantage by round and the margins at the end, on Adult at ε = 1; all of it goes to CSV files in `out`."""
    booster = LazyBregman(0.5, ADVANTAGE / 4.0)
    setting = Setting(booster.density, booster.learning_rate, rounds)
    curves = [replay(part.sample, fitted(part, setting, 1.0, seed).rules, booster) for seed in range(seeds)]
    noiseless = replay(part.sample, best_rules(part.sample, rounds, booster), booster)
    _keep(curves, noiseless, rounds, out)
    title = f"Figure 1, Adult, ε=1, δ=0, κ=1/2, λ=1/80, τ={rounds}"
    lost = last_round_above(np.mean([curve.advantages for curve in curves], axis=0), ADVANTAGE)
    without = last_round_above(noiseless.advantages, ADVANTAGE)
    asked = printed.WEAK_LEARNING_FAILS if rounds >= printed.WEAK_LEARNING_FAILS else None
    above = [float(np.mean(curve.margins > 0.0)) for curve in curves]
    lines = (
        Line(f"rounds before the mean advantage falls below 1/20, of {rounds}", _rounds(lost, asked)),
        Line("the same without noise", _rounds(without)),
        Line("records with a margin above 0", Measured.mean((100.0 * share for share in above), unit="%", form=".2f")),
    )
    return [
        Report(f"{title}: where weak learning fails, seeds: {seeds}", lines),
        advantages(f"{title}: advantage by round, seeds: {seeds}", curves, noiseless),
        margins(f"{title}: margins by quantile, seeds: {seeds}", curves, noiseless),
    ]


def _rounds(number: int, asked: int | None = None) -> Measured:
    return Measured(number, None, asked, unit="rounds", form=".0f")


def advantages(title: str, curves: Sequence[Replay], noiseless: Replay) -> Grid:
    """The advantage over chance of the rule that a round chose, under that round's weights."""
    at = [number for number in AT if number <= noiseless.advantages.size]
    private = tuple(Measured.mean(curve.advantages[number - 1] for curve in curves) for number in at)
    alone = tuple(Measured(float(noiseless.advantages[number - 1]), form=".3f") for number in at)
    return Grid(title, ("run", *(f"round {number}" for number in at)), (("private", *private), ("no noise", *alone)))


def margins(title: str, curves: Sequence[Replay], noiseless: Replay) -> Grid:
    """Quantiles of the normalised margins of the training records at the end."""
    shares = [number / 100.0 for number in QUANTILES]
    private = tuple(Measured.mean(float(np.quantile(curve.margins, share)) for curve in curves) for share in shares)
    alone = tuple(Measured(float(np.quantile(noiseless.margins, share)), form=".3f") for share in shares)
    return Grid(title, ("run", *(f"{number} %" for number in QUANTILES)), (("private", *private), ("no noise", *alone)))


def _keep(curves: Sequence[Replay], noiseless: Replay, rounds: int, out: Path) -> None:
    private = np.mean([curve.advantages for curve in curves], axis=0)
    counts, edges = np.histogram(np.concatenate([curve.margins for curve in curves]), bins=40, range=(-1.0, 1.0))
    rows = zip(private, noiseless.advantages, strict=True)
    _table(out / f"advantage-{rounds}.csv", ("round", "private", "noiseless"), rows)
    _table(out / f"margins-{rounds}.csv", ("bin", "from", "share"), zip(edges[:-1], counts / counts.sum(), strict=True))


def _table(path: Path, head: Sequence[str], rows: Iterable[Sequence[float]]) -> None:
    """Numbered rows, as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows((number, *row) for number, row in enumerate(rows, start=1))
