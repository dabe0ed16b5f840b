"""The additive regression: what it costs along transcripts, what it learns, what it says, and its files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from accountant import GDP, AddRemoveOne, ApproxDP, BasicComposition, BudgetExceeded, Ledger, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from learners import Bounds, Categorical, Numeric, PrivateBoostRegressor, Schema
from learners.regression.regression_losses import LOSSES
from proofs_tests.harness import Pair
from proofs_tests.support.learners.recorded import Recorder, moved

EPSILON, DELTA = 1.0, 1e-6
MU: Final = gaussian.mu(EPSILON, DELTA)
TIGHT: Final = 1.0 + 1e-9
BOX: Final = Bounds(-1.0, 1.0)
Table = tuple[FloatArray, FloatArray]


def model(**changes: Any) -> PrivateBoostRegressor:
    settings: dict[str, Any] = {
        "epsilon": EPSILON, "delta": DELTA, "label_bounds": (-2.0, 2.0), "schema": BOX, "random_state": 0, **changes
    }  # fmt: skip
    return PrivateBoostRegressor(**settings)


def waves(records: int = 4000, seed: int = 0, noise: float = 0.1) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (records, 3))
    y = np.sin(2.5 * X[:, 0]) * 0.7 + 0.5 * X[:, 1] + noise * rng.normal(size=records)
    return X, y


def explained(y: FloatArray, said: FloatArray) -> float:
    return 1.0 - float(np.mean((y - said) ** 2) / np.var(y))


# --- the cost is what the ledger says ----------------------------------------------------------------------------


def pairs(adjacency: str) -> list[Pair[Table]]:
    """Neighbours at the ends: a record with the largest label or the least, in a corner, or none."""
    X, y = waves(60, 3)
    found: list[Pair[Table]] = []
    for corner in (-1.0, 1.0):
        far = np.vstack([X, np.full((1, 3), corner)])
        high, low = (far, np.append(y, 2.0)), (far, np.append(y, -2.0))
        other = (np.vstack([X, np.full((1, 3), -corner)]), np.append(y, 2.0))
        found += [Pair(high, low), Pair(high, other)] if adjacency == "replace-one" else [Pair(high, (X, y))]
    return found


@pytest.mark.parametrize("adjacency", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_record_moves_no_more_than_is_charged(loss: str, adjacency: str) -> None:
    """μ of all that is noised in a whole fit, intervals and all."""
    shift = 2.0 if loss == "poisson" else 0.0
    bounds = (shift - 2.0, shift + 2.0)

    def learn(data: Table, noise: Recorder) -> None:
        fitted = model(loss=loss, adjacency=adjacency, label_bounds=bounds, intervals=0.1, random_state=noise)
        fitted.fit(data[0], data[1] + shift)

    for pair in pairs(adjacency):
        found = moved(learn, pair)
        assert 0.0 < found.mu <= MU * TIGHT
        assert found.epsilon == 0.0


@pytest.mark.parametrize("adjacency", ["add-remove-one", "replace-one"])
def test_weighted_records_move_no_more_than_is_charged(adjacency: str) -> None:
    X, y = waves(60, 4)
    weights = np.linspace(0.1, 3.0, 60)
    far, high = np.vstack([X, np.ones((1, 3))]), np.append(y, 2.0)

    def learn(data: tuple[FloatArray, FloatArray, FloatArray], noise: Recorder) -> None:
        model(adjacency=adjacency, weight_cap=3.0, random_state=noise).fit(data[0], data[1], data[2])

    full = (far, high, np.append(weights, 3.0))
    other = (X, y, weights) if adjacency == "add-remove-one" else (far, np.append(y, -2.0), np.append(weights, 3.0))
    found = moved(learn, Pair(full, other))
    assert 0.0 < found.mu <= MU * TIGHT


def test_what_is_charged_is_reached_to_a_large_part() -> None:
    """Opposite labels pull every gradient by nearly all that is paid for, where the fit leaves them far away."""
    X = np.vstack([np.zeros((40, 1)), np.ones((1, 1))])
    y = np.zeros(40)

    def learn(data: Table, noise: Recorder) -> None:
        model(adjacency="replace-one", schema=Bounds(0.0, 1.0), random_state=noise).fit(*data)

    found = moved(learn, Pair((X, np.append(y, 2.0)), (X, np.append(y, -2.0))))
    assert found.mu > 0.5 * MU


def test_the_books_hold_what_was_asked_for() -> None:
    for adjacency, relation in (("add-remove-one", AddRemoveOne()), ("replace-one", ReplaceOne())):
        ledger = Ledger(ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=relation)
        fitted = model(adjacency=adjacency, ledger=ledger, intervals=0.1).fit(*waves(200))
        assert isinstance(ledger.spent, ApproxDP)
        assert 0.999 * EPSILON <= ledger.spent.epsilon <= EPSILON
        assert len(fitted.receipts_) == len([entry for entry in ledger.entries if entry.kind == "charged"]) == 1
        ledger.verify()
        with pytest.raises(BudgetExceeded):
            clone(fitted).set_params(epsilon=2.5).fit(*waves(200))


def test_shares_of_the_budget_add_up_to_all_of_it() -> None:
    for intervals in (0.0, 0.2):
        noise = Recorder(0)
        model(random_state=noise, intervals=intervals).fit(*waves(100))
        units = [np.sqrt(3.0), 1.0]  # of the columns' histograms, and of everything else under add-remove-one
        spent = sum((units[0 if number == 1 else 1] / each.scale) ** 2 for number, each in enumerate(noise.asked))
        assert spent == pytest.approx(MU**2, rel=1e-3)
        assert GDP(np.sqrt(spent)).mu <= MU * TIGHT


# --- what it learns ---------------------------------------------------------------------------------------------------


def test_it_learns_curves() -> None:
    fitted = model().fit(*waves())
    X, y = waves(2000, 1)
    assert explained(y, fitted.predict(X)) > 0.9
    curves = fitted.explain()
    assert {curves[0].columns, curves[1].columns} == {("x0",), ("x1",)}
    assert curves[0].effects.shape == (len(curves[0].cells),)


def test_bounds_ten_times_too_wide_cost_little() -> None:
    fitted = model(label_bounds=(-20.0, 20.0), schema=Bounds(-10.0, 10.0)).fit(*waves())
    X, y = waves(2000, 1)
    assert explained(y, fitted.predict(X)) > 0.88


def product(records: int, seed: int) -> Table:
    X, y = waves(records, seed)
    return X, y + 1.5 * X[:, 0] * X[:, 1]


def test_pairs_are_found_named_or_left_out() -> None:
    X, y = product(2000, 1)
    said = {}
    for name, interactions in (("auto", "auto"), ("named", [("x0", "x1")]), ("none", ())):
        fitted = model(label_bounds=(-4.0, 4.0), interactions=interactions).fit(*product(4000, 0))
        said[name] = explained(y, fitted.predict(X))
        joint = [curve.columns for curve in fitted.explain() if len(curve.columns) == 2]
        assert (("x0", "x1") in joint) == (name != "none")
        assert len(joint) <= {"auto": 3, "named": 1, "none": 0}[name]
    assert min(said["auto"], said["named"]) > said["none"] + 0.1


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_say_what_they_should_of_skewed_labels(loss: str) -> None:
    """Means or medians of an exponential distribution, whose mean depends on a column."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 1))
    y = rng.exponential(1.0 + X[:, 0])
    fitted = model(loss=loss, label_bounds=(0.0, 30.0), schema=None, epsilon=3.0).fit(X, y)
    said = fitted.predict(np.array([[0], [1]]))
    if LOSSES[loss].mean:
        assert said == pytest.approx([1.0, 2.0], abs=0.2)  # the last clip, at four deviations, cuts a little
    else:
        assert np.all((said > [0.6, 1.2]) & (said < [0.95, 1.9]))


