"""`check_one_run`: what it proves of estimators that keep what they say, and of some that do not."""

import warnings
from functools import partial

import attrs
import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard

from accountant import GDP, ZCDP, AddRemoveOne, ApproxDP, BasicComposition, Ledger, PureDP, ReplaceOne, UnsupportedCost
from accountant.arrays import FloatArray
from learners import (
    AdaSSP,
    Bounds,
    Categorical,
    DPLogisticRegression,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    RadoRelease,
    RandomFeatureClassifier,
    Schema,
)
from mechanisms import NoiseSource, SeededNoise
from proofs_tests.harness import (
    Canaries,
    ClaimViolated,
    NotReleased,
    along,
    check_one_run,
    company,
    corner_canaries,
)
from proofs_tests.harness.one_run import Counts, Seen
from proofs_tests.harness.one_run.audit import drawn_coins
from proofs_tests.harness.one_run.bounds import lower_bound
from proofs_tests.harness.one_run.scores import fixed_coins

EPSILON, DELTA, M = 4.0, 1e-5, 1024
RARE = Schema((Categorical("code", tuple(f"c{i}" for i in range(M))),))


class HalfTheNoise(SeededNoise):
    """Draws with half of the deviation that it is asked for."""

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        return super().gaussian(values, 0.5 * sigma, grid)


def boosted(noise: int | NoiseSource = 0, adjacency: str = "add-remove-one", **more: object) -> PrivateBoostClassifier:
    given = {"epsilon": EPSILON, "delta": DELTA, "schema": RARE, **more}
    return PrivateBoostClassifier(adjacency=adjacency, random_state=noise, **given)  # type: ignore[arg-type]  # of many types


@attrs.define(eq=False, slots=False)
class Responses:
    """Keeps each record's bit, told the truth about with odds e^ε; records are numbered by their only column."""

    epsilon: float = 1.0
    seed: int = 0
    size: int = 200

    def get_params(self, deep: bool = True) -> dict[str, object]:
        return {"epsilon": self.epsilon, "seed": self.seed, "size": self.size}

    def fit(self, X: FloatArray, y: FloatArray) -> "Responses":
        rng, bits = np.random.default_rng(self.seed), np.zeros(self.size)
        bits[X[:, 0].astype(int)] = y
        self.kept_ = np.where(rng.random(self.size) < 1.0 / (1.0 + np.exp(-self.epsilon)), bits, 1.0 - bits)
        self.classes_ = np.array([0.0, 1.0])
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        return np.asarray(2.0 * self.kept_[X[:, 0].astype(int)] - 1.0)


def numbered(size: int) -> Canaries:
    X, y = np.arange(size, dtype=float)[:, None], np.ones(size)
    return Canaries(X, y, other_y=1.0 - y)


@pytest.mark.parametrize("adjacency", ["add-remove-one", "replace-one"])
def test_boosted_effects_show_much_of_what_they_cost(adjacency: str) -> None:
    canaries = corner_canaries(RARE, M, (0, 1), replaced=adjacency == "replace-one")
    X, y = company(canaries, (0, 1), 15)
    found = check_one_run(boosted(adjacency=adjacency), X, y, canaries=canaries, random_state=1)
    assert found.score == "white-box"
    assert isinstance(found.charged, GDP)
    assert found.charged_epsilon == pytest.approx(EPSILON, rel=1e-3)
    assert 0.4 < found.ratio < 1.0
    assert not found.refuted
    assert "guesses right" in str(found)
    seen = check_one_run(boosted(adjacency=adjacency), X, y, canaries=canaries, score="black-box", random_state=1)
    assert 0.0 < seen.epsilon < found.epsilon
    assert seen.mu is not None


def test_half_the_noise_is_refuted() -> None:
    """Charged for σ, drawn with σ/2: it loses twice the μ that its ledger says."""
    canaries = corner_canaries(RARE, M, (0, 1), replaced=False)
    with pytest.raises(ClaimViolated, match="guesses right about 1024 canaries, white-box"):
        check_one_run(boosted(HalfTheNoise(0)), *company(canaries, (0, 1), 15), canaries=canaries, random_state=1)


def test_a_claim_of_half_the_cost_is_refuted_and_of_all_of_it_is_not() -> None:
    half = partial(check_one_run, adjacency=ReplaceOne(), random_state=3)
    with pytest.raises(ClaimViolated, match="Responses, one run"):
        half(Responses(2.0, size=2000), canaries=numbered(2000), claimed=PureDP(1.0))
    found = half(Responses(2.0, size=2000), canaries=numbered(2000), claimed=PureDP(2.0))
    assert found.guesses == 2000
    assert 1.5 < found.epsilon <= 2.0
    assert found.mu is None


