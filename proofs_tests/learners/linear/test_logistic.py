"""DPLogisticRegression: its vectors and their reach, what it pays, what it refuses, keeps and says."""

import json
import math
import os
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

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
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray, IntArray
from learners import (
    Boolean,
    Categorical,
    EncodedSample,
    Label,
    Layout,
    LazyBoostClassifier,
    Numeric,
    Schema,
)
from learners.linear.logistic import DPLogisticRegression, LinearLayout, LogisticDesign
from mechanisms import SeededNoise
from mechanisms.gradients.linear_losses import LinearRecords, Reach, minimiser
from mechanisms.randomness.sources import BitArray
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface
from proofs_tests.support.ledgers.settled import settled

MIXED = Schema(
    (
        Numeric("age", 0, 100, bins=5),
        Categorical("job", ("clerk", "smith", "none")),
        Boolean("member"),
        Numeric("wage", 0, 10, bins=4, encoding="thresholds"),
    ),
    Label("rich", ("no", "yes")),
)
THRESHOLDS = Schema((Boolean("a"), Numeric("b", 0, 1, bins=6, encoding="thresholds")))
ONE_HOT = Schema((Numeric("a", 0, 1, bins=6), Categorical("b", ("x", "y"))))


def encoded(schema: Schema, n: int = 3000, seed: int = 0) -> EncodedSample:
    """Random codes, labelled by the first column's code with noise."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, column.cells, n) for column in schema.columns])
    tall = codes[0] + 0.7 * rng.normal(size=n) > 0.5 * (schema.columns[0].cells - 1)
    return EncodedSample(Layout(schema), codes, np.where(tall, 1, -1).astype(np.int8))


def dense(sample: EncodedSample) -> FloatArray:
    """The vectors written out one by one."""
    rows = []
    for record in sample.codes.T:
        row: list[float] = []
        for column, code in zip(sample.layout.schema.columns, record, strict=True):
            if column.cumulative:
                row += [0.5 if code > cut else -0.5 for cut in range(column.cells - 1)]
            else:
                row += [1.0 if code == cell else 0.0 for cell in range(column.cells)]
        rows.append(row + [1.0] * all(c.cumulative for c in sample.layout.schema.columns))
    return np.array(rows)


SCHEMAS = {"mixed": MIXED, "thresholds": THRESHOLDS, "one-hot": ONE_HOT}


# --- the vectors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_design_is_the_dense_matrix(name: str) -> None:
    sample = encoded(SCHEMAS[name], n=2500)
    design, written = LogisticDesign(sample, LinearLayout(sample.layout)), dense(sample)
    plain = LinearRecords(written, sample.labels.astype(float), design.reach)
    rng = np.random.default_rng(1)
    weights, residuals, curvatures = rng.normal(size=design.d), rng.normal(size=design.n), rng.random(design.n)
    assert (design.n, design.d) == (plain.n, plain.d)
    assert design.scores(weights) == pytest.approx(plain.scores(weights), abs=1e-12)
    assert design.feature_sum(residuals) == pytest.approx(plain.feature_sum(residuals), abs=1e-9)
    assert design.gram(curvatures) == pytest.approx(plain.gram(curvatures), abs=1e-9)
    b = rng.normal(size=design.d)
    assert minimiser(design, 1.0, b, 1e-7) == pytest.approx(minimiser(plain, 1.0, b, 1e-7), abs=2e-7)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_reach_is_the_largest_norm_of_any_record(name: str) -> None:
    schema = SCHEMAS[name]
    cells = np.meshgrid(*(np.arange(column.cells) for column in schema.columns), indexing="ij")
    codes = np.stack([grid.ravel() for grid in cells])
    rows = dense(EncodedSample(Layout(schema), codes, np.ones(codes.shape[1], dtype=np.int8)))
    reach = LinearLayout(Layout(schema)).reach
    assert np.abs(rows).sum(axis=1).max() == reach.l1
    assert reach.l2 * (1.0 - 1e-11) <= np.linalg.norm(rows, axis=1).max() <= reach.l2


def test_rounding_of_the_design_stays_below_what_it_says() -> None:
    """Against sums in extended precision, with weights and residuals of many sizes."""
    sample = encoded(MIXED, n=20_000)
    design, written = LogisticDesign(sample, LinearLayout(sample.layout)), dense(sample).astype(np.longdouble)
    rng = np.random.default_rng(0)
    for power in (0, 3, 8):
        weights = rng.normal(size=design.d) * 10.0 ** rng.uniform(0, power, design.d)
        residuals = rng.normal(size=design.n) * 10.0 ** rng.uniform(0, power, design.n)
        worst = np.abs(design.scores(weights) - written @ weights).max()
        assert worst <= design.score_rounding * design.reach.l1 * np.abs(weights).max()
        off = np.linalg.norm((design.feature_sum(residuals) - written.T @ residuals).astype(float))
        assert off <= design.sum_rounding * design.reach.l2 * np.abs(residuals).sum()


# --- what it pays ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "budget", "delta"),
    [
        (BasicComposition(), PureDP(1.0), 0.0),
        (BasicComposition(), ApproxDP(1.0, 1e-6), 0.0),
        (BasicComposition(), ApproxDP(1.0, 1e-6), 1e-6),
        (AdvancedComposition(1e-6), ApproxDP(1.0, 1e-6), 1e-6),
        (ZCDPComposition(), ApproxDP(1.0, 1e-6), 1e-6),
    ],
)
@pytest.mark.parametrize("name", SCHEMAS)
def test_one_fit_spends_its_budget_and_never_above(rule: Composition, budget: Budget, delta: float, name: str) -> None:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    model = DPLogisticRegression(1.0, delta, ledger=ledger, random_state=0).fit_encoded(encoded(SCHEMAS[name], n=500))
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert settled(ledger)
    assert 1.0 - 1e-6 <= float(ledger.spent.as_dict()["epsilon"]) <= 1.0
    assert model.deviation_ > 0.0
    with pytest.raises(BudgetExceeded):
        model.fit_encoded(encoded(SCHEMAS[name], n=500))


def test_a_pure_target_on_a_zcdp_ledger_is_charged_as_rho() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=ZCDPComposition(), adjacency=ReplaceOne())
    DPLogisticRegression(0.2, ledger=ledger, random_state=0).fit_encoded(encoded(MIXED, n=500))
    charged = ledger.composition.ceiling(ledger.budget).minus(ledger.remaining)
    assert float(charged.loss) == pytest.approx(PureDP(0.2).to_zcdp().rho, rel=1e-6)


def test_it_takes_the_law_with_the_smallest_deviation() -> None:
    """One-hot columns reach far in few directions: Laplace. Many Boolean ones: ℓ2-Laplace; at δ Gaussian."""
    booleans = Schema.boolean([f"x{number}" for number in range(20)])
    for schema, delta, law in ((ONE_HOT, 0.0, "Laplace"), (booleans, 0.0, "GammaNorm"), (booleans, 1e-6, "Gaussian")):
        model = DPLogisticRegression(1.0, delta, random_state=0).fit_encoded(encoded(schema, n=300))
        entry = json.loads(model.ledger_.entries[1].line)["mechanism"]
        assert entry["parameters"]["noise"] == law
        assert entry["private"] is False
        assert entry["parameters"]["regularization"] == pytest.approx(300 * model.regularization_)


class Untouchable(SeededNoise):
    """Noise that must not be drawn."""

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        raise AssertionError("drawn before it was paid for")

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        raise AssertionError("drawn before it was paid for")

    def bits(self, number: int) -> BitArray:
        raise AssertionError("drawn before it was paid for")


X0 = np.random.default_rng(0).integers(0, 2, size=(400, 4))
Y0 = np.where(np.random.default_rng(1).random(400) < 0.1, 1 - X0[:, 1], X0[:, 1])

BAD: dict[str, tuple[dict[str, object], object, object, str]] = {
    "over budget": ({"epsilon": 3.0}, X0, Y0, "requested Σε .*, only Σε 1 remains"),
    "regularization 0": ({"regularization": 0.0}, X0, Y0, "regularization: expected a positive"),
    "regularization NaN": ({"regularization": math.nan}, X0, Y0, "regularization: expected a positive"),
    "regularization too small": ({"regularization": 1e-9}, X0, Y0, "regularization: 1e-09 per record is too small"),
    "epsilon 0": ({"epsilon": 0.0}, X0, Y0, "epsilon: expected a positive"),
    "not Boolean": ({}, X0 * 2, Y0, "neither 0 nor 1"),
    "three classes": ({"classes": (0, 1, 2)}, X0, Y0, "Only binary classification"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_anything_is_charged_or_drawn(name: str) -> None:
    parameters, X, y, message = BAD[name]
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    model: Any = DPLogisticRegression(ledger=ledger, random_state=Untouchable(0)).set_params(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert len(ledger.entries) == 1
    assert not hasattr(model, "model_")


def test_weights_and_other_adjacencies_are_refused_before_the_charge() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(AdjacencyMismatch):
        DPLogisticRegression(ledger=ledger, random_state=Untouchable(0)).fit(X0, Y0)
    weighted = attrs.evolve(encoded(ONE_HOT, n=9), weights=np.ones(9, dtype=np.int32))
    with pytest.raises(ValueError, match="no sample weights"):
        DPLogisticRegression(ledger=ledger, random_state=Untouchable(0)).fit_encoded(weighted)
    assert len(ledger.entries) == 1


# --- what it keeps, and using it -------------------------------------------------------------------------------------


def test_fitted_state_is_released_or_public() -> None:
    model = DPLogisticRegression(1.0, random_state=1).fit(X0, Y0)
    fitted = {name for name in vars(model) if name.endswith("_") or name not in model.get_params()}
    assert fitted == {
        "model_", "classes_", "parameters_", "regularization_", "deviation_", "ledger_", "statement_",
        "n_features_in_", "receipts_", "_member", "_of_last_fit",
    }  # fmt: skip


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_it_shows_nothing_but_releases(delta: float) -> None:
    def fit(data: tuple[IntArray, IntArray], noise: PinnedNoise) -> DPLogisticRegression:
        return DPLogisticRegression(1.0, delta, random_state=noise).fit(*data)

    names = check_fitted_surface(fit, [Pair((X0, Y0), (1 - X0, Y0)), Pair((X0, Y0), (X0, 1 - Y0))])
    assert {"model_", "regularization_", "deviation_", "statement_"} <= set(names)


def frame(n: int = 6000, seed: int = 0) -> tuple[pd.DataFrame, npt.NDArray[np.str_]]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(["clerk", "smith", "none"], n),
            "member": rng.integers(0, 2, n),
            "wage": rng.uniform(0, 10, n),
        }
    )
    odds = 0.06 * (table["age"] - 50) + 2.0 * table["member"] - 1.0 + 0.2 * (table["wage"] - 5.0)
    return table, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-odds)), "yes", "no")


def test_it_learns_explains_and_predicts_on_frames() -> None:
    table, y = frame()
    model = DPLogisticRegression(2.0, 1e-6, schema=MIXED, random_state=0).fit(table, y)
    assert np.mean(model.predict(table) == y) > 0.75
    lines = model.explain()
    assert len(lines) == len(MIXED.features)
    assert [abs(line.weight) for line in lines] == sorted((abs(line.weight) for line in lines), reverse=True)
    (member,) = [line for line in lines if line.feature == "member"]
    assert member.weight == pytest.approx(2.0, abs=0.5)  # in log-odds, though coded as ±1/2
    shares = model.predict_proba(table)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(shares[:, 1] > 0.5, model.predict(table) == "yes")
    predicted = np.digitize(shares[:, 1], np.linspace(0, 1, 6))
    for cell in np.unique(predicted):  # calibrated, as a regression is
        here = predicted == cell
        assert np.mean(shares[here, 1]) == pytest.approx(np.mean(y[here] == "yes"), abs=0.08)


def test_scores_are_those_of_the_vectors() -> None:
    for schema in SCHEMAS.values():
        sample = encoded(schema, n=200)
        model = DPLogisticRegression(1.0, random_state=0).fit_encoded(sample)
        assert model.model_.scores(sample.codes) == pytest.approx(dense(sample) @ np.array(model.model_.weights))
        assert model.model_.intercept == (model.model_.weights[-1] if schema is THRESHOLDS else 0.0)
        named = {line.feature for line in model.explain()}
        assert ("(intercept)" in named) == (schema is THRESHOLDS)


def test_without_much_noise_it_is_scikit_learns() -> None:
    sample = encoded(MIXED, n=4000)
    model = DPLogisticRegression(1e6, regularization=1e-3, random_state=0).fit_encoded(sample)
    theirs = LogisticRegression(C=1.0 / (4000 * 1e-3), fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(dense(sample), sample.labels)
    assert np.array(model.model_.weights) == pytest.approx(theirs.coef_[0], abs=1e-4)


def test_a_model_survives_json_with_its_statement(tmp_path: Path) -> None:
    table, y = frame(500)
    model = DPLogisticRegression(1.0, 1e-6, regularization=0.5, schema=MIXED, random_state=0).fit(table, y)
    path = tmp_path / "model.json"
    model.save(path)
    loaded = DPLogisticRegression.load(path)
    assert np.array_equal(loaded.decision_function(table), model.decision_function(table))
    assert loaded.explain() == model.explain()
    assert (loaded.statement_, loaded.regularization) == (model.statement_, 0.5)
    record = json.loads(path.read_text())
    record["model"]["weights"].append(1.0)
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match="finite weights"):
        DPLogisticRegression.load(path)


def test_secure_noise_a_seed_and_a_clone() -> None:
    first, second = (DPLogisticRegression(1.0, random_state=7).fit(X0, Y0) for _ in range(2))
    assert first.model_ == second.model_
    assert str(first.statement_).startswith("simulation: not private")
    secure = DPLogisticRegression(1.0).fit(X0, Y0)
    assert "1-differentially private under replace-one" in str(secure.statement_)
    ledger = Ledger(PureDP(1.5), composition=BasicComposition(), adjacency=ReplaceOne())
    model = DPLogisticRegression(1.0, ledger=ledger, random_state=0)
    model.fit(X0, Y0)
    with pytest.raises(BudgetExceeded):
        clone(model).fit(X0, Y0)


def test_the_regularization_can_be_chosen_and_shows() -> None:
    sample = encoded(MIXED, n=3000)
    sizes = [
        np.linalg.norm(DPLogisticRegression(1.0, regularization=r, random_state=0).fit_encoded(sample).model_.weights)
        for r in (0.02, 0.2, 2.0)
    ]
    assert sizes[0] > 2.0 * sizes[1] > 4.0 * sizes[2]
    default = DPLogisticRegression(1.0, random_state=0).fit_encoded(sample)
    assert default.regularization_ == pytest.approx(2.0 * default.deviation_ / 3000)
    assert LinearLayout(sample.layout).reach == Reach(4.0, LinearLayout(sample.layout).reach.l2)


@pytest.mark.data
@pytest.mark.skipif("EXCHEQUER_DATA" not in os.environ, reason="EXCHEQUER_DATA is not set")
def test_adult_beats_boosted_rules_at_one() -> None:
    from exchequer.datasets import adult

    data = adult(os.environ["EXCHEQUER_DATA"])
    ours = DPLogisticRegression(1.0, schema=data.schema, random_state=0).fit(data.train, data.y_train)
    rules = LazyBoostClassifier(1.0, schema=data.schema, random_state=0).fit(data.train, data.y_train)
    assert np.mean(ours.predict(data.test) == data.y_test) > 0.842
    assert np.mean(rules.predict(data.test) == data.y_test) < 0.842
