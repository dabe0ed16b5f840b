"""The halfspace learner: one pass is the sum that it should be, accuracy, costs, and what it refuses."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ApproxDP,
    BudgetExceeded,
    LaplaceDP,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from boosting import LazyBregman, replay
from boosting.theory.margin_samples import margin_data
from learners import HalfspaceBoostClassifier
from learners.base.defaults import BoostingSettings
from learners.halfspaces.centred_means import PER_UNIT, Centring, Halfspace, mean_rounding
from learners.halfspaces.halfspace_plan import HalfspacePlan
from learners.halfspaces.noisy_centred_mean import centred_halfspace, unit
from learners.halfspaces.point_sample import PLACES, PointRows, SignedPoints
from mechanisms import SecureNoise
from mechanisms.queries.weighted_queries import unit_ball_mean
from proofs_tests.harness import Pair, PinnedNoise, check_fitted_surface
from proofs_tests.support.ledgers.separate import separate


@attrs.frozen(eq=False)
class Drawn:
    """FloatArray as they came."""

    points: FloatArray
    labels: npt.NDArray[np.int8]
    constant: float = 0.0

    @property
    def block(self) -> SignedPoints:
        return SignedPoints.of(self.points, self.labels, 1.0, self.constant)

    @property
    def rows(self) -> PointRows:
        return PointRows.of(self.block)


def sample_of(seed: int, n: int, dimension: int, constant: float = 0.0) -> Drawn:
    """Half of the points are outside the unit ball."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dimension)) / math.sqrt(dimension)
    return Drawn(points, rng.choice(np.array([-1, 1], dtype=np.int8), n), constant)


def in_the_ball(sample: Drawn) -> FloatArray:
    """yᵢ·x̃ᵢ, row by row, the long way."""
    lengths = np.linalg.norm(sample.points, axis=1)
    inside = sample.points / np.maximum(lengths, 1.0)[:, None]
    if sample.constant:
        inside = np.column_stack([inside, np.full(lengths.size, sample.constant)])
    return np.asarray(sample.labels[:, None] * inside / math.hypot(1.0, sample.constant))


# --- one pass --------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3000),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1.0, 0.6, 0.1]),
    st.sampled_from([0.05, 1.0, 8.0]),
)
def test_a_round_is_the_weighted_mean(
    seed: int, n: int, dimension: int, constant: float, density: float, rate: float
) -> None:
    """[halfspace-grid] As `LazyBregman` weights exact margins, but for λ times half a step, and places of a point."""
    sample, rng = sample_of(seed, n, dimension, constant), np.random.default_rng(seed)
    booster, rows = LazyBregman(density, rate), in_the_ball(sample)
    cut = math.sqrt(dimension + 1) * 2.0**-PLACES + 2.0**-29
    found, plain = Centring(booster).start(sample.rows), booster.start(sample.block)
    for number in range(6):
        expected = plain.measure.distribution @ rows
        assert found.slickness == plain.slickness
        off = rate * 0.5 / PER_UNIT * min(number, 1) + cut + mean_rounding(n, density)
        assert float(np.linalg.norm(found.mean - expected)) <= off
        halfspace = Halfspace(unit(expected + rng.normal(0.0, 0.3, rows.shape[1])))
        found, plain = Centring(booster).step(found, halfspace), booster.step(plain, halfspace)


def test_rounding_that_the_sensitivity_leaves_out_is_refused() -> None:
    """Weights of 24 bits under a cost for twice as many."""
    state = Centring(LazyBregman(0.5, 1.0)).start(sample_of(0, 10, 2).rows)
    with pytest.raises(ValueError, match="the sensitivity allows for rounding by"):
        unit_ball_mean(mean_rounding(2**20, 0.5)).evaluate(state)
    assert unit_ball_mean(mean_rounding(10, 0.5)).sensitivity(0.1).value == pytest.approx(0.2 + 2.0**-23, rel=1e-9)


