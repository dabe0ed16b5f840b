"""Parts of the additive regression: functions on grids, distances of labels, losses, the last line, intervals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import GDP, AddRemoveOne, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from learners import Boolean, Categorical, Numeric, PrivateBoostRegressor, Schema
from learners.encoding import finely_cut
from learners.regression.descent import Descent
from learners.regression.label_place import label_place
from learners.regression.label_scale import SCALES, SIDE, deviation, distances, edges, fine_edges, signed_distances
from learners.regression.regression_design import RegressionDesign, noise_of
from learners.regression.regression_losses import LOSSES, MOST_LOG_RATE, TARGET_ONE, whole_targets
from learners.regression.regression_model import ResidualHistogram
from learners.regression.regression_records import Placed, ScoreFeatures, in_clips
from learners.regression.score_correction import ScoreLine
from learners.regression.smooth_basis import PAIR_GRID, all_pairs, bases, most_likely_pairs, pair_basis
from mechanisms import SeededNoise
from mechanisms.gradients import FEATURE_ONE, RESIDUAL_ONE, CellFeatures, whole_features

SCHEMA = finely_cut(
    Schema(
        (
            Numeric("wide", -1e6, 1e6),
            Numeric("few", 0.0, 3.0, cuts=(1.0, 2.0)),
            Categorical("kind", ("a", "b", "c", "d")),
            Categorical("two", ("no", "yes")),
            Boolean("flag"),
        )
    )
)


def noisy(seed: int, sigma: float) -> np.ndarray:
    """Counts of cells, some columns nearly empty or all in one cell, with noise."""
    rng = np.random.default_rng(seed)
    counts = rng.normal(0.0, sigma, (len(SCHEMA.columns), 256))
    counts[:, 0] += 1000.0 * (seed % 3)
    counts[0, 100:110] += 50.0
    return counts


@given(st.integers(0, 30), st.sampled_from([1e-3, 1.0, 100.0, 1e5]))
def test_features_are_no_longer_than_1_whatever_noise_says(seed: int, sigma: float) -> None:
    """Else a fit would stop in its midst, charged."""
    columns = bases(SCHEMA, noisy(seed, sigma), sigma)
    descent = Descent.start(columns)
    strength = np.abs(np.random.default_rng(seed).normal(size=len(columns)))
    strength /= strength.sum()
    for stage in (0, 1):
        if stage:
            strength = strength if seed % 4 else np.zeros(len(columns))
            chosen = most_likely_pairs(strength, all_pairs(len(columns)), 4)
            pairs = [pair_basis(columns[a], columns[b], SCHEMA) for a, b in chosen]
            descent.second([pair for pair in pairs if pair is not None], strength, chosen)
        assert float(descent.shares.sum()) == pytest.approx(1.0)
        longest = sum(
            CellFeatures(np.zeros(0, dtype=np.intp), whole_features(each.values * scaled)).longest
            for each, scaled in zip(descent.seen, descent.scaled(), strict=True)
        )
        assert longest <= FEATURE_ONE**2
        assert all(np.all(np.isfinite(each.values)) for each in descent.seen)


def test_pairs_are_coarse_and_of_strong_columns_only() -> None:
    columns = bases(SCHEMA, noisy(1, 1.0), 1.0)
    pair = pair_basis(columns[0], columns[2], SCHEMA)
    assert pair is not None
    assert pair.shape == (PAIR_GRID, 4)
    assert pair.values.shape == (PAIR_GRID * 4, 2 * 4)
    codes = np.array([[0, 255, 100], [0, 1, 2], [3, 0, 1], [0, 0, 0], [0, 1, 1]])
    assert pair.cells(codes)[:2].tolist() == [3, 4 * (PAIR_GRID - 1)]
    strength = np.array([0.5, 0.0, 0.3, 0.2, 0.0])
    assert most_likely_pairs(strength, all_pairs(5), 2) == [(0, 2), (0, 3)]
    assert most_likely_pairs(strength, all_pairs(5), 99) == [(0, 2), (0, 3), (2, 3)]
    assert most_likely_pairs(np.array([1.0, 0.0, 0.0]), all_pairs(3), 2) == [(0, 1), (0, 2)]


def test_a_design_spends_all_of_its_budget_at_the_noise_that_it_names() -> None:
    for adjacency in (AddRemoveOne(), ReplaceOne()):
        for loss in LOSSES:
            for intervals in (0.0, 0.3):
                design = RegressionDesign(SCHEMA, (0.0, 1.0), adjacency, loss, SeededNoise(0), (), intervals)
                plan = design.plan(0.5)
                costs = [(step.rounds, step.cost) for step in plan.steps]
                spent = sum(rounds * cost.mu**2 for rounds, cost in costs if isinstance(cost, GDP))
                assert spent == pytest.approx(0.25)
                assert plan.price(1e-6).best.epsilon == pytest.approx(gaussian.epsilon(0.5, 1e-6), rel=1e-3)
                assert noise_of(design.gradients(0.5, 1)) > 0.0


@given(st.floats(3e-3, 2.0), st.integers(0, 9))
def test_deviations_are_found_at_every_scale(scale: float, seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.0, scale, 20_000)
    data = distances(values, 4.0)
    counts = np.bincount(data.partitions[0], minlength=SCALES).astype(float)
    counts += np.random.default_rng(seed).normal(0.0, 20.0, SCALES)
    assert deviation(counts, 20.0, 4.0) == pytest.approx(scale, rel=0.15)
    assert edges(4.0)[0] <= deviation(np.zeros(SCALES), 1.0, 4.0) <= 4.0


def test_distances_have_their_cells() -> None:
    assert distances(np.array([0.0, -9.0, 4.0, 2.0, 2.1]), 4.0).partitions[0].tolist() == [
        0,
        SCALES - 1,
        SCALES - 1,
        SCALES - 3,
        SCALES - 2,
    ]
    signed = signed_distances(np.array([-99.0, -0.0, 0.0, 99.0]), 4.0)
    assert signed.partitions[0].tolist() == [0, SIDE, SIDE, 2 * SIDE - 1]
    assert signed.number == 2 * SIDE


def test_targets_and_residuals_are_whole_and_stay_in_their_clips() -> None:
    assert whole_targets(np.array([0.5, 1.0, 1e300]), 0.5, 0.25).tolist() == [0, 2 * TARGET_ONE, 2**30]
    assert in_clips(np.array([-9.0, -0.5, 0.25, 1e300]), 1.0).tolist() == [
        -RESIDUAL_ONE,
        -RESIDUAL_ONE // 2,
        RESIDUAL_ONE // 4,
        RESIDUAL_ONE,
    ]


def test_rates_are_exponentials_of_scores() -> None:
    loss, scores = LOSSES["poisson"], np.array([-(10**9), -TARGET_ONE, 0, TARGET_ONE, 10**9])
    rates = loss.expected(scores) / TARGET_ONE
    assert rates[1:4] == pytest.approx(np.exp([-1.0, 0.0, 1.0]), rel=1e-3)
    assert rates[4] == pytest.approx(np.exp(MOST_LOG_RATE / TARGET_ONE), rel=1e-3)
    assert loss.spread(scores)[3] == pytest.approx(np.exp(0.5), rel=1e-3)
    assert np.array_equal(LOSSES["squared"].expected(scores), scores)


def test_features_of_scores_hang_on_their_bins() -> None:
    features = ScoreFeatures(8, np.arange(4)[:, np.newaxis])
    found = features.of(np.array([-99, -8, -5, -4, -1, 0, 7, 99]))
    assert found.cells.tolist() == [0, 0, 0, 1, 1, 2, 3, 3]


class Quiet:
    """Pays for nothing, and adds no noise."""

    def release(self, mechanism: object, data: object) -> object:
        return mechanism.query.evaluate(data)  # type: ignore[attr-defined]  # a plain one


class Open:
    """Records that nobody seals."""

    def __init__(self, data: object) -> None:
        self.data = data

    def map(self, view: object) -> object:
        return view(self.data)  # type: ignore[operator]  # what a ledger opens


def test_the_line_finds_a_shift_and_a_stretch() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(-1500, 1500, 50_000)
    targets = np.rint(1.3 * scores + 200 + rng.normal(0.0, 300.0, scores.size)).astype(np.int64)
    placed = Placed(targets, [np.arange(scores.size)], None)
    design = RegressionDesign(SCHEMA, (0.0, 1.0), AddRemoveOne(), "squared", SeededNoise(0))
    line = ScoreLine.of(design.rule, 4.0, float(scores.size))
    found = line.released(Open(placed), [scores], design, 1.0, Quiet())  # type: ignore[arg-type]  # stands for a spender
    assert found.slope == pytest.approx(0.3, abs=0.02)
    assert found.shift * TARGET_ONE == pytest.approx(200.0, abs=10.0)


def test_intervals_are_quantiles_and_wide_where_noise_hides_them() -> None:
    values = np.random.default_rng(0).normal(size=100_000)
    cells = signed_distances(values, 8.0).partitions[0]
    counts = np.bincount(cells, minlength=2 * SIDE).astype(float)
    lower, upper = ResidualHistogram(8.0, tuple(counts), 1.0).within(0.9)
    assert -lower == pytest.approx(1.645, rel=0.13)
    assert upper == pytest.approx(1.645, rel=0.13)
    assert lower in -fine_edges(8.0)
    assert ResidualHistogram(8.0, tuple(counts / 1e4), 1e3).within(0.9) == (-np.inf, np.inf)
    skewed = np.where(np.arange(2 * SIDE) < SIDE, 0.0, counts)
    one, other = ResidualHistogram(8.0, tuple(skewed), 1.0).within(0.9)
    assert -one < 0.1 < other


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_noise_hides_are_taken_for_usual_ones(seed: int) -> None:
    """300 records under σ of thousands: a model that is no worse than a constant by much, not 20 records' pull."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(300, 2))
    y = np.clip(0.2 + 0.2 * rng.normal(size=300), -1.0, 1.0)
    schema = Schema((Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)))
    model = PrivateBoostRegressor(0.01, 1e-6, label_bounds=(-1.0, 1.0), schema=schema, random_state=seed).fit(X, y)
    assert np.max(np.abs(model.predict(X))) < 0.8
    assert np.mean((model.predict(X) - y) ** 2) < 10.0 * np.var(y)


