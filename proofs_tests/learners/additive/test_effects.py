"""Posteriors of effects against exact Gaussian conditioning, and that no sequence of releases breaks them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from accountant.arrays import FloatArray, IntArray
from learners.additive.posteriors import ordered_effects
from learners.additive.posteriors.effects import Effect, NominalEffect
from learners.additive.posteriors.grid_effect import about_mean
from learners.additive.posteriors.ordered_effects import CHOOSING, MOST_KNOWN, PRIORS, USUAL, OrderedEffect
from learners.additive.posteriors.walks import Bins, Walk
from learners.encoding.partitions import random_bins

seeds = st.integers(0, 2**32 - 1)
magnitudes = st.floats(-12.0, 12.0).map(lambda power: 10.0**power)


def some_mass(cells: int, rng: np.random.Generator) -> FloatArray:
    mass = rng.random(cells) + 0.01
    return np.asarray(mass / mass.sum())


def some_part(cells: int, rng: np.random.Generator) -> IntArray:
    places = (np.arange(cells) + 0.5) / cells
    return random_bins(places, int(rng.integers(2, max(3, cells))), rng)


def slow_walk(share: FloatArray) -> FloatArray:
    """Six times the covariance of a Brownian path at the middles of cells, less its mean; cells by cells."""
    place = np.cumsum(share) - 0.5 * share
    path = np.minimum.outer(place, place)
    centre = np.eye(share.size) - np.outer(np.ones(share.size), share)
    return np.asarray(6.0 * centre @ path @ centre.T)


def slow_prior(effect: OrderedEffect, share: FloatArray, prior: tuple[float, float] = USUAL) -> FloatArray:
    """Of a variance of 1: a level, a walk, and what each cell has of its own."""
    return np.asarray(1.0 + prior[0] * slow_walk(share) + prior[1] * np.eye(share.size))


def even(cells: int) -> FloatArray:
    return np.full(cells, 1.0 / cells)


@pytest.fixture(params=PRIORS, ids=str)
def only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """A prior that nothing will change."""
    monkeypatch.setattr(ordered_effects, "CHOOSING", ())
    prior: tuple[float, float] = request.param
    return prior


def averaging(part: IntArray, mass: FloatArray) -> FloatArray:
    """Bins' means from cells' values, shape (bins, cells), cell by cell."""
    average = np.zeros((int(part.max()) + 1, part.size))
    for cell, bin_of_it in enumerate(part):
        average[bin_of_it, cell] = mass[cell] / mass[part == bin_of_it].sum()
    return average


def conditioned(prior: FloatArray, observed: FloatArray, values: FloatArray, noise: FloatArray) -> list[FloatArray]:
    """Mean and covariance of N(0, prior) given values = observed·effect + N(0, noise), by one system of equations."""
    joint = observed @ prior @ observed.T + np.diag(noise)
    gain = np.linalg.solve(joint, observed @ prior).T
    return [gain @ values, prior - gain @ observed @ prior]


# --- against exact conditioning ----------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.integers(1, 12), st.integers(1, 8), st.floats(0.01, 10.0), st.floats(0.0, 1.0), seeds)
def test_an_ordered_effect_is_what_a_dense_kalman_filter_says(
    only: tuple[float, float], cells: int, rounds: int, level: float, drift: float, seed: int
) -> None:
    """A covariance of cells by cells, conditioned release by release, with a step of the prior in between."""
    rng = np.random.default_rng(seed)
    mass, share = some_mass(cells, rng), some_mass(cells, rng)
    effect = OrderedEffect.start(mass, share, level)
    effect.prior = only
    prior = slow_prior(effect, share, only)
    mean, covariance = np.zeros(cells), level * prior
    for _ in range(rounds):
        part = some_part(cells, rng)
        average = averaging(part, mass)
        step, noise = rng.normal(size=len(average)), 1e-2 + rng.random(len(average))
        waited = drift * rng.random()
        effect.drift(waited)
        covariance = covariance + waited * prior
        shift, smaller = conditioned(covariance, average, step, noise)
        moved, unsure = effect.update(part, step, noise)
        gain = average @ covariance @ average.T @ np.linalg.inv(average @ covariance @ average.T + np.diag(noise))
        mean, covariance = mean + shift, smaller
        assert np.allclose(effect.mean, mean, rtol=1e-6, atol=1e-7)
        assert np.allclose(moved, average @ shift, rtol=1e-6, atol=1e-7)
        assert np.allclose(unsure, gain**2 @ noise, rtol=1e-6, atol=1e-9)
        weight = some_mass(len(average), rng)
        binned = average @ mean
        spread = weight @ ((binned - weight @ binned) ** 2 - np.diag(average @ covariance @ average.T))
        assert np.isclose(effect.spread(part, weight), spread, rtol=1e-6, atol=1e-7)
        assert np.allclose(effect.variances(), about_mean(covariance), rtol=1e-5, atol=1e-6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.integers(1, 12), seeds)
def test_the_evidence_is_the_density_of_what_was_released(only: tuple[float, float], cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, share = some_mass(cells, rng), some_mass(cells, rng)
    effect = OrderedEffect.start(mass, share, 0.7)
    rows, values, noises = [], [], []
    for _ in range(3):
        part = some_part(cells, rng)
        rows.append(averaging(part, mass))
        step, noise = rng.normal(size=len(rows[-1])), 1e-2 + rng.random(len(rows[-1]))
        values.append(rows[-1] @ effect.mean + step)
        noises.append(noise)
        effect.update(part, step, noise)
    observed = np.concatenate(rows)
    joint = observed @ (0.7 * slow_prior(effect, share, only)) @ observed.T + np.diag(np.concatenate(noises))
    density = multivariate_normal(np.zeros(len(joint)), joint).logpdf(np.concatenate(values))
    constant = -0.5 * len(joint) * np.log(2.0 * np.pi)
    assert np.isclose(effect._evidence(only), density - constant, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("noise", [1e-3, 1e3])
def test_the_prior_follows_what_was_released_unless_noise_hides_it(noise: float) -> None:
    """A straight line is smooth, and cells without anything in common are not; behind noise both are as usual."""
    rng = np.random.default_rng(0)
    for shape, rough in ((np.linspace(-0.5, 0.5, 32), False), (3.0 * rng.choice([-1.0, 1.0], 32), True)):
        effect = OrderedEffect.start(even(32), even(32), 0.5, choosing=True)
        for _ in range(max(CHOOSING)):
            seen = shape + np.sqrt(noise) * rng.normal(size=32)
            effect.update(np.arange(32), seen - effect.mean, np.full(32, noise))
        assert effect.prior == USUAL if noise > 1.0 else (effect.prior[1] > 0.0) == rough


@pytest.mark.parametrize("choosing", [False, True])
def test_only_where_it_may_a_prior_is_chosen(choosing: bool) -> None:
    rng = np.random.default_rng(0)
    shape = 3.0 * rng.choice([-1.0, 1.0], 32)
    effect = OrderedEffect.start(even(32), even(32), 0.5, choosing=choosing)
    for _ in range(max(CHOOSING)):
        effect.update(np.arange(32), shape - effect.mean, np.full(32, 1e-3))
    assert (effect.prior != USUAL) == choosing


def test_what_is_forgotten_is_the_older_half() -> None:
    rng = np.random.default_rng(0)
    effect = OrderedEffect.start(even(300), even(300), 0.5)
    most = 0
    for _ in range(10):
        effect.update(np.arange(300), rng.normal(size=300), np.full(300, 0.1))
        assert np.all(np.isfinite(effect.mean))
        assert len(effect.rounds) * 300 == effect.value.size == len(effect.inverse)
        most = max(most, effect.value.size)
    assert most <= MOST_KNOWN + 300


@given(st.integers(1, 12), st.integers(1, 8), st.floats(0.01, 10.0), seeds)
def test_a_nominal_effect_is_the_exact_posterior_of_all_releases_together(
    cells: int, rounds: int, prior: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    effect = NominalEffect.start(cells, prior)
    values, noises = [], []
    for _ in range(rounds):
        step, noise = rng.normal(size=cells), rng.random(cells) + 1e-3
        values.append(effect.mean + step)
        noises.append(noise)
        effect.update(np.arange(cells), step, noise)
    mean, covariance = conditioned(
        prior * np.eye(cells), np.tile(np.eye(cells), (rounds, 1)), np.concatenate(values), np.concatenate(noises)
    )
    assert np.allclose(effect.mean, mean)
    assert np.allclose(effect.variance, np.diag(covariance))


@given(st.integers(1, 12), st.booleans(), seeds)
def test_an_update_says_how_far_it_moved_and_what_of_that_is_noise(cells: int, ordered: bool, seed: int) -> None:
    """The noise's part: the variance of the move when only the release's noise varies."""
    rng = np.random.default_rng(seed)
    mass = some_mass(cells, rng)
    part = some_part(cells, rng) if ordered else np.arange(cells)
    number = int(part.max()) + 1
    noise = rng.random(number) + 0.1

    def move(step: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        effect: Effect = OrderedEffect.start(mass, mass, 1.0) if ordered else NominalEffect.start(cells, 1.0)
        moved, unsure = effect.update(part, step, noise)
        return moved, unsure, averaging(part, mass) @ effect.mean

    step = rng.normal(size=number)
    moved, unsure, mean = move(step)
    assert np.allclose(moved, mean)
    response = np.stack([move(column)[0] for column in np.eye(number)], axis=1)  # the move is linear in the step
    assert np.allclose(response @ step, moved)
    assert np.allclose(response**2 @ noise, unsure)


@given(st.integers(2, 12), seeds)
def test_spread_is_the_variance_over_cells_less_what_is_unsure(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, mean, variance = some_mass(cells, rng), rng.normal(size=cells), rng.random(cells)
    nominal = NominalEffect(mean, variance, 1.0)
    assert np.isclose(nominal.spread(np.arange(cells), mass), mass @ ((mean - mass @ mean) ** 2 - variance))


# --- the prior ---------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), seeds)
def test_the_walk_is_a_path_less_its_mean(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    share, mass, part = some_mass(cells, rng), some_mass(cells, rng), some_part(cells, rng)
    walk, slow, bins = Walk.over(share), slow_walk(share), Bins.of(part, mass)
    vector = rng.normal(size=cells)
    assert np.allclose(walk.times(vector), slow @ vector)
    assert np.allclose(walk.between(bins), averaging(part, mass) @ slow)
    assert np.allclose(share @ slow, 0.0)
    other = some_part(cells, rng)
    assert np.allclose(bins.common(Bins.of(other, share)), averaging(part, mass) @ averaging(other, share).T)


@pytest.mark.parametrize("cells", [2, 17, 128, 1024])
def test_the_walk_has_variance_one_on_average(cells: int) -> None:
    variances = np.diag(Walk.over(even(cells)).between(Bins.of(np.arange(cells), even(cells))))
    assert np.isclose(variances.mean(), 1.0 - 1.0 / cells**2, atol=1e-9)


# --- nothing breaks them -----------------------------------------------------------------------------------------


def assert_sound(effect: OrderedEffect) -> None:
    assert np.all(np.isfinite(effect.mean))
    assert np.all(np.isfinite(effect.inverse))


@pytest.mark.parametrize(
    ("noise", "drift"), [((-3.0, 1.0), 1e-3), ((-12.0, 12.0), 0.0), ((-12.0, 12.0), 1e-2), ((-12.0, -11.0), 1.0)]
)
def test_an_effect_stays_finite_through_many_updates(noise: tuple[float, float], drift: float) -> None:
    rng = np.random.default_rng(0)
    effect = OrderedEffect.start(some_mass(24, rng), some_mass(24, rng), 0.5)
    for _ in range(120):
        part = some_part(24, rng)
        effect.drift(drift * rng.random())
        size = int(part.max()) + 1
        moved, unsure = effect.update(part, rng.normal(size=size), 10.0 ** rng.uniform(*noise, size=size))
        assert np.all(np.isfinite(moved))
        assert np.all(unsure >= 0.0)
        assert_sound(effect)


@settings(max_examples=150)
@given(
    st.integers(1, 40),
    st.lists(st.tuples(magnitudes, st.floats(-1e6, 1e6), st.sampled_from([0.0, 1e-12, 1.0, 1e6])), max_size=12),
    seeds,
)
def test_no_curvature_and_no_step_makes_an_effect_infinite(
    cells: int, releases: list[tuple[float, float, float]], seed: int
) -> None:
    """Curvatures c from 1e-12 to 1e12 mean variances of about 1/c."""
    rng = np.random.default_rng(seed)
    ordered = OrderedEffect.start(some_mass(cells, rng), some_mass(cells, rng), 1.0)
    nominal = NominalEffect.start(cells, 1.0)
    for curvature, step, drift in releases:
        part = some_part(cells, rng)
        number = int(part.max()) + 1
        ordered.drift(drift)
        nominal.drift(drift)
        noise = 10.0 ** rng.uniform(-1, 1, size=number) / curvature
        moved, unsure = ordered.update(part, np.full(number, step), noise)
        assert np.all(np.isfinite(moved))
        assert np.all(unsure >= 0.0)
        moved, unsure = nominal.update(np.arange(cells), np.full(cells, step), np.full(cells, 1.0 / curvature))
        assert np.all(np.isfinite(moved))
        assert np.all(unsure >= 0.0)
        assert np.all((nominal.variance >= 0.0) & (nominal.variance <= 1.0))
        assert np.isfinite(ordered.spread(part, np.full(number, 1.0 / number)))
        assert_sound(ordered)


@pytest.mark.parametrize("variance", [0.0, 1e-300, 1e300])
def test_certainty_and_ignorance_are_no_exceptions(variance: float) -> None:
    """Nothing may raise after a charge."""
    effect = OrderedEffect.start(even(6), even(6), 1.0)
    for _ in range(3):
        effect.update(np.array([0, 0, 1, 1, 2, 2]), np.array([1.0, 2.0, 3.0]), np.full(3, variance))
        assert_sound(effect)
