"""Scorecards: a reader who does the sum by hand gets what `predict` says."""

import itertools
import json
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from exchequer.datasets import DataSplit, adult, breast_cancer
from learners import LazyBoostClassifier
from learners.additive.additive_model import AdditiveModel, Term
from learners.additive.private_boost import PrivateBoostClassifier
from learners.inspection.point_tables import Interval, PointUnit, as_additive, segments, tables
from learners.inspection.scorecards import PointsCard, Sparsity, VoteCard, scorecard
from learners.kinds.single_values import OutsideSchema, Values
from learners.linear.logistic import DPLogisticRegression
from learners.tables.schema import Numeric, Schema
from learners.trees.bagging import DPBaggingClassifier
from learners.trees.forest import DPRandomForestClassifier
from learners.trees.gradient_boosting import DPGradientBoostingClassifier
from learners.votes.binary_trees import LeafSplit, Tree
from learners.votes.majority_vote import VoteModel
from learners.votes.one_rules import CONSTANT, OneRule
from proofs_tests.support.learners.histograms import HistogramClassifier
from proofs_tests.support.learners.readable import SCHEMA, additive, three_classes


def rows(table: dict[str, Values], n: int | None = None) -> list[dict[str, object]]:
    size = next(iter(table.values())).size if n is None else n
    return [{name: values[row] for name, values in table.items()} for row in range(size)]


def points_card(model: object, **options: float) -> PointsCard:
    card = scorecard(model, **options)  # type: ignore[arg-type]  # narrower than what tests hand in
    assert isinstance(card, PointsCard)
    return card


def all_codes(schema: Schema) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    cells = [range(column.cells) for column in schema.columns]
    return np.array(list(itertools.product(*cells)), dtype=np.intp).T


# --- lines -----------------------------------------------------------------------------------------------------


def test_a_card_line_by_line() -> None:
    card = points_card(additive(), tolerance=0.5)
    said = {
        card._names(table): [(*map(str, line.where), *line.points) for line in table.lines] for table in card.tables
    }
    assert said == {
        ("age",): [("[0, 20)", -30), ("[20, 60)", 4), ("[60, 100]", 31)],
        ("job",): [("clerk, ?, (empty)", 12), ("smith", -3), ("rest, (any other)", -40)],
        ("gain",): [("< 10", -1), ("[10, 100)", 1), ("[100, 1000)", 9), (">= 1000", 20)],
        ("gain", "member"): [("< 100", "1", 7), (">= 100", "0", -9)],
    }
    # `member` alone is worth 1 point to everybody: that is in the base.
    assert card.base == (6,)
    assert card.unused == ()
    assert [card._names(table) for table in card.tables] == [("age",), ("job",), ("gain",), ("gain", "member")]


def test_a_column_without_points_is_named() -> None:
    model = AdditiveModel(SCHEMA, np.array(0.0), [Term((0,), (np.array([0, 0, 1, 1]),), np.array([-1.0, 1.0]))])
    assert points_card(model).unused == ("gain", "job", "member")
    assert "No points\ngain, job, member" in str(points_card(model))


def test_the_total_by_hand() -> None:
    card = points_card(additive(), tolerance=0.5)
    assert card.total({"age": 60, "gain": 1e6, "job": "smith", "member": 0}) == (6 + 31 + 20 - 3 - 9,)
    assert card.total({"age": 59.9, "gain": -5, "job": None, "member": 1}) == (6 + 4 - 1 + 12 + 7,)
    assert card.total({"age": 0, "gain": 0, "job": "baker", "member": 0}) == (6 - 30 - 1 - 40,)
    assert card.answer({"age": 0, "gain": 0, "job": "baker", "member": 0}) == "no"
    with pytest.raises(OutsideSchema):
        card.total({"age": 101, "gain": 0, "job": "clerk", "member": 0})


def test_intervals_hold_their_lower_end_and_the_last_its_upper() -> None:
    assert Interval(1.0, 2.0).holds(1.0)
    assert not Interval(1.0, 2.0).holds(2.0)
    assert Interval(1.0, 2.0, closed=True).holds(2.0)
    assert Interval(None, 2.0).holds(-np.inf)
    assert Interval(2.0, None).holds("7")


