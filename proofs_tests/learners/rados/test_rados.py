"""RadoRelease and RadoBoostClassifier: what they cost, what they keep, two parties and a file, and what is refused."""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from accountant import (
    GDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    FeatureValue,
    Ledger,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from boosting.rados.losses import log_exponential_loss
from boosting.rados.rado_boost import ada_boost, rado_boost, strong
from boosting.rados.smoothing import enough_smoothing, smoothed
from learners import Bounds, Categorical, Numeric, RadoBoostClassifier, RadoRelease, Schema
from learners.base.gaussian_budget import MOMENTS_SHARE, noisy_spread
from learners.encoding.numeric_features import CONSTANT, Coding, Scaling
from learners.rados.public_sums import spread
from learners.rados.rado_classifier import fewest_errors
from learners.rados.rado_records import RadoSample
from learners.rados.rado_releases import Rados
from mechanisms import EdgeVectors
from mechanisms.core.rows import MemoryRows
from proofs_tests.harness import Pair, check_fitted_surface

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(3000, 3))
Y = np.where(X[:, 0] > X[:, 1] + 0.2, 1, 0)
BOX = Bounds(-1.0, 1.0)
BOOKS = ReplaceOne()


def scaling_of(values: FloatArray) -> Scaling:
    return spread(EdgeVectors(values).rows)


def boosted(**given: Any) -> RadoBoostClassifier:
    return RadoBoostClassifier(**{"schema": BOX, "random_state": 0, "rounds": 200, **given})


def released(**given: Any) -> RadoRelease:
    return RadoRelease(**{"schema": BOX, "random_state": 0, **given})


# --- accuracy and cost ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "least"),
    [
        ({"protection": None}, 0.97),
        ({"protection": None, "schema": None}, 0.97),
        ({}, 0.95),
        ({"epsilon": 0.2}, 0.90),
        ({"epsilon": 3.0, "route": "edges"}, 0.90),
        ({"epsilon": 3.0, "route": "edges", "support": 500}, 0.85),
        ({"standardise": False}, 0.85),
        ({"protection": "feature", "sensitive": 0, "epsilon": 0.1}, 0.93),
        ({"protection": "feature", "sensitive": [0, 1], "epsilon": 0.1}, 0.93),
        ({"oracle": "median"}, 0.70),
        ({"oracle": 0.5, "shrinkage": 2.0, "least": 1e-3}, 0.90),
    ],
    ids=str,
)
def test_it_learns(given: dict[str, Any], least: float) -> None:
    assert boosted(**given).fit(X, Y).score(X, Y) >= least


@pytest.mark.parametrize("route", ["rados", "edges"])
@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("rule", [BasicComposition(), ZCDPComposition(), AdvancedComposition(1e-7)], ids=str)
def test_whole_records_cost_what_was_allowed_and_no_less(route: str, standardise: bool, rule: Any) -> None:
    """All of the budget is used, whichever rule adds up; a tenth less noise would not have been bought."""
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=rule, adjacency=BOOKS)
    found = released(route=route, standardise=standardise, number=20, ledger=ledger).fit(X[:200], Y[:200])
    assert isinstance(ledger.spent, ApproxDP)
    assert 0.99 <= ledger.spent.epsilon <= 1.0
    assert len(found.receipts_) == 1
    with pytest.raises(BudgetExceeded):
        released(number=20, epsilon=0.1, ledger=ledger).fit(X[:200], Y[:200])
    steps = cast("list[dict[str, Any]]", ledger.entries[1].record["steps"])
    mus = [step["cost"]["mu"] for step in steps]
    total = math.sqrt(sum(mu**2 for mu in mus))
    if isinstance(rule, BasicComposition):
        assert GDP(total).to_approx(delta=1e-6).epsilon == pytest.approx(1.0, rel=1e-3)
        assert GDP(total / 0.9).to_approx(delta=1e-6).epsilon > 1.05
    assert len(mus) == 1 + standardise
    if standardise:
        assert mus[0] ** 2 / total**2 == pytest.approx(MOMENTS_SHARE, rel=1e-6)


