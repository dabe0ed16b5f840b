"""Private choices around systems of others: their price against our exact one, their noise, their split, their runs."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from accountant import GDP, PureDP
from accountant.costs import gaussian
from benchmarks.adapters.peers import _selection as selection
from benchmarks.adapters.peers import (
    boosted_ada_ssp,
    boosted_ada_ssp_tuned,
    diffprivlib_logistic,
    diffprivlib_logistic_tuned,
)
from benchmarks.adapters.peers import interpret_ebm_tuned as tuned
from benchmarks.adapters.protocol import Column, Columns, Neighbours, Predict, Promise, Task
from mechanisms.selection.private_selection import selection_cost
from mechanisms.selection.stopping import NegativeBinomialStopping, run_privacy

MEAN, GAMMA = selection.mean_for(tuned.SETTINGS), selection.gamma_for(tuned.SETTINGS)
STOPPING = NegativeBinomialStopping.with_mean(0.0, MEAN)

PROMISES = [(epsilon, delta) for epsilon in (0.05, 0.1, 0.5, 1.0, 3.0, 10.0) for delta in (1e-9, 1e-5, 1e-3)]


def exact(mu: float, delta: float) -> float:
    """Our own price of the best of K runs of Gaussian candidates."""
    return selection_cost([GDP(mu)] * len(tuned.SETTINGS), STOPPING, delta).epsilon


# --- the price --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("mu", [0.015, 0.05, 0.2, 0.5, 1.0, 2.0])
def test_its_price_is_never_below_ours_and_within_15_hundredths(mu: float, delta: float) -> None:
    """[random-stopping-profile]"""
    assert exact(mu, delta) <= selection.price(mu, delta, GAMMA) <= 1.15 * exact(mu, delta)


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("mu", [0.015, 0.05, 0.2, 0.5, 1.0, 2.0])
def test_its_price_is_the_bound_that_it_names(mu: float, delta: float) -> None:
    """[random-stopping-renyi] ε_run(δ/E[K]) + tilt: to a millionth, so that no constant is off by a tenth."""
    run = run_privacy(GDP(mu))
    named = run.epsilon(delta / STOPPING.mean) + STOPPING.tilt(run)
    assert selection.price(mu, delta, GAMMA) == pytest.approx(named, rel=1e-6)


def test_its_number_of_runs_has_the_law_that_is_paid_for() -> None:
    """Statistical: 100,000 draws. Power: a mean 10 % off gives p < 1e-9, which is checked."""
    assert pytest.approx(STOPPING.gamma, rel=1e-9) == GAMMA
    assert selection.mean_runs(GAMMA) == pytest.approx(MEAN, rel=1e-9)
    rng = np.random.default_rng(0)
    drawn = np.array([selection.runs(rng, GAMMA) for _ in range(100_000)])
    assert drawn.min() == 1

    def p_value(stopping: NegativeBinomialStopping) -> float:
        chances = np.array([chance for _, chance in itertools.islice(stopping.terms(), 40)])
        expected = 100_000 * np.append(chances, 1.0 - chances.sum())
        return float(stats.chisquare(np.bincount(np.minimum(drawn, 41), minlength=42)[1:], expected).pvalue)

    assert p_value(STOPPING) > 1e-9
    assert max(p_value(NegativeBinomialStopping.with_mean(0.0, off * MEAN)) for off in (0.9, 1.1)) < 1e-9


# --- the noise of a run -----------------------------------------------------------------------------------------


def of_its_fit(told: float, delta: float, neighbours: Neighbours) -> float:
    """μ of DP-EBM that is told so: a tenth of ε for bins, the rest for boosting, half of δ each (interpret 0.7.8)."""
    moved = 1.0 if neighbours == "add-remove-one" else 2.0
    return moved * math.hypot(*(gaussian.mu(part * told, 0.5 * delta) for part in (0.1, 0.9)))


def of_a_run(fit: float, score: float, held_out: float) -> float:
    """Both mechanisms on all records, or each on records of its own."""
    return max(fit, score) if held_out else math.hypot(fit, score)


@pytest.mark.parametrize("held_out", [0.0, 0.1])
@pytest.mark.parametrize("neighbours", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_what_it_is_told_keeps_the_promise_and_uses_it(
    epsilon: float, delta: float, neighbours: Neighbours, held_out: float
) -> None:
    """By our exact price, from the ε told and the score's noise alone. At δ <= 1e-5 10 % less noise is caught."""
    for_fit, score = selection.shares(selection.affordable(epsilon, delta, GAMMA), held_out)
    fit = of_its_fit(tuned.told_for(for_fit, Promise(epsilon, delta, neighbours, 0)), delta, neighbours)
    assert 0.85 * epsilon < exact(of_a_run(fit, score, held_out), delta) <= epsilon
    assert fit == pytest.approx(for_fit, rel=1e-6)
    if delta <= 1e-5:
        assert exact(of_a_run(fit / 0.9, score / 0.9, held_out), delta) > epsilon
        assert not held_out or exact(of_a_run(fit, score / 0.9, held_out), delta) > epsilon