def test_limits_are_rounded_up_and_by_little() -> None:
    """So that no number recorded with the printed digits changes sides."""
    cuts = tuple(np.sort(np.random.default_rng(0).uniform(0.001, 99.0, size=40)).tolist())
    column = Numeric("x", 0.0, 100.0, cuts=cuts)
    model = AdditiveModel(
        Schema((column,)), np.array(0.0), [Term((0,), (np.arange(41),), np.where(np.arange(41) % 2, 1.0, -1.0))]
    )
    lines = points_card(model).tables[0].lines
    limits = [cell.low for line in lines for cell in line.where if isinstance(cell, Interval)][1:]
    widths = np.diff([*cuts, 100.0])
    for cut, limit, width in zip(cuts, limits, widths, strict=True):
        assert limit is not None
        assert 0.0 <= limit - cut < 0.1 * width
        assert len(f"{limit:.12g}") <= len(f"{cut:.12g}")
    assert np.mean([len(f"{limit:.12g}") for limit in limits]) < 7


@given(
    st.lists(st.floats(-20, 20), min_size=1, max_size=9),
    st.sampled_from([0.5, 0.75, 1.0, 2.0, 3.5]),
)
def test_segments_are_the_fewest_within_the_tolerance(values: list[float], tolerance: float) -> None:
    array = np.array(values)[:, None]
    runs = segments(array, tolerance)
    starts = [start for start, _ in runs]
    assert starts[0] == 0
    for (start, (points,)), end in zip(runs, [*starts[1:], len(values)], strict=True):
        assert np.all(np.abs(array[start:end] - points) <= tolerance)

    def fits(low: int, high: int) -> bool:
        part = array[low:high]
        return bool(np.ceil(part.max() - tolerance) <= np.floor(part.min() + tolerance))

    fewest = [0] + [len(values) + 1] * len(values)
    for high in range(1, len(values) + 1):
        fewest[high] = 1 + min(fewest[low] for low in range(high) if low == high - 1 or fits(low, high))
    assert len(runs) <= fewest[-1]


@pytest.mark.parametrize("tolerance", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_line_is_further_off_than_it_says(tolerance: float, seed: int) -> None:
    """Hence no total by more than the tolerance for each table, and half a point for the base."""
    model = three_classes(seed)
    model = AdditiveModel(Schema(model.schema.columns), np.array(0.3), [attr_first(term) for term in model.terms])
    card = points_card(model, tolerance=tolerance)
    scores = PointUnit().points(model.scores(all_codes(model.schema)))
    off = np.abs(totals(card) - scores)
    assert float(off.max()) <= tolerance * len(model.terms) + 0.5
    if tolerance > 2.0:
        assert float(off.max()) > 0.5, "nothing was merged: the bound is not tested"


def attr_first(term: Term) -> Term:
    return Term(term.columns, term.maps, term.values[..., 0])


def totals(card: PointsCard) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The first class's total for every combination of codes, by middles of intervals."""
    said: list[list[object]] = []
    for column in card.schema.columns:
        if isinstance(column, Numeric):
            said.append((0.5 * (column.edges[1:] + column.edges[:-1])).tolist())
        else:
            said.append(list(getattr(column, "categories", (0, 1))))
    records = (dict(zip(card.schema.names, values, strict=True)) for values in itertools.product(*said))
    return np.array([card.total(record)[0] for record in records], dtype=np.float64)


def test_three_classes_have_points_each() -> None:
    model = three_classes()
    card = points_card(model, tolerance=0.5)
    assert card.classes == ("a", "b", "c")
    assert card.probabilities == ()
    assert all(len(line.points) == 3 for table in card.tables for line in table.lines)
    codes = all_codes(model.schema)
    answers = np.argmax(model.scores(codes), axis=1)
    said: list[list[object]] = [
        [10.0, 30.0, 50.0, 70.0],
        [5.0, 50.0, 500.0, 5000.0],
        ["clerk", "smith", "?", "rest"],
        [0, 1],
    ]
    found = [card.answer(dict(zip(model.schema.names, values, strict=True))) for values in itertools.product(*said)]
    assert np.mean(np.array(found) == np.array(card.classes)[answers]) > 0.97
    assert "for a" in str(card)
    assert "the highest total wins" in str(card)


# --- real data -------------------------------------------------------------------------------------------------


def by_hand(text: str, record: dict[str, object]) -> int:
    """The total from nothing but the printed card, of numeric columns."""
    total = int(re.findall(r"^Base: ([+-]?\d+)\.", text, re.MULTILINE)[0])
    for block in text.split("\n\n")[1:]:
        name = block.splitlines()[0]
        if name not in record:
            continue
        value, found = float(str(record[name])), []
        for low, high, end, points in re.findall(r"^  \[(\S+), (\S+)([])])\s+([+-]?\d+)$", block, re.MULTILINE):
            if float(low) <= value < float(high) or (end == "]" and value == float(high)):
                found.append(int(points))
        for sign, limit, points in re.findall(r"^  (<|>=) (\S+)\s+([+-]?\d+)$", block, re.MULTILINE):
            if (value < float(limit)) == (sign == "<"):
                found.append(int(points))
        assert len(found) == 1, (name, value)
        total += found[0]
    return total


@pytest.fixture(scope="module")
def cancer() -> DataSplit:
    return breast_cancer()


@pytest.fixture(scope="module")
def boosted(cancer: DataSplit) -> PrivateBoostClassifier:
    return PrivateBoostClassifier(3.0, 1e-5, schema=cancer.schema, random_state=0).fit(cancer.train, cancer.y_train)


def test_adding_up_the_printed_card_is_predicting(cancer: DataSplit, boosted: PrivateBoostClassifier) -> None:
    card = points_card(boosted, tolerance=0.5)
    records = rows(cancer.train) + rows(cancer.test)
    table = {name: np.concatenate([cancer.train[name], cancer.test[name]]) for name in cancer.schema.names}
    answers = np.array([card.answer(record) for record in records])
    assert np.mean(answers == boosted.predict(table)) >= 0.99
    text = str(card)
    for record in records[::20]:
        assert by_hand(text, record) == card.total(record)[0]


@pytest.mark.parametrize("learner", [PrivateBoostClassifier, DPLogisticRegression])
def test_a_total_means_what_predict_proba_says(
    cancer: DataSplit, learner: type[PrivateBoostClassifier | DPLogisticRegression]
) -> None:
    model = learner(3.0, 1e-5, schema=cancer.schema, random_state=1).fit(cancer.train, cancer.y_train)
    card = points_card(model)
    points = PointUnit().points(model.decision_function(cancer.test))
    total, share = np.array(card.probabilities).T
    inside = np.abs(points) < total[-1]
    expected = model.predict_proba(cancer.test)[inside, 1]
    assert inside.sum() > 20
    # Linear between the totals of the card, which are up to 40 points apart.
    assert np.max(np.abs(np.interp(points[inside], total, share) - expected)) < 0.05


@pytest.mark.parametrize("learner", [DPLogisticRegression, DPBaggingClassifier])
def test_a_linear_model_adds_up_over_its_columns(
    cancer: DataSplit, learner: type[DPLogisticRegression | DPBaggingClassifier]
) -> None:
    model = learner(3.0, 1e-5, schema=cancer.schema, random_state=1).fit(cancer.train, cancer.y_train)
    codes = model.encoded(cancer.test, cancer.y_test).codes
    np.testing.assert_allclose(as_additive(model.model_).scores(codes), model.model_.scores(codes), atol=1e-9)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("EXCHEQUER_DATA"), reason="needs Adult: set EXCHEQUER_DATA")
