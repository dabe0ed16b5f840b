"""Large-margin halfspaces: error against records, margin, ε, flipped labels and dimension, beside what theory promises.

Points are made up, as nobody knows the margin of real ones; three real sets follow. Base setting: 20,000 records in 20
dimensions at margin 0.1, ε = 1, δ = 1e-6, clean labels, 10,000 clean records to test on. "sphere": uniform on it,
given the margin; "tight": every record exactly at the margin, uniform across; "minority", the panels' own: exactly
at the margin, and up to a margin of 1/2 the mean of all is wrong on a fifth. diffprivlib's ε is pure: δ is unused.
Where it is not installed it is left out, as the titles say.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Final

import attrs
import numpy as np

from accountant.arrays import SignArray
from benchmarks.data import PAPER
from benchmarks.halfspaces.halfspace_real import real
from benchmarks.halfspaces.halfspace_speed import speed
from benchmarks.halfspaces.halfspace_theory import promised_error, trained_error
from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    at_least,
    at_most,
)
from benchmarks.systems import (
    LEARNERS,
    LEFT_OUT,
    MOST_WEIGHTS,
    Learner,
    boosted,
    error,
    regression,
)
from boosting.theory import HalfspaceTask, MarginData, advantage_left, flipped, margin_data
from learners import HalfspaceBoostClassifier

DELTA: Final = 1e-6
TESTED: Final = 10_000
FAILURE: Final = 0.05
QUICK: Final = 2_000
"""Most records of a quick run."""

PROMISES: Final = {
    "promised on new data (Thm 30, 33)": promised_error,
    "promised on the records themselves": trained_error,
}


@attrs.frozen
class Case:
    """What is measured once. noise_rate: the share of training labels that is flipped."""

    n: int = 20_000
    dimension: int = 20
    margin: float = 0.1
    epsilon: float = 1.0
    noise_rate: float = 0.0
    shape: str = "sphere"

    def task(self, error: float) -> HalfspaceTask:
        """What theory is asked for. Raises ValueError where too many labels are flipped for that error."""
        return HalfspaceTask(self.margin, error, FAILURE, self.epsilon, DELTA, self.dimension, self.noise_rate)

    def drawn(self, seed: int) -> tuple[MarginData, SignArray, MarginData]:
        """Records, their labels with flips, and clean new records for the same halfspace."""
        rng = np.random.default_rng(seed)
        data = margin_data(self.shape, self.n, self.dimension, self.margin, rng)
        labels = flipped(data.labels, self.noise_rate, rng)
        return data, labels, margin_data(self.shape, TESTED, self.dimension, self.margin, rng, data.direction)

    @property
    def smaller(self) -> "Case":
        """For a quick run."""
        return attrs.evolve(self, n=min(self.n, QUICK))


# --- Panels -----------------------------------------------------------------------------------------------------------


HARD: Final = Case(shape="minority")
DIMENSIONS: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000)
PANELS: Final[Mapping[str, Sequence[Case]]] = {
    "records": [attrs.evolve(HARD, n=n) for n in (500, 2_000, 5_000, 20_000, 100_000)],
    "margin": [attrs.evolve(HARD, margin=tau) for tau in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)],
    "epsilon": [attrs.evolve(HARD, epsilon=e) for e in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)],
    "flipped labels": [attrs.evolve(HARD, noise_rate=rate) for rate in (0.0, 0.02, 0.1, 0.2, 0.3, 0.4)],
    "dimension": [attrs.evolve(HARD, dimension=d) for d in DIMENSIONS],
    "dimension, tight": [attrs.evolve(HARD, shape="tight", dimension=d) for d in DIMENSIONS],
}
SECONDS: Final = dict(zip(PANELS, (20.0, 30.0, 12.0, 6.0, 110.0, 110.0), strict=True))
"""Of a panel in a full run: made-up points of many dimensions, and promises of many records, take the longest."""

VARIED: Final = {"records": "n", "margin": "margin", "epsilon": "epsilon", "flipped labels": "noise_rate"}
"""The field that a panel varies; of the others it is the dimension."""

SYMBOLS: Final = {"n": "n", "dimension": "d", "margin": "τ", "epsilon": "ε", "noise_rate": "flipped"}


def measured(case: Case, seeds: Iterable[int], learners: Mapping[str, Learner]) -> dict[str, list[float]]:
    """Errors on new records, by learner, one for each seed."""
    found: dict[str, list[float]] = {name: [] for name in learners}
    for seed in seeds:
        data, labels, fresh = case.drawn(seed)
        for name, learner in learners.items():
            if learner is not regression or case.dimension <= MOST_WEIGHTS:
                found[name].append(error(learner(data.points, labels, case.epsilon, DELTA, seed), fresh))
    return found


@cache
def _promised(promise: str, case: Case) -> float:
    return PROMISES[promise](case.task, case.n)


def promised(promise: str, case: Case) -> float:
    """The smallest error that one of PROMISES has for the case; how points lie across does not matter to it."""
    return _promised(promise, attrs.evolve(case, shape=HARD.shape))


def seeds_at(case: Case, seeds: int) -> int:
    """One where dimensions are many: half a minute goes into making such points."""
    return seeds if case.dimension <= MOST_WEIGHTS else 1


def panel(name: str, seeds: int, cases: Sequence[Case], learners: Mapping[str, Learner] = LEARNERS) -> Grid:
    """Errors on new records: a row for each learner and each promise, a column for each case."""
    field = VARIED.get(name, "dimension")
    found = [measured(case, range(seeds_at(case, seeds)), learners) for case in cases]
    rows: list[tuple[Cell, ...]] = [
        (learner, *(Measured.mean(each[learner], form=".4f") if each[learner] else "-" for each in found))
        for learner in learners
    ]
    rows += [(name, *(Measured(promised(name, case), form=".4f") for case in cases)) for name in PROMISES]
    head = ("learner", *(_written(field, case) for case in cases))
    return Grid(_title(name, field, cases, seeds), head, tuple(rows))


def _written(field: str, case: Case) -> str:
    value = getattr(case, field)
    return f"{SYMBOLS[field]}={value:,}" if isinstance(value, int) else f"{SYMBOLS[field]}={value:g}"


def _title(name: str, field: str, cases: Sequence[Case], seeds: int) -> str:
    fixed = ", ".join(_written(other, cases[0]) for other in SYMBOLS if other not in (field, "noise_rate"))
    often = f"seeds: {seeds}"
    if max(case.dimension for case in cases) > MOST_WEIGHTS:
        often += f" (1 beyond d={MOST_WEIGHTS:,})"
    return f"Error by {name.split(',')[0]}: {cases[0].shape}, {fixed}, δ={DELTA:g}, {often}{LEFT_OUT}"


# --- What was asked ---------------------------------------------------------------------------------------------------


ASKED: Final = (
    (Case(dimension=20, margin=0.1), 0.99),
    (Case(dimension=20, margin=0.1, noise_rate=0.02), 0.99),
    (Case(dimension=500, margin=0.02), 0.92),
)


def asked(shape: str, quick: bool = False) -> list[Report]:
    """The accuracies of the issue, with default parameters. "tight": the harder reading, all records at the margin."""
    seeds, n = (2, QUICK) if quick else (10, Case().n)
    lines: list[Line] = []
    for case, least in ASKED:
        shaped = attrs.evolve(case, n=n, shape=shape)
        (errors,) = measured(shaped, range(100, 100 + seeds), {"ours": boosted}).values()
        flips = f"{case.noise_rate:.0%} flipped" if case.noise_rate else "clean"
        what = f"dimension {case.dimension}, margin {case.margin:g}, {flips}"
        mean = Measured.mean((1.0 - each for each in errors), unit="accuracy", form=".4f")
        lines.append(at_least(what, mean, least, judged=not quick) if shape == Case().shape else Line(what, mean))
        lines.append(Line(f"{what}: the worst seed", Measured(1.0 - max(errors), unit="accuracy", form=".4f")))
    return [Report(f"Accuracy, {shape} points: default parameters, n={n:,}, ε=1, δ={DELTA:g}, seeds: {seeds}", lines)]


# --- Flipped labels ---------------------------------------------------------------------------------------------------


PROMISED: Final = HalfspaceTask(0.5, 0.3, 0.1, 3.0, 1e-5, 5)
RECORDS: Final = 78_000
"""What that promise takes, so it can be tried."""


def aimed(data: MarginData, share: float) -> SignArray:
    """Labels with a share flipped where it hurts: all of them pull the mean towards one direction across."""
    across = np.zeros(data.direction.size)
    across[int(np.argmin(np.abs(data.direction)))] = 1.0
    across -= (across @ data.direction) * data.direction
    worst = np.argsort(data.labels * (data.points @ across), kind="stable")[: round(share * data.labels.size)]
    labels = data.labels.copy()
    labels[worst] *= -1
    return labels


def promised_run(noise_rate: float, seed: int, *, aim: bool = False) -> float:
    """The error on new records of a run that was promised for few flips. aim: whether they are where they hurt."""
    task = PROMISED
    case = Case(RECORDS, task.dimension, task.margin, noise_rate=0.0 if aim else noise_rate, shape="tight")
    data, labels, fresh = case.drawn(seed)
    model = HalfspaceBoostClassifier(
        task.epsilon, task.delta, margin=task.margin, error=task.error, failure=task.failure, random_state=seed
    )
    model.fit(data.points, aimed(data, noise_rate) if aim else labels)
    return error(np.asarray(model.coef_[0]), fresh)


FACTORS: Final = (0.0, 1.0, 10.0, 20.0, 50.0, 90.0)
"""Shares of labels that are flipped, over the share that the run was promised for."""


def flips(aim: bool, seeds: int, factors: Sequence[float] = FACTORS) -> list[Report | Grid]:
    """A promised run at the flips it was promised for, and the same run at ten times as many and more."""
    task, rate = PROMISED, PROMISED.promised_noise_rate
    found = {each: [promised_run(each * rate, seed, aim=aim) for seed in range(seeds)] for each in factors}
    run = f"τ={task.margin:g}, ε={task.epsilon:g}, δ={task.delta:g}, d={task.dimension}, n={RECORDS:,}, seeds: {seeds}"
    where = "where they hurt" if aim else "at random"
    kept = [
        at_most(
            f"{each * rate:.4f} of the labels flipped, {each:g} × ατ/32: the worst error",
            Measured(max(errors), form=".4f"),
            task.error,
        )
        for each, errors in found.items()
        if each <= 1.0
    ]
    head = (f"promised up to {rate:.4f}", *(f"flipped={each * rate:.4f}" for each in factors))
    left = (advantage_left(task.margin, task.density, min(1.0, each * rate)) for each in factors)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("error, mean", *(Measured.mean(errors, form=".4f") for errors in found.values())),
        ("error, worst seed", *(Measured(max(errors), form=".4f") for errors in found.values())),
        ("advantage that is left", *(Measured(each, form=".4f") for each in left)),
    )
    return [
        Report(f"Flips {where}: α={task.error:g} promised but for β={task.failure:g}, {run}", kept),
        Grid(f"Flips {where}: error and advantage, {run}", head, rows),
    ]


# --- The benchmark ----------------------------------------------------------------------------------------------------


def parts(setting: Setting) -> list[Part]:
    """Accuracies that were asked for, flips, speed, each panel, and each real set."""
    quick = setting.quick

    def seconds(few: float, many: float) -> float:
        return few if quick else many

    def one_panel(name: str) -> list[Grid]:
        cases = [case.smaller for case in PANELS[name][:2]] if quick else PANELS[name]
        return [panel(name, 1 if quick else 3, cases)]

    def one_flip(aim: bool) -> list[Report | Grid]:
        return flips(aim, *((1, FACTORS[1:5:3]) if quick else (10, FACTORS[aim:])))

    names = PAPER[-1:] if quick else PAPER  # the smallest
    return [
        *(Part(f"asked, {shape}", partial(asked, shape, quick), seconds(1.0, 30.0)) for shape in ("sphere", "tight")),
        Part("flips at random", partial(one_flip, False), seconds(2.0, 55.0)),
        Part("flips where they hurt", partial(one_flip, True), seconds(2.0, 40.0)),
        Part("speed", partial(speed, quick), seconds(1.0, 35.0)),
        *(Part(name, partial(one_panel, name), seconds(2.0, SECONDS[name])) for name in PANELS),
        *(Part(f"real, {name}", partial(real, setting.data, name, quick), seconds(1.0, 35.0)) for name in names),
    ]