def test_a_bound_is_above_the_truth_in_no_more_runs_than_it_says() -> None:
    """200 runs at 80 %: more than 70 come with a chance of 5e-7 where one in five are wrong, and would come nearly
    always if bounds were a tenth larger."""
    bounds = []
    for seed in range(200):
        try:
            found = check_one_run(
                Responses(1.0, seed, 1500),
                canaries=numbered(1500),
                claimed=PureDP(1.0),
                adjacency=ReplaceOne(),
                confidence=0.8,
                random_state=seed + 1000,
            )
            bounds.append(found.epsilon)
        except ClaimViolated as violated:
            bounds.append(violated.report.found)
    assert stats.binom.sf(70, 200, 0.2) < 1e-6
    assert sum(bound > 1.0 for bound in bounds) <= 70
    assert sum(1.1 * bound > 1.0 for bound in bounds) > 70


def test_coins_have_nothing_to_do_with_what_else_is_drawn_from_their_seed() -> None:
    for seed in range(20):
        coins = drawn_coins(4000, seed)
        drawn = (
            np.random.default_rng(seed).integers(0, 2, 4000),
            fixed_coins(4000),
            np.asarray(corner_canaries(Bounds(0, 1), 4000, (0, 1), columns=1, replaced=False, seed=seed).y),
            SeededNoise(seed).bits(4000),
        )
        for other in drawn:
            for own in (coins, drawn_coins(4000, np.random.default_rng(seed))):
                assert 1750 < int(np.sum(own == other.astype(bool))) < 2250  # eight deviations


@attrs.define(eq=False, slots=False)
class Constant:
    """Says 1, whatever the data are, and so keeps every claim."""

    schema: Schema = attrs.field(default=RARE)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        return {"schema": self.schema}

    def fit(self, X: dict[str, FloatArray], y: FloatArray) -> "Constant":
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: dict[str, FloatArray]) -> FloatArray:
        return np.ones(len(X["code"]))


def test_a_generator_that_also_drew_the_canaries_labels_guesses_no_coin() -> None:
    """Its coins were those labels, bit by bit, and a constant was refuted."""
    found = check_one_run(
        Constant(), canaries=M, claimed=PureDP(1.0), adjacency=AddRemoveOne(), random_state=np.random.default_rng(0)
    )
    assert found.epsilon == 0.0


def test_a_claim_of_ones_own_is_one_of_the_ledgers_relation() -> None:
    """Linear features are charged for replaced records: coins that leave records out say nothing of that."""
    model = RandomFeatureClassifier(4.0, DELTA, distribution="linear", schema=Bounds(-1, 1), random_state=0)
    away = Canaries(hadamard(32).astype(float), [0, 1] * 16)
    with pytest.raises(ValueError, match="say what else is in their place"):
        check_one_run(model, canaries=away, claimed=GDP(1.0))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_a_bound_is_that_of_its_counts_at_its_confidence(confidence: float) -> None:
    found = check_one_run(boosted(), canaries=M, confidence=confidence, random_state=2)
    counts = Counts(found.canaries, found.guesses, found.correct)
    assert found.report.confidence == pytest.approx(confidence)
    assert found.report.found == lower_bound(counts, GDP, 1.0 - confidence) > 0.0


