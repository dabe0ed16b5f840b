"""The tables of rados, small: folds, errors and tests are what they say, costs are those of the exact law."""

import math
import os
import statistics
from pathlib import Path

import attrs
import numpy as np
import pytest
from scipy import stats

from benchmarks.data.rado_domains import SOURCES, Domain, domain
from benchmarks.rados import rado_costs
from benchmarks.rados.rado_costs import (
    DELTA,
    EMPTY,
    affordable,
    cost,
    costs,
    epsilons,
    mass,
    told,
    total,
    windowed,
)
from benchmarks.rados.rado_table import (
    ADA,
    ADA_N,
    BLIND,
    CONTENDERS,
    PRINTED,
    RADO,
    SMOOTH,
    DomainErrors,
    error,
    errors_by_round,
    learnt,
    measured,
    p_cell,
    p_value,
    p_values,
    percent,
    prepared,
    rados_number,
    split,
    table1,
    tables,
    trial,
)
from benchmarks.runner.report import Measured
from boosting.rados.rado_boost import ada_boost, rado_boost
from boosting.rados.smoothing import SIGNAL
from exchequer.datasets import DataNotFound
from mechanisms.rados.column_distribution import RadoColumnLaw, beta_at, theorem6_printed

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs UCI domains: set EXCHEQUER_DATA to the folder with real data"
)


@pytest.fixture(scope="module")
def made_up() -> Domain:
    """60 records of 4 features: two tell the classes apart, one is far from 0 and one is constant."""
    rng = np.random.default_rng(8)
    labels = np.where(np.arange(60) < 24, 1, -1).astype(np.int8)
    shifted = rng.normal(size=(60, 2)) + labels[:, None]
    points = np.column_stack([shifted, rng.normal(100.0, 3.0, 60), np.full(60, 7.0)])
    return Domain("made up", points, labels)


@pytest.fixture(scope="module")
def found(made_up: Domain) -> DomainErrors:
    """On three folds, twenty rounds."""
    return measured(made_up, "standardised", rounds=20, folds=3)


def test_every_contender_has_an_error_for_each_fold(found: DomainErrors) -> None:
    assert tuple(found.errors) == CONTENDERS
    for name in CONTENDERS:
        assert len(found.errors[name]) == 3
        assert all(0.0 <= error < 0.4 for error in found.errors[name])
    assert found.errors == measured(found.domain, "standardised", rounds=20, folds=3).errors


def test_folds_spread_the_classes_and_hold_each_record_once(made_up: Domain) -> None:
    parts = list(split(made_up, "raw", 3, 0))
    assert [(fold.train.shape, fold.test.shape) for fold in parts] == [((40, 4), (20, 4))] * 3
    assert [int(np.sum(fold.test[:, 3] > 0.0)) for fold in parts] == [8, 8, 8]  # the constant shows the label
    held = np.concatenate([np.abs(fold.test[:, 2]) for fold in parts])
    assert np.array_equal(np.sort(held), np.sort(made_up.points[:, 2]))


def test_features_are_scaled_by_the_training_part_alone(made_up: Domain) -> None:
    train, test = made_up.points[:40], made_up.points[40:]
    ours, theirs = prepared(train, test, "standardised")
    assert np.allclose(np.mean(ours, axis=0), 0.0)
    assert np.allclose(np.std(ours, axis=0), [1.0, 1.0, 1.0, 0.0])
    assert np.allclose(theirs[:, 2], (test[:, 2] - np.mean(train[:, 2])) / np.std(train[:, 2]))
    with_one = prepared(train, test, "with a constant")
    assert np.array_equal(with_one[1], np.column_stack([theirs, np.ones(20)]))
    assert prepared(train, test, "raw") == (train, test)


def test_errors_by_round_are_those_of_the_classifiers(made_up: Domain) -> None:
    edges = made_up.labels[:, None] * made_up.points[:, :2]
    run = ada_boost(edges, 15)
    by_hand = [np.mean(edges @ run.theta(turn) <= 0.0) for turn in range(1, 16)]
    assert np.array_equal(errors_by_round(run, edges), by_hand)