def test_poisson_effects_multiply_and_labels_from_0_on_are_asked_for() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (20_000, 2))
    y = rng.poisson(np.exp(-0.5 + 0.8 * X[:, 0] + 0.6 * X[:, 1]))
    fitted = model(loss="poisson", label_bounds=(0.0, 30.0), schema=None, interactions=()).fit(X, y)
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    assert fitted.predict(corners) == pytest.approx(np.exp([-0.5, 0.3, 0.1, 0.9]), rel=0.15)
    with pytest.raises(ValueError, match="labels from 0 on"):
        model(loss="poisson").fit(*waves(50))


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_intervals_cover_what_they_say_and_little_more(loss: str) -> None:
    def drawn(records: int, seed: int) -> Table:
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1.0, 1.0, (records, 3))
        mean = np.exp(1.0 + X[:, 0])
        return X, rng.poisson(mean).astype(float) if loss == "poisson" else mean + rng.normal(size=records)

    fitted = model(loss=loss, label_bounds=(0.0 if loss == "poisson" else -10.0, 30.0), intervals=0.1)
    fitted.fit(*drawn(5000, 0))
    X, y = drawn(5000, 1)
    for coverage in (0.5, 0.9):
        ends = fitted.predict_interval(X, coverage)
        held = float(np.mean((y >= ends[:, 0]) & (y <= ends[:, 1])))
        assert coverage - 0.02 < held < coverage + 0.5 * (1.0 - coverage)
    with pytest.raises(ValueError, match="released no histogram"):
        model().fit(*waves(50)).predict_interval(X)


def test_noise_alone_gives_a_model_within_the_bounds() -> None:
    for records in (1, 5):
        X, y = waves(records)
        fitted = model(epsilon=0.1, intervals=0.1).fit(X, y)
        said = fitted.predict(waves(100)[0])
        assert np.all((said >= -2.0) & (said <= 2.0))
        ends = fitted.predict_interval(waves(100)[0])
        assert np.all((ends[:, 0] <= ends[:, 1]) & (ends >= -2.0).all(axis=1) & (ends <= 2.0).all(axis=1))