@pytest.mark.parametrize(("n", "added"), [(2**17, 2.0**-24 + 2.0**-43), (2**17 + 1, 2.0**-43 + 2.0**-48)])
def test_rounding_is_charged_by_public_numbers(n: int, added: float) -> None:
    """Weights get 24 bits more where these would add more than 2^-8 to the sensitivity."""
    plan = HalfspacePlan(n, BoostingSettings(3, 1.0, 1.0), 1.0, False, SecureNoise())
    (cost,) = plan.learner(0.5).costs(plan.booster.slickness(n, 3))
    assert added <= 2.0 / n * (2.0**-8 + 2.0**-25)
    assert cost.mu == pytest.approx((2.0 / n + added) / 0.5, rel=1e-7)  # type: ignore[union-attr]  # all are Gaussian


@pytest.mark.parametrize("huge", [1.7e308, 1e160, 1e-300, 5e-324])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_the_mean_moves_no_further_for_records_of_any_size(huge: float, constant: float) -> None:
    """A length that overflows once made every weight 1, and the mean move by 10^4 times its sensitivity."""
    one, booster = sample_of(7, 400, 2, constant), Centring(LazyBregman(0.35, 0.5))
    points = one.points.copy()
    points[0] = [huge, -huge]
    states = [booster.start(each.rows) for each in (one, attrs.evolve(one, points=points))]
    for normal in np.eye(states[0].points.dimension)[:2]:
        states = [booster.step(state, Halfspace(normal)) for state in states]
    moved = float(np.linalg.norm(states[0].mean - states[1].mean))
    assert moved <= 2.0 * states[0].slickness.zeta + states[0].rounding


def test_the_scale_that_a_refusal_names_is_enough() -> None:
    sample = sample_of(0, 300, 3)
    for epsilon in (0.3, 1.0, 2.5):
        with pytest.raises(ValueError, match="too little noise") as refused:
            HalfspaceBoostClassifier(epsilon, 1e-6, scale=1e-9).fit(sample.points, sample.labels)
        named = float(str(refused.value).split("it takes ")[1].split(" or more")[0])
        HalfspaceBoostClassifier(epsilon, 1e-6, scale=named).fit(sample.points, sample.labels)
        with pytest.raises(ValueError, match="too little noise"):
            HalfspaceBoostClassifier(epsilon, 1e-6, scale=0.99 * named).fit(sample.points, sample.labels)


def test_the_noiseless_weak_learner_has_half_the_length_of_the_mean_as_its_advantage() -> None:
    sample, booster = sample_of(0, 200, 3), LazyBregman(0.4, 0.5)
    state = Centring(booster).start(sample.rows)
    first, halfspaces = state.mean, list[Halfspace]()
    for _ in range(5):
        halfspaces.append(centred_halfspace(state))
        state = Centring(booster).step(state, halfspaces[-1])
    again = replay(sample.block, halfspaces, booster)
    assert again.certificate.holds
    assert again.advantages[0] == pytest.approx(0.5 * float(np.linalg.norm(first)), abs=mean_rounding(200, 0.4))


def test_a_representation_shows_no_record() -> None:
    sample = Drawn(np.full((2, 2), 0.123), np.array([1, -1], dtype=np.int8))
    assert "0.12" not in repr(Centring(LazyBregman(0.5, 1.0)).start(sample.rows))
    assert "0.12" not in repr(sample.block) + repr(sample.rows) + repr(LazyBregman(0.5, 1.0).start(sample.block))


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1.0), st.floats(0.1, 3.0), st.integers(1, 4))
def test_the_mean_moves_as_far_as_its_sensitivity_says(seed: int, density: float, rate: float, rounds: int) -> None:
    """A replaced record moves the mean by at most 2ζ."""
    one, booster = sample_of(seed, 40, 3), LazyBregman(density, rate)
    rng = np.random.default_rng(seed)
    points, labels = one.points.copy(), one.labels.copy()
    points[0], labels[0] = rng.normal(size=3) * 10.0, -labels[0]
    states = [Centring(booster).start(each.rows) for each in (one, Drawn(points, labels))]
    for _ in range(rounds):
        halfspace = Halfspace(unit(states[0].mean + rng.normal(0.0, 0.2, 3)))
        states = [Centring(booster).step(state, halfspace) for state in states]
    moved = float(np.linalg.norm(states[0].mean - states[1].mean))
    assert moved <= 2.0 * states[0].slickness.zeta + states[0].rounding


