"""The private forest: public trees, the exact sensitivity of their leaves, and the whole learner by enumeration."""

import itertools
import json
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from accountant import (
    ApproxDP,
    BasicComposition,
    BoundedRange,
    BudgetExceeded,
    Cost,
    Ledger,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from accountant.composition.calibration import GRAINY
from learners import Boolean, Categorical, EncodedSample, Label, Numeric, Schema
from learners.trees.complete_trees import CodeSplit, CompleteTree, random_tree
from learners.trees.forest import (
    DPRandomForestClassifier,
    ForestPlan,
    Leaves,
    Share,
    leaf_counts,
    leaf_counts_l2,
    leaf_gaps,
)
from mechanisms import L1Sensitivity, LeafLabelChoice, PlainMechanism, Query
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    ScriptedNoise,
    check_fitted_surface,
    check_learner,
    check_sensitivity,
    neighbours,
)
from proofs_tests.support.learners.tiny_learners import LAYOUT, RECORDS, Record
from proofs_tests.support.ledgers.settled import settled

Records = tuple[Record, ...]
PAIRS = list(neighbours(ReplaceOne(), RECORDS, 3))
WIDE = Schema(
    (Numeric("age", 0, 100, bins=10), Categorical("job", tuple("abcdefg")), Boolean("member"), Numeric("x", 0, 1, 3)),
    Label("rich", ("no", "yes")),
)


def encoded(records: Records) -> EncodedSample:
    table = np.array(records, dtype=np.intp)
    return EncodedSample(LAYOUT, np.ascontiguousarray(table[:, :2].T), np.where(table[:, 2], 1, -1).astype(np.int8))


def frame(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(list("abcdefg"), n),
            "member": rng.integers(0, 2, n),
            "x": rng.uniform(0, 1, n),
        }
    )
    rich = (table["age"] > 50) ^ (rng.random(n) < 0.1)
    return table, np.where(rich, "yes", "no")


# --- trees ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 3, 7])
def test_a_random_tree_sends_every_record_where_its_splits_say(depth: int) -> None:
    tree = random_tree(WIDE, depth, np.random.default_rng(depth))
    codes = np.stack([np.random.default_rng(1).integers(0, column.cells, 300) for column in WIDE.columns])
    for record, leaf in zip(codes.T, tree.leaf(codes), strict=True):
        node = 0
        for _ in range(depth):
            split = tree.splits[node]
            node = 2 * node + (2 if int(record[split.column]) in split.right else 1)
        assert leaf == node - len(tree.splits)


def test_random_splits_cut_what_still_reaches_their_node() -> None:
    """No leaf is empty by construction while there is something left to cut: all 8 leaves of 3 bits are met."""
    schema = Schema.boolean(["a", "b", "c"])
    everything = np.array(list(itertools.product((0, 1), repeat=3))).T
    for seed in range(20):
        tree = random_tree(schema, 3, np.random.default_rng(seed))
        assert sorted(tree.leaf(everything)) == list(range(8))


def test_a_schema_without_enough_to_cut_leaves_leaves_empty() -> None:
    tree = random_tree(Schema.boolean(["a"]), 3, np.random.default_rng(0))
    assert len(set(tree.leaf(np.array([[0, 1]])))) == 2


@pytest.mark.parametrize("number", [0, 2, 4, 2**17 - 1])
def test_a_tree_of_another_number_of_splits_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="expected 2\\^depth − 1 splits"):
        CompleteTree(tuple(CodeSplit(0, (1,)) for _ in range(number)))


# --- sensitivity ---------------------------------------------------------------------------------------------------


def groves(n: int) -> list[ForestPlan]:
    """One tree that all records see, and three among which they are shared out."""
    generator = np.random.default_rng(3)
    trees = tuple(random_tree(LAYOUT.schema, 2, generator) for _ in range(3))
    return [ForestPlan((trees[0],)), ForestPlan(trees[:2], np.arange(n) % 2), ForestPlan(trees, np.array([2] * n))]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("build", [leaf_counts, leaf_counts_l2, leaf_gaps])