def test_the_classifier_that_is_tested_errs_least_on_the_training_records(made_up: Domain) -> None:
    fold = next(split(made_up, "standardised", 3, 0))
    errors = trial(fold, 20, np.random.default_rng(3))
    run = ada_boost(fold.train, 20)
    best = min(range(1, 21), key=lambda turn: float(np.mean(fold.train @ run.theta(turn) <= 0.0)))
    assert errors[ADA] == np.mean(fold.test @ run.theta(best) <= 0.0)


def test_smoothed_rados_are_learnt_as_the_learner_learns_them(made_up: Domain) -> None:
    rng = np.random.default_rng(4)
    rados = rng.integers(0, 2, size=(30, 60)) @ (made_up.labels[:, None] * made_up.points[:, :2])
    means, deviations = np.abs(np.mean(rados, axis=0)), np.std(rados, axis=0)
    share = 1.0 - SIGNAL / float(np.max(means / deviations))
    assert share > 0.5
    run = rado_boost(rados - share * np.mean(rados, axis=0), 40)
    assert np.allclose(learnt(rados, 40, smooth=True), run.theta(int(np.argmin(run.log_losses))))
    assert not np.allclose(learnt(rados, 40, smooth=True), learnt(rados, 40, smooth=False))


def test_products_of_zero_are_errors() -> None:
    assert error(np.array([[1.0], [0.0], [-1.0], [2.0]]), np.array([1.0])) == 0.5
    assert [rados_number(m) for m in (90, 673, 3_759)] == [45, 336, 1_000]


def test_p_values_are_those_of_the_paired_test(found: DomainErrors) -> None:
    first, second = [0.30, 0.25, 0.35, 0.28], [0.33, 0.27, 0.35, 0.34]
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    ratio = statistics.fmean(gaps) / (statistics.stdev(gaps) / math.sqrt(4))
    assert p_value(first, second) == pytest.approx(2.0 * stats.t.sf(abs(ratio), 3))
    for name in (ADA, ADA_N):
        expected = stats.ttest_rel(found.errors[name], found.errors[RADO]).pvalue
        assert found.p_value(name) == pytest.approx(expected, nan_ok=True)
    ours = stats.ttest_rel(found.errors[ADA], found.errors[SMOOTH]).pvalue
    assert found.p_value(ADA, SMOOTH) == pytest.approx(ours, nan_ok=True)
    assert p_cell(p_value(first, first)) == "equal in all folds"
    assert p_cell(0.029, 0.01) == Measured(0.029, None, 0.01, form=".2g")


def test_the_printed_figures_stand_beside_ours(found: DomainErrors) -> None:
    eeg = attrs.evolve(found, domain=Domain("eeg", found.domain.points, found.domain.labels))
    grid, paper = table1([found, eeg], "two domains"), PRINTED["eeg"]
    assert grid.head == ("domain", "commoner class", *CONTENDERS)
    assert grid.rows[0][0] == "made up (m=60, d=4, n=20)"
    assert grid.rows[1][0] == "eeg (m=60, d=4, n=20)"
    assert grid.rows[0][1] == Measured(40.0, unit="%", form=".2f")
    assert grid.rows[0][2:] == tuple(percent(found.errors[name]) for name in CONTENDERS)
    printed = {ADA: 46.04, ADA_N: 44.36, RADO: 44.23, BLIND: None, SMOOTH: None}
    assert grid.rows[1][2:] == tuple(percent(found.errors[name], printed[name]) for name in CONTENDERS)
    errors = [100.0 * error for error in found.errors[ADA]]
    ours = percent(found.errors[ADA], paper.ada)
    assert [ours.value, ours.spread] == pytest.approx([statistics.fmean(errors), np.std(errors)])
    assert ours.ratio == pytest.approx(statistics.fmean(errors) / 46.04)


def test_figures_are_printed_of_standardised_features_only(found: DomainErrors) -> None:
    eeg = attrs.evolve(found, domain=Domain("eeg", found.domain.points, found.domain.labels))
    raw = attrs.evolve(eeg, form="raw")
    (row,), (other,) = p_values([eeg]).rows, p_values([raw]).rows
    assert row[1:] == (
        p_cell(found.p_value(ADA)),
        p_cell(found.p_value(ADA_N), 0.86),
        p_cell(found.p_value(ADA, SMOOTH)),
        "AdaBoost's",
    )
    assert other[1:] == (*(p_cell(found.p_value(name)) for name in (ADA, ADA_N)), row[3], "-")
    assert all(cell.printed is None for cell in table1([raw], "raw").rows[0] if isinstance(cell, Measured))
    assert "features raw" in table1([raw], "raw").title


