"""`LazyBoostClassifier` with trees and with weak learners of a user's own: what they cost, keep and refuse."""

import inspect
import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Composition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.composition.calibration import GRAINY
from boosting import LazyBregman, boosting_plan, certificates
from learners import Categorical, LazyBoostClassifier, Numeric, PrivateOneRule, Schema
from learners.encoding.encoder import EncodedSample, Layout
from learners.votes.binary_trees import Tree
from learners.votes.top_down import PrivateTopDown
from learners.votes.weak_learners import WeightedPartition
from mechanisms import SeededNoise
from mechanisms.queries.weighted_queries import WEIGHT_ROUNDING
from proofs_tests.harness import Pair, PinnedNoise, ScriptedNoise, check_fitted_surface, check_learner
from proofs_tests.support.learners import bars
from proofs_tests.support.learners.bars import Bars, PrivateBars
from proofs_tests.support.learners.tiny_learners import RECORDS, Record
from proofs_tests.support.learners.tiny_learners import encoded as tiny
from proofs_tests.support.ledgers.separate import separate
from proofs_tests.support.ledgers.settled import settled

Array = npt.NDArray[Any]
Records = tuple[Record, ...]

SCHEMA = Schema((Numeric("age", 0, 100, bins=5), Categorical("job", ("clerk", "smith", "none"))))
KINDS: dict[str, dict[str, object]] = {
    "one-rule": {"weak_learner": "one-rule"},
    "one-rule, permute-and-flip": {"weak_learner": "one-rule", "selection": "permute-and-flip"},
    "top-down": {"weak_learner": "top-down", "splits": 2},
    "top-down, all options": {
        "weak_learner": "top-down", "splits": 3, "depth": 2, "criterion": "error", "selection": "permute-and-flip",
    },
    "a user's": {"weak_learner": PrivateBars},
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


def people(n: int = 800, seed: int = 0) -> tuple[dict[str, Array], Array]:
    draw = np.random.default_rng(seed)
    table = {"age": draw.uniform(0, 100, n), "job": draw.choice(["clerk", "smith", "none"], n)}
    return table, ((table["age"] > 60) ^ (table["job"] == "smith")).astype(int)


X, Y = people()


def build(kind: str, **more: object) -> LazyBoostClassifier:
    given: dict[str, Any] = {"schema": SCHEMA, "rounds": 8, "random_state": 0, **KINDS[kind], **more}
    return LazyBoostClassifier(**given)


# --- a user's own ------------------------------------------------------------------------------------------------


def test_a_weak_learner_of_ones_own_takes_thirty_lines() -> None:
    text = [line for part in (Bars, PrivateBars) for line in inspect.getsource(part).splitlines() if line.strip()]
    assert len(text) <= 30
    assert bars.__doc__


def test_trees_and_weak_learners_of_ones_own_learn() -> None:
    """Trees learn age and job by exclusive or, where a vote of single columns is right on two thirds at most."""
    model = build("top-down", epsilon=20.0, rounds=12).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert build("a user's", epsilon=20.0).fit(X, X["age"] > 60).score(X, X["age"] > 60) > 0.95


def test_weights_of_a_partition_are_the_weights() -> None:
    rng = np.random.default_rng(0)
    table = np.stack([rng.integers(0, 5, 300), rng.integers(0, 3, 300)])
    sample = EncodedSample(Layout(SCHEMA), table, np.where(rng.random(300) < 0.4, 1, -1).astype(np.int8))
    booster = LazyBregman(0.3, 0.4)
    state = booster.step(booster.start(sample), Bars(0, (1, 1, -1, -1, 1)))
    found = WeightedPartition(state, lambda records: records.codes[1], 4).leaf
    share = state.measure.distribution
    expected = [[share[(table[1] == cell) & (sample.labels == label)].sum() for label in (-1, 1)] for cell in range(4)]
    assert np.abs(found - np.array(expected)).sum() < WEIGHT_ROUNDING


# --- what they pay -----------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(("delta", "composition"), [(0.0, "auto"), (1e-6, "auto"), (1e-6, "zcdp"), (1e-6, "advanced")])
def test_one_fit_spends_its_budget_and_never_above(kind: str, delta: float, composition: str) -> None:
    model = build(kind, epsilon=0.7, delta=delta, composition=composition).fit(X, Y)
    spent = model.ledger_.spent.as_dict()
    assert 0.7 * (1 - GRAINY) <= float(spent["epsilon"]) <= 0.7
    assert settled(model.ledger_)
    assert len(model.model_.rules) == 8


RULES: list[tuple[Composition, float]] = [
    (BasicComposition(), 0.0), (BasicComposition(), 1e-5), (AdvancedComposition(1e-5), 0.0), (ZCDPComposition(), 0.0),
]  # fmt: skip
PAIRS: list[Pair[Records]] = [
    Pair(((0, 0, 0), (0, 1, 1)), ((1, 1, 0), (0, 1, 1))),
    Pair(((0, 0, 0), (0, 0, 0)), ((0, 0, 1), (0, 0, 0))),
    *(Pair[Records]((one, (0, 1, 1)), (other, (0, 1, 1))) for one, other in itertools.combinations(RECORDS[::3], 2)),
]
"""Two records of two features and a label, one of them replaced."""


@pytest.mark.parametrize(
    "arguments",
    [
        {"weak_learner": "top-down", "splits": 1, "rounds": 2},
        {"weak_learner": "top-down", "splits": 2, "rounds": 1, "criterion": "error", "selection": "permute-and-flip"},
        {"weak_learner": "one-rule", "rounds": 2, "selection": "permute-and-flip"},
        {"weak_learner": PrivateBars, "rounds": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize(("rule", "delta"), RULES, ids=str)
def test_the_estimator_loses_at_most_what_it_is_charged(
    arguments: dict[str, Any], rule: Composition, delta: float
) -> None:
    """Every run of it on tiny samples, calibration of the noise included."""

    def model(records: Records, noise: ScriptedNoise) -> LazyBoostClassifier:
        ledger = Ledger(ApproxDP(50.0, 1e-5), composition=rule, adjacency=ReplaceOne())
        return LazyBoostClassifier(
            2.0, delta, density=0.8, learning_rate=0.4, ledger=ledger, random_state=noise, **arguments
        ).fit_encoded(tiny(records))

    charged = {f"{rule.name}": model(PAIRS[0].before, ScriptedNoise(())).ledger_.spent}
    (report,) = check_learner(lambda records, noise: model(records, noise).model_.rules, charged, PAIRS)
    assert report.ratio <= 1.0
    if rule.name == "basic" and delta == 0.0:
        assert report.ratio > 0.3


def test_equal_neighbours_of_a_plan_are_one_step() -> None:
    """A tree's splits cost alike, and rounds at the same ζ do: as many steps as there are different costs in a row."""
    runs = certificates(LazyBregman(0.5, 0.4), 50, 1000)
    layout = Layout(SCHEMA)
    assert len(boosting_plan(PrivateOneRule(layout, 1.0, SeededNoise(0)), runs).steps) == len(runs) < 5
    for label_width, steps in ((1.0, len(runs)), (2.0, 2 * 50)):
        trees = PrivateTopDown(layout, 1.0, 4, noise=SeededNoise(0), label_width=label_width)
        assert boosting_plan(trees, runs).rounds == 50 * 5
        assert len(boosting_plan(trees, runs).steps) == steps
        for slickness, _ in runs:
            planned, labels = trees.costs(slickness)[-1], trees.label_mechanism(slickness.zeta).robust_cost.cost
            assert isinstance(planned, BoundedRange)
            assert isinstance(labels, BoundedRange)
            assert (1 - 1e-14) * planned.epsilon <= labels.epsilon <= planned.epsilon
    equal = Plan.sequence([BoundedRange(1.0), BoundedRange(1.0), BoundedRange(0.5)])
    assert [step.rounds for step in equal.steps] == [2, 1]


# --- what they keep ----------------------------------------------------------------------------------------------


@every_kind
def test_nothing_but_releases_is_kept(kind: str) -> None:
    def fit(data: tuple[dict[str, Array], Array], noise: PinnedNoise) -> LazyBoostClassifier:
        return build(kind, delta=1e-6, random_state=noise, classes=(0, 1)).fit(*data)

    table, y = people(60, seed=1)
    distant = Pair((table, y), ({"age": 100 - table["age"], "job": table["job"][::-1]}, y[::-1]))
    names = check_fitted_surface(fit, [distant], seeds=2)
    assert {"model_", "eta_", "settings_", "classes_", "ledger_"} <= set(names)


@separate
@every_kind
def test_it_predicts_explains_clones_and_pickles(kind: str) -> None:
    model = build(kind, epsilon=5.0).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 -- our own bytes
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    assert np.array_equal(clone(model).fit(X, Y).decision_function(X), model.decision_function(X))
    votes = model.explain()
    assert [abs(vote.votes) for vote in votes] == sorted((abs(vote.votes) for vote in votes), reverse=True)
    assert len(model.model_.text().split("\n\n")) == 8


@every_kind
def test_models_go_to_json_or_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    model, path = build(kind).fit(X, Y), tmp_path / "model.json"
    if kind == "a user's":
        with pytest.raises(TypeError, match=r"a Bars cannot be saved, because JSON has nothing for it"):
            model.save(path)
        assert not path.exists()
        return
    model.save(path)
    again = LazyBoostClassifier.load(path)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.explain() == model.explain()
    assert again.get_params()["weak_learner"] == KINDS[kind]["weak_learner"]
    assert json.loads(path.read_text())["statement"]["heading"] == "simulation: not private"


def test_trees_are_explained_by_how_often_they_ask() -> None:
    model = build("top-down", epsilon=20.0).fit(X, Y)
    assert all(isinstance(rule, Tree) for rule in model.model_.rules)
    assert sum(vote.votes for vote in model.explain()) == 8 * 2
    assert model.model_.text().startswith("round 1\n")
    mine = build("a user's", rounds=4, epsilon=1000.0).fit(X, Y).explain()
    assert [vote.votes for vote in mine] == [1, 1, 1, 1]
    assert all(vote.feature.startswith("Bars(column=") for vote in mine)


# --- what they refuse --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"weak_learner": "tree"}, "weak_learner: expected 'one-rule', 'top-down', or"),
        ({"weak_learner": None}, "weak_learner: expected"),
        ({"selection": "noisy-max"}, "selection: 'noisy-max' is not one of"),
        ({"criterion": "variance"}, "criterion: 'variance' is not one of"),
        ({"splits": 0}, "splits: expected a whole number"),
        ({"depth": 0}, "depth: expected a whole number"),
        ({"weak_learner": "top-down", "splits": 4, "depth": 2}, "splits: depth 2 allows at most 3"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused_before_anything_is_charged(arguments: dict[str, object], why: str) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with pytest.raises(ValueError, match=why):
        build("one-rule", ledger=ledger, **arguments).fit(X, Y)
    assert [entry.kind for entry in ledger.entries] == ["opened"]


@every_kind
def test_sample_weights_are_refused_before_anything_is_charged(kind: str) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    model = build(kind, ledger=ledger)
    weighted = attrs.evolve(model.encoded(X, Y), weights=np.full(Y.size, 1024, dtype=np.int32))
    with pytest.raises(ValueError, match="sample weights"):
        model.fit_encoded(weighted)
    assert [entry.kind for entry in ledger.entries] == ["opened"]