def test_leaves_move_by_their_sensitivity_and_no_further(build: object, place: int) -> None:
    """[forest-leaves] On all pairs of three records, and attained, so that any smaller constant is caught."""
    assert callable(build)
    query = build(groves(3)[place])
    pairs = [pair.map(encoded) for pair in PAIRS]
    report = check_sensitivity(query, pairs)
    assert report.ratio == pytest.approx(1.0)
    smaller = attrs.evolve(query, sensitivity=type(query.sensitivity)(0.9 * query.sensitivity.value))
    with pytest.raises(ClaimViolated):
        check_sensitivity(smaller, pairs)


def test_several_trees_that_see_every_record_move_together() -> None:
    """Why "all" charges every tree: two counts move in each."""
    trees = groves(3)[1].trees

    def both(sample: EncodedSample) -> FloatArray:
        return np.concatenate([ForestPlan((tree,)).counts(sample) for tree in trees])

    pairs = [pair.map(encoded) for pair in PAIRS]
    assert check_sensitivity(Query("two", both, L1Sensitivity(4.0), ReplaceOne()), pairs).ratio == 1.0
    with pytest.raises(ClaimViolated):
        check_sensitivity(Query("two", both, L1Sensitivity(2.0), ReplaceOne()), pairs)


def test_records_shared_out_for_another_n_are_refused() -> None:
    grove = ForestPlan(groves(3)[1].trees, np.arange(5) % 2)
    with pytest.raises(ValueError, match="n = 5, got 3"):
        leaf_counts(grove).check(encoded(((0, 0, 1),) * 3))


# --- the whole learner, exactly ------------------------------------------------------------------------------------


def fitted(records: Records, noise: ScriptedNoise | PinnedNoise, share: Share, delta: float = 0.0) -> object:
    model = DPRandomForestClassifier(
        1.0,
        delta,
        n_estimators=2,
        depth=1,
        leaves="labels",
        share=share,
        seed=1,
        schema=LAYOUT.schema,
        random_state=noise,
    )
    return model.fit_encoded(encoded(records))


def labels(records: Records, noise: ScriptedNoise, share: Share, delta: float = 0.0) -> tuple[float, ...]:
    model = fitted(records, noise, share, delta)
    assert isinstance(model, DPRandomForestClassifier)
    return tuple(model.model_.released.ravel().tolist())


@pytest.mark.parametrize(("share", "delta"), [("all", 0.0), ("disjoint", 0.0), ("all", 1e-3), ("disjoint", 1e-3)])
def test_released_labels_lose_at_most_what_the_ledger_charged(share: Share, delta: float) -> None:
    """Every run of `fit_encoded` on samples of three records: 16 labellings each."""
    probe = fitted(tuple(RECORDS[:3]), ScriptedNoise(()), share, delta)
    assert isinstance(probe, DPRandomForestClassifier)
    spent, trees = probe.ledger_.spent, 2 if share == "all" else 1
    width = trees * 2.0 * probe.eta_
    charged: dict[str, Cost] = {"ledger": spent, "width": BoundedRange(width * (1.0 + 1e-9))}
    pairs = PAIRS[:3] if delta else PAIRS[::21]  # every run calibrates anew, which takes a while at δ > 0

    def run(records: Records, noise: ScriptedNoise) -> tuple[float, ...]:
        return labels(records, noise, share, delta)

    reports = check_learner(run, charged, pairs)
    assert reports[0].ratio <= 1.0
    # A flipped label uses up the whole width, so a tenth less would be caught:
    assert reports[1].ratio == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ClaimViolated):
        check_learner(run, {"a tenth less": BoundedRange(0.9 * width)}, pairs)
    assert isinstance(spent, PureDP | ApproxDP)
    assert 1.0 - GRAINY < spent.epsilon <= 1.0


def test_disjoint_trees_cost_what_one_does() -> None:
    grove = groves(3)[1]
    one, all_ = (PlainMechanism(leaf_gaps(g), LeafLabelChoice(0.3)).cost for g in (groves(3)[0], grove))
    assert one == all_


