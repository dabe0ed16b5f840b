"""DPBoost: what it asks of its records, what it pays for whole ensembles, and what it keeps."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Composition,
    Cost,
    LaplaceDP,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from learners import Categorical, EncodedSample, Label, Layout, Numeric, Schema
from learners.trees.complete_trees import CodeSplit, CompleteTree
from learners.trees.gradient_boosting import DPGradientBoostingClassifier, TreeNoise, shares
from learners.trees.gradient_trees import BoostedRecords, BoostedTreesModel, GradientTree, Growth, gradients
from mechanisms.gradients.tree_gradients import GRADIENT_UNIT, LARGEST
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    ScriptedNoise,
    check_fitted_surface,
    check_learner,
    neighbours,
)
from proofs_tests.support.learners.tiny_learners import LAYOUT, Record
from proofs_tests.support.ledgers.settled import settled

Records = tuple[Record, ...]
WIDE = Schema(
    (
        Numeric("age", 0, 100, bins=10, encoding="thresholds"),
        Categorical("job", tuple("abcdefg")),
        Numeric("x", 0, 1, 4),
    ),
    Label("rich", ("no", "yes")),
)


def encoded(records: Records) -> EncodedSample:
    table = np.array(records, dtype=np.intp).reshape(-1, 3)
    return EncodedSample(LAYOUT, np.ascontiguousarray(table[:, :2].T), np.where(table[:, 2], 1, -1).astype(np.int8))


def frame(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"age": rng.uniform(0, 100, n), "job": rng.choice(list("abcdefg"), n), "x": rng.uniform(0, 1, n)}
    )
    rich = (table["age"] > 50) ^ (rng.random(n) < 0.1)
    return table, np.where(rich, "yes", "no")


def wide_sample(n: int, seed: int = 0) -> EncodedSample:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, column.cells, n) for column in WIDE.columns])
    return EncodedSample(Layout(WIDE), codes, rng.choice([-1, 1], n).astype(np.int8))


# --- gradients, gains and leaves -----------------------------------------------------------------------------------


def test_gradients_are_derivatives_and_one_at_the_start() -> None:
    scores = np.rint(np.linspace(-3, 3, 601) / GRADIENT_UNIT).astype(np.int64)
    for label in (-1, 1):
        labels = np.full(scores.size, label, dtype=np.int8)
        square = gradients("square", scores, labels) * GRADIENT_UNIT
        assert square == pytest.approx(scores * GRADIENT_UNIT - label)
        logistic = gradients("logistic", scores, labels) * GRADIENT_UNIT
        exact = 2.0 / (1.0 + np.exp(-scores * GRADIENT_UNIT)) - 1.0 - label
        assert logistic == pytest.approx(exact, abs=2.0**-11)
        for loss in ("square", "logistic"):
            assert gradients(loss, np.zeros(1, dtype=np.int64), labels[:1]).tolist() == [-label * LARGEST]
    huge = np.array([-(2**50), 2**50])
    assert np.max(np.abs(gradients("logistic", huge, np.array([1, -1], dtype=np.int8)))) == 2 * LARGEST


def grown(sample: EncodedSample) -> tuple[GradientTree, tuple[CodeSplit, ...]]:
    """A tree before, and a root split and its two children for the next."""
    tree = CompleteTree((CodeSplit(1, (0, 3)),))
    values = (int(0.4 * LARGEST), int(-1.7 * LARGEST))
    return GradientTree(tree, values), (CodeSplit(0, (5, 6, 7, 8, 9)), CodeSplit(1, (2,)), CodeSplit(2, (1, 3)))


@pytest.mark.parametrize("large", ["filter", "clip"])
def test_gains_and_leaves_are_the_sums_that_the_paper_writes(large: str) -> None:
    assert large in ("filter", "clip")
    sample = wide_sample(400)
    before, splits = grown(sample)
    growth = Growth(sample.layout, (before,), "square", large, 0.7, 0.6)  # type: ignore[arg-type]  # narrowed above
    g = before.scores(sample.codes) * GRADIENT_UNIT - sample.labels
    kept = np.abs(g) <= 1.0 if large == "filter" else np.full(400, True)
    assert 50 < kept.sum() < 351 or large == "clip"
    g = np.clip(g, -1.0, 1.0)
    found = growth.level_gains(BoostedRecords(sample), splits[:1])
    node = CompleteTree(splits[:1]).leaf(sample.codes)
    for v, feature in itertools.product(range(2), range(sample.layout.d)):
        column, members = sample.layout.feature(feature)
        sides = [kept & (node == v) & (members[sample.codes[column]] == side) for side in (True, False)]
        expected = sum(g[side].sum() ** 2 / (side.sum() + 0.7) for side in sides)
        assert found[v, feature] == pytest.approx(expected, abs=1e-4)
    tree = CompleteTree(splits)
    leaf = tree.leaf(sample.codes)
    for number, value in enumerate(growth.leaf_values(BoostedRecords(sample), tree)):
        inside = kept & (leaf == number)
        assert value == pytest.approx(np.clip(-g[inside].sum() / (inside.sum() + 0.7), -0.6, 0.6), abs=1e-5)


def test_the_order_of_records_changes_no_bit() -> None:
    """Sums in another order must not be another release: gradients are integers."""
    sample = wide_sample(3000)
    before, splits = grown(sample)
    growth = Growth(sample.layout, (before,), "logistic", "clip", 0.1, 1.0)
    order = np.random.default_rng(1).permutation(3000)
    records = BoostedRecords(sample)
    shuffled = records.subset(order)
    assert np.array_equal(growth.level_gains(records, splits), growth.level_gains(shuffled, splits))
    tree = CompleteTree(splits)
    assert np.array_equal(growth.leaf_values(records, tree), growth.leaf_values(shuffled, tree))


def test_scores_are_kept_between_trees() -> None:
    sample = wide_sample(100)
    before, _ = grown(sample)
    kept = BoostedRecords(sample)
    for number in range(4):
        trees = (before,) * number
        for fresh in (kept, BoostedRecords(sample)):
            places, found = fresh.gradients(trees, "square", "clip")
            assert places.size == 100
            exact = np.clip(
                number * before.scores(sample.codes) - sample.labels.astype(np.int64) * LARGEST, -LARGEST, LARGEST
            )
            assert np.array_equal(found, exact)


def test_shares_are_public_and_fall_geometrically() -> None:
    partition = shares(10_000, 4, 0.5, np.random.default_rng(0))
    sizes = np.bincount(partition.lanes)
    assert sizes.sum() == 10_000
    assert sizes / 10_000 == pytest.approx(np.array([8, 4, 2, 1]) / 15, abs=1e-3)
    assert shares(3, 50, 0.1, np.random.default_rng(0)).lanes.shape == (3,)


@pytest.mark.parametrize("gaussian", [False, True])
def test_every_step_of_a_tree_stays_within_its_plan(gaussian: bool) -> None:
    """Whatever n, λ and clipping: randomizers round towards more noise. Half of a tree's budget is its leaves'."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        strength, regularization, bound = np.exp(rng.uniform(-6, 4, 3)).tolist()
        amount = TreeNoise.of(strength, 3, 0.5, gaussian=gaussian)
        plan = list(amount.plan(3))
        growth = Growth(LAYOUT, (), "square", "filter", regularization, bound)
        n = int(rng.integers(0, 1000))
        level = amount.splits(growth, (), n, ScriptedNoise(())).cost
        leaf = amount.leaves(growth, CompleteTree((CodeSplit(0, (1,)),)), ScriptedNoise(())).cost
        assert isinstance(level, BoundedRange)
        assert isinstance(plan[0], BoundedRange)
        assert level <= plan[0]
        levels = 3 * plan[0].epsilon if not gaussian else math.sqrt(3.0 / 8.0) * plan[0].epsilon
        if isinstance(leaf, LaplaceDP) and isinstance(plan[3], LaplaceDP):
            assert leaf <= plan[3]
            assert plan[3].epsilon == pytest.approx(levels, rel=1e-9, abs=1e-9)
        else:
            assert isinstance(leaf, GDP)
            assert isinstance(plan[3], GDP)
            assert leaf <= plan[3]
            assert plan[3].mu / math.sqrt(2.0) == pytest.approx(levels, rel=1e-9, abs=1e-9)