@pytest.mark.parametrize(("noise", "kept"), [(0.0, 1.0), (0.15, 0.5), (0.3, 0.2), (1e9, 0.0)])
def test_the_last_shift_is_weighed_by_its_noise(noise: float, kept: float) -> None:
    """noise: of a mean residual, in units of the labels' scale. A usual shift is 0.15 of it: there half is kept."""
    line = ScoreLine.of(LOSSES["squared"], 4.0, 1000.0)
    found = line._solved(np.array([0.0, 0.1]) * 1000.0, np.array([0.2, 0.0]) * 1000.0, (noise * 1000.0, 1.0))
    assert found.shift == pytest.approx(0.2 * kept, abs=1e-9)
    assert found.slope == 0.0


class Scripted:
    """A sample of which nothing is asked, and a spender whose releases are these, in their order."""

    def __init__(self, *released: FloatArray) -> None:
        self.released = list(released)

    def map(self, transform: object) -> "Scripted":
        return self

    def release(self, mechanism: object, records: object) -> FloatArray:
        return self.released.pop(0)


def test_a_second_mean_is_believed_by_what_the_first_left_unsure() -> None:
    """The first mean has noise of 0.35, as much as labels' means differ a priori: half of it is taken."""
    design = RegressionDesign(Schema((Numeric("a", 0.0, 1.0),)), (-1.0, 1.0), AddRemoveOne(), "squared", SeededNoise(0))
    weight = noise_of(design.middle(0.1)) / 0.35
    sigma, counts = noise_of(design.distances(0.1)), np.zeros((1, SCALES))
    counts[0, 10] = 1e9
    told = weight / (weight + 5.0 * sigma)
    clip = 3.0 * deviation(counts[0], sigma, 2.0) ** told * 0.3 ** (1.0 - told)
    assert 0.1 < clip < 1.0
    pulls = [np.array([0.3 * weight]), counts, np.array([0.2 * weight]), counts]
    script: Any = Scripted(*pulls)
    place = label_place(script, design, 0.1, weight, script)
    second = 0.5 / (0.5 + clip**2)
    assert place.centre == pytest.approx(0.5 * 0.3 + second * 0.2 * clip)
    usual = deviation(counts[0], sigma, 2.0 * clip) ** told * (0.3 * clip) ** (1.0 - told)
    assert place.scale == pytest.approx(usual)