def test_two_zeta_is_attained_and_a_tenth_less_is_not_enough() -> None:
    """All points are u, and one of them becomes −u with the same label: uniform weights move by 2/n."""
    points, labels = np.tile([0.6, 0.8], (20, 1)), np.ones(20, dtype=np.int8)
    other = points.copy()
    other[3] *= -1.0
    booster = Centring(LazyBregman(0.5, 1.0))
    means = [booster.start(Drawn(each, labels).rows).mean for each in (points, other)]
    zeta = booster.slickness(20, 1).zeta
    assert 0.9 * 2.0 * zeta < float(np.linalg.norm(means[0] - means[1])) <= 2.0 * zeta * (1.0 + 1e-12)


# --- learning --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dimension", "margin", "flipped", "asked"),
    [(20, 0.1, 0.0, 0.99), (20, 0.1, 0.02, 0.99), (500, 0.02, 0.0, 0.92), (500, 0.02, 0.02, 0.92)],
)
def test_accuracy_at_one_and_a_millionth(dimension: int, margin: float, flipped: float, asked: float) -> None:
    """n = 20,000 with default parameters, on new points without noise."""
    rng = np.random.default_rng(0)
    data = margin_data("sphere", 24_000, dimension, margin, rng)
    labels = np.where(rng.random(24_000) < flipped, -data.labels, data.labels)
    model = HalfspaceBoostClassifier(1.0, 1e-6, random_state=0).fit(data.points[:20_000], labels[:20_000])
    assert model.score(data.points[20_000:], data.labels[20_000:]) >= asked


def test_a_pure_budget_and_an_intercept() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(-1.0, 1.0, (20_000, 2))
    labels = np.where(points @ [0.6, 0.8] > 0.3, "yes", "no")
    model = HalfspaceBoostClassifier(
        1.0, radius=2**0.5, fit_intercept=True, classes=("no", "yes"), density=0.3, rounds=10, random_state=0
    ).fit(points, labels)
    spent = model.ledger_.spent
    assert isinstance(spent, PureDP)
    assert spent <= PureDP(1.0)
    assert model.score(points, labels) > 0.9
    assert model.intercept_[0] < 0.0
    assert model.decision_function(points) == pytest.approx(points @ model.coef_[0] + model.intercept_[0])


# --- what it costs ---------------------------------------------------------------------------------------------


def test_the_charge_is_that_of_gaussian_rounds() -> None:
    """μ² = Σ (2ζ_t/σ)², which is what (ε, δ) buys; one round of κ = 1 is Gaussian noise on a mean."""
    points, labels = sample_of(0, 1000, 4).points, sample_of(0, 1000, 4).labels
    model = HalfspaceBoostClassifier(1.0, 1e-6, rounds=1, density=1.0, random_state=0).fit(points, labels)
    assert model.scale_ == pytest.approx(2.0 / 1000 / gaussian.mu(1.0, 1e-6), rel=3e-3)  # and rounding
    many = HalfspaceBoostClassifier(1.0, 1e-6, rounds=30, density=0.2, learning_rate=1.0, random_state=0)
    many.fit(points, labels)
    zetas = [LazyBregman(0.2, 1.0).slickness(1000, number).zeta for number in range(1, 31)]
    mu = math.sqrt(sum(((2.0 * zeta + mean_rounding(1000, 0.2)) / many.scale_) ** 2 for zeta in zetas))
    assert mu == pytest.approx(gaussian.mu(1.0, 1e-6), rel=1e-4)
    spent = many.ledger_.spent
    assert isinstance(spent, ApproxDP)
    assert spent <= ApproxDP(1.0, 1e-6)


def test_a_ledger_pays_once_for_all_rounds() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    sample = sample_of(0, 500, 3)
    model = HalfspaceBoostClassifier(0.5, 1e-6, ledger=ledger, random_state=0).fit(sample.points, sample.labels)
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert len(model.receipts_) == 1
    with pytest.raises(BudgetExceeded):
        HalfspaceBoostClassifier(5.0, 1e-6, ledger=ledger).fit(sample.points, sample.labels)