# --- the whole learner, exactly ------------------------------------------------------------------------------------


class DensityNoise(ScriptedNoise):
    """Laplace noise by its density: an output from a short list, whose likelihood goes into the run's."""

    OUTPUTS = (-0.8, 0.1, 0.9)

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        pattern = [self._choose(np.zeros(len(self.OUTPUTS))) for _ in range(values.size)]
        found = np.array([self.OUTPUTS[choice] for choice in pattern])
        self.log_probability -= float(np.sum(np.abs(found - values.ravel()))) / scale
        return found.reshape(values.shape)


def likelihoods(records: Records, ensemble: int, epsilon: float = 1.0) -> dict[object, float]:
    """ln likelihood of every sequence of splits and of leaf outputs from the list, by `fit_encoded` as it is."""
    law: dict[object, float] = {}
    script: tuple[int, ...] | None = ()
    while script is not None:
        noise = DensityNoise(script)
        model = fitted(records, noise, ensemble, epsilon)
        law[model.model_] = float(np.logaddexp(law.get(model.model_, -np.inf), noise.log_probability))
        script = noise.next_script()
    return law


def fitted(
    records: Records, noise: ScriptedNoise | PinnedNoise, ensemble: int, epsilon: float = 1.0, delta: float = 0.0
) -> DPGradientBoostingClassifier:
    model = DPGradientBoostingClassifier(
        epsilon,
        delta,
        n_estimators=2,
        ensemble=ensemble,
        depth=1,
        regularization=0.1,
        learning_rate=0.3,
        random_state=noise,
    )
    return model.fit_encoded(encoded(records))


