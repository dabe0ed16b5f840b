"""Posteriors of effects against exact Gaussian conditioning, and that no sequence of releases breaks them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.arrays import FloatArray, IntArray
from learners.additive.effects import Effect, NominalEffect, OrderedEffect, random_walk
from learners.encoding.partitions import random_bins

seeds = st.integers(0, 2**32 - 1)
magnitudes = st.floats(-12.0, 12.0).map(lambda power: 10.0**power)


def some_mass(cells: int, rng: np.random.Generator) -> FloatArray:
    mass = rng.random(cells) + 0.01
    return np.asarray(mass / mass.sum())


def some_part(cells: int, rng: np.random.Generator) -> IntArray:
    return random_bins(cells, int(rng.integers(2, max(3, cells))), rng)


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


@given(st.integers(1, 12), st.integers(1, 8), st.floats(0.01, 10.0), seeds)
def test_an_ordered_effect_is_the_exact_posterior_of_all_releases_together(
    cells: int, rounds: int, prior: float, seed: int
) -> None:
    """A step is from where the mean is: the optimum as a release sees it is mean + step."""
    rng = np.random.default_rng(seed)
    mass = some_mass(cells, rng)
    effect = OrderedEffect.start(mass, prior)
    rows, values, noises = [], [], []
    for _ in range(rounds):
        part = some_part(cells, rng)
        average = averaging(part, mass)
        step, noise = rng.normal(size=len(average)), 1e-3 + rng.random(len(average))
        rows.append(average)
        values.append(average @ effect.mean + step)
        noises.append(noise)
        effect.update(part, step, noise)
    mean, covariance = conditioned(
        prior * random_walk(cells), np.concatenate(rows), np.concatenate(values), np.concatenate(noises)
    )
    assert np.allclose(effect.mean, mean, rtol=1e-6, atol=1e-8)
    assert np.allclose(effect.covariance, covariance, rtol=1e-6, atol=1e-8)


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


@given(st.integers(2, 12), st.floats(0.01, 10.0), st.floats(0.0, 1.0), seeds)
def test_drift_is_a_step_of_the_prior_between_two_releases(cells: int, prior: float, drift: float, seed: int) -> None:
    """Effects before and after are jointly Gaussian; conditioning on both releases gives the later one's posterior."""
    rng = np.random.default_rng(seed)
    mass, kernel = some_mass(cells, rng), random_walk(cells)
    effect = OrderedEffect.start(mass, prior)
    seen: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for wait in (0.0, drift):
        part = some_part(cells, rng)
        average = averaging(part, mass)
        step, noise = rng.normal(size=len(average)), 1e-2 + rng.random(len(average))
        effect.drift(wait)
        seen.append((average, average @ effect.mean + step, noise))
        effect.update(part, step, noise)
    zero, (first, second) = np.zeros((cells, cells)), (seen[0][0], seen[1][0])
    joint = np.block([[prior * kernel, prior * kernel], [prior * kernel, (prior + drift) * kernel]])
    observed = np.block([[first, zero[: first.shape[0]]], [zero[: second.shape[0]], second]])
    values, noise = (np.concatenate([seen[0][k], seen[1][k]]) for k in (1, 2))
    mean, covariance = conditioned(joint, observed, values, noise)
    assert np.allclose(effect.mean, mean[cells:], rtol=1e-6, atol=1e-8)
    assert np.allclose(effect.covariance, covariance[cells:, cells:], rtol=1e-6, atol=1e-8)


