"""Every private classifier: scikit-learn's own checks, all kinds of tables, one ledger, and files.

Learners are found by walking the subclasses of `PrivateClassifier`, so a new one is tested as soon as `learners`
imports it.
"""

import importlib
import inspect
import json
import pickle
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

from accountant import ApproxDP, BasicComposition, BudgetExceeded, Ledger
from learners import (
    Boolean,
    Bounds,
    Categorical,
    EncodedSample,
    Layout,
    LazyBoostClassifier,
    Numeric,
    PrivateBoostClassifier,
    Schema,
)
from learners.additive.private_boost import RELATIONS
from learners.base.table_classifier import PrivateClassifier
from learners.tables.labels import class_numbers, coded_labels, observed_classes, signs
from learners.tables.public_classes import class_array, distinct_classes
from proofs_tests.support.learners.histograms import HistogramClassifier
from proofs_tests.support.ledgers.separate import separate
from proofs_tests.support.ledgers.settled import settled

Array = npt.NDArray[Any]
Learner = PrivateClassifier[Any]

ARGUMENTS: dict[str, dict[str, object]] = {
    "LazyBoostClassifier": {"rounds": 9},
    "DPRandomForestClassifier": {"n_estimators": 9, "depth": 4},
    "DPGradientBoostingClassifier": {"n_estimators": 2, "ensemble": 2, "depth": 2},
    "PrivateBoostClassifier": {"weight_cap": 10.0},
}
"""Per learner, the arguments that make it quick on small tables; the others are tested with their defaults."""


def derived(kind: type[Learner]) -> Iterator[type[Learner]]:
    for below in kind.__subclasses__():
        yield below
        yield from derived(below)


def learners() -> list[type[Learner]]:
    """Ours, and a multi-class one that is kept for these tests."""
    importlib.import_module("learners")
    ours = (
        kind for kind in derived(cast("type[Learner]", PrivateClassifier)) if kind.__module__.startswith("learners.")
    )
    concrete = {kind.__name__: kind for kind in ours if not inspect.isabstract(kind)}
    return [*(concrete[name] for name in sorted(concrete)), HistogramClassifier]


LEARNERS = learners()
every_learner = pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)


def build(kind: type[Learner], **arguments: object) -> Learner:
    given = {"epsilon": 1.0, "delta": 1e-6, "random_state": 0, **ARGUMENTS.get(kind.__name__, {}), **arguments}
    return cast("Learner", cast("Any", kind)(**given))


def ledger_for(learner: Learner, epsilon: float = 100.0) -> Ledger:
    relation = RELATIONS[getattr(learner, "adjacency", "replace-one")]
    return Ledger(ApproxDP(epsilon, 1e-3), composition=BasicComposition(), adjacency=relation)


def charges(ledger: Ledger) -> int:
    return sum(entry.kind == "charged" for entry in ledger.entries)


@every_learner
@pytest.mark.filterwarnings("ignore")
def test_columns_of_a_frame_are_held_to_their_names(kind: type[Learner]) -> None:
    learner = build(kind, schema=Bounds(-3, 3, bins=4), classes="observed")
    estimator_checks.check_dataframe_column_names_consistency(kind.__name__, learner)


# --- tables of every kind ------------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("age", 0, 100, bins=4), Categorical("job", ("clerk", "smith")), Boolean("member")))
N = 150


def people(n: int = N, seed: int = 0) -> tuple[dict[str, Array], Array]:
    draw = np.random.default_rng(seed)
    table = {
        "age": draw.integers(0, 100, n),
        "job": draw.choice(["clerk", "smith"], n),
        "member": draw.integers(0, 2, n).astype(np.bool_),
    }
    return table, np.where(table["age"] >= 50, "yes", "no")


PEOPLE, RICH = people()
FRAME = pd.DataFrame(PEOPLE)
TABLES: dict[str, object] = {
    "frame": FRAME,
    "another order": FRAME[["member", "age", "job"]],
    "categorical dtype": FRAME.astype({"job": "category"}),
    "nullable dtypes": FRAME.astype({"age": "Int64", "job": "string", "member": "boolean"}),
    "object columns": FRAME.astype(object),
    "text": FRAME.astype({"age": str}),
    "object array": FRAME.astype(object).to_numpy(),
    "lists": {name: values.tolist() for name, values in PEOPLE.items()},
}
LABELS: dict[str, object] = {
    "list": RICH.tolist(),
    "objects": RICH.astype(object),
    "series": pd.Series(RICH),
    "string dtype": pd.Series(RICH, dtype="string"),
    "categorical dtype": pd.Series(RICH).astype("category"),
}


