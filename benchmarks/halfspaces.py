"""Large-margin halfspaces: error against records, margin, ε, flipped labels and dimension, beside what theory promises.

Points are made up, as nobody knows the margin of real ones; three real sets follow. Base setting: 20,000 records in 20
dimensions at margin 0.1, ε = 1, δ = 1e-6, clean labels, 10,000 clean records to test on. "sphere": uniform on it,
given the margin; "tight": every record exactly at the margin, uniform across; "minority", the panels' own: exactly
at the margin, and up to a margin of 1/2 the mean of all is wrong on a fifth. diffprivlib's ε is pure: δ is unused.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from benchmarks.halfspace_learners import (
    LEARNERS,
    MOST_WEIGHTS,
    WITHOUT_PRIVACY,
    Learner,
    boosted,
    error,
    regression,
)
from benchmarks.halfspace_speed import speed
from benchmarks.halfspace_theory import promised_error, trained_error
from benchmarks.report import Grid, Line, Report, Reports
from boosting.label_noise import advantage_left, flipped
from boosting.margin_data import MarginData, margin_data
from boosting.sample_sizes import HalfspaceTask
from boosting.schema import SignArray
from learners import HalfspaceBoostClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTA: Final = 1e-6
TESTED: Final = 10_000
FAILURE: Final = 0.05
PROMISES: Final = {
    "promised on new data (Thm 30, 33)": promised_error,
    "promised on the records themselves": trained_error,
}


@attrs.frozen
class Setting:
    """Of one measurement. noise_rate: the share of training labels that is flipped."""

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


HARD: Final = Setting(shape="minority")
DIMENSIONS: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000)
PANELS: Final[Mapping[str, Sequence[Setting]]] = {
    "records": [attrs.evolve(HARD, n=n) for n in (500, 2_000, 5_000, 20_000, 100_000)],
    "margin": [attrs.evolve(HARD, margin=tau) for tau in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)],
    "epsilon": [attrs.evolve(HARD, epsilon=e) for e in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)],
    "flipped labels": [attrs.evolve(HARD, noise_rate=rate) for rate in (0.0, 0.02, 0.1, 0.2, 0.3, 0.4)],
    "dimension": [attrs.evolve(HARD, dimension=d) for d in DIMENSIONS],
    "dimension, tight": [attrs.evolve(HARD, shape="tight", dimension=d) for d in DIMENSIONS],
}
VARIED: Final = {"records": "n", "margin": "margin", "epsilon": "epsilon", "flipped labels": "noise_rate"}


def varied(panel: str, setting: Setting) -> float:
    """What the panel varies."""
    return float(getattr(setting, VARIED.get(panel, "dimension")))


def measured(setting: Setting, seeds: Iterable[int], learners: Mapping[str, Learner]) -> dict[str, list[float]]:
    """Errors on new records, by learner, one for each seed."""
    found: dict[str, list[float]] = {name: [] for name in learners}
    for seed in seeds:
        data, labels, fresh = setting.drawn(seed)
        for name, learner in learners.items():
            if learner is not regression or setting.dimension <= MOST_WEIGHTS:
                found[name].append(error(learner(data.points, labels, setting.epsilon, DELTA, seed), fresh))
    return found


@attrs.frozen
class Panel:
    """One curve per learner and promise over what is varied."""

    name: str
    at: tuple[float, ...]
    curves: Mapping[str, Sequence[list[float]]]

    @property
    def grid(self) -> Grid:
        """The table: means over seeds."""
        rows = [
            (name, *(f"{statistics.fmean(errors):.4f}" if errors else "-" for errors in found))
            for name, found in self.curves.items()
        ]
        return Grid(f"Error on new records against {self.name}", ("learner", *(f"{x:g}" for x in self.at)), tuple(rows))

    def draw(self, ax: "Axes") -> None:
        """Errors from 1e-4 up, theory dashed."""
        for name, found in self.curves.items():
            points = [(x, max(1e-4, statistics.fmean(e))) for x, e in zip(self.at, found, strict=True) if e]
            style = "--" if name in PROMISES else ":" if name in WITHOUT_PRIVACY else "-"
            ax.plot(*zip(*points, strict=True), style, marker="" if name in PROMISES else ".", label=name)
        ax.set_xscale("symlog", linthresh=0.02) if self.name == "flipped labels" else ax.set_xscale("log")
        ax.set_xticks(self.at, [f"{x:g}" for x in self.at])
        ax.minorticks_off()
        ax.set_yscale("log")
        ax.set_ylim(0.8e-4, 1.2)
        ax.set_xlabel(self.name)
        ax.grid(alpha=0.3)


def panel(name: str, seeds: int, settings: Sequence[Setting]) -> Panel:
    """Measure one."""
    found = [measured(setting, range(seeds), LEARNERS) for setting in settings]
    curves: dict[str, list[list[float]]] = {learner: [each[learner] for each in found] for learner in LEARNERS}
    for promise, least in PROMISES.items():
        curves[promise] = [[least(setting.task, setting.n)] for setting in settings]
    return Panel(name, tuple(varied(name, setting) for setting in settings), curves)


def picture(panels: Sequence[Panel], file: Path) -> None:
    """All panels, one legend. Needs matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 9), layout="constrained")
    for place, each in enumerate(panels, 1):
        ax = figure.add_subplot(2, 3, place)
        each.draw(ax)
        if place % 3 == 1:
            ax.set_ylabel("error on new records")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    figure.savefig(file, dpi=110)


