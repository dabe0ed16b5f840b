"""Any learner as a row: measured on what it was given, once, with its own threshold; and the tables it ends in."""

import csv
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest

from accountant.costs import gaussian
from benchmarks.boosted_trees import (
    adult,
    boosted_tree_accuracy,
    boosted_tree_votes,
    boosted_trees,
    margins,
    recommended,
)
from benchmarks.data import printed
from benchmarks.data.splits import Part, Split, whole
from benchmarks.peers.peer_data import arrays, norm
from benchmarks.peers.peer_systems import ENTRANTS, MODULES, replaced
from benchmarks.runner.partial_results import slug
from benchmarks.runner.report import Grid, Line, Measured, Report
from benchmarks.runner.run import Outcome
from benchmarks.runner.suite import Setting
from benchmarks.systems.baselines import BASELINES, best_rules
from benchmarks.systems.registry import OURS, SYSTEMS, paper_setting
from benchmarks.systems.systems import (
    NO_PRIVACY,
    Measurement,
    Results,
    Scorer,
    System,
    grids,
    measure,
    ours,
    quality,
)
from boosting import LazyBregman, replay
from exchequer.datasets import DataNotFound, breast_cancer, packaged_schema
from learners import LazyBoostClassifier
from learners.votes.one_rules import OneRule, one_rule_scores

PEERS = pytest.mark.skipif(importlib.util.find_spec("diffprivlib") is None, reason="needs the extra `bench`")
OLD_ARGUMENTS = pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")


class OneSplit:
    """A plan of one split, which says that seeds change nothing."""

    protocol, reseeded = "test set", False

    def __init__(self) -> None:
        self.name = "breast_cancer"
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


def test_old_measurements_stay_until_there_is_a_new_one(tmp_path: Path) -> None:
    """A run that finds no data leaves what an earlier one found."""
    path, system = tmp_path / "results.csv", attrs.evolve(constant(1.0), deterministic=False)
    measure(system, OneSplit(), Results(path), [0.1], 1e-5, 3)
    before = path.read_bytes()
    again = Results(path)
    assert path.read_bytes() == before
    measure(system, OneSplit(), again, [0.1], 1e-5, 2)
    with path.open(newline="", encoding="utf-8") as file:
        assert [row["seed"] for row in csv.DictReader(file)] == ["0", "1"]


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
    assert accuracy.head == ("system", "ε=0.1", "ε=1")
    assert [row[0] for row in accuracy.rows] == ["constant 1.0", "constant -1.0, no privacy"]
    share = float(np.mean(plan.split.test.positive))
    assert cell(accuracy, 0, 1).value == cell(accuracy, 0, 2).value == pytest.approx(share)
    assert cell(accuracy, 1, 1) == cell(accuracy, 1, 2)
    assert cell(accuracy, 1, 1).value == pytest.approx(1.0 - share)
    assert cell(accuracy, 1, 1).spread is None
    assert auc.rows[0][1] == Measured(0.5, form=".3f")


def cell(table: Grid, row: int, column: int) -> Measured:
    found = table.rows[row][column]
    assert isinstance(found, Measured)
    return found


def test_grids_show_spread_over_seeds_and_what_is_printed() -> None:
    """And leave a cell empty that was not measured."""
    found = {seed: Measurement("s", "d", "p", 1.0, 0.0, seed, 0.1 * seed, 0.5, 1.0) for seed in (1, 3)}
    private, other = constant(1.0), constant(2.0)
    tables = {private: {1.0: list(found.values())}, other: {2.0: [found[1]]}}
    accuracy, auc = grids(tables, "t", {"accuracy": {1.0: 0.4}})
    shown = cell(accuracy, 0, 1)
    assert (shown.value, shown.spread) == pytest.approx((0.2, 0.1))
    assert shown.printed == 0.4
    assert accuracy.rows[0][2] == accuracy.rows[1][1] == ""
    assert cell(auc, 0, 1).printed is None


