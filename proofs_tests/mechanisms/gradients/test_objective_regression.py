"""Objective perturbation with the log-cosh loss: its loss of privacy in closed form, its certificate, its books."""

import math
from collections.abc import Callable

import attrs
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from accountant import (
    AddRemoveOne,
    BasicComposition,
    Cost,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from accountant.audit.second_opinion import second_opinion
from mechanisms import GammaNormNoise, GaussianNoise, LaplaceNoise, Reach, ResidualRecords, SeededNoise
from mechanisms.gradients.linear_losses import (
    LinearSample,
    LossName,
    certified_norm,
    gradient_error,
    minimiser,
    noise_that_gives,
)
from mechanisms.gradients.objective_perturbation import (
    ObjectivePerturbation,
    calibrated,
    default_regularization,
    pure_epsilon,
)
from proofs_tests.harness import Pair, check_mechanism
from proofs_tests.support.learners.linear import UNIT_BALL, in_ball, records
from proofs_tests.support.ledgers.second_books import ROOMY, forged, open_ledger

Relation = ReplaceOne | AddRemoveOne
PureNoise = LaplaceNoise | GammaNormNoise

NOISES: list[tuple[Callable[[float], PureNoise], int]] = [(LaplaceNoise, 1), (GammaNormNoise, 2)]


def priced(
    randomizer: PureNoise, regularization: float, d: int, relation: Relation | None = None
) -> ObjectivePerturbation:
    """On the unit ball of both norms."""
    return ObjectivePerturbation(
        randomizer, regularization, UNIT_BALL, d, 1e-9, 0.0, relation or ReplaceOne(), SeededNoise(0), loss="log-cosh"
    )


def declared(tried: ObjectivePerturbation) -> float:
    assert isinstance(tried.exact_cost, PureDP)
    return tried.exact_cost.epsilon


def sample_of(rows: FloatArray, d: int) -> ResidualRecords:
    """Rows of d features and an offset, in the unit ball of ℓ2; what they have in ℓ1 is for the certificate only."""
    table = rows.reshape(-1, d + 1)
    return ResidualRecords(table[:, :d], table[:, d], Reach(2.0, 1.0))


def loss(tried: ObjectivePerturbation, pair: Pair[ResidualRecords], weights: FloatArray) -> float:
    """|ln of the ratio of the two densities| at one output: exact, nothing is sampled."""
    return abs(tried.log_density(pair.before, weights) - tried.log_density(pair.after, weights))


# --- the cost ---------------------------------------------------------------------------------------------------------


@given(
    st.floats(-4.0, 2.0).map(lambda x: 10.0**x),
    st.floats(-4.0, 3.0).map(lambda x: 10.0**x),
    st.sampled_from([ReplaceOne(), AddRemoveOne()]),
)
@settings(max_examples=150)
def test_the_formula_is_the_supremum_over_both_gradients(each: float, bend: float, relation: Relation) -> None:
    """[objective-perturbation-regression] Over t, t′ and how far the other record's curvature reaches."""
    t = np.linspace(0.0, 0.5, 2001)
    own = each * t + np.log1p(bend * (0.25 - t * t))
    u, reached = np.linspace(0.0, 0.5, 101)[:, None], np.linspace(0.0, bend, 11)
    other = each * u - np.log1p(reached * (0.25 - u * u))
    scanned = float(np.max(own)) + (float(np.max(other)) if isinstance(relation, ReplaceOne) else 0.0)
    assert scanned <= pure_epsilon(each, bend, relation, "log-cosh") <= scanned * (1.0 + 1e-6) + 1e-11
    if each >= bend:  # the determinant is free: half of what labels of ±1 cost
        half = 0.5 * pure_epsilon(each, bend, relation)
        assert pure_epsilon(each, bend, relation, "log-cosh") == pytest.approx(half, abs=1e-11)


@pytest.mark.parametrize(("randomizer", "norm"), NOISES)
@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne()])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("scale", "regularization"), [(0.5, 0.05), (0.5, 2.0), (5.0, 0.05), (5.0, 20.0)])
def test_no_output_of_any_pair_loses_more_than_declared(
    randomizer: Callable[[float], PureNoise], norm: int, relation: Relation, d: int, scale: float, regularization: float
) -> None:
    """[objective-perturbation-regression] Random pairs and outputs, then an optimiser over both."""
    tried = priced(randomizer(scale), regularization, d, relation)

    def at(numbers: FloatArray) -> float:
        rows = numbers[: 3 * (d + 1)].reshape(3, d + 1).copy()
        rows[:, :d] = in_ball(rows[:, :d], norm)
        rows[:, d] *= 4.0
        old, new = rows[:2], rows[[0, 2]] if isinstance(relation, ReplaceOne) else rows[:1]
        return loss(tried, Pair(sample_of(old, d), sample_of(new, d)), 4.0 * numbers[3 * (d + 1) :])

    rng = np.random.default_rng(d)
    starts = rng.normal(size=(200, 3 * (d + 1) + d)) * rng.choice([0.3, 1.0, 4.0], size=(200, 1))
    found = [at(start) for start in starts]
    best = starts[int(np.argmax(found))]

    def fallen(x: FloatArray) -> float:
        return -at(x)

    climbed = optimize.minimize(fallen, np.ravel(best), method="Nelder-Mead", options={"maxfev": 500})
    assert max(found) <= -float(climbed.fun) <= declared(tried)
    assert -float(climbed.fun) >= 0.6 * declared(tried)  # the search is worth something