@pytest.mark.parametrize("given", [{}, {"standardise": False}, {"route": "edges"}], ids=str)
def test_nothing_that_was_not_paid_for_shows(given: dict[str, Any]) -> None:
    """One record replaced, its label included; releases pinned, so all that is kept must be the same."""
    labelled = np.column_stack([X[:60], Y[:60]])
    other = labelled.copy()
    other[3] = [1.0, -1.0, 1.0, 1.0 - other[3, 3]]

    def fit(data: FloatArray, noise: Any) -> RadoBoostClassifier:
        return boosted(number=10, rounds=5, random_state=noise, **given).fit(data[:, :3], data[:, 3].astype(int))

    check_fitted_surface(fit, [Pair(labelled, other)])


# --- nothing protected ------------------------------------------------------------------------------------------------


def test_without_protection_the_statement_says_so_and_nothing_is_charged(tmp_path: Path) -> None:
    found = boosted(protection=None).fit(X, Y)
    assert found.statement_.heading == "not private"
    assert "Nothing is promised" in str(found.statement_)
    assert found.receipts_ == ()
    assert not hasattr(found, "ledger_")
    found.save(tmp_path / "model.json")
    assert RadoBoostClassifier.load(tmp_path / "model.json").statement_ == found.statement_
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=BOOKS)
    with pytest.raises(ValueError, match="ledger: protection=None protects nothing"):
        boosted(protection=None, ledger=ledger).fit(X, Y)
    assert len(ledger.entries) == 1


def test_it_is_rado_boost_on_smoothed_rados_and_the_papers_choice_looks_at_examples() -> None:
    holder = released(protection=None, number=300).fit(X, Y)
    vectors = holder.rados_.vectors
    share = enough_smoothing(vectors)
    run = rado_boost(smoothed(vectors, share), 200, strong)
    best = boosted().fit_rados(holder)
    assert np.array_equal(best.model_.theta, run.theta(run.best_round))
    assert best.smoothing_ == share
    assert best.log_loss_ == pytest.approx(log_exponential_loss(smoothed(vectors, share), best.model_.theta), abs=1e-9)
    edges = np.where(Y > 0, 1.0, -1.0)[:, None] * holder.rados_.scaling.apply(np.column_stack([X, np.ones(len(X))]))
    wrong = [np.mean(edges @ run.theta(rounds) <= 0.0) for rounds in range(201)]
    assert fewest_errors(run, EdgeVectors(edges).rows) == int(np.argmin(wrong))
    paper = boosted(protection=None, number=300, keep="examples").fit(X, Y)
    assert paper.rounds_ == fewest_errors(run, EdgeVectors(edges).rows)
    assert paper.score(X, Y) == pytest.approx(1.0 - min(wrong), abs=1e-12)
    for protection, sensitive in (("examples", ()), ("feature", 0)):
        with pytest.raises(ValueError, match="keep: 'examples' looks at records"):
            boosted(protection=protection, sensitive=sensitive, keep="examples").fit(X, Y)