ASKED: Final = (
    (Setting(dimension=20, margin=0.1), 0.99),
    (Setting(dimension=20, margin=0.1, noise_rate=0.02), 0.99),
    (Setting(dimension=500, margin=0.02), 0.92),
)


def asked(seeds: int) -> Report:
    """The accuracies of the issue, with default parameters; and the harder reading, all records at the margin."""
    lines = []
    for setting, least in (*ASKED, *((attrs.evolve(each, shape="tight"), None) for each, _ in ASKED)):
        (errors,) = measured(setting, range(100, 100 + seeds), {"ours": boosted}).values()
        mean, worst = 1.0 - statistics.fmean(errors), 1.0 - max(errors)
        flips = f"{setting.noise_rate:.0%} flipped" if setting.noise_rate else "clean"
        what = f"dimension {setting.dimension}, margin {setting.margin:g}, {flips}, {setting.shape}"
        met = None if least is None else mean >= least
        lines.append(Line(what, f"{mean:.4f}, worst of {seeds} seeds {worst:.4f}", f"≥ {least}" if least else "", met))
    return Report("Accuracy at ε = 1, δ = 1e-6, n = 20,000, default parameters", tuple(lines))


PROMISED: Final = HalfspaceTask(0.5, 0.3, 0.1, 3.0, 1e-5, 5)
"""A task whose promise 78,000 records keep, so that it can be tried."""


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
    setting = Setting(78_000, task.dimension, task.margin, noise_rate=0.0 if aim else noise_rate, shape="tight")
    data, labels, fresh = setting.drawn(seed)
    model = HalfspaceBoostClassifier(
        task.epsilon, task.delta, margin=task.margin, error=task.error, failure=task.failure, random_state=seed
    )
    model.fit(data.points, aimed(data, noise_rate) if aim else labels)
    return error(np.asarray(model.coef_[0]), fresh)


def noise_report(seeds: int) -> Report:
    """A promised run at the flips it was promised for, and the same run at ten times as many and more."""
    task, rate, lines = PROMISED, PROMISED.promised_noise_rate, []
    for aim in (False, True):
        for factor in (0.0, 1.0, 10.0, 20.0, 50.0, 90.0)[aim:]:
            errors = [promised_run(factor * rate, seed, aim=aim) for seed in range(seeds)]
            left = advantage_left(task.margin, task.density, min(1.0, factor * rate))
            mean, worst = statistics.fmean(errors), max(errors)
            text = f"error {mean:.4f}, worst of {seeds} seeds {worst:.4f}; advantage that is left: {left:.4f}"
            wanted, met = (f"≤ {task.error:g}", worst <= task.error) if factor <= 1.0 else ("nothing is promised", None)
            where = "where it hurts" if aim else "at random"
            lines.append(
                Line(f"{factor:g} × ατ/32 = {factor * rate:.4f} of the labels flipped {where}", text, wanted, met)
            )
    title = (
        f"A promised run: α = {task.error:g}, β = {task.failure:g}, τ = {task.margin:g}, ε = {task.epsilon:g}, "
        f"δ = {task.delta:g}, {task.dimension} dimensions, 78,000 records, all at the margin"
    )
    return Report(title, tuple(lines))


def run(folder: str | None, quick: bool, out: Path) -> Reports:
    """The tables, and `halfspaces.png` beside them. Needs the extra `bench`."""
    from benchmarks.halfspace_real import real

    seeds = 1 if quick else 3
    parts: list[Report | Grid] = [asked(2 if quick else 10), noise_report(3 if quick else 20), speed(1 if quick else 5)]
    panels = [panel(name, seeds, settings[: 5 if quick else None]) for name, settings in PANELS.items()]
    picture(panels, out / "halfspaces.png")
    parts += [each.grid for each in panels]
    parts += real(folder, 2 if quick else 5)
    return Reports("Large-margin halfspaces", tuple(parts))
