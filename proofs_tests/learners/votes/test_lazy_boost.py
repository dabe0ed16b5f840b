"""The estimator: what it pays, what it refuses before paying, what it keeps, and how it lives in scikit-learn."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    BudgetExceeded,
    Composition,
    Ledger,
    LedgerCopyRefused,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.composition.calibration import GRAINY
from boosting import LazyBregman, boosting_plan, certificates
from learners import LazyBoostClassifier, Numeric, PrivateOneRule, Schema
from learners.base.defaults import BoostingSettings, lazy_boost_settings
from learners.base.table_classifier import Rule
from mechanisms import SecureNoise
from proofs_tests.support.ledgers.settled import settled

Array = npt.NDArray[np.generic]
SCHEMA_TEXT = """
[label]
name = "income"
classes = ["low", "high"]
[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[columns]]
name = "job"
kind = "categorical"
categories = ["clerk", "smith", "none"]
"""


def boolean_data(n: int = 400, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 4))
    flipped = rng.random(n) < 0.1
    return X, np.where(flipped, 1 - X[:, 1], X[:, 1])


def frame(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.uniform(0, 100, n), "job": rng.choice(["clerk", "smith", "none"], n)})
    return table, np.where(table["age"] >= 50, "high", "low")


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA_TEXT)
    return path


# --- what it pays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "composition"),
    [(1.0, 0.0, "auto"), (0.3, 0.0, "basic"), (1.0, 1e-6, "auto"), (1.0, 1e-6, "advanced"), (0.5, 1e-6, "zcdp")],
)
def test_one_fit_spends_its_budget_and_never_above(epsilon: float, delta: float, composition: Rule) -> None:
    X, y = boolean_data()
    model = LazyBoostClassifier(epsilon, delta, rounds=12, composition=composition, random_state=0).fit(X, y)
    spent = model.ledger_.spent.as_dict()
    assert epsilon * (1 - GRAINY) <= float(spent["epsilon"]) <= epsilon
    assert spent.get("delta", 0.0) == delta
    assert settled(model.ledger_)
    assert len(model.model_.rules) == 12


def test_more_privacy_theory_buys_less_noise() -> None:
    X, y = boolean_data()
    cases: list[tuple[Rule, float]] = [("basic", 0.0), ("advanced", 1e-6), ("zcdp", 1e-6), ("auto", 1e-6)]
    eta = {
        name: LazyBoostClassifier(1.0, delta, rounds=60, composition=name, random_state=0).fit(X, y).eta_
        for name, delta in cases
    }
    assert eta["basic"] < eta["advanced"] == eta["zcdp"] < eta["auto"]  # both read Σρ alike


def test_the_papers_noise_is_half_of_ours_at_the_same_epsilon() -> None:
    """[001-Thm7] η = εκn/(4τ) as printed; the tight cost affords εκn/(2τ), and the per-round ζ a little more."""
    X, y = boolean_data()
    model = LazyBoostClassifier(1.0, rounds=40, density=0.5, learning_rate=0.5, random_state=0).fit(X, y)
    assert model.eta_ >= 2 * 1.0 * 0.5 * 400 / (4 * 40)
    assert model.eta_ <= 2.1 * 1.0 * 0.5 * 400 / (4 * 40)


def test_defaults_are_functions_of_public_numbers_and_are_told() -> None:
    X, y = boolean_data()
    model = LazyBoostClassifier(1.0, 1e-6, random_state=0).fit(X, y)
    assert model.settings_ == lazy_boost_settings(400, 1.0, 1e-6, 4)
    assert len(model.model_.rules) == model.settings_.rounds
    assert (model.rounds, model.learning_rate, model.density) == (None, None, None)
    other = LazyBoostClassifier(1.0, 1e-6, random_state=0).fit(1 - X, 1 - y)
    assert other.settings_ == model.settings_
    given = LazyBoostClassifier(1.0, 1e-6, rounds=7, density=0.5, random_state=0).fit(X, y).settings_
    assert given == BoostingSettings(7, 0.5, 0.5)


@pytest.mark.parametrize("splits", [0, 1, 3])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_default_rounds_grow_with_the_data_and_the_budget(delta: float, splits: int) -> None:
    """As documented, and with a certificate: T from 3 to 1000, λ at most ½."""
    grid = [(n, epsilon) for n in (1, 10, 1000, 10**5, 10**8) for epsilon in (1e-3, 0.1, 1.0, 30.0)]
    found = {(n, e): lazy_boost_settings(n, e, delta, 100, splits=splits) for n, e in grid}
    for (n, epsilon), one in found.items():
        assert 3 <= one.rounds <= 1000
        assert one.learning_rate == min(0.5, 10 / one.rounds)
        LazyBregman(one.density, one.learning_rate).slickness(n, one.rounds)
        assert one.rounds <= found[n, max(epsilon, 1.0)].rounds <= found[max(n, 10**5), max(epsilon, 1.0)].rounds
    scale = np.log(202) * (5 if delta == 0 else np.sqrt(np.log(1e6)))
    share = 2 / (splits + 1) if splits else 1.0
    expected = (share * 1e4 / scale) ** 0.5 if delta == 0 else share ** (1 / 3) * (1e4 / scale) ** (2 / 3)
    assert found[10**5, 0.1].rounds == round(expected)


def test_a_pure_target_on_a_zcdp_ledger_is_charged_as_rho() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    X, y = boolean_data()
    model = LazyBoostClassifier(0.5, rounds=20, ledger=ledger, random_state=0).fit(X, y)
    runs = certificates(LazyBregman(model.settings_.density, model.settings_.learning_rate), 20, 400)
    plan = boosting_plan(PrivateOneRule(model.model_.layout, model.eta_), runs)
    assert ledger.composition.ceiling(ledger.budget).minus(ledger.remaining) == plan.amount(ledger.composition)


def fits_until_refused(model: LazyBoostClassifier, X: Array, y: Array) -> int:
    for fits in range(2000):
        try:
            model.fit(X, y)
        except BudgetExceeded:
            return fits
    return 2000


@pytest.mark.parametrize(
    ("rule", "budget"),
    [
        (BasicComposition(), PureDP(1.0)),
        (BasicComposition(), ApproxDP(1.0, 1e-5)),
        (AdvancedComposition(1e-6), ApproxDP(3.0, 1e-5)),
        (ZCDPComposition(), ApproxDP(1.0, 1e-5)),
    ],
)
def test_a_shared_ledger_pays_for_fits_until_it_refuses(rule: Composition, budget: Budget) -> None:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    X, y = boolean_data()
    model = LazyBoostClassifier(0.4, rounds=5, ledger=ledger, random_state=0)
    fits = fits_until_refused(model, X, y)
    assert 2 <= fits < 2000
    assert settled(ledger)
    if isinstance(budget, PureDP):
        assert fits == 2


# --- what it refuses, before anything is charged -----------------------------------------------------------------

X0, Y0 = boolean_data()
ONE = Schema((Numeric("a", 0, 1),))
BAD_FITS: dict[str, tuple[dict[str, object], object, object, str]] = {
    "NaN in X": ({}, np.where(X0 == 1, 1.0, np.nan), Y0, "column 'x0', row .*nan is neither 0 nor 1"),
    "not Boolean": ({}, X0 * 2, Y0, "column 'x0', row .*neither 0 nor 1"),
    "X of one dimension": ({}, X0[:, 0], Y0, "expected an array of shape"),
    "y too short": ({}, X0, Y0[:-1], "X has 400 records, y has 399"),
    "y of two dimensions": ({}, X0, np.stack([Y0, Y0], axis=1), r"y: expected shape \(n,\)"),
    "NaN in y": ({}, X0, np.where(Y0 == 1, 1.0, np.nan), "y: row .* is NaN"),
    "three classes": ({}, X0, np.arange(400) % 3, "y holds 3 classes; 2 are declared: row 2"),
    "undeclared class": (
        {},
        X0,
        np.where(Y0 == 1, 1, -1),
        r"undeclared class: row .* is .*add it to the classes",
    ),
    "no record": ({}, X0[:0], Y0[:0], "at least one record"),
    "epsilon 0": ({"epsilon": 0.0}, X0, Y0, "epsilon: expected a positive"),
    "epsilon negative": ({"epsilon": -1.0}, X0, Y0, "epsilon: expected a positive"),
    "epsilon NaN": ({"epsilon": float("nan")}, X0, Y0, "epsilon: expected a positive"),
    "delta 1": ({"delta": 1.0}, X0, Y0, r"delta: expected a number in \[0, 1\)"),
    "delta negative": ({"delta": -1e-6}, X0, Y0, "delta: expected"),
    "no rounds": ({"rounds": 0}, X0, Y0, "rounds: expected a whole number"),
    "half a round": ({"rounds": 1.5}, X0, Y0, "rounds: expected a whole number"),
    "a noise class": ({"random_state": SecureNoise}, X0, Y0, "random_state: expected"),
    "classes as text": ({"classes": "ab"}, X0, Y0, "two distinct classes"),
    "undeclared text": ({}, X0, np.array(["no", "yes"] * 200, dtype=object), "undeclared class: row 0 is 'no'"),
    "density tiny": ({"density": 1e-12}, X0, Y0, "density: expected at least"),
    "learning rate huge": ({"learning_rate": 1e17}, X0, Y0, "learning_rate: 1e.17 times"),
    "rounds beyond the proof": ({"rounds": 4097}, X0, Y0, "rounds: no certificate beyond round 4096"),
    "no y": ({}, X0, None, "requires y to be passed"),
    "sparse X": ({}, sparse.coo_matrix(X0.astype(float)), Y0, "sparse input is not supported|of shape"),
    "a fraction": ({}, np.where(X0 == 1, 0.3, 0.0), Y0, "column 'x0', row .*0.3 is neither 0 nor 1"),
    "a huge integer": ({}, X0.astype(object) * 10**400, Y0, "column 'x0', row .*is not a number"),
    "complex X": (
        {"schema": Schema((Numeric("a", 0, 1),))},
        X0[:, :1].astype(np.complex128),
        Y0,
        "complex128 data is not supported",
    ),
    "dates": ({"schema": ONE}, X0[:, :1].astype("datetime64[s]"), Y0, "data is not supported, only numbers"),
    "density 0": ({"density": 0.0}, X0, Y0, r"density: expected a number in \(0, 1\]"),
    "learning rate 0": ({"learning_rate": 0.0}, X0, Y0, "learning_rate: expected a positive"),
    "classes equal": ({"classes": (1, 1)}, X0, Y0, "two distinct classes"),
    "random_state": ({"random_state": "seed"}, X0, Y0, "random_state: expected"),
    "over budget": ({"epsilon": 3.0}, X0, Y0, "requested Σε .*, only Σε 1 remains under basic composition"),
    "rule beside a ledger": ({"composition": "zcdp"}, X0, Y0, "the ledger brings its own rule"),
}


@pytest.mark.parametrize("name", BAD_FITS)
def test_bad_input_is_refused_before_anything_is_charged(name: str) -> None:
    parameters, X, y, message = BAD_FITS[name]
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    model: Any = LazyBoostClassifier(ledger=ledger, random_state=0).set_params(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert len(ledger.entries) == 1
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"composition": "zcdp"}, "zcdp composition needs delta > 0"),
        ({"composition": "advanced"}, "advanced composition needs delta > 0"),
        ({"composition": "best"}, "'best' is not one of"),
        ({"ledger": "mine"}, "ledger: expected a Ledger"),
    ],
)
def test_bad_choices_of_books_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        LazyBoostClassifier().set_params(**parameters).fit(X0, Y0)


def test_a_ledger_of_another_adjacency_is_refused_before_the_charge() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(AdjacencyMismatch):
        LazyBoostClassifier(ledger=ledger, random_state=0).fit(X0, Y0)
    assert [entry.kind for entry in ledger.entries] == ["opened"]


def test_values_outside_the_schema_are_refused_before_the_charge(schema_file: Path) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    table, y = frame()
    model = LazyBoostClassifier(schema=schema_file, ledger=ledger, random_state=0)
    table.loc[5, "job"] = "baker"
    with pytest.raises(ValueError, match="column 'job', row 5: 'baker'"):
        model.fit(table, y)
    assert len(ledger.entries) == 1


# --- what it keeps, and using it -----------------------------------------------------------------------------------


def test_it_learns_explains_and_predicts_on_frames(schema_file: Path) -> None:
    table, y = frame(4000)
    model = LazyBoostClassifier(2.0, schema=schema_file, rounds=15, random_state=0).fit(table, y)
    assert np.mean(model.predict(table) == y) > 0.75
    assert set(model.predict(table)) == {"low", "high"}
    assert model.classes_.tolist() == ["low", "high"]
    assert list(model.feature_names_in_) == ["age", "job"]
    votes = model.explain()
    assert sum(abs(vote.votes) for vote in votes) <= 15
    assert votes[0].feature == "age"
    assert [abs(vote.votes) for vote in votes] == sorted((abs(vote.votes) for vote in votes), reverse=True)
    shares = model.predict_proba(table)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(shares[:, 1] > 0.5, model.predict(table) == "high")


def test_the_margin_is_the_mean_vote_of_its_rules() -> None:
    model = LazyBoostClassifier(1.0, rounds=9, random_state=1).fit(X0, Y0)
    codes = X0.T.astype(np.intp)
    votes = np.mean([rule.on_codes(model.model_.layout, codes) for rule in model.model_.rules], axis=0)
    assert model.decision_function(X0) == pytest.approx(votes)


def test_fitted_state_is_released_or_public() -> None:
    """Nothing that `fit` keeps may depend on the data other than through the rules it paid for."""
    model = LazyBoostClassifier(1.0, rounds=5, random_state=1).fit(X0, Y0)
    fitted = {name for name in vars(model) if name.endswith("_") or name not in model.get_params()}
    public = {"classes_", "parameters_", "eta_", "settings_", "ledger_", "statement_", "receipts_", "n_features_in_"}
    assert fitted == {"model_", "_member", "_of_last_fit", *public}
    other = LazyBoostClassifier(1.0, rounds=5, random_state=1).fit(1 - X0, Y0)
    assert (model.eta_, model.classes_.tolist(), model.n_features_in_) == (
        other.eta_, other.classes_.tolist(), other.n_features_in_,
    )  # fmt: skip


def test_a_frame_without_column_names_is_read_like_an_array() -> None:
    model = LazyBoostClassifier(1.0, rounds=3, random_state=0).fit(pd.DataFrame(X0), Y0)
    assert np.array_equal(model.predict(pd.DataFrame(X0)), model.predict(X0))


def test_a_seed_reproduces_and_is_called_a_simulation() -> None:
    first, second = (LazyBoostClassifier(1.0, rounds=9, random_state=7).fit(X0, Y0) for _ in range(2))
    assert first.model_ == second.model_
    assert str(first.statement_).startswith("simulation: not private")
    secure = LazyBoostClassifier(1.0, rounds=9).fit(X0, Y0)
    assert str(secure.statement_).startswith("privacy statement")
    assert "1-differentially private under replace-one" in str(secure.statement_)


def test_progress_is_reported_round_by_round() -> None:
    seen: list[int] = []
    LazyBoostClassifier(1.0, rounds=4, random_state=0).fit(X0, Y0, on_round=lambda number, rule: seen.append(number))
    assert seen == [1, 2, 3, 4]


def test_a_model_survives_json_with_its_statement(tmp_path: Path, schema_file: Path) -> None:
    table, y = frame()
    model = LazyBoostClassifier(1.0, 1e-6, schema=schema_file, rounds=9, random_state=0).fit(table, y)
    path = tmp_path / "model.json"
    model.save(path)
    loaded = LazyBoostClassifier.load(path)
    assert np.array_equal(loaded.predict(table), model.predict(table))
    assert loaded.explain() == model.explain()
    assert loaded.statement_ == model.statement_
    assert json.loads(path.read_text())["statement"]["heading"] == "simulation: not private"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda record: record.update(version=2), "not an exchequer model of version 1"),
        (lambda record: record["model"]["rules"].append([99, 1]), "does not fit a schema"),
        (lambda record: record["model"]["rules"].append([0, 3]), "does not fit a schema"),
        (lambda record: record.pop("statement"), "statement"),
    ],
)
def test_a_damaged_model_file_is_refused_by_name(
    tmp_path: Path, damage: Callable[[dict[str, object]], object], message: str
) -> None:
    path = tmp_path / "model.json"
    LazyBoostClassifier(1.0, rounds=3, random_state=0).fit(X0, Y0).save(path)
    record = json.loads(path.read_text())
    damage(record)
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=rf"model\.json: .*{message}"):
        LazyBoostClassifier.load(path)


def test_a_saved_model_tells_what_it_was_fitted_with(tmp_path: Path) -> None:
    """set_params after fit changes the next fit, not the record of the last; numpy numbers are saved as plain ones."""
    numpys = {"epsilon": np.float32(0.5), "rounds": np.int64(3)}
    model = LazyBoostClassifier(random_state=0).set_params(**numpys).fit(X0, Y0)
    model.set_params(epsilon=100.0).save(tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text())
    assert (record["parameters"]["epsilon"], record["parameters"]["rounds"]) == (0.5, 3)
    assert LazyBoostClassifier.load(tmp_path / "m.json").epsilon == 0.5


def test_an_unfitted_model_says_so(tmp_path: Path) -> None:
    model = LazyBoostClassifier()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X0)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.explain()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.save(tmp_path / "m.json")


# --- scikit-learn ----------------------------------------------------------------------------------------------------


def shared_ledger(epsilon: float) -> Ledger:
    return Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())


def test_cross_validation_pays_for_every_fit() -> None:
    ledger = shared_ledger(5.0)
    cross_val_score(LazyBoostClassifier(0.5, rounds=3, ledger=ledger, random_state=0), X0, Y0, cv=KFold(5))
    assert isinstance(ledger.spent, PureDP)
    assert 2.4999 < ledger.spent.epsilon <= 2.5


def test_a_grid_search_that_cannot_be_paid_is_refused_midway_with_sound_books() -> None:
    ledger = shared_ledger(1.0)
    search = GridSearchCV(
        LazyBoostClassifier(0.3, rounds=3, ledger=ledger, random_state=0),
        {"density": [0.3, 0.5]},
        cv=KFold(2),
        error_score="raise",
    )
    with pytest.raises(BudgetExceeded):
        search.fit(X0, Y0)
    assert sum(entry.kind == "charged" for entry in ledger.entries) == 3
    assert settled(ledger)


def test_a_pipeline_and_a_clone_share_the_ledger() -> None:
    ledger = shared_ledger(1.0)
    model = LazyBoostClassifier(0.25, rounds=3, ledger=ledger, random_state=0)
    assert clone(model).ledger is ledger
    make_pipeline(clone(model)).fit(X0, Y0)
    assert sum(entry.kind == "charged" for entry in ledger.entries) == 1


def test_processes_cannot_take_the_ledger_along() -> None:
    model = LazyBoostClassifier(0.25, rounds=3, ledger=shared_ledger(1.0), random_state=0)
    with pytest.raises(LedgerCopyRefused, match="n_jobs=1"):
        cross_val_score(model, X0, Y0, cv=KFold(2), n_jobs=2, error_score="raise")


def test_a_fitted_model_pickles_without_its_own_ledger() -> None:
    model = LazyBoostClassifier(1.0, rounds=3, random_state=0).fit(X0, Y0)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 -- our own bytes
    assert not hasattr(again, "ledger_")
    assert np.array_equal(again.predict(X0), model.predict(X0))
    assert again.statement_ == model.statement_


def test_parameters_follow_scikit_learns_conventions() -> None:
    model = LazyBoostClassifier(0.5, rounds=7)
    assert model.get_params()["rounds"] == 7
    assert clone(model).get_params() == model.get_params()
    schema = Schema.boolean(["a", "b"])
    assert clone(LazyBoostClassifier(schema=schema)).schema == schema
    assert LazyBoostClassifier(1.0, rounds=5, random_state=0).fit(X0, Y0).score(X0, Y0) > 0.5