@separate
@every_learner
def test_all_kinds_of_tables_and_labels_are_one(kind: type[Learner]) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
    expected = learner.fit(PEOPLE, RICH).decision_function(PEOPLE)
    for name, table in TABLES.items():
        scores = clone(learner).fit(table, RICH).decision_function(table)
        assert np.array_equal(scores, expected), name
        assert np.array_equal(learner.decision_function(cast("Any", table)), expected), name
    for name, y in LABELS.items():
        again = clone(learner).fit(PEOPLE, y)
        assert np.array_equal(again.decision_function(PEOPLE), expected), name
        assert again.classes_.tolist() == ["no", "yes"]


def bad_fits() -> dict[str, tuple[object, object, str]]:
    X, y = FRAME.astype({"job": "category"}), pd.Series(RICH)
    late = np.arange(N) == N - 1
    return {
        "missing category": (X.assign(job=X["job"].where(~late)), y, "column 'job', row 149"),
        "NA": (X.assign(age=X["age"].astype("Int64").where(~late)), y, "column 'age', row 149: .*Input X contains NaN"),
        "NA among Booleans": (X.assign(member=X["member"].astype("boolean").where(~late)), y, "column 'member'"),
        "infinite": (X.assign(age=X["age"].astype(float).where(~late, np.inf)), y, "column 'age', row 149: inf"),
        "an object": (X.assign(age=X["age"].astype(object).where(~late, {})), y, "must be a string or a real number"),
        "masked column": ({**PEOPLE, "age": np.ma.masked_array(PEOPLE["age"], late)}, y, "'age': masked arrays"),
        "masked array": (np.ma.masked_array(np.zeros((N, 3))), y, "X: masked arrays are not supported"),
        "sparse": (sparse.csr_array(np.eye(N, 3)), y, "sparse input is not supported"),
        "one dimension": (np.zeros(N), y, "Reshape your data"),
        "no column": (np.zeros((N, 0)), y, r"0 feature\(s\)"),
        "too few columns": (np.zeros((N, 2)), y, "X has 2 features, but .* is expecting 3 features as input"),
        "a column missing": (X[["age", "job"]], y, r"lacks the columns \['member'\]"),
        "a name twice": (pd.concat([X, X[["age"]]], axis=1), y, "names a column twice"),
        "no record": (X[:0], y[:0], "at least one record"),
        "y shorter": (X, y[:-1], "X has 150 records, y has 149"),
        "y masked": (X, np.ma.masked_array(RICH, late), "y: masked arrays"),
        "y missing": (X, y.where(~late), "y: row 149 is NaN or missing"),
        "y NA": (X, y.astype("string").where(~late), "y: row 149 is NaN or missing"),
        "y None": (X, None, "requires y to be passed, but the target y is None"),
        "y wide": (X, np.stack([RICH, RICH], axis=1), "y should be a 1d array"),
        "y complex": (X, late + 1j, "Complex data not supported"),
        "y infinite": (X, np.where(late, np.inf, 0.0), "y: row 149 is infinite"),
        "another class": (X, np.where(late, "maybe", RICH), "row 149 is 'maybe', and the public classes are"),
    }


BAD_FITS = bad_fits()


@every_learner
@pytest.mark.parametrize("fault", BAD_FITS)
def test_bad_data_are_refused_before_anything_is_charged(kind: type[Learner], fault: str) -> None:
    X, y, message = BAD_FITS[fault]
    learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
    learner.set_params(ledger=ledger_for(learner))
    with pytest.raises((ValueError, TypeError), match=message):
        learner.fit(cast("Any", X), cast("Any", y))
    assert isinstance(learner.ledger, Ledger)
    assert [entry.kind for entry in learner.ledger.entries] == ["opened"]
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)