@pytest.mark.parametrize("ensemble", [1, 2])
def test_two_trees_lose_at_most_what_the_ledger_charged(ensemble: int) -> None:
    """Every split and a grid of leaf values, by their exact likelihoods, on samples of four records and neighbours.

    Two trees on all records (ensemble=1) and on two shares of them (ensemble=2), each at ε = 1.
    """
    flip = Pair[Records](((0, 1, 1), (1, 0, 0), (0, 0, 0), (1, 1, 1)), ((0, 1, 0), (1, 0, 0), (0, 0, 0), (1, 1, 1)))
    move = Pair[Records](((0, 0, 1), (1, 1, 0), (1, 0, 0), (1, 1, 0)), ((0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 1, 0)))
    worst = 0.0
    for pair in (flip, move):
        first, second = (likelihoods(records, ensemble) for records in pair)
        assert first.keys() == second.keys()
        worst = max(worst, max(abs(first[model] - second[model]) for model in first))
    spent = fitted(flip.before, DensityNoise(()), ensemble).ledger_.spent
    assert isinstance(spent, PureDP)
    assert worst <= spent.epsilon <= 1.0
    assert worst > 0.25


def test_shares_drawn_from_the_records_would_be_found() -> None:
    """Lanes go by place, not by label: a program whose lanes look at the record loses more than one lane's cost."""
    from mechanisms import ExponentialChoice, PlainMechanism, Query, RangeSensitivity

    def counted(records: tuple[int, ...], noise: ScriptedNoise) -> tuple[int, ...]:
        lanes = [tuple(r for r in records if r == kind) for kind in (0, 1)]
        query = Query[tuple[int, ...], FloatArray, RangeSensitivity](
            "size", lambda rows: np.array([0.0, float(len(rows))]), RangeSensitivity(1.0), ReplaceOne()
        )
        return tuple(PlainMechanism(query, ExponentialChoice(1.0), noise).sample(lane) for lane in lanes)

    one = PureDP(1.0)
    charged: dict[str, Cost] = {"one lane": one}
    with pytest.raises(ClaimViolated):
        check_learner(counted, charged, neighbours(ReplaceOne(), (0, 1), 8))


def test_a_start_from_the_average_is_a_release_that_nobody_paid_for() -> None:
    """[dpboost-init] The paper's code starts from the exact average label: one flipped label is seen at once."""

    def started(records: Records, noise: ScriptedNoise) -> tuple[float, tuple[float, ...]]:
        """The start, and noisy trees after it."""
        noisy = noise.bits(2).tolist()
        return float(np.mean([label for _, _, label in records])), tuple(noisy)

    pair: Pair[Records] = Pair(((0, 1, 1), (1, 0, 0)), ((0, 1, 1), (1, 0, 1)))
    with pytest.raises(ClaimViolated, match="inf"):
        check_learner(started, {"its ε": PureDP(1e6)}, [pair])


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("ensemble", [1, 2])
def test_everything_public_on_a_fitted_ensemble_was_released_or_is_public(ensemble: int, delta: float) -> None:
    def fit(records: Records, noise: PinnedNoise) -> DPGradientBoostingClassifier:
        return fitted(records * 4, noise, ensemble, 1.0, delta)

    distant: list[Pair[Records]] = [Pair(((0, 1, 1), (1, 0, 0), (1, 1, 1)), ((1, 1, 0), (1, 1, 0), (0, 0, 1)))]
    compared = check_fitted_surface(fit, distant)
    assert {"model_", "ledger_", "statement_", "eta_"} <= set(compared)


