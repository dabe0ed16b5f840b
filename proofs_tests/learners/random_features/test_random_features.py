"""Random feature estimators: what they cost, what they keep, and that they learn."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    NoBound,
    ReplaceOne,
    Unbounded,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.costs import gaussian
from accountant.costs.cost_kinds import ZCDP
from learners import (
    SGD,
    Boolean,
    Categorical,
    Descent,
    MinNorm,
    Numeric,
    Published,
    RandomFeatureClassifier,
    RandomFeatureMap,
    RandomFeatureRegressor,
    Schema,
)
from learners.random_features.estimators import SolverName, solver_of
from proofs_tests.harness import Pair, TranscriptNoise, check_transcripts, transcript_mu
from proofs_tests.support.learners.waves import (
    BOX,
    DELTA,
    EPSILON,
    GAUSSIAN,
    PURE,
    Data,
    regressor,
    waves,
)

# --- the cost is what the ledger says ----------------------------------------------------------------------------


def nasty_pairs(records: int = 12) -> list[Pair[Data]]:
    """Neighbours in which the proof of 004 breaks: close rows, equal rows, constant columns, extreme labels."""
    X, y = waves(records)
    close, equal, flat = X.copy(), X.copy(), np.full_like(X, 0.25)
    close[1] = close[0] + 1e-7
    equal[1:] = equal[0]
    pairs = []
    for points in (X, close, equal, flat):
        for place, row, label in ((0, points[1], -1.0), (records - 1, np.array([1.0, -1.0]), 1.0)):
            other, labels = points.copy(), np.where(np.arange(records) == place, label, y)
            other[place] = row
            pairs.append(Pair((points, np.where(np.arange(records) == place, -label, y)), (other, labels)))
    return pairs


@pytest.mark.parametrize("solver", GAUSSIAN, ids=str)
def test_no_pair_passes_what_was_charged(solver: SolverName) -> None:
    """μ along transcripts of the whole fit, on pairs that break the published proof, against what (ε, δ) allows."""

    def learn(data: Data, noise: TranscriptNoise) -> None:
        regressor(solver, random_state=noise).fit(*data)

    report = check_transcripts(str(solver), learn, nasty_pairs(), GDP(gaussian.mu(EPSILON, DELTA)), transcripts=2)
    assert report.found > 0.0


@pytest.mark.parametrize("solver", ["descent", "min-norm", SGD(rate=1.0, clip=0.1)], ids=str)
def test_what_is_charged_is_nearly_reached(solver: SolverName) -> None:
    """Budget is not wasted: a pair comes to nine tenths of μ, and of a descent each round to all that it takes."""
    X, y = waves(12)
    if solver == "descent":
        solver = Descent(rounds=3, standardise=False)
    one, other = y.copy(), y.copy()
    one[-1], other[-1] = 1.0, -1.0

    def learn(data: Data, noise: TranscriptNoise) -> None:
        scale = 30.0 if isinstance(solver, str) else 0.1  # far rows interpolate; close ones all pull alike
        regressor(solver, random_state=noise, scale=scale).fit(*data)

    if solver == "min-norm":
        one, other = np.ones(12), -np.ones(12)  # no neighbours, but a ball has no larger distances
    share = transcript_mu(learn, Pair((X, one), (X, other)), 0) / gaussian.mu(EPSILON, DELTA)
    assert (0.5 if solver == "min-norm" else 0.9) < share <= 1.0


def test_the_kit_sees_a_learner_that_charges_a_tenth_too_little() -> None:
    X, y = waves(12)
    one, other = y.copy(), y.copy()
    one[-1], other[-1] = 1.0, -1.0

    def learn(data: Data, noise: TranscriptNoise) -> None:
        regressor(SGD(rate=1.0, clip=0.1), random_state=noise).fit(*data)

    with pytest.raises(AssertionError, match=": refuted;"):
        check_transcripts("sgd", learn, [Pair((X, one), (X, other))], GDP(0.9 * gaussian.mu(EPSILON, DELTA)))


@pytest.mark.parametrize("solver", [*GAUSSIAN, *PURE], ids=str)
def test_the_books_hold_what_was_asked_for(solver: SolverName) -> None:
    ledger = Ledger(ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=ReplaceOne())
    model = regressor(solver, ledger=ledger).fit(*waves(30))
    assert isinstance(ledger.spent, ApproxDP)
    assert 0.999 * EPSILON <= ledger.spent.epsilon <= EPSILON
    assert ledger.spent.delta <= DELTA
    assert len(model.receipts_) == len([entry for entry in ledger.entries if entry.kind == "charged"]) == 1
    ledger.verify()


def test_a_tenth_of_the_budget_buys_the_moments() -> None:
    """Of μ²; the rest is one gradient's, a hundred times."""
    noise = TranscriptNoise(0)
    regressor(random_state=noise).fit(*waves(50))
    moments, *gradients = noise.releases
    assert len(gradients) == 100
    whole = gaussian.mu(EPSILON, DELTA) ** 2
    assert (2.0 * math.sqrt(3.0) / moments.sigma) ** 2 == pytest.approx(0.1 * whole, rel=1e-3)
    assert sum((2.0 / each.sigma) ** 2 for each in gradients) == pytest.approx(0.9 * whole, rel=1e-3)


