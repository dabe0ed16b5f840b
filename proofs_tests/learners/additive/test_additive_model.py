"""The additive model: scores against a slow reference, curves that add up to them, and JSON that loses nothing."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray, IntArray
from learners.additive.additive_model import AdditiveModel, Term
from learners.additive.grids import followed_grids
from learners.additive.posteriors import with_own_bin
from learners.additive.private_boost import PrivateBoostClassifier
from learners.additive.views import View, views
from learners.encoding.partitions import FINEST, refined
from learners.tables import Ordered, encode
from learners.tables.schema import Boolean, Categorical, Label, Numeric, Schema
from proofs_tests.support.ledgers.separate import separate

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue")),
        refined(Numeric("age", 17.0, 90.0)),
        Boolean("member"),
        Numeric("score", 0.0, 1.0, bins=4),
    ),
    Label("rich", ("no", "yes")),
)
PAIRS = [("colour", "age"), ("member", "score")]
shapes = st.sampled_from([(), (3,), (5,)])
seeds = st.integers(0, 2**32 - 1)


def seen(seed: int) -> list[View]:
    counts = np.random.default_rng(seed).exponential(30.0, size=(1, 256))
    return views(SCHEMA, followed_grids(SCHEMA, lambda parts: counts, 5.0, 5.0, 5.0), PAIRS)


def model_of(shape: tuple[int, ...], seed: int) -> AdditiveModel:
    rng = np.random.default_rng(seed)
    terms = [Term(view.columns, view.maps, rng.normal(size=(*view.shape, *shape))) for view in seen(seed)]
    return AdditiveModel(SCHEMA, np.asarray(rng.normal(size=shape)), terms)


def some_codes(n: int, seed: int) -> IntArray:
    rng = np.random.default_rng(seed)
    return np.array([rng.integers(0, column.cells, n) for column in SCHEMA.columns])


def slow_scores(model: AdditiveModel, codes: IntArray, record: int) -> FloatArray:
    total = np.array(model.intercept)
    for term in model.terms:
        place = [cells[codes[column, record]] for column, cells in zip(term.columns, term.maps, strict=True)]
        total = total + term.values[tuple(place)]
    return total


# --- scores and curves -------------------------------------------------------------------------------------------


@given(shapes, seeds)
def test_scores_are_those_of_a_slow_reference(shape: tuple[int, ...], seed: int) -> None:
    model, codes = model_of(shape, seed), some_codes(9, seed)
    scores = model.scores(codes)
    assert scores.shape == (9, *shape)
    for record in range(9):
        assert np.allclose(scores[record], slow_scores(model, codes, record), rtol=1e-12, atol=1e-12)
    assert model.classes == (shape[0] if shape else 2)


@given(shapes, seeds)
def test_a_records_score_depends_on_that_record_alone(shape: tuple[int, ...], seed: int) -> None:
    model, codes = model_of(shape, seed), some_codes(12, seed)
    alone = np.concatenate([model.scores(codes[:, [record]]) for record in range(12)])
    assert np.array_equal(model.scores(codes), alone)
    assert model.scores(codes[:, :0]).shape == (0, *shape)


@given(shapes, seeds)
def test_curves_add_up_to_the_scores(shape: tuple[int, ...], seed: int) -> None:
    """A reader who looks up each curve by hand gets what the model says."""
    model, codes = model_of(shape, seed), some_codes(6, seed)
    curves = {curve.columns: curve for curve in model.curves()}
    assert len(curves) == len(model.terms)
    total = np.zeros((6, *shape)) + model.intercept
    for view in seen(seed):
        curve = curves[tuple(SCHEMA.names[column] for column in view.columns)]
        assert len(curve.cells) == len(curve.effects) == view.number
        assert len(set(curve.cells)) == view.number, "no two cells have one name"
        total += curve.effects[view.cells(codes)]
    assert np.allclose(total, model.scores(codes), rtol=1e-12, atol=1e-12)


@given(shapes, seeds)
def test_the_most_influential_curve_comes_first(shape: tuple[int, ...], seed: int) -> None:
    spans = [curve.span for curve in model_of(shape, seed).curves()]
    assert spans == sorted(spans, reverse=True)
    assert all(span >= 0.0 for span in spans)


def test_cells_are_called_what_they_hold() -> None:
    model = model_of((), 0)
    cells = {curve.columns: [cell for (cell,) in curve.cells] for curve in model.curves() if len(curve.columns) == 1}
    assert cells["colour",] == ["red", "green", "blue"]
    assert cells["member",] == ["0", "1"]
    assert cells["score",] == ["[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]"]
    assert cells["age",][0].startswith("[17, ")
    assert cells["age",][-1].endswith(", 90]")
    ends = [cell.strip("[)]").split(", ") for cell in cells["age",]]
    assert [end for _, end in ends[:-1]] == [start for start, _ in ends[1:]], "they leave no gap"
    pair = next(curve for curve in model.curves() if curve.columns == ("member", "score"))
    assert pair.cells[:5] == (("0", "[0, 0.25)"), ("0", "[0.25, 0.5)"), ("0", "[0.5, 0.75)"), ("0", "[0.75, 1]"),
                              ("1", "[0, 0.25)"))  # fmt: skip


# --- JSON --------------------------------------------------------------------------------------------------------


@given(shapes, seeds)
def test_json_loses_nothing(shape: tuple[int, ...], seed: int) -> None:
    model, codes = model_of(shape, seed), some_codes(7, seed)
    again = AdditiveModel.from_record(json.loads(json.dumps(model.as_record())))
    assert again.as_record() == model.as_record()
    assert again.schema == model.schema
    assert np.array_equal(again.scores(codes), model.scores(codes))
    assert again.intercept.shape == model.intercept.shape


def test_a_record_is_a_copy() -> None:
    model = model_of((), 0)
    record = model.as_record()
    cast("list[dict[str, object]]", record["terms"])[0]["columns"] = [99]
    assert model.as_record() != record


Damage = Callable[[dict[str, object]], object]


def term(record: dict[str, object], number: int) -> dict[str, list[object]]:
    return cast("list[dict[str, list[object]]]", record["terms"])[number]


DAMAGES: dict[str, Damage] = {
    "column beyond": lambda record: term(record, 0).update(columns=[99]),
    "column before": lambda record: term(record, 0).update(columns=[-1]),
    "column of text": lambda record: term(record, 0).update(columns=["colour"]),
    "column as a fraction": lambda record: term(record, 0).update(columns=[0.5]),
    "no column": lambda record: term(record, 0).update(columns=[], maps=[], values=[]),
    "three columns": lambda record: term(record, 0).update(
        columns=[0, 2, 3], maps=[[0, 1, 2], [0, 1], [0, 1, 2, 3]], values=list(np.zeros((3, 2, 4)).tolist())
    ),
    "one column twice": lambda record: term(record, 4).update(columns=[0, 0]),
    "a map too many": lambda record: term(record, 0)["maps"].append([0, 1, 2]),
    "a map too few": lambda record: term(record, 4)["maps"].pop(),
    "a map too short": lambda record: cast("list[object]", term(record, 0)["maps"][0]).pop(),
    "a map beyond the table": lambda record: term(record, 0).update(maps=[[0, 1, 3]]),
    "a map before the table": lambda record: term(record, 0).update(maps=[[0, -1, 2]]),
    "a map that leaves cells out": lambda record: term(record, 0).update(maps=[[0, 1, 1]]),
    "a map of fractions": lambda record: term(record, 0).update(maps=[[0.0, 1.5, 2.0]]),
    "a map of text": lambda record: term(record, 0).update(maps=[["0", "1", "2"]]),
    "categories in another order": lambda record: term(record, 0).update(maps=[[1, 0, 2]]),
    "numbers in another order": lambda record: term(record, 3).update(maps=[[0, 2, 1, 3]]),
    "values of one axis too few": lambda record: term(record, 4).update(values=[1.0] * 3),
    "values of one axis too many": lambda record: term(record, 0).update(values=[[1.0, 2.0]] * 3),
    "values of unequal lengths": lambda record: term(record, 4).update(values=[[1.0], [1.0, 2.0], [1.0]]),
    "a value of NaN": lambda record: term(record, 0).update(values=[0.0, float("nan"), 1.0]),
    "an infinite value": lambda record: term(record, 0).update(values=[0.0, float("inf"), 1.0]),
    "no values": lambda record: term(record, 0).update(values=[]),
    "values of text": lambda record: term(record, 0).update(values=["a", "b", "c"]),
    "an intercept of NaN": lambda record: record.update(intercept=float("nan")),
    "an intercept of two": lambda record: record.update(intercept=[0.0, 1.0]),
    "an intercept of three": lambda record: record.update(intercept=[0.0, 1.0, 2.0]),
    "an intercept of text": lambda record: record.update(intercept="low"),
    "another schema": lambda record: record.update(schema=Schema.boolean(["a"]).as_dict()),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_malformed_record_is_refused(damage: Damage) -> None:
    record = copy.deepcopy(model_of((), 0).as_record())
    assert AdditiveModel.from_record(record).as_record() == record
    damage(record)
    with pytest.raises(ValueError, match=r"."):
        AdditiveModel.from_record(record)


@pytest.mark.parametrize("missing", ["schema", "intercept", "terms"])
def test_a_record_that_lacks_a_part_is_refused(missing: str) -> None:
    record = model_of((), 0).as_record()
    del record[missing]
    with pytest.raises(KeyError, match=missing):
        AdditiveModel.from_record(record)


# --- files --------------------------------------------------------------------------------------------------------


@given(shapes, st.booleans(), seeds)
def test_files_keep_the_cuts_that_the_model_tells_apart(shape: tuple[int, ...], paired: bool, seed: int) -> None:
    """The same scores of every number, and few cuts; what was cut coarsely stays as it is."""
    rng = np.random.default_rng(seed)
    fine = Schema(
        (refined(Numeric("age", 17.0, 90.0, missing="own"), FINEST), refined(Numeric("pay", 0.0, 1.0))), SCHEMA.label
    )
    steps = rng.random(fine.columns[0].cells - 2) < 0.01
    cells = with_own_bin(np.concatenate([[0], np.cumsum(steps)]))
    values = rng.normal(size=(int(cells[-1]) + 1, *shape))
    terms = [Term((0,), (cells,), values)]
    if paired:
        coarse = np.minimum(cells, cells[-1] // 2) if cells[-1] < 2 else with_own_bin(cells[:-1] // 2)
        other = np.arange(256) // 64
        terms.append(Term((0, 1), (coarse, other), rng.normal(size=(int(coarse[-1]) + 1, 4, *shape))))
    model = AdditiveModel(fine, np.asarray(rng.normal(size=shape)), terms)
    again = AdditiveModel.from_record(json.loads(json.dumps(model.as_record())))
    assert again.schema.columns[0].cells <= int(cells[-1]) + 2
    assert again.schema.columns[1] == fine.columns[1]
    ages = np.concatenate([rng.uniform(17.0, 90.0, 60), fine.columns[0].cuts[:40], [np.nan]])  # type: ignore[union-attr]  # a Numeric
    table = {"age": ages, "pay": rng.uniform(size=ages.size)}
    assert np.array_equal(again.scores(encode(table, again.schema)), model.scores(encode(table, fine)))
    assert json.dumps(again.as_record()) == json.dumps(model.as_record())
    assert [curve.cells for curve in again.curves()] == [curve.cells for curve in model.curves()]


def test_ordered_categories_keep_their_cuts_in_files() -> None:
    """They are no cuts that were made: a file has the categories."""
    column = Ordered("grade", tuple(f"c{k:03d}" for k in range(300)))
    cells = np.arange(300) // 3
    term = Term((0,), (cells,), np.arange(100.0))
    model = AdditiveModel(Schema((column,), SCHEMA.label), np.asarray(0.0), [term])
    again = AdditiveModel.from_record(json.loads(json.dumps(model.as_record())))
    assert again.schema == model.schema
    assert again.domain == again.schema


@separate
def test_a_model_from_a_file_is_fitted_again_with_the_cuts_that_the_first_fit_had(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"age": rng.uniform(17.0, 90.0, 400), "own": rng.uniform(size=400)}
    labels = np.where(table["age"] > 50.0, "yes", "no")
    columns = (Numeric("age", 17.0, 90.0), Numeric("own", 0.0, 1.0, cuts=(0.25, 0.5)))
    schema = Schema(columns, Label("y", ("no", "yes")))
    first = PrivateBoostClassifier(3.0, 1e-6, schema=schema, random_state=0).fit(table, labels)
    first.save(tmp_path / "model.json")
    again = PrivateBoostClassifier.load(tmp_path / "model.json")
    assert again.schema == schema
    again.set_params(random_state=0).fit(table, labels)
    assert np.array_equal(again.decision_function(table), first.decision_function(table))