def test_words_missing_values_and_remarks_become_numbers(tmp_path: Path) -> None:
    (tmp_path / "abalone.data").write_text("M,0.5,9\nI,0.4,10\nF,0.1,29\n")
    (tmp_path / "breast-cancer-wisconsin.data").write_text("1000,5,?,2\n1001,10,3,4\n")
    lines = [" ".join("01" * 8) + f" {' '.join(label)}\n" for label in ("0010", "1000", "0100", "0001", "0000", "0101")]
    (tmp_path / "ClaveVectors_Firm-Teacher_Model.txt").write_text(lines[0][:-1] + "\t\terror fixed\n" + "".join(lines))
    abalone, breast, firm = (domain(n, tmp_path) for n in ("abalone", "breast-cancer-wisconsin", "firm-teacher"))
    assert np.array_equal(abalone.points, [[1.0, 0.5], [-1.0, 0.4], [0.0, 0.1]])
    assert abalone.labels.tolist() == [-1, 1, 1]
    assert np.array_equal(breast.points, [[5.0, 5.5], [10.0, 3.0]])
    assert firm.points.shape == (5, 16)
    assert firm.labels.tolist() == [1, 1, 1, -1, -1]


def test_a_missing_file_is_told_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFound, match=r"no magic04\.data"):
        domain("magic", tmp_path)
    monkeypatch.delenv("EXCHEQUER_DATA", raising=False)
    with pytest.raises(DataNotFound, match="--data DIR"):
        domain("magic")
    with pytest.raises(DataNotFound):
        tables(str(tmp_path), "raw")


COUNTS = {
    "fertility": (100, 9, 12),
    "haberman": (306, 3, 81),
    "transfusion": (748, 4, 178),
    "banknote": (1_372, 4, 610),
    "breast-cancer-wisconsin": (699, 9, 241),
    "ionosphere": (351, 34, 225),
    "sonar": (208, 60, 111),
    "abalone": (4_177, 8, 2_081),
    "wine-white": (4_898, 11, 3_258),
    "firm-teacher": (10_800 - 4, 16, 4_306 + 407),
    "magic": (19_020, 10, 12_332),
    "eeg": (14_980, 14, 6_723),
}
"""Records, features and records of class +1: as the data's README counts them, but for abalone's and wine's classes."""


@pytest.mark.data
@NEEDS_DATA
@pytest.mark.parametrize("name", SOURCES)
def test_domains_have_the_records_that_the_data_are_said_to_have(name: str) -> None:
    data = domain(name)
    assert (*data.points.shape, int(np.sum(data.labels > 0))) == COUNTS[name]
    assert np.all(np.isfinite(data.points))
    assert set(data.labels.tolist()) == {-1, 1}


@pytest.mark.data
@NEEDS_DATA
def test_the_guessed_classes_of_abalone_give_about_the_printed_errors() -> None:
    found = measured(domain("abalone"), "standardised", folds=3)
    assert 100.0 * statistics.fmean(found.errors[ADA]) == pytest.approx(22.96, abs=2.0)
    assert 100.0 * statistics.fmean(found.errors[RADO]) == pytest.approx(25.14, abs=2.0)


def _enumerated(records: int, low: int, epsilon: float) -> float:
    """δ(ε) of one rado, term by term."""
    counts = [math.comb(records, k) if low <= k <= records - low else 0 for k in range(records + 2)]
    before = [0, *counts[:-1]]
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(counts, before, strict=True)) / sum(counts)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_costs_are_those_of_enumeration(epsilon: float) -> None:
    records = 40
    law = windowed(records, epsilon)
    assert law is not None
    for each in (RadoColumnLaw(records), law):
        found = cost(each, 1, epsilon)
        # The law rounds up, by `loss_distribution.RELATIVE`.
        exact, at_half = (_enumerated(records, each.low, at) for at in (epsilon, 0.5 * epsilon))
        assert exact <= found.one == found.delta <= exact * (1.0 + 3e-9)
        assert at_half <= found.one_half <= at_half * (1.0 + 3e-9)
    assert cost(law, 1, epsilon).one == pytest.approx(cost(law, 1, epsilon).one_half, rel=3e-9)