def witness(tried: ObjectivePerturbation) -> tuple[Pair[ResidualRecords], FloatArray]:
    """Two records of one feature vector, pulled in opposite ways by their offsets, at an output far to the left."""
    axis = np.eye(tried.d)[0]
    weights = -2.0 / tried.regularization * axis
    randomizer = tried.randomizer
    assert not isinstance(randomizer, GaussianNoise)
    sizes = np.linspace(0.5, 1.0 - 1e-12, 100_001)
    each, bend = 1.0 / randomizer.scale, 1.0 / tried.regularization
    s = float(sizes[np.argmax(each * sizes + np.log1p(bend * sizes * (1.0 - sizes)))])
    before = sample_of(np.append(axis, weights[0] - math.log(s / (1.0 - s))), tried.d)
    if isinstance(tried.relation, AddRemoveOne):
        return Pair(before, sample_of(np.zeros(0), tried.d)), weights
    return Pair(before, sample_of(np.append(axis, weights[0] + 50.0), tried.d)), weights


@attrs.frozen(slots=False)
class TooCheap(ObjectivePerturbation):
    """A mutant that declares nine tenths of its cost."""

    @property
    def exact_cost(self) -> PureDP:
        return PureDP(0.9 * declared(ObjectivePerturbation(**attrs.asdict(self, recurse=False))))


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne()])
@pytest.mark.parametrize("randomizer", [LaplaceNoise, GammaNormNoise])
@pytest.mark.parametrize("d", [1, 2])
def test_the_declared_loss_is_attained_by_a_label_alone_and_a_mutant_is_killed(
    relation: Relation, randomizer: Callable[[float], PureNoise], d: int
) -> None:
    """[objective-perturbation-regression] Both where the determinant is free (A >= B) and where it is not."""
    for each in (0.01, 0.5, 2.0):
        for bend in (0.001, 0.3, 5.0, 100.0):
            tried = priced(randomizer(1.0 / each), 1.0 / bend, d, relation)
            found = loss(tried, *witness(tried))
            assert (1.0 - 1e-6) * declared(tried) <= found <= declared(tried)
            assert found > declared(TooCheap(**attrs.asdict(tried, recurse=False)))
            if bend > 2.0 * each:  # without the determinant's share
                assert found > (each if isinstance(relation, ReplaceOne) else 0.5 * each) * 1.01


BEFORE = np.array([[0.6, 0.4, 0.3], [-0.6, -0.4, -2.0], [0.0, -1.0, 9.0]])


@pytest.mark.parametrize("randomizer", [LaplaceNoise, GammaNormNoise])
def test_draws_lose_no_more_than_declared(randomizer: Callable[[float], PureNoise]) -> None:
    tried = calibrated(randomizer, at_most(1.0), reach=UNIT_BALL, d=2, n=3, noise=SeededNoise(2), loss="log-cosh")
    after = np.vstack([BEFORE[:2], [0.0, -1.0, -9.0]])
    report = check_mechanism(
        tried, [Pair(*(ResidualRecords(rows[:, :2], rows[:, 2], UNIT_BALL) for rows in (BEFORE, after)))], samples=1000
    )
    assert report.found <= report.bound


# --- the certificate --------------------------------------------------------------------------------------------------


