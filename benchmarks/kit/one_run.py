"""One-run audits of every estimator of ours: what canaries in one fit prove of its ε, beside what it was charged."""

import math
import statistics
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np
from scipy import stats
from scipy.special import rel_entr

from accountant import GDP, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from benchmarks.kit.one_run_subjects import DELTA, GAUSSIAN, OTHER, Subject
from benchmarks.runner import Cell, Grid, Line, Measured, Part, Report, Setting, Table, at_least, at_most
from proofs_tests.harness import Canaries, ClaimViolated, OneRunAudit, check_one_run
from proofs_tests.harness.one_run import Counts, Seen
from proofs_tests.harness.one_run.audit import CONFIDENCE, View
from proofs_tests.harness.one_run.bounds import accuracy_if_tight, lower_bound
from proofs_tests.harness.one_run.scores import CanaryScore, fixed_coins, white_box

EPSILONS: Final = (1.0, 4.0)
REPEATS: Final = 5
OUTSIDE: Final = 3
"""Repeats of what is seen by its outputs."""

LEAST: Final = 0.4
"""Of what is charged, shown of a Gaussian fit by its releases."""

RUNS: Final = 200
RUN_SIZE: Final = 1024
TIGHT_SIZE: Final = 1500
"""Coins of a run that loses all that it claims."""

HEAD: Final = (
    "estimator",
    "canaries",
    "guesses",
    "charged ε",
    "δ",
    "by its outputs",
    "by its releases",
    "over charged",
    "a canary moves, of μ",
    "ideal canaries that move as much",
)


def audited(subject: Subject, epsilon: float, size: int, score: View | CanaryScore, seed: int) -> OneRunAudit:
    """One run. Raises ClaimViolated where it proves more than was charged."""
    drawn = subject.drawn(epsilon, size)
    guesses = None if subject.guesses is None else 2 * int(0.5 * subject.guesses * drawn.canaries.number)
    return check_one_run(
        subject.estimator(epsilon, seed, size),
        drawn.X,
        drawn.y,
        canaries=drawn.canaries,
        guesses=guesses,
        score=score,
        random_state=10_000 + seed,
    )


@attrs.define
class Moving:
    """A score that also tells how far one canary's coin moves all Gaussian releases together, over their noise."""

    score: View | CanaryScore
    mu: float = 0.0
    __name__ = "white-box"

    def __call__(self, seen: Seen) -> FloatArray:
        """What the score says."""
        coins = fixed_coins(seen.canaries.number)
        turned = coins.copy()
        turned[0] = not coins[0]
        both = zip(seen.replay(coins), seen.replay(turned), seen.releases, strict=True)
        self.mu = math.hypot(
            *(float(np.linalg.norm(up - down)) / each.scale for up, down, each in both if each.additive)
        )
        return self.score(seen) if callable(self.score) else white_box(seen)


def ideal(found: OneRunAudit, mu: float) -> float:
    """What so many guesses show of the charged ε where scores are independent, and each canary loses that μ."""
    right = round(found.guesses * accuracy_if_tight(GDP(mu))(found.guesses / found.canaries)) if mu else 0
    lower = lower_bound(Counts(found.canaries, found.guesses, right), GDP, 1.0 - CONFIDENCE)
    return gaussian.epsilon(lower, found.delta) / found.charged_epsilon if lower else 0.0


def row(subject: Subject, epsilon: float, repeats: int) -> tuple[tuple[Cell, ...], Measured | None]:
    """A row of the table, means over so many runs, and what the releases show over what was charged."""
    size, outside, inside = subject.sizes[epsilon], list[OneRunAudit](), list[OneRunAudit]()
    if subject.predicts:
        outside = [audited(subject, epsilon, size, "black-box", seed) for seed in range(min(repeats, OUTSIDE))]
    told: tuple[Cell, Cell] = ("", "")
    if subject.score is not None:
        first = Moving(subject.score)
        looks = [first, *[subject.score] * (repeats - 1)]
        inside = [audited(subject, epsilon, size, look, seed) for seed, look in enumerate(looks)]
        if isinstance(inside[0].charged, GDP):
            told = (_number(first.mu / inside[0].charged.mu), _number(ideal(inside[0], first.mu)))
    one, best = (inside or outside)[0], inside or outside
    share = _mean([run.ratio for run in best])
    cells = (
        subject.name,
        f"{one.canaries}",
        f"{one.guesses}",
        Measured(one.charged_epsilon, form=".4g"),
        f"{one.delta:g}",
        _mean([run.epsilon for run in outside]) if outside else "predicts nothing",
        _mean([run.epsilon for run in inside]) if inside else "not all it draws is released",
        share,
        *told,
    )
    return cells, share if inside else None


def _number(value: float) -> Measured:
    return Measured(value, form=".3f")


def _mean(numbers: Sequence[float]) -> Measured:
    """Mean, and its standard error."""
    error = statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else None
    return Measured(statistics.fmean(numbers), error, form=".3f")


def shown(subjects: Sequence[Subject], epsilon: float, repeats: int, asked: bool, judged: bool) -> list[Table]:
    """What one fit of each shows. asked: whether as much as LEAST is."""
    rows = [row(subject, epsilon, repeats) for subject in subjects]
    kind, width = ("Gaussian", len(HEAD)) if asked else ("other", len(HEAD) - 2)
    title = f"What one fit shows of ε, {CONFIDENCE:.0%} confidence, {kind} releases, ε = {epsilon:g}"
    tables: list[Table] = [Grid(title, HEAD[:width], tuple(cells[:width] for cells, _ in rows))]
    if asked:
        lines = [
            at_least(f"{subject.name}: by its releases, over charged", share, LEAST, judged=judged)
            for subject, (_, share) in zip(subjects, rows, strict=True)
            if share is not None
        ]
        charged = gaussian.mu(epsilon, DELTA)
        often = Measured(most_often_refuted(charged), form=".3f")
        lines.append(Line("min-norm: chance that guesses refute even ε = 0, at most, whatever the canaries", often))
        tables.append(Report(f"Shown of ε = {epsilon:g} by Gaussian releases", lines))
    return tables