def test_adult_by_hand_is_predict_in_99_of_100() -> None:
    data = adult(os.environ["EXCHEQUER_DATA"])
    model = PrivateBoostClassifier(
        1.0, 1e-5, schema=data.schema, interactions=[("age", "education-num")], random_state=0
    ).fit(data.train, data.y_train)
    card = points_card(model)
    answers = np.array([card.answer(record) for record in rows(data.test, 3000)])
    assert np.mean(answers == model.predict({name: values[:3000] for name, values in data.test.items()})) >= 0.99
    lines = [len(table.lines) for table in card.tables]
    assert max(lines) < 128
    coarser = tables(model.model_, PointUnit(tolerance=4.0))
    assert sum(len(table.lines) for table in coarser) < 0.7 * sum(lines)


# --- renderings ------------------------------------------------------------------------------------------------


def test_as_json_and_as_markdown() -> None:
    card = points_card(additive(), tolerance=0.5)
    record = json.loads(json.dumps(card.as_dict()))
    assert record["base"] == 6
    assert record["tables"][0]["lines"][1] == {"where": [{"from": 20.0, "below": 60.0}], "points": 4}
    assert record["tables"][0]["lines"][2] == {"where": [{"from": 60.0, "to": 100.0}], "points": 31}
    assert record["tables"][2]["lines"][0]["where"] == [{"below": 10.0}]
    assert record["tables"][1]["lines"][0]["where"] == [{"values": ["clerk", "?"]}]
    marked = card.markdown()
    assert "## age\n\n| age | points |\n| --- | ---: |\n| \\[0, 20) | -30 |" in marked
    assert "| \\< 10 | -1 |" in marked
    assert len(json.dumps(points_card(three_classes()).as_dict())) > 100