@pytest.mark.parametrize("share", ["all", "disjoint"])
@pytest.mark.parametrize(("leaves", "delta"), [("counts", 0.0), ("counts", 1e-5), ("labels", 1e-5)])
def test_everything_public_on_a_fitted_forest_was_released_or_is_public(
    share: Share, leaves: Leaves, delta: float
) -> None:
    def fit(records: Records, noise: PinnedNoise) -> DPRandomForestClassifier:
        model = DPRandomForestClassifier(
            1.0, delta, n_estimators=3, depth=2, leaves=leaves, share=share, random_state=noise
        )
        table = np.array(records * 4)
        return model.fit(table[:, :2], table[:, 2])

    distant = [Pair(((0, 1, 1), (1, 0, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 0), (0, 0, 1)))]
    compared = check_fitted_surface(fit, distant)
    assert {"model_", "ledger_", "statement_", "eta_", "classes_"} <= set(compared)


# --- the estimator -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["all", "disjoint"])
@pytest.mark.parametrize("leaves", ["counts", "labels"])
def test_it_learns_on_frames_and_survives_json(tmp_path: Path, leaves: Leaves, share: Share) -> None:
    table, y = frame(3000)
    model = DPRandomForestClassifier(2.0, n_estimators=15, leaves=leaves, share=share, schema=WIDE, random_state=0)
    model.fit(table, y)
    assert np.mean(model.predict(table) == y) > 0.75
    shares = model.predict_proba(table)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(shares[:, 1] > 0.5, model.predict(table) == "yes")
    model.save(tmp_path / "forest.json")
    loaded = DPRandomForestClassifier.load(tmp_path / "forest.json")
    assert loaded.model_ == model.model_
    assert np.array_equal(loaded.predict(table), model.predict(table))
    assert loaded.get_params()["leaves"] == leaves


def test_approximate_privacy_buys_less_noise_for_many_trees() -> None:
    table, y = frame(200)
    deviation = [
        DPRandomForestClassifier(1.0, delta, schema=WIDE, random_state=0).fit(table, y).model_.deviation
        for delta in (0.0, 1e-5)
    ]
    assert deviation[1] < 0.5 * deviation[0]
    assert deviation[0] == pytest.approx(np.sqrt(2.0) * 2 * 20 / 1.0, rel=1e-6)


def test_one_fit_is_one_charge_and_trees_do_not_depend_on_the_data() -> None:
    ledger = Ledger(PureDP(1.5), composition=BasicComposition(), adjacency=ReplaceOne())
    model = DPRandomForestClassifier(1.0, n_estimators=4, depth=2, schema=WIDE, ledger=ledger, random_state=0)
    first = clone(model).fit(*frame(200)).model_
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert settled(ledger)
    with pytest.raises(BudgetExceeded):
        clone(model).fit(*frame(200))
    other = (
        DPRandomForestClassifier(1.0, n_estimators=4, depth=2, schema=WIDE, random_state=1).fit(*frame(300, 7)).model_
    )
    assert first.trees == other.trees


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators: expected a whole number"),
        ({"depth": 17}, "depth: expected a depth of at most 16"),
        ({"leaves": "means"}, "leaves: expected one of"),
        ({"share": "some"}, "share: expected one of"),
        ({"seed": -1}, "seed: expected a whole number of at least 0"),
        ({"seed": "x"}, "seed: expected a whole number of at least 0"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        DPRandomForestClassifier(schema=WIDE).set_params(**parameters).fit(*frame(50))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda model: model["trees"][0].pop(), "expected 2.depth − 1 splits"),
        (lambda model: model["trees"].pop(), "do not fit"),
        (lambda model: model["trees"][0].__setitem__(0, [9, [1]]), "does not fit a schema of 4 columns"),
        (lambda model: model["trees"][0].__setitem__(0, [2, [5]]), "does not fit column 'member'"),
        (lambda model: model["released"][0][0].__setitem__(0, float("inf")), "expected finite numbers"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "forest.json"
    DPRandomForestClassifier(n_estimators=2, depth=2, schema=WIDE, random_state=0).fit(*frame(50)).save(path)
    record = json.loads(path.read_text())
    assert callable(damage)
    damage(record["model"])
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=message):
        DPRandomForestClassifier.load(path)


def test_progress_is_reported_release_by_release() -> None:
    seen: list[int] = []
    model = DPRandomForestClassifier(n_estimators=3, depth=1, schema=WIDE, random_state=0)
    model.fit(*frame(50), on_round=lambda number, released: seen.append(number))
    assert seen == [1, 2, 3]