def most_often_refuted(mu: float) -> float:
    """The chance that any guesses about coins refute ε = 0, at most, where all they move is within a ball of diameter
    μ over the noise: one release of a vector that was moved into a ball, as min-norm interpolation's.

    What is released says at most (μ/2)²/2 nats of all coins together: so far is it, in relative entropy, from noise
    around the centre. Refuting has chance 1 − CONFIDENCE where it says nothing, so binary relative entropy bounds it.
    """
    low, high, level = 1.0 - CONFIDENCE, 1.0, mu**2 / 8.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        nats = float(rel_entr(middle, 1.0 - CONFIDENCE) + rel_entr(1.0 - middle, CONFIDENCE))
        low, high = (middle, high) if nats <= level else (low, middle)
    return high


@attrs.define(eq=False, slots=False)
class Responses:
    """Keeps each record's bit, told the truth about with odds e^ε: all that ε-DP allows. One column numbers them."""

    epsilon: float
    seed: int
    size: int

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """As scikit-learn's."""
        return {"epsilon": self.epsilon, "seed": self.seed, "size": self.size}

    def fit(self, X: FloatArray, y: FloatArray) -> "Responses":
        """Raises IndexError for numbers beyond the size."""
        rng, bits = np.random.default_rng(self.seed), np.zeros(self.size)
        bits[X[:, 0].astype(int)] = y
        self.kept_ = np.where(rng.random(self.size) < 1.0 / (1.0 + math.exp(-self.epsilon)), bits, 1.0 - bits)
        self.classes_ = np.array([0.0, 1.0])
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """What is kept, as ±1."""
        return np.asarray(2.0 * self.kept_[X[:, 0].astype(int)] - 1.0)


def tight(epsilon: float, run: int, size: int) -> float:
    """What a run of `Responses` proves, over what it claims and loses."""
    X, y = np.arange(size, dtype=np.float64)[:, None], np.ones(size)
    canaries = Canaries(X, y, other_y=1.0 - y)
    check = partial(check_one_run, canaries=canaries, claimed=PureDP(epsilon), adjacency=ReplaceOne())
    try:
        return check(Responses(epsilon, run, size), random_state=10_000 + run).ratio
    except ClaimViolated as violated:
        return violated.report.ratio


def above(runs: int, size: int) -> list[Table]:
    """Runs that prove more than was charged, of estimators that were charged what they cost."""
    started, found, ratios = time.monotonic(), 0, list[float]()
    for run in range(runs):
        subject = GAUSSIAN[run % 2]
        epsilon = EPSILONS[run // 2 % 2]
        try:
            ratios.append(audited(subject, epsilon, size, "white-box", run).ratio)
        except ClaimViolated as violated:
            found, ratios = found + 1, [*ratios, violated.report.ratio]
    most = float(stats.binom.ppf(CONFIDENCE, runs, 1.0 - CONFIDENCE))
    lines = [
        at_most("runs that prove more than was charged", Measured(float(found), form=".0f"), most),
        Line("most that a run proves, over charged", _number(max(ratios))),
        Line("median", _median(ratios)),
        Line("a run", Measured((time.monotonic() - started) / runs, unit="s", form=".2f")),
    ]
    losing = [tight(EPSILONS[run % 2], run, TIGHT_SIZE) for run in range(runs)]
    lines_of_tight = [
        at_most("runs that prove more than was claimed", _count(losing, 1.0), most),
        Line("runs that would, were bounds a tenth larger", _count(losing, 1.1)),
        Line("most that a run proves, over claimed", _number(max(losing))),
        Line("median", _median(losing)),
    ]
    return [
        Report(f"{runs} runs of PrivateBoost, either adjacency, ε = 1 and 4, {size} canaries", lines),
        Report(
            f"{runs} runs of randomized response, which loses all that it claims, ε = 1 and 4, {TIGHT_SIZE} canaries",
            lines_of_tight,
        ),
    ]


def _count(ratios: Sequence[float], times: float) -> Measured:
    return Measured(float(sum(times * ratio > 1.0 for ratio in ratios)), form=".0f")


def _median(numbers: Sequence[float]) -> Measured:
    return Measured.median(numbers, form=".3f")


def parts(setting: Setting) -> list[Part]:
    """Every estimator at every ε, one after the other, and the runs. quick: two of them, and few runs."""
    if setting.quick:
        two = (GAUSSIAN[0], OTHER[0])
        return [
            Part("two estimators", lambda: shown(two, 4.0, 1, asked=False, judged=False), 5.0),
            Part("runs", lambda: above(4, 256), 5.0),
        ]
    made = [
        Part(f"{name}, ε = {epsilon:g}", partial(shown, subjects, epsilon, REPEATS, name == "Gaussian", True), 300.0)
        for epsilon in EPSILONS
        for name, subjects in (("Gaussian", GAUSSIAN), ("other", OTHER))
    ]
    return [*made, Part("runs", lambda: above(RUNS, RUN_SIZE), 150.0)]