def true_gradient(sample: ResidualRecords, regularization: float, weights: FloatArray, b: FloatArray) -> FloatArray:
    """In 60 digits."""
    with mpmath.workdps(60):
        exact = [mpmath.mpf(regularization) * mpmath.mpf(w) + mpmath.mpf(e) for w, e in zip(weights, b, strict=True)]
        for x, o in zip(sample.features.tolist(), sample.offsets.tolist(), strict=True):
            score = mpmath.fsum(mpmath.mpf(v) * mpmath.mpf(w) for v, w in zip(x, weights, strict=True))
            slope = mpmath.tanh((score - mpmath.mpf(o)) / 2) / 2
            exact = [e + slope * mpmath.mpf(v) for e, v in zip(exact, x, strict=True)]
        return np.array([float(e) for e in exact])


def error_at(sample: LinearSample, regularization: float, weights: FloatArray, b: FloatArray) -> float:
    bent = float(np.sum(sample.losses.curvatures(sample.scores(weights))))
    return gradient_error(sample, regularization, weights, b, bent)


@given(st.integers(0, 2**32), st.floats(-3.0, 9.0), st.floats(-3.0, 3.0), st.floats(-2.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_the_certificate_is_above_the_true_gradient_whatever_the_offsets(
    seed: int, offset: float, penalty: float, noise: float
) -> None:
    """[approximate-minimum] In 60 digits, at the minimiser, which is found from anywhere, and away from it."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    features = in_ball(2.0 * rng.normal(size=(n, d)), 1)
    sample = ResidualRecords(features, 10.0**offset * rng.normal(size=n), UNIT_BALL)
    regularization, b = 10.0**penalty, 10.0**noise * rng.normal(size=d)
    tolerance = 2.0**-36 * (n + 10.0**noise)
    weights = minimiser(sample, regularization, b, tolerance)
    assert np.linalg.norm(true_gradient(sample, regularization, weights, b)) <= tolerance
    # Small residuals of large numbers.
    nearest = np.asarray(np.linalg.lstsq(features, sample.offsets, rcond=None)[0], dtype=np.float64)
    for point in (weights, weights + 1e-9, 3.0 * weights + 1.0, nearest):
        computed = regularization * point + b - noise_that_gives(sample, 0.0, point)
        error, true = (
            error_at(sample, regularization, point, b),
            true_gradient(sample, regularization, point, b),
        )
        assert np.linalg.norm(computed - true) <= error
        assert np.linalg.norm(true) <= certified_norm(computed, error)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e8, 1e300])
def test_an_offset_of_any_size_costs_the_certificate_nothing(size: float) -> None:
    sample = ResidualRecords(np.full((50, 1), 0.5), size * np.linspace(-1.0, 1.0, 50), UNIT_BALL)
    plain = ResidualRecords(sample.features, np.zeros(50), UNIT_BALL)
    point, b = np.array([0.3]), np.zeros(1)
    error = error_at(sample, 1.0, point, b)
    assert abs(float((point - noise_that_gives(sample, 0.0, point) - true_gradient(sample, 1.0, point, b))[0])) <= error
    assert error <= 1.01 * error_at(plain, 1.0, point, b)


def test_scores_of_many_features_are_within_their_bound_which_stays_small() -> None:
    rng = np.random.default_rng(0)
    d = 1000
    features = rng.normal(size=(40, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sample = ResidualRecords(features, np.zeros(40), Reach(math.sqrt(d), 1.0))
    weights = 1e3 * rng.normal(size=d)
    off = [score - math.fsum(row * weights) for score, row in zip(sample.scores(weights), features, strict=True)]
    assert np.max(np.abs(off)) <= sample.score_rounding * math.sqrt(d) * np.max(np.abs(weights))
    assert sample.score_rounding < 70.0 * 2.0**-52


def test_it_fits_random_features_of_real_labels() -> None:
    """As a baseline would: labels in [−1, 1], τ = 1/10, weights in units of τ. More ε, less error; R² is above 0.99."""
    rng = np.random.default_rng(0)
    d, n = 40, 3000
    x = rng.uniform(-2.0, 2.0, size=(n, 1))
    angles = x @ rng.normal(size=(1, d // 2))
    features = np.hstack([np.cos(angles), np.sin(angles)]) / math.sqrt(d / 2)
    labels = np.sin(x[:, 0])
    sample = ResidualRecords(features, labels / 0.1, Reach(math.sqrt(d) * (1.0 + 1e-9), 1.0))
    errors = []
    for epsilon in (0.5, 20.0):
        tried = calibrated(
            GammaNormNoise,
            at_most(epsilon),
            reach=sample.reach,
            d=d,
            n=n,
            regularization=3.0,
            noise=SeededNoise(0),
            loss="log-cosh",
        )
        errors.append(float(np.mean((0.1 * tried.sample(sample) @ features.T - labels) ** 2)))
    assert errors[1] < errors[0] < 0.01 * float(np.var(labels))


# --- calibration, books, refusals -------------------------------------------------------------------------------------


def at_most(epsilon: float) -> Callable[[Cost], bool]:
    return lambda cost: isinstance(cost, PureDP) and cost.epsilon <= epsilon


@pytest.mark.parametrize("randomizer", [LaplaceNoise, GammaNormNoise])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 10.0])
def test_calibration_takes_half_the_noise_of_a_classifier(
    randomizer: Callable[[float], PureNoise], epsilon: float
) -> None:
    found, classifier = (
        calibrated(randomizer, at_most(epsilon), reach=Reach(9.0, 3.0), d=20, n=1000, loss=loss)
        for loss in ("log-cosh", "logistic")
    )
    assert isinstance(found.cost, PureDP)
    assert epsilon * (1.0 - 1e-6) <= found.cost.epsilon <= epsilon
    assert found.regularization == default_regularization(found.randomizer, found.reach, 20)
    assert found.deviation == pytest.approx(0.5 * classifier.deviation, rel=1e-9)


def test_the_books_say_which_loss_and_bear_a_second_opinion() -> None:
    tried = ObjectivePerturbation(LaplaceNoise(5.0), 8.0, UNIT_BALL, 3, 1e-9, loss="log-cosh")
    said = tried.description
    assert said.query == "regularised log-cosh loss"
    assert said.claims[:2] == ("objective-perturbation-regression", "approximate-minimum")
    assert said.sensitivity == pytest.approx(1.0)
    assert attrs.evolve(tried, relation=AddRemoveOne()).description.sensitivity == 0.5
    ledger = open_ledger(ROOMY)
    ledger.reserve(Plan.of(tried.cost), adjacency=ReplaceOne(), mechanism=said)
    assert second_opinion(ledger.entries).agrees
    assert not second_opinion(forged(ledger.entries, 0.9, "steps", 0, "cost", "epsilon")).agrees


class Untouchable(SeededNoise):
    """Noise that must not be drawn."""

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        raise AssertionError("drawn before it was paid for")


@pytest.mark.parametrize("named", ["logistic", "log-cosh"])
def test_a_sample_with_the_other_loss_is_refused_before_the_charge(named: LossName) -> None:
    labelled = records()
    residuals = ResidualRecords(labelled.features, labelled.signed, labelled.reach)
    tried = ObjectivePerturbation(LaplaceNoise(4.0), 9.0, UNIT_BALL, 3, 1e-9, noise=Untouchable(0), loss=named)
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    other: LinearSample = residuals if named == "logistic" else labelled
    with pytest.raises(ValueError, match=f"this prices the {named} loss"):
        ledger.release(tried, ledger.protect(other))
    assert len(ledger.entries) == 1
    paid = attrs.evolve(tried, noise=SeededNoise(0))
    fitting: LinearSample = labelled if named == "logistic" else residuals
    assert ledger.release(paid, ledger.protect(fitting)).shape == (3,)


def test_gaussian_noise_and_unknown_losses_are_refused() -> None:
    with pytest.raises(TypeError, match="no cost is proved for Gaussian noise"):
        ObjectivePerturbation(GaussianNoise(4.0), 9.0, UNIT_BALL, 3, 1e-9, loss="log-cosh")
    with pytest.raises(TypeError, match="no cost is proved for Gaussian noise"):
        calibrated(GaussianNoise, at_most(1.0), reach=UNIT_BALL, d=3, n=9, regularization=9.0, loss="log-cosh")
    with pytest.raises(ValueError, match="loss: expected one of logistic, log-cosh, got 'huber'"):
        ObjectivePerturbation(LaplaceNoise(4.0), 9.0, UNIT_BALL, 3, 1e-9, loss="huber")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("features", "offsets", "message"),
    [
        (np.ones((2, 2)), np.ones(2), "outside"),
        (np.zeros((2, 2)), np.array([1.0, np.nan]), "offsets must be finite"),
        (np.zeros((2, 2)), np.array([1.0, -np.inf]), "offsets must be finite"),
        (np.zeros((2, 2)), np.ones(3), "expected"),
        (np.array([[np.nan, 0.0]]), np.ones(1), "outside"),
    ],
)
def test_records_outside_their_bounds_are_refused(features: FloatArray, offsets: FloatArray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ResidualRecords(features, offsets, UNIT_BALL)