def test_everything_public_on_a_fitted_halfspace_was_released_or_is_public() -> None:
    """On samples that are as far apart as they can be, noise pinned: only noise and public numbers are kept."""
    labels = np.array([1, -1] * 10, dtype=np.int8)

    def fit(points: FloatArray, noise: PinnedNoise) -> HalfspaceBoostClassifier:
        learner = HalfspaceBoostClassifier(1.0, 1e-6, rounds=2, density=0.5, count_outside=50.0, random_state=noise)
        return learner.fit(points, labels)

    one = np.tile([0.6, 0.8], (20, 1))
    compared = check_fitted_surface(fit, [Pair(one, -3.0 * one)])
    assert {"coef_", "intercept_", "model_", "outside_", "promise_", "scale_", "settings_", "statement_"} <= set(
        compared
    )


def test_a_fit_that_is_interrupted_stays_charged() -> None:
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    sample = sample_of(0, 500, 3)

    def stop(number: int, found: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HalfspaceBoostClassifier(0.5, 1e-6, ledger=ledger).fit(sample.points, sample.labels, on_round=stop)
    assert [entry.kind for entry in ledger.entries][:2] == ["opened", "charged"]
    with pytest.raises(BudgetExceeded):
        HalfspaceBoostClassifier(0.95, 1e-5, ledger=ledger).fit(sample.points, sample.labels)


# --- what it keeps ---------------------------------------------------------------------------------------------


def test_it_comes_back_from_a_file(tmp_path: Path) -> None:
    sample = sample_of(0, 500, 3)
    model = HalfspaceBoostClassifier(1.0, 1e-6, fit_intercept=True, count_outside=40.0, random_state=0)
    model.fit(sample.points, sample.labels)
    model.save(tmp_path / "model.json")
    again = HalfspaceBoostClassifier.load(tmp_path / "model.json")
    assert again.coef_.tolist() == model.coef_.tolist()
    assert again.intercept_.tolist() == model.intercept_.tolist()
    assert (again.settings_, again.scale_, again.outside_) == (model.settings_, model.scale_, model.outside_)
    assert again.promise_ is None
    assert again.predict(sample.points).tolist() == model.predict(sample.points).tolist()
    record = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "bad.json").write_text(json.dumps({**record, "model": {"normal": [], "intercept": 0.0}}))
    with pytest.raises(ValueError, match="at least one coefficient"):
        HalfspaceBoostClassifier.load(tmp_path / "bad.json")


Damage = Callable[[dict[str, Any]], object]
DAMAGE: dict[str, tuple[Damage, str]] = {
    "no run": (lambda r: r["model"].pop("run"), "lacks 'run'"),
    "a seed of the file's choosing": (lambda r: r["parameters"].update(random_state=7), "no parameters random_state"),
    "a ledger of its choosing": (lambda r: r["parameters"].update(ledger="sqlite:///x.db"), "no parameters ledger"),
    "huge": (lambda r: r["model"]["normal"].__setitem__(0, 10**400), "too large"),
    "text": (lambda r: r["model"].update(normal="1"), "in a list"),
    "true": (lambda r: r["model"].update(intercept=True), "finite number"),
    "rounds": (lambda r: r["model"]["run"]["settings"].update(rounds="x"), "whole number"),
    "density": (lambda r: r["model"]["run"]["settings"].update(density=[[1]]), r"\(0, 1\]"),
    "scale": (lambda r: r["model"]["run"].update(scale=10**400), "no float holds"),
    "outside": (lambda r: r["model"]["run"].update(outside=math.nan), "finite number"),
    "a promise nobody made": (lambda r: r["model"]["run"].update(promise={"sigma": "x"}), "lacks 'fat_shattering'"),
    "names": (lambda r: r["model"].update(names=["a"]), "3 names"),
    "three classes": (lambda r: r.update(classes=[0, 1, 2]), "binary and has 3 classes"),
}