@every_learner
def test_bad_parameters_are_refused_by_name_before_anything_is_charged(kind: type[Learner]) -> None:
    for name in kind._checks:
        learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
        ledger = ledger_for(learner)
        learner.set_params(ledger=ledger, **{name: object()})
        with pytest.raises((ValueError, TypeError), match=name):
            learner.fit(PEOPLE, RICH)
        assert len(ledger.entries) == 1


# --- one ledger ----------------------------------------------------------------------------------------------------


@every_learner
def test_a_grid_search_in_a_pipeline_pays_for_each_fit(kind: type[Learner]) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
    alone, shared = ledger_for(learner), ledger_for(learner)
    clone(learner).set_params(ledger=alone).fit(FRAME, RICH)
    step = kind.__name__.lower()
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), clone(learner).set_params(ledger=shared)),
        {f"{step}__epsilon": [0.5, 1.0]},
        cv=KFold(2),
        error_score="raise",
    )
    search.fit(FRAME, RICH)
    assert search.best_estimator_[-1].ledger is shared
    assert charges(alone) >= 1
    assert charges(shared) == 5 * charges(alone)  # two values on two folds, and once more on all records
    assert settled(shared)
    spent = shared.spent.to_approx() if hasattr(shared.spent, "to_approx") else shared.spent
    assert 0.0 < spent.epsilon <= 2 * (0.5 + 1.0) + 1.0


@every_learner
def test_what_the_ledger_cannot_pay_is_refused_and_leaves_the_last_fit(kind: type[Learner]) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
    learner.set_params(ledger=ledger_for(learner, 1.5)).fit(FRAME, RICH)
    model, paid = learner.model_, charges(learner.ledger_)
    with pytest.raises(BudgetExceeded):
        learner.set_params(epsilon=100.0).fit(FRAME, RICH)
    assert charges(learner.ledger_) == paid
    assert learner.model_ is model


# --- keeping it ----------------------------------------------------------------------------------------------------


@every_learner
def test_a_model_is_restored_by_the_base_class(kind: type[Learner], tmp_path: Path) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes")).fit(FRAME, RICH)
    learner.save(tmp_path / "model.json")
    loaded: Learner = PrivateClassifier.load(tmp_path / "model.json")
    assert type(loaded) is kind
    assert np.array_equal(loaded.decision_function(FRAME), learner.decision_function(FRAME))
    assert np.array_equal(loaded.predict(FRAME), learner.predict(FRAME))
    assert loaded.statement_ == learner.statement_
    assert loaded.classes_.tolist() == ["no", "yes"]
    kept = {name: loaded.get_params()[name] for name in learner.parameters_}
    assert json.dumps(kept) == json.dumps(learner.parameters_), "JSON makes lists of tuples"
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@every_learner
def test_a_pickled_model_leaves_its_ledger_behind(kind: type[Learner]) -> None:
    learner = build(kind, schema=Bounds(0, 1, bins=2)).fit(FRAME[["member"]], np.arange(N) % 2)
    again = pickle.loads(pickle.dumps(learner))  # noqa: S301 -- our own bytes
    assert not hasattr(again, "ledger_")
    assert np.array_equal(again.predict(FRAME[["member"]]), learner.predict(FRAME[["member"]]))
    assert again.statement_ == learner.statement_


