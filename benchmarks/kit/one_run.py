"""One-run audits of every estimator of ours: what canaries in one fit prove of its ε, beside what it was charged."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from scipy import stats

from benchmarks.kit.one_run_subjects import GAUSSIAN, OTHER, Subject
from benchmarks.runner import Cell, Grid, Line, Measured, Part, Report, Setting, Table, at_least, at_most
from proofs_tests.harness import ClaimViolated, OneRunAudit, check_one_run
from proofs_tests.harness.one_run.audit import CONFIDENCE, View
from proofs_tests.harness.one_run.scores import CanaryScore

EPSILONS: Final = (1.0, 4.0)
REPEATS: Final = 3
LEAST: Final = 0.4
"""Of what is charged, shown of a Gaussian fit by its releases."""

RUNS: Final = 200
RUN_SIZE: Final = 1024
HEAD: Final = (
    "estimator",
    "canaries",
    "guesses",
    "charged ε",
    "δ",
    "by its outputs",
    "by its releases",
    "over charged",
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


def row(subject: Subject, epsilon: float, repeats: int) -> tuple[tuple[Cell, ...], Measured | None]:
    """A row of the table, medians over so many runs, and what the releases show over what was charged."""
    size = subject.sizes[epsilon]
    looks: list[View | CanaryScore] = ["black-box"] if subject.predicts else []
    looks += [] if subject.score is None else [subject.score]
    found = {look: [audited(subject, epsilon, size, look, seed) for seed in range(repeats)] for look in looks}
    first = found[looks[-1]][0]
    outside = _median([run.epsilon for run in found["black-box"]]) if subject.predicts else "predicts nothing"
    inside: Cell = "not all it draws is released"
    if subject.score is not None:
        inside = _median([run.epsilon for run in found[subject.score]])
    best = max((each for each in found.values()), key=lambda runs: sum(run.ratio for run in runs))
    share = _median([run.ratio for run in (best if subject.score is None else found[subject.score])])
    charged = Measured(first.charged_epsilon, form=".4g")
    cells = (subject.name, f"{first.canaries}", f"{first.guesses}", charged, f"{first.delta:g}", outside, inside, share)
    return cells, None if subject.score is None else share


def _median(numbers: Sequence[float]) -> Measured:
    return Measured.median(numbers, form=".3f")


def shown(subjects: Sequence[Subject], epsilon: float, repeats: int, asked: bool, judged: bool) -> list[Table]:
    """What one fit of each shows. asked: whether as much as LEAST is."""
    rows = [row(subject, epsilon, repeats) for subject in subjects]
    kind = "Gaussian" if asked else "other"
    title = f"What one fit shows of ε, {CONFIDENCE:.0%} confidence, {kind} releases, ε = {epsilon:g}"
    tables: list[Table] = [Grid(title, HEAD, tuple(cells for cells, _ in rows))]
    if asked:
        lines = [
            at_least(f"{subject.name}: by its releases, over charged", share, LEAST, judged=judged)
            for subject, (_, share) in zip(subjects, rows, strict=True)
            if share is not None
        ]
        tables.append(Report(f"Shown of ε = {epsilon:g} by Gaussian releases", lines))
    return tables


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
        Line("most that a run proves, over charged", Measured(max(ratios), form=".3f")),
        Line("median", _median(ratios)),
        Line("a run", Measured((time.monotonic() - started) / runs, unit="s", form=".2f")),
    ]
    return [Report(f"{runs} runs of PrivateBoost, either adjacency, ε = 1 and 4, {size} canaries", lines)]


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