@pytest.mark.parametrize("fault", DAMAGE)
def test_a_file_that_was_edited_is_refused(fault: str, tmp_path: Path) -> None:
    sample = sample_of(0, 50, 3)
    HalfspaceBoostClassifier(random_state=0).fit(sample.points, sample.labels).save(tmp_path / "model.json")
    record = json.loads((tmp_path / "model.json").read_text())
    damage, message = DAMAGE[fault]
    damage(record)
    (tmp_path / "model.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match=message):
        HalfspaceBoostClassifier.load(tmp_path / "model.json")


@separate
def test_names_of_columns_travel_with_the_model(tmp_path: Path) -> None:
    sample = sample_of(0, 300, 2)
    table = {"a": sample.points[:, 0], "b": sample.points[:, 1]}
    model = HalfspaceBoostClassifier(1.0, 1e-6, random_state=0).fit(table, sample.labels)
    model.save(tmp_path / "model.json")
    for each in (model, HalfspaceBoostClassifier.load(tmp_path / "model.json")):
        assert each.feature_names_in_.tolist() == ["a", "b"]
        assert each.predict(table).tolist() == each.predict(sample.points).tolist()
        with pytest.raises(ValueError, match="same order"):
            each.predict({"b": table["b"], "a": table["a"]})
    assert not hasattr(model.fit(sample.points, sample.labels), "feature_names_in_")


# --- promises and counts ---------------------------------------------------------------------------------------


def test_a_promise_sets_everything_and_says_what_it_is(tmp_path: Path) -> None:
    """At τ = .9, α = .5, β = .2 it takes 9,778 records, which is all that a test has time for."""
    data = margin_data("tight", 12_000, 2, 0.9, np.random.default_rng(0))
    model = HalfspaceBoostClassifier(5.0, 1e-5, margin=0.9, error=0.5, failure=0.2, random_state=0)
    model.fit(data.points, data.labels)
    promise, settings = model.promise_, model.settings_
    assert promise is not None
    assert (settings.rounds, settings.density) == (promise.rounds, 0.125)
    assert settings.learning_rate == math.sqrt(2.0 * math.log(8.0) / settings.rounds)
    assert model.scale_ <= promise.sigma
    assert model.score(data.points, data.labels) >= 0.5
    model.save(tmp_path / "promised.json")
    assert HalfspaceBoostClassifier.load(tmp_path / "promised.json").promise_ == promise
    with pytest.raises(ValueError, match="it takes 9778") as refused:
        HalfspaceBoostClassifier(5.0, 1e-5, margin=0.9, error=0.5, failure=0.2).fit(
            data.points[:9777], data.labels[:9777]
        )
    assert "mostly for generalisation" in str(refused.value)
    lifted = HalfspaceBoostClassifier(5.0, 1e-5, margin=0.9, error=0.5, failure=0.2, radius=2.0, fit_intercept=True)
    with pytest.raises(ValueError, match=r"n: 12000 .* margin 0\.225 in 3 dimensions; it takes"):
        lifted.fit(data.points, data.labels)
    with pytest.raises(ValueError, match="bears noise of"):
        HalfspaceBoostClassifier(5.0, 1e-5, margin=0.9, error=0.5, failure=0.2, scale=1.0).fit(data.points, data.labels)


def test_points_outside_are_counted_only_if_asked_and_paid_for() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    labels = np.where(points[:, 0] > 0.0, 1, -1)
    outside = int(np.sum(np.linalg.norm(points, axis=1) > 2.0))
    plain = HalfspaceBoostClassifier(1.0, 1e-6, radius=2.0, rounds=20, random_state=0).fit(points, labels)
    assert plain.outside_ is None
    counted = HalfspaceBoostClassifier(1.0, 1e-6, radius=2.0, rounds=20, count_outside=20.0, random_state=0)
    counted.fit(points, labels)
    assert counted.outside_ == pytest.approx(outside, abs=100.0)
    assert [entry.kind for entry in counted.ledger_.entries] == ["opened", "charged", "released"]
    assert "points outside, with noise of" in str(counted.ledger_.entries[1])
    assert "points outside" not in str(plain.ledger_.entries[1])
    share = (1.0 / 20.0 / gaussian.mu(1.0, 1e-6)) ** 2
    assert plain.scale_ / counted.scale_ == pytest.approx(math.sqrt(1.0 - share), rel=1e-3)
    pure = HalfspaceBoostClassifier(1.0, radius=2.0, rounds=5, count_outside=10.0, random_state=0)
    assert pure.fit(points, labels).outside_ == pytest.approx(outside, abs=200.0)
    costs = []
    for law in (True, False):
        mechanism = HalfspacePlan(9, BoostingSettings(1, 1.0, 1.0), 2.0, law, SecureNoise(), 10.0).count
        assert mechanism is not None
        costs.append(mechanism.cost)
    pure_cost, gaussian_cost = costs
    assert isinstance(pure_cost, LaplaceDP)
    assert isinstance(gaussian_cost, GDP)
    assert (pure_cost.epsilon, gaussian_cost.mu) == pytest.approx((0.1, 0.1), rel=1e-9)


X, Y = sample_of(0, 50, 3).points, sample_of(0, 50, 3).labels

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "rounds": (lambda: HalfspaceBoostClassifier(rounds=0).fit(X, Y), "rounds: "),
    "radius": (lambda: HalfspaceBoostClassifier(radius=0.0).fit(X, Y), "radius: "),
    "tiny error": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=0.5, error=1e-300).fit(X, Y), "margin: nothing"),
    "tiny budget": (lambda: HalfspaceBoostClassifier(1e-12, 1e-300).fit(X, Y), "epsilon: "),
    "huge number": (lambda: HalfspaceBoostClassifier(radius=10**400).fit(X, Y), "radius: expected"),
    "tiny radius": (lambda: HalfspaceBoostClassifier(radius=1e-200).fit(X, Y), "radius: expected a radius between"),
    "huge radius": (lambda: HalfspaceBoostClassifier(radius=1e200).fit(X, Y), "radius: expected a radius between"),
    "tiny margin": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=1e-9).fit(X, Y), "margin: nothing can be"),
    "huge scale": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, scale=1e306).fit(X, Y), "scale: expected a scale"),
    "huge count": (lambda: HalfspaceBoostClassifier(count_outside=1e306).fit(X, Y), "count_outside: expected a scale"),
    "density": (lambda: HalfspaceBoostClassifier(density=1.5).fit(X, Y), "density: "),
    "too little noise": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, scale=1e-9).fit(X, Y), "too little noise"),
    "labels": (lambda: HalfspaceBoostClassifier().fit(X, np.arange(50) % 3), "classes"),
    "zeros and ones": (lambda: HalfspaceBoostClassifier().fit(X, np.arange(50) % 2), "classes"),
    "dear count": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, count_outside=0.1).fit(X, Y), "count_outside: noise of"),
    "promise and rounds": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=0.1, rounds=3).fit(X, Y), "it sets"),
    "promise at no delta": (lambda: HalfspaceBoostClassifier(margin=0.1).fit(X, Y), "needs delta > 0"),
    "margin": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=1.5).fit(X, Y), "at most the radius"),
    "error": (lambda: HalfspaceBoostClassifier(error=0.0).fit(X, Y), "error: "),
    "few for a promise": (lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=0.1).fit(X, Y), "n: 50 records are too"),
    "too many flips": (
        lambda: HalfspaceBoostClassifier(1.0, 1e-6, margin=0.1, noise_rate=0.4).fit(X, Y),
        "noise_rate: expected a noise rate",
    ),
    "NaN": (lambda: HalfspaceBoostClassifier().fit(np.where(X > 1.0, np.nan, X * np.nan), Y), "NaN or infinity"),
    "lengths": (lambda: HalfspaceBoostClassifier().fit(X[:-1], Y), "49 records, y has 50"),
    "shape": (lambda: HalfspaceBoostClassifier().fit(X[:, 0], Y), "Reshape"),
    "columns": (lambda: HalfspaceBoostClassifier(random_state=0).fit(X, Y).predict(X[:, :2]), "expecting 3 features"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_bad_input_is_refused_by_name(fault: str) -> None:
    call, message = REFUSED[fault]
    with pytest.raises(ValueError, match=message):
        call()