@every_learner
def test_objects_among_the_parameters_cannot_be_saved(kind: type[Learner], tmp_path: Path) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes")).fit(FRAME, RICH)
    learner.parameters_["strange"] = object()
    with pytest.raises(TypeError, match=r"strange: .* cannot be saved"):
        learner.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def test_classes_that_are_objects_are_learnt_but_cannot_be_saved(tmp_path: Path) -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    y = np.array([half, third] * (N // 2), dtype=object)
    learner = LazyBoostClassifier(schema=SCHEMA, classes=(half, third), rounds=2, random_state=0).fit(FRAME, y)
    assert set(learner.predict(FRAME)) <= {half, third}
    with pytest.raises(TypeError, match=r"classes: .*Fraction.* cannot be saved"):
        learner.save(tmp_path / "model.json")


def test_a_class_that_is_infinite_cannot_be_saved(tmp_path: Path) -> None:
    """JSON has no such number, and a file with one would be refused by whoever verifies it."""
    X = np.random.default_rng(0).integers(0, 2, (60, 2))
    y = np.where(X[:, 0] == 1, np.inf, 0.0).astype(object)  # as floats, labels must be finite
    model = LazyBoostClassifier(1.0, rounds=2, classes=(0.0, np.inf), random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"classes: .*inf.* cannot be saved"):
        model.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"learner": "Nobody"}, "of 'Nobody', which is not"),
        ({"classes": ["no"]}, "two distinct classes or more"),
        ({"classes": ["no", "no"]}, "two distinct classes or more"),
        ({"classes": ["a", "b", "c"]}, "binary and has 3 classes"),
        ({"parameters": {"unheard": 1}}, "unheard"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(
    tmp_path: Path, damage: Mapping[str, object], message: str
) -> None:
    LazyBoostClassifier(rounds=2, random_state=0).fit(FRAME[["member"]], np.arange(N) % 2).save(tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps({**record, **damage}))
    with pytest.raises(ValueError, match=rf"m\.json: .*{message}"):
        PrivateClassifier.load(tmp_path / "m.json")


# --- classes -------------------------------------------------------------------------------------------------------


def three_blobs(n: int = 300) -> tuple[Array, Array]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, n)
    return draw.normal(0, 0.3, (n, 2)) + np.array([[0, 2], [2, 0], [-2, -2]])[y], np.array(["a", "b", "c"])[y]


def test_three_classes_are_learnt_and_kept(tmp_path: Path) -> None:
    X, y = three_blobs()
    learner = HistogramClassifier(5.0, schema=Bounds(-4, 4, bins=8), classes=("c", "a", "b"), random_state=0).fit(X, y)
    scores = learner.decision_function(X)
    assert scores.shape == (300, 3)
    assert np.array_equal(learner.predict(X), np.array(["c", "a", "b"])[np.argmax(scores, axis=1)])
    assert learner.score(X, y) > 0.95
    learner.save(tmp_path / "model.json")
    assert np.array_equal(PrivateClassifier.load(tmp_path / "model.json").predict(X), learner.predict(X))


def test_equal_scores_go_to_the_first_class() -> None:
    X, y = three_blobs()
    learner = HistogramClassifier(schema=Bounds(-4, 4), classes=("c", "a", "b"), random_state=0).fit(X, y)
    level = np.zeros_like(learner.model_.counts)
    object.__setattr__(learner.model_, "counts", level)
    assert set(learner.predict(X)) == {"c"}


@separate
@every_learner
def test_encoding_and_fitting_may_be_two_steps(kind: type[Learner]) -> None:
    learner = build(kind, schema=SCHEMA, classes=("no", "yes"))
    steps = clone(learner).fit_encoded(learner.encoded(FRAME, RICH))
    assert np.array_equal(steps.decision_function(FRAME), learner.fit(FRAME, RICH).decision_function(FRAME))


def test_a_class_that_nobody_has_is_a_class() -> None:
    """The declared classes count, not those that occur: else their number would tell something about the data."""
    X, y = three_blobs()
    some = y != "b"
    learner = HistogramClassifier(schema=Bounds(-4, 4), classes=("a", "b", "c"), random_state=0).fit(X[some], y[some])
    assert learner.decision_function(X).shape == (300, 3)


def test_binary_learners_refuse_a_third_class_before_the_charge() -> None:
    X, y = three_blobs()
    for classes in (("a", "b", "c"), "observed"):
        learner = build(LazyBoostClassifier, schema=Bounds(-4, 4), classes=classes)
        learner.set_params(ledger=ledger_for(learner))
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            learner.fit(X, y)
        assert isinstance(learner.ledger, Ledger)
        assert len(learner.ledger.entries) == 1


def test_observed_classes_are_an_explicit_choice() -> None:
    X, y = three_blobs()
    two = y != "c"
    with pytest.raises(ValueError, match="undeclared class"):
        build(LazyBoostClassifier, schema=Bounds(-4, 4)).fit(X[two], y[two])
    learner = build(LazyBoostClassifier, schema=Bounds(-4, 4), classes="observed").fit(X[two], y[two])
    assert learner.classes_.tolist() == ["a", "b"]
    assert learner.get_params()["classes"] == "observed"
    with pytest.raises(ValueError, match="'observed' needs y"):
        learner.fit_encoded(learner.encoded(X[two], y[two]))
    with pytest.raises(ValueError, match="one class only, 'a'"):
        learner.fit(X[y == "a"], y[y == "a"])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        learner.fit(X, X[:, 0])