def test_labels_beyond_their_bounds_are_moved_to_the_nearest() -> None:
    X, y = waves(300)
    one = model(label_bounds=(-0.5, 0.5)).fit(X, y).predict(X)
    assert np.array_equal(one, model(label_bounds=(-0.5, 0.5)).fit(X, np.clip(y, -0.5, 0.5)).predict(X))


# --- weights ----------------------------------------------------------------------------------------------------------


def test_a_record_of_weight_0_is_as_if_it_were_not_there() -> None:
    X, y = waves(300)
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 2.0)
    there = weights > 0.0
    one = model(weight_cap=2.0).fit(X, y, sample_weight=weights)
    other = model(weight_cap=2.0).fit(X[there], y[there], sample_weight=weights[there])
    assert one.model_.as_record() == other.model_.as_record()


def test_weights_lean_the_mean() -> None:
    X = np.zeros((8000, 1), dtype=int)
    y = np.repeat([0.0, 1.0], 4000)
    weights = np.where(y > 0.0, 3.0, 1.0)
    said = model(epsilon=5.0, weight_cap=3.0, schema=None).fit(X, y, sample_weight=weights).predict(X[:1])
    assert said[0] == pytest.approx(0.75, abs=0.06)
    with pytest.raises(ValueError, match="weight_cap"):
        model().fit(*waves(10), sample_weight=np.ones(10))


# --- tables, parameters, files ----------------------------------------------------------------------------------------

MIXED: Final = Schema((Numeric("size", 0.0, 10.0, outside="clip"), Categorical("kind", ("a", "b", "c"))))


def mixed(records: int = 400) -> tuple[pd.DataFrame, FloatArray]:
    rng = np.random.default_rng(5)
    size, kind = rng.uniform(0.0, 10.0, records), rng.choice(["a", "b", "c"], records)
    return pd.DataFrame({"kind": kind, "size": size}), 0.1 * size + (kind == "b")


def test_tables_with_categories_and_columns_in_any_order() -> None:
    X, y = mixed()
    fitted = model(schema=MIXED, epsilon=5.0).fit(X, y)
    assert list(fitted.feature_names_in_) == ["kind", "size"]
    assert explained(y, fitted.predict(X[["size", "kind"]])) > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label_bounds": None}, "regression needs public bounds"),
        ({"label_bounds": (1.0, 0.0)}, "lower < upper"),
        ({"loss": "cubic"}, "expected one of"),
        ({"delta": 0.0}, "needs a delta above 0"),
        ({"intervals": 1.0}, "intervals"),
        ({"interactions": [("x0", "x9")]}, "interactions"),
        ({"adjacency": "both"}, "adjacency"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused_before_a_charge(change: Mapping[str, Any], message: str) -> None:
    ledger = Ledger(ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match=message):
        model(ledger=ledger, **change).fit(*waves(20))
    assert not [entry for entry in ledger.entries if entry.kind == "charged"]
    with pytest.raises(NotFittedError):
        model().predict(waves(3)[0])


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_a_saved_model_says_what_it_said(loss: str, tmp_path: Path) -> None:
    X, y = waves(300)
    fitted = model(loss=loss, label_bounds=(0.0, 4.0), intervals=0.1).fit(X, y + 2.0)
    fitted.save(tmp_path / "model.json")
    again = PrivateBoostRegressor.load(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(again.predict_interval(X), fitted.predict_interval(X))
    assert again.statement_.guarantee == fitted.statement_.guarantee
    assert [curve.columns for curve in again.explain()] == [curve.columns for curve in fitted.explain()]


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 0.0},
        {"scale": float("nan")},
        {"bounds": [1.0, 0.0]},
        {"loss": "none"},
        {"additive": {}},
        {"residuals": {"largest": 1.0, "counts": [1.0], "sigma": 1.0}},
    ],
    ids=str,
)
def test_forged_files_are_refused(change: Mapping[str, object], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model().fit(*waves(50)).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    record["model"] |= change
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ValueError, match=r"model\.json"):
        PrivateBoostRegressor.load(path)


def test_one_seed_gives_one_model_and_another_another() -> None:
    X, y = waves(100)
    one, same, other = (model(random_state=seed).fit(X, y).predict(X) for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_rounds_are_told() -> None:
    numbers: list[int] = []
    model().fit(*waves(50), on_round=lambda number, released: numbers.append(number))
    assert numbers == list(range(1, 281))


def test_the_entry_names_every_release_and_claim() -> None:
    ledger = Ledger(ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    model(ledger=ledger, intervals=0.1).fit(*waves(100))
    (entry,) = [each for each in ledger.entries if each.kind == "charged"]
    text = str(attrs.asdict(entry))
    for said in ("residual-moments x 80", "residual-moments x 200", "histograms(3) x 1", '"residual-moments"'):
        assert said in text