def test_the_ball_is_where_concentrated_features_put_the_coefficients() -> None:
    """√(m/(1 − 2η)) for features of length 1, √2 times that for cosines. 004, Lemma 9."""
    for feature_map, radius in (("fourier", 20.0), ("cosine", 20.0 * math.sqrt(2.0))):
        features = RandomFeatureMap("gaussian", feature_map, 2, 500, 1.0, 0)  # type: ignore[arg-type]  # literals
        assert MinNorm(eta=0.375).radius(100, features) == pytest.approx(radius)


@pytest.mark.parametrize("solver", PURE, ids=str)
def test_pure_solvers_keep_pure_privacy(solver: SolverName) -> None:
    model = regressor(solver, delta=0.0).fit(*waves(30))
    assert model.statement_.spent.startswith("pure-dp")


def test_a_zcdp_ledger_pays_too() -> None:
    ledger = Ledger(ZCDP(2.0), composition=ZCDPComposition(), adjacency=ReplaceOne())
    regressor("descent", ledger=ledger).fit(*waves(50))
    assert isinstance(ledger.spent, ZCDP)
    assert 0.0 < ledger.spent.rho <= 2.0


def test_a_fit_that_cannot_be_paid_charges_nothing() -> None:
    ledger = Ledger(ApproxDP(0.5, 1e-4), composition=BasicComposition(), adjacency=ReplaceOne())
    for solver in (*GAUSSIAN, *PURE):
        with pytest.raises(BudgetExceeded):
            regressor(solver, ledger=ledger).fit(*waves(30))
    assert ledger.spent == ApproxDP(0.0, 0.0)


# --- as published: not private ----------------------------------------------------------------------------------------


def test_the_published_one_is_booked_without_bound() -> None:
    model = regressor("published", feature_map="complex").fit(*waves(15))
    assert model.statement_.heading == "not private"
    assert model.statement_.spent == "unbounded"
    assert not model.statement_.promises
    assert isinstance(model.ledger_.spent, Unbounded)
    assert any("PublishedRandomFeatures" in mechanism for _, mechanism, *_ in model.statement_.rows)


@pytest.mark.parametrize("composition", [BasicComposition(), ZCDPComposition()])
def test_no_finite_budget_pays_for_the_published_one(composition: BasicComposition | ZCDPComposition) -> None:
    ledger = Ledger(ApproxDP(1e9, 0.9), composition=composition, adjacency=ReplaceOne())
    with pytest.raises(UnsupportedCost, match="no finite budget"):
        regressor("published", ledger=ledger).fit(*waves(15))
    assert not [entry for entry in ledger.entries if entry.kind == "charged"]


def test_a_ledger_without_bound_takes_the_published_one() -> None:
    ledger = Ledger(Unbounded(), composition=NoBound(), adjacency=ReplaceOne())
    regressor("published", ledger=ledger).fit(*waves(15))
    assert len([entry for entry in ledger.entries if entry.kind == "charged"]) == 1
    ledger.verify()


def test_a_complex_models_imaginary_part_is_published_exactly() -> None:
    """[004-Alg1] One record: Im c_k is known to the last bits, whatever the noise."""
    X, y = np.array([[0.3, -0.4]]), np.array([0.5])
    fits = [regressor("published", feature_map="complex", random_state=seed, epsilon=0.01).fit(X, y) for seed in (1, 2)]
    imaginary = [fit.coef_[20:] for fit in fits]
    assert np.array_equal(imaginary[0], imaginary[1])
    assert np.any(imaginary[0] != 0.0)
    ours = [regressor("min-norm", feature_map="complex", random_state=seed).fit(X, y).coef_[20:] for seed in (1, 2)]
    assert not np.any(ours[0] == ours[1])


