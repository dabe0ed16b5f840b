"""The experiments of 004 again, small: errors, pairs of neighbours and gaps are what the tables say they are."""

import os
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from benchmarks.data.random_feature_domains import RED, Regression, medical, min_max, red_wine, wine
from benchmarks.random_features import fairness, random_feature_memory, random_features
from benchmarks.random_features.random_feature_acceptance import DESCENT, MEAN, Outcome, entrants, lines
from benchmarks.random_features.random_feature_costs import (
    REAL,
    STEPS,
    Swap,
    Training,
    bounds,
    least_epsilon,
    searched,
)
from benchmarks.random_features.random_feature_fairness import (
    DRAWN,
    LINEAR,
    QUANTILES,
    Case,
    demographics,
    figure9,
    gaps,
    noise_sigma,
    rls_bounds,
    rls_epsilon,
    table2,
    training,
)
from benchmarks.random_features.random_feature_fairness import OURS as RECOMMENDED
from benchmarks.random_features.random_feature_fits import (
    DELTA,
    code_sigma,
    distinct,
    interpolated,
    mapped,
    mse,
    noise_share,
)
from benchmarks.random_features.random_feature_real import (
    GRAM,
    PINV,
    PRINTED_SECONDS,
    ROWS,
    at_number,
    plain_sgd,
    printed_at,
    table1,
)
from benchmarks.random_features.random_feature_speed import gram
from benchmarks.random_features.random_feature_synthetic import (
    CODE,
    FUNCTIONS,
    OURS,
    PAPERS,
    PLAIN,
    SGD,
    Drawn,
    claims,
    points,
)
from benchmarks.runner.partial_results import slug
from benchmarks.runner.report import Measured, Report
from benchmarks.runner.suite import Setting
from exchequer.datasets import DataNotFound
from learners import Categorical, Numeric, Published, RandomFeatureRegressor, Schema
from learners.fairness.group_measures import statistical_parity
from learners.random_features.error_bounds import noise_error
from learners.random_features.interpolation import min_norm

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs medical costs and wine: set EXCHEQUER_DATA to their folder"
)


@pytest.fixture(scope="module")
def made_up() -> Regression:
    """120 records of two numbers and a category of two."""
    rng = np.random.default_rng(4)
    first, second = rng.uniform(0.0, 10.0, 120), rng.uniform(-1.0, 1.0, 120)
    kind = np.where(rng.uniform(size=120) < 0.3, "a", "b")
    labels = 0.5 * first + second + (kind == "a")
    schema = Schema((Numeric("first", 0.0, 10.0), Numeric("second", -1.0, 1.0), Categorical("kind", ("a", "b"))))
    return Regression("made up", schema, {"first": first, "second": second, "kind": kind}, labels, (-1.0, 7.0))


def test_records_are_coded_as_the_paper_codes_them(made_up: Regression) -> None:
    features, labels = made_up.printed()
    assert features.shape == (120, 4)
    assert np.array_equal(np.min(features, axis=0), np.zeros(4))
    assert np.array_equal(np.max(features, axis=0), np.ones(4))
    assert np.array_equal(features[:, 2], made_up.table["kind"] == "a")
    assert (labels.min(), labels.max()) == (0.0, 1.0)
    assert np.array_equal(min_max(np.full((3, 1), 7.0)), np.zeros((3, 1)))
    kept, held = made_up.split(1)
    assert (kept.size, held.size) == (108, 12)
    assert sorted([*kept, *held]) == list(range(120))


def test_equal_points_share_the_mean_of_their_targets_as_in_min_norm_least_squares() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((20, 3))
    inputs[5] = inputs[3]
    targets, rows = rng.standard_normal(20), mapped("cosine", 60, 3, 2.0, 0).features(inputs)
    few, means = distinct(rows, targets, inputs)
    assert few.shape == (19, 60)
    assert np.isclose(means[np.argmin(np.abs(few - rows[3]).sum(axis=1))], 0.5 * (targets[3] + targets[5]))
    assert np.allclose(interpolated(rows, targets, inputs), min_norm(rows, targets, route="pinv"))