@pytest.mark.parametrize("wrong", [0.0, 0.4, float("nan"), -1.0])
def test_a_tolerance_that_whole_points_cannot_keep_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"tolerance|positive|expected"):
        scorecard(additive(), tolerance=wrong)


# --- votes, trees, forests -------------------------------------------------------------------------------------


def votes() -> VoteModel:
    """Features: age bins 0–3, gain bins 4–7, jobs 8–11, member 12."""
    rules = [OneRule(12, 1), OneRule(12, 1), OneRule(0, -1), OneRule(9, 1), OneRule(9, -1), OneRule(CONSTANT, -1)]
    return VoteModel(SCHEMA, rules)


def test_adding_up_votes_is_predicting() -> None:
    model, lines = votes(), votes().table()
    assert [(line.votes, line.feature, line.value) for line in lines] == [
        (2, "member", "1"),
        (-1, "(constant)", ""),
        (-1, "age", "[0, 20)"),
    ]
    said = str(scorecard(model))
    assert "A sum above 0 says 'yes', any other 'no'." in said
    assert re.search(r"^ +\+2  member +1$", said, re.MULTILINE)
    codes = all_codes(SCHEMA)
    total = 2 * np.where(codes[3] == 1, 1, -1) - np.where(codes[0] == 0, 1, -1) - 1
    np.testing.assert_allclose(model.scores(codes) * len(model.rules), total)


def test_sparsity_counts_features_with_net_votes() -> None:
    """The constant is no feature, and a feature whose votes cancel is not used."""
    sparse = Sparsity.of(votes())
    assert (sparse.features, sparse.available, sparse.share) == (2, 13, 2 / 13)
    mean, deviation, share = Sparsity.over([votes(), VoteModel(SCHEMA, [OneRule(1, 1)])])
    assert (mean, deviation, share) == (1.5, 0.5, 1.5 / 13)
    card = scorecard(votes())
    assert isinstance(card, VoteCard)
    assert card.sparsity == sparse
    assert "2 of 13 features are used (15.38%), in 6 rounds." in str(card)
    assert json.loads(json.dumps(card.as_dict()))["sparsity"]["features"] == 2


def test_votes_that_all_cancel_are_still_votes() -> None:
    card = scorecard(VoteModel(SCHEMA, [OneRule(1, 1), OneRule(1, -1)]))
    assert card.as_dict()["kind"] == "votes"
    assert card.as_dict()["votes"] == []
    assert "0 of 13 features" in card.markdown()


def test_trees_are_told_in_words() -> None:
    tree = Tree((LeafSplit(0, 12), LeafSplit(1, 0)), (-1, 1, -1))
    card = scorecard(VoteModel(SCHEMA, [tree, tree]))
    assert card.as_dict()["kind"] == "trees"
    assert Sparsity.of(VoteModel(SCHEMA, [tree])).features == 2
    assert "member: 1?" in str(card)
    assert re.search(r"^ +2  member +1$", str(card), re.MULTILINE)
    assert "```text\n" in card.markdown()
    assert card.markdown().count("member: 1?") == 2


@pytest.mark.parametrize("learner", [DPRandomForestClassifier, DPGradientBoostingClassifier])
def test_a_forest_names_its_columns(
    cancer: DataSplit, learner: type[DPRandomForestClassifier | DPGradientBoostingClassifier]
) -> None:
    model = learner(1.0, schema=cancer.schema, random_state=0).fit(cancer.train, cancer.y_train)
    record = scorecard(model).as_dict()
    assert record["kind"] == "forest"
    assert str(scorecard(model)).startswith("Columns\n")
    splits = record["splits"]
    assert isinstance(splits, list)
    assert {line["column"] for line in splits} <= set(cancer.schema.names)
    assert sum(line["splits"] for line in splits) > 10


def test_classes_are_called_as_the_estimator_calls_them() -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(300, 3))
    model = LazyBoostClassifier(1.0, rounds=3, classes=("bad", "good"), random_state=0)
    card = scorecard(model.fit(X, np.where(X[:, 0], "good", "bad")))
    assert card.as_dict()["classes"] == ["bad", "good"]
    assert scorecard(model.model_).as_dict()["classes"] == ["0", "1"]


def test_what_has_no_card_is_refused() -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(300, 3))
    with pytest.raises(TypeError, match="no scorecard for a Histograms"):
        scorecard(HistogramClassifier(1.0, random_state=0).fit(X, X[:, 0]))
    with pytest.raises(NotFittedError):
        scorecard(LazyBoostClassifier())