@given(st.integers(1, 12), st.booleans(), seeds)
def test_an_update_says_how_far_it_moved_and_what_of_that_is_noise(cells: int, ordered: bool, seed: int) -> None:
    """The noise's part: the variance of the move when only the release's noise varies."""
    rng = np.random.default_rng(seed)
    mass = some_mass(cells, rng)
    part = some_part(cells, rng) if ordered else np.arange(cells)
    number = int(part.max()) + 1
    noise = rng.random(number) + 0.1

    def move(step: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        effect: Effect = OrderedEffect.start(mass, 1.0) if ordered else NominalEffect.start(cells, 1.0)
        moved, unsure = effect.update(part, step, noise)
        return moved, unsure, averaging(part, mass) @ effect.mean

    step = rng.normal(size=number)
    moved, unsure, mean = move(step)
    assert np.allclose(moved, mean)
    response = np.stack([move(column)[0] for column in np.eye(number)], axis=1)  # the move is linear in the step
    assert np.allclose(response @ step, moved)
    assert np.allclose(response**2 @ noise, unsure)


@given(st.integers(2, 12), seeds)
def test_spread_is_the_variance_over_bins_less_what_is_unsure(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, part = some_mass(cells, rng), some_part(cells, rng)
    average = averaging(part, mass)
    weight = some_mass(average.shape[0], rng)
    effect = OrderedEffect.start(mass, 1.0)
    effect.update(part, rng.normal(size=weight.size), np.full(weight.size, 0.1))
    binned = average @ effect.mean
    expected = weight @ (binned - weight @ binned) ** 2 - weight @ np.diag(average @ effect.covariance @ average.T)
    assert np.isclose(effect.spread(part, weight), expected)
    nominal = NominalEffect(effect.mean, np.diag(effect.covariance), 1.0)
    centred = (effect.mean - mass @ effect.mean) ** 2
    assert np.isclose(nominal.spread(part, mass), mass @ (centred - nominal.variance))


# --- the prior ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [1, 2, 3, 17, 128])
def test_the_prior_is_a_covariance_of_level_one_and_walk_one(cells: int) -> None:
    kernel = random_walk(cells)
    assert np.array_equal(kernel, kernel.T)
    assert np.linalg.eigvalsh(kernel).min() > -1e-12
    assert np.isclose(kernel.mean(), 1.0), "the common level has variance 1"
    assert np.isclose(np.trace(kernel) / cells - 1.0, 1.0 - 1.0 / cells**2, atol=1e-9), (
        "and so has the walk, on average"
    )
    if cells > 2:
        jumps = [kernel[i, i] + kernel[i + 1, i + 1] - 2.0 * kernel[i, i + 1] for i in range(cells - 1)]
        assert np.allclose(jumps, 6.0 / cells), "all steps are alike"


def test_effects_share_a_kernel_that_nobody_can_change() -> None:
    first, second = (OrderedEffect.start(np.full(5, 0.2), 1.0) for _ in range(2))
    first.drift(1.0)
    first.update(np.arange(5), np.ones(5), np.ones(5))
    assert np.array_equal(second.covariance, random_walk(5))
    with pytest.raises(ValueError, match="read-only"):
        first.kernel[0, 0] = 2.0


# --- nothing breaks them -----------------------------------------------------------------------------------------


def assert_sound(effect: OrderedEffect, scale: float) -> None:
    assert np.all(np.isfinite(effect.mean))
    assert np.array_equal(effect.covariance, effect.covariance.T)
    assert np.linalg.eigvalsh(effect.covariance).min() >= -1e-9 * scale
    assert np.diag(effect.covariance).min() >= -1e-9 * scale


@pytest.mark.parametrize(
    ("noise", "drift"), [((-3.0, 1.0), 1e-3), ((-12.0, 12.0), 0.0), ((-12.0, 12.0), 1e-2), ((-12.0, -11.0), 1.0)]
)
def test_a_covariance_stays_one_through_ten_thousand_updates(noise: tuple[float, float], drift: float) -> None:
    rng = np.random.default_rng(0)
    effect = OrderedEffect.start(some_mass(24, rng), 0.5)
    for number in range(10_000):
        part = some_part(24, rng)
        effect.drift(drift * rng.random())
        size = int(part.max()) + 1
        effect.update(part, rng.normal(size=size), 10.0 ** rng.uniform(*noise, size=size))
        if number % 500 == 0:
            assert_sound(effect, 24.0 * (0.5 + drift * number))
    assert_sound(effect, 24.0 * (0.5 + drift * 10_000))


@pytest.mark.parametrize("drift", [0.0, 1e-3])
def test_the_widest_grid_lives_through_many_rounds_too(drift: float) -> None:
    rng = np.random.default_rng(1)
    effect = OrderedEffect.start(some_mass(128, rng), 0.5)
    for _ in range(600):
        part = random_bins(128, int(rng.integers(4, 41)), rng)
        effect.drift(drift)
        effect.update(part, rng.normal(size=int(part.max()) + 1), np.full(int(part.max()) + 1, 0.01))
    assert_sound(effect, 128.0)


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
    ordered, nominal = OrderedEffect.start(some_mass(cells, rng), 1.0), NominalEffect.start(cells, 1.0)
    drifted = 1.0
    for curvature, step, drift in releases:
        part = some_part(cells, rng)
        number, drifted = int(part.max()) + 1, drifted + drift
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
    assert_sound(ordered, cells * drifted)


@pytest.mark.parametrize("variance", [0.0, 1e-300, 1e300])
def test_certainty_and_ignorance_are_no_exceptions(variance: float) -> None:
    """Nothing may raise after a charge."""
    effect = OrderedEffect.start(np.full(6, 1.0 / 6.0), 1.0)
    for _ in range(3):
        effect.update(np.array([0, 0, 1, 1, 2, 2]), np.array([1.0, 2.0, 3.0]), np.full(3, variance))
        assert_sound(effect, 6.0)