def test_noise_is_that_of_the_published_solver() -> None:
    """Its errors, over draws of noise, have the mean that tables add."""
    rng = np.random.default_rng(1)
    inputs, labels = rng.uniform(size=(30, 2)), rng.uniform(size=30)
    errors = []
    for seed in range(400):
        model = RandomFeatureRegressor(
            1.0,
            DELTA,
            label_bounds=(-1.0, 1.0),
            solver=Published(code=True),
            feature_map="cosine",
            n_components=80,
            scale=4.0,
            random_state=seed,
        ).fit(inputs, labels)
        errors.append(mse(model.model_.fit.targets(inputs), labels))
    rows = mapped("cosine", 80, 2, 4.0, 0).features(inputs)
    expected = mse(rows @ interpolated(rows, labels, inputs), labels) + noise_share(rows, code_sigma(80, 1.0))
    # deviations of the mean of 400: a factor of 1.1 in σ would be four of them off
    assert abs(np.mean(errors) - expected) < 4.0 * np.std(errors) / np.sqrt(len(errors))
    assert np.std(errors) / np.sqrt(len(errors)) < 0.05 * expected


# --- Costs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_equal_points() -> Training:
    """12 records at 9 points: one of three records and one of two, with unlike labels."""
    rng = np.random.default_rng(2)
    inputs, labels = rng.standard_normal((12, 3)), rng.uniform(size=12)
    inputs[5] = inputs[3]
    inputs[10] = inputs[11] = inputs[0]
    return Training(inputs, mapped("cosine", 40, 3, 2.0, 0).features(inputs), labels)


def test_distances_of_all_swaps_are_those_of_unmerged_fits_from_scratch(with_equal_points: Training) -> None:
    """One record is replaced, also where others share its point, and either data set has its own norm of labels."""
    own, rng = with_equal_points, np.random.default_rng(3)
    inputs, targets = rng.standard_normal((3, 3)), rng.uniform(size=3)
    inputs[2] = own.points[3] + 0.05
    new = mapped("cosine", 40, 3, 2.0, 0).features(inputs)
    found = own.squares(new, targets)
    assert found.shape == (3, 12)
    scratch = min_norm(own.rows, own.labels, route="pinv")
    for record in range(3):
        for place in range(12):
            rows, labels = own.rows.copy(), own.labels.copy()
            rows[place], labels[place] = new[record], targets[record]
            other = min_norm(rows, labels, route="pinv")
            over = scratch / np.linalg.norm(own.labels) - other / np.linalg.norm(labels)
            direct = own.distance(Swap(place, inputs[record], new[record], float(targets[record])))
            assert np.isclose(direct.plain, np.linalg.norm(scratch - other))
            assert np.isclose(direct.normalised, np.linalg.norm(over))
            assert np.isclose(found[record, place], direct.plain**2)


def test_a_new_record_may_have_a_point_that_is_there_already(with_equal_points: Training) -> None:
    own = with_equal_points
    assert np.allclose(own.squares(own.rows[:1], own.labels[:1]), 0.0)  # it is not searched
    rows, labels = own.rows.copy(), own.labels.copy()
    rows[5], labels[5] = own.rows[0], 0.9
    moved = np.linalg.norm(min_norm(own.rows, own.labels, route="pinv") - min_norm(rows, labels, route="pinv"))
    assert moved > 0.01
    assert np.isclose(own.distance(Swap(5, own.points[0], own.rows[0], 0.9)).plain, moved)


def test_pairs_of_neighbours_differ_in_one_record(made_up: Regression) -> None:
    table = {name: np.append(values, values[:60]) for name, values in made_up.table.items()}
    twice = attrs.evolve(made_up, table=table, labels=np.append(made_up.labels, made_up.labels[:60] + 0.1))
    own, pairs = searched(twice, 300, 40.0)
    assert np.isclose(own.length, np.linalg.norm(twice.printed()[1][twice.split(0)[0]]))
    for swap in (*pairs.real, *pairs.worst.values()):
        other = own.swapped(swap)
        same = np.all(own.rows == other.rows, axis=1) & (own.labels == other.labels)
        assert np.array_equal(np.flatnonzero(~same), [swap.place])
        assert np.allclose(mapped("cosine", 300, 4, 40.0, 0).features(other.points), other.rows)