def test_the_printed_noise_is_what_the_paper_prints() -> None:
    """σ² = 8 ln(1.25/δ)/(ε²N(1 − 2η)) for features of modulus 1, here N times that; the code's Δ is 4/√N at η = 3/8."""
    sigma, _ = Published().sigma(1000, 1.0, 1e-5)
    assert sigma**2 / 1000 == pytest.approx(8.0 * math.log(1.25e5) / (1000 * 0.25))
    code, sensitivity = Published(code=True).sigma(1000, 1.0, 1e-5)
    assert sensitivity / math.sqrt(2.0) == pytest.approx(4.0 / math.sqrt(1000))
    assert sigma / code == pytest.approx(math.sqrt(500.0))  # short by √N, of which the scale of the features takes √2


# --- it learns --------------------------------------------------------------------------------------------------------


def test_the_recommended_one_beats_the_baselines_and_the_mean() -> None:
    """On 4,000 records of a product of waves, at ε = 1; the others as they come."""
    X, y = waves(4000)
    test = waves(1000, 1)
    scores = {
        str(solver): regressor(solver, n_components=60, scale=1.5).fit(X, y).score(*test)
        for solver in ("descent", "adassp", "sgd", "ridge", "objective")
    }
    best = scores.pop("descent")
    assert best > 0.9
    assert best > max(scores.values())


def test_min_norm_without_noise_is_the_interpolant() -> None:
    """At ε = 10⁶ and N >> m: predictions on the training points are the labels, as the ball leaves c where it is."""
    X, y = waves(20)
    for route in ("gram", "pinv", "kaczmarz"):
        model = regressor(MinNorm(route=route), epsilon=1e6, n_components=2000, scale=20.0).fit(X, y)
        assert model.predict(X) == pytest.approx(y, abs=0.05)


@pytest.mark.parametrize("feature_map", ["cosine", "complex"])
def test_min_norm_interpolates_with_other_feature_maps(feature_map: str) -> None:
    X, y = waves(20)
    model = regressor("min-norm", feature_map=feature_map, epsilon=1e6, n_components=3000, scale=20.0).fit(X, y)
    assert model.predict(X) == pytest.approx(y, abs=0.05)


def test_min_norm_at_a_useful_epsilon_is_noise() -> None:
    """[004-Thm12] 8A at every N: worse than predicting 0. That is why it is not recommended."""
    X, y = waves(100)
    model = regressor("min-norm", n_components=400, scale=20.0).fit(X, y)
    assert np.mean((model.predict(X) - y) ** 2) > np.mean(y**2)


