"""PrivateBoostClassifier: what it costs, what it learns, what it refuses, and what stays when it is done."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.costs import gaussian
from exchequer.datasets import adult, breast_cancer, data_folder
from learners import Categorical, Numeric, PrivateBoostClassifier, Schema
from learners.additive.additive_model import SLOPE, AdditiveModel, linked
from learners.additive.private_boost import Promise
from learners.additive.weighted_tables import whole_weights
from mechanisms.gradients.gradient_sums import CLIP, CURVATURE_SCALE, ONE, WEIGHT_ONE
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface
from proofs_tests.support.ledgers.separate import separate
from proofs_tests.support.ledgers.settled import settled

SCHEMA = Schema((Numeric("age", 0, 100), Categorical("job", ("clerk", "smith", "cook")), Numeric("pay", 0, 1e6)))


def people(n: int, seed: int, classes: int = 2) -> tuple[dict[str, npt.NDArray[np.generic]], npt.NDArray[np.intp]]:
    """A table whose classes follow from age and job."""
    rng = np.random.default_rng(seed)
    age, job = rng.uniform(0, 100, n), rng.integers(0, 3, n)
    table = {"age": age, "job": np.array(["clerk", "smith", "cook"])[job], "pay": rng.lognormal(9, 1, n)}
    score = 3.0 * (age > 60) + 2.0 * (job == 1) - 2.0 + rng.logistic(size=n)
    if classes == 2:
        return table, (score > 0).astype(np.intp)
    return table, np.digitize(score, [-1.0, 2.0])


X, Y = people(4000, 0)


def fitted(epsilon: float = 1.0, seed: int = 0, **parameters: object) -> PrivateBoostClassifier:
    settings: dict[str, object] = {"schema": SCHEMA, "random_state": seed, **parameters}
    return PrivateBoostClassifier(epsilon, **settings).fit(X, Y)  # type: ignore[arg-type]  # mixed on purpose


# --- what it costs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("adjacency", "relation"), [("add-remove-one", AddRemoveOne()), ("replace-one", ReplaceOne())])
def test_the_books_hold_one_entry_of_just_the_budget(adjacency: Promise, relation: AddRemoveOne | ReplaceOne) -> None:
    model = fitted(0.7, adjacency=adjacency)
    spent = model.ledger_.spent
    assert isinstance(spent, ApproxDP)
    assert 0.7 * (1 - 1e-5) < spent.epsilon <= 0.7
    assert spent.delta == 1e-6
    assert sum(entry.kind == "charged" for entry in model.ledger_.entries) == 1
    assert relation.name in str(model.statement_)
    assert settled(model.ledger_)


def test_noise_is_what_gaussian_composition_allows_and_no_less() -> None:
    """T rounds of μ and one of the histograms add up to the μ of (ε, δ)."""
    for interactions, rounds in (((), 8 * 3), ("auto", 8 * 3 * 3), ([("age", "job")], 8 * 4)):
        model = fitted(1.0, interactions=interactions)
        sensitivity = np.sqrt((CLIP / ONE) ** 2 + (CURVATURE_SCALE / 4) ** 2)
        mu = sensitivity * model.eta_ * np.sqrt(rounds) / np.sqrt(1 - 0.03)
        assert mu == pytest.approx(gaussian.mu(1.0, 1e-6), rel=1e-5)


def test_replacing_a_record_takes_twice_the_noise_less_the_curvatures_share() -> None:
    """√(4C² + c²/16) against √(C² + c²/16)."""
    ratio = fitted(adjacency="add-remove-one").eta_ / fitted(adjacency="replace-one").eta_
    clip, bend = (CLIP / ONE) ** 2, CURVATURE_SCALE**2 / 16
    assert ratio == pytest.approx(np.sqrt((4 * clip + bend) / (clip + bend)), rel=1e-5)


def test_a_ledger_of_ones_own_pays_or_refuses() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    model = PrivateBoostClassifier(0.6, 1e-5, schema=SCHEMA, ledger=ledger, random_state=0).fit(X, Y)
    before = ledger.spent
    with pytest.raises(BudgetExceeded):
        clone(model).set_params(epsilon=0.9).fit(X, Y)
    assert ledger.spent == before
    other = Ledger(ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(AdjacencyMismatch):
        PrivateBoostClassifier(0.6, 1e-5, schema=SCHEMA, ledger=other, random_state=0).fit(X, Y)
    assert other.spent == ApproxDP(0.0, 0.0)


# --- what it learns --------------------------------------------------------------------------------------------


def test_it_finds_what_matters_and_explains_it() -> None:
    curves = fitted(3.0).explain()
    assert {curve.columns for curve in curves[:2]} == {("age",), ("job",)}
    job = next(curve for curve in curves if curve.columns == ("job",))
    assert job.cells[int(np.argmax(job.effects))] == ("smith",)


@separate
def test_secure_noise_is_the_default_and_the_statement_says_so() -> None:
    model = PrivateBoostClassifier(2.0, schema=SCHEMA).fit(X, Y)
    assert "simulation" not in str(model.statement_)
    assert model.score(*people(2000, 1)) > 0.75
    assert not np.array_equal(model.decision_function(X), clone(model).fit(X, Y).decision_function(X))


def test_the_same_seed_gives_the_same_model_and_order_of_records_does_not_matter() -> None:
    order = np.random.default_rng(1).permutation(Y.size)
    shuffled = {name: values[order] for name, values in X.items()}
    again = PrivateBoostClassifier(1.0, schema=SCHEMA, random_state=0).fit(shuffled, Y[order])
    assert np.array_equal(fitted().decision_function(X), again.decision_function(X))


def test_three_classes_under_one_budget() -> None:
    table, y = people(6000, 2, classes=3)
    model = PrivateBoostClassifier(2.0, schema=SCHEMA, classes=(0, 1, 2), random_state=0).fit(table, y)
    held, truth = people(3000, 3, classes=3)
    assert model.decision_function(held).shape == (3000, 3)
    assert model.predict_proba(held).sum(axis=1) == pytest.approx(1.0)
    best = max(np.mean(truth == k) for k in range(3))
    assert model.score(held, truth) > best + 0.15
    assert roc_auc_score(truth, model.predict_proba(held), multi_class="ovr") > 0.77
    spent = model.ledger_.spent
    assert isinstance(spent, ApproxDP)
    assert spent.epsilon <= 2.0


def test_a_pair_of_columns_learns_what_neither_tells() -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 2, 6000), "b": rng.integers(0, 2, 6000)}
    y = table["a"] ^ table["b"]
    schema = Schema.boolean(["a", "b"])
    alone = PrivateBoostClassifier(2.0, schema=schema, interactions=(), random_state=0).fit(table, y)
    assert alone.score(table, y) < 0.6
    for interactions in ([("a", "b")], "auto"):
        paired = PrivateBoostClassifier(2.0, schema=schema, interactions=interactions, random_state=0).fit(table, y)
        assert paired.score(table, y) > 0.99
        assert paired.explain()[0].columns == ("a", "b")


@separate
def test_weights_count_as_shares_of_their_cap() -> None:
    """Records of weight 0 teach nothing; weight cap for all is no weights."""
    wrong = np.where(np.arange(Y.size) < 2000, Y, 1 - Y)
    weights = (np.arange(Y.size) < 2000) * 2.5
    model = PrivateBoostClassifier(3.0, schema=SCHEMA, weight_cap=2.5, random_state=0)
    assert model.fit(X, wrong, weights).score(X, Y) > 0.75
    even = clone(model).fit(X, Y, np.full(Y.size, 2.5))
    assert np.array_equal(even.decision_function(X), fitted(3.0).decision_function(X))


def test_probabilities_follow_the_clipped_loss() -> None:
    """Better than reading the score as log-odds, on records whose odds are known."""
    model = fitted(20.0)
    held, truth = people(20000, 5)
    share = model.predict_proba(held)[:, 1]
    naive = 1.0 / (1.0 + np.exp(-model.decision_function(held)))
    assert log_loss(truth, share) < log_loss(truth, naive)
    assert np.array_equal(model.predict(held), (share > 0.5).astype(int))


@pytest.mark.parametrize("slope", [0.0, SLOPE, 1.0])
def test_the_link_is_odd_rising_and_never_certain(slope: float) -> None:
    scores = np.linspace(-30.0, 30.0, 2001)
    share = linked(scores, slope)
    assert np.all(np.diff(share) >= 0.0)
    assert share + share[::-1] == pytest.approx(1.0)
    assert np.all((share > 0.0) & (share < 1.0) | (np.abs(scores) > 20))
    assert np.array_equal(share > 0.5, scores > 0.0)


def test_the_link_is_the_larger_of_what_the_score_and_the_loss_tell() -> None:
    told = CLIP / ONE / (CLIP / ONE + expit(-np.array([0.5, 2.0, 5.0, 9.0])))
    assert linked(np.array([2.0]), SLOPE) == pytest.approx(expit(1.4))
    assert linked(np.array([5.0, 9.0]), SLOPE) == pytest.approx(told[2:])
    assert linked(np.array([0.5, 2.0, 5.0, 9.0]), 0.0) == pytest.approx(told)


def test_models_saved_before_slopes_keep_their_probabilities() -> None:
    model = fitted(1.0).model_
    record = model.as_record()
    assert record.pop("slope") == SLOPE
    scores = np.linspace(-9.0, 9.0, 50)
    assert np.array_equal(AdditiveModel.from_record(record).probabilities(scores), linked(scores))
    assert np.array_equal(AdditiveModel.from_record(model.as_record()).probabilities(scores), linked(scores, SLOPE))
    for slope in (-1.0, np.inf, True, "0.7", None):
        with pytest.raises(ValueError, match="slope"):
            AdditiveModel.from_record({**record, "slope": slope})


def test_calibration_is_charged_and_makes_probabilities_of_scores() -> None:
    """On a fit too short to get far, probabilities follow the records; both directions keep to the charge."""
    held, truth = people(20000, 5)
    plain, calibrated = (fitted(3.0, rounds_per_column=1, calibration=share, interactions=()) for share in (0.0, 0.1))
    assert calibrated.eta_ < plain.eta_
    spent = calibrated.ledger_.spent
    assert isinstance(spent, ApproxDP)
    assert 3.0 * (1 - 1e-5) < spent.epsilon <= 3.0
    assert log_loss(truth, calibrated.predict_proba(held)[:, 1]) < log_loss(truth, plain.predict_proba(held)[:, 1])
    assert calibrated.score(held, truth) > plain.score(held, truth) - 0.01
    assert np.array_equal(calibrated.predict(held), (calibrated.predict_proba(held)[:, 1] > 0.5).astype(int))


def test_the_books_announce_every_query_with_its_noise() -> None:
    model = fitted(1.0, calibration=0.05, interactions=())
    books = "\n".join(str(entry) for entry in model.ledger_.entries)
    for said in ("logistic-gradients x 24", "histograms(2) x 2", "score-histogram x 1", "sigma of histograms(2)"):
        assert said in books
    assert {"clipped-gradients", "histograms", "score-histogram"} <= set(model.statement_.claims)


# --- what it refuses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"delta": 0.0}, "delta"),
        ({"adjacency": "neighbours"}, "adjacency"),
        ({"rounds_per_column": 0}, "rounds_per_column"),
        ({"interactions": [("age",)]}, "interactions"),
        ({"interactions": [("age", "height")]}, "height"),
        ({"weight_cap": -1.0}, "weight_cap"),
        ({"calibration": 1.0}, "calibration"),
        ({"tune": [{"epsilon": 3.0}]}, "tune"),
        ({"tune": [{"rounds_per_column": -1}]}, "tune"),
        ({"tune": {"rounds_per_column": 1}}, "tune"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_charged(parameters: dict[str, object], said: str) -> None:
    ledger = Ledger(ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises((ValueError, TypeError), match=said):
        PrivateBoostClassifier(schema=SCHEMA, ledger=ledger).set_params(**parameters).fit(X, Y)
    assert ledger.spent == ApproxDP(0.0, 0.0)


@pytest.mark.parametrize(
    ("weights", "cap", "said"),
    [
        ([1.0], None, "weight_cap"),
        ([2.0], 1.0, "row 0"),
        ([-0.1], 1.0, "row 0"),
        ([np.nan], 1.0, "row 0"),
        ([[1.0]], 1, "shape"),
    ],
)
def test_weights_outside_their_public_bound_are_refused(weights: list[object], cap: float | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        whole_weights(np.array(weights), cap, 1)


def test_weights_are_rounded_down() -> None:
    assert whole_weights([0.0, 0.4999, 1.0], 1.0, 3).tolist() == [0, 511, WEIGHT_ONE]


# --- what stays ------------------------------------------------------------------------------------------------


def small(records: tuple[tuple[float, int], ...], noise: PinnedNoise, adjacency: Promise) -> PrivateBoostClassifier:
    table = np.array(records * 20, dtype=np.float64)
    schema = Schema((Numeric("a", 0, 1), Categorical("b", ("0", "1"))))
    model = PrivateBoostClassifier(
        1.0, 1e-4, adjacency=adjacency, schema=schema, rounds_per_column=2, random_state=noise
    )
    return model.fit({"a": table[:, 0], "b": (table[:, 0] > 0.5).astype(int)}, table[:, 1].astype(int))


@pytest.mark.parametrize("adjacency", ["add-remove-one", "replace-one"])
def test_everything_on_a_fitted_model_was_released_or_is_public(adjacency: Promise) -> None:
    """Distant samples, of another size where that is private."""
    one, other = ((0.1, 0), (0.9, 1), (0.4, 1)), ((0.7, 1), (0.7, 0), (0.2, 0))
    grown = (*other, (0.5, 1)) if adjacency == "add-remove-one" else other
    names = check_fitted_surface(lambda records, noise: small(records, noise, adjacency), [Pair(one, grown)])
    assert {"model_", "ledger_", "statement_", "eta_", "classes_", "parameters_"} <= set(names)


def test_a_model_survives_json_and_carries_its_statement(tmp_path: Path) -> None:
    model = fitted(interactions=[("age", "job")])
    model.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["statement"]["guarantee"]
    again = PrivateBoostClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert [list(pair) for pair in again.interactions] == [["age", "job"]]


def test_breast_cancer_at_one_and_a_half() -> None:
    data = breast_cancer()
    model = PrivateBoostClassifier(1.5, 1e-5, schema=data.schema, random_state=0).fit(data.train, data.y_train)
    assert roc_auc_score(data.y_test == model.classes_[1], model.decision_function(data.test)) > 0.93


@pytest.mark.data
@pytest.mark.parametrize(("epsilon", "accuracy", "auc"), [(0.1, 0.84, 0.88), (1.0, 0.856, 0.906)])
def test_adult_stays_as_good_as_the_benchmark_says(epsilon: float, accuracy: float, auc: float) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("needs EXCHEQUER_DATA")
    data = adult(folder)
    found = []
    for seed in range(3):
        model = PrivateBoostClassifier(epsilon, 1e-5, schema=data.schema, random_state=seed).fit(
            data.train, data.y_train
        )
        scores, truth = model.decision_function(data.test), data.y_test == ">50K"
        found.append((np.mean((scores > 0) == truth), roc_auc_score(truth, scores)))
    assert np.all(np.mean(found, axis=0) >= [accuracy, auc])