def test_nearer_copies_with_other_labels_cost_more(made_up: Regression) -> None:
    own, pairs = searched(made_up, 300, 40.0)
    found = {name: own.distance(swap).plain for name, swap in pairs.worst.items()}
    assert list(found) == [REAL, *(f"h = {step:g}" for step in STEPS)]
    assert found["h = 0.01"] > found["h = 0.1"] > found[REAL]
    assert max(own.distance(swap).plain for swap in pairs.real) <= found[REAL] * (1.0 + 1e-6)
    sigma = code_sigma(300, 1.0)
    assert least_epsilon(found[REAL], sigma) == gaussian.epsilon(found[REAL] / sigma, DELTA)


def test_least_epsilons_stand_beside_the_one_that_is_given(made_up: Regression) -> None:
    found = bounds(made_up, 300, 40.0, 2)
    assert [name for name, *_ in found.rows] == ["median of 20 real swaps", REAL, *(_copy(step) for step in STEPS)]
    worst = [numbers(cells) for _, *cells in found.rows]
    assert [cell.printed for cell in worst[1]] == [0.5, 1.0, 0.5, 1.0]
    own, pairs = searched(made_up, 300, 40.0, 1)
    other = least_epsilon(own.distance(pairs.worst["h = 0.01"]).plain, code_sigma(300, 1.0))
    own, pairs = searched(made_up, 300, 40.0, 0)
    mean = 0.5 * (other + least_epsilon(own.distance(pairs.worst["h = 0.01"]).plain, code_sigma(300, 1.0)))
    assert np.isclose(worst[-1][1].value, mean)


def _copy(step: float) -> str:
    return f"copy, opposite label, h = {step:g}"


def numbers(cells: Sequence[object]) -> list[Measured]:
    """All of them numbers."""
    assert all(isinstance(cell, Measured) for cell in cells)
    return [cell for cell in cells if isinstance(cell, Measured)]


# --- Errors -----------------------------------------------------------------------------------------------------------


def test_points_of_a_figure_have_the_noise_that_is_printed() -> None:
    (found,) = points(FUNCTIONS[0], 60, 30, (80,), 0.5, 1)
    drawn = Drawn.of(FUNCTIONS[0], 60, 30, 0)
    added = found.mean(PAPERS) - found.mean(PLAIN)
    mean = noise_error(Published().sigma(80, 0.5, DELTA)[0] / np.sqrt(80.0), 80, 0.05).mean
    assert np.isclose(added, mean * np.sum(drawn.train[1] ** 2) / drawn.norm**2)
    assert found.mean(OURS) < found.mean(CODE) < found.mean(PAPERS)
    counted = numbers([line.found for line in claims(FUNCTIONS[0], [found]).lines])
    assert {cell.unit for cell in counted} == {"of 1 settings"}
    assert counted[1].value == float(found.mean(OURS) < found.mean(SGD))


def test_measured_errors_add_noise_by_epsilon(made_up: Regression) -> None:
    found = at_number(made_up, 150, 3.0, 2)
    assert set(found.errors) == {GRAM, ROWS}
    more = [half - whole for half, whole in zip(found.private(GRAM, 0.5), found.private(GRAM, 1.0), strict=True)]
    assert np.allclose(more, [3.0 * noise for noise in found.noise])
    assert all(np.isclose(noise, code_sigma(150, 1.0) ** 2 / 2.0, rtol=0.05) for noise in found.noise)


def test_table_1_has_what_is_printed_beside_it(made_up: Regression) -> None:
    red = attrs.evolve(made_up, name=RED)
    found = [attrs.evolve(at_number(red, 150, 40.0, 1), number=2000), at_number(red, 200, 40.0, 1)]
    rows = {name: cells for name, *cells in table1(red, found, found).rows}
    assert [cell.printed for name in (PINV, ROWS) for cell in numbers(rows[name])] == [0.79, None, 0.52, None]
    assert numbers(rows[GRAM])[0].printed is None
    assert printed_at(PRINTED_SECONDS[RED], PINV, 10_000) == 3.43
    assert np.isclose(numbers(rows["predicting 0"])[0].value, np.mean(red.printed()[1] ** 2))