def test_smoothing_beats_what_is_published_and_comes_near_adaboost() -> None:
    """On records that were not learnt from; ada_boost sees all records, rado_boost 1,000 sums of them."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(6000, 8)) @ rng.normal(size=(8, 8))
    y = np.where(points @ rng.normal(size=8) + rng.normal(size=6000) > 0.0, 1, 0)
    train, test = slice(0, 4000), slice(4000, 6000)
    ours = boosted(protection=None, schema=None).fit(points[train], y[train]).score(points[test], y[test])
    paper = boosted(protection=None, schema=None, smoothing=0.0).fit(points[train], y[train])
    edges = np.where(y[train] > 0, 1.0, -1.0)[:, None] * scaling_of(points[train]).apply(points[train])
    ada = ada_boost(edges, 200)
    margin = scaling_of(points[train]).apply(points[test]) @ ada.theta()
    assert ours > paper.score(points[test], y[test])
    assert ours > np.mean((margin > 0) == (y[test] > 0)) - 0.01


# --- two parties ------------------------------------------------------------------------------------------------------


def test_a_file_of_rados_is_all_that_a_learner_needs(tmp_path: Path) -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=BOOKS)
    holder = released(ledger=ledger, number=100).fit(X, Y)
    holder.save(tmp_path / "rados.json")
    arrived = RadoRelease.load(tmp_path / "rados.json")
    assert np.array_equal(arrived.rados_.vectors, holder.rados_.vectors)
    assert arrived.statement_ == holder.statement_
    assert arrived.receipts_ == holder.receipts_
    spent = ledger.spent
    model = RadoBoostClassifier(rounds=200).fit_rados(arrived)
    direct = boosted(number=100).fit(X, Y)
    assert np.array_equal(model.coef_, direct.coef_)
    assert ledger.spent == spent
    assert model.statement_ == holder.statement_
    assert model.model_.rados == RadoBoostClassifier(rounds=3).fit_rados(holder).model_.rados
    model.save(tmp_path / "model.json")
    again = RadoBoostClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert (again.protection, again.epsilon, again.rounds) == ("examples", 1.0, 200)
    with pytest.raises(ValueError, match="keep: only the rados"):
        RadoBoostClassifier(keep="examples").fit_rados(arrived)
    with pytest.raises(NotFittedError):
        RadoBoostClassifier().fit_rados(RadoRelease())


def test_a_fit_after_fit_rados_leaves_nothing_behind() -> None:
    model = boosted().fit_rados(released(number=20).fit(X, Y))
    assert not hasattr(model, "ledger_")
    model.fit(X, Y)
    assert model.model_.rados is None
    assert model.ledger_.adjacency == ReplaceOne()
    model.fit_rados(released(number=20).fit(X, Y))
    assert not hasattr(model, "ledger_")


SPOILT: dict[str, Callable[[dict[str, Any]], object]] = {
    "a feature too few": lambda model: model.update(centre=model["centre"][:-1]),
    "not finite": lambda model: model["vectors"][0].__setitem__(0, 1e999),
    "no rados": lambda model: model.update(vectors=[]),
    "a scale of 0": lambda model: model["scale"].__setitem__(0, 0.0),
    "another protection": lambda model: model.update(protection="everything"),
    "names that are not the schema's": lambda model: model["coding"].update(names=["a", "b", "c"]),
    "no names": lambda model: model["coding"].update(names=[]),
    "no constant": lambda model: model["coding"].update(constant="yes"),
    "no records": lambda model: model.update(records=0),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_spoilt_file_is_refused_by_name(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "rados.json"
    released(number=4).fit(X, Y).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    SPOILT[fault](record["model"])
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ValueError, match=r"rados\.json"):
        RadoRelease.load(path)


# --- coding -----------------------------------------------------------------------------------------------------------


def test_columns_become_features_within_their_bounds() -> None:
    schema = Schema((Categorical("sort", ("a", "b", "c")), Numeric("age", 0.0, 100.0, outside="clip")))
    coding = Coding.of(schema, {"sort": ["a"], "age": [1]}, True)
    found = coding.encode({"age": ["100", "25", "999"], "sort": ["a", "b", "c"]}, "test")
    assert coding.feature_names == ("sort=a", "age", "sort=b", "sort=c", CONSTANT)
    assert found.tolist() == [[1, 1, -1, -1, 1], [-1, -0.5, 1, -1, 1], [-1, 1, -1, 1, 1]]
    assert Coding.from_record(coding.as_record()) == coding
    assert coding.columns(["age", 0], False) == (0, 1)
    faults: list[list[int | str]] = [["nobody"], [2], [True], ["age", 1]]
    for wanted in faults:
        with pytest.raises(ValueError, match=r"there is no column|named twice"):
            coding.columns(wanted, False)
    assert coding.columns(["age"], True) == (1,)
    with pytest.raises(ValueError, match="so name 1 too"):
        coding.columns([1], True)


def test_scaling_by_moments_is_scaling_by_the_data_where_there_is_no_noise() -> None:
    values = RNG.uniform(-1.0, 1.0, size=(500, 2)) * [1.0, 0.3] + [0.0, 0.4]
    exact, noisy = scaling_of(values), noisy_spread(np.stack([values.sum(axis=0), (values**2).sum(axis=0)]), 500, 0.0)
    assert noisy.centre == pytest.approx(exact.centre, rel=1e-9)
    assert noisy.scale == pytest.approx(exact.scale, rel=1e-9)
    constant = noisy_spread(np.array([[500.0], [500.0]]), 500, 10.0)
    assert constant.scale[0] ** 2 == pytest.approx(4.0 * 10.0 / 500)
    assert scaling_of(np.ones((5, 1))).scale[0] == 1.0
    with pytest.raises(ValueError, match="scales above 0"):
        Scaling([0.0], [0.0])


def test_dataframes_and_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    schema = Schema(tuple(Numeric(name, -1.0, 1.0) for name in frame.columns))
    model = boosted(schema=schema).fit(frame, Y)
    shuffled = frame[["c", "a", "b"]]
    assert np.array_equal(model.predict(frame), model.predict(shuffled))
    for given in ({}, {"protection": None, "schema": None}):
        with pytest.raises(ValueError, match="same order"):
            boosted(**given).fit(frame, Y).predict(shuffled)
    assert model.features_.tolist() == ["a", "b", "c"]
    assert model.coef_.shape == (1, 3)
    by_hand = X @ model.coef_[0] + model.intercept_[0]
    assert by_hand == pytest.approx(model.decision_function(frame), rel=1e-6, abs=1e-9)
    assert repr(released().fit(X, Y).rados_).count("[") == 0
    assert isinstance(released(number=2).fit(X, Y).rados_, Rados)


# --- what is refused --------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "pure": ({"delta": 0.0}, "delta"),
    "unknown protection": ({"protection": "all"}, "protection: expected one of"),
    "feature without a column": ({"protection": "feature"}, "sensitive"),
    "a column without feature": ({"sensitive": 0}, "sensitive"),
    "no such column": ({"protection": "feature", "sensitive": "nobody"}, "there is no column 'nobody'"),
    "route of another protection": ({"route": "sums"}, "route: 'sums' does not go with"),
    "unknown route": ({"route": "by train"}, "route: expected one of"),
    "odd number": ({"number": 11}, "number: with noise on rados they come in pairs"),
    "no rados": ({"number": 0}, "number"),
    "support with noise on rados": ({"support": 5}, "support: only where"),
    "support of more records": ({"protection": None, "support": 10**6}, "support: 1000000 records are more"),
    "radius without need": ({"protection": None, "radius": 1.0}, "radius: only for"),
    "no radius": ({"radius": 0.0}, "radius"),
    "truncation": ({"truncation": 1.0}, "truncation: only for"),
    "no rounds": ({"rounds": 0}, "rounds"),
    "oracle": ({"oracle": "delphi"}, "oracle"),
    "prudence": ({"oracle": 1.5}, "oracle"),
    "shrinkage": ({"shrinkage": 0.5}, "shrinkage"),
    "least": ({"least": 1.0}, "least"),
    "smoothing": ({"smoothing": 1.0}, "smoothing"),
    "keep": ({"keep": "calm"}, "keep"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_bad_parameters_are_refused_before_anything_is_charged(fault: str) -> None:
    given, message = REFUSED[fault]
    adjacency = FeatureValue(0) if given.get("protection") == "feature" else ReplaceOne()
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=adjacency)
    payer = {} if given.get("protection", "") is None else {"ledger": ledger}
    with pytest.raises((ValueError, TypeError), match=message):
        boosted(**payer, **given).fit(X, Y)
    assert len(ledger.entries) == 1


def test_bad_tables_are_refused_before_anything_is_charged() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=BOOKS)
    holes = X.copy()
    holes[5, 1] = math.nan
    for table, labels, message in (
        (holes, Y, "NaN"),
        (X * [1, 1, math.inf], Y, "infin"),
        (X, Y[:-1], "records"),
        (X[:0], Y[:0], "at least one record"),
    ):
        with pytest.raises(ValueError, match=message):
            boosted(ledger=ledger).fit(table, labels)
    assert len(ledger.entries) == 1


def test_a_clone_keeps_the_ledger_and_learns_the_same() -> None:
    ledger = Ledger(ApproxDP(4.0, 1e-5), composition=BasicComposition(), adjacency=BOOKS)
    first = boosted(ledger=ledger).fit(X, Y)
    second = clone(first).fit(X, Y)
    assert second.ledger is ledger
    assert np.array_equal(first.coef_, second.coef_)
    assert isinstance(ledger.spent, ApproxDP)
    assert ledger.spent.epsilon == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("how", ["fitted", "loaded", "fit_rados"])
def test_columns_without_a_schema_keep_their_order_wherever_the_model_comes_from(how: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = boosted(protection=None, schema=None).fit(frame, Y)
    if how == "loaded":
        model.save(tmp_path / "model.json")
        model = RadoBoostClassifier.load(tmp_path / "model.json")
    if how == "fit_rados":
        model = boosted().fit_rados(released(protection=None, schema=None).fit(frame, Y))
    assert model.score(frame, Y) > 0.95
    for other in (frame[["c", "a", "b"]], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(other)


def test_what_could_fail_fails_before_the_charge() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=BOOKS)
    wide = np.zeros((2, 2**18 + 1))
    for route in ("rados", "edges"):
        with pytest.raises(ValueError, match=r"2\^18 coordinates"):
            boosted(route=route, schema=BOX, ledger=ledger).fit(wide, [0, 1])
    table = released().encoded(X, Y)
    sample = table.sample()
    assert sample is not None
    for spoilt in (
        {"features": sample.features * math.nan},
        {"features": sample.features[0]},
        {"labels": sample.labels[:-1]},
        {"labels": sample.labels * 0},
    ):
        with pytest.raises(ValueError, match="expected"):
            attrs.evolve(sample, **spoilt)
    with pytest.raises(ValueError, match="expected 4 features"):
        attrs.evolve(table, rows=MemoryRows.of(RadoSample(X, sample.labels), len(X)))
    assert len(ledger.entries) == 1


def test_rados_that_say_nothing_make_a_classifier_that_says_nothing() -> None:
    """What was paid for is not lost in an error."""
    model = boosted(protection="feature", sensitive=0, schema=None, fit_intercept=False, number=2, standardise=False)
    found = model.fit(np.array([[0], [1]]), [0, 1])
    assert np.all(np.isfinite(found.coef_))
    holder = released(protection=None, number=2, fit_intercept=False, standardise=False).fit(
        np.zeros((4, 2)), [0, 1, 0, 1]
    )
    nothing = boosted().fit_rados(holder)
    assert not nothing.coef_.any()
    assert set(nothing.predict(X[:5, :2])) == {0}


def test_a_file_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rados.json"
    released(protection=None, number=4).fit(X, Y).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    for change in (
        {"model": {**record["model"], "protection": "examples"}},
        {"parameters": {"protection": "examples"}},
    ):
        path.write_text(json.dumps({**record, **change}), encoding="utf-8")
        with pytest.raises(ValueError, match="contradicts itself"):
            RadoRelease.load(path)


def test_a_model_does_not_borrow_another_statement(tmp_path: Path) -> None:
    paths = {}
    cases: dict[str, dict[str, Any]] = {
        "none": {"protection": None},
        "examples": {},
        "feature": {"protection": "feature", "sensitive": [0]},
    }
    for name, given in cases.items():
        paths[name] = tmp_path / f"{name}.json"
        boosted(number=4, rounds=3, **given).fit(X, Y).save(paths[name])
    records = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    for mine, theirs in itertools.permutations(records, 2):
        forged = tmp_path / "forged.json"
        forged.write_text(json.dumps({**records[mine], "statement": records[theirs]["statement"]}), encoding="utf-8")
        with pytest.raises(ValueError, match="contradicts itself"):
            RadoBoostClassifier.load(forged)


def test_rados_with_classes_that_no_file_holds_can_be_learnt_from() -> None:
    holder = released(number=20, classes=(b"no", b"yes")).fit(X, np.where(Y > 0, b"yes", b"no"))
    model = boosted().fit_rados(holder)
    assert model.model_.rados is None
    assert set(model.predict(X[:50])) <= {b"no", b"yes"}


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200])
def test_numbers_of_any_size_are_learnt_from_or_left_aside(size: float) -> None:
    rados = np.array([[1.0, size], [2.0, size], [0.5, -size]])
    run = rado_boost(rados, 20)
    assert np.all(np.isfinite(run.theta()))