# --- what it judges ---------------------------------------------------------------------------------------------


def table(records: int, kind: str = "binary") -> Task:
    """Of one column, whose values tell the records apart."""
    place = np.arange(records)
    labels = place % 2 if kind == "binary" else 7.0 + place % 2
    task = ("binary", 2) if kind == "binary" else ("regression", 0)
    column = Column("x", 0.0, 1000.0)
    return Task(task[0], (column,), task[1], (7.0, 9.0), {"x": place.astype(np.float64)}, labels, "add-remove-one")  # type: ignore[arg-type]  # a kind


def test_a_record_moves_a_score_by_at_most_one_and_some_do() -> None:
    """Added, or replaced: each record's own share is within [-1, 0]."""
    rng = np.random.default_rng(0)
    for kind in ("binary", "regression"):
        one = [goodness_of_one(kind, label, found) for label in (0.0, 0.5, 1.0) for found in (0.0, 0.5, 1.0, 3.0)]
        assert (min(one), max(one)) == (-1.0, 0.0)
        many = table(50, kind)
        predicted = rng.random((50, 2)) if kind == "binary" else 7.0 + 2.0 * rng.random(50)
        alone = [selection.goodness(those(many, [place]), predicted[[place]]) for place in range(50)]
        assert selection.goodness(many, predicted) == pytest.approx(sum(alone))


def goodness_of_one(kind: str, label: float, found: float) -> float:
    """Of one record, both as shares of the range."""
    public = table(1, kind)
    lower, width = (0.0, 1.0) if kind == "binary" else (7.0, 2.0)
    labels, predicted = np.array([lower + width * label]), np.array([lower + width * found])
    task = Task(public.kind, public.columns, public.classes, public.label_bounds, {}, labels, "add-remove-one")
    return selection.goodness(task, np.column_stack([1.0 - predicted, predicted]) if kind == "binary" else predicted)


def those(task: Task, rows: list[int]) -> Task:
    train = {name: values[rows] for name, values in task.train.items()}
    return Task(task.kind, task.columns, task.classes, task.label_bounds, train, task.labels[rows], task.neighbours)


def test_a_record_more_goes_to_one_part_and_moves_no_other() -> None:
    went = set()
    for seed in range(60):
        few, more = (selection.parts(table(n), 0.1, np.random.default_rng(seed)) for n in (300, 301))
        assert few[0].records + few[1].records == 300
        grew = [new.records - old.records for old, new in zip(few, more, strict=True)]
        assert sorted(grew) == [0, 1]
        for old, new in zip(few, more, strict=True):
            assert np.array_equal(new.train["x"][: old.records], old.train["x"])
            assert np.array_equal(new.labels, new.train["x"] % 2)
        went.add(grew[0])
    assert went == {0, 1}
    sizes = [selection.parts(table(300), 0.1, np.random.default_rng(seed))[1].records for seed in range(200)]
    assert 27.0 < float(np.mean(sizes)) < 33.0


class Recorder:
    """Random numbers, and the scales of those that are normal."""

    def __init__(self, seed: list[int]) -> None:
        self._rng, self.scales = np.random.Generator(np.random.PCG64(seed)), list[float]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)

    def normal(self, scale: float) -> float:
        self.scales.append(scale)
        return float(self._rng.normal(scale=scale))


@pytest.mark.parametrize("held_out", [0.0, 0.1])
def test_every_run_gets_the_noise_that_is_paid_for(monkeypatch: pytest.MonkeyPatch, held_out: float) -> None:
    told = list[tuple[float, float, int]]()
    made = list[Recorder]()

    def recorder(seed: list[int]) -> Recorder:
        made.append(Recorder(seed))
        return made[-1]

    def fitted(task: Task, epsilon: float, delta: float, seed: int | None, setting: dict[str, Any]) -> Predict:
        told.append((epsilon, delta, task.records))
        assert seed is not None
        assert setting in tuned.SETTINGS
        return lambda records: np.tile([0.5, 0.5], (len(records["x"]), 1))

    monkeypatch.setattr(np.random, "default_rng", recorder)
    monkeypatch.setattr(tuned, "fitted_with", fitted)
    promise = Promise(1.0, 1e-5, "replace-one", 3)
    for seed in range(20):
        tuned.fit(table(300), Promise(1.0, 1e-5, "replace-one", seed), held_out)
    fit, score = selection.shares(selection.affordable(1.0, 1e-5, GAMMA), held_out)
    assert {each[:2] for each in told} == {(tuned.told_for(fit, promise), 1e-5)}
    assert {each[2] == 300 for each in told} == {not held_out}
    scales = [scale for each in made for scale in each.scales]
    assert len(scales) == len(told) > 20
    assert set(scales) == {1.0 / score}