def test_sgd_is_gradient_descent_on_features_of_the_papers_length() -> None:
    rows: FloatArray = np.array([[0.6, 0.8]])
    long, labels = np.sqrt(2.0) * rows, np.array([3.0])
    coefficients = plain_sgd(rows, labels, 0.1, np.random.default_rng(0))
    assert np.allclose(rows @ coefficients, long @ (0.1 * 3.0 * long[0]))


# --- Acceptance -------------------------------------------------------------------------------------------------------


def test_the_best_setting_stands_for_a_baseline_and_ours_must_beat_all() -> None:
    errors = {DESCENT: [1.0, 3.0], MEAN: [2.0, 4.0], "slow": [1.5, 3.0], "fast": [9.0, 9.0]}
    groups = {DESCENT: [DESCENT], MEAN: [MEAN], "sgd": ["slow", "fast"]}
    found = Outcome("made up", 1.0, errors, groups)
    assert found.of("sgd") == [1.5, 3.0]
    assert found.ahead("sgd") == [0.5, 0.0]
    assert [line.met for line in lines([found])] == [True, True]
    worse = attrs.evolve(found, errors={**errors, "slow": [0.0, 3.5]})
    assert [line.met for line in lines([worse])] == [False, True]
    assert sorted({each.group for each in entrants(100)} & {DESCENT, "sgd 1/m"}) == [DESCENT, "sgd 1/m"]


# --- Fairness ---------------------------------------------------------------------------------------------------------


def test_only_features_of_one_length_bear_noise_alike(made_up: Regression) -> None:
    case = Case(made_up, "kind", 1.0, 0.5)
    assert training(case, 0).data.records == 108
    equal, cosines, linear = (gaps(case, kind, 2, 200, 200) for kind in ("unit modulus", "cosines", LINEAR))
    assert max(equal.theory) < 1e-12
    assert np.allclose(equal.risk, 1.0)
    assert min(cosines.theory) > 1e-6
    assert min(linear.theory) > 0.01
    rows = case.linear_rows()
    for group in ("a", "b"):
        part = rows[case.groups == group]
        assert np.allclose([part[:, :2].min(axis=0), part[:, :2].max(axis=0)], [[0.0, 0.0], [1.0, 1.0]])
        assert np.all(part[:, -1] == 1.0)


def test_rls_has_no_epsilon_and_a_bound_only_were_its_scales_public(made_up: Regression) -> None:
    """A record replaced moves it less than its label says, where scales are those of D."""
    case = Case(made_up, "kind", 1.0, 0.5)
    rows, labels = case.linear_rows(), case.data.labels / np.linalg.norm(case.data.labels)
    sigma, longest = noise_sigma(0.5), int(np.argmax(np.linalg.norm(rows, axis=1)))
    found = rls_epsilon(rows, sigma)
    shown = rls_bounds(case, 2)
    assert shown.title.endswith("no ε is true")
    largest = max(rls_epsilon(training(case, seed).linear_rows(), noise_sigma(1.0)) for seed in range(2))
    assert [cell.value for cell in numbers([line.found for line in shown.lines]) if cell.printed == 1.0] == [largest]
    own = case.fitted(LINEAR, rows, labels)
    for sign in (-1.0, 1.0):
        others, targets = rows.copy(), labels.copy()
        others[0], targets[0] = rows[longest], sign
        moved = float(np.linalg.norm(own - case.fitted(LINEAR, others, targets)))
        assert gaussian.epsilon(moved / sigma, DELTA) < found