def test_columns_are_the_exact_law_beside_what_is_printed() -> None:
    totals, masses = costs("made up", 673)
    assert totals.head == masses.head
    assert totals.head[1:5] == ("ε=0.00149", "ε=0.0385", "ε=0.1", "ε=0.2")
    columns = zip(*(row[1:] for row in (*totals.rows, *masses.rows)), strict=True)
    for epsilon, column in list(zip(epsilons(673), columns, strict=True))[1:]:
        window, plain = RadoColumnLaw.truncated(673, beta_at(epsilon)), RadoColumnLaw(673)
        sum_epsilon, sum_delta = theorem6_printed(673, 336, epsilon)
        ends, one = told(window.boundary, 336), window.delta(0.5 * epsilon)
        assert window.delta(epsilon) == one
        assert column == (
            # Of (n·ε, n·δ) the ε is printed for δ = 1e-6 only where n·δ is no larger.
            total(window.epsilon(DELTA, 336), sum_epsilon if sum_delta <= DELTA else None),
            total(plain.epsilon(DELTA, 336)),
            *(mass(one), mass(673 * one)),
            *(mass(plain.delta(epsilon)), mass(plain.delta(0.5 * epsilon))),
            mass(ends, sum_delta),
            *(mass(window.delta(epsilon, 336)), mass(plain.delta(epsilon, 336))),
        )
        assert ends <= sum_delta * (1.0 + 1e-12)
        assert math.isinf(window.epsilon(DELTA, 336)) == (ends > DELTA)
    assert "m=673, n=336" in totals.title
    assert "whole rados have δ ≥ 1/2" in masses.title


def test_an_empty_window_is_told() -> None:
    totals, masses = costs("made up", 673)
    window = (totals.rows[0], *masses.rows[:2], *masses.rows[4:6])
    assert [row[1] for row in window] == [EMPTY] * 5
    plain = masses.rows[2][1]
    assert isinstance(plain, Measured)
    assert plain.value > 0.02  # without a window the rado exists, and costs what it costs


def test_vanishing_masses_are_bounds() -> None:
    assert mass(1e-31) == "< 1e-30"
    assert mass(0.5, 2.0) == Measured(0.5, None, 2.0, form=".1e")


def test_what_tells_for_certain_is_all_that_is_left_at_the_sum_of_epsilons() -> None:
    law, number, epsilon = RadoColumnLaw.truncated(40, beta_at(0.5)), 3, 0.5
    assert told(law.boundary, number) == pytest.approx(law.delta(number * epsilon, number), rel=3e-9)
    assert told(1.0, 3) == 1.0


def test_a_window_of_one_value_costs_everything() -> None:
    found = cost(RadoColumnLaw(10, 5), 3, 0.5)
    assert (found.one, found.epsilon, found.delta) == (1.0, math.inf, 1.0)


@pytest.mark.parametrize(("records", "epsilon"), [(673, 0.5), (673, 2.0), (100, 5.0)])
def test_one_more_rado_than_an_epsilon_buys_costs_more(records: int, epsilon: float) -> None:
    most, law = affordable(records, epsilon), RadoColumnLaw(records)
    assert most >= 1
    assert law.epsilon(DELTA, most) <= epsilon * (1.0 + 1e-9)
    assert law.epsilon(DELTA, most + 1) > epsilon


def test_a_small_epsilon_buys_no_rado_of_few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    assert affordable(673, 0.1) == 0
    assert RadoColumnLaw(673).delta(0.1) > DELTA
    monkeypatch.setattr(rado_costs, "RECORDS", {"made up": 673})
    grid = rado_costs.buys(("made up",), (0.1, 0.5))
    bought = [Measured(number, unit="rados", form=",.0f") for number in (0, affordable(673, 0.5))]
    assert grid.rows == (("made up (m=673, used: 336)", *bought),)
    assert grid.head == ("domain", "ε=0.1", "ε=0.5")
