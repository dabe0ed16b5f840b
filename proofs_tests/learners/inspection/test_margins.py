"""Margins and advantages; and the histogram of margins that is paid for."""

import numpy as np
import pytest

from accountant import (
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    FeatureValue,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray, IntArray
from boosting import LazyBregman
from exchequer.datasets import DataSplit, breast_cancer
from learners import LazyBoostClassifier, Schema
from learners.additive.private_boost import PrivateBoostClassifier
from learners.inspection.margins import (
    BinnedMargins,
    MarginHistogram,
    advantages,
    counters,
    margin_histogram,
    margins,
    private_margin_histogram,
)
from learners.votes.majority_vote import VoteModel
from learners.votes.one_rules import OneRule
from mechanisms import L1Sensitivity, PlainMechanism, Query, SeededNoise
from mechanisms.queries.histograms import Histograms, Neighbours, histograms
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    PinnedNoise,
    check_fitted_surface,
    check_mechanism,
    check_sensitivity,
    neighbours,
)
from proofs_tests.support.learners.readable import three_classes
from proofs_tests.support.ledgers.settled import settled

ADJACENCIES = [ReplaceOne(), AddRemoveOne()]
MODEL = VoteModel(Schema.boolean(["a", "b"]), [OneRule(0, 1), OneRule(0, 1), OneRule(1, 1)])
EDGES = np.linspace(-1.0, 1.0, 5)
Record = tuple[int, int, int]
RECORDS: list[Record] = [(a, b, y) for a in (0, 1) for b in (0, 1) for y in (0, 1)]


def binned(records: tuple[Record, ...]) -> Histograms:
    table = np.array(records, dtype=np.intp).reshape(-1, 3)
    return BinnedMargins.of(MODEL, table[:, :2].T, table[:, 2], EDGES)


def pairs(adjacency: Neighbours, n: int) -> list[Pair[Histograms]]:
    return [pair.map(binned) for pair in neighbours(adjacency, RECORDS, n)]


@pytest.fixture(scope="module")
def cancer() -> DataSplit:
    return breast_cancer()


@pytest.fixture(scope="module")
def voting(cancer: DataSplit) -> LazyBoostClassifier:
    model = LazyBoostClassifier(2.0, schema=cancer.schema, rounds=15, density=0.4, learning_rate=0.3, random_state=0)
    return model.fit(cancer.train, cancer.y_train)


# --- what they are ---------------------------------------------------------------------------------------------