def test_figure_9_has_quantiles_of_targets_and_outputs_by_group(made_up: Regression) -> None:
    case = Case(made_up, "kind", 1.0, 0.5)
    found = figure9(case, 200).rows
    names = [str(row[0]).split(" (")[0].split(",")[0] for row in found[::2]]
    assert names == ["targets", *DRAWN, RECOMMENDED.split(",")[0]]
    members = made_up.labels[made_up.table["kind"] == "b"]
    assert found[1][0] == "targets, b"
    assert [cell.value for cell in numbers(found[1][1:])] == np.quantile(members, QUANTILES).tolist()
    assert [str(found[row][0]).split(" (")[1] for row in (2, 4, 6, 8)] == [
        "ε = 0.5 given, true: none), a",
        "non-private), a",
        "ε = 0.5 given, true: none), a",
        "ε = 0.5), a",
    ]
    noisy, plain = numbers(found[2][1:])[-1], numbers(found[4][1:])[-1]
    assert noisy.value > 10.0 > plain.value > 0.0  # noise, and RLS without it in units of labels
    table = {name: np.tile(values, 4) for name, values in made_up.table.items()}
    more = attrs.evolve(made_up, table=table, labels=np.tile(made_up.labels, 4))
    groups = demographics(Case(more, "kind", 1.0, 0.5), 1.0, 2).rows
    assert [row[0] for row in groups] == ["kind a", "kind b"]
    assert sum(numbers(row[1:2])[0].value for row in groups) == 48


def test_table_2_has_what_is_printed_and_our_own_spread(made_up: Regression) -> None:
    own = Case(attrs.evolve(made_up, table={**made_up.table, "sex": made_up.table["kind"]}), "sex", 1.0, 0.5)
    rows = {str(name).split(" (")[0]: cells for name, *cells in table2(own, 2, 4, 100).rows}
    noisy, deviation = numbers(rows["DP-RF"][:2])
    assert (noisy.printed, deviation.printed) == (0.117, 0.047)
    assert noisy.spread is not None
    assert np.isclose(deviation.value, noisy.spread * np.sqrt(4.0 / 3.0))
    assert rows["targets"][1] == ""
    exact = statistical_parity(own.data.labels, own.groups)
    assert numbers(rows["targets"][2:3])[0].value == exact


# --- The data ---------------------------------------------------------------------------------------------------------


def test_data_sets_that_are_not_there_are_named(tmp_path: Path) -> None:
    setting = Setting(str(tmp_path), True, tmp_path)
    for part in (random_features.parts(setting)[0], fairness.parts(setting)[0]):
        with pytest.raises(DataNotFound, match=r"insurance\.csv"):
            part.make()


def test_parts_have_names_of_their_own_whatever_is_asked(tmp_path: Path) -> None:
    for module in (random_features, fairness):
        for quick in (True, False):
            names = [part.name for part in module.parts(Setting(None, quick, tmp_path))]
            assert len({slug(name) for name in names}) == len(names)


def test_speed_is_asked_of_large_problems_only() -> None:
    asked = {judged: [line.met for line in gram(50, 100, 1, judged).lines if line.asked] for judged in (True, False)}
    assert asked[False] == [None, None]
    assert None not in asked[True]


def test_memory_is_that_of_a_process_of_its_own() -> None:
    (part,) = random_feature_memory.parts(Setting(None, True, Path()))[:1]
    lines = {line.what: line for table in part.make() if isinstance(table, Report) for line in table.lines}
    (asked,) = (line for line in lines.values() if line.asked)
    (added,) = numbers([asked.found])
    assert 0.0 < added.value < random_feature_memory.MOST
    assert asked.met


@pytest.mark.data
@NEEDS_DATA
def test_public_bounds_hold_all_values() -> None:
    for data, records in ((medical(), 1338), (wine(), 6497), (red_wine(), 1599)):
        assert data.records == records
        assert data.bounds[0] <= data.labels.min() <= data.labels.max() <= data.bounds[1]
        for column in data.schema.columns:
            values = data.table[column.name]
            if isinstance(column, Numeric):
                assert np.array_equal(column.inside(values), values), column.name
            else:
                assert set(values.tolist()) <= set(column.values()), column.name
    assert medical().plain().shape == (1338, 11)
    assert wine().plain().shape == (6497, 11)