def test_a_table_of_what_is_not_private_alone_has_one_column() -> None:
    public = attrs.evolve(constant(1.0), private=False)
    accuracy, _ = grids({public: measure(public, OneSplit(), Results(None), [0.1, 1.0], 0.0, 2)}, "t")
    assert accuracy.head == ("system", "no privacy")


def test_several_tables_are_met_together() -> None:
    good = Report("good", (Line("a", "2", "2", True),))
    bad = Report("bad", (Line("a", "1", "2", False),))
    grid = Grid("grid", ("x", "y"), (("1", "2"),))
    assert Outcome("boosted-trees", (good, grid), ("", ""), 1.0, True).met
    assert not Outcome("boosted-trees", (good, bad, grid), ("", "", ""), 1.0, True).met
    assert "| x | y |\n| --- | --- |\n| 1 | 2 |" in Outcome("boosted-trees", (grid,), ("",), 1.0, True).page


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
    model = boosted_tree_votes.fitted(part, printed.Setting(0.35, 0.45, 9), 1.0, 0)
    opposed = attrs.evolve(model, rules=(OneRule(3, 1), OneRule(3, -1), OneRule(5, 1), OneRule(-1, 1)))
    assert (boosted_tree_votes.features(opposed), boosted_tree_votes.touched(opposed)) == (1, 2)
    assert boosted_tree_votes.features(model) <= boosted_tree_votes.touched(model) <= 9


# --- the benchmark ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_parts_are_told_apart_and_measure_nothing_yet(tmp_path: Path, quick: bool) -> None:
    parts = boosted_trees.parts(Setting(str(tmp_path / "none"), quick, tmp_path / "out"))
    assert len({slug(part.name) for part in parts}) == len(parts)
    assert not (tmp_path / "out").exists()
    for part in parts:
        with pytest.raises(DataNotFound):
            part.make()


def test_the_smallest_lead_is_at_the_precision_of_the_figures() -> None:
    """Rounded like them before it is compared: 0.8596 is as good as 0.86."""
    system = constant(1.0)
    found = {
        epsilon: [Measurement("s", "d", "p", epsilon, 0.0, 0, accuracy, 0.5, 1.0)]
        for epsilon, accuracy in ((0.1, 0.8), (1.0, 0.8596))
    }
    line = recommended.lead({system: found}, system, "accuracy", {0.1: 0.7, 1.0: 0.86}, judged=True)
    assert (line.what, line.found, line.met) == (
        "constant 1.0: smallest lead in accuracy, at ε=1",
        Measured(0.0, form=".3f"),
        True,
    )
    short = recommended.lead({system: found}, system, "accuracy", {0.1: 0.81, 1.0: 0.86}, judged=True)
    assert (short.met, short.what[-5:]) == (False, "ε=0.1")
    assert recommended.lead({system: found}, system, "accuracy", {0.1: 0.81, 1.0: 0.86}, judged=False).met is None


def test_private_gbdts_figures_are_by_epsilon() -> None:
    assert recommended.printed("cod_rna")["auc"][0.1] == 0.937
    assert recommended.printed("mushroom")["accuracy"] == dict(
        zip(recommended.EPSILONS, (0.891, 0.943, 0.968, 0.977, 0.986, 0.995), strict=True)
    )


def test_sparsity_is_beside_its_printed_row() -> None:
    counts, shares = boosted_tree_votes.sparsity("adult", OneSplit().split.train, (0.1, 1.0), 2)
    assert counts.head[1:] == shares.head[1:] == ("ε=0.1", "ε=1")
    net, deviation, share = cell(counts, 0, 2), cell(counts, 1, 2), cell(shares, 0, 2)
    assert (net.printed, deviation.printed, share.printed) == (30.6, 1.2, 18.88)
    assert net.spread == deviation.value
    assert share.value == pytest.approx(100.0 * net.value / 210)
    assert cell(counts, 2, 2).printed == 30.6