def test_margins_of_a_vote(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    found = margins(voting, cancer.test, cancer.y_test)
    np.testing.assert_allclose(np.abs(found), np.abs(voting.decision_function(cancer.test)))
    right = voting.predict(cancer.test) == cancer.y_test
    assert np.all(right[found > 0.0])
    assert not np.any(right[found < 0.0])


def test_the_margin_of_three_classes_is_the_lead_over_the_best_other() -> None:
    model = three_classes()
    codes = np.array([[0, 3], [1, 2], [2, 0], [0, 1]])
    fitted = PrivateBoostClassifier(schema=model.schema)
    fitted._remember(model, ("a", "b", "c"))
    scores = model.scores(codes)
    table: dict[str, list[object]] = {"age": [10, 80], "gain": [50, 500], "job": ["?", "clerk"], "member": [0, 1]}
    found = margins(fitted, table, np.array(["c", "a"]))
    np.testing.assert_allclose(found[0], scores[0, 2] - max(scores[0, 0], scores[0, 1]))
    np.testing.assert_allclose(found[1], scores[1, 0] - max(scores[1, 1], scores[1, 2]))


def test_a_histogram_counts_every_record_and_tells_right_from_wrong(
    cancer: DataSplit, voting: LazyBoostClassifier
) -> None:
    found = margin_histogram(voting, cancer.test, cancer.y_test, bins=10)
    assert found.edges.tolist() == np.linspace(-1.0, 1.0, 11).tolist()
    assert found.counts.sum() == cancer.y_test.size
    assert not found.private
    assert found.counts[5:].sum() == np.sum(margins(voting, cancer.test, cancer.y_test) > 0.0)


def test_margins_beyond_the_range_are_in_the_outer_bins() -> None:
    table = np.array(RECORDS, dtype=np.intp)
    narrow = BinnedMargins.of(MODEL, table[:, :2].T, table[:, 2], np.linspace(-0.2, 0.2, 3))
    assert histograms(narrow).tolist() == [[4.0, 4.0]]


def test_advantages_are_half_less_the_weighted_error(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    """By hand: weights ∝ min(1, c·exp(−λ·margin)) with mass κn."""
    found = advantages(voting, cancer.test, cancer.y_test)
    model = voting.model_
    codes = voting.encoded(cancer.test, cancer.y_test).codes
    signs = np.where(cancer.y_test == voting.classes_[1], 1, -1)
    margin, n = np.zeros(signs.size), signs.size
    for rule, advantage in zip(model.rules, found, strict=True):
        low, high = 0.0, 1e9
        for _ in range(200):
            middle = 0.5 * (low + high)
            mass = np.minimum(1.0, middle * np.exp(-0.3 * margin)).sum()
            low, high = (middle, high) if mass < 0.4 * n else (low, middle)
        weights = np.minimum(1.0, low * np.exp(-0.3 * margin))
        said = rule.on_codes(model.layout, codes)
        error = weights[said != signs].sum() / weights.sum()
        assert advantage == pytest.approx(0.5 - error, abs=1e-6)
        margin += said * signs


def test_advantages_need_a_vote_and_its_settings(
    cancer: DataSplit, voting: LazyBoostClassifier, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.json"
    voting.save(path)
    loaded = LazyBoostClassifier.load(path)
    expected = advantages(voting, cancer.test, cancer.y_test)
    np.testing.assert_array_equal(advantages(loaded, cancer.test, cancer.y_test), expected)
    other = advantages(loaded, cancer.test, cancer.y_test, LazyBregman(1.0, 0.3))
    assert other[0] == pytest.approx(expected[0])
    assert not np.allclose(other, expected)
    loaded.parameters_ = {"epsilon": 1.0}
    with pytest.raises(ValueError, match="give LazyBregman"):
        advantages(loaded, cancer.test, cancer.y_test)
    additive = PrivateBoostClassifier(1.0, 1e-5, schema=cancer.schema, random_state=0).fit(cancer.train, cancer.y_train)
    with pytest.raises(TypeError, match="not of a AdditiveModel"):
        advantages(additive, cancer.test, cancer.y_test)


def test_labels_must_be_of_the_model(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    with pytest.raises(ValueError, match=r"row 0: 'ill' is none of the classes"):
        margins(voting, cancer.test, np.full(cancer.y_test.size, "ill"))
    with pytest.raises(ValueError, match="records"):
        margins(voting, cancer.test, cancer.y_test[1:])


# --- what is paid for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", [0, 1])
def test_the_counts_move_by_just_what_is_declared(adjacency: Neighbours, kind: int) -> None:
    query = counters(adjacency, 1.0, SeededNoise(0))[kind].query
    report = check_sensitivity(query, pairs(adjacency, 3))
    assert report.found == pytest.approx(query.sensitivity.value)


@pytest.mark.parametrize("kind", [0, 1])
def test_what_a_replaced_record_moves_is_more_than_what_one_more_does(kind: int) -> None:
    """The kit tells the two adjacencies apart: the cheaper bound does not pass for the other relation."""
    query = counters(AddRemoveOne(), 1.0, SeededNoise(0))[kind].query
    with pytest.raises(ClaimViolated):
        check_sensitivity(query, pairs(ReplaceOne(), 3))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", [0, 1])
def test_the_release_loses_no_more_than_it_costs(adjacency: Neighbours, kind: int) -> None:
    mechanism = counters(adjacency, 1.0, SeededNoise(1))[kind]
    worst = max(
        pairs(adjacency, 2),
        key=lambda pair: float(np.abs(histograms(pair.before) - histograms(pair.after)).sum()),
    )
    check_mechanism(mechanism, [worst])


def test_noise_of_half_the_size_is_found_out() -> None:
    honest = counters(ReplaceOne(), 1.0, SeededNoise(2))[0]
    doubled: Query[Histograms, FloatArray, L1Sensitivity] = Query(
        "doubled", lambda data: 2.0 * histograms(data), honest.query.sensitivity, ReplaceOne()
    )
    lying = PlainMechanism(doubled, honest.randomizer, SeededNoise(2))
    worst = Pair(binned(((0, 0, 0), (0, 0, 0))), binned(((0, 0, 0), (1, 1, 0))))
    with pytest.raises(ClaimViolated):
        check_mechanism(lying, [worst])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_it_is_charged_and_close(cancer: DataSplit, voting: LazyBoostClassifier, adjacency: Neighbours) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=adjacency)
    found = private_margin_histogram(
        ledger, voting, cancer.train, cancer.y_train, epsilon=0.75, bins=8, random_state=SeededNoise(0)
    )
    assert isinstance(ledger.spent, PureDP)
    assert 0.7499 < ledger.spent.epsilon <= 0.75
    (charged,) = ledger.statement().rows
    assert charged[0] == "margin histogram"
    assert "margin-histogram" in charged[1]
    exact = margin_histogram(voting, cancer.train, cancer.y_train, bins=8)
    assert found.deviation == pytest.approx(np.sqrt(2.0) * (2 if adjacency == ReplaceOne() else 1) / 0.75, rel=1e-3)
    assert not found.private, "the noise is a simulation's"
    assert 0.0 < np.max(np.abs(found.counts - exact.counts)) < 8.0 * found.deviation
    with pytest.raises(BudgetExceeded):
        private_margin_histogram(ledger, voting, cancer.train, cancer.y_train, epsilon=0.75)
    assert len(ledger.statement().rows) == 1


def test_the_smaller_noise_is_taken(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    """One count of n: Laplace where ε is added up, Gaussian where the ledger adds up ρ."""
    said = []
    for rule in (BasicComposition(), ZCDPComposition()):
        ledger = Ledger(ApproxDP(1.0, 1e-5), composition=rule, adjacency=ReplaceOne())
        found = private_margin_histogram(ledger, voting, cancer.train, cancer.y_train, epsilon=1.0, delta=1e-5)
        assert found.private
        assert settled(ledger)
        said.append(ledger.statement().rows[0][1])
    assert said[0].startswith("Laplace")
    assert said[1].startswith("Gaussian")


def test_another_adjacency_is_refused(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=FeatureValue(0))
    with pytest.raises(TypeError, match="expected add-remove-one or replace-one"):
        private_margin_histogram(ledger, voting, cancer.train, cancer.y_train, epsilon=0.5)


def test_nothing_but_the_release_is_kept() -> None:
    fitted = LazyBoostClassifier(schema=MODEL.schema)
    fitted._remember(MODEL, (0, 1))

    def release(data: tuple[IntArray, IntArray], noise: PinnedNoise) -> MarginHistogram:
        ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
        return private_margin_histogram(ledger, fitted, *data, epsilon=1.0, bins=4, random_state=noise)

    rng = np.random.default_rng(0)
    samples = [(rng.integers(0, 2, (20, 2)), rng.integers(0, 2, 20)) for _ in range(2)]
    names = check_fitted_surface(release, [Pair(*samples)])
    assert {"counts", "deviation", "edges"} <= set(names)