def test_the_users_ledger_is_charged_once() -> None:
    ledger = Ledger(ApproxDP(10.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne())
    canaries = corner_canaries(RARE, 64, (0, 1), replaced=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no fit counts as one more of the same estimator
        found = check_one_run(boosted(ledger=ledger), canaries=canaries, random_state=0)
    assert [entry.kind for entry in ledger.entries].count("charged") == 1
    assert found.charged_epsilon == pytest.approx(EPSILON, rel=1e-3)


def test_tables_with_named_columns_and_further_records() -> None:
    canaries = Canaries({"code": [f"c{i}" for i in range(64)]}, [0, 1] * 32)
    found = check_one_run(boosted(), {"code": ["c70", "c71"]}, [0, 1], canaries=canaries, random_state=0)
    assert found.canaries == 64
    with pytest.raises(ValueError, match="expected the columns of X"):
        check_one_run(boosted(), {"other": ["c70"]}, [0], canaries=canaries)
    with pytest.raises(ValueError, match="expected an array"):
        check_one_run(boosted(), np.zeros((2, 1)), [0, 1], canaries=canaries)


def test_a_number_of_canaries_is_drawn_from_the_domain() -> None:
    assert check_one_run(boosted(), canaries=64, random_state=0).canaries == 64
    assert check_one_run(boosted(adjacency="replace-one"), canaries=64, random_state=0).canaries == 64
    with pytest.raises(ValueError, match="no schema to make them from"):
        check_one_run(LazyBoostClassifier(1.0), canaries=10)


def test_choices_are_scored_one_by_one() -> None:
    corners = np.array([[i >> b & 1 for b in range(5)] for i in range(24)])
    labels = corners[:, 0]
    canaries = Canaries(corners, labels, other_y=1 - labels)
    found = check_one_run(LazyBoostClassifier(8.0, rounds=5, random_state=0), canaries=canaries, random_state=0)
    assert found.score == "white-box"
    assert isinstance(found.charged, PureDP)
    assert found.delta == 0.0
    assert found.epsilon <= 8.0


def signs(canaries: Canaries) -> FloatArray:
    return np.where(canaries.y == 1, 1.0, -1.0)[:, None]


def _features(seen: Seen) -> FloatArray:
    model = seen.fitted.model_
    return np.asarray(model.fit.features.rows(np.asarray(seen.canaries.X)) * signs(seen.canaries))


def test_canaries_in_directions_of_their_own() -> None:
    """Corners of a cube at right angles to each other, for a learner that releases sums over all of them."""
    corners = hadamard(512)[:, 1:].astype(float)
    y = np.random.default_rng(0).integers(0, 2, 512)
    canaries = Canaries(corners, y, other_y=1 - y)
    model = RandomFeatureClassifier(
        8.0, DELTA, solver=AdaSSP(), distribution="linear", schema=Bounds(-1, 1), random_state=0
    )
    score = along(_features, last=True)
    found = check_one_run(model, canaries=canaries, score=score, random_state=1)
    assert 0.3 < found.ratio < 1.0
    assert found.score == "white-box, along directions"


def test_units_have_cells_of_their_own() -> None:
    y = np.random.default_rng(0).integers(0, 2, 512)
    canaries = Canaries(np.eye(512), y, other_y=1 - y)
    plane = HalfspaceBoostClassifier(8.0, DELTA, radius=1.0, classes=(0, 1), random_state=0)
    assert 0.3 < check_one_run(plane, canaries=canaries, score="white-box", random_state=1).ratio < 1.0
    rados = RadoRelease(
        "examples",
        8.0,
        DELTA,
        number=10,
        radius=1.0,
        standardise=False,
        fit_intercept=False,
        schema=Bounds(-1, 1),
        random_state=0,
    )
    assert 0.3 < check_one_run(rados, canaries=canaries, score="white-box", random_state=1).ratio < 1.0


def test_noise_that_is_not_released_is_no_white_box() -> None:
    """Whoever saw the random term of objective perturbation would know the minimiser without noise."""
    y = np.random.default_rng(0).integers(0, 2, 32)
    canaries = Canaries(np.eye(32)[:, :8], y, other_y=1 - y)
    model = DPLogisticRegression(1.0, DELTA, schema=Bounds(0, 1, bins=2), random_state=0)
    with pytest.raises(NotReleased, match="noise by itself"):
        check_one_run(model, canaries=canaries, score="white-box")
    assert check_one_run(model, canaries=canaries, random_state=0).score == "black-box"
    edges = RadoRelease(
        "examples", 1.0, DELTA, number=10, route="edges", support=8, schema=Bounds(-1, 1), random_state=0
    )
    with pytest.raises(NotReleased, match="bits"):
        check_one_run(edges, canaries=canaries, score="white-box")
    column = RadoRelease("feature", 1.0, DELTA, number=10, sensitive=[0], schema=Bounds(-1, 1), random_state=0)
    with pytest.raises(ValueError, match="coins of whole records say nothing"):
        check_one_run(column, canaries=canaries)
    tuned = boosted(tune=[{"rounds_per_column": 1}, {"rounds_per_column": 2}])
    with pytest.raises(NotReleased, match="hidden"):
        check_one_run(tuned, canaries=32, score="white-box")


def test_what_is_refused_before_the_fit() -> None:
    away, there = corner_canaries(RARE, 8, (0, 1), replaced=False), corner_canaries(RARE, 8, (0, 1), replaced=True)
    with pytest.raises(ValueError, match="two steps apart"):
        check_one_run(boosted(), canaries=there)
    with pytest.raises(ValueError, match="say what else is in their place"):
        check_one_run(boosted(adjacency="replace-one"), canaries=away)
    with pytest.raises(ValueError, match="an even number"):
        check_one_run(boosted(), canaries=away, guesses=3)
    with pytest.raises(ValueError, match="as many records as labels"):
        Canaries(np.zeros((3, 1)), [0, 1])
    with pytest.raises(ValueError, match="nothing in their place"):
        _ = away.others
    with pytest.raises(ValueError, match="how many there are"):
        corner_canaries(Bounds(0, 1), 4, (0, 1), replaced=False)
    with pytest.raises(ValueError, match="no ledger that says them"):
        check_one_run(Responses(), canaries=numbered(20), adjacency=ReplaceOne())
    with pytest.raises(UnsupportedCost, match="expected PureDP"):
        check_one_run(boosted(), canaries=away, claimed=ZCDP(1.0))
    with pytest.raises(ValueError, match="need an estimator of ours"):
        check_one_run(
            Responses(), canaries=numbered(20), adjacency=ReplaceOne(), claimed=PureDP(1.0), score="white-box"
        )