def test_the_best_of_the_runs_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """At an ε that leaves next to no noise: whenever a good setting was drawn, it is what is released."""
    drawn = list[dict[str, Any]]()

    def constant(setting: dict[str, Any]) -> Callable[[Columns], Any]:
        right = 0.99 if setting == tuned.SETTINGS[2] else 0.6
        return lambda records: np.where(records["x"][:, None] % 2 == [0, 1], right, 1.0 - right)

    def fitted(task: Task, epsilon: float, delta: float, seed: int | None, setting: dict[str, Any]) -> Predict:
        drawn.append(setting)
        return constant(setting)

    monkeypatch.setattr(tuned, "fitted_with", fitted)
    seen = list[bool]()
    for seed in range(40):
        drawn.clear()
        predict = tuned.fit(table(400), Promise(10.0, 1e-5, "add-remove-one", seed))
        released = float(predict({"x": np.zeros(1)})[0, 0])
        assert released == (0.99 if tuned.SETTINGS[2] in drawn else 0.6)
        seen.append(tuned.SETTINGS[2] in drawn)
    assert 5 < sum(seen) < 40


# --- the other systems ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("held_out", [0.0, 0.1])
def test_a_choice_of_pure_runs_costs_twice_a_run(epsilon: float, held_out: float) -> None:
    """[random-stopping] By our own price; 10 % less noise would be caught."""
    fit, score = selection.pure_shares(epsilon, held_out)
    run = max(fit, score) if held_out else fit + score
    stopping = NegativeBinomialStopping.with_mean(0.0, selection.mean_for(diffprivlib_logistic_tuned.INVERSES))

    def ours(run: float) -> float:
        return selection_cost([PureDP(run)] * len(diffprivlib_logistic_tuned.INVERSES), stopping, 1e-60).epsilon

    assert 0.92 * epsilon < ours(run) <= epsilon * (1.0 + 1e-9)
    assert ours(run / 0.9) > epsilon


def test_a_run_of_logistic_regression_gets_what_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told = set[tuple[float, float]]()

    def fit(task: Task, promise: Promise, C: float) -> Predict:
        told.add((promise.epsilon, C))
        return lambda records: np.tile([0.5, 0.5], (len(records["x"]), 1))

    monkeypatch.setattr(diffprivlib_logistic, "fit", fit)
    for seed in range(20):
        diffprivlib_logistic_tuned.fit(table(300), Promise(1.0, 1e-5, "add-remove-one", seed))
    assert told == {(0.45, C) for C in diffprivlib_logistic_tuned.INVERSES}


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
@pytest.mark.parametrize("held_out", [0.0, 0.1])
def test_a_run_of_boosted_adassp_gets_what_is_paid_for(
    monkeypatch: pytest.MonkeyPatch, epsilon: float, delta: float, held_out: float
) -> None:
    """By our exact price, from the promise that it is told and the share of the score."""
    told, rounds_of = boosted_ada_ssp_tuned.ROUNDS, set[int]()
    gamma = selection.gamma_for(told)
    for_fit, score = selection.shares(selection.affordable(epsilon, delta, gamma), held_out)
    asked = set[tuple[float, float]]()

    def fit(task: Task, promise: Promise, rounds: int) -> Predict:
        asked.add((promise.epsilon, promise.delta))
        rounds_of.add(rounds)
        return lambda records: np.tile([0.5, 0.5], (len(records["x"]), 1))

    monkeypatch.setattr(boosted_ada_ssp, "fit", fit)
    for seed in range(20):
        boosted_ada_ssp_tuned.fit(table(300), Promise(epsilon, delta, "add-remove-one", seed), held_out)
    ((epsilon_told, delta_told),) = asked
    found = gaussian.mu(epsilon_told, delta_told)
    assert found == pytest.approx(for_fit, rel=1e-6)
    stopping = NegativeBinomialStopping.with_mean(0.0, selection.mean_for(told))
    price = selection_cost([GDP(of_a_run(found, score, held_out))] * len(told), stopping, delta).epsilon
    assert 0.85 * epsilon < price <= epsilon
    assert rounds_of == set(told)


def test_records_of_several_classes_have_shares_within_one() -> None:
    public = table(3)
    task = Task("multi-class", public.columns, 3, (0.0, 1.0), {}, np.array([0, 1, 2]), "add-remove-one")
    assert selection.goodness(task, np.eye(3)) == 0.0
    assert selection.goodness(task, np.eye(3)[[1, 2, 0]]) == -3.0
    assert selection.goodness(task, np.full((3, 3), 1.0 / 3.0)) == pytest.approx(-1.0)