# --- the estimator -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_it_learns_on_frames_and_survives_json(tmp_path: Path, loss: str, delta: float) -> None:
    table, y = frame(4000)
    model = DPGradientBoostingClassifier(3.0, delta, schema=WIDE, random_state=0).set_params(loss=loss).fit(table, y)
    assert np.mean(model.predict(table) == y) > 0.8
    share = model.predict_proba(table)
    assert share.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(share[:, 1] > 0.5, model.predict(table) == "yes")
    model.save(tmp_path / "boosted.json")
    loaded = DPGradientBoostingClassifier.load(tmp_path / "boosted.json")
    assert loaded.model_ == model.model_
    assert np.array_equal(loaded.decision_function(table), model.decision_function(table))


@pytest.mark.parametrize(
    ("rule", "budget", "delta"),
    [
        (BasicComposition(), PureDP(2.5), 0.0),
        (BasicComposition(), ApproxDP(2.5, 1e-4), 1e-5),
        (ZCDPComposition(), ApproxDP(2.5, 1e-5), 0.0),
        (ZCDPComposition(), ApproxDP(2.5, 1e-5), 1e-6),
    ],
)
def test_one_fit_is_one_charge_on_every_ledger(rule: Composition, budget: Budget, delta: float) -> None:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    model = DPGradientBoostingClassifier(1.0, delta, schema=WIDE, ledger=ledger, random_state=0)
    clone(model).fit(*frame(300))
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert settled(ledger)
    if isinstance(rule, BasicComposition):
        clone(model).fit(*frame(300))
        with pytest.raises(BudgetExceeded):
            clone(model).fit(*frame(300))
        spent = ledger.spent.as_dict()
        assert 2.0 - 1e-5 < float(spent["epsilon"]) <= 2.0


def test_the_books_say_what_a_lane_does() -> None:
    model = DPGradientBoostingClassifier(1.0, schema=WIDE, n_estimators=6, ensemble=3, random_state=0).fit(*frame(300))
    [charge] = [entry for entry in model.ledger_.entries if entry.kind == "charged"]
    text = json.dumps(charge.record)
    assert '"partitions": 2' in text
    assert '"lanes": 3' in text
    assert "3 x BoundedRange" in text
    assert "dpboost-gain" in text


def test_ensembles_add_up_and_trees_of_one_do_not() -> None:
    table, y = frame(300)
    eta = {
        ensemble: DPGradientBoostingClassifier(1.0, n_estimators=4, ensemble=ensemble, schema=WIDE, random_state=0)
        .fit(table, y)
        .eta_
        for ensemble in (1, 2, 4)
    }
    assert eta[4] == pytest.approx(2 * eta[2], rel=1e-6)
    assert eta[4] == pytest.approx(4 * eta[1], rel=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators: expected a whole number"),
        ({"ensemble": 0}, "ensemble: expected a whole number"),
        ({"depth": 17}, "depth: expected a depth of at most 16"),
        ({"learning_rate": 1.0}, "learning_rate: expected a number in"),
        ({"leaf_share": 0.0}, "leaf_share: expected a number in"),
        ({"regularization": 0.0}, "regularization: expected a positive"),
        ({"loss": "hinge"}, "loss: expected one of"),
        ({"large": "keep"}, "large: expected one of"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        DPGradientBoostingClassifier(schema=WIDE).set_params(**parameters).fit(*frame(50))


def test_more_trees_than_records_are_grown_from_nothing() -> None:
    model = DPGradientBoostingClassifier(1.0, n_estimators=40, ensemble=40, depth=2, schema=WIDE, random_state=0)
    assert len(model.fit(*frame(12)).model_.trees) == 40


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda model: model["trees"][0][1].pop(), "expected 8 leaf values"),
        (lambda model: model["trees"][0][1].__setitem__(0, 2**41), "at most 2.40 units"),
        (lambda model: model["trees"][0][0].__setitem__(0, [7, [1]]), "does not fit a schema"),
        (lambda model: model.update(loss="hinge"), "loss: 'hinge'"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "boosted.json"
    DPGradientBoostingClassifier(schema=WIDE, random_state=0).fit(*frame(50)).save(path)
    record = json.loads(path.read_text())
    assert callable(damage)
    damage(record["model"])
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=message):
        DPGradientBoostingClassifier.load(path)


def test_progress_is_reported_tree_by_tree() -> None:
    seen: list[int] = []
    model = DPGradientBoostingClassifier(n_estimators=3, depth=1, schema=WIDE, random_state=0)
    model.fit(*frame(50), on_round=lambda number, tree: seen.append(number))
    assert seen == [1, 2, 3]
    assert isinstance(model.model_, BoostedTreesModel)