@separate
def test_a_column_of_labels_is_taken_with_scikit_learns_warning() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        learner = build(LazyBoostClassifier, schema=SCHEMA, classes=("no", "yes")).fit(FRAME, pd.DataFrame(RICH))
    assert np.array_equal(learner.predict(FRAME), clone(learner).fit(FRAME, RICH).predict(FRAME))


names = st.lists(st.one_of(st.integers(-9, 9), st.text(max_size=3)), min_size=2, max_size=6, unique=True)


@given(names, st.data())
def test_labels_are_places_among_the_classes(classes: list[object], data: st.DataObject) -> None:
    places = data.draw(
        st.lists(st.integers(0, len(classes) - 1), min_size=2, max_size=20).filter(lambda p: len(set(p)) > 1)
    )
    y = np.empty(len(places), dtype=object)
    for row, place in enumerate(places):
        y[row] = classes[place]
    assert class_numbers(y, classes).tolist() == places
    assert class_array(classes)[places].tolist() == y.tolist()
    coded = coded_labels(y, classes)
    assert coded.dtype == np.int8
    assert coded.tolist() == (places if len(classes) > 2 else [2 * place - 1 for place in places])


@given(st.lists(st.integers(-5, 5), min_size=1))
def test_observed_classes_are_the_sorted_distinct_labels(y: list[int]) -> None:
    assert observed_classes(y) == tuple(sorted(set(y)))
    assert observed_classes(np.array(y, dtype=float)) == tuple(sorted(set(y)))


def test_classes_must_be_told_apart() -> None:
    for classes in ("ab", ("a",), (1, 1), (0, False), [0, 1, 1.0], tuple(range(128))):
        with pytest.raises(ValueError, match=r"two distinct classes or more|at most 127"):
            distinct_classes(cast("Any", classes))
    with pytest.raises(ValueError, match="expected two classes"):
        signs([0, 1, 2], (0, 1, 2))
    with pytest.raises(ValueError, match="mixes kinds of labels"):
        observed_classes(np.array(["a", 1], dtype=object))


# --- samples that were encoded elsewhere ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in LEARNERS if kind.__module__.startswith("learners.")], ids=str)
@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("codes", np.full((2, 8), 2)),
        ("codes", np.full((2, 8), -1)),
        ("codes", np.full((2, 8), 0.5)),
        ("codes", np.zeros((2, 7), dtype=np.intp)),
        ("labels", np.full(8, 3, dtype=np.int8)),
        ("labels", np.full(8, np.nan)),
        ("weights", np.full(8, 5000, dtype=np.int32)),
        ("weights", np.full(8, np.nan)),
    ],
)
def test_a_sample_that_is_not_what_it_says_is_refused_before_the_charge(
    kind: type[Learner], part: str, wrong: npt.NDArray[Any]
) -> None:
    layout = Layout(Schema.boolean(["a", "b"]))
    codes, labels = np.tile([0, 1], (2, 4)).astype(np.intp), np.tile([-1, 1], 4).astype(np.int8)
    fields: dict[str, Any] = {"layout": layout, "codes": codes, "labels": labels}
    ledger = ledger_for(learner := build(kind))
    with pytest.raises(ValueError, match=r"code|label|weight|whole numbers"):
        learner.set_params(ledger=ledger).fit_encoded(EncodedSample(**{**fields, part: wrong}))
    assert charges(ledger) == 0


def test_more_classes_than_a_byte_holds_are_refused() -> None:
    names = tuple(range(128))
    with pytest.raises(ValueError, match="at most 127"):
        PrivateBoostClassifier(classes=names).fit(np.zeros((256, 1)), np.repeat(names, 2))
    with pytest.raises(ValueError, match="at most 127"):
        PrivateBoostClassifier(classes="observed").fit(np.zeros((256, 1)), np.repeat(names, 2))