def test_the_classifier_learns_a_disc() -> None:
    X, _ = waves(4000)
    y = np.where(np.sum(X**2, axis=1) < 0.6, "in", "out")
    model = RandomFeatureClassifier(1.0, 1e-5, schema=BOX, classes=("out", "in"), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert set(model.predict(X)) == {"in", "out"}
    assert np.all(np.abs(model.decision_function(X)) <= 1.0)


def test_predictions_stay_within_the_bounds() -> None:
    X, y = waves(200)
    model = regressor("adassp", label_bounds=(-0.3, 0.2), n_components=5).fit(X, y)
    assert np.all((model.predict(X) >= -0.3) & (model.predict(X) <= 0.2))


def test_labels_beyond_their_bounds_are_moved_to_the_nearest() -> None:
    X, y = waves(50)
    wild = np.where(np.arange(50) == 3, 1e12, y)
    tame = np.where(np.arange(50) == 3, 1.0, y)
    assert np.array_equal(regressor().fit(X, wild).coef_, regressor().fit(X, tame).coef_)


def test_tables_with_categories() -> None:
    """One-hot, by a schema; constant columns are fine."""
    rng = np.random.default_rng(0)
    n = 3000
    table = {
        "age": rng.uniform(18, 65, n), "job": rng.choice(["a", "b", "c"], n), "smoker": rng.integers(0, 2, n),
        "same": np.full(n, 3.0),
    }  # fmt: skip
    y = 0.01 * table["age"] + 0.5 * table["smoker"] - 0.2 * (table["job"] == "b")
    schema = Schema(
        (Numeric("age", 18, 65), Categorical("job", ("a", "b", "c")), Boolean("smoker"), Numeric("same", 0, 10))
    )
    model = regressor(schema=schema, label_bounds=(0.0, 1.5), n_components=100).fit(table, y)
    assert model.score(table, y) > 0.9
    assert model.n_features_in_ == 4


# --- one seed, one model; and files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [*GAUSSIAN, *PURE, "published"], ids=str)
def test_a_saved_model_predicts_as_it_did(solver: SolverName, tmp_path: Path) -> None:
    X, y = waves(30)
    model = regressor(solver).fit(X, y)
    model.save(tmp_path / "model.json")
    again = RandomFeatureRegressor.load(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.statement_ == model.statement_
    assert again.parameters_ == model.parameters_
    assert solver_of(again.solver) == solver_of(solver)
    assert not hasattr(again, "classes_")


def test_a_saved_classifier_predicts_as_it_did(tmp_path: Path) -> None:
    X, y = waves(60)
    model = RandomFeatureClassifier(1.0, 1e-5, schema=BOX, n_components=9, random_state=0).fit(X, (y > 0).astype(int))
    model.save(tmp_path / "model.json")
    again = RandomFeatureClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.classes_.tolist() == [0, 1]


def test_a_published_model_does_not_come_back_with_a_promise(tmp_path: Path) -> None:
    """Whichever part of the file is exchanged for that of a private model."""
    good, bad, forged = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "forged.json"
    regressor("min-norm").fit(*waves(15)).save(good)
    regressor("published").fit(*waves(15)).save(bad)
    private, published = json.loads(good.read_text()), json.loads(bad.read_text())
    solver = private["parameters"]["solver"]
    swapped = [
        {**published, "statement": private["statement"]},
        {**published, "statement": {**published["statement"], "private": True}},
        {**published, "parameters": {**published["parameters"], "solver": solver}},
        {**published, "model": {**published["model"], "solver": solver}},
    ]
    for record in swapped:
        forged.write_text(json.dumps(record))
        with pytest.raises(ValueError, match=r"contradicts itself|promises"):
            RandomFeatureRegressor.load(forged)
    assert RandomFeatureRegressor.load(bad).statement_.heading == "not private"


@pytest.mark.parametrize(
    "change",
    [
        {"coefficients": [0.0]},
        {"target_scale": 0.0},
        {"target_centre": math.inf},
        {"reference": "sphere"},
        {"bounds": [1.0, 1.0]},
        {"centre": [0.0]},
    ],
)
def test_forged_files_are_refused(change: Mapping[str, object], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    regressor().fit(*waves(30)).save(path)
    record = json.loads(path.read_text())
    record["model"].update(change)
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"model\.json"):
        RandomFeatureRegressor.load(path)


def test_one_seed_gives_one_model_and_another_another() -> None:
    X, y = waves(60)
    assert np.array_equal(regressor().fit(X, y).coef_, regressor().fit(X, y).coef_)
    assert not np.array_equal(regressor().fit(X, y).coef_, regressor(random_state=1).fit(X, y).coef_)
    assert not np.array_equal(regressor().fit(X, y).coef_, regressor(feature_seed=1).fit(X, y).coef_)


def test_secure_noise_is_the_default() -> None:
    model = regressor(Descent(rounds=2), random_state=None, n_components=3).fit(*waves(60))
    assert model.statement_.heading == "privacy statement"
    assert model.statement_.private


# --- scikit-learn -----------------------------------------------------------------------------------------------------


def test_clones_keep_the_solver_and_the_ledger() -> None:
    ledger = Ledger(ApproxDP(9.0, 0.1), composition=BasicComposition(), adjacency=ReplaceOne())
    copy = clone(regressor(SGD(rate=0.25), ledger=ledger))
    assert copy.solver == SGD(rate=0.25)
    assert copy.ledger is ledger


def test_gamma_is_min_norm_with_other_noise() -> None:
    assert solver_of("gamma") == MinNorm(gamma=True)
    assert solver_of({"name": "min-norm", "gamma": True, "eta": 0.25}) == MinNorm(eta=0.25, gamma=True)