def test_printed_accuracies_are_beside_what_was_measured_and_asked_of_full_runs_only() -> None:
    plan = OneSplit()
    plan.name = "adult"  # for its hyper-parameters
    plan.split = attrs.evolve(plan.split, name="adult")
    for judged in (True, False):
        table, report = boosted_tree_accuracy.table_2(plan, Results(None), (0.1, 1.0), 2, judged=judged)
        assert isinstance(table, Grid)
        assert [cell(table, 0, column).printed for column in (1, 2)] == [None, 0.83]
        assert isinstance(report, Report)
        (line,) = report.lines
        assert isinstance(line.found, Measured)
        assert (line.found, line.asked) == (cell(table, 0, 2), "≥ 0.815")
        assert line.met is (line.found.value >= 0.815 if judged else None)


def test_figure_1_keeps_its_curves(tmp_path: Path) -> None:
    part = OneSplit().split.train
    report, advantages, quantiles = boosted_tree_votes.figure_1(part, 2, 25, tmp_path)
    with (tmp_path / "advantage-25.csv").open(newline="", encoding="utf-8") as file:
        curve = list(csv.DictReader(file))
    assert [row["round"] for row in curve] == [str(number) for number in range(1, 26)]
    assert isinstance(advantages, Grid)
    assert advantages.head == ("run", "round 1", "round 10", "round 25")
    assert float(curve[9]["private"]) == pytest.approx(cell(advantages, 0, 2).value)
    assert float(curve[9]["noiseless"]) == pytest.approx(cell(advantages, 1, 2).value)
    with (tmp_path / "margins-25.csv").open(newline="", encoding="utf-8") as file:
        assert sum(float(row["share"]) for row in csv.DictReader(file)) == pytest.approx(1.0)
    assert isinstance(quantiles, Grid)
    found = [cell(quantiles, 0, column).value for column in range(1, len(quantiles.head))]
    assert found == sorted(found)
    assert isinstance(report, Report)
    assert all(isinstance(line.found, Measured) and line.found.printed is None for line in report.lines)


def test_the_figures_asked_of_adult_are_judged_in_full_runs_only() -> None:
    split = OneSplit().split
    settings = (*adult.PURE, *adult.ZCDP)
    for judged in (True, False):
        report = adult.figures(split, 1, judged=judged)
        asked = [line for line in report.lines if line.met is not None]
        assert len(asked) == judged * (len(settings) + sum(setting.auc is not None for setting in settings))


# --- peers ------------------------------------------------------------------------------------------------------


def test_the_norm_of_boolean_features_is_public() -> None:
    assert norm(packaged_schema("adult")) == pytest.approx(math.sqrt(14))
    part = OneSplit().split.train
    assert np.max(np.sqrt(part.one_hot.sum(axis=1))) <= norm(part.schema) == pytest.approx(math.sqrt(210))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_dp_ebm_is_told_an_epsilon_that_hides_twice_the_change(epsilon: float) -> None:
    told, half = replaced(epsilon, 1e-5), 0.5e-5
    assert 0.3 * epsilon < told < 0.51 * epsilon
    for share in (0.1, 0.9):
        assert 2.0 * gaussian.mu(share * told, half) <= gaussian.mu(share * epsilon, half) * (1.0 + 1e-9)


@PEERS
@OLD_ARGUMENTS
def test_peers_look_at_nothing_that_is_not_public() -> None:
    """Their warnings about privacy are errors."""
    split = OneSplit().split
    for peer in [each for each in ENTRANTS if each.peer in ("diffprivlib", "interpret")]:
        worker = MODULES[peer.peer]
        train, test = (worker.load(arrays(split.name, part)) for part in (split.train, split.test))
        scores = worker.fit(train, {**peer.job(100.0, 1e-5), "seed": 0})(test)
        assert scores.shape == (split.test.labels.size,)
        assert np.all(np.isfinite(scores))


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
