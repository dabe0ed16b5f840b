"""Any learner as a row: measured on what it was given, once, with its own threshold; and the tables it ends in."""

import csv
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest

from accountant import gaussian
from benchmarks import boosted_trees, margins, printed
from benchmarks.baselines import BASELINES, best_rules
from benchmarks.registry import OURS, SYSTEMS, paper_setting
from benchmarks.report import Grid, Line, Report, Reports
from benchmarks.splits import Part, Split, whole
from benchmarks.systems import NO_PRIVACY, Measurement, Results, Scorer, System, grids, measure, ours, quality
from boosting import LazyBregman, replay
from exchequer.datasets import breast_cancer, packaged_schema
from learners import LazyBoostClassifier
from learners.one_rule import OneRule, one_rule_scores

PEERS = pytest.mark.skipif(importlib.util.find_spec("diffprivlib") is None, reason="needs the extra `bench`")
OLD_ARGUMENTS = pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")


class OneSplit:
    """A plan of one split, which says that seeds change nothing."""

    protocol, reseeded, name = "test set", False, "breast_cancer"

    def __init__(self) -> None:
        self.split = Split.of(breast_cancer())

    def __call__(self, seed: int) -> list[Split]:
        return [self.split]


def constant(value: float) -> System:
    calls: list[int] = []

    def fit(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
        calls.append(seed)
        return lambda part: np.full(part.labels.size, value)

    return System(f"constant {value}", fit, deterministic=True, kept=True)


def test_parts_agree_in_all_their_forms() -> None:
    part = OneSplit().split.train
    assert part.one_hot.shape == (427, 210)
    assert part.raw.shape == (427, 30)
    for rule in (OneRule(0, 1), OneRule(209, -1)):
        assert np.array_equal(
            rule.predictions(part.sample), rule.sign * (2 * part.one_hot[:, rule.feature].astype(int) - 1)
        )
    assert np.array_equal(part.positive, part.labels == "malignant")
    fine = part.finer(40)
    assert fine.sample.layout.d == 30 * 39
    assert fine is part.finer(40)
    assert np.array_equal(fine.codes // 5, part.codes)


def test_folds_put_together_are_everything() -> None:
    split = OneSplit().split
    assert whole(split).labels.size == 569


def test_the_threshold_is_the_systems_own() -> None:
    part = OneSplit().split.test
    share = float(np.mean(part.positive))
    assert quality(np.full(part.labels.size, 0.1), part)[0] == pytest.approx(share)
    assert quality(np.full(part.labels.size, -0.1), part)[0] == pytest.approx(1.0 - share)
    assert quality(np.where(part.positive, 2.0, 1.0), part)[1] == 1.0
    assert quality(np.where(part.positive, 2.0, -1.0), part)[0] == 1.0


@pytest.mark.parametrize("system", BASELINES, ids=lambda system: system.name)
def test_baselines_beat_the_larger_class(system: System) -> None:
    plan = OneSplit()
    if system.name == "boosted 1-Rules without noise":
        plan.split = attrs.evolve(plan.split, name="adult")  # for its hyper-parameters
    scorer = system.fit(plan.split, 1.0, 0.0, 0)
    assert quality(scorer(plan.split.test), plan.split.test)[0] > 0.85


@pytest.mark.parametrize("system", OURS, ids=lambda system: system.name)
def test_ours_are_measured_by_what_they_predict(system: System) -> None:
    split = attrs.evolve(OneSplit().split, name="adult")
    scorer = system.fit(split, 5.0, 1e-5, 0)
    accuracy, auc = quality(scorer(split.test), split.test)
    if system.name in ("bagging, drawn points", "DPBoost, 50 trees of depth 6"):
        return  # on 427 records their teachers, or their deep trees, learn nothing; they are rows all the same
    assert accuracy > 0.7
    assert auc > 0.8


def test_bins_can_be_finer_than_the_schemas() -> None:
    split = OneSplit().split
    wide = ours("wide", lambda dataset, epsilon, delta, seed: LazyBoostClassifier(epsilon, rounds=3, random_state=seed))
    fine = ours(
        "fine", lambda dataset, epsilon, delta, seed: LazyBoostClassifier(epsilon, rounds=3, random_state=seed), bins=64
    )
    scores = [quality(system.fit(split, 50.0, 0.0, 0)(split.test), split.test)[0] for system in (wide, fine)]
    assert min(scores) > 0.8
    assert scores[0] != scores[1]


def test_a_resumed_run_measures_only_what_is_missing(tmp_path: Path) -> None:
    path, plan = tmp_path / "deep" / "results.csv", OneSplit()
    kept, fresh = constant(1.0), attrs.evolve(constant(-1.0), kept=False)
    calls: list[str] = []

    def counted(system: System) -> System:
        fit = system.fit

        def counting(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
            calls.append(f"{system.name} {epsilon} {seed}")
            return fit(split, epsilon, delta, seed)

        return attrs.evolve(system, fit=counting, deterministic=False)

    def once(epsilons: list[float]) -> list[dict[float, list[Measurement]]]:
        results = Results(path, [kept.name])
        return [measure(counted(system), plan, results, epsilons, 1e-5, 2) for system in (kept, fresh)]

    first = once([0.1])
    assert len(calls) == 4
    assert once([0.1])[0] == first[0]
    assert len(calls) == 6  # what is ours is measured again
    once([0.1, 0.3])
    assert len(calls) == 6 + 2 + 4
    with path.open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 8


def test_what_ignores_epsilon_is_measured_once() -> None:
    system = attrs.evolve(constant(1.0), private=False)
    found = measure(system, OneSplit(), Results(None), [0.1, 0.2], 1e-5, 10)
    assert list(found) == [NO_PRIVACY]
    assert [(one.seed, one.delta) for one in found[NO_PRIVACY]] == [(0, 0.0)]


def test_grids_have_a_row_per_system_and_a_column_per_epsilon() -> None:
    plan, results = OneSplit(), Results(None)
    private, public = constant(1.0), attrs.evolve(constant(-1.0), private=False)
    tables = {system: measure(system, plan, results, [0.1, 1.0], 0.0, 2) for system in (private, public)}
    accuracy, auc = grids(tables, "t")
    assert accuracy.head == ("system", "ε=0.1", "ε=1", "no privacy")
    assert [row[0] for row in accuracy.rows] == ["constant 1.0", "constant -1.0"]
    assert accuracy.rows[0][3] == accuracy.rows[1][1] == ""
    assert auc.rows[0][1] == "0.500 ± 0.000"


def test_several_tables_are_met_together() -> None:
    good = Report("good", (Line("a", "2", "2", True),))
    bad = Report("bad", (Line("a", "1", "2", False),))
    grid = Grid("grid", ("x", "y"), (("1", "2"),))
    assert Reports("t", (good, grid)).met
    assert not Reports("t", (good, bad, grid)).met
    assert "| x | y |\n| --- | --- |\n| 1 | 2 |" in str(Reports("t", (grid,)))


def test_names_are_told_apart() -> None:
    assert len({system.name for system in SYSTEMS}) == len(SYSTEMS)


def test_the_papers_settings_are_those_of_its_tables() -> None:
    assert paper_setting("adult", 1.0) == printed.Setting(0.35, 0.45, 39)
    assert paper_setting("cod_rna", 2.9) == printed.Setting(0.40, 0.50, 99)
    assert paper_setting("mushroom", 0.01) == printed.Setting(0.45, 0.50, 5)
    for name, table in printed.HYPERPARAMETERS.items():
        assert tuple(table) == tuple(printed.SPARSITY[name]) == printed.EPSILONS


def test_printed_shares_are_of_the_papers_feature_counts() -> None:
    """So the tables were copied right: mean over share gives 162, 80 and (but for one cell) 117 features."""
    for name, d in (("adult", 162), ("cod_rna", 80), ("mushroom", 117)):
        wrong = [
            epsilon
            for epsilon, row in printed.SPARSITY[name].items()
            if abs(100.0 * row.mean / d - row.percent) > 0.012
        ]
        assert wrong == ([1.0] if name == "mushroom" else [])


# --- margins ----------------------------------------------------------------------------------------------------


def test_rademacher_complexity_of_one_literal_and_a_constant() -> None:
    """d independent literals and a constant: about the mean of the largest of 2(d + 1) normal correlations."""
    sample = OneSplit().split.train.sample
    found = margins.rademacher(sample, 200)
    single = math.sqrt(2.0 / (math.pi * sample.n))
    assert single < found < math.sqrt(2.0 * math.log(2.0 * (sample.layout.d + 1)) / sample.n)


def test_the_guarantee_is_the_best_over_margins() -> None:
    values = np.array([-0.5] + [0.2] * 4 + [0.8] * 5)
    slack = math.sqrt(math.log(20.0) / 20.0)
    assert margins.guaranteed_accuracy(values, 0.0) == pytest.approx(0.9 - slack)
    assert margins.guaranteed_accuracy(values, 0.04) == pytest.approx(0.9 - 0.4 - slack)
    at_high = 0.5 - 2.0 * 0.06 / 0.8 - slack
    assert margins.guaranteed_accuracy(values, 0.06, failure=0.05) == pytest.approx(
        max(0.0, 0.9 - 0.6 - slack, at_high)
    )
    assert margins.guaranteed_accuracy(values, 1.0) == 0.0


def test_a_replay_has_the_margins_and_advantages_of_its_run() -> None:
    sample, booster = OneSplit().split.train.sample, LazyBregman(0.5, 0.3)
    rules = best_rules(sample, 6, booster)
    curve = replay(sample, rules, booster)
    votes = sum(rule.predictions(sample).astype(int) for rule in rules)
    assert np.allclose(curve.margins, sample.labels * votes / 6.0)
    uniform = np.mean(sample.labels == rules[0].predictions(sample)) - 0.5
    assert curve.advantages[0] == pytest.approx(uniform)
    assert curve.advantages[0] == pytest.approx(0.5 + np.max(one_rule_scores(booster.start(sample))))


def test_rounds_until_the_advantage_is_lost() -> None:
    falling = np.linspace(0.2, 0.0, 201)
    assert 130 <= margins.last_round_above(falling, 0.05) <= 151
    assert margins.last_round_above(falling, -0.1) == 201
    assert margins.last_round_above(falling, 0.5) == 0


def test_features_are_counted_with_and_without_cancelled_votes() -> None:
    part = OneSplit().split.train
    model = boosted_trees.fitted(part, printed.Setting(0.35, 0.45, 9), 1.0, 0)
    opposed = attrs.evolve(model, rules=(OneRule(3, 1), OneRule(3, -1), OneRule(5, 1), OneRule(-1, 1)))
    assert (boosted_trees.features(opposed), boosted_trees.touched(opposed)) == (1, 2)
    assert boosted_trees.features(model) <= boosted_trees.touched(model) <= 9


# --- peers ------------------------------------------------------------------------------------------------------


def test_the_norm_of_boolean_features_is_public() -> None:
    from benchmarks import peers

    assert peers.norm(packaged_schema("adult")) == pytest.approx(math.sqrt(14))
    part = OneSplit().split.train
    assert np.max(np.sqrt(part.one_hot.sum(axis=1))) <= peers.norm(part.schema) == pytest.approx(math.sqrt(210))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_dp_ebm_is_told_an_epsilon_that_hides_twice_the_change(epsilon: float) -> None:
    from benchmarks import peers

    told, half = peers.replaced(epsilon, 1e-5), 0.5e-5
    assert 0.3 * epsilon < told < 0.51 * epsilon
    for share in (0.1, 0.9):
        assert 2.0 * gaussian.mu(share * told, half) <= gaussian.mu(share * epsilon, half) * (1.0 + 1e-9)


@PEERS
@OLD_ARGUMENTS
def test_peers_look_at_nothing_that_is_not_public() -> None:
    """Their warnings about privacy are errors."""
    from benchmarks import peers

    split = OneSplit().split
    for system in peers.PEERS:
        scorer = system.fit(split, 100.0, 1e-5, 0)
        assert np.all(np.isfinite(scorer(split.test)))


@PEERS
@OLD_ARGUMENTS
@pytest.mark.parametrize("name", ["LogisticRegression", "DPExplainableBoostingClassifier"])
def test_peers_predict_where_their_scores_are_positive(name: str) -> None:
    import diffprivlib.models
    from interpret.privacy import DPExplainableBoostingClassifier

    part = OneSplit().split.train
    makes: dict[str, Callable[[], object]] = {
        "LogisticRegression": lambda: diffprivlib.models.LogisticRegression(data_norm=15.0, epsilon=10.0),
        "DPExplainableBoostingClassifier": lambda: DPExplainableBoostingClassifier(
            feature_types=["continuous"] * 210, privacy_bounds=dict.fromkeys(range(210), (0, 1)), n_jobs=1
        ),
    }
    model = makes[name]()
    model.fit(part.one_hot, part.signs)  # type: ignore[attr-defined]  # neither ships types
    predicted = model.predict(part.one_hot) > 0  # type: ignore[attr-defined]  # the same
    assert np.array_equal(model.decision_function(part.one_hot) > 0, predicted)  # type: ignore[attr-defined]  # the same


def test_part_is_what_the_schema_allows() -> None:
    data = breast_cancer()
    part = Part(data.schema, data.train, data.y_train)
    assert part.sample.n == data.y_train.size
